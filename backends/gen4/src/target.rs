//! What the shared passes ask of this machine.

use gpucc_ir::ssa::{Op, Type};
use gpucc_passes::TargetInfo;

/// Gen4 as the shared passes see it.
pub struct Gen4;

impl TargetInfo for Gen4 {
    fn native(&self, op: Op, ty: Type) -> bool {
        crate::expand::is_native(op, ty)
    }
    /// Lanes leave blocks by masks alone (G45 vol. 4, 14.1.2).
    fn has_branches(&self) -> bool {
        false
    }
    /// CONT waits for WHILE and would skip `continuing`.
    fn has_continue(&self) -> bool {
        false
    }
    /// No type has 64 bits (G45 vol. 4, 13.2.3).
    fn holds_64_bits(&self) -> bool {
        false
    }
    /// Words of 16 bits lie two in a register's element, which the lowering does not use.
    fn holds_16_bits(&self) -> bool {
        false
    }
    /// IF, ELSE and ENDIF flush the instruction queue and switch threads (isa/gen4.md 6).
    fn flatten_limit(&self) -> u32 {
        16
    }
    /// An access of scratch is a shift, a sum and a message.
    fn select_chain_limit(&self) -> u32 {
        8
    }
    /// Four words are twelve instructions, and a read waits for its reply.
    fn access_worth(&self) -> u32 {
        24
    }
}

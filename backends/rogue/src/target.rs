//! What the shared passes ask of this machine.

use gpucc_ir::ssa::{Op, Type};
use gpucc_passes::TargetInfo;

/// Rogue as the shared passes see it.
pub struct Rogue;

/// The machine's answers.
pub static ROGUE: Rogue = Rogue;

/// What contraction asks. The machine rounds once, so that it belongs to the expansion: shared passes stay exact.
pub struct Contracting;

impl TargetInfo for Contracting {
    /// `fmad` is one operation (isa/rogue-pipeline.md 2.2).
    fn has_fma(&self, ty: Type) -> bool {
        ty == Type::B32
    }
}

impl TargetInfo for Rogue {
    fn native(&self, op: Op, ty: Type) -> bool {
        crate::expand::is_native(op, ty)
    }
    /// Instances leave blocks by their mask counter alone (2.7).
    fn has_branches(&self) -> bool {
        false
    }
    fn has_continue(&self) -> bool {
        false
    }
    /// No register has 64 bits (3.1).
    fn holds_64_bits(&self) -> bool {
        false
    }
    /// Words of 16 bits lie two in a register, which the lowering does not use.
    fn holds_16_bits(&self) -> bool {
        false
    }
    /// A test, two groups that open an arm and one that closes it.
    fn flatten_limit(&self) -> u32 {
        8
    }
    fn private_in_registers(&self) -> u32 {
        crate::lower::MOST_WORDS * 4
    }
    /// Words are in registers that an index leads to: an access is a group for the index and one that moves. A chain has a group
    /// for each word but the last, but lets the words be values.
    fn select_chain_limit(&self) -> u32 {
        4
    }
    fn access_worth(&self) -> u32 {
        6
    }
}

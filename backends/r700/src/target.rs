//! What the shared passes ask of this machine.

use gpucc_ir::ssa::{Op, ResourceData, ResourceKind, Type};
use gpucc_passes::TargetInfo;
use gpucc_passes::ctx::default_cost;

/// R700 as the shared passes see it.
pub struct R700;

/// The machine's answers.
pub fn target_info() -> &'static dyn TargetInfo {
    &R700
}

impl TargetInfo for R700 {
    fn native(&self, op: Op, ty: Type) -> bool {
        crate::expand::native::is_native(op, ty)
    }
    /// MULADD_IEEE and MULADD_64 round twice: contraction is free and changes nothing.
    fn has_fma(&self, ty: Type) -> bool {
        matches!(ty, Type::B32 | Type::B64)
    }
    /// What the program only reads is fetched as vertices are, within the size of the fetch constant (R700 ISA 7.1);
    /// what it may write lies in the scatter aperture, which has no bounds of a binding.
    fn bounds_loads(&self, buffer: &ResourceData) -> bool {
        matches!(buffer.kind, ResourceKind::Storage { access, .. } if !access.store && !access.atomic)
    }
    /// Lanes leave blocks by masks alone.
    fn has_branches(&self) -> bool {
        false
    }
    /// Integers are 32 bits wide (R700 ISA 9.2); doubles take pairs of words.
    fn holds_64_bits(&self) -> bool {
        false
    }
    fn holds_16_bits(&self) -> bool {
        false
    }
    fn cost(&self, op: Op, ty: Type) -> u32 {
        let words = default_cost(op, ty);
        match (ty, op) {
            // Straight code on pairs of words, see the pass `words`.
            (Type::B64, Op::UDiv | Op::URem | Op::SDiv | Op::SRem) => 8 * words,
            (Type::B64, _) => 4 * words,
            (Type::B1 | Type::B16 | Type::B32, _) => words,
        }
    }
    /// LOOP_CONTINUE waits for LOOP_END and would skip `continuing`.
    fn has_continue(&self) -> bool {
        false
    }
    /// A push, a jump and a pop with their clause breaks cost about ten groups, and two arms in the groups of one leave
    /// fewer slots empty.
    fn flatten_limit(&self) -> u32 {
        64
    }
    /// Operands read the constant cache themselves.
    fn uniform_cost(&self) -> u32 {
        0
    }
    /// The chips with the fewest registers keep 32 words of a variable there.
    fn private_in_registers(&self) -> u32 {
        128
    }
    fn select_chain_limit(&self) -> u32 {
        4
    }
    /// A fetch against a compare and a choice for every word.
    fn table_words(&self) -> Option<(u32, u32)> {
        Some((5, 1024))
    }
    /// Reads out of range give zero.
    fn speculates_loads(&self) -> bool {
        true
    }
}

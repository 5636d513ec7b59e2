//! Reductions and scans of subgroups, at any width: before anything else asks how wide a value is. isa/rogue-pipeline.md has no
//! operation that combines instances.

use gpucc_ir::ssa::{Func, Numerics, Op, Type};
use gpucc_passes::expand::{Native, OwnRecipe, subgroup};

/// Everything but reductions stays.
struct Reductions;

impl Native for Reductions {
    fn native(&self, op: Op, _: Type) -> bool {
        op != Op::Reduce
    }
    fn recipe(&self, op: Op, _: Type) -> Option<OwnRecipe> {
        // A test with a NaN chooses the second operand, which may be the NaN (7).
        (op == Op::Reduce).then_some(subgroup::reduce_choosing)
    }
}

/// Rewrites every reduction; true when there was one.
pub fn expand(func: &mut Func, numerics: &Numerics) -> bool {
    gpucc_passes::expand::expand(func, &Reductions, numerics)
}

//! Rewrites what Gen4 lacks into what it has, SSA to SSA, under the published numerics: the result is the reference for the
//! bits.

mod native;
mod point;
mod recipes;
mod texture;

use gpucc_ir::driver::Effort;
use gpucc_passes::runner::{cleans, required, step};
use gpucc_passes::{Pass, Plan, Proof};
pub use native::is_native;

/// Passes of this machine alone.
const OWN: &[Pass] = &[
    required(
        "coarse_derivatives",
        Proof::Licence("WGSL, derivative built-in functions: a derivative may be a coarse one"),
        "derivatives are those of one row or column",
        |func, _| gpucc_passes::expand::coarse_derivatives(func),
    ),
    required(
        "binding_arrays",
        Proof::Exact,
        "elements of binding arrays are constants",
        |func, _| gpucc_passes::expand::arrays::expand(func),
    ),
    required(
        "textures",
        Proof::Expansion,
        "directions to cubes, clamped lookups and gathers become what messages do",
        |func, _| texture::expand(func),
    ),
    required(
        "point_widths",
        Proof::Expansion,
        "the width of points becomes one that a vertex's header holds",
        |func, _| point::widths(func),
    ),
    required(
        "expand",
        Proof::Expansion,
        "operations that the machine lacks become others",
        |func, ctx| gpucc_passes::expand::expand(func, &native::Machine, &ctx.numerics),
    ),
];

/// What makes the reference for the bytes of SSA after the shared passes.
pub fn plan(effort: Effort) -> Plan {
    let steps = ["coarse_derivatives", "binding_arrays", "textures", "point_widths", "expand"];
    let mut steps: Vec<_> = steps.into_iter().map(step).collect();
    if effort > Effort::None {
        steps.extend([step("gvn"), cleans("fold"), step("dce")]);
    }
    Plan { steps, own: OWN }
}

//! Rewrites what Rogue lacks into what it has, SSA to SSA, under the published numerics: the result is the reference for
//! the bits.

mod halves;
mod native;
mod recipes;
mod subgroup;
mod texture;

use crate::target;
use gpucc_ir::driver::Effort;
use gpucc_passes::runner::{FREEDOMS, cleans, optional, required, sequence, step};
use gpucc_passes::{Pass, Plan, Proof, float_range};
pub use native::is_native;

/// Passes of this machine alone.
const OWN: &[Pass] = &[
    gpucc_passes::expand::COARSE_DERIVATIVES,
    gpucc_passes::expand::arrays::PASS,
    required(
        "textures",
        Proof::Expansion,
        "lookups that are clamped to the edge become lookups of level 0",
        |func, _| texture::expand(func),
    ),
    required(
        "subgroups",
        Proof::Expansion,
        "reductions of subgroups become reads of one instance after the other",
        |func, ctx| subgroup::expand(func, &ctx.numerics),
    ),
    optional(
        "contract",
        Proof::Licence("WGSL, reassociation and fusion: a product and a sum may round once"),
        "a product and a sum become one `fma`",
        |func, ctx| ctx.on(&target::Contracting, |ctx| gpucc_passes::algebra::run(func, ctx)),
    ),
    required(
        "halves",
        Proof::Expansion,
        "floats of 16 bits are computed as floats of 32 bits and rounded",
        |func, _| halves::run(func),
    ),
    gpucc_passes::expand::samples::PASS,
    required(
        "expand",
        Proof::Expansion,
        "operations that the machine lacks become others",
        |func, ctx| gpucc_passes::expand::expand(func, &native::Machine, &ctx.numerics),
    ),
    float_range::DECIDE,
];

/// What makes the reference for the bytes of SSA after the shared passes. Pixels may have several samples.
pub fn plan(effort: Effort, several: bool) -> Plan {
    let mut steps = const {
        sequence(["coarse_derivatives", "binding_arrays", "subgroups", "halves", "textures"])
    }
    .to_vec();
    if !several {
        steps.push(const { step("sample_mask") });
    }
    if effort > Effort::None {
        // Expansions keep their bounds as they are: what they make is not contracted.
        steps.push(const { step("contract") });
    }
    steps.push(const { step("expand") });
    if effort > Effort::None {
        steps.extend(FREEDOMS);
        steps.extend(
            const {
                [
                    step("exits_to_guards"),
                    step("hoist"),
                    step("copy_prop"),
                    step("if_convert"),
                    step("relaxed_fold"),
                    step("gvn"),
                    cleans("relaxed_fold"),
                    step("dce"),
                ]
            },
        );
    }
    Plan { steps, own: OWN }
}

//! Rewrites what Gen4 lacks into what it has, SSA to SSA, under the published numerics: the result is the reference for the
//! bits.

mod angles;
mod choices;
mod clamps;
mod dots;
mod lines;
mod loops;
mod native;
mod point;
mod products;
mod ranges;
mod recipes;
mod slopes;
mod tables;
mod texture;
mod truths;
mod uses;

use crate::abi::of_vertices;
use gpucc_ir::driver::Effort;
use gpucc_passes::runner::{FREEDOMS, cleans, optional, required, sequence, step};
use gpucc_passes::{Pass, Plan, Proof, float_range};
pub use native::is_native;

/// Passes of this machine alone.
const OWN: &[Pass] = &[
    gpucc_passes::expand::COARSE_DERIVATIVES,
    gpucc_passes::expand::arrays::PASS,
    gpucc_passes::expand::image::PASS,
    required(
        "textures",
        Proof::Expansion,
        "directions to cubes, clamped lookups and gathers become what messages do",
        |func, _| texture::expand(func),
    ),
    required(
        "fill_tables",
        Proof::Exact,
        "tables that do not fit among the constants are filled by the program",
        |func, _| tables::fit(func),
    ),
    gpucc_passes::expand::samples::PASS,
    required(
        "point_widths",
        Proof::Expansion,
        "the width of points becomes one that a vertex's header holds",
        |func, _| point::widths(func),
    ),
    required(
        "constant_divisors",
        Proof::Licence("WGSL, floating-point accuracy: a quotient is within 2.5 units"),
        "floats that are divided by numbers are multiplied",
        |func, _| recipes::constant_divisors(func),
    ),
    optional(
        "join_fractions",
        Proof::Licence("WGSL, differences from IEEE-754: no sign of zero"),
        "what is left of a float without its whole part is a fraction with a sign",
        |func, _| recipes::fractions(func),
    ),
    optional(
        "scatter_dots",
        Proof::Licence("WGSL, reassociation and fusion: sums of products are fused or not"),
        "dot products of vertices whose operands lie apart become products and sums",
        |func, _| dots::scatter(func),
    ),
    required(
        "expand",
        Proof::Expansion,
        "operations that the machine lacks become others",
        |func, ctx| {
            let machine = native::Machine { vertex: of_vertices(func.stage) };
            gpucc_passes::expand::expand(func, &machine, &ctx.numerics)
        },
    ),
    optional(
        "join_lines",
        Proof::Licence(
            "WGSL, reassociation and fusion: sums of products of one value are regrouped",
        ),
        "mixtures of two numbers are one product and one sum",
        |func, _| lines::join(func),
    ),
    optional(
        "saturate_clamps",
        Proof::Licence("WGSL, floating-point accuracy: denormals may be zeros"),
        "clamps between 0 and a power of two are saturations and scales",
        |func, _| clamps::saturate(func),
    ),
    optional(
        "decide_integers",
        Proof::Exact,
        "comparisons of integers that conditions around them decide are numbers",
        |func, _| ranges::decide(func),
    ),
    optional(
        "flush_numbers",
        Proof::Exact,
        "numbers that operations flush are zeros",
        |func, _| clamps::flush(func),
    ),
    optional(
        "join_products",
        Proof::Licence("WGSL, reassociation and fusion: sums of products are fused or not"),
        "sums of products round once",
        |func, _| products::join(func),
    ),
    optional(
        "join_slopes",
        Proof::Licence("WGSL, reassociation and fusion: sums of products are fused or not"),
        "sums of a product with a number and a number read both from the constants",
        |func, _| slopes::join(func),
    ),
    float_range::DECIDE,
    optional(
        "join_truths",
        Proof::Licence("WGSL, differences from IEEE-754: no NaN"),
        "choices of truth values are joined flags",
        |func, _| truths::join(func),
    ),
    optional(
        "invert_loops",
        Proof::Exact,
        "loops whose first trip is certain ask at their end for the next one",
        |func, _| loops::invert(func),
    ),
    optional(
        "sink_exits",
        Proof::Exact,
        "exits near the end of a loop stand at its end, where one word leaves or goes back",
        gpucc_passes::join_exits::sink,
    ),
    optional(
        "update_elements",
        Proof::Exact,
        "an element in registers is changed in its place, where an index names it",
        |func, _| choices::update(func),
    ),
    optional(
        "group_choices",
        Proof::Exact,
        "choices by one condition stand side by side",
        |func, _| choices::group(func),
    ),
];

/// What makes the reference for the bytes of SSA after the shared passes: every operation becomes a native one, and
/// the source language's freedoms are used up.
pub fn plan(effort: Effort) -> Plan {
    let mut steps = const {
        sequence([
            "coarse_derivatives",
            "binding_arrays",
            "storage_images",
            "textures",
            "fill_tables",
            "sample_mask",
            "point_widths",
            "constant_divisors",
        ])
    }
    .to_vec();
    if effort > Effort::None {
        steps.extend(const { sequence(["join_fractions", "scatter_dots"]) });
    }
    steps.push(const { step("expand") });
    if effort > Effort::None {
        steps.extend(const { sequence(["decide_integers", "flush_numbers"]) });
        steps.extend(FREEDOMS);
        steps.extend(
            const {
                [
                    step("join_lines"),
                    step("saturate_clamps"),
                    step("exits_to_guards"),
                    step("hoist"),
                    step("copy_prop"),
                    step("if_convert"),
                    step("relaxed_fold"),
                    step("join_truths"),
                    step("update_elements"),
                    step("copy_prop"),
                    step("invert_loops"),
                    step("sink_exits"),
                    step("gvn"),
                    cleans("relaxed_fold"),
                    step("join_products"),
                    step("join_slopes"),
                    step("dce"),
                    step("group_choices"),
                ]
            },
        );
    }
    Plan { steps, own: OWN }
}

/// The one function of a text, for tests of passes.
#[cfg(test)]
fn parsed(text: &str) -> gpucc_ir::ssa::Func {
    let module = gpucc_ir::ssa::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.funcs.into_iter().next().expect("one function")
}

#[cfg(test)]
mod tests {
    use super::plan;
    use gpucc_ir::driver::Effort;

    /// No number times 0 is left, nor a comparison that ranges decide, once somebody optimises.
    #[test]
    fn the_languages_freedoms_are_used_up() {
        let has = |effort, name: &str| plan(effort).steps.iter().any(|step| step.name == name);
        for name in ["scatter_dots", "relaxed_fold", "decide_ranges", "if_convert"] {
            assert!(has(Effort::Full, name), "{name}");
            assert!(!has(Effort::None, name), "{name}");
        }
    }
}

//! The numeric model of Rogue: what each float operation gives to the bit, where the documents say it, and what we define
//! where they are silent (the emulator computes the same). isa/rogue-pipeline.md 7.

use crate::chip::Chip;
use gpucc_ir::ssa::Numerics;
use gpucc_ir::ssa::numerics::{
    Denormals, Dot, DotOrder, Fma, Functions, NAN64, NanRule, Perturbation, Rounding, ZeroRule,
};
use gpucc_machine::Errors;

/// The published model.
///
/// - Cores that public drivers report as rounding to nearest do so, the others round toward zero.
/// - Sums and products round once, and so does `fmad`. Both are assumptions of the page.
/// - Denormals are flushed by float arithmetic and by tests of floats, and kept by moves and packing, which is the default that the
///   page proposes.
/// - A minimum is `a < b ? a : b` and a maximum `a >= b ? a : b`: a test and a move. 2.4.
/// - A load beyond a texture gives its border through its swizzle: alpha is 1 where the format lacks it. 4.5.
/// - Dot products are chains of `fmad`, first pair first.
pub fn numerics(chip: Chip) -> Numerics {
    Numerics {
        name: "rogue",
        rounding: match chip.rounds_even() {
            true => Rounding::NearestEven,
            false => Rounding::TowardZero,
        },
        f32_denormals: Denormals::FLUSH,
        f16_denormals: Denormals::KEEP,
        f64_denormals: Denormals::KEEP,
        nan64: NAN64,
        f64_keeps_nans: false,
        sign_ops_flush: false,
        min_max_flush: false,
        fma: Fma::Fused,
        min_max_nan: NanRule::Second,
        min_max_zero: ZeroRule::Compared,
        dot: Dot { order: DotOrder::Ascending, fused: true, filled_to: 0 },
        fract_below_one: false,
        functions: Functions::EXACT,
        level_of_quad: false,
        alpha_outside_is_free: true,
        nan_reference_is_free: false,
        perturbation: None,
    }
}

/// How far the functions are let be off, from the exact value. Their accuracy is not public, so this is an assumption
/// (`evidence.rs`): one unit, and two of 2^x. The expansions count on it. It is what Vulkan asks of a driver that multiplies by FRCP
/// where it divides: such a quotient is off by up to 2.5 units, of which one unit of the reciprocal makes two, and rounding a half. 7.
pub const ERRORS: Errors = Errors {
    bounds: Perturbation {
        seed: 0,
        rcp_ulps: 1,
        rsq_ulps: 1,
        sqrt_ulps: 1,
        exp2_ulps: 2,
        log2_ulps: 1,
        sin_cos_absolute: 0.0,
    },
    reciprocal_w: false,
};

//! The numeric model of Gen4: what each float operation gives to the bit, where the manual says it, and what we define where
//! it is silent (the emulator computes the same).

use gpucc_ir::ssa::Numerics;
use gpucc_ir::ssa::numerics::{
    Denormals, Dot, DotOrder, Fma, Functions, NAN64, NanRule, Perturbation, Rounding, ZeroRule,
};
use gpucc_machine::Errors;

/// The published model.
///
/// - Sums, products and conversions round toward zero; what exceeds the largest float becomes infinity (G45 vol. 4, 10.3.1,
///   tables of add and mul).
/// - Extended math is rounded toward zero too, as all float arithmetic is (10.3.1), where no error is set.
/// - Denormals are flushed on the way in and out of float operations, keeping the sign. Moves, selects and bit operations
///   keep them.
/// - A product and a sum round twice: MAC takes a word to load the accumulator, so that it serves sums of several products alone.
///   Where LINE makes them, of two numbers among the constants, they are such a sum.
/// - A minimum is `a < b ? a : b` and a maximum `a >= b ? a : b`: a comparison and `sel`.
/// - Dot products of vertices, and sums of products by MAC, are exact sums that are rounded once. The manual leaves open how often
///   DP2, DP3, DP4 and MAC round (10.3.1.2). WGSL lets sums be regrouped, and be fused or not: whichever the hardware does is right
///   by the language, but bits may differ from the model's.
pub fn numerics(name: &'static str) -> Numerics {
    Numerics {
        name,
        rounding: Rounding::TowardZeroOverflowing,
        f32_denormals: Denormals::FLUSH,
        f16_denormals: Denormals::KEEP,
        f64_denormals: Denormals::KEEP,
        nan64: NAN64,
        f64_keeps_nans: false,
        sign_ops_flush: false,
        min_max_flush: false,
        fma: Fma::Twice,
        min_max_nan: NanRule::Second,
        min_max_zero: ZeroRule::Compared,
        dot: Dot { order: DotOrder::Exact, fused: false, filled_to: 0 },
        fract_below_one: false,
        functions: Functions::TRUNCATED,
        level_of_quad: true,
        // isa/gen4.md 1.8: 1 where the format has no alpha.
        alpha_outside_is_free: true,
        // 4.8.1.4, sample_c: a NaN passes where numbers are ordered.
        nan_reference_is_free: true,
        perturbation: None,
    }
}

/// How far extended math is let be off (G45 vol. 4, 6.2): INV, SQRT and RSQ one unit in the last place, EXP and LOG 2^-21 of
/// the result, which is four. Sines and cosines are polynomials of ours.
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

//! The numeric model of Valhall: what each float operation gives to the bit, where the documents say it,
//! and what we define where they are silent (the emulator computes the same).

use gpucc_ir::ssa::Numerics;
use gpucc_ir::ssa::numerics::{
    Denormals, Dot, DotOrder, Fma, NanRule, Perturbation, Rounding, ZeroRule, tabled,
};
use gpucc_machine::Errors;

/// The published model (isa/valhall_rogue.md 4.3, 4.6).
///
/// - Sums, products and conversions round to nearest even: their round modifiers are left at that.
/// - FMA rounds once, and a product is `FMA a, b, -0`, which is the same as a product rounded once.
/// - Denormals are preserved: the shader-program descriptor says FTZ mode 0 for f32 and f16.
/// - FMIN and FMAX give the operand that is no NaN and order the zeros; so do the clamps.
/// - `fneg` and `fabs` touch the sign bit alone: where no user takes them as a modifier they are an
///   integer addition and a conjunction. A NaN that arithmetic makes is canonical.
/// - Dot products are a chain of FMA, first pair first.
/// - The special functions are the sequences of [`tabled`].
pub fn numerics() -> Numerics {
    Numerics {
        name: "valhall",
        rounding: Rounding::NearestEven,
        f32_denormals: Denormals::KEEP,
        f16_denormals: Denormals::KEEP,
        f64_denormals: Denormals::KEEP,
        nan64: gpucc_ir::ssa::numerics::NAN64,
        f64_keeps_nans: false,
        sign_ops_flush: false,
        min_max_flush: false,
        fma: Fma::Fused,
        min_max_nan: NanRule::Other,
        min_max_zero: ZeroRule::Ordered,
        dot: Dot { order: DotOrder::Ascending, fused: true, filled_to: 0 },
        fract_below_one: false,
        functions: tabled::FUNCTIONS,
        level_of_quad: false,
        alpha_outside_is_free: false,
        nan_reference_is_free: false,
        perturbation: None,
    }
}

/// How far the special functions' instructions are let be off: two units in the last place (isa/valhall_rogue.md 4.3), of the
/// tables of sines and cosines those of numbers from 0.5 to 1. The functions are sequences of these ([`gpucc_ir::ssa::numerics::Functions::sequences`]).
pub const ERRORS: Errors = Errors {
    bounds: Perturbation {
        seed: 0,
        rcp_ulps: 2,
        rsq_ulps: 2,
        sqrt_ulps: 2,
        exp2_ulps: 2,
        log2_ulps: 2,
        sin_cos_absolute: f32::EPSILON,
    },
    // The machine gives it: isa/valhall_rogue.md 2.1.
    reciprocal_w: false,
};

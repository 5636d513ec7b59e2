//! The numeric model of R700: what each float operation gives to the bit, where the manual says it,
//! and what we define where the manual is silent (the emulator computes the same).

use crate::api::Family;
use gpucc_ir::ssa::Numerics;
use gpucc_ir::ssa::numerics::{
    Denormals, Dot, DotOrder, Fma, Function, Functions, NanRule, Perturbation, Rounding, ZeroRule,
    exact, flush32,
};
use gpucc_machine::Errors;

/// The published model.
///
/// - ADD, MUL, MULADD and INT_TO_FLT round to nearest even (isa/r700.md 5).
/// - Denormals are flushed on the way in and out of float operations, keeping the sign; bit
///   operations, moves and conditional moves keep them. The documents are silent for f32; their
///   tables for doubles flush (R700 ISA 9, ADD_64, MUL_64).
/// - Doubles make one NaN, NaN64; conversions keep a NaN's sign, and FLT32_TO_FLT64 its fraction
///   (R700 ISA tables 9.1 to 9.9).
/// - MULADD_IEEE rounds the product and then the sum (isa/r700.md 5; a fused form exists only on
///   later parts), so contraction never changes a result.
/// - MIN_DX10 and MAX_DX10 give the operand that is no NaN (R700 ISA 9, MAX_DX10), and compare zeros
///   as equal.
/// - DOT4_IEEE adds W, Z, Y, X in this order (R700 ISA 9, DOT4_IEEE): of our operands the last pair
///   first, unused slots being +0 * +0.
/// - RECIP_IEEE, RECIPSQRT_IEEE, SQRT_IEEE, EXP_IEEE, LOG_IEEE, SIN and COS are "approximate" in the
///   manual without a bound; we define them rounded once.
pub fn numerics() -> Numerics {
    numerics_of(Family::R700)
}

/// 2 pi as R6xx programs multiply turns by.
pub const TWO_PI: f32 = std::f32::consts::TAU;

/// As [`numerics`], for either family. On R6xx SIN and COS take radians, -pi to pi (isa/r700.md 0.2): a turn is
/// multiplied by 2 pi and rounded first.
pub fn numerics_of(family: Family) -> Numerics {
    Numerics {
        name: family.name(),
        rounding: Rounding::NearestEven,
        f32_denormals: Denormals::FLUSH,
        f16_denormals: Denormals::KEEP,
        f64_denormals: Denormals::FLUSH,
        nan64: 0xfff8_0000_0000_0000,
        f64_keeps_nans: true,
        sign_ops_flush: false,
        min_max_flush: true,
        fma: Fma::Twice,
        min_max_nan: NanRule::Other,
        min_max_zero: ZeroRule::Compared,
        dot: Dot { order: DotOrder::Descending, fused: false, filled_to: 4 },
        fract_below_one: false,
        functions: match family {
            Family::R700 => Functions::EXACT,
            Family::R600 => Functions {
                sin_turns: |turns| exact::sin(turns * TWO_PI),
                cos_turns: |turns| exact::cos(turns * TWO_PI),
                sequences: of_radians,
                ..Functions::EXACT
            },
        },
        level_of_quad: false,
        alpha_outside_is_free: false,
        nan_reference_is_free: false,
        perturbation: None,
    }
}

/// The sine or cosine that an instruction of R6xx gives for radians under errors.
pub fn circular(errors: Option<&Perturbation>, function: Function, radians: f32) -> f32 {
    let exact = match function {
        Function::Sin => exact::sin(radians),
        _ => exact::cos(radians),
    };
    match errors {
        Some(errors) if radians != 0.0 && exact.is_finite() => {
            errors.near_absolute(exact, (radians, function))
        }
        _ => exact,
    }
}

/// Sines and cosines of turns on R6xx: a product, and an instruction that errs by the product.
fn of_radians(errors: &Perturbation, function: Function, turns: f32, _: f32) -> Option<f32> {
    let function = match function {
        Function::SinTurns => Function::Sin,
        Function::CosTurns => Function::Cos,
        _ => return None,
    };
    let radians = f32::from_bits(flush32((turns * TWO_PI).to_bits()));
    Some(circular(Some(errors), function, radians))
}

/// How far the approximated functions are let be off: the manual gives no bound (R700 ISA 9, RECIP_IEEE and its like), so
/// these are the errors that WGSL's own leave room for. RECIP_UINT and RECIP_INT are below by at most 2^-16 of the result.
pub fn errors() -> Errors {
    let bounds = Perturbation {
        seed: 0,
        rcp_ulps: 1,
        rsq_ulps: 2,
        sqrt_ulps: 2,
        exp2_ulps: 3,
        log2_ulps: 3,
        sin_cos_absolute: 1.0 / 65536.0,
    };
    Errors { bounds, reciprocal_w: true }
}

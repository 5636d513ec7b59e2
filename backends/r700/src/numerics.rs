//! The numeric model of R700: what each float operation gives to the bit, where the manual says it,
//! and what we define where the manual is silent (the emulator computes the same).

use gpucc_ir::ssa::Numerics;
use gpucc_ir::ssa::numerics::{Denormals, Dot, DotOrder, Fma, Functions, NanRule, ZeroRule};

/// The published model.
///
/// - Denormals are flushed on the way in and out of float operations, keeping the sign; bit
///   operations, moves and conditional moves keep them. The documents are silent for f32; their
///   tables for doubles flush (R700 ISA 9, ADD_64, MUL_64).
/// - MULADD_IEEE rounds the product and then the sum (isa/r700.md 5; a fused form exists only on
///   later parts), so contraction never changes a result.
/// - MIN_DX10 and MAX_DX10 give the operand that is no NaN (R700 ISA 9, MAX_DX10), and compare zeros
///   as equal.
/// - DOT4_IEEE adds W, Z, Y, X in this order (R700 ISA 9, DOT4_IEEE): of our operands the last pair
///   first, unused slots being +0 * +0.
/// - RECIP_IEEE, RECIPSQRT_IEEE, SQRT_IEEE, EXP_IEEE, LOG_IEEE, SIN and COS are "approximate" in the
///   manual without a bound; we define them rounded once.
pub fn numerics() -> Numerics {
    Numerics {
        name: "r700",
        f32_denormals: Denormals::FLUSH,
        f16_denormals: Denormals::KEEP,
        f64_denormals: Denormals::FLUSH,
        sign_ops_flush: false,
        min_max_flush: true,
        fma: Fma::Twice,
        min_max_nan: NanRule::Other,
        min_max_zero: ZeroRule::Compared,
        dot: Dot {
            order: DotOrder::Descending,
            fused: false,
            filled_to: 4,
        },
        fract_below_one: false,
        functions: Functions::EXACT,
        perturbation: None,
    }
}

//! Functions of one f32, computed in f64 and rounded once toward zero; what exceeds the largest float is infinity. Pure and the same
//! on every host.

use super::{Rounding, exact, toward_zero};

fn cut(x: f64) -> f32 {
    toward_zero::to_f32(x, Rounding::TowardZeroOverflowing)
}

/// 1 / x: ±0 gives infinity of the sign, infinity gives zero.
pub fn rcp(x: f32) -> f32 {
    cut(1.0 / f64::from(x))
}
/// 1 / sqrt(x); +0 gives infinity, -0 minus infinity, negative gives NaN.
pub fn rsq(x: f32) -> f32 {
    cut(exact::rsq64(f64::from(x)))
}
/// Square root; -0 gives -0, negative gives NaN.
pub fn sqrt(x: f32) -> f32 {
    cut(libm::sqrt(f64::from(x)))
}
/// 2^x.
pub fn exp2(x: f32) -> f32 {
    cut(libm::exp2(f64::from(x)))
}
/// Base-2 logarithm; ±0 gives minus infinity, negative gives NaN.
pub fn log2(x: f32) -> f32 {
    cut(libm::log2(f64::from(x)))
}
/// x^y.
pub fn pow(x: f32, y: f32) -> f32 {
    cut(libm::pow(f64::from(x), f64::from(y)))
}
/// Sine, radians.
pub fn sin(x: f32) -> f32 {
    cut(libm::sin(f64::from(x)))
}
/// Cosine, radians.
pub fn cos(x: f32) -> f32 {
    cut(libm::cos(f64::from(x)))
}

//! Functions of one f32, computed in f64 and rounded once; pure and the same on every host.

use super::Function;

/// What a function of one operand is before it is rounded. Functions that err by units in the last place alone.
pub(super) fn wide(function: Function, x: f32) -> f64 {
    let x = f64::from(x);
    match function {
        Function::Rcp => 1.0 / x,
        Function::Rsq => rsq64(x),
        Function::Sqrt => libm::sqrt(x),
        Function::Exp2 => libm::exp2(x),
        Function::Log2 => libm::log2(x),
        _ => f64::NAN,
    }
}

/// 1 / x: correctly rounded; ±0 gives infinity of the sign, infinity gives zero.
pub fn rcp(x: f32) -> f32 {
    1.0 / x
}
/// 1 / sqrt(x); +0 gives infinity, -0 minus infinity, negative gives NaN.
pub fn rsq(x: f32) -> f32 {
    rsq64(f64::from(x)) as f32
}
/// Square root: correctly rounded; -0 gives -0, negative gives NaN.
pub fn sqrt(x: f32) -> f32 {
    libm::sqrtf(x)
}
/// 2^x.
pub fn exp2(x: f32) -> f32 {
    libm::exp2(f64::from(x)) as f32
}
/// Base-2 logarithm; ±0 gives minus infinity, negative gives NaN.
pub fn log2(x: f32) -> f32 {
    libm::log2(f64::from(x)) as f32
}
/// sin(2 pi x) for any finite x.
pub fn sin_turns(x: f32) -> f32 {
    sin_turns64(f64::from(x)) as f32
}
/// cos(2 pi x) for any finite x.
pub fn cos_turns(x: f32) -> f32 {
    cos_turns64(f64::from(x)) as f32
}

/// e^x.
pub fn exp(x: f32) -> f32 {
    libm::exp(f64::from(x)) as f32
}
/// x^y.
pub fn pow(x: f32, y: f32) -> f32 {
    libm::pow(f64::from(x), f64::from(y)) as f32
}
/// Sine, radians.
pub fn sin(x: f32) -> f32 {
    libm::sin(f64::from(x)) as f32
}
/// Cosine, radians.
pub fn cos(x: f32) -> f32 {
    libm::cos(f64::from(x)) as f32
}

/// 1 / sqrt(x).
pub(crate) fn rsq64(x: f64) -> f64 {
    1.0 / libm::sqrt(x)
}
/// sin(2 pi x): whole and half turns are taken off exactly, so zeros are zeros.
pub(crate) fn sin_turns64(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let mut r = x - libm::rint(x);
    if r.abs() > 0.25 {
        r = 0.5f64.copysign(r) - r;
    }
    libm::sin(r * std::f64::consts::TAU)
}
/// cos(2 pi x) = sin(2 pi (1/4 - |r|)) with whole turns taken off exactly.
pub(crate) fn cos_turns64(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let r = (x - libm::rint(x)).abs();
    libm::sin((0.25 - r) * std::f64::consts::TAU)
}

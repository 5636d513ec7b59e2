//! Float functions made of reciprocal, square root, 2^x and log2.

use super::build::Expander;
use gpucc_ir::ssa::numerics::{DotOrder, Fma, Rounding};
use gpucc_ir::ssa::{Op, Value};
use std::f32::consts::{LN_2, LOG2_E};

/// Exact.
pub(super) fn sub(e: &mut Expander, args: &[Value]) -> Value {
    let negative = e.fneg(args[1]);
    e.fadd(args[0], negative)
}

/// Product and sum, each rounded: what WGSL allows for `fma`.
pub(super) fn fma(e: &mut Expander, args: &[Value]) -> Value {
    let product = e.fmul(args[0], args[1]);
    e.fadd(product, args[2])
}

/// A chain of products and sums in the order of the model.
pub(super) fn dot(e: &mut Expander, args: &[Value]) -> Value {
    let pairs = args.len() / 2;
    let products: Vec<Value> = (0..pairs).map(|i| e.fmul(args[i], args[pairs + i])).collect();
    let mut sum = None;
    let ascending = e.numerics.dot.order != DotOrder::Descending;
    for index in 0..pairs {
        let product = products[if ascending { index } else { pairs - 1 - index }];
        sum = Some(match sum {
            None => product,
            Some(sum) => e.fadd(sum, product),
        });
    }
    sum.expect("at least two pairs")
}

/// Within 2.5 units for |y| from 2^-126 to below 2^126, WGSL's bound, where the reciprocal is within one unit of 1 / y. To
/// nearest: reciprocal (1 unit, at most 2 of the quotient's) and one rounding. Toward zero the reciprocal is made one that is
/// not too small: the product is less than 2 units too large, of which rounding takes less than one away. So what divides
/// without a remainder is not too small, and its floor is right. A constant power of two is divided by the reciprocal as it is.
pub(super) fn div(e: &mut Expander, args: &[Value]) -> Value {
    let [x, y] = [args[0], args[1]];
    let reciprocal = match e.numerics.rounding {
        Rounding::NearestEven => e.frcp(y),
        Rounding::TowardZero | Rounding::TowardZeroOverflowing => match e.as_const(y) {
            Some(bits) => match reciprocal_above(f32::from_bits(bits as u32)) {
                Some(reciprocal) => e.f(reciprocal),
                None => e.frcp(y),
            },
            // Its product is exact.
            None if e.as_const(x).is_some_and(is_power_of_two) => e.frcp(y),
            None => above(e, y),
        },
    };
    e.fmul(x, reciprocal)
}

/// 1 / y, or the next float away from zero where that is no float; none where y or the result is no normal number.
fn reciprocal_above(y: f32) -> Option<f32> {
    let nearest = (1.0 / f64::from(y)) as f32;
    if !y.is_normal() || !nearest.is_normal() {
        return None;
    }
    // Exact: 48 bits.
    let is_below = f64::from(nearest) * f64::from(y) < 1.0;
    let size = nearest.abs();
    let above = if is_below { size.next_up() } else { size };
    Some(above.copysign(y))
}

/// A normal one, of either sign.
fn is_power_of_two(bits: u64) -> bool {
    f32::from_bits(bits as u32).is_normal() && bits & 0x7f_ffff == 0
}

/// 1 / y, too large by a unit at most, never too small: the next float away from zero stands in for a reciprocal whose
/// product with y is below 1. That product is near 1, so that neither flushing nor rounding toward zero hides it. r (1 + 2^-23)
/// toward zero is the next float, and keeps zeros and infinities. All depends on y alone: quotients by one number share it.
fn above(e: &mut Expander, y: Value) -> Value {
    let reciprocal = e.frcp(y);
    let one = e.f(1.0);
    let below = match e.numerics.fma {
        Fma::Twice => {
            let product = e.fmul(reciprocal, y);
            e.flt(product, one)
        }
        // A test of one number.
        Fma::Fused => {
            let negative = e.fneg(reciprocal);
            let lacks = e.fma(negative, y, one);
            let zero = e.f(0.0);
            e.flt(zero, lacks)
        }
    };
    let more = e.f(1.0 + f32::EPSILON);
    let next = e.fmul(reciprocal, more);
    e.select(below, next, reciprocal)
}

/// x - y * trunc(x / y), WGSL's own definition.
pub(super) fn rem(e: &mut Expander, args: &[Value]) -> Value {
    let quotient = e.op(Op::FDiv, &[args[0], args[1]]);
    let whole = e.op(Op::FTrunc, &[quotient]);
    let back = e.fmul(whole, args[1]);
    e.fsub(args[0], back)
}

/// Exact; zeros and NaN give 0.
pub(super) fn sign(e: &mut Expander, args: &[Value]) -> Value {
    let (zero, one, minus) = (e.f(0.0), e.f(1.0), e.f(-1.0));
    let above = e.flt(zero, args[0]);
    let below = e.flt(args[0], zero);
    let other = e.select(below, minus, zero);
    e.select(above, one, other)
}

/// Exact; NaN gives 0 where `fmax` prefers the other operand.
pub(super) fn saturate(e: &mut Expander, args: &[Value]) -> Value {
    let (zero, one) = (e.f(0.0), e.f(1.0));
    let low = e.fmax(args[0], zero);
    e.fmin(low, one)
}

/// Exact.
pub(super) fn ceil(e: &mut Expander, args: &[Value]) -> Value {
    let negative = e.fneg(args[0]);
    let floor = e.op(Op::FFloor, &[negative]);
    e.fneg(floor)
}

/// x - floor(x), WGSL's own definition.
pub(super) fn fract(e: &mut Expander, args: &[Value]) -> Value {
    let floor = e.op(Op::FFloor, &[args[0]]);
    e.fsub(args[0], floor)
}

/// x * frsq(x): within 3 units, of which frsq makes at most 2 and the rounding a half, or toward zero one; zero and
/// infinity stay. WGSL: inherited from 1 / inverseSqrt(x).
pub(super) fn sqrt(e: &mut Expander, args: &[Value]) -> Value {
    let x = args[0];
    let inverse = e.op(Op::FRsq, &[x]);
    let root = e.fmul(x, inverse);
    let (zero, infinity) = (e.f(0.0), e.f(f32::INFINITY));
    let same = {
        let is_zero = e.op(Op::FEq, &[x, zero]);
        let is_infinite = e.op(Op::FEq, &[x, infinity]);
        e.or(is_zero, is_infinite)
    };
    e.select(same, x, root)
}

/// 1 / sqrt(x): within 2 units, WGSL's bound, with a square root within 1 unit.
pub(super) fn rsq(e: &mut Expander, args: &[Value]) -> Value {
    let root = e.op(Op::FSqrt, &[args[0]]);
    e.frcp(root)
}

/// log2 e for a product that is rounded. Toward zero the float above it: what the product loses, which is up to twice
/// as much as to nearest, is made good in part.
fn log2_e(e: &Expander) -> f32 {
    match e.numerics.rounding {
        Rounding::NearestEven => LOG2_E,
        Rounding::TowardZero | Rounding::TowardZeroOverflowing => LOG2_E.next_up(),
    }
}

/// 2^(x * log2 e): within 3 + 2 |x| units, WGSL's bound. To nearest the rounded product is off by |x| log2 e
/// 2^-24 and the constant by less, which the power turns into less than |x| units; toward zero they are off by
/// -0.5 * 2^-23 to 0.6 * 2^-23 of it, which makes less than 1.2 |x|.
pub(super) fn exp(e: &mut Expander, args: &[Value]) -> Value {
    let scale = log2_e(e);
    let scale = e.f(scale);
    let scaled = e.fmul(args[0], scale);
    e.fexp2(scaled)
}

/// log2 x * ln 2: within 3 units outside 0.5..=2 and 2^-21 absolutely inside, WGSL's bound.
pub(super) fn log(e: &mut Expander, args: &[Value]) -> Value {
    let logarithm = e.flog2(args[0]);
    let scale = e.f(LN_2);
    e.fmul(logarithm, scale)
}

/// 2^(y * log2 x), WGSL's own definition.
pub(super) fn pow(e: &mut Expander, args: &[Value]) -> Value {
    let logarithm = e.flog2(args[0]);
    let product = e.fmul(logarithm, args[1]);
    e.fexp2(product)
}

/// e^x / 2 and e^-x / 2. Halved in the exponent, so that neither overflows before their sum does.
fn half_exponentials(e: &mut Expander, x: Value) -> (Value, Value) {
    let scale = log2_e(e);
    let (scale, minus_scale, minus_one) = (e.f(scale), e.f(-scale), e.f(-1.0));
    let up = e.fma(x, scale, minus_one);
    let down = e.fma(x, minus_scale, minus_one);
    (e.fexp2(up), e.fexp2(down))
}

/// (e^x - e^-x) / 2, WGSL's own definition.
pub(super) fn sinh(e: &mut Expander, args: &[Value]) -> Value {
    let (up, down) = half_exponentials(e, args[0]);
    e.fsub(up, down)
}

/// (e^x + e^-x) / 2, WGSL's own definition.
pub(super) fn cosh(e: &mut Expander, args: &[Value]) -> Value {
    let (up, down) = half_exponentials(e, args[0]);
    e.fadd(up, down)
}

/// 1 - 2 / (e^2x + 1): within 2^-20 absolutely (WGSL: 1e-5); both ends are reached without overflow.
pub(super) fn tanh(e: &mut Expander, args: &[Value]) -> Value {
    let (scale, one, minus_two) = (e.f(2.0 * LOG2_E), e.f(1.0), e.f(-2.0));
    let scaled = e.fmul(args[0], scale);
    let power = e.fexp2(scaled);
    let sum = e.fadd(power, one);
    let reciprocal = e.frcp(sum);
    e.fma(reciprocal, minus_two, one)
}

/// log(|x| + sqrt(x^2 + 1)) with the sign of x; WGSL: inherited from that formula.
pub(super) fn asinh(e: &mut Expander, args: &[Value]) -> Value {
    let (size, one) = (e.fabs(args[0]), e.f(1.0));
    let square = e.fma(size, size, one);
    let root = e.op(Op::FSqrt, &[square]);
    let sum = e.fadd(size, root);
    let logarithm = e.op(Op::FLog, &[sum]);
    e.with_sign(logarithm, args[0])
}

/// log(x + sqrt(x^2 - 1)), WGSL's own definition.
pub(super) fn acosh(e: &mut Expander, args: &[Value]) -> Value {
    let minus_one = e.f(-1.0);
    let square = e.fma(args[0], args[0], minus_one);
    let root = e.op(Op::FSqrt, &[square]);
    let sum = e.fadd(args[0], root);
    e.op(Op::FLog, &[sum])
}

/// log((1 + x) / (1 - x)) / 2, WGSL's own definition.
pub(super) fn atanh(e: &mut Expander, args: &[Value]) -> Value {
    let (one, half) = (e.f(1.0), e.f(0.5));
    let (above, below) = (e.fadd(one, args[0]), e.fsub(one, args[0]));
    let ratio = e.op(Op::FDiv, &[above, below]);
    let logarithm = e.op(Op::FLog, &[ratio]);
    e.fmul(logarithm, half)
}

/// x * 2^k by two factors of half the exponent each, so that neither overflows alone. Exact where the
/// result is normal and k at least -252. Exponents beyond -254..=254 count as these; 2^-127 as a factor
/// is 0, so that the greatest float does not stay normal (WGSL: zero is a result wherever k <= -127).
pub(super) fn ldexp(e: &mut Expander, args: &[Value]) -> Value {
    let (low, high) = (e.u(-254i32 as u32), e.u(254));
    let k = e.smax(args[1], low);
    let k = e.smin(k, high);
    let one = e.u(1);
    let first = e.ashr(k, one);
    let second = e.isub(k, first);
    let mut power = |k: Value| {
        let (bias, by) = (e.u(127), e.u(23));
        let biased = e.iadd(k, bias);
        e.shl(biased, by)
    };
    let (first, second) = (power(first), power(second));
    let scaled = e.fmul(args[0], first);
    e.fmul(scaled, second)
}

/// The bits of x with its biased exponent, denormals made normal where the machine keeps them, and
/// what was added to the exponent for it.
fn normalised(e: &mut Expander, x: Value) -> (Value, Value, Value) {
    let (by, mask, zero) = (e.u(23), e.u(0xff), e.u(0));
    let field = |e: &mut Expander, x: Value| {
        let exponent = e.lshr(x, by);
        e.and(exponent, mask)
    };
    let exponent = field(e, x);
    if e.numerics.f32_denormals.flush_inputs {
        return (x, exponent, zero);
    }
    let tiny = e.ieq(exponent, zero);
    let scale = e.f(16_777_216.0);
    let scaled = e.fmul(x, scale);
    let x = e.select(tiny, scaled, x);
    let exponent = field(e, x);
    let added = e.u(24);
    let added = e.select(tiny, added, zero);
    (x, exponent, added)
}

/// True for zero, infinity and NaN, told by the biased exponent.
fn special(e: &mut Expander, exponent: Value) -> Value {
    let (one, count) = (e.u(1), e.u(254));
    let shifted = e.isub(exponent, one);
    e.ule(count, shifted)
}

/// Exact; x itself for zero, infinity and NaN (a flushed denormal is zero).
pub(super) fn frexp_fract(e: &mut Expander, args: &[Value]) -> Value {
    let (x, exponent, _) = normalised(e, args[0]);
    let (keep, half, zero) = (e.u(0x807f_ffff), e.u(0x3f00_0000), e.u(0));
    let bits = e.and(x, keep);
    let fraction = e.or(bits, half);
    let is_special = special(e, exponent);
    let sign = e.sign_bit(x);
    let none = e.ieq(exponent, zero);
    let other = e.select(none, sign, x);
    e.select(is_special, other, fraction)
}

/// Exact; 0 for zero, infinity and NaN.
pub(super) fn frexp_exp(e: &mut Expander, args: &[Value]) -> Value {
    let (_, exponent, added) = normalised(e, args[0]);
    let (bias, zero) = (e.u(126), e.u(0));
    let unbiased = e.isub(exponent, bias);
    let unbiased = e.isub(unbiased, added);
    let is_special = special(e, exponent);
    e.select(is_special, zero, unbiased)
}

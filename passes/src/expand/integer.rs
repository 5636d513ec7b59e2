//! Integer division through a float reciprocal, and wide products. All exact.

use super::build::Expander;
use gpucc_ir::ssa::{Op, Value};

/// Quotient and remainder for y != 0; anything for y = 0.
///
/// The float reciprocal, scaled by slightly less than 2^32, is never above 2^32 / y even when the
/// machine's `frcp` is 3 units too large; one Newton step in integers leaves the estimated quotient
/// at most 2 too small, which two corrections repair.
fn divide(e: &mut Expander, x: Value, y: Value) -> (Value, Value) {
    let float = e.utof(y);
    let reciprocal = e.frcp(float);
    // 2^32 - 4096: the largest float that leaves room for the reciprocal's error.
    let scale = e.f(4_294_963_200.0);
    let scaled = e.fmul(reciprocal, scale);
    let r = e.ftou(scaled);
    let product = e.imul(y, r);
    let zero = e.u(0);
    let error = e.isub(zero, product);
    let step = e.umulhi(r, error);
    let r = e.iadd(r, step);
    let mut quotient = e.umulhi(x, r);
    let product = e.imul(quotient, y);
    let mut remainder = e.isub(x, product);
    let one = e.u(1);
    for _ in 0..2 {
        let fits = e.ule(y, remainder);
        let (more, less) = (e.iadd(quotient, one), e.isub(remainder, y));
        quotient = e.select(fits, more, quotient);
        remainder = e.select(fits, less, remainder);
    }
    (quotient, remainder)
}

/// Exact; x / 0 = x.
pub(super) fn udiv(e: &mut Expander, args: &[Value]) -> Value {
    let (quotient, _) = divide(e, args[0], args[1]);
    let zero = e.u(0);
    let by_zero = e.ieq(args[1], zero);
    e.select(by_zero, args[0], quotient)
}

/// Exact; x % 0 = 0.
pub(super) fn urem(e: &mut Expander, args: &[Value]) -> Value {
    let (_, remainder) = divide(e, args[0], args[1]);
    let zero = e.u(0);
    let by_zero = e.ieq(args[1], zero);
    e.select(by_zero, zero, remainder)
}

/// x or -x, as `mask` is 0 or all ones.
fn negate_if(e: &mut Expander, x: Value, mask: Value) -> Value {
    let flipped = e.xor(x, mask);
    e.isub(flipped, mask)
}

/// |x| as unsigned, and the mask of its sign.
fn magnitude(e: &mut Expander, x: Value) -> (Value, Value) {
    let by = e.u(31);
    let mask = e.ashr(x, by);
    (negate_if(e, x, mask), mask)
}

/// Exact; x / 0 = x, MIN / -1 = MIN.
pub(super) fn sdiv(e: &mut Expander, args: &[Value]) -> Value {
    let (x, x_sign) = magnitude(e, args[0]);
    let (y, y_sign) = magnitude(e, args[1]);
    let quotient = udiv(e, &[x, y]);
    let sign = e.xor(x_sign, y_sign);
    negate_if(e, quotient, sign)
}

/// Exact; x % 0 = 0, MIN % -1 = 0; the sign of x.
pub(super) fn srem(e: &mut Expander, args: &[Value]) -> Value {
    let (x, x_sign) = magnitude(e, args[0]);
    let (y, _) = magnitude(e, args[1]);
    let remainder = urem(e, &[x, y]);
    negate_if(e, remainder, x_sign)
}

/// Exact: four products of halves.
pub(super) fn umulhi(e: &mut Expander, args: &[Value]) -> Value {
    let (low, by) = (e.u(0xffff), e.u(16));
    let [(a0, a1), (b0, b1)] = [args[0], args[1]].map(|x| (e.and(x, low), e.lshr(x, by)));
    let (p00, p01, p10, p11) = (e.imul(a0, b0), e.imul(a0, b1), e.imul(a1, b0), e.imul(a1, b1));
    let carry = e.lshr(p00, by);
    let middle = e.iadd(p10, carry);
    let (middle_low, middle_high) = (e.and(middle, low), e.lshr(middle, by));
    let second = e.iadd(p01, middle_low);
    let second_high = e.lshr(second, by);
    let high = e.iadd(p11, middle_high);
    e.iadd(high, second_high)
}

/// Exact: the unsigned product less what the signs added.
pub(super) fn smulhi(e: &mut Expander, args: &[Value]) -> Value {
    let high = e.umulhi(args[0], args[1]);
    let by = e.u(31);
    let [a_sign, b_sign] = [args[0], args[1]].map(|x| e.ashr(x, by));
    let (a, b) = (e.and(a_sign, args[1]), e.and(b_sign, args[0]));
    let high = e.isub(high, a);
    e.isub(high, b)
}

/// Exact.
pub(super) fn ineg(e: &mut Expander, args: &[Value]) -> Value {
    let zero = e.u(0);
    e.isub(zero, args[0])
}

/// Exact.
pub(super) fn iabs(e: &mut Expander, args: &[Value]) -> Value {
    let negative = e.op(Op::INeg, &[args[0]]);
    e.smax(args[0], negative)
}

//! f16 in software: rounding to nearest even, denormals and infinities, on machines that flush f32
//! denormals. Exact (f32 denormals count as zero, as they round to zero anyway).

use super::build::Expander;
use gpucc_ir::ssa::Value;

/// The smallest normal f16, as f32 bits.
const LEAST_NORMAL: u32 = 0x3880_0000;
/// 2^16 as f32 bits: what is not below it is infinite or NaN as f16.
const TOO_LARGE: u32 = 0x4780_0000;
/// f32 infinity.
const INFINITY: u32 = 0x7f80_0000;

/// The f16 of a float in the low half of a word.
fn round(e: &mut Expander, x: Value) -> Value {
    let sign = e.sign_bit(x);
    let size = e.xor(x, sign);
    // Adding just under half a unit, and one more if the last kept bit is odd, then cutting: ties go
    // to even. The bias goes from 127 to 15 in the same sum.
    let thirteen = e.u(13);
    let one = e.u(1);
    let odd = e.lshr(size, thirteen);
    let odd = e.and(odd, one);
    let rebias = e.u(0xc800_0fff);
    let sum = e.iadd(size, rebias);
    let sum = e.iadd(sum, odd);
    let normal = e.lshr(sum, thirteen);
    // Below the least normal the unit is 2^-24, which is that of 0.5: the float adder rounds.
    let half = e.f(0.5);
    let shifted = e.fadd(size, half);
    let denormal = e.isub(shifted, half);
    let least = e.u(LEAST_NORMAL);
    let small = e.ult(size, least);
    let finite = e.select(small, denormal, normal);
    let (infinity, nan, top) = (e.u(0x7c00), e.u(0x7e00), e.u(TOO_LARGE));
    let most = e.u(INFINITY);
    let is_nan = e.ult(most, size);
    let large = e.select(is_nan, nan, infinity);
    let fits = e.ult(size, top);
    let magnitude = e.select(fits, finite, large);
    let sixteen = e.u(16);
    let sign = e.lshr(sign, sixteen);
    e.or(magnitude, sign)
}

/// The f32 of an f16 in the low half of a word (the rest of it is 0).
fn widen(e: &mut Expander, half: Value) -> Value {
    let (magnitude, thirteen, sixteen) = (e.u(0x7fff), e.u(13), e.u(16));
    let size = e.and(half, magnitude);
    let sign = e.xor(half, size);
    let sign = e.shl(sign, sixteen);
    let bits = e.shl(size, thirteen);
    let rebias = e.u(0x3800_0000);
    let normal = e.iadd(bits, rebias);
    // A denormal becomes a number with the exponent of the least normal one, less that number.
    let least = e.u(LEAST_NORMAL);
    let with_exponent = e.iadd(bits, least);
    let denormal = e.fsub(with_exponent, least);
    let (first_normal, infinity) = (e.u(0x400), e.u(0x7c00));
    let small = e.ult(size, first_normal);
    let finite = e.select(small, denormal, normal);
    let special = e.iadd(normal, rebias);
    let is_finite = e.ult(size, infinity);
    let value = e.select(is_finite, finite, special);
    e.or(value, sign)
}

/// Two f16; exact (RNE), NaN gives 0x7e00 with its sign.
pub(super) fn pack(e: &mut Expander, args: &[Value]) -> Value {
    let low = round(e, args[0]);
    let high = round(e, args[1]);
    let by = e.u(16);
    let high = e.shl(high, by);
    e.or(low, high)
}

/// Exact.
pub(super) fn unpack_low(e: &mut Expander, args: &[Value]) -> Value {
    let mask = e.u(0xffff);
    let half = e.and(args[0], mask);
    widen(e, half)
}

/// Exact.
pub(super) fn unpack_high(e: &mut Expander, args: &[Value]) -> Value {
    let by = e.u(16);
    let half = e.lshr(args[0], by);
    widen(e, half)
}

/// Exact (RNE): 11 significant bits, units of 2^-24 below the least normal, infinity from 65520.
pub(super) fn quantize(e: &mut Expander, args: &[Value]) -> Value {
    let x = args[0];
    let sign = e.sign_bit(x);
    let size = e.xor(x, sign);
    let (thirteen, one) = (e.u(13), e.u(1));
    let odd = e.lshr(size, thirteen);
    let odd = e.and(odd, one);
    let bump = e.u(0xfff);
    let sum = e.iadd(size, bump);
    let sum = e.iadd(sum, odd);
    let keep = e.u(0xffff_e000);
    let normal = e.and(sum, keep);
    let half = e.f(0.5);
    let shifted = e.fadd(size, half);
    let denormal = e.fsub(shifted, half);
    let least = e.u(LEAST_NORMAL);
    let small = e.ult(size, least);
    let value = e.select(small, denormal, normal);
    let top = e.u(TOO_LARGE);
    let infinity = e.u(INFINITY);
    let fits = e.ult(normal, top);
    let value = e.select(fits, value, infinity);
    // A NaN stays one: its size is above infinity's.
    let is_nan = e.ult(infinity, size);
    let value = e.select(is_nan, size, value);
    e.or(value, sign)
}

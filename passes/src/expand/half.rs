//! f16 in software: rounding as the model says, denormals and infinities, on machines that flush f32
//! denormals. Exact (f32 denormals count as zero, as they round to zero anyway).

use super::build::Expander;
use gpucc_ir::ssa::{Value, numerics::Rounding};

/// The smallest normal f16, as f32 bits.
const LEAST_NORMAL: u32 = 0x3880_0000;
/// 2^16 as f32 bits: what is not below it is infinite or NaN as f16.
const TOO_LARGE: u32 = 0x4780_0000;
/// The largest f16, as f32 bits.
const LARGEST: u32 = 0x477f_e000;
/// f32 infinity.
const INFINITY: u32 = 0x7f80_0000;

/// The bits of a normal number plus `bias`, rounded once its last 13 bits are cut.
fn rounded(e: &mut Expander, size: Value, thirteen: Value, bias: u32) -> Value {
    if e.numerics.rounding != Rounding::NearestEven {
        let bias = e.u(bias);
        return e.iadd(size, bias);
    }
    // Just under half a unit, and one more if the last kept bit is odd: ties go to even.
    let one = e.u(1);
    let odd = e.lshr(size, thirteen);
    let odd = e.and(odd, one);
    let bump = e.u(bias + 0xfff);
    let sum = e.iadd(size, bump);
    e.iadd(sum, odd)
}

/// What a size from 2^16 becomes that is a number.
fn beyond(e: &mut Expander, size: Value, largest: u32, infinity: u32) -> Value {
    let infinity = e.u(infinity);
    match e.numerics.rounding {
        Rounding::NearestEven | Rounding::TowardZeroOverflowing => infinity,
        Rounding::TowardZero => {
            let (endless, largest) = (e.u(INFINITY), e.u(largest));
            let is_infinite = e.ieq(size, endless);
            e.select(is_infinite, infinity, largest)
        }
    }
}

/// The f16 of a float in the low half of a word.
fn round(e: &mut Expander, x: Value) -> Value {
    let sign = e.sign_bit(x);
    let size = e.xor(x, sign);
    let thirteen = e.u(13);
    // The bias goes from 127 to 15 in the same sum.
    let sum = rounded(e, size, thirteen, 0xc800_0000);
    let normal = e.lshr(sum, thirteen);
    // Below the least normal the unit is 2^-24, which is that of 0.5: the float adder rounds.
    let half = e.f(0.5);
    let shifted = e.fadd(size, half);
    let denormal = e.isub(shifted, half);
    let least = e.u(LEAST_NORMAL);
    let small = e.ult(size, least);
    let finite = e.select(small, denormal, normal);
    let infinity = beyond(e, size, 0x7bff, 0x7c00);
    let (nan, top) = (e.u(0x7e00), e.u(TOO_LARGE));
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

/// Two f16; exact, NaN gives 0x7e00 with its sign.
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

/// Exact: 11 significant bits, units of 2^-24 below the least normal.
pub(super) fn quantize(e: &mut Expander, args: &[Value]) -> Value {
    let x = args[0];
    let sign = e.sign_bit(x);
    let size = e.xor(x, sign);
    let thirteen = e.u(13);
    let sum = rounded(e, size, thirteen, 0);
    let keep = e.u(0xffff_e000);
    let normal = e.and(sum, keep);
    let half = e.f(0.5);
    let shifted = e.fadd(size, half);
    let denormal = e.fsub(shifted, half);
    let least = e.u(LEAST_NORMAL);
    let small = e.ult(size, least);
    let value = e.select(small, denormal, normal);
    let top = e.u(TOO_LARGE);
    let large = beyond(e, size, LARGEST, INFINITY);
    let infinity = e.u(INFINITY);
    let fits = e.ult(normal, top);
    let value = e.select(fits, value, large);
    // A NaN stays one: its size is above infinity's.
    let is_nan = e.ult(infinity, size);
    let value = e.select(is_nan, size, value);
    e.or(value, sign)
}

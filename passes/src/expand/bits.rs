//! Counting, finding, reversing and moving bits. All exact.

use super::build::Expander;
use gpucc_ir::ssa::Value;

/// Sums of 2, 4, 8 bits in place, then all bytes at once by a product.
pub(super) fn popcount(e: &mut Expander, args: &[Value]) -> Value {
    let x = args[0];
    let (one, two, four, top) = (e.u(1), e.u(2), e.u(4), e.u(24));
    let (pairs, nibbles, bytes, sum) =
        (e.u(0x5555_5555), e.u(0x3333_3333), e.u(0x0f0f_0f0f), e.u(0x0101_0101));
    let odd = e.lshr(x, one);
    let odd = e.and(odd, pairs);
    let x = e.isub(x, odd);
    let low = e.and(x, nibbles);
    let high = e.lshr(x, two);
    let high = e.and(high, nibbles);
    let x = e.iadd(low, high);
    let high = e.lshr(x, four);
    let x = e.iadd(x, high);
    let x = e.and(x, bytes);
    let x = e.imul(x, sum);
    e.lshr(x, top)
}

/// Swaps neighbours of 1, 2, 4, 8, 16 bits.
pub(super) fn bitreverse(e: &mut Expander, args: &[Value]) -> Value {
    let mut x = args[0];
    for (by, mask) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff)] {
        let (by, mask) = (e.u(by), e.u(mask));
        let high = e.lshr(x, by);
        let high = e.and(high, mask);
        let low = e.and(x, mask);
        let low = e.shl(low, by);
        x = e.or(high, low);
    }
    let by = e.u(16);
    let (high, low) = (e.lshr(x, by), e.shl(x, by));
    e.or(high, low)
}

/// The exponent that a float made of `x` has, less its bias; x must not round up to the next power
/// of two.
fn exponent(e: &mut Expander, x: Value) -> Value {
    let float = e.utof(x);
    let (by, bias) = (e.u(23), e.u(127));
    let biased = e.lshr(float, by);
    e.isub(biased, bias)
}

/// Number of the highest set bit for x != 0, read from the exponent of `x as f32`. A bit below a set
/// one is cleared first, so that no rounding carries into the next power of two.
fn highest(e: &mut Expander, x: Value) -> Value {
    let one = e.u(1);
    let half = e.lshr(x, one);
    let keep = e.not(half);
    let sparse = e.and(x, keep);
    exponent(e, sparse)
}

/// Number of the lowest set bit for x != 0.
fn lowest(e: &mut Expander, x: Value) -> Value {
    let zero = e.u(0);
    let negative = e.isub(zero, x);
    let bit = e.and(x, negative);
    exponent(e, bit)
}

/// `found`, or `none` where x is 0.
fn unless_zero(e: &mut Expander, x: Value, found: Value, none: u32) -> Value {
    let (zero, none) = (e.u(0), e.u(none));
    let empty = e.ieq(x, zero);
    e.select(empty, none, found)
}

/// 31 - highest bit; 32 for 0.
pub(super) fn clz(e: &mut Expander, args: &[Value]) -> Value {
    let found = highest(e, args[0]);
    let top = e.u(31);
    let found = e.isub(top, found);
    unless_zero(e, args[0], found, 32)
}

/// Lowest bit; 32 for 0.
pub(super) fn ctz(e: &mut Expander, args: &[Value]) -> Value {
    let found = lowest(e, args[0]);
    unless_zero(e, args[0], found, 32)
}

/// Highest bit; all ones for 0.
pub(super) fn umsb(e: &mut Expander, args: &[Value]) -> Value {
    let found = highest(e, args[0]);
    unless_zero(e, args[0], found, u32::MAX)
}

/// Highest bit that differs from the sign; all ones for 0 and -1.
pub(super) fn smsb(e: &mut Expander, args: &[Value]) -> Value {
    let by = e.u(31);
    let sign = e.ashr(args[0], by);
    let x = e.xor(args[0], sign);
    umsb(e, &[x])
}

/// Lowest bit; all ones for 0.
pub(super) fn lsb(e: &mut Expander, args: &[Value]) -> Value {
    let found = lowest(e, args[0]);
    unless_zero(e, args[0], found, u32::MAX)
}

/// WGSL's clamps: offset to the width, count to what is left; and the width less the count.
fn field(e: &mut Expander, width: u32, offset: Value, count: Value) -> (Value, Value, Value) {
    let width = e.u(width);
    let offset = e.umin(offset, width);
    let room = e.isub(width, offset);
    let count = e.umin(count, room);
    let above = e.isub(width, count);
    (offset, count, above)
}

fn extract(e: &mut Expander, args: &[Value], signed: bool) -> Value {
    let ty = e.ty(args[0]);
    let (offset, count, above) = field(e, ty.bits(), args[1], args[2]);
    let up = e.isub(above, offset);
    let top = e.shl(args[0], up);
    let bits = match signed {
        true => e.ashr(top, above),
        false => e.lshr(top, above),
    };
    // Shifts take amounts modulo the width, so an empty field is told apart.
    let (none, zero) = (e.u(0), e.constant(ty, 0));
    let empty = e.ieq(count, none);
    e.select(empty, zero, bits)
}

/// Up against the top, then down.
pub(super) fn ubfe(e: &mut Expander, args: &[Value]) -> Value {
    extract(e, args, false)
}

/// Up against the top, then down with the sign.
pub(super) fn sbfe(e: &mut Expander, args: &[Value]) -> Value {
    extract(e, args, true)
}

/// The field's mask chooses between old and new bits.
pub(super) fn bfi(e: &mut Expander, args: &[Value]) -> Value {
    let ty = e.ty(args[0]);
    let (offset, count, above) = field(e, ty.bits(), args[2], args[3]);
    let (none, zero, all) = (e.u(0), e.constant(ty, 0), e.constant(ty, ty.mask()));
    let ones = e.lshr(all, above);
    let empty = e.ieq(count, none);
    let ones = e.select(empty, zero, ones);
    let mask = e.shl(ones, offset);
    let new = e.shl(args[1], offset);
    let new = e.and(new, mask);
    let hole = e.not(mask);
    let old = e.and(args[0], hole);
    e.or(old, new)
}

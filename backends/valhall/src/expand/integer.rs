//! Integers of 32 bits, and those of 16 that are computed in 32. All exact.

use gpucc_ir::ssa::{Builder, InstData, Op, Type, Value};

pub(super) fn ctz(b: &mut Builder, data: &InstData) -> Value {
    let reversed = b.op1(Op::BitReverse, data.args[0]);
    b.op1(Op::Clz, reversed)
}

pub(super) fn lsb(b: &mut Builder, data: &InstData) -> Value {
    let count = ctz(b, data);
    let (zero, all) = (b.u32(0), b.u32(u32::MAX));
    let empty = b.op2(Op::IEq, data.args[0], zero);
    b.select(empty, all, count)
}

/// 31 - clz x, which is -1 for 0.
fn highest(b: &mut Builder, x: Value) -> Value {
    let count = b.op1(Op::Clz, x);
    let top = b.u32(31);
    b.op2(Op::ISub, top, count)
}

pub(super) fn umsb(b: &mut Builder, data: &InstData) -> Value {
    highest(b, data.args[0])
}

pub(super) fn smsb(b: &mut Builder, data: &InstData) -> Value {
    let by = b.u32(31);
    let sign = b.op2(Op::AShr, data.args[0], by);
    let x = b.op2(Op::Xor, data.args[0], sign);
    highest(b, x)
}

/// Offset clamped to the width, count to what is left.
fn field(b: &mut Builder, offset: Value, count: Value, width: u32) -> (Value, Value) {
    if let (Some(o), Some(c)) = (b.func.as_const(offset), b.func.as_const(count)) {
        let o = (o as u32).min(width);
        let c = (c as u32).min(width - o);
        return (b.u32(o), b.u32(c));
    }
    let all = b.u32(width);
    let offset = b.op2(Op::UMin, offset, all);
    let room = b.op2(Op::ISub, all, offset);
    (offset, b.op2(Op::UMin, count, room))
}

/// WGSL extractBits at any width: shifted and masked where offset and count are constants, else up
/// against the top and down again.
pub(super) fn extract(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let ty = b.func.ty(x);
    let width = ty.bits();
    let (offset, count) = field(b, data.args[1], data.args[2], width);
    let constants = (b.func.as_const(offset), b.func.as_const(count));
    let shift = if data.op == Op::SBfe { Op::AShr } else { Op::LShr };
    match constants {
        (_, Some(0)) => return b.constant(ty, 0),
        (Some(0), Some(c)) if c == u64::from(width) => return x,
        (Some(o), Some(c)) if data.op == Op::UBfe => {
            let mask = b.constant(ty, ty.mask() >> (u64::from(width) - c));
            let low = match o {
                0 => x,
                _ => b.op2(Op::LShr, x, offset),
            };
            // What comes down from the top needs no mask.
            return match o + c == u64::from(width) {
                true => low,
                false => b.op2(Op::And, low, mask),
            };
        }
        _ => {}
    }
    let all = b.u32(width);
    let above = b.op2(Op::ISub, all, count);
    let up = b.op2(Op::ISub, above, offset);
    let top = b.op2(Op::Shl, x, up);
    let bits = b.op2(shift, top, above);
    if constants.1.is_some() {
        return bits;
    }
    // Shifts take amounts modulo the width, so an empty field is told apart.
    let none = b.u32(0);
    let empty = b.op2(Op::IEq, count, none);
    let zero = b.constant(ty, 0);
    b.select(empty, zero, bits)
}

/// WGSL insertBits at any width: the field's mask chooses between old and new bits.
pub(super) fn insert(b: &mut Builder, data: &InstData) -> Value {
    let (old, new) = (data.args[0], data.args[1]);
    let ty = b.func.ty(old);
    let width = ty.bits();
    let (offset, count) = field(b, data.args[2], data.args[3], width);
    let mask = match (b.func.as_const(offset), b.func.as_const(count)) {
        (_, Some(0)) => return old,
        (Some(o), Some(c)) => {
            b.constant(ty, (ty.mask() >> (u64::from(width) - c)) << o & ty.mask())
        }
        (_, c) => {
            let all = b.u32(width);
            let above = b.op2(Op::ISub, all, count);
            let ones = b.constant(ty, ty.mask());
            let ones = b.op2(Op::LShr, ones, above);
            let ones = match c {
                Some(_) => ones,
                None => {
                    let none = b.u32(0);
                    let empty = b.op2(Op::IEq, count, none);
                    let zero = b.constant(ty, 0);
                    b.select(empty, zero, ones)
                }
            };
            b.op2(Op::Shl, ones, offset)
        }
    };
    let shifted = match b.func.as_const(offset) {
        Some(0) => new,
        _ => b.op2(Op::Shl, new, offset),
    };
    // ((new ^ old) & mask) ^ old has one operation less than two conjunctions, but lowering knows this form.
    let inside = b.op2(Op::And, shifted, mask);
    let hole = b.op1(Op::Not, mask);
    let outside = b.op2(Op::And, old, hole);
    b.op2(Op::Or, inside, outside)
}

/// 16 bits as 32, with the sign or with zeros.
fn widened(b: &mut Builder, value: Value, signed: bool) -> Value {
    match b.func.ty(value) {
        Type::B16 => {
            let op = if signed { Op::SConvert } else { Op::UConvert };
            b.convert(op, Type::B32, value)
        }
        _ => value,
    }
}

fn in_32(b: &mut Builder, data: &InstData, signed: bool) -> Value {
    let wide: Vec<Value> = data.args.iter().map(|&arg| widened(b, arg, signed)).collect();
    let result = b.op(data.op, &wide);
    match b.func.ty(data.results[0]) {
        Type::B16 => b.convert(Op::UConvert, Type::B16, result),
        _ => result,
    }
}

pub(super) fn unsigned_in_32(b: &mut Builder, data: &InstData) -> Value {
    in_32(b, data, false)
}
pub(super) fn signed_in_32(b: &mut Builder, data: &InstData) -> Value {
    in_32(b, data, true)
}

/// Shifts take their amount modulo 16.
pub(super) fn shift_in_32(b: &mut Builder, data: &InstData) -> Value {
    let x = widened(b, data.args[0], data.op == Op::AShr);
    let mask = b.u32(15);
    let by = b.op2(Op::And, data.args[1], mask);
    let result = b.op2(data.op, x, by);
    b.convert(Op::UConvert, Type::B16, result)
}

/// The high half of the product of 16 bits.
pub(super) fn high_product(b: &mut Builder, data: &InstData) -> Value {
    let signed = data.op == Op::SMulHi;
    let [x, y] = [0, 1].map(|k| widened(b, data.args[k], signed));
    let product = b.op2(Op::IMul, x, y);
    let by = b.u32(16);
    let high = b.op2(Op::LShr, product, by);
    b.convert(Op::UConvert, Type::B16, high)
}

/// Against the top of 32 bits.
pub(super) fn reverse_in_32(b: &mut Builder, data: &InstData) -> Value {
    let x = widened(b, data.args[0], false);
    let reversed = b.op1(Op::BitReverse, x);
    let by = b.u32(16);
    let low = b.op2(Op::LShr, reversed, by);
    b.convert(Op::UConvert, Type::B16, low)
}

pub(super) fn leading_in_32(b: &mut Builder, data: &InstData) -> Value {
    let x = widened(b, data.args[0], false);
    let count = b.op1(Op::Clz, x);
    let surplus = b.u32(16);
    let count = b.op2(Op::ISub, count, surplus);
    b.convert(Op::UConvert, Type::B16, count)
}

/// A bit above the value ends the count at 16.
pub(super) fn trailing_in_32(b: &mut Builder, data: &InstData) -> Value {
    let x = widened(b, data.args[0], false);
    let guard = b.u32(1 << 16);
    let x = b.op2(Op::Or, x, guard);
    let count = b.op1(Op::Ctz, x);
    b.convert(Op::UConvert, Type::B16, count)
}

/// A field of 16 bits: offsets and counts are clamped to 16 by the general form, in which a 32-bit value
/// stands for the 16 bits.
pub(super) fn extract_in_32(b: &mut Builder, data: &InstData) -> Value {
    let (offset, count) = field(b, data.args[1], data.args[2], 16);
    let x = widened(b, data.args[0], false);
    let result = b.op3(data.op, x, offset, count);
    b.convert(Op::UConvert, Type::B16, result)
}

pub(super) fn insert_in_32(b: &mut Builder, data: &InstData) -> Value {
    let (offset, count) = field(b, data.args[2], data.args[3], 16);
    let [x, y] = [0, 1].map(|k| widened(b, data.args[k], false));
    let result = b.op(Op::Bfi, &[x, y, offset, count]);
    b.convert(Op::UConvert, Type::B16, result)
}

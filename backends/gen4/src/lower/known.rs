//! What operations tell of bits of their results.

use crate::isa::operand::Type as Ty;
use gpucc_ir::ssa::{Func, InstData, Op, Type, Value};

/// Operations back.
const DEPTH: u32 = 4;

/// What an operation tells, given what its operands do.
type Tells<'a> = dyn Fn(&InstData, &dyn Fn(usize) -> bool) -> bool + 'a;

/// Looks at a constant, or at an operation whose operands are asked the same through `of`.
fn ask(
    func: &Func,
    value: Value,
    depth: u32,
    constant: &dyn Fn(u32) -> bool,
    operation: &Tells<'_>,
) -> bool {
    if let Some(bits) = func.as_const(value) {
        return constant(bits as u32);
    }
    let Some(data) = func.def(value).filter(|_| depth > 0) else { return false };
    let of = |at: usize| ask(func, data.args[at], depth - 1, constant, operation);
    match data.op {
        Op::Select => of(1) && of(2),
        _ => operation(data, &of),
    }
}

/// The number that an operand is.
fn number(func: &Func, data: &InstData, at: usize) -> Option<u32> {
    Some(func.as_const(*data.args.get(at)?)? as u32)
}

/// A value and the low bits of it that shifts to the left and back leave. `near`: see
/// [`super::Lower::is_near`].
pub fn low_bits(
    func: &Func,
    data: &InstData,
    near: impl Fn(Value) -> bool,
) -> Option<(Value, u32)> {
    let by = number(func, data, 1).filter(|_| data.op == Op::LShr && near(data.args[0]))? & 31;
    let inner = func.def(data.args[0]).filter(|inner| inner.op == Op::Shl)?;
    (number(func, inner, 1)? & 31 == by).then_some((inner.args[0], u32::MAX >> by))
}

/// A value of which another is a byte or a word, the type of that, and its first byte. `near` as for [`low_bits`].
pub fn piece(func: &Func, value: Value, near: impl Fn(Value) -> bool) -> Option<(Value, Ty, u8)> {
    let data = func.def(value).filter(|_| func.ty(value) == Type::B32 && near(value))?;
    let shifted = |value: Value, op: Op| {
        let inner = func.def(value).filter(|inner| inner.op == op && near(value))?;
        Some((inner.args[0], number(func, inner, 1)? & 31))
    };
    match data.op {
        Op::And => {
            let mask = |at: usize| number(func, data, at);
            let (inner, mask) = match (mask(0), mask(1)) {
                (_, Some(mask)) => (data.args[0], mask),
                (Some(mask), None) => (data.args[1], mask),
                (None, None) => return None,
            };
            let (ty, bits) = match mask {
                0xff => (Ty::Ub, 8),
                0xffff => (Ty::Uw, 16),
                _ => return None,
            };
            let found = shifted(inner, Op::LShr).or_else(|| shifted(inner, Op::AShr));
            match found.filter(|(_, by)| by % bits == 0) {
                Some((whole, by)) => Some((whole, ty, (by / 8) as u8)),
                None => Some((inner, ty, 0)),
            }
        }
        Op::LShr | Op::AShr => {
            let by = number(func, data, 1)? & 31;
            let ty = match (by, data.op) {
                (24, Op::LShr) => Ty::Ub,
                (24, _) => Ty::B,
                (16, Op::LShr) => Ty::Uw,
                (16, _) => Ty::W,
                _ => return None,
            };
            let found = shifted(data.args[0], Op::Shl).filter(|(_, up)| up % (32 - by) == 0);
            match found {
                Some((whole, up)) => Some((whole, ty, ((by - up.min(by)) / 8) as u8)),
                None => Some((data.args[0], ty, (by / 8) as u8)),
            }
        }
        _ => None,
    }
}

/// The high word is 0.
pub fn is_word(func: &Func, value: Value) -> bool {
    ask(func, value, DEPTH, &|bits| bits < 1 << 16, &|data, of| match data.op {
        Op::And | Op::UMin => of(0) || of(1),
        Op::Or | Op::Xor | Op::UMax => of(0) && of(1),
        Op::LShr => of(0) || number(func, data, 1).is_some_and(|by| by & 31 >= 16),
        Op::UDiv => of(0),
        Op::URem => of(1) && number(func, data, 1).is_some_and(|by| by != 0) || of(0),
        _ => false,
    })
}

/// It is never 0.
pub fn is_not_zero(func: &Func, value: Value) -> bool {
    ask(func, value, DEPTH, &|bits| bits != 0, &|data, of| match data.op {
        Op::Or | Op::UMax => of(0) || of(1),
        Op::UMin => of(0) && of(1),
        Op::SMax => {
            [0, 1].iter().any(|&at| number(func, data, at).is_some_and(|bits| bits as i32 > 0))
        }
        _ => false,
    })
}

/// Some bit of it is 0: as a signed number it is not -1.
pub fn is_not_ones(func: &Func, value: Value) -> bool {
    ask(func, value, DEPTH, &|bits| bits != u32::MAX, &|data, of| match data.op {
        Op::And | Op::UMin => of(0) || of(1),
        Op::UMax => of(0) && of(1),
        Op::SMax => {
            [0, 1].iter().any(|&at| number(func, data, at).is_some_and(|bits| bits as i32 >= 0))
        }
        Op::Shl | Op::LShr => number(func, data, 1).is_some_and(|by| by & 31 != 0),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{Ty, is_not_ones, is_not_zero, is_word, piece};
    use gpucc_ir::ssa::{Builder, Func, Op, Stage, Value};

    #[test]
    fn bytes_and_words_are_parts_of_what_is_shifted_and_masked() {
        let mut func = Func::new("one", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let x = b.u32(0x1234);
        let x = b.op1(Op::Clz, x);
        let with = |b: &mut Builder, op: Op, of: Value, bits: u32| {
            let number = b.u32(bits);
            b.op2(op, of, number)
        };
        let second = with(&mut b, Op::LShr, x, 8);
        let up = with(&mut b, Op::Shl, x, 16);
        let near = with(&mut b, Op::LShr, x, 4);
        let cases = [
            (with(&mut b, Op::And, x, 0xff), Some((x, Ty::Ub, 0))),
            (with(&mut b, Op::And, second, 0xff), Some((x, Ty::Ub, 1))),
            (with(&mut b, Op::And, second, 0xffff), Some((second, Ty::Uw, 0))),
            (with(&mut b, Op::And, near, 0xff), Some((near, Ty::Ub, 0))),
            (with(&mut b, Op::And, x, 0x1ff), None),
            (with(&mut b, Op::LShr, x, 24), Some((x, Ty::Ub, 3))),
            (with(&mut b, Op::AShr, x, 16), Some((x, Ty::W, 2))),
            (with(&mut b, Op::LShr, up, 24), Some((x, Ty::Ub, 1))),
            (with(&mut b, Op::AShr, up, 24), Some((x, Ty::B, 1))),
            (with(&mut b, Op::LShr, up, 16), Some((x, Ty::Uw, 0))),
            (with(&mut b, Op::LShr, x, 20), None),
        ];
        for (value, right) in cases {
            assert_eq!(piece(b.func, value, |_| true), right);
            assert_eq!(piece(b.func, value, |_| false), None);
        }
        // The shift is elsewhere, and the mask is here.
        let (value, _) = cases[1];
        assert_eq!(piece(b.func, value, |near| near == value), Some((second, Ty::Ub, 0)));
    }

    #[test]
    fn bits_follow_from_operations() {
        let mut func = Func::new("one", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        // Nothing is known of it.
        let x = b.u32(0x1234);
        let x = b.op1(Op::Clz, x);
        let with = |b: &mut Builder, op: Op, bits: u32| {
            let number = b.u32(bits);
            b.op2(op, x, number)
        };
        let masked = with(&mut b, Op::And, 0xffff);
        let shifted = with(&mut b, Op::LShr, 16);
        let wide = with(&mut b, Op::LShr, 15);
        let odd = with(&mut b, Op::Or, 1);
        let least = with(&mut b, Op::SMax, 1);
        let positive = with(&mut b, Op::SMax, 0);
        let even = with(&mut b, Op::Shl, 1);
        let all = |of: fn(&Func, Value) -> bool, values: &[Value]| -> Vec<bool> {
            values.iter().map(|&value| of(b.func, value)).collect()
        };
        assert_eq!(
            all(is_word, &[masked, shifted, wide, odd, x]),
            [true, true, false, false, false]
        );
        assert_eq!(all(is_not_zero, &[odd, least, positive, masked]), [true, true, false, false]);
        assert_eq!(all(is_not_ones, &[masked, positive, even, odd]), [true, true, true, false]);
    }
}

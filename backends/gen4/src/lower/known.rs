//! What operations tell of bits of their results.

use gpucc_ir::ssa::{Func, InstData, Op, Value};

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

/// A value and the low bits of it that shifts to the left and back leave.
pub fn low_bits(func: &Func, data: &InstData) -> Option<(Value, u32)> {
    let by = number(func, data, 1).filter(|_| data.op == Op::LShr)? & 31;
    let inner = func.def(data.args[0]).filter(|inner| inner.op == Op::Shl)?;
    (number(func, inner, 1)? & 31 == by).then_some((inner.args[0], u32::MAX >> by))
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
    use super::{is_not_ones, is_not_zero, is_word};
    use gpucc_ir::ssa::{Builder, Func, Op, Stage, Value};

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

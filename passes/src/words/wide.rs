//! Operations of 64 bits, worked out on their words. All exact.

use super::{Form, Operand, Pair};
use crate::expand::build::Expander;
use gpucc_ir::ssa::{Imm, InstData, Op, Type, Value};
use smallvec::SmallVec;

/// The operation's form in words, `None` when it stays whole.
pub(super) fn form(op: Op) -> Option<Form> {
    Some(Form::Pair(match op {
        Op::Const => |e, data, _, _| {
            let bits = constant(data);
            [e.u(bits as u32), e.u((bits >> 32) as u32)]
        },
        Op::IAdd => |e, _, x, _| sum(e, x[0].words, x[1].words),
        Op::ISub => |e, _, x, _| difference(e, x[0].words, x[1].words),
        Op::And | Op::Or | Op::Xor | Op::Not => |e, data, x, _| {
            [0, 1].map(|k| {
                let words: SmallVec<[Value; 2]> = x.iter().map(|x| x.words[k]).collect();
                e.op(data.op, &words)
            })
        },
        Op::Select => {
            |e, _, x, _| [0, 1].map(|k| e.select(x[0].words[0], x[1].words[k], x[2].words[k]))
        }
        Op::Shl | Op::LShr | Op::AShr => {
            |e, data, x, _| shift(e, data.op, x[0].words, x[1].words[0])
        }
        Op::IEq | Op::INe => |e, data, x, _| [equality(e, data.op, x[0].words, x[1].words); 2],
        Op::SLt | Op::SLe | Op::ULt | Op::ULe => {
            |e, data, x, _| [order(e, data.op, x[0].words, x[1].words); 2]
        }
        Op::UConvert | Op::SConvert => |e, data, x, to| match (x[0].ty, to) {
            (Type::B64, Type::B64) => x[0].words,
            (_, Type::B64) => extension(e, data.op, x[0].words[0]),
            (_, Type::B32) => [x[0].words[0]; 2],
            (_, to) => [e.convert(data.op, to, x[0].words[0]); 2],
        },
        Op::Shuffle | Op::Reduce => |e, data, x, _| [0, 1].map(|k| across(e, data, k, x)),
        _ => return None,
    }))
}

/// The bits of a constant.
pub(super) fn constant(data: &InstData) -> u64 {
    match data.imm {
        Imm::Bits(bits) => bits,
        _ => unreachable!("a constant has bits"),
    }
}

/// Word `k` of the first operand goes between lanes.
pub(super) fn across(e: &mut Expander, data: &InstData, k: usize, operands: &[Operand]) -> Value {
    let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(&[operands[0].words[k]]);
    args.extend(operands[1..].iter().map(|other| other.words[0]));
    let b = e.builder();
    let inst = b.inst(data.op, data.imm, &args, &[], &[Type::B32]);
    b.result(inst)
}

/// All ones where the condition holds.
fn mask(e: &mut Expander, condition: Value) -> Value {
    e.convert(Op::SConvert, Type::B32, condition)
}

fn is(e: &Expander, value: Value, bits: u32) -> bool {
    e.as_const(value) == Some(bits.into())
}

/// The carry is one where the low sum is less than a summand.
fn sum(e: &mut Expander, [x0, x1]: Pair, [y0, y1]: Pair) -> Pair {
    let (low, high) = (e.iadd(x0, y0), e.iadd(x1, y1));
    if is(e, x0, 0) || is(e, y0, 0) {
        return [low, high];
    }
    let carry = e.ult(low, y0);
    let carry = mask(e, carry);
    [low, e.isub(high, carry)]
}

fn difference(e: &mut Expander, [x0, x1]: Pair, [y0, y1]: Pair) -> Pair {
    let (low, high) = (e.isub(x0, y0), e.isub(x1, y1));
    if is(e, y0, 0) {
        return [low, high];
    }
    let borrow = match is(e, x0, 0) {
        true => e.op(Op::INe, &[y0, x0]),
        false => e.ult(x0, y0),
    };
    let borrow = mask(e, borrow);
    [low, e.iadd(high, borrow)]
}

/// The amount counts modulo 64: its bit 5 says whether a whole word falls off. Shifts of words take amounts modulo
/// 32; what crosses from one word to the other is shifted by one first, so that an amount of 0 takes all of it.
fn shift(e: &mut Expander, op: Op, [low, high]: Pair, amount: Value) -> Pair {
    let left = op == Op::Shl;
    // The word that bits leave to the other, that other, and what comes in.
    let (from, to) = if left { (low, high) } else { (high, low) };
    let filler = |e: &mut Expander| match op {
        Op::AShr => {
            let by = e.u(31);
            e.ashr(high, by)
        }
        _ => e.u(0),
    };
    let ordered = |from: Value, to: Value| if left { [from, to] } else { [to, from] };
    let (onward, back) = match op {
        Op::Shl => (Op::Shl, Op::LShr),
        _ => (Op::LShr, Op::Shl),
    };
    if let Some(amount) = e.as_const(amount) {
        let amount = amount as u32 % 64;
        let by = e.u(amount % 32);
        return match amount {
            0 => [low, high],
            32 => ordered(filler(e), from),
            33.. => {
                let moved = e.op(op, &[from, by]);
                ordered(filler(e), moved)
            }
            _ => {
                let rest = e.u(32 - amount);
                let (kept, crossing) = (e.op(onward, &[to, by]), e.op(back, &[from, rest]));
                let to = e.or(kept, crossing);
                ordered(e.op(op, &[from, by]), to)
            }
        };
    }
    let (one, bit, zero) = (e.u(1), e.u(32), e.u(0));
    let moved = e.op(op, &[from, amount]);
    let kept = e.op(onward, &[to, amount]);
    let (half, others) = (e.op(back, &[from, one]), e.not(amount));
    let crossing = e.op(back, &[half, others]);
    let near = e.or(kept, crossing);
    let far = e.and(amount, bit);
    let far = e.op(Op::INe, &[far, zero]);
    let filler = filler(e);
    let from = e.select(far, filler, moved);
    let to = e.select(far, moved, near);
    ordered(from, to)
}

fn equality(e: &mut Expander, op: Op, [x0, x1]: Pair, [y0, y1]: Pair) -> Value {
    if is(e, y0, 0) && is(e, y1, 0) {
        let any = e.or(x0, x1);
        return e.op(op, &[any, y0]);
    }
    let (low, high) = (e.op(op, &[x0, y0]), e.op(op, &[x1, y1]));
    match op {
        Op::IEq => e.and(low, high),
        _ => e.or(low, high),
    }
}

/// The high words decide unless they are equal.
fn order(e: &mut Expander, op: Op, [x0, x1]: Pair, [y0, y1]: Pair) -> Value {
    let less = match op {
        Op::SLt | Op::SLe => Op::SLt,
        _ => Op::ULt,
    };
    let (never, always) = match op {
        Op::SLt | Op::ULt => (is(e, y0, 0) || is(e, x0, u32::MAX), false),
        _ => (false, is(e, x0, 0) || is(e, y0, u32::MAX)),
    };
    // The low words cannot decide for less, or cannot decide against it.
    if never {
        return e.op(less, &[x1, y1]);
    }
    if always {
        let at_most = match less {
            Op::SLt => Op::SLe,
            _ => Op::ULe,
        };
        return e.op(at_most, &[x1, y1]);
    }
    let low = match op {
        Op::SLt | Op::ULt => e.ult(x0, y0),
        _ => e.ule(x0, y0),
    };
    let (equal, high) = (e.ieq(x1, y1), e.op(less, &[x1, y1]));
    e.select(equal, low, high)
}

/// A word or a truth value, with zeros or its sign above.
pub(super) fn extension(e: &mut Expander, op: Op, value: Value) -> Pair {
    let low = match e.ty(value) {
        Type::B32 => value,
        _ => e.convert(op, Type::B32, value),
    };
    let high = match op {
        Op::UConvert => e.u(0),
        _ => {
            let by = e.u(31);
            e.ashr(low, by)
        }
    };
    [low, high]
}

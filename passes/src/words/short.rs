//! Integers of 16 bits in words with zeros above. All exact.

use super::wide::{across, constant, extension};
use super::{Form, Operand, Pair};
use crate::expand::build::Expander;
use gpucc_ir::ssa::{InstData, Op, Type, Value};
use smallvec::SmallVec;

/// The operation's form in words where one of the types is half a word, `None` when it stays whole.
pub(super) fn form(op: Op, from: Type, to: Type) -> Option<Form> {
    Some(Form::Word(match op {
        Op::UConvert | Op::SConvert => {
            return Some(Form::Pair(|e, data, operands, to| {
                conversion(e, data.op, &operands[0], to)
            }));
        }
        Op::Shuffle | Op::Reduce => {
            return Some(Form::Pair(|e, data, operands, _| [across(e, data, 0, operands); 2]));
        }
        Op::UToF if to == Type::B32 => |e, _, x| e.utof(x[0]),
        Op::SToF if to == Type::B32 => with_signs,
        // What a word clamps half a word clamps too; NaN gives 0.
        Op::FToU if from == Type::B32 => |e, _, x| {
            let (made, most) = (e.ftou(x[0]), e.u(0xffff));
            e.umin(made, most)
        },
        Op::FToS if from == Type::B32 => |e, _, x| {
            let (least, most) = (e.u(-0x8000i32 as u32), e.u(0x7fff));
            let made = e.op(Op::FToS, x);
            let made = e.smin(made, most);
            let made = e.smax(made, least);
            low(e, made)
        },
        Op::Const => |e, data, _| e.u(constant(data) as u32),
        Op::Select => |e, _, x| e.select(x[0], x[1], x[2]),
        Op::Join16 => |e, _, x| {
            let by = e.u(16);
            let high = e.shl(x[1], by);
            e.or(x[0], high)
        },
        Op::Lo16 => |e, _, x| low(e, x[0]),
        Op::Hi16 => |e, _, x| {
            let by = e.u(16);
            e.lshr(x[0], by)
        },
        // The same of words with zeros above.
        Op::And | Op::Or | Op::Xor | Op::UDiv | Op::URem | Op::UMin | Op::UMax => plain,
        Op::ULt | Op::ULe | Op::IEq | Op::INe | Op::PopCount => plain,
        // The low 16 bits of it.
        Op::IAdd | Op::ISub | Op::IMul | Op::INeg | Op::Not | Op::UMsb | Op::Lsb => |e, data, x| {
            let made = plain(e, data, x);
            low(e, made)
        },
        // The same of words with the sign above, and the low 16 bits of it.
        Op::SLt | Op::SLe => with_signs,
        Op::SDiv | Op::SRem | Op::SMin | Op::SMax | Op::IAbs | Op::SMsb => |e, data, x| {
            let made = with_signs(e, data, x);
            low(e, made)
        },
        Op::Shl | Op::LShr | Op::AShr => |e, data, x| {
            let mask = e.u(15);
            let by = e.and(x[1], mask);
            let value = match data.op {
                Op::AShr => signed(e, x[0]),
                _ => x[0],
            };
            let made = e.op(data.op, &[value, by]);
            match data.op {
                Op::LShr => made,
                _ => low(e, made),
            }
        },
        Op::UMulHi | Op::SMulHi => |e, data, x| {
            let [x, y] = [x[0], x[1]].map(|x| match data.op {
                Op::SMulHi => signed(e, x),
                _ => x,
            });
            let (product, by) = (e.imul(x, y), e.u(16));
            e.lshr(product, by)
        },
        Op::BitReverse => |e, data, x| {
            let (made, by) = (plain(e, data, x), e.u(16));
            e.lshr(made, by)
        },
        Op::Clz => |e, data, x| {
            let (made, above) = (plain(e, data, x), e.u(16));
            e.isub(made, above)
        },
        // A bit above the value ends the count.
        Op::Ctz => |e, _, x| {
            let guard = e.u(1 << 16);
            let guarded = e.or(x[0], guard);
            e.op(Op::Ctz, &[guarded])
        },
        Op::UBfe | Op::SBfe => |e, data, x| {
            let (offset, count) = field(e, x[1], x[2]);
            let made = e.op(data.op, &[x[0], offset, count]);
            low(e, made)
        },
        Op::Bfi => |e, _, x| {
            let (offset, count) = field(e, x[2], x[3]);
            e.op(Op::Bfi, &[x[0], x[1], offset, count])
        },
        _ => return None,
    }))
}

fn plain(e: &mut Expander, data: &InstData, words: &[Value]) -> Value {
    e.op(data.op, words)
}

fn with_signs(e: &mut Expander, data: &InstData, words: &[Value]) -> Value {
    let words: SmallVec<[Value; 4]> = words.iter().map(|&x| signed(e, x)).collect();
    e.op(data.op, &words)
}

fn low(e: &mut Expander, word: Value) -> Value {
    let mask = e.u(0xffff);
    e.and(word, mask)
}

/// With the sign above.
fn signed(e: &mut Expander, word: Value) -> Value {
    let by = e.u(16);
    let high = e.shl(word, by);
    e.ashr(high, by)
}

/// Offset and count within 16 bits.
fn field(e: &mut Expander, offset: Value, count: Value) -> (Value, Value) {
    let width = e.u(16);
    let offset = e.umin(offset, width);
    let room = e.isub(width, offset);
    (offset, e.umin(count, room))
}

fn conversion(e: &mut Expander, op: Op, from: &Operand, to: Type) -> Pair {
    let value = from.words[0];
    let word = match from.ty {
        Type::B16 if op == Op::SConvert && to != Type::B16 => signed(e, value),
        Type::B16 | Type::B32 | Type::B64 => value,
        Type::B1 => e.convert(op, Type::B32, value),
    };
    match to {
        Type::B64 => extension(e, op, word),
        Type::B32 => [word; 2],
        Type::B16 => [low(e, word); 2],
        Type::B1 => [e.convert(op, Type::B1, word); 2],
    }
}

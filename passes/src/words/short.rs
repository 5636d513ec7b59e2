//! Integers of 16 bits in words with zeros above. All exact.

use super::wide::{across, constant, extension};
use super::{Operand, Pair};
use crate::expand::build::Expander;
use gpucc_ir::ssa::{InstData, Op, Type, Value};
use smallvec::SmallVec;

/// Operations that [`form`] knows where one of the types is half a word.
pub(super) fn has(op: Op, from: Type, to: Type) -> bool {
    let float = match op {
        Op::SToF | Op::UToF => to,
        Op::FToS | Op::FToU => from,
        _ => Type::B16,
    };
    float == Type::B32
        || is_plain(op)
        || is_signed(op)
        || matches!(
            op,
            Op::Const
                | Op::Select
                | Op::Shuffle
                | Op::Reduce
                | Op::Join16
                | Op::Lo16
                | Op::Hi16
                | Op::Shl
                | Op::LShr
                | Op::AShr
                | Op::UMulHi
                | Op::SMulHi
                | Op::BitReverse
                | Op::Clz
                | Op::Ctz
                | Op::UBfe
                | Op::SBfe
                | Op::Bfi
                | Op::UConvert
                | Op::SConvert
        )
}

/// The low 16 bits of the result are those of the operation on words with zeros above.
fn is_plain(op: Op) -> bool {
    matches!(
        op,
        Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::INeg
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Not
            | Op::UDiv
            | Op::URem
            | Op::UMin
            | Op::UMax
            | Op::ULt
            | Op::ULe
            | Op::IEq
            | Op::INe
            | Op::PopCount
            | Op::UMsb
            | Op::Lsb
    )
}

/// The same of words with the sign above.
fn is_signed(op: Op) -> bool {
    matches!(
        op,
        Op::SDiv | Op::SRem | Op::SMin | Op::SMax | Op::SLt | Op::SLe | Op::IAbs | Op::SMsb
    )
}

/// The result may have bits above the low 16.
fn overflows(op: Op) -> bool {
    !matches!(
        op,
        Op::And | Op::Or | Op::Xor | Op::UDiv | Op::URem | Op::UMin | Op::UMax | Op::PopCount
    )
}

/// Appends the operation's form in words and gives those of its result, of type `to`.
///
/// # Panics
/// When the operation stays whole: the caller asked.
pub(super) fn form(e: &mut Expander, data: &InstData, operands: &[Operand], to: Type) -> Pair {
    let args: SmallVec<[Value; 4]> = operands.iter().map(|operand| operand.words[0]).collect();
    if matches!(data.op, Op::UConvert | Op::SConvert) {
        return conversion(e, data.op, &operands[0], to);
    }
    let word = match data.op {
        Op::UToF => e.utof(args[0]),
        Op::SToF => {
            let x = signed(e, args[0]);
            e.op(Op::SToF, &[x])
        }
        // What a word clamps half a word clamps too; NaN gives 0.
        Op::FToU => {
            let (made, most) = (e.ftou(args[0]), e.u(0xffff));
            e.umin(made, most)
        }
        Op::FToS => {
            let (least, most) = (e.u(-0x8000i32 as u32), e.u(0x7fff));
            let made = e.op(Op::FToS, &args);
            let made = e.smin(made, most);
            let made = e.smax(made, least);
            low(e, made)
        }
        Op::Const => e.u(constant(data) as u32),
        Op::Select => e.select(args[0], args[1], args[2]),
        Op::Shuffle | Op::Reduce => across(e, data, 0, operands),
        Op::Join16 => {
            let by = e.u(16);
            let high = e.shl(args[1], by);
            e.or(args[0], high)
        }
        Op::Lo16 => low(e, args[0]),
        Op::Hi16 => {
            let by = e.u(16);
            e.lshr(args[0], by)
        }
        op if is_plain(op) => {
            let made = e.op(op, &args);
            masked(e, op, made)
        }
        op if is_signed(op) => {
            let args: SmallVec<[Value; 4]> = args.iter().map(|&x| signed(e, x)).collect();
            let made = e.op(op, &args);
            masked(e, op, made)
        }
        op @ (Op::Shl | Op::LShr | Op::AShr) => {
            let mask = e.u(15);
            let by = e.and(args[1], mask);
            let x = match op {
                Op::AShr => signed(e, args[0]),
                _ => args[0],
            };
            let made = e.op(op, &[x, by]);
            match op {
                Op::LShr => made,
                _ => low(e, made),
            }
        }
        op @ (Op::UMulHi | Op::SMulHi) => {
            let [x, y] = [args[0], args[1]].map(|x| match op {
                Op::SMulHi => signed(e, x),
                _ => x,
            });
            let (product, by) = (e.imul(x, y), e.u(16));
            e.lshr(product, by)
        }
        Op::BitReverse => {
            let (made, by) = (e.op(Op::BitReverse, &args), e.u(16));
            e.lshr(made, by)
        }
        Op::Clz => {
            let (made, above) = (e.op(Op::Clz, &args), e.u(16));
            e.isub(made, above)
        }
        Op::Ctz => {
            // A bit above the value ends the count.
            let guard = e.u(1 << 16);
            let guarded = e.or(args[0], guard);
            e.op(Op::Ctz, &[guarded])
        }
        op @ (Op::UBfe | Op::SBfe) => {
            let (offset, count) = field(e, args[1], args[2]);
            let made = e.op(op, &[args[0], offset, count]);
            low(e, made)
        }
        Op::Bfi => {
            let (offset, count) = field(e, args[2], args[3]);
            e.op(Op::Bfi, &[args[0], args[1], offset, count])
        }
        op => unreachable!("{} stays whole", op.name()),
    };
    [word; 2]
}

fn low(e: &mut Expander, word: Value) -> Value {
    let mask = e.u(0xffff);
    e.and(word, mask)
}

fn masked(e: &mut Expander, op: Op, made: Value) -> Value {
    match e.ty(made) == Type::B32 && overflows(op) {
        true => low(e, made),
        false => made,
    }
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

//! Identities of floats that hold for numbers, but not for NaNs, infinities and signs of zeros, which
//! WGSL lets an implementation take as absent (15.7.2), and sums and products of constants taken
//! together (15.7.3). Only for [`crate::Options::relaxed`].

use super::Rewrite;
use gpucc_ir::ssa::{Func, InstData, Op, Type, Value};
use smallvec::SmallVec;

fn constant(func: &Func, value: Value) -> Option<f32> {
    Some(f32::from_bits(func.as_const(value)? as u32))
}

/// The value is a number wherever it comes from.
fn is_number(func: &Func, value: Value) -> bool {
    match func.def(value) {
        Some(data) => match data.op {
            Op::SToF | Op::UToF | Op::FSat => true,
            Op::Const => constant(func, value).is_some_and(|number| !number.is_nan()),
            Op::FNeg | Op::FAbs | Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRound => {
                is_number(func, data.args[0])
            }
            _ => false,
        },
        None => false,
    }
}

pub(super) fn rewrite(func: &Func, data: &InstData) -> Option<Rewrite> {
    let &first = data.args.first()?;
    if func.ty(first) != Type::B32 && data.op != Op::Not {
        return None;
    }
    let number = |value: Value| constant(func, value);
    let is = |value: Value, wanted: f32| number(value) == Some(wanted);
    let def = |value: Value, op: Op| func.def(value).filter(|data| data.op == op);
    // `x op constant`, where `x` is one too.
    let chain = |op: Op, x: Value, by: f32| {
        let inner = def(x, op)?;
        Some((inner.args[0], number(inner.args[1])?, by))
    };
    let new = |op: Op, x: Value, by: f32| {
        (by.is_normal() || by == 0.0)
            .then(|| Rewrite::op_bits(op, &[x], Type::B32, by.to_bits().into()))?
    };
    match (data.op, &data.args[..]) {
        (Op::FMul, &[a, b]) => {
            if is(a, 0.0) || is(b, 0.0) {
                return Some(Rewrite::Bits(0));
            }
            if is(b, 1.0) {
                return Some(Rewrite::Value(a));
            }
            let (x, before, by) = chain(Op::FMul, a, number(b)?)?;
            new(Op::FMul, x, before * by)
        }
        (Op::FAdd, &[a, b]) => {
            if is(b, 0.0) {
                return Some(Rewrite::Value(a));
            }
            let (x, before, by) = chain(Op::FAdd, a, number(b)?)?;
            new(Op::FAdd, x, before + by)
        }
        (Op::FSub, &[a, b]) => {
            if is(b, 0.0) {
                return Some(Rewrite::Value(a));
            }
            if is(a, 0.0) {
                return Rewrite::op(Op::FNeg, &[b]);
            }
            if a == b {
                return Some(Rewrite::Bits(0));
            }
            new(Op::FAdd, a, -number(b)?)
        }
        (Op::FMa, &[a, b, c]) => {
            if is(a, 0.0) || is(b, 0.0) {
                return Some(Rewrite::Value(c));
            }
            if is(c, 0.0) {
                return Rewrite::op(Op::FMul, &[a, b]);
            }
            if is(a, 1.0) {
                return Rewrite::op(Op::FAdd, &[b, c]);
            }
            None
        }
        (Op::FDot, args) => {
            let n = args.len() / 2;
            let kept: SmallVec<[(Value, Value); 4]> = (0..n)
                .map(|k| (args[k], args[n + k]))
                .filter(|&(a, b)| !is(a, 0.0) && !is(b, 0.0))
                .collect();
            match kept[..] {
                _ if kept.len() == n => None,
                [] => Some(Rewrite::Bits(0)),
                [(a, b)] => Rewrite::op(Op::FMul, &[a, b]),
                _ => {
                    let left = kept.iter().map(|pair| pair.0);
                    let right = kept.iter().map(|pair| pair.1);
                    Some(Rewrite::Op(Op::FDot, left.chain(right).collect()))
                }
            }
        }
        (Op::Not, &[a]) => {
            let inner = func.def(a)?;
            let op = match inner.op {
                Op::FLt => Op::FLe,
                Op::FLe => Op::FLt,
                _ => return None,
            };
            Rewrite::op(op, &[inner.args[1], inner.args[0]])
        }
        (Op::FDiv, &[a, b]) if a == b => Some(Rewrite::Bits(1f32.to_bits().into())),
        (Op::FMin | Op::FMax, &[a, b]) if number(a).is_some() && number(b).is_none() => {
            Rewrite::op(data.op, &[b, a])
        }
        (Op::FMin | Op::FMax, &[a, b]) => {
            let other = if data.op == Op::FMin {
                Op::FMax
            } else {
                Op::FMin
            };
            let absorbs = |x: Value, inner: Value| {
                def(inner, other).is_some_and(|inner| inner.args.contains(&x))
            };
            if absorbs(a, b) {
                return Some(Rewrite::Value(a));
            }
            if absorbs(b, a) {
                return Some(Rewrite::Value(b));
            }
            let inner = def(a, other)?;
            let (low, high) = match data.op {
                Op::FMin => (number(inner.args[1])?, number(b)?),
                _ => (number(b)?, number(inner.args[1])?),
            };
            if low >= high {
                return Some(Rewrite::Value(b));
            }
            (low == 0.0 && high == 1.0).then(|| Rewrite::op(Op::FSat, &[inner.args[0]]))?
        }
        (Op::FEq | Op::FLe, &[a, b]) if a == b && is_number(func, a) => Some(Rewrite::Bits(1)),
        (Op::FNe, &[a, b]) if a == b && is_number(func, a) => Some(Rewrite::Bits(0)),
        (Op::FLt, &[a, b]) if a == b => Some(Rewrite::Bits(0)),
        _ => None,
    }
}

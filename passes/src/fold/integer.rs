//! Identities of integers, truth values, selects and pieces of words. All are exact.

use super::Rewrite;
use gpucc_ir::ssa::{Flags, Func, InstData, Number, Op, Type, Value};

/// The cheaper form of an instruction, if there is one.
pub(super) fn rewrite(func: &Func, data: &InstData) -> Option<Rewrite> {
    let &first = data.args.first()?;
    match data.op {
        Op::Select => return select(func, data),
        Op::Not => return not(func, first),
        Op::INeg => {
            let inner = func.def(first)?;
            return match inner.op {
                Op::INeg => Some(Rewrite::Value(inner.args[0])),
                Op::ISub => Rewrite::op(Op::ISub, &[inner.args[1], inner.args[0]]),
                _ => None,
            };
        }
        Op::Lo16 | Op::Hi16 | Op::Lo64 | Op::Hi64 | Op::Join16 | Op::Join64 => {
            return pieces(func, data);
        }
        Op::UConvert | Op::SConvert if func.ty(first) == func.ty(data.results[0]) => {
            return Some(Rewrite::Value(first));
        }
        _ => {}
    }
    let [a, b] = data.args[..] else { return None };
    if data.op.reads() == Number::Float {
        return None;
    }
    let ty = func.ty(a);
    if data.op.flags().has(Flags::COMMUTES)
        && func.as_const(a).is_some()
        && func.as_const(b).is_none()
    {
        return Rewrite::op(data.op, &[b, a]);
    }
    if a == b
        && let Some(rewrite) = twice(data.op, a)
    {
        return Some(rewrite);
    }
    if let Some(rewrite) = absorbed(func, data.op, a, b) {
        return Some(rewrite);
    }
    let bits = func.as_const(b)?;
    constant(data.op, a, bits, ty).or_else(|| chain(func, data.op, a, bits, ty))
}

/// Both operands are one value.
fn twice(op: Op, a: Value) -> Option<Rewrite> {
    match op {
        Op::ISub | Op::Xor | Op::INe | Op::SLt | Op::ULt => Some(Rewrite::Bits(0)),
        Op::IEq | Op::SLe | Op::ULe => Some(Rewrite::Bits(1)),
        Op::And | Op::Or | Op::SMin | Op::SMax | Op::UMin | Op::UMax => Some(Rewrite::Value(a)),
        _ => None,
    }
}

/// The greater of x and the lesser of x and something is x; so with the other pairs.
fn absorbed(func: &Func, op: Op, a: Value, b: Value) -> Option<Rewrite> {
    let other = match op {
        Op::SMin => Op::SMax,
        Op::SMax => Op::SMin,
        Op::UMin => Op::UMax,
        Op::UMax => Op::UMin,
        Op::And => Op::Or,
        Op::Or => Op::And,
        _ => return None,
    };
    [(a, b), (b, a)].into_iter().find_map(|(x, inner)| {
        let inner = func.def(inner).filter(|inner| inner.op == other)?;
        inner.args.contains(&x).then_some(Rewrite::Value(x))
    })
}

/// The second operand is a constant.
fn constant(op: Op, a: Value, bits: u64, ty: Type) -> Option<Rewrite> {
    let all = ty.mask();
    let sign = all ^ all >> 1;
    match (op, bits) {
        (Op::IAdd | Op::ISub | Op::Or | Op::Xor | Op::UMax, 0) => Some(Rewrite::Value(a)),
        (Op::IMul | Op::And | Op::UMin | Op::UMulHi | Op::SMulHi, 0) => Some(Rewrite::Bits(0)),
        (Op::IMul | Op::UDiv | Op::SDiv, 1) => Some(Rewrite::Value(a)),
        // Division by zero gives the dividend, remainders 0.
        (Op::UDiv | Op::SDiv, 0) => Some(Rewrite::Value(a)),
        (Op::URem | Op::SRem, 0 | 1) => Some(Rewrite::Bits(0)),
        (Op::UMulHi, 1) => Some(Rewrite::Bits(0)),
        (Op::Shl | Op::LShr | Op::AShr, by) if by % u64::from(ty.bits()) == 0 => {
            Some(Rewrite::Value(a))
        }
        (Op::ISub, _) => Rewrite::op_bits(Op::IAdd, &[a], ty, bits.wrapping_neg()),
        (Op::IMul, _) if bits == all => Rewrite::op(Op::INeg, &[a]),
        (Op::And | Op::UMin, _) if bits == all => Some(Rewrite::Value(a)),
        (Op::Or | Op::UMax, _) if bits == all => Some(Rewrite::Bits(all)),
        (Op::Xor, _) if bits == all => Rewrite::op(Op::Not, &[a]),
        (Op::SMin, _) if bits == sign - 1 => Some(Rewrite::Value(a)),
        (Op::SMax, _) if bits == sign - 1 => Some(Rewrite::Bits(bits)),
        (Op::SMin, _) if bits == sign => Some(Rewrite::Bits(sign)),
        (Op::SMax, _) if bits == sign => Some(Rewrite::Value(a)),
        // Truth values.
        (Op::IEq, 1) | (Op::INe, 0) if ty == Type::B1 => Some(Rewrite::Value(a)),
        (Op::IEq, 0) | (Op::INe, 1) if ty == Type::B1 => Rewrite::op(Op::Not, &[a]),
        (Op::ULt, 0) => Some(Rewrite::Bits(0)),
        (Op::ULe, _) if bits == all => Some(Rewrite::Bits(1)),
        (Op::ULt, 1) => Rewrite::op_bits(Op::IEq, &[a], ty, 0),
        _ => None,
    }
}

/// The second operand is a constant and the first was made with one too.
fn chain(func: &Func, op: Op, a: Value, bits: u64, ty: Type) -> Option<Rewrite> {
    let inner = func.def(a)?;
    if inner.op == Op::Select
        && let Some(rewrite) = chosen_truths(func, op, inner, bits)
    {
        return Some(rewrite);
    }
    let [x, y] = inner.args[..] else { return None };
    if let (Op::IAdd | Op::IEq | Op::INe, Op::ISub) = (op, inner.op)
        && let Some(from) = func.as_const(x)
    {
        // (from - y) + bits, and from - y == bits.
        return match op {
            Op::IAdd => None,
            _ => Rewrite::op_bits(op, &[y], ty, from.wrapping_sub(bits)),
        };
    }
    let before = func.as_const(y)?;
    if let (Op::IEq | Op::INe, Op::IAdd | Op::Xor) = (op, inner.op) {
        let bits = match inner.op {
            Op::IAdd => bits.wrapping_sub(before),
            _ => bits ^ before,
        };
        return Rewrite::op_bits(op, &[x], ty, bits);
    }
    // Limits that meet or cross leave one value.
    let signed = |bits: u64| ((bits << (64 - ty.bits())) as i64) >> (64 - ty.bits());
    let crossed = match (op, inner.op) {
        (Op::SMin, Op::SMax) => signed(before) >= signed(bits),
        (Op::SMax, Op::SMin) => signed(before) <= signed(bits),
        (Op::UMin, Op::UMax) => before >= bits,
        (Op::UMax, Op::UMin) => before <= bits,
        _ => false,
    };
    if crossed {
        return Some(Rewrite::Bits(bits));
    }
    if inner.op != op {
        return None;
    }
    let width = u64::from(ty.bits());
    let both = match op {
        Op::IAdd => before.wrapping_add(bits),
        Op::IMul => before.wrapping_mul(bits),
        Op::And => before & bits,
        Op::Or => before | bits,
        Op::Xor => before ^ bits,
        Op::UMin => before.min(bits),
        Op::UMax => before.max(bits),
        Op::Shl | Op::LShr => {
            let sum = before % width + bits % width;
            if sum >= width {
                return Some(Rewrite::Bits(0));
            }
            return Rewrite::op_bits(op, &[x], func.ty(y), sum);
        }
        Op::AShr => {
            let sum = (before % width + bits % width).min(width - 1);
            return Rewrite::op_bits(op, &[x], func.ty(y), sum);
        }
        _ => return None,
    };
    Rewrite::op_bits(op, &[x], ty, both)
}

/// `select(c, 1, b as a word) != 0` is `c or b`, and so on: what short-circuit logic leaves behind.
fn chosen_truths(func: &Func, op: Op, inner: &InstData, bits: u64) -> Option<Rewrite> {
    if !matches!(op, Op::IEq | Op::INe) {
        return None;
    }
    let (cond, yes, no) = (inner.args[0], inner.args[1], inner.args[2]);
    if (op, bits) == (Op::INe, 0) {
        let truth = |value: Value| {
            let data = func.def(value).filter(|data| data.op == Op::UConvert)?;
            (func.ty(data.args[0]) == Type::B1).then_some(data.args[0])
        };
        let found = match (truth(yes), truth(no), func.as_const(yes), func.as_const(no)) {
            (Some(yes), Some(no), ..) => Rewrite::op(Op::Select, &[cond, yes, no]),
            (Some(yes), None, _, Some(0)) => Rewrite::op(Op::And, &[cond, yes]),
            (None, Some(no), Some(set), _) if set != 0 => Rewrite::op(Op::Or, &[cond, no]),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    // What the comparison gives for an arm that is a constant.
    let holds = |arm: Value| func.as_const(arm).map(|arm| (arm == bits) == (op == Op::IEq));
    match (holds(yes), holds(no)) {
        (Some(true), None) if chooses(func, no) => {
            Some(Rewrite::Truths(Op::Or, cond, op, no, bits))
        }
        (None, Some(false)) if chooses(func, yes) => {
            Some(Rewrite::Truths(Op::And, cond, op, yes, bits))
        }
        _ => None,
    }
}

/// Chosen itself, with a constant on a side.
fn chooses(func: &Func, value: Value) -> bool {
    func.def(value).is_some_and(|data| {
        let constant = |&arm: &Value| func.as_const(arm).is_some();
        data.op == Op::Select && data.args[1..].iter().any(constant)
    })
}

fn select(func: &Func, data: &InstData) -> Option<Rewrite> {
    let (cond, yes, no) = (data.args[0], data.args[1], data.args[2]);
    if yes == no {
        return Some(Rewrite::Value(yes));
    }
    if let Some(bits) = func.as_const(cond) {
        return Some(Rewrite::Value(if bits != 0 { yes } else { no }));
    }
    if let Some(inner) = func.def(cond)
        && inner.op == Op::Not
    {
        return Rewrite::op(Op::Select, &[inner.args[0], no, yes]);
    }
    // An arm that asks the same again has its answer.
    let again = |arm: Value, index: usize| {
        let inner = func.def(arm)?;
        (inner.op == Op::Select && inner.args[0] == cond).then(|| inner.args[index])
    };
    if let Some(value) = again(yes, 1) {
        return Rewrite::op(Op::Select, &[cond, value, no]);
    }
    if let Some(value) = again(no, 2) {
        return Rewrite::op(Op::Select, &[cond, yes, value]);
    }
    if let Some(rewrite) = bounded(func, cond, yes, no) {
        return Some(rewrite);
    }
    match (func.as_const(yes), func.as_const(no)) {
        (Some(a), Some(b)) if a == b => Some(Rewrite::Value(yes)),
        (Some(1), Some(0)) if func.ty(yes) == Type::B1 => Some(Rewrite::Value(cond)),
        (Some(0), Some(1)) if func.ty(yes) == Type::B1 => Rewrite::op(Op::Not, &[cond]),
        (Some(1), None) if func.ty(yes) == Type::B1 => Rewrite::op(Op::Or, &[cond, no]),
        (None, Some(0)) if func.ty(yes) == Type::B1 => Rewrite::op(Op::And, &[cond, yes]),
        _ => None,
    }
}

/// What a condition says of a value: below a bound, or equal to it.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Says {
    Below(u64),
    Is(u64),
}

fn says(func: &Func, cond: Value) -> Option<(Value, Says)> {
    let data = func.def(cond)?;
    let bits = func.as_const(*data.args.get(1)?)?;
    let says = match data.op {
        Op::ULt => Says::Below(bits),
        Op::IEq => Says::Is(bits),
        _ => return None,
    };
    Some((data.args[0], says))
}

/// A choice by a bound, one arm of which asks more of the same value: elements of an array, many of which
/// are equal, chosen by their index.
fn bounded(func: &Func, cond: Value, yes: Value, no: Value) -> Option<Rewrite> {
    let Some((key, Says::Below(bound))) = says(func, cond) else {
        return None;
    };
    let asks = |arm: Value| {
        let data = func.def(arm).filter(|data| data.op == Op::Select)?;
        let (asked, what) = says(func, data.args[0])?;
        (asked == key).then(|| (what, data.args[1], data.args[2]))
    };
    let select = |yes: Value, no: Value| Rewrite::op(Op::Select, &[cond, yes, no]);
    if let Some((what, x, y)) = asks(no) {
        match what {
            Says::Below(more) if more <= bound => return select(yes, y),
            Says::Below(_) if x == yes => return Some(Rewrite::Value(no)),
            Says::Below(more) if y == yes && bound.checked_add(1) == Some(more) => {
                return Some(Rewrite::Chosen(key, bound, x, y));
            }
            Says::Is(at) if at < bound => return select(yes, y),
            Says::Is(_) if y == yes => return Some(Rewrite::Value(no)),
            _ => {}
        }
    }
    let (what, x, y) = asks(yes)?;
    match what {
        Says::Below(less) if less >= bound => select(x, no),
        Says::Below(_) if y == no => Some(Rewrite::Value(yes)),
        Says::Below(less) if x == no && bound.checked_sub(1) == Some(less) => {
            Some(Rewrite::Chosen(key, less, y, x))
        }
        Says::Is(at) if at >= bound => select(y, no),
        Says::Is(_) if y == no => Some(Rewrite::Value(yes)),
        _ => None,
    }
}

fn not(func: &Func, of: Value) -> Option<Rewrite> {
    let inner = func.def(of)?;
    match inner.op {
        Op::Not => Some(Rewrite::Value(inner.args[0])),
        // A NaN has neither order.
        Op::FLt | Op::FLe => None,
        _ => opposite(inner),
    }
}

/// The comparison that holds where one does not.
pub(super) fn opposite(of: &InstData) -> Option<Rewrite> {
    let (op, exchanged) = of.op.opposite()?;
    let [a, b] = of.args[..] else { return None };
    Rewrite::op(op, &if exchanged { [b, a] } else { [a, b] })
}

/// Halves of what was joined, and joins of what was halved.
fn pieces(func: &Func, data: &InstData) -> Option<Rewrite> {
    let inner = func.def(data.args[0])?;
    match (data.op, inner.op) {
        (Op::Lo16, Op::Join16) | (Op::Lo64, Op::Join64) => Some(Rewrite::Value(inner.args[0])),
        (Op::Hi16, Op::Join16) | (Op::Hi64, Op::Join64) => Some(Rewrite::Value(inner.args[1])),
        (Op::Join16, Op::Lo16) | (Op::Join64, Op::Lo64) => {
            let high = func.def(data.args[1])?;
            let wanted = match data.op {
                Op::Join16 => Op::Hi16,
                _ => Op::Hi64,
            };
            let whole = inner.args[0];
            (high.op == wanted && high.args[0] == whole).then_some(Rewrite::Value(whole))
        }
        _ => None,
    }
}

//! Identities of floats. Each holds to the bit under every numeric model unless a condition says so.

use super::Rewrite;
use cranelift_entity::EntityRef;
use gpucc_ir::ssa::{
    Builtin, Flags, Func, Imm, InputKind, InstData, Numerics, Op, Scalar, Stage, Type, Value,
    numerics::{Denormals, NanRule, ZeroRule},
};

/// What else cannot tell them apart on a machine that keeps denormals: outputs, where every NaN is
/// one value, and minima that never hand a NaN on.
fn takes_numbers(func: &Func, data: &InstData, model: &Numerics) -> bool {
    if model.f32_denormals != Denormals::KEEP || model.f16_denormals != Denormals::KEEP {
        return false;
    }
    match (data.op, &data.imm) {
        (Op::Output, Imm::Output(output, _)) => {
            matches!(func.outputs[*output].scalar, Scalar::F32 | Scalar::F16)
        }
        (Op::FMin | Op::FMax | Op::FSat, _) => model.min_max_nan == NanRule::Other,
        (Op::Ddx | Op::Ddy | Op::DdxFine | Op::DdyFine | Op::DdxCoarse | Op::DdyCoarse, _) => true,
        _ => false,
    }
}

/// Values that only float arithmetic, float comparisons and their like read.
pub(super) fn used_as_floats_only(func: &Func, model: &Numerics) -> FloatOnly {
    let mut uses = vec![0u8; func.values.len()];
    func.each_inst(|data| {
        if data.args.is_empty() {
            return;
        }
        let compares = matches!(data.op, Op::FEq | Op::FNe | Op::FLt | Op::FLe);
        let arithmetic =
            data.op.flags().has(Flags::ARITHMETIC) || compares || takes_numbers(func, data, model);
        let how = if arithmetic { AS_FLOAT } else { OTHERWISE };
        for &arg in &data.args {
            uses[arg.index()] |= how;
        }
    });
    FloatOnly(uses)
}

const AS_FLOAT: u8 = 1;
const OTHERWISE: u8 = 2;

/// How values are used, by their numbers; those that are newer are in doubt.
pub(super) struct FloatOnly(Vec<u8>);

impl FloatOnly {
    pub(super) fn contains(&self, value: Value) -> bool {
        self.0.get(value.index()) == Some(&AS_FLOAT)
    }
}

/// The bits of small constants in a float type.
fn float_bits(ty: Type, value: f32) -> Option<u64> {
    match ty {
        Type::B32 => Some(value.to_bits().into()),
        Type::B64 => Some(f64::from(value).to_bits()),
        Type::B16 => match value {
            1.0 => Some(0x3c00),
            -1.0 => Some(0xbc00),
            0.0 if value.is_sign_negative() => Some(0x8000),
            0.0 => Some(0),
            _ => None,
        },
        Type::B1 => None,
    }
}

/// `clean`: whoever reads the result flushes it and does not look at NaN bits.
pub(super) fn rewrite(
    func: &Func,
    data: &InstData,
    model: &Numerics,
    clean: bool,
) -> Option<Rewrite> {
    let &first = data.args.first()?;
    let ty = func.ty(first);
    let def = |value: Value, op: Op| func.def(value).filter(|data| data.op == op);
    let is = |value: Value, number: f32| {
        let bits = func.as_const(value);
        bits.is_some() && bits == float_bits(ty, number)
    };
    // `x` itself may stand for arithmetic on `x` that leaves its number alone.
    let itself =
        |x: Value| clean || func.def(x).is_some_and(|data| data.op.flags().has(Flags::ARITHMETIC));
    let ordered = model.min_max_zero == ZeroRule::Ordered && model.min_max_nan != NanRule::Second;
    if data.op.flags().has(Flags::COMMUTES)
        && (ordered || !matches!(data.op, Op::FMin | Op::FMax))
        && func.as_const(first).is_some()
        && func.as_const(data.args[1]).is_none()
    {
        let mut args = data.args.clone();
        args.swap(0, 1);
        return Some(Rewrite::Op(data.op, args));
    }
    match data.op {
        Op::FMul => {
            let (a, b) = (first, data.args[1]);
            if is(b, 1.0) && itself(a) {
                return Some(Rewrite::Value(a));
            }
            if is(b, -1.0) && clean {
                return Rewrite::op(Op::FNeg, &[a]);
            }
            match (def(a, Op::FNeg), def(b, Op::FNeg)) {
                (Some(a), Some(b)) => Rewrite::op(Op::FMul, &[a.args[0], b.args[0]]),
                _ => None,
            }
        }
        Op::FAdd => {
            let (a, b) = (first, data.args[1]);
            if is(b, -0.0) && itself(a) {
                return Some(Rewrite::Value(a));
            }
            match (def(a, Op::FNeg), def(b, Op::FNeg)) {
                (_, Some(b)) => Rewrite::op(Op::FSub, &[a, b.args[0]]),
                (Some(a), None) => Rewrite::op(Op::FSub, &[b, a.args[0]]),
                (None, None) => None,
            }
        }
        Op::FSub => {
            let (a, b) = (first, data.args[1]);
            if is(b, 0.0) && itself(a) {
                return Some(Rewrite::Value(a));
            }
            def(b, Op::FNeg).and_then(|b| Rewrite::op(Op::FAdd, &[a, b.args[0]]))
        }
        Op::FMa => {
            let (a, b, c) = (first, data.args[1], data.args[2]);
            if is(b, 1.0) {
                return Rewrite::op(Op::FAdd, &[a, c]);
            }
            if is(b, -1.0) {
                return Rewrite::op(Op::FSub, &[c, a]);
            }
            if is(c, -0.0) {
                return Rewrite::op(Op::FMul, &[a, b]);
            }
            match (def(a, Op::FNeg), def(b, Op::FNeg)) {
                (Some(a), Some(b)) => Rewrite::op(Op::FMa, &[a.args[0], b.args[0], c]),
                _ => None,
            }
        }
        Op::FDiv => {
            let divisor = func.as_const(data.args[1])?;
            if is(data.args[1], 1.0) && itself(first) {
                return Some(Rewrite::Value(first));
            }
            let reciprocal = exact_reciprocal(ty, divisor)?;
            Rewrite::op_bits(Op::FMul, &[first], ty, reciprocal)
        }
        Op::FNeg => {
            let inner = def(first, Op::FNeg)?.args[0];
            (!model.sign_ops_flush || itself(inner)).then_some(Rewrite::Value(inner))
        }
        Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRound => {
            (itself(first) && is_whole(func, first)).then_some(Rewrite::Value(first))
        }
        Op::FAbs => match func.def(first) {
            Some(inner) if inner.op == Op::FAbs => Some(Rewrite::Value(first)),
            Some(inner) if inner.op == Op::FNeg => Rewrite::op(Op::FAbs, &[inner.args[0]]),
            _ => None,
        },
        Op::FSat => def(first, Op::FSat).map(|_| Rewrite::Value(first)),
        Op::FMin if is(data.args[1], 1.0) => {
            let inner = def(first, Op::FMax)?;
            let exact = model.min_max_nan == NanRule::Other
                && model.min_max_zero == ZeroRule::Ordered
                && is(inner.args[1], 0.0);
            exact.then_some(Rewrite::Op(Op::FSat, smallvec::smallvec![inner.args[0]]))
        }
        Op::FLt if below_zero(func, data.args[1]) && no_less_than_zero(func, first, SIGN_DEPTH) => {
            Some(Rewrite::Bits(0))
        }
        Op::FLe if below_zero(func, first) && is_pixel(func, data.args[1]) => {
            Some(Rewrite::Bits(1))
        }
        Op::FLt
            if below_zero(func, first)
                && !is(first, 0.0)
                && !is(first, -0.0)
                && is_pixel(func, data.args[1]) =>
        {
            Some(Rewrite::Bits(1))
        }
        Op::FMin | Op::FMax if first == data.args[1] && itself(first) => {
            Some(Rewrite::Value(first))
        }
        _ => None,
    }
}

/// How far signs are followed.
const SIGN_DEPTH: u32 = 6;

/// A constant that is 0 or less.
fn below_zero(func: &Func, value: Value) -> bool {
    func.ty(value) == Type::B32
        && func.as_const(value).is_some_and(|bits| f32::from_bits(bits as u32) <= 0.0)
}

/// The bits of a f32 above 0.
fn above_zero(bits: u64) -> bool {
    f32::from_bits(bits as u32) > 0.0
}

/// Where a fragment is: a number above 0.
fn is_pixel(func: &Func, value: Value) -> bool {
    let Some(data) = func.def(value) else {
        return false;
    };
    match data.imm {
        Imm::Input(input, component) => {
            func.stage == Stage::Fragment
                && component < 2
                && func.inputs[input].kind == InputKind::Builtin(Builtin::Position)
        }
        _ => false,
    }
}

/// Not below zero under any model: at least 0, either zero, or no number.
pub(super) fn no_less_than_zero(func: &Func, value: Value, depth: u32) -> bool {
    let Some(data) = func.def(value).filter(|_| depth > 0) else {
        return false;
    };
    let of = |k: usize| no_less_than_zero(func, data.args[k], depth - 1);
    match data.op {
        Op::Const => {
            func.ty(value) == Type::B32
                && func.as_const(value).is_some_and(|bits| f32::from_bits(bits as u32) >= 0.0)
        }
        Op::Input => is_pixel(func, value),
        Op::FAbs | Op::FSqrt | Op::FSat | Op::UToF | Op::FExp | Op::FExp2 => true,
        Op::FMul => data.args[0] == data.args[1] || of(0) && of(1),
        Op::FAdd | Op::FMin => of(0) && of(1),
        // Not by -0.
        Op::FDiv => of(0) && func.as_const(data.args[1]).is_some_and(above_zero),
        Op::FMa => (data.args[0] == data.args[1] || of(0) && of(1)) && of(2),
        // What is no number gives way to the other operand.
        Op::FMax => of(0) && of(1) || func.as_const(data.args[1]).is_some_and(above_zero),
        Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRound => of(0),
        Op::Select => of(1) && of(2),
        _ => false,
    }
}

/// Operations back that [`is_whole`] looks.
const WHOLE: u32 = 6;

/// The value is a whole number, or infinite, or no number, as far as a few operations back tell. A sum or product of whole numbers
/// rounds to one.
pub(super) fn is_whole(func: &Func, value: Value) -> bool {
    whole(func, value, WHOLE)
}

fn whole(func: &Func, value: Value, depth: u32) -> bool {
    let Some(data) = func.def(value).filter(|_| depth > 0) else { return false };
    let of = |&arg: &Value| whole(func, arg, depth - 1);
    match data.op {
        Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRound | Op::SToF | Op::UToF => true,
        Op::Const => {
            let bits = func.as_const(value).filter(|_| func.ty(value) == Type::B32);
            bits.is_some_and(|bits| {
                let number = f32::from_bits(bits as u32);
                number.trunc() == number
            })
        }
        Op::FNeg | Op::FAbs | Op::FMin | Op::FMax => data.args.iter().all(of),
        Op::FAdd | Op::FSub | Op::FMul | Op::FMa => data.args.iter().all(of),
        Op::Select => data.args[1..].iter().all(of),
        _ => false,
    }
}

/// 1 / x if x is a power of two and both are normal: then dividing is multiplying, to the bit.
fn exact_reciprocal(ty: Type, bits: u64) -> Option<u64> {
    let (fraction, bias) = match ty {
        Type::B16 => (10, 15),
        Type::B32 => (23, 127),
        Type::B64 => (52, 1023),
        Type::B1 => return None,
    };
    let exponent = bits >> fraction & (2 * bias + 1);
    let sign = bits & !(ty.mask() >> 1);
    let mantissa = bits & ((1 << fraction) - 1);
    let normal = mantissa == 0 && (1..2 * bias).contains(&exponent);
    normal.then(|| sign | (2 * bias - exponent) << fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Builder, InputData};

    #[test]
    fn a_later_value_that_integers_read_leaves_earlier_ones_to_floats() {
        let mut func = Func::new("uses", Stage::Compute);
        let input = func.inputs.push(InputData {
            kind: InputKind::Builtin(Builtin::LocalInvocationId),
            components: 3,
            scalar: Scalar::U32,
            name: "id".into(),
        });
        let mut b = Builder::at_body(&mut func);
        let values: [Value; 3] = std::array::from_fn(|k| b.input(input, k as u8));
        b.op2(Op::FAdd, values[0], values[1]);
        b.op2(Op::And, values[1], values[2]);
        b.end(Op::Yield, &[]);
        let only = used_as_floats_only(&func, &Numerics::REFERENCE);
        assert_eq!(values.map(|value| only.contains(value)), [true, false, false]);
    }
}

//! Integers of 64 bits: what the machine does not do in pairs of registers is put together from halves.
//! All exact.

use super::integer::{extract, insert};
use gpucc_ir::ssa::{Builder, Imm, Inst, InstData, Op, Type, Value};
use gpucc_passes::expand::OwnRecipe;
use smallvec::SmallVec;

/// The recipes for 64 bits.
pub(super) fn recipe(op: Op) -> Option<OwnRecipe> {
    Some(match op {
        Op::INeg => negative,
        Op::IAbs => magnitude,
        Op::SMin | Op::SMax | Op::UMin | Op::UMax => least_or_greatest,
        Op::IMul => product,
        Op::UMulHi | Op::SMulHi => high_product,
        Op::UDiv | Op::URem | Op::SDiv | Op::SRem => quotient,
        Op::PopCount => popcount,
        Op::BitReverse => bitreverse,
        Op::Clz => clz,
        Op::Ctz => ctz,
        Op::UMsb => umsb,
        Op::SMsb => smsb,
        Op::Lsb => lsb,
        Op::UBfe | Op::SBfe => extract,
        Op::Bfi => insert,
        _ => return None,
    })
}

fn join(b: &mut Builder, low: Value, high: Value) -> Value {
    b.op2(Op::Join64, low, high)
}

fn split(b: &mut Builder, value: Value) -> [Value; 2] {
    [Op::Lo64, Op::Hi64].map(|op| b.op1(op, value))
}

fn wide(b: &mut Builder, bits: u64) -> Value {
    b.constant(Type::B64, bits)
}

/// A count below 2^32 as 64 bits.
fn extended(b: &mut Builder, low: Value) -> Value {
    let zero = b.u32(0);
    join(b, low, zero)
}

fn negate(b: &mut Builder, x: Value) -> Value {
    let zero = wide(b, 0);
    b.op2(Op::ISub, zero, x)
}

fn negative(b: &mut Builder, data: &InstData) -> Value {
    negate(b, data.args[0])
}

fn is_negative(b: &mut Builder, x: Value) -> Value {
    let high = b.op1(Op::Hi64, x);
    let zero = b.u32(0);
    b.op2(Op::SLt, high, zero)
}

fn absolute(b: &mut Builder, x: Value) -> Value {
    let below = is_negative(b, x);
    let other = negate(b, x);
    b.select(below, other, x)
}

fn magnitude(b: &mut Builder, data: &InstData) -> Value {
    absolute(b, data.args[0])
}

fn least_or_greatest(b: &mut Builder, data: &InstData) -> Value {
    let (x, y) = (data.args[0], data.args[1]);
    let less = match data.op {
        Op::SMin | Op::SMax => Op::SLt,
        _ => Op::ULt,
    };
    let first = b.op2(less, x, y);
    match data.op {
        Op::SMin | Op::UMin => b.select(first, x, y),
        _ => b.select(first, y, x),
    }
}

/// The product of two words, low and high.
fn word_product(b: &mut Builder, x: Value, y: Value) -> [Value; 2] {
    [b.op2(Op::IMul, x, y), b.op2(Op::UMulHi, x, y)]
}

fn low_product(b: &mut Builder, x: Value, y: Value) -> Value {
    let ([x0, x1], [y0, y1]) = (split(b, x), split(b, y));
    let [low, high] = word_product(b, x0, y0);
    let first = b.op2(Op::IMul, x0, y1);
    let second = b.op2(Op::IMul, x1, y0);
    let high = b.op2(Op::IAdd, high, first);
    let high = b.op2(Op::IAdd, high, second);
    join(b, low, high)
}

fn product(b: &mut Builder, data: &InstData) -> Value {
    low_product(b, data.args[0], data.args[1])
}

/// The high 64 bits of the unsigned product: schoolbook, carries in 64-bit sums that cannot overflow.
fn unsigned_high(b: &mut Builder, x: Value, y: Value) -> Value {
    let ([x0, x1], [y0, y1]) = (split(b, x), split(b, y));
    let zero = b.u32(0);
    let mut pair = |x: Value, y: Value| {
        let [low, high] = word_product(b, x, y);
        join(b, low, high)
    };
    let (p00, p01, p10, p11) = (pair(x0, y0), pair(x0, y1), pair(x1, y0), pair(x1, y1));
    let [_, carry] = split(b, p00);
    let carry = extended(b, carry);
    let middle = b.op2(Op::IAdd, p01, carry);
    let [low, high] = split(b, middle);
    let low = join(b, low, zero);
    let second = b.op2(Op::IAdd, p10, low);
    let [_, carry] = split(b, second);
    let (high, carry) = (extended(b, high), extended(b, carry));
    let sum = b.op2(Op::IAdd, p11, high);
    b.op2(Op::IAdd, sum, carry)
}

fn high_product(b: &mut Builder, data: &InstData) -> Value {
    let (x, y) = (data.args[0], data.args[1]);
    let high = unsigned_high(b, x, y);
    if data.op == Op::UMulHi {
        return high;
    }
    // Less what the signs added.
    let by = b.u32(63);
    let mut surplus = |sign: Value, other: Value| {
        let mask = b.op2(Op::AShr, sign, by);
        b.op2(Op::And, mask, other)
    };
    let (first, second) = (surplus(x, y), surplus(y, x));
    let high = b.op2(Op::ISub, high, first);
    b.op2(Op::ISub, high, second)
}

/// Quotient and remainder of unsigned numbers, y != 0: one bit a trip, the highest first. The dividend
/// leaves its register on the left as the quotient enters on the right.
fn divide(b: &mut Builder, x: Value, y: Value) -> [Value; 2] {
    let (zero, count) = (wide(b, 0), b.u32(64));
    let types = [Type::B64, Type::B64, Type::B32];
    let inst = b.loop_(
        &[x, zero, count],
        &types,
        &[Type::B64, Type::B64],
        |b, params| {
            let one = b.u32(1);
            let top = b.u32(63);
            let one_wide = wide(b, 1);
            let bit = b.op2(Op::LShr, params[0], top);
            let rest = b.op2(Op::Shl, params[1], one);
            let rest = b.op2(Op::Or, rest, bit);
            let shifted = b.op2(Op::Shl, params[0], one);
            // A remainder that has lost its top bit by the shift is above any divisor.
            let carry = is_negative(b, params[1]);
            let fits = b.op2(Op::ULe, y, rest);
            let fits = b.op2(Op::Or, fits, carry);
            let less = b.op2(Op::ISub, rest, y);
            let more = b.op2(Op::Or, shifted, one_wide);
            let quotient = b.select(fits, more, shifted);
            let rest = b.select(fits, less, rest);
            let left = b.op2(Op::ISub, params[2], one);
            b.end(Op::Continue, &[quotient, rest, left]);
        },
        |b, params| {
            let zero = b.u32(0);
            let done = b.op2(Op::IEq, params[2], zero);
            b.end(
                Op::BreakIf,
                &[done, params[0], params[1], params[0], params[1], params[2]],
            );
        },
    );
    [inst[0], inst[1]]
}

/// WGSL's rules for zero divisors and the least dividend.
fn quotient(b: &mut Builder, data: &InstData) -> Value {
    let (x, y) = (data.args[0], data.args[1]);
    let signed = matches!(data.op, Op::SDiv | Op::SRem);
    let (size_x, size_y) = match signed {
        true => (absolute(b, x), absolute(b, y)),
        false => (x, y),
    };
    let [quotient, remainder] = divide(b, size_x, size_y);
    let zero = wide(b, 0);
    let by_zero = b.op2(Op::IEq, y, zero);
    match data.op {
        Op::UDiv => b.select(by_zero, x, quotient),
        Op::URem => b.select(by_zero, zero, remainder),
        Op::SDiv => {
            let signs = b.op2(Op::Xor, x, y);
            let below = is_negative(b, signs);
            let other = negate(b, quotient);
            let signed = b.select(below, other, quotient);
            b.select(by_zero, x, signed)
        }
        _ => {
            let below = is_negative(b, x);
            let other = negate(b, remainder);
            let signed = b.select(below, other, remainder);
            b.select(by_zero, zero, signed)
        }
    }
}

fn popcount(b: &mut Builder, data: &InstData) -> Value {
    let [low, high] = split(b, data.args[0]).map(|word| b.op1(Op::PopCount, word));
    let sum = b.op2(Op::IAdd, low, high);
    extended(b, sum)
}

fn reversed(b: &mut Builder, x: Value) -> Value {
    let [low, high] = split(b, x).map(|word| b.op1(Op::BitReverse, word));
    join(b, high, low)
}

fn bitreverse(b: &mut Builder, data: &InstData) -> Value {
    reversed(b, data.args[0])
}

/// Leading zeros, 32 bits wide.
fn leading(b: &mut Builder, x: Value) -> Value {
    let [low, high] = split(b, x);
    let (zero, word) = (b.u32(0), b.u32(32));
    let above = b.op1(Op::Clz, high);
    let below = b.op1(Op::Clz, low);
    let below = b.op2(Op::IAdd, below, word);
    let empty = b.op2(Op::IEq, high, zero);
    b.select(empty, below, above)
}

fn clz(b: &mut Builder, data: &InstData) -> Value {
    let count = leading(b, data.args[0]);
    extended(b, count)
}

fn ctz(b: &mut Builder, data: &InstData) -> Value {
    let x = reversed(b, data.args[0]);
    let count = leading(b, x);
    extended(b, count)
}

/// 63 - clz x with its sign: -1 for 0.
fn highest(b: &mut Builder, x: Value) -> Value {
    let count = leading(b, x);
    let (top, by) = (b.u32(63), b.u32(31));
    let low = b.op2(Op::ISub, top, count);
    let high = b.op2(Op::AShr, low, by);
    join(b, low, high)
}

fn umsb(b: &mut Builder, data: &InstData) -> Value {
    highest(b, data.args[0])
}

fn smsb(b: &mut Builder, data: &InstData) -> Value {
    let by = b.u32(63);
    let sign = b.op2(Op::AShr, data.args[0], by);
    let x = b.op2(Op::Xor, data.args[0], sign);
    highest(b, x)
}

fn lsb(b: &mut Builder, data: &InstData) -> Value {
    let x = reversed(b, data.args[0]);
    let count = leading(b, x);
    let count = extended(b, count);
    let (zero, all) = (wide(b, 0), wide(b, u64::MAX));
    let empty = b.op2(Op::IEq, data.args[0], zero);
    b.select(empty, all, count)
}

/// 2^32 and its reciprocal.
const WORD: f32 = 4_294_967_296.0;

/// f32, already within range, to 64 bits toward zero: the high word is the whole part of x / 2^32, the
/// low word what is left, exactly, since both have at most 24 bits.
pub(super) fn from_f32(b: &mut Builder, signed: bool, x: Value) -> [Value; 2] {
    let (scale, back) = (b.f32(1.0 / WORD), b.f32(-WORD));
    let size = if signed { b.op1(Op::FAbs, x) } else { x };
    let scaled = b.op2(Op::FMul, size, scale);
    let high = b.convert(Op::FToU, Type::B32, scaled);
    let whole = b.convert(Op::UToF, Type::B32, high);
    let low = b.op3(Op::FMa, whole, back, size);
    let low = b.convert(Op::FToU, Type::B32, low);
    if !signed {
        return [low, high];
    }
    let value = join(b, low, high);
    let zero = b.f32(0.0);
    let below = b.op2(Op::FLt, x, zero);
    let other = negate(b, value);
    let value = b.select(below, other, value);
    split(b, value)
}

/// 64 bits to f32, rounded once: shifted up against the top, what falls off the high word sticks to its
/// lowest bit, and the high word has eight bits more than the result.
pub(super) fn to_f32_value(b: &mut Builder, signed: bool, x: Value) -> Value {
    let size = if signed { absolute(b, x) } else { x };
    let zeros = leading(b, size);
    // A shift by 64 is one by 0, of a zero.
    let top = b.op2(Op::Shl, size, zeros);
    let [low, high] = split(b, top);
    let (zero, one) = (b.u32(0), b.u32(1));
    let rest = b.op2(Op::INe, low, zero);
    let sticky = b.select(rest, one, zero);
    let high = b.op2(Op::Or, high, sticky);
    let float = b.convert(Op::UToF, Type::B32, high);
    let word = b.u32(32);
    let exponent = b.op2(Op::ISub, word, zeros);
    let float = b.op2(Op::FLdexp, float, exponent);
    if !signed {
        return float;
    }
    let below = is_negative(b, x);
    let other = b.op1(Op::FNeg, float);
    b.select(below, other, float)
}

/// The same, in the place of a conversion.
pub(super) fn to_f32(b: &mut Builder, signed: bool, x: Value, inst: Inst) {
    let value = to_f32_value(b, signed, x);
    let zero = b.u32(0);
    // A disjunction with nothing: the fold takes it away again.
    let data = &mut b.func.insts[inst];
    data.op = Op::Or;
    data.args = SmallVec::from_slice(&[value, zero]);
    data.imm = Imm::None;
}

//! Integers of 64 bits out of what machines have at 64 bits or in pairs of words: sums, bit operations, shifts and
//! comparisons of 64 bits, and anything at 32. All exact, all straight code; what is no operation of the
//! machine at 64 bits either falls into words afterwards (pass `words`).

use super::build::Expander;
use super::{Recipe, bits};
use gpucc_ir::ssa::eval::integer_range;
use gpucc_ir::ssa::{Op, Type, Value};

/// The expansion of an operation on integers of 64 bits that gives one of type `to`. Floats of 64 bits have
/// none.
pub(super) fn recipe(op: Op, from: Type, to: Type) -> Option<Recipe> {
    Some(match op {
        Op::INeg => negate,
        Op::IAbs => magnitude,
        Op::SMin => smin,
        Op::SMax => smax,
        Op::UMin => umin,
        Op::UMax => umax,
        Op::IMul => product,
        Op::UMulHi => unsigned_high,
        Op::SMulHi => signed_high,
        Op::UDiv => udiv,
        Op::URem => urem,
        Op::SDiv => sdiv,
        Op::SRem => srem,
        Op::PopCount => popcount,
        Op::BitReverse => bitreverse,
        Op::Clz => clz,
        Op::Ctz => ctz,
        Op::UMsb => umsb,
        Op::SMsb => smsb,
        Op::Lsb => lsb,
        Op::UBfe => bits::ubfe,
        Op::SBfe => bits::sbfe,
        Op::Bfi => bits::bfi,
        Op::UToF if to == Type::B32 => u64_to_f32,
        Op::SToF if to == Type::B32 => i64_to_f32,
        Op::UToF if to == Type::B16 => u64_to_f16,
        Op::SToF if to == Type::B16 => i64_to_f16,
        Op::FToU if from != Type::B64 => float_to_u64,
        Op::FToS if from != Type::B64 => float_to_i64,
        _ => return None,
    })
}

fn join(e: &mut Expander, low: Value, high: Value) -> Value {
    e.op(Op::Join64, &[low, high])
}

fn split(e: &mut Expander, value: Value) -> [Value; 2] {
    [Op::Lo64, Op::Hi64].map(|op| e.op(op, &[value]))
}

fn wide(e: &mut Expander, bits: u64) -> Value {
    e.constant(Type::B64, bits)
}

/// A word with zeros above.
fn extended(e: &mut Expander, low: Value) -> Value {
    let zero = e.u(0);
    join(e, low, zero)
}

fn negate(e: &mut Expander, args: &[Value]) -> Value {
    let zero = wide(e, 0);
    e.isub(zero, args[0])
}

fn is_negative(e: &mut Expander, x: Value) -> Value {
    let (high, zero) = (e.op(Op::Hi64, &[x]), e.u(0));
    e.slt(high, zero)
}

/// `x` or its opposite.
fn negate_if(e: &mut Expander, condition: Value, x: Value) -> Value {
    let other = negate(e, &[x]);
    e.select(condition, other, x)
}

fn magnitude(e: &mut Expander, args: &[Value]) -> Value {
    let below = is_negative(e, args[0]);
    negate_if(e, below, args[0])
}

fn smin(e: &mut Expander, args: &[Value]) -> Value {
    let first = e.slt(args[0], args[1]);
    e.select(first, args[0], args[1])
}
fn smax(e: &mut Expander, args: &[Value]) -> Value {
    let first = e.slt(args[0], args[1]);
    e.select(first, args[1], args[0])
}
fn umin(e: &mut Expander, args: &[Value]) -> Value {
    let first = e.ult(args[0], args[1]);
    e.select(first, args[0], args[1])
}
fn umax(e: &mut Expander, args: &[Value]) -> Value {
    let first = e.ult(args[0], args[1]);
    e.select(first, args[1], args[0])
}

fn product(e: &mut Expander, args: &[Value]) -> Value {
    let ([x0, x1], [y0, y1]) = (split(e, args[0]), split(e, args[1]));
    let (low, high) = (e.imul(x0, y0), e.umulhi(x0, y0));
    let (first, second) = (e.imul(x0, y1), e.imul(x1, y0));
    let high = e.iadd(high, first);
    let high = e.iadd(high, second);
    join(e, low, high)
}

/// Schoolbook, carries in 64-bit sums that cannot overflow.
fn unsigned_high(e: &mut Expander, args: &[Value]) -> Value {
    let ([x0, x1], [y0, y1]) = (split(e, args[0]), split(e, args[1]));
    let mut pair = |x: Value, y: Value| {
        let (low, high) = (e.imul(x, y), e.umulhi(x, y));
        join(e, low, high)
    };
    let (p01, p10, p11) = (pair(x0, y1), pair(x1, y0), pair(x1, y1));
    let carry = e.umulhi(x0, y0);
    let carry = extended(e, carry);
    let middle = e.iadd(p01, carry);
    let [low, high] = split(e, middle);
    let low = extended(e, low);
    let second = e.iadd(p10, low);
    let [_, carry] = split(e, second);
    let (high, carry) = (extended(e, high), extended(e, carry));
    let sum = e.iadd(p11, high);
    e.iadd(sum, carry)
}

/// The unsigned product less what the signs added.
fn signed_high(e: &mut Expander, args: &[Value]) -> Value {
    let high = unsigned_high(e, args);
    let by = e.u(63);
    let mut surplus = |sign: Value, other: Value| {
        let mask = e.ashr(sign, by);
        e.and(mask, other)
    };
    let (first, second) = (surplus(args[0], args[1]), surplus(args[1], args[0]));
    let high = e.isub(high, first);
    e.isub(high, second)
}

/// 2^32.
const WORD: f32 = 4_294_967_296.0;
/// 2^64 less 2^44: the estimate stays below the reciprocal.
const BELOW: f32 = 18_446_726_481_523_507_200.0;

/// Quotient and remainder of unsigned numbers for y != 0; anything for y = 0.
///
/// Let R = 2^64 / y. The float estimate r of R is scaled down by 2^-20, more than what the conversions and a
/// reciprocal off by three units can add (9.1 * 2^-24, toward zero 10.1 * 2^-24), so r <= R, and R - r <= R * 2^-19.3 + 1. A Newton step
/// r + floor(r * (2^64 - y * r) / 2^64) = R - (R - r)^2 / R - d with 0 <= d < 1 keeps r <= R and never makes r
/// smaller; behind two of them R - r < 1 + 2^-9 where R >= 2^10, and R - r < 1 + 2^-9 below that anyway. So
/// floor(x * r / 2^64) is at most two less than the quotient, which two corrections repair.
fn divide(e: &mut Expander, x: Value, y: Value) -> [Value; 2] {
    let [low, high] = split(e, y);
    let (low, high, word) = (e.utof(low), e.utof(high), e.f(WORD));
    let float = e.fma(high, word, low);
    let reciprocal = e.frcp(float);
    let scale = e.f(BELOW);
    let estimate = e.fmul(reciprocal, scale);
    let mut r = whole_float(e, estimate);
    let zero = wide(e, 0);
    for _ in 0..2 {
        let product = e.imul(y, r);
        let error = e.isub(zero, product);
        let step = e.umulhi(r, error);
        r = e.iadd(r, step);
    }
    let mut quotient = e.umulhi(x, r);
    let product = e.imul(quotient, y);
    let mut remainder = e.isub(x, product);
    let one = wide(e, 1);
    for _ in 0..2 {
        let fits = e.ule(y, remainder);
        let (more, less) = (e.iadd(quotient, one), e.isub(remainder, y));
        quotient = e.select(fits, more, quotient);
        remainder = e.select(fits, less, remainder);
    }
    [quotient, remainder]
}

fn is_zero(e: &mut Expander, x: Value) -> Value {
    let zero = wide(e, 0);
    e.ieq(x, zero)
}

/// x / 0 = x.
fn udiv(e: &mut Expander, args: &[Value]) -> Value {
    let [quotient, _] = divide(e, args[0], args[1]);
    let by_zero = is_zero(e, args[1]);
    e.select(by_zero, args[0], quotient)
}

/// x % 0 = 0.
fn urem(e: &mut Expander, args: &[Value]) -> Value {
    let [_, remainder] = divide(e, args[0], args[1]);
    let (by_zero, zero) = (is_zero(e, args[1]), wide(e, 0));
    e.select(by_zero, zero, remainder)
}

/// x / 0 = x, MIN / -1 = MIN.
fn sdiv(e: &mut Expander, args: &[Value]) -> Value {
    let sizes = [0, 1].map(|k| magnitude(e, &args[k..]));
    let [quotient, _] = divide(e, sizes[0], sizes[1]);
    let signs = e.xor(args[0], args[1]);
    let below = is_negative(e, signs);
    let quotient = negate_if(e, below, quotient);
    let by_zero = is_zero(e, args[1]);
    e.select(by_zero, args[0], quotient)
}

/// x % 0 = 0, MIN % -1 = 0; the sign of x.
fn srem(e: &mut Expander, args: &[Value]) -> Value {
    let sizes = [0, 1].map(|k| magnitude(e, &args[k..]));
    let [_, remainder] = divide(e, sizes[0], sizes[1]);
    let below = is_negative(e, args[0]);
    let remainder = negate_if(e, below, remainder);
    let (by_zero, zero) = (is_zero(e, args[1]), wide(e, 0));
    e.select(by_zero, zero, remainder)
}

fn popcount(e: &mut Expander, args: &[Value]) -> Value {
    let [low, high] = split(e, args[0]).map(|word| e.op(Op::PopCount, &[word]));
    let sum = e.iadd(low, high);
    extended(e, sum)
}

fn bitreverse(e: &mut Expander, args: &[Value]) -> Value {
    let [low, high] = split(e, args[0]).map(|word| e.op(Op::BitReverse, &[word]));
    join(e, high, low)
}

/// The highest word that is not 0 (the low one of 0), and what `above` or `below` it counts.
fn highest_word(e: &mut Expander, x: Value, above: u32, below: u32) -> (Value, Value) {
    let ([low, high], zero) = (split(e, x), e.u(0));
    let empty = e.ieq(high, zero);
    let (above, below) = (e.u(above), e.u(below));
    (e.select(empty, low, high), e.select(empty, below, above))
}

fn clz(e: &mut Expander, args: &[Value]) -> Value {
    let (word, more) = highest_word(e, args[0], 0, 32);
    let count = e.op(Op::Clz, &[word]);
    let count = e.iadd(count, more);
    extended(e, count)
}

/// The lowest word that is not 0, and where it begins; the high one of 0.
fn lowest_word(e: &mut Expander, x: Value) -> (Value, Value) {
    let ([low, high], zero, word) = (split(e, x), e.u(0), e.u(32));
    let empty = e.ieq(low, zero);
    (e.select(empty, high, low), e.select(empty, word, zero))
}

fn ctz(e: &mut Expander, args: &[Value]) -> Value {
    let (word, more) = lowest_word(e, args[0]);
    let count = e.op(Op::Ctz, &[word]);
    let count = e.iadd(count, more);
    extended(e, count)
}

/// A word's answer, moved up by `more`; all ones stay all ones.
fn moved(e: &mut Expander, found: Value, more: Value) -> Value {
    // A number below 32 and one of 0 and 32 have no bit in common.
    let (low, by) = (e.or(found, more), e.u(31));
    let high = e.ashr(found, by);
    join(e, low, high)
}

fn umsb(e: &mut Expander, args: &[Value]) -> Value {
    let (word, more) = highest_word(e, args[0], 32, 0);
    let found = e.op(Op::UMsb, &[word]);
    moved(e, found, more)
}

fn smsb(e: &mut Expander, args: &[Value]) -> Value {
    let by = e.u(63);
    let sign = e.ashr(args[0], by);
    let x = e.xor(args[0], sign);
    umsb(e, &[x])
}

fn lsb(e: &mut Expander, args: &[Value]) -> Value {
    let (word, more) = lowest_word(e, args[0]);
    let found = e.op(Op::Lsb, &[word]);
    moved(e, found, more)
}

/// A float in 0..2^64 to 64 bits toward zero: the high word is the whole part of x / 2^32, the low word what is
/// left, exactly, since both have at most 24 bits.
fn whole_float(e: &mut Expander, x: Value) -> Value {
    let (scale, back) = (e.f(1.0 / WORD), e.f(-WORD));
    let scaled = e.fmul(x, scale);
    let high = e.ftou(scaled);
    let whole = e.utof(high);
    let low = e.fma(whole, back, x);
    let low = e.ftou(low);
    join(e, low, high)
}

/// As f32, which holds every f16, and the greatest value (the least with its sign) that float and integer hold.
fn float_operand(e: &mut Expander, x: Value, signed: bool) -> (Value, f32, f32) {
    let (low, high) = integer_range(e.ty(x), Type::B64, signed);
    let x = match e.ty(x) {
        Type::B16 => e.convert(Op::FConvert, Type::B32, x),
        _ => x,
    };
    (x, low as f32, high as f32)
}

/// Clamped to what both types hold; NaN gives 0.
fn float_to_u64(e: &mut Expander, args: &[Value]) -> Value {
    let (x, low, high) = float_operand(e, args[0], false);
    let (low, high) = (e.f(low), e.f(high));
    let number = e.op(Op::FEq, &[x, x]);
    let clamped = e.fmax(x, low);
    let clamped = e.fmin(clamped, high);
    let clamped = e.select(number, clamped, low);
    whole_float(e, clamped)
}

/// Clamped to what both types hold; NaN gives 0.
fn float_to_i64(e: &mut Expander, args: &[Value]) -> Value {
    let (x, low, high) = float_operand(e, args[0], true);
    let (low, high, zero) = (e.f(low), e.f(high), e.f(0.0));
    let number = e.op(Op::FEq, &[x, x]);
    let clamped = e.fmax(x, low);
    let clamped = e.fmin(clamped, high);
    let clamped = e.select(number, clamped, zero);
    let size = e.fabs(clamped);
    let size = whole_float(e, size);
    let below = e.flt(clamped, zero);
    negate_if(e, below, size)
}

/// Rounded once: the highest word moves up against the top, what falls off it sticks to its lowest bit, and it has
/// eight bits more than the result; the power of two is exact.
fn u64_to_f32(e: &mut Expander, args: &[Value]) -> Value {
    let ([low, high], zero, one) = (split(e, args[0]), e.u(0), e.u(1));
    let empty = e.ieq(high, zero);
    let word = e.select(empty, low, high);
    let rest = e.select(empty, zero, low);
    let zeros = e.op(Op::Clz, &[word]);
    // A shift by 32 is one by 0, of 0.
    let top = e.shl(word, zeros);
    let (half, others) = (e.lshr(rest, one), e.not(zeros));
    let below = e.lshr(half, others);
    let top = e.or(top, below);
    let lost = e.shl(rest, zeros);
    let sticks = e.op(Op::INe, &[lost, zero]);
    let sticky = e.select(sticks, one, zero);
    let top = e.or(top, sticky);
    let float = e.utof(top);
    let (above, here, by) = (e.u(127 + 32), e.u(127), e.u(23));
    let bias = e.select(empty, here, above);
    let exponent = e.isub(bias, zeros);
    let power = e.shl(exponent, by);
    e.fmul(float, power)
}

fn i64_to_f32(e: &mut Expander, args: &[Value]) -> Value {
    let size = magnitude(e, args);
    let float = u64_to_f32(e, &[size]);
    let below = is_negative(e, args[0]);
    let other = e.fneg(float);
    e.select(below, other, float)
}

/// Every integer that f16 holds is exact in f32, so nothing is rounded twice.
fn u64_to_f16(e: &mut Expander, args: &[Value]) -> Value {
    let float = u64_to_f32(e, args);
    e.convert(Op::FConvert, Type::B16, float)
}

fn i64_to_f16(e: &mut Expander, args: &[Value]) -> Value {
    let float = i64_to_f32(e, args);
    e.convert(Op::FConvert, Type::B16, float)
}

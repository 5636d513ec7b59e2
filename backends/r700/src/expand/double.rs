//! What double precision lacks: everything but sums, products, tests, powers of two and conversions from and
//! to f32 is made of those and of operations on the two dwords. R700 ISA 4.12, 9.2.
//!
//! Quotients and square roots begin with the f32 unit's approximation, double its digits twice, and end with
//! one correction by a remainder that is exact but for its last bits: what a double holds exactly comes out
//! so, anything else within one unit of the last place. FRACT_64 and FREXP_64 are not used: the documents
//! contradict themselves about them (ERRATA E84, E85).

use gpucc_ir::ssa::{Builder, InstData, Op, Type, Value};

const SIGN: u32 = 0x8000_0000;
/// The exponent's bits in the high dword, and the fraction's.
const EXPONENT: u32 = 0x7ff0_0000;
const FRACTION: u32 = 0x000f_ffff;
/// The high dword of 1.0.
const ONE: u32 = 0x3ff0_0000;

/// Short names for what recipes are full of.
trait Words {
    fn d(&mut self, value: f64) -> Value;
    fn low(&mut self, x: Value) -> Value;
    fn high(&mut self, x: Value) -> Value;
    fn join(&mut self, low: Value, high: Value) -> Value;
    fn with_high(&mut self, x: Value, high: Value) -> Value;
    fn masked(&mut self, x: Value, mask: u32) -> Value;
    fn either(&mut self, cond: Value, yes: Value, no: Value) -> Value;
}

impl Words for Builder<'_> {
    fn d(&mut self, value: f64) -> Value {
        self.constant(Type::B64, value.to_bits())
    }
    fn low(&mut self, x: Value) -> Value {
        self.op1(Op::Lo64, x)
    }
    fn high(&mut self, x: Value) -> Value {
        self.op1(Op::Hi64, x)
    }
    fn join(&mut self, low: Value, high: Value) -> Value {
        self.op2(Op::Join64, low, high)
    }
    /// Another high dword.
    fn with_high(&mut self, x: Value, high: Value) -> Value {
        let low = self.low(x);
        self.join(low, high)
    }
    /// Bits of a dword.
    fn masked(&mut self, x: Value, mask: u32) -> Value {
        let mask = self.u32(mask);
        self.op2(Op::And, x, mask)
    }
    fn either(&mut self, cond: Value, yes: Value, no: Value) -> Value {
        let low = {
            let (yes, no) = (self.low(yes), self.low(no));
            self.select(cond, yes, no)
        };
        let high = {
            let (yes, no) = (self.high(yes), self.high(no));
            self.select(cond, yes, no)
        };
        self.join(low, high)
    }
}

pub(super) fn negative(b: &mut Builder<'_>, x: Value) -> Value {
    let (high, mask) = (b.high(x), b.u32(SIGN));
    let high = b.op2(Op::Xor, high, mask);
    b.with_high(x, high)
}

pub(super) fn magnitude(b: &mut Builder<'_>, x: Value) -> Value {
    let high = b.high(x);
    let high = b.masked(high, !SIGN);
    b.with_high(x, high)
}

/// `x` where it is less or no number, as GLSL and SPIR-V define it: y < x gives y.
pub(super) fn least(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let less = b.op2(Op::FLt, y, x);
    b.either(less, y, x)
}

pub(super) fn most(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let more = b.op2(Op::FLt, x, y);
    b.either(more, y, x)
}

pub(super) fn saturate(b: &mut Builder<'_>, data: &InstData) -> Value {
    let (zero, one) = (b.d(0.0), b.d(1.0));
    // A NaN is not greater than 0.
    let positive = most(b, zero, data.args[0]);
    least(b, positive, one)
}

pub(super) fn sign(b: &mut Builder<'_>, data: &InstData) -> Value {
    let x = data.args[0];
    let (zero, high) = (b.d(0.0), b.high(x));
    let some = b.op2(Op::FNe, x, zero);
    let (mask, one, nothing) = (b.u32(SIGN), b.u32(ONE), b.u32(0));
    let sign = b.op2(Op::And, high, mask);
    let signed = b.op2(Op::Or, sign, one);
    let high = b.select(some, signed, nothing);
    b.join(nothing, high)
}

/// 2^52 with the sign bit of `high`: a sum with it has no fraction left.
fn no_fraction(b: &mut Builder<'_>, high: Value) -> Value {
    let sign = b.masked(high, SIGN);
    let (size, zero) = (b.u32(0x4330_0000), b.u32(0));
    let high = b.op2(Op::Or, sign, size);
    b.join(zero, high)
}

/// To the nearest, ties to even, keeping the sign of a zero and whatever has no fraction.
pub(super) fn round(b: &mut Builder<'_>, x: Value) -> Value {
    let high = b.high(x);
    let far = no_fraction(b, high);
    let sum = b.op2(Op::FAdd, x, far);
    let rounded = b.op2(Op::FSub, sum, far);
    // -0.25 leaves +0.
    let (sign, size) = (b.masked(high, SIGN), b.high(rounded));
    let signed = b.op2(Op::Or, size, sign);
    let rounded = b.with_high(rounded, signed);
    let (size, limit) = (b.masked(high, !SIGN), b.u32(0x4330_0000));
    let small = b.op2(Op::ULt, size, limit);
    b.either(small, rounded, x)
}

/// The rounded number, less one where it went too far.
fn stepped(b: &mut Builder<'_>, rounded: Value, too_far: Value) -> Value {
    let one = b.d(1.0);
    let back = b.op2(Op::FSub, rounded, one);
    b.either(too_far, back, rounded)
}

pub(super) fn floor(b: &mut Builder<'_>, x: Value) -> Value {
    let rounded = round(b, x);
    let above = b.op2(Op::FLt, x, rounded);
    stepped(b, rounded, above)
}

pub(super) fn ceil(b: &mut Builder<'_>, x: Value) -> Value {
    let below = negative(b, x);
    let below = floor(b, below);
    negative(b, below)
}

pub(super) fn trunc(b: &mut Builder<'_>, x: Value) -> Value {
    let size = magnitude(b, x);
    let rounded = round(b, size);
    let above = b.op2(Op::FLt, size, rounded);
    let whole = stepped(b, rounded, above);
    let (high, size) = (b.high(x), b.high(whole));
    let sign = b.masked(high, SIGN);
    let high = b.op2(Op::Or, size, sign);
    b.with_high(whole, high)
}

pub(super) fn fract(b: &mut Builder<'_>, data: &InstData) -> Value {
    let whole = floor(b, data.args[0]);
    b.op2(Op::FSub, data.args[0], whole)
}

pub(super) fn dot(b: &mut Builder<'_>, data: &InstData) -> Value {
    let (left, right) = data.args.split_at(data.args.len() / 2);
    let mut sum = b.op2(Op::FMul, left[0], right[0]);
    for (&x, &y) in left[1..].iter().zip(&right[1..]) {
        sum = b.op3(Op::FMa, x, y, sum);
    }
    sum
}

/// The upper 26 bits of a number's fraction, and the rest.
fn split(b: &mut Builder<'_>, x: Value) -> (Value, Value) {
    let (low, high) = (b.low(x), b.high(x));
    let low = b.masked(low, 0xf800_0000);
    let upper = b.join(low, high);
    (upper, b.op2(Op::FSub, x, upper))
}

/// a - x * y where that is small beside a: the product in parts that are exact.
fn residue(b: &mut Builder<'_>, a: Value, x: Value, y: Value) -> Value {
    let ((xh, xl), (yh, yl)) = (split(b, x), split(b, y));
    let minus = [xh, xl].map(|part| negative(b, part));
    let rest = b.op3(Op::FMa, minus[0], yh, a);
    let rest = b.op3(Op::FMa, minus[0], yl, rest);
    let rest = b.op3(Op::FMa, minus[1], yh, rest);
    b.op3(Op::FMa, minus[1], yl, rest)
}

/// A number's fraction as a double in 1..2, and its exponent's bits in place.
fn normalised(b: &mut Builder<'_>, x: Value) -> (Value, Value) {
    let high = b.high(x);
    let (fraction, exponent) = (b.masked(high, FRACTION), b.masked(high, EXPONENT));
    let one = b.u32(ONE);
    let near = b.op2(Op::Or, fraction, one);
    (b.with_high(x, near), exponent)
}

/// True where the exponent's bits are those of a number that is neither zero nor infinite nor none.
fn is_normal(b: &mut Builder<'_>, exponent: Value) -> Value {
    // All ones become 0 and zero becomes the largest.
    let (one, limit) = (b.u32(0x0010_0000), b.u32(0x7fe0_0000));
    let less = b.op2(Op::ISub, exponent, one);
    b.op2(Op::ULt, less, limit)
}

/// A function of f32 at a double near 1.
fn approximate(b: &mut Builder<'_>, op: Op, x: Value) -> Value {
    let single = b.convert(Op::FConvert, Type::B32, x);
    let result = b.op1(op, single);
    b.convert(Op::FConvert, Type::B64, result)
}

/// 20 bits down: the exponent's bits as a number.
fn exponent_number(b: &mut Builder<'_>, exponent: Value) -> Value {
    let by = b.u32(20);
    b.op2(Op::LShr, exponent, by)
}

pub(super) fn divide(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let ((a, ea), (m, em)) = (normalised(b, x), normalised(b, y));
    // 1 / m: 22 bits, then 44, then all but the last.
    let mut r = approximate(b, Op::FRcp, m);
    let (one, minus) = (b.d(1.0), negative(b, m));
    for _ in 0..2 {
        let off = b.op3(Op::FMa, minus, r, one);
        r = b.op3(Op::FMa, off, r, r);
    }
    let q = b.op2(Op::FMul, a, r);
    let rest = residue(b, a, q, m);
    let q = b.op3(Op::FMa, rest, r, q);
    let (ea_number, em_number) = (exponent_number(b, ea), exponent_number(b, em));
    let shift = b.op2(Op::ISub, ea_number, em_number);
    let size = b.op2(Op::FLdexp, q, shift);
    let (hx, hy, hq) = (b.high(x), b.high(y), b.high(size));
    let signs = b.op2(Op::Xor, hx, hy);
    let sign = b.masked(signs, SIGN);
    let high = b.op2(Op::Or, hq, sign);
    let quotient = b.with_high(size, high);
    // x / 0 is x * inf, x / inf is x * 0, and a divisor that is a number leaves 0, inf and NaN with its sign.
    let sign = b.masked(hy, SIGN);
    let (infinite, zero, one) = (b.u32(EXPONENT), b.u32(0), b.u32(ONE));
    let nothing = b.op2(Op::IEq, em, zero);
    let all = b.op2(Op::IEq, em, infinite);
    let factor = b.select(nothing, infinite, one);
    let factor = b.select(all, zero, factor);
    let factor = b.op2(Op::Or, factor, sign);
    let factor = b.join(zero, factor);
    let nan = b.op2(Op::FNe, y, y);
    let factor = b.either(nan, y, factor);
    let special = b.op2(Op::FMul, x, factor);
    let (fine_x, fine_y) = (is_normal(b, ea), is_normal(b, em));
    let fine = b.op2(Op::And, fine_x, fine_y);
    b.either(fine, quotient, special)
}

pub(super) fn reciprocal(b: &mut Builder<'_>, data: &InstData) -> Value {
    let one = b.d(1.0);
    divide(b, one, data.args[0])
}

pub(super) fn remainder(b: &mut Builder<'_>, data: &InstData) -> Value {
    let (x, y) = (data.args[0], data.args[1]);
    let quotient = divide(b, x, y);
    let whole = trunc(b, quotient);
    residue(b, x, whole, y)
}

pub(super) fn square_root(b: &mut Builder<'_>, x: Value) -> Value {
    // x = m * 4^e with m in 1..4.
    let high = b.high(x);
    let exponent = b.masked(high, EXPONENT);
    let number = exponent_number(b, exponent);
    let (one, bias) = (b.u32(1), b.u32(1023));
    let unbiased = b.op2(Op::ISub, number, bias);
    let odd = b.op2(Op::And, unbiased, one);
    let by = b.u32(20);
    let odd = b.op2(Op::Shl, odd, by);
    let (fraction, base) = (b.masked(high, FRACTION), b.u32(ONE));
    let near = b.op2(Op::Or, fraction, base);
    let near = b.op2(Op::IAdd, near, odd);
    let m = b.with_high(x, near);
    // g is near sqrt(m) and h near 1 / (2 sqrt(m)): each step doubles their digits.
    let y = approximate(b, Op::FRsq, m);
    let half = b.d(0.5);
    let mut g = b.op2(Op::FMul, m, y);
    let mut h = b.op2(Op::FMul, y, half);
    for _ in 0..2 {
        let minus = negative(b, g);
        let off = b.op3(Op::FMa, minus, h, half);
        g = b.op3(Op::FMa, g, off, g);
        h = b.op3(Op::FMa, h, off, h);
    }
    let rest = residue(b, m, g, g);
    let g = b.op3(Op::FMa, rest, h, g);
    let halved = b.op2(Op::AShr, unbiased, one);
    let root = b.op2(Op::FLdexp, g, halved);
    // 0 and infinity are their own roots, a NaN stays one and other negative numbers have none.
    let zero = b.d(0.0);
    let negative = b.op2(Op::FLt, x, zero);
    let nan = b.constant(Type::B64, 0xfff8_0000_0000_0000);
    let special = b.either(negative, nan, x);
    let normal = is_normal(b, exponent);
    let positive = b.op2(Op::FLt, zero, x);
    let fine = b.op2(Op::And, normal, positive);
    let chosen = b.either(fine, root, special);
    // Denormals count as zero, as everywhere.
    let one = b.d(1.0);
    b.op2(Op::FMul, chosen, one)
}

pub(super) fn reciprocal_root(b: &mut Builder<'_>, data: &InstData) -> Value {
    let root = square_root(b, data.args[0]);
    let one = b.d(1.0);
    divide(b, one, root)
}

/// A word behind 2^52 is a whole number, a signed one counts from 2^31. Of an integer of 64 bits the high dword times
/// 2^32 is exact, so that the sum alone rounds.
pub(super) fn from_integer(b: &mut Builder<'_>, data: &InstData) -> Value {
    if b.func.ty(data.args[0]) == Type::B32 {
        let (far, sign) = (b.u32(0x4330_0000), b.u32(SIGN));
        let (word, less) = if data.op == Op::SToF {
            let flipped = b.op2(Op::Xor, data.args[0], sign);
            (flipped, 4_503_601_774_854_144.0)
        } else {
            (data.args[0], 4_503_599_627_370_496.0)
        };
        let (behind, less) = (b.join(word, far), b.d(less));
        return b.op2(Op::FSub, behind, less);
    }
    let (low, high) = (b.low(data.args[0]), b.high(data.args[0]));
    let high = b.convert(data.op, Type::B64, high);
    let low = b.convert(Op::UToF, Type::B64, low);
    let scale = b.d(4_294_967_296.0);
    b.op3(Op::FMa, high, scale, low)
}

/// The integer below a number in 0..2^32, as a dword.
fn whole_dword(b: &mut Builder<'_>, x: Value) -> Value {
    let far = b.d(4_503_599_627_370_496.0);
    let sum = b.op2(Op::FAdd, x, far);
    let rounded = b.op2(Op::FSub, sum, far);
    let above = b.op2(Op::FLt, x, rounded);
    let (low, one) = (b.low(sum), b.u32(1));
    let less = b.op2(Op::ISub, low, one);
    b.select(above, less, low)
}

/// The integer below a number in 0..2^64, as two dwords, low first.
fn whole_dwords(b: &mut Builder<'_>, x: Value) -> [Value; 2] {
    let (down, up) = (b.d(1.0 / 4_294_967_296.0), b.d(-4_294_967_296.0));
    let upper = b.op2(Op::FMul, x, down);
    let high = whole_dword(b, upper);
    let upper = b.convert(Op::UToF, Type::B64, high);
    let rest = b.op3(Op::FMa, upper, up, x);
    [whole_dword(b, rest), high]
}

pub(super) fn to_unsigned(b: &mut Builder<'_>, data: &InstData) -> Value {
    let x = data.args[0];
    let wide = b.func.ty(data.results[0]) == Type::B64;
    let limit = b.d(if wide { 18_446_744_073_709_551_616.0 } else { 4_294_967_296.0 });
    let zero = b.d(0.0);
    let fits = b.op2(Op::FLt, x, limit);
    let positive = b.op2(Op::FLt, zero, x);
    let none = b.u32(0);
    let chosen = |b: &mut Builder<'_>, word: Value, most: u32| {
        let most = b.u32(most);
        let word = b.select(fits, word, most);
        b.select(positive, word, none)
    };
    if !wide {
        let word = whole_dword(b, x);
        return chosen(b, word, u32::MAX);
    }
    let [low, high] = whole_dwords(b, x);
    let low = chosen(b, low, 0xffff_f800);
    let high = chosen(b, high, u32::MAX);
    b.join(low, high)
}

pub(super) fn to_signed(b: &mut Builder<'_>, data: &InstData) -> Value {
    let x = data.args[0];
    let wide = b.func.ty(data.results[0]) == Type::B64;
    let size = magnitude(b, x);
    let limit = b.d(if wide { 9_223_372_036_854_775_808.0 } else { 2_147_483_648.0 });
    let fits = b.op2(Op::FLt, size, limit);
    let zero = b.d(0.0);
    let negative = b.op2(Op::FLt, x, zero);
    let number = b.op2(Op::FEq, x, x);
    let none = b.u32(0);
    let chosen = |b: &mut Builder<'_>, word: Value, least: u32, most: u32| {
        let (least, most) = (b.u32(least), b.u32(most));
        let far = b.select(negative, least, most);
        let word = b.select(fits, word, far);
        b.select(number, word, none)
    };
    if !wide {
        let word = whole_dword(b, size);
        let minus = b.op2(Op::ISub, none, word);
        let word = b.select(negative, minus, word);
        return chosen(b, word, SIGN, !SIGN);
    }
    let [low, high] = whole_dwords(b, size);
    let minus_low = b.op2(Op::ISub, none, low);
    let not = b.op1(Op::Not, high);
    let minus_high = b.op2(Op::ISub, none, high);
    let carries = b.op2(Op::IEq, low, none);
    let minus_high = b.select(carries, minus_high, not);
    let low = b.select(negative, minus_low, low);
    let high = b.select(negative, minus_high, high);
    let low = chosen(b, low, 0, 0xffff_fc00);
    let high = chosen(b, high, SIGN, !SIGN);
    b.join(low, high)
}

/// In 0.5..1 with the sign; what has no exponent stays.
pub(super) fn fraction(b: &mut Builder<'_>, data: &InstData) -> Value {
    let x = data.args[0];
    let high = b.high(x);
    let exponent = b.masked(high, EXPONENT);
    let normal = is_normal(b, exponent);
    let (kept, half) = (b.masked(high, !EXPONENT), b.u32(0x3fe0_0000));
    let scaled = b.op2(Op::Or, kept, half);
    let scaled = b.with_high(x, scaled);
    let one = b.d(1.0);
    let flushed = b.op2(Op::FMul, x, one);
    b.either(normal, scaled, flushed)
}

pub(super) fn exponent(b: &mut Builder<'_>, data: &InstData) -> Value {
    let high = b.high(data.args[0]);
    let exponent = b.masked(high, EXPONENT);
    let normal = is_normal(b, exponent);
    let number = exponent_number(b, exponent);
    let (bias, zero) = (b.u32(1022), b.u32(0));
    let unbiased = b.op2(Op::ISub, number, bias);
    b.select(normal, unbiased, zero)
}

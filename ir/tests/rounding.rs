//! What rounds, against exact numbers: integers of any length, and quotients of them. A result is right when no float of the
//! format lies between it and the exact number on the side that its rounding forbids.

use gpucc_ir::ssa::numerics::{Rounding, f16_to_f64};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{Numerics, Op, Type, eval};
use std::cmp::Ordering;

/// A natural number, its lowest 32 bits first and no zeros at its end.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Natural(Vec<u32>);

impl Natural {
    fn of(number: u64, shift: usize) -> Natural {
        let mut words = vec![0; shift / 32];
        let shifted = u128::from(number) << (shift % 32);
        words.extend([0, 32, 64].map(|by| (shifted >> by) as u32));
        Natural(words).trimmed()
    }
    fn trimmed(mut self) -> Natural {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }
    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }
    fn times(&self, other: &Natural) -> Natural {
        let mut words = vec![0u32; self.0.len() + other.0.len()];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.0.iter().enumerate() {
                let sum = u64::from(a) * u64::from(b) + u64::from(words[i + j]) + carry;
                (words[i + j], carry) = (sum as u32, sum >> 32);
            }
            words[i + other.0.len()] = carry as u32;
        }
        Natural(words).trimmed()
    }
    fn plus(&self, other: &Natural) -> Natural {
        let word =
            |number: &Natural, at: usize| number.0.get(at).map_or(0, |&word| i64::from(word));
        self.by_words(other, |at, carry| word(self, at) + word(other, at) + carry)
    }
    /// Not of a larger one.
    fn minus(&self, other: &Natural) -> Natural {
        let word =
            |number: &Natural, at: usize| number.0.get(at).map_or(0, |&word| i64::from(word));
        self.by_words(other, |at, carry| word(self, at) - word(other, at) + carry)
    }
    fn by_words(&self, other: &Natural, word: impl Fn(usize, i64) -> i64) -> Natural {
        let mut carry = 0;
        let words = (0..=self.0.len().max(other.0.len())).map(|at| {
            let sum = word(at, carry);
            carry = sum >> 32;
            sum as u32
        });
        Natural(words.collect()).trimmed()
    }
    fn compare(&self, other: &Natural) -> Ordering {
        let length = self.0.len().cmp(&other.0.len());
        length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

/// A number with a sign.
#[derive(Clone, Debug)]
struct Whole {
    negative: bool,
    size: Natural,
}

impl Whole {
    fn plus(&self, other: &Whole) -> Whole {
        let (a, b) = (self, other);
        if a.negative == b.negative {
            return Whole { negative: a.negative, size: a.size.plus(&b.size) };
        }
        let (more, less) = match a.size.compare(&b.size) {
            Ordering::Less => (b, a),
            Ordering::Equal | Ordering::Greater => (a, b),
        };
        Whole { negative: more.negative, size: more.size.minus(&less.size) }
    }
    fn times(&self, other: &Whole) -> Whole {
        Whole { negative: self.negative != other.negative, size: self.size.times(&other.size) }
    }
}

/// All floats are multiples of 2^-1074.
const UNIT: usize = 1074;

fn one() -> Whole {
    Whole { negative: false, size: Natural::of(1, UNIT) }
}

/// A finite number of f64 in units.
fn units(x: f64) -> Whole {
    let bits = x.to_bits();
    let (field, fraction) = (bits >> 52 & 0x7ff, bits << 12 >> 12);
    let size = match field {
        0 => Natural::of(fraction, 0),
        _ => Natural::of(fraction | 1 << 52, field as usize - 1),
    };
    Whole { negative: x.is_sign_negative(), size }
}

/// The bits of infinity, which are one more than those of the largest number.
fn infinity(ty: Type) -> u64 {
    match ty {
        Type::B16 => 0x7c00,
        Type::B64 => 0x7ff0_0000_0000_0000,
        Type::B1 | Type::B32 => 0x7f80_0000,
    }
}

fn number(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::B16 => f16_to_f64(bits as u16),
        Type::B64 => f64::from_bits(bits),
        Type::B1 | Type::B32 => f32::from_bits(bits as u32).into(),
    }
}

/// The size of a float in units; infinity counts as the power of two that it follows on.
fn size(ty: Type, bits: u64) -> Natural {
    match (ty, bits == infinity(ty)) {
        (Type::B16, true) => Natural::of(1, UNIT + 16),
        (Type::B64, true) => Natural::of(1, UNIT + 1024),
        (_, true) => Natural::of(1, UNIT + 128),
        _ => units(number(ty, bits)).size,
    }
}

/// True when `bits` is the float for above / below, where `above` is in units of 2^-1074.
fn is_rounded(rounding: Rounding, ty: Type, bits: u64, above: &Whole, below: &Natural) -> bool {
    let sign = 1 << (ty.bits() - 1);
    let (negative, magnitude) = (bits & sign != 0, bits & !sign);
    if above.size.is_zero() {
        return magnitude == 0;
    }
    if negative != above.negative || magnitude > infinity(ty) {
        return false;
    }
    let against = |float: Natural| above.size.compare(&float.times(below));
    let (infinite, largest) = (magnitude == infinity(ty), magnitude + 1 == infinity(ty));
    if rounding != Rounding::NearestEven {
        let unbounded = infinite || largest && rounding == Rounding::TowardZero;
        return !(infinite && rounding == Rounding::TowardZero)
            && against(size(ty, magnitude)).is_ge()
            && (unbounded || against(size(ty, magnitude + 1)).is_lt());
    }
    // The middles between it and its neighbours, twice.
    let even = magnitude & 1 == 0;
    let twice = |float: u64| {
        let middle = size(ty, float).plus(&size(ty, float + 1)).times(below);
        above.size.plus(&above.size).compare(&middle)
    };
    let low =
        magnitude == 0 || twice(magnitude - 1).is_gt() || even && twice(magnitude - 1).is_eq();
    low && (infinite || twice(magnitude).is_lt() || even && twice(magnitude).is_eq())
}

const ROUNDINGS: [Rounding; 3] =
    [Rounding::NearestEven, Rounding::TowardZero, Rounding::TowardZeroOverflowing];
const WIDTHS: [Type; 3] = [Type::B16, Type::B32, Type::B64];

fn model(rounding: Rounding) -> Numerics {
    Numerics { rounding, ..Numerics::REFERENCE }
}

/// Floats at which a format ends, then any.
struct Floats {
    rng: Rng,
    ty: Type,
}

impl Floats {
    fn next(&mut self) -> u64 {
        let (top, infinity) = (self.ty.bits() - 1, infinity(self.ty));
        let least = infinity & infinity.wrapping_neg();
        let one = (infinity >> 1) & !(least - 1) & !(1 << (top - 1));
        let magnitude = match self.rng.below(12) {
            0 => 0,
            1 => 1,
            2 => least - 1,
            3 => least,
            4 => one,
            5 => one + 1,
            6 => one - 1,
            7 => infinity - 1,
            8 => infinity,
            // Near one another, so that sums cancel and products are in range.
            9 | 10 => (one + self.rng.below(64) as u64 * least / 4) ^ (self.rng.bits() % least),
            _ => self.rng.bits(),
        };
        (magnitude & ((1 << top) - 1)) | (self.rng.bits() & 1) << top
    }
}

#[test]
fn sums_products_quotients_and_roots_are_what_is_next_to_the_exact_number() {
    let mut checked = 0;
    for ty in WIDTHS {
        let mut floats = Floats { rng: Rng::new(21), ty };
        for _ in 0..3000 {
            let args = [floats.next(), floats.next(), floats.next()];
            let [a, b, c] = args.map(|bits| number(ty, bits));
            for rounding in ROUNDINGS {
                let model = model(rounding);
                let run = |op: Op, operands: usize| {
                    let bits = eval(op, ty, ty, &args[..operands], &model).expect("computes");
                    let nearest = eval(op, ty, ty, &args[..operands], &Numerics::REFERENCE);
                    let finite = [a, b, c][..operands].iter().all(|x| x.is_finite());
                    if !finite {
                        assert_eq!(Some(bits), nearest, "{op:?} of {a:e} {b:e} {c:e}");
                    }
                    finite.then_some(bits)
                };
                let mut check = |op: Op, bits: u64, above: &Whole, below: &Natural, zero: f64| {
                    let right = is_rounded(rounding, ty, bits, above, below);
                    let got = number(ty, bits);
                    assert!(right, "{rounding:?} {op:?} {a:e} {b:e} {c:e}: {got:e}");
                    if above.size.is_zero() {
                        assert_eq!(got.is_sign_negative(), zero.is_sign_negative());
                    }
                    checked += 1;
                };
                let unit = Natural::of(1, 0);
                let square = one().size;
                if let Some(bits) = run(Op::FAdd, 2) {
                    check(Op::FAdd, bits, &units(a).plus(&units(b)), &unit, a + b);
                }
                if let Some(bits) = run(Op::FSub, 2) {
                    check(Op::FSub, bits, &units(a).plus(&units(-b)), &unit, a - b);
                }
                if let Some(bits) = run(Op::FMul, 2) {
                    check(Op::FMul, bits, &units(a).times(&units(b)), &square, a * b);
                }
                if let Some(bits) = run(Op::FMa, 3) {
                    let product = units(a).times(&units(b));
                    let sum = product.plus(&units(c).times(&one()));
                    check(Op::FMa, bits, &sum, &square, a * b + c);
                }
                if let Some(bits) = run(Op::FDiv, 2).filter(|_| b != 0.0) {
                    let mut quotient = units(a).times(&one());
                    quotient.negative ^= b < 0.0;
                    check(Op::FDiv, bits, &quotient, &units(b).size, a / b);
                }
                if let Some(bits) = run(Op::FRcp, 1).filter(|_| a != 0.0 && ty != Type::B32) {
                    let mut quotient = one().times(&one());
                    quotient.negative = a < 0.0;
                    check(Op::FRcp, bits, &quotient, &units(a).size, 1.0 / a);
                }
                let squares = a > 0.0 && ty != Type::B32 && rounding != Rounding::NearestEven;
                if let Some(bits) = run(Op::FSqrt, 1).filter(|_| squares) {
                    // The squares of the root and of the float above it stand around the operand.
                    let operand = units(a).times(&one()).size;
                    let against = |bits| {
                        let root = size(ty, bits);
                        operand.compare(&root.times(&root))
                    };
                    assert!(against(bits).is_ge() && against(bits + 1).is_lt(), "{a:e}");
                }
            }
        }
    }
    assert!(checked > 80_000, "only {checked} results were checked");
}

#[test]
fn conversions_are_what_is_next_to_the_exact_number() {
    let mut rng = Rng::new(22);
    let unit = Natural::of(1, 0);
    for rounding in ROUNDINGS {
        let model = model(rounding);
        for (from, to) in WIDTHS.iter().flat_map(|&from| WIDTHS.map(|to| (from, to))) {
            let mut floats = Floats { rng: Rng::new(23), ty: from };
            for _ in 0..1000 {
                let float = floats.next();
                let held = number(from, float);
                let got = eval(Op::FConvert, from, to, &[float], &model).expect("computes");
                match held.is_finite() {
                    true => assert!(
                        is_rounded(rounding, to, got, &units(held), &unit),
                        "{rounding:?} {held:e} to {to:?}: {got:#x}"
                    ),
                    false => assert!(!number(to, got).is_finite()),
                }
                let power = rng.below(300) as i32 - 150;
                let scaled =
                    eval(Op::FLdexp, from, from, &[float, u64::from(power as u32)], &model);
                if held.is_finite() {
                    let (above, below) = (Natural::of(1, power.max(0) as usize), -power.min(0));
                    let above = Whole {
                        negative: held.is_sign_negative(),
                        size: units(held).size.times(&above),
                    };
                    let below = Natural::of(1, below as usize);
                    let got = scaled.expect("computes");
                    assert!(
                        is_rounded(rounding, from, got, &above, &below),
                        "{rounding:?} {held:e} * 2^{power}: {got:#x}"
                    );
                }
                let integer = (rng.bits() >> rng.below(64)) & from.mask();
                let unused = 64 - from.bits();
                let signed = (integer << unused) as i64 >> unused;
                for (op, negative, size) in
                    [(Op::UToF, false, integer), (Op::SToF, signed < 0, signed.unsigned_abs())]
                {
                    let got = eval(op, from, to, &[integer], &model).expect("computes");
                    let size = Natural::of(size, UNIT);
                    let above = Whole { negative, size };
                    assert!(
                        is_rounded(rounding, to, got, &above, &unit),
                        "{rounding:?} {op:?} {integer:#x} to {to:?}: {got:#x}"
                    );
                }
            }
        }
    }
}

#[test]
fn packed_halves_and_fractions_round_as_sums_do() {
    let run = |op, args: &[u64], rounding| eval(op, Type::B32, Type::B32, args, &model(rounding));
    let bits = |x: f32| u64::from(x.to_bits());
    // The largest f32 below 2 is beyond the largest f16 below it; 65535 is beyond the largest f16.
    let below_two = bits(2f32.next_down());
    for (rounding, two, huge, largest) in [
        (Rounding::NearestEven, 0x4000, 0x7c00, f32::INFINITY),
        (Rounding::TowardZero, 0x3fff, 0x7bff, 65504.0),
        (Rounding::TowardZeroOverflowing, 0x3fff, 0x7bff, 65504.0),
    ] {
        let packed = run(Op::PackHalf, &[below_two, bits(65535.0)], rounding);
        assert_eq!(packed, Some(two | huge << 16), "{rounding:?}");
        let quantized = run(Op::FQuantize, &[bits(65535.0)], rounding);
        assert_eq!(quantized, Some(bits(largest)), "{rounding:?}");
        let fraction = run(Op::FFract, &[bits(-1e-30)], rounding).expect("computes");
        assert_eq!(fraction == bits(1.0), rounding == Rounding::NearestEven, "{fraction:#x}");
        let third = run(Op::FDot, &[below_two, below_two, below_two, bits(1.0)], rounding);
        let chain = run(Op::FMul, &[below_two, below_two], rounding)
            .and_then(|square| run(Op::FAdd, &[square, below_two], rounding));
        assert_eq!(third, chain, "{rounding:?}");
    }
    let overflow = |rounding| run(Op::PackHalf, &[bits(65536.0), 0], rounding);
    assert_eq!(overflow(Rounding::TowardZero), Some(0x7bff));
    assert_eq!(overflow(Rounding::TowardZeroOverflowing), Some(0x7c00));
}

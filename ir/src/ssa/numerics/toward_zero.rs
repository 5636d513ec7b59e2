//! Arithmetic rounded toward zero.
//!
//! Everything is computed for f64 and cut to the narrower formats afterwards: cutting twice is
//! cutting once. What is no finite number, and zeros, are the same under every rounding and go to
//! the host. Sums and cuts to f32, of which programs are full, are the host's with its error taken
//! back. Everything else is computed in integers, and so is what overflows.

use super::Rounding;

/// A format by its precision, the exponent of its least denormal and that of the first power of
/// two beyond it.
struct Format {
    precision: i32,
    least: i32,
    beyond: i32,
    largest: f64,
}

const F64: Format = Format { precision: 53, least: -1074, beyond: 1024, largest: f64::MAX };
const F32: Format = Format { precision: 24, least: -149, beyond: 128, largest: f32::MAX as f64 };
const F16: Format = Format { precision: 11, least: -24, beyond: 16, largest: 65504.0 };

/// size * 2^exponent, with a sign.
#[derive(Copy, Clone)]
struct Number {
    negative: bool,
    size: u128,
    exponent: i32,
}

impl Number {
    /// Of a finite float.
    fn of(x: f64) -> Number {
        let bits = x.to_bits();
        let field = (bits >> 52 & 0x7ff) as i32;
        let hidden = u64::from(field != 0) << 52;
        Number {
            negative: x.is_sign_negative(),
            size: (bits & (u64::MAX >> 12) | hidden).into(),
            exponent: field.max(1) - 1075,
        }
    }

    /// With its highest bit at 2^126, so that a sum of two has room; not of 0.
    fn raised(self) -> Number {
        let by = self.size.leading_zeros() as i32 - 1;
        Number { size: self.size << by, exponent: self.exponent - by, ..self }
    }

    /// The exponent of the first power of two above the size.
    fn top(self) -> i32 {
        self.exponent + 128 - self.size.leading_zeros() as i32
    }

    /// The sum, cut to no less than 100 bits.
    fn plus(self, other: Number) -> Number {
        if self.size == 0 || other.size == 0 {
            return if self.size == 0 { other } else { self };
        }
        let (a, b) = (self.raised(), other.raised());
        let larger = (a.exponent, a.size) >= (b.exponent, b.size);
        let (a, b) = if larger { (a, b) } else { (b, a) };
        let by = (a.exponent - b.exponent) as u32;
        let part = b.size.checked_shr(by).unwrap_or(0);
        if a.negative == b.negative {
            return Number { size: a.size + part, ..a };
        }
        // What is shifted out makes the difference less than that of the rest.
        let lost = part.checked_shl(by) != Some(b.size);
        let size = a.size - part - u128::from(lost);
        Number { negative: a.negative && size != 0, size, ..a }
    }

    /// Cut to a format.
    fn cut(self, format: &Format, rounding: Rounding) -> f64 {
        let magnitude = if self.size != 0 && self.top() > format.beyond {
            match rounding {
                Rounding::TowardZero => format.largest,
                Rounding::NearestEven | Rounding::TowardZeroOverflowing => f64::INFINITY,
            }
        } else {
            let unit = (self.top() - format.precision).max(format.least);
            let by = (unit - self.exponent).unsigned_abs();
            let kept = if unit < self.exponent {
                self.size << by
            } else {
                self.size.checked_shr(by).unwrap_or(0)
            };
            // Exact: as many bits as the format has, and none below its least unit.
            scaled(kept as u64, unit)
        };
        if self.negative { -magnitude } else { magnitude }
    }
}

/// size * 2^exponent, which is a float: the size has no more than 53 bits, and the exponent is -1074 to 971.
fn scaled(size: u64, exponent: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    if exponent >= -1022 {
        return size as f64 * power(exponent);
    }
    // 2^exponent is a denormal, and the result may be one.
    size as f64 * power(exponent + 1000) * power(-1000)
}

fn finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| x.is_finite() && *x != 0.0)
}

/// a + b in f64.
pub fn add(a: f64, b: f64, rounding: Rounding) -> f64 {
    let sum = a + b;
    if !finite(&[a, b]) {
        return sum;
    }
    if !sum.is_finite() {
        return exact_sum(a, b, rounding);
    }
    // What rounding to nearest left out, exactly: Dekker's sum of a larger and a smaller number.
    let (large, small) = if a.abs() >= b.abs() { (a, b) } else { (b, a) };
    let error = small - (sum - large);
    let away = error != 0.0 && (error < 0.0) != (sum < 0.0);
    f64::from_bits(sum.to_bits() - u64::from(away))
}

fn exact_sum(a: f64, b: f64, rounding: Rounding) -> f64 {
    Number::of(a).plus(Number::of(b)).cut(&F64, rounding)
}

/// a - b in f64.
pub fn sub(a: f64, b: f64, rounding: Rounding) -> f64 {
    add(a, -b, rounding)
}

/// a * b in f64.
pub fn mul(a: f64, b: f64, rounding: Rounding) -> f64 {
    if !finite(&[a, b]) {
        return a * b;
    }
    product(a, b).cut(&F64, rounding)
}

/// a * b + c in f64, rounded once.
pub fn fma(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    if !finite(&[a, b]) {
        return add(a * b, c, rounding);
    }
    if !c.is_finite() {
        return c;
    }
    product(a, b).plus(Number::of(c)).cut(&F64, rounding)
}

fn product(a: f64, b: f64) -> Number {
    let (x, y) = (Number::of(a), Number::of(b));
    Number {
        negative: x.negative != y.negative,
        size: x.size * y.size,
        exponent: x.exponent + y.exponent,
    }
}

/// a / b in f64.
pub fn div(a: f64, b: f64, rounding: Rounding) -> f64 {
    if !finite(&[a, b]) {
        return a / b;
    }
    let (x, y) = (Number::of(a).raised(), Number::of(b));
    let quotient = Number {
        negative: x.negative != y.negative,
        size: x.size / y.size,
        exponent: x.exponent - y.exponent,
    };
    quotient.cut(&F64, rounding)
}

/// The square root in f64.
pub fn sqrt(x: f64, rounding: Rounding) -> f64 {
    if !finite(&[x]) || x < 0.0 {
        return libm::sqrt(x);
    }
    let x = Number::of(x).raised();
    let odd = x.exponent & 1;
    let root = Number { size: (x.size << odd).isqrt(), exponent: (x.exponent - odd) / 2, ..x };
    root.cut(&F64, rounding)
}

/// x * 2^exponent in f64.
pub fn scale(x: f64, exponent: i32, rounding: Rounding) -> f64 {
    if !finite(&[x]) {
        return x;
    }
    let mut number = Number::of(x);
    number.exponent += exponent.clamp(-4000, 4000);
    number.cut(&F64, rounding)
}

/// An integer in f64, its size and its sign given.
pub fn integer(size: u64, negative: bool, rounding: Rounding) -> f64 {
    let number = Number { negative, size: size.into(), exponent: 0 };
    number.cut(&F64, rounding)
}

/// An f64 in f32.
pub fn to_f32(x: f64, rounding: Rounding) -> f32 {
    let nearest = x as f32;
    if !finite(&[x]) {
        return nearest;
    }
    if !nearest.is_finite() {
        return Number::of(x).cut(&F32, rounding) as f32;
    }
    let away = f64::from(nearest).abs() > x.abs();
    f32::from_bits(nearest.to_bits() - u32::from(away))
}

/// An f64 cut to an f16, which it holds.
pub fn to_f16(x: f64, rounding: Rounding) -> f64 {
    match finite(&[x]) {
        true => Number::of(x).cut(&F16, rounding),
        false => x,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssa::random::Rng;

    #[test]
    fn sums_and_conversions_by_the_host_are_those_in_integers() {
        let mut rng = Rng::new(1);
        let mut number = |near: i32| {
            // Close to each other, close to a format's ends, or anything.
            let exponent = match rng.below(4) {
                0 => near + rng.below(60) as i32 - 30,
                1 => [-1074, -1022, -150, -126, 127, 128, 1023][rng.below(7)] + rng.below(4) as i32,
                _ => rng.below(2046) as i32 - 1022,
            };
            let bits = match rng.below(3) {
                0 => rng.bits() & rng.bits() & rng.bits(),
                1 => rng.bits() | rng.bits() | rng.bits(),
                _ => rng.bits(),
            };
            let field = (exponent + 1023).clamp(0, 2046) as u64;
            f64::from_bits(bits & !(0x7ff << 52) | field << 52)
        };
        // Next to the largest number an error may not overflow.
        let edge = -1.5 * 2f64.powi(971);
        let edges = [f64::MAX, -f64::MAX].map(|most| [[most, edge], [edge, most], [most, -edge]]);
        let drawn = std::iter::repeat_with(|| {
            let a = number(0);
            [a, number((a.to_bits() >> 52 & 0x7ff) as i32 - 1023)]
        });
        for [a, b] in edges.into_iter().flatten().chain(drawn.take(200_000)) {
            for rounding in [Rounding::TowardZero, Rounding::TowardZeroOverflowing] {
                if finite(&[a, b]) {
                    let exact = exact_sum(a, b, rounding);
                    assert_eq!(add(a, b, rounding).to_bits(), exact.to_bits(), "{a:e} + {b:e}");
                    let cut = Number::of(a).cut(&F32, rounding) as f32;
                    assert_eq!(to_f32(a, rounding).to_bits(), cut.to_bits(), "{a:e}");
                }
            }
        }
    }
}

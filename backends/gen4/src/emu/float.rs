//! Float arithmetic: exact sums of products, rounded once toward zero; denormals are flushed. G45 vol. 4, 10.3.1.

use smallvec::SmallVec;

/// The NaN that every operation makes (undocumented: NAN).
pub const NAN: f32 = f32::from_bits(0x7fc0_0000);

/// A denormal as zero of its sign.
pub fn flush(value: f32) -> f32 {
    if value.is_subnormal() { 0.0f32.copysign(value) } else { value }
}

/// The float next to an integer toward zero. 10.4.4.
pub fn of_int(value: i64) -> f32 {
    let magnitude = value.unsigned_abs();
    let spare = (64 - magnitude.leading_zeros()).saturating_sub(24);
    let truncated = (magnitude >> spare << spare) as f32;
    if value < 0 { -truncated } else { truncated }
}

/// A float of 8 bits: sign, 3 bits of exponent with a bias of 3, 4 bits of fraction; 0 and 0x80 are zeros. 11.3.5.
pub fn of_byte(byte: u8) -> f32 {
    let sign = u32::from(byte >> 7) << 31;
    if byte & 0x7f == 0 {
        return f32::from_bits(sign);
    }
    let exponent = u32::from(byte >> 4 & 7) + 124;
    f32::from_bits(sign | exponent << 23 | u32::from(byte & 15) << 19)
}

/// An exact sum of products of floats.
#[derive(Clone, Debug, PartialEq)]
pub enum Exact {
    Nan,
    /// An infinity and whether it is negative.
    Infinite(bool),
    /// Parts of ascending magnitude whose bits do not overlap; without one a zero and whether it is negative.
    Finite(SmallVec<[f64; 4]>, bool),
}

impl Exact {
    /// A float; a denormal is flushed.
    pub fn of(value: f32) -> Exact {
        Exact::product(value, 1.0)
    }

    /// The product of two floats; denormals are flushed. 48 bits of a product fit the 53 of a part.
    pub fn product(a: f32, b: f32) -> Exact {
        let (a, b) = (flush(a), flush(b));
        let product = f64::from(a) * f64::from(b);
        let negative = product.is_sign_negative();
        if product.is_nan() {
            Exact::Nan
        } else if product.is_infinite() {
            Exact::Infinite(negative)
        } else if product == 0.0 {
            Exact::Finite(SmallVec::new(), negative)
        } else {
            Exact::Finite(SmallVec::from_slice(&[product]), negative)
        }
    }

    /// The sum. Zeros of both signs, and what cancels, are positive.
    #[must_use]
    pub fn plus(self, other: &Exact) -> Exact {
        match (self, other) {
            (Exact::Nan, _) | (_, Exact::Nan) => Exact::Nan,
            (Exact::Infinite(a), Exact::Infinite(b)) if a != *b => Exact::Nan,
            (Exact::Infinite(a), _) => Exact::Infinite(a),
            (_, Exact::Infinite(b)) => Exact::Infinite(*b),
            (Exact::Finite(mut parts, a), Exact::Finite(added, b)) => {
                let zeros = parts.is_empty() && added.is_empty();
                for part in added {
                    grow(&mut parts, *part);
                }
                let negative = match parts.last() {
                    Some(part) => *part < 0.0,
                    None => zeros && a && *b,
                };
                Exact::Finite(parts, negative)
            }
        }
    }

    /// Rounded toward zero; what is below the normal floats becomes zero of its sign, what is beyond the largest an
    /// infinity. Also whether a finite sum became an infinity.
    pub fn rounded(&self) -> (f32, bool) {
        match self {
            Exact::Nan => (NAN, false),
            Exact::Infinite(negative) => (signed(f32::INFINITY, *negative), false),
            Exact::Finite(parts, negative) => {
                let Some((largest, rest)) = leading(parts) else {
                    return (signed(0.0, *negative), false);
                };
                let magnitude = truncated(largest.abs(), rest * largest.signum());
                (signed(magnitude, *negative), magnitude.is_infinite())
            }
        }
    }
}

fn signed(magnitude: f32, negative: bool) -> f32 {
    if negative { -magnitude } else { magnitude }
}

/// Toward zero: a positive number and the sign of what is to be added below its last bit.
fn truncated(large: f64, rest: f64) -> f32 {
    const SPARE: u64 = (1 << 29) - 1;
    let mut bits = large.to_bits();
    if bits & SPARE == 0 && rest < 0.0 {
        // The sum is less than a float: the one before it is the next toward zero.
        bits -= 1;
    }
    let value = f64::from_bits(bits & !SPARE);
    if value < f64::from(f32::MIN_POSITIVE) { 0.0 } else { value as f32 }
}

/// The sum of parts to 53 bits, and a number with the sign of what is missing (Shewchuk's compress).
fn leading(parts: &[f64]) -> Option<(f64, f64)> {
    let (last, rest) = parts.split_last()?;
    let mut kept: SmallVec<[f64; 8]> = SmallVec::new();
    let mut sum = *last;
    for part in rest.iter().rev() {
        let (total, error) = two_sum(sum, *part);
        sum = total;
        if error != 0.0 {
            kept.push(total);
            sum = error;
        }
    }
    let mut missing = 0.0;
    for part in kept.iter().rev() {
        let (total, error) = two_sum(*part, sum);
        sum = total;
        if error != 0.0 {
            missing = error;
        }
    }
    Some((sum, missing))
}

/// Adds a number to parts whose bits do not overlap (Shewchuk's grow-expansion).
fn grow(parts: &mut SmallVec<[f64; 4]>, number: f64) {
    let mut sum = number;
    let mut kept = 0;
    for at in 0..parts.len() {
        let (total, error) = two_sum(sum, parts[at]);
        sum = total;
        if error != 0.0 {
            parts[kept] = error;
            kept += 1;
        }
    }
    parts.truncate(kept);
    if sum != 0.0 {
        parts.push(sum);
    }
}

/// The sum in double precision and its error, exactly (Knuth). Multiples of 2^-298 below 2^300 neither under- nor
/// overflow.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let other = sum - a;
    (sum, (a - (sum - other)) + (b - other))
}

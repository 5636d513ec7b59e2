//! Float arithmetic, each operation rounded once. 2.2, 7.
//!
//! Ours to assume [A]: sums, products and fused products are correctly rounded; denormals count as zeros of their sign in
//! arithmetic and in tests of floats, and stay in moves and packing; a NaN that arithmetic or a
//! conversion makes is 0x7fc00000; NaN saturates to 0. What is below one half of the largest step toward zero rounds to the largest finite number on cores that
//! round toward zero.

use super::inst::Modifiers;
use gpucc_ir::ssa::numerics::{NAN32, flush32};

/// How a core computes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Floats {
    /// To nearest, ties to even; else toward zero.
    pub even: bool,
    /// Denormals count as zeros.
    pub flush: bool,
}

impl Floats {
    /// An operand's value.
    pub fn operand(self, bits: u32) -> f32 {
        f32::from_bits(if self.flush { flush32(bits) } else { bits })
    }

    /// An operand behind its modifiers: floor, magnitude, sign. 2.1.
    pub fn modified(self, bits: u32, modifiers: Modifiers) -> f32 {
        let value = self.operand(bits);
        let value = if modifiers.floor { value.floor() } else { value };
        f32::from_bits(signed(value.to_bits(), modifiers))
    }

    /// The bits of a result.
    pub fn result(self, value: f64, saturate: bool) -> u32 {
        let value = if self.even { value as f32 } else { toward_zero(value) };
        let bits = if value.is_nan() { NAN32 } else { value.to_bits() };
        let bits = if self.flush && bits != NAN32 { flush32(bits) } else { bits };
        if saturate { saturated(bits) } else { bits }
    }

    /// a + b.
    pub fn add(self, a: f32, b: f32, saturate: bool) -> u32 {
        self.result(sum_to_odd(f64::from(a), f64::from(b)), saturate)
    }

    /// a * b.
    pub fn mul(self, a: f32, b: f32, saturate: bool) -> u32 {
        self.result(f64::from(a) * f64::from(b), saturate)
    }

    /// a * b + c, rounded once.
    pub fn mad(self, a: f32, b: f32, c: f32, saturate: bool) -> u32 {
        self.result(sum_to_odd(f64::from(a) * f64::from(b), f64::from(c)), saturate)
    }
}

/// Magnitude and sign of bits. 2.1.
pub const fn signed(bits: u32, modifiers: Modifiers) -> u32 {
    let bits = if modifiers.abs { bits & 0x7fff_ffff } else { bits };
    if modifiers.neg { bits ^ 0x8000_0000 } else { bits }
}

/// Within 0 and 1; NaN and negative numbers are 0.
pub fn saturated(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    if value > 0.0 { value.min(1.0).to_bits() } else { 0 }
}

/// A sum of doubles whose last bit is 1 where it is not exact: a float that is rounded from it is rounded once.
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let up = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if up { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// A double as a float, toward zero.
pub fn toward_zero(value: f64) -> f32 {
    let near = value as f32;
    if near.is_nan() || f64::from(near.abs()) <= value.abs() {
        return near;
    }
    f32::from_bits(near.to_bits() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVEN: Floats = Floats { even: true, flush: true };
    const ZERO: Floats = Floats { even: false, flush: true };

    #[test]
    fn sums_and_products_are_those_of_ieee_where_nothing_is_denormal() {
        let mut state = 7u64;
        for _ in 0..200_000 {
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let bits = (state >> 32) as u32;
                // Exponents near 1, so that sums cancel and round.
                f32::from_bits(bits & 0x807f_ffff | (110 + (bits >> 23) % 40) << 23)
            };
            let (a, b, c) = (next(), next(), next());
            assert_eq!(EVEN.add(a, b, false), (a + b).to_bits(), "{a:e} + {b:e}");
            assert_eq!(EVEN.mul(a, b, false), (a * b).to_bits(), "{a:e} * {b:e}");
            let fused = a.mul_add(b, c);
            assert_eq!(EVEN.mad(a, b, c, false), fused.to_bits(), "{a:e} * {b:e} + {c:e}");
            // Toward zero is the nearest one or the one before it.
            let cut = f32::from_bits(ZERO.mad(a, b, c, false));
            let below = f32::from_bits(fused.to_bits().saturating_sub(1));
            assert!(cut == fused || cut == below, "{cut:e} {fused:e}");
            assert!(cut.abs() <= fused.abs());
        }
    }

    #[test]
    fn edges_by_hand() {
        let inf = f32::INFINITY;
        assert_eq!(EVEN.add(inf, -inf, false), NAN32);
        assert_eq!(EVEN.mul(0.0, inf, false), NAN32);
        assert_eq!(EVEN.mul(0.0, inf, true), 0);
        assert_eq!(EVEN.mul(f32::MAX, 2.0, false), inf.to_bits());
        assert_eq!(ZERO.mul(f32::MAX, 2.0, false), f32::MAX.to_bits());
        assert_eq!(ZERO.add(1.0, 1e-30, false), 1f32.to_bits());
        assert_eq!(ZERO.add(1.0, -1e-30, false), 0x3f7f_ffff);
        // Denormals in and out.
        let tiny = f32::from_bits(5);
        assert_eq!(EVEN.operand(0x8000_0005), -0.0);
        assert_eq!(EVEN.mul(f32::MIN_POSITIVE, -0.5, false), 0x8000_0000);
        let keep = Floats { even: true, flush: false };
        assert_eq!(keep.add(tiny, tiny, false), 10);
        // Floor, then magnitude, then sign.
        let all = Modifiers { floor: true, abs: true, neg: true };
        assert_eq!(EVEN.modified((-1.5f32).to_bits(), all), -2.0);
        assert_eq!(EVEN.add(0.75, 0.75, true), 1f32.to_bits());
    }
}

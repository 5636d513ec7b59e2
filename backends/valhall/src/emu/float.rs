//! Float arithmetic with every rounding mode, clamps and comparisons. isa 4.3, 4.4.

use super::inst::{Clamp, Cmp, Round};
use gpucc_ir::ssa::numerics::{NAN16, NAN32, f16_to_f64, f64_to_f16};

/// `a + b` rounded to odd: what any narrower format rounds from it is rounded once.
pub fn sum_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// The f32 bits of an f64 that is exact or rounded to odd.
pub fn to_f32(x: f64, round: Round) -> u32 {
    if x.is_nan() {
        return NAN32;
    }
    let near = x as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    match round {
        Round::Even => bits,
        Round::Away => {
            // A tie goes to the even one; the other neighbour is the one away from zero.
            let next = f32::from_bits(bits.wrapping_add(1));
            if back.abs() < x.abs() && (f64::from(next) - x).abs() == (x - back).abs() {
                next.to_bits()
            } else {
                bits
            }
        }
        Round::Up if back < x => step_up(bits),
        Round::Down if back > x => step_down(bits),
        Round::Zero if back.abs() > x.abs() => bits - 1,
        _ => bits,
    }
}

const fn step_up(bits: u32) -> u32 {
    if bits == 0x8000_0000 || bits == 0 {
        1
    } else if bits >> 31 == 1 {
        bits - 1
    } else {
        bits + 1
    }
}

const fn step_down(bits: u32) -> u32 {
    step_up(bits ^ 0x8000_0000) ^ 0x8000_0000
}

/// The f16 bits of an f64 that is exact or rounded to odd.
pub fn to_f16(x: f64, round: Round) -> u16 {
    if x.is_nan() {
        return NAN16;
    }
    let bits = f64_to_f16(x);
    let back = f16_to_f64(bits);
    let up = |bits: u16| {
        if bits & 0x7FFF == 0 {
            1
        } else if bits >> 15 == 1 {
            bits - 1
        } else {
            bits + 1
        }
    };
    match round {
        Round::Away => {
            let next = bits + 1;
            let tie = (f16_to_f64(next) - x).abs() == (x - back).abs();
            if back.abs() < x.abs() && tie { next } else { bits }
        }
        Round::Up if back < x => up(bits),
        Round::Down if back > x => up(bits ^ 0x8000) ^ 0x8000,
        Round::Zero if back.abs() > x.abs() => bits - 1,
        _ => bits,
    }
}

/// A sum of zeros of both signs, or of equal numbers of both signs, is -0 when rounded down.
fn zero_sign(sum: f64, a: f64, b: f64, round: Round) -> f64 {
    if sum == 0.0 && round == Round::Down && a.is_sign_negative() != b.is_sign_negative() {
        -0.0
    } else {
        sum
    }
}

/// `a * b + c` of values whose product is exact in f64, ready to be rounded once.
pub fn fma_odd(a: f64, b: f64, c: f64, round: Round) -> f64 {
    let product = a * b;
    zero_sign(sum_odd(product, c), product, c, round)
}

/// `a + b`, ready to be rounded once.
pub fn add_odd(a: f64, b: f64, round: Round) -> f64 {
    zero_sign(sum_odd(a, b), a, b, round)
}

/// The larger (or smaller) operand; the other one where one is NaN, unless NaN propagates; -0 is
/// below +0.
pub fn extreme(a: f64, b: f64, max: bool, propagate: bool) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => f64::NAN,
        (true, false) if !propagate => b,
        (false, true) if !propagate => a,
        (true, false) | (false, true) => f64::NAN,
        (false, false) => {
            let less = a < b || a == b && a.is_sign_negative() && !b.is_sign_negative();
            if less == max { b } else { a }
        }
    }
}

/// `min(max(x, low), high)`.
pub fn clamped(x: f64, clamp: Clamp) -> f64 {
    let (low, high) = match clamp {
        Clamp::None => return x,
        Clamp::Positive => return extreme(x, 0.0, true, false),
        Clamp::Signed => (-1.0, 1.0),
        Clamp::Unit => (0.0, 1.0),
    };
    extreme(extreme(x, low, true, false), high, false, false)
}

/// A clamp of f32 bits.
pub fn clamp32(bits: u32, clamp: Clamp) -> u32 {
    match clamp {
        Clamp::None => bits,
        _ => to_f32(clamped(f64::from(f32::from_bits(bits)), clamp), Round::Even),
    }
}

/// A clamp of f16 bits.
pub fn clamp16(bits: u16, clamp: Clamp) -> u16 {
    match clamp {
        Clamp::None => bits,
        _ => to_f16(clamped(f16_to_f64(bits), clamp), Round::Even),
    }
}

/// A comparison of floats.
pub fn compare(cmp: Cmp, a: f64, b: f64) -> bool {
    match cmp {
        Cmp::Eq => a == b,
        Cmp::Gt => a > b,
        Cmp::Ge => a >= b,
        Cmp::Ne => a != b,
        Cmp::Lt => a < b,
        Cmp::Le => a <= b,
        Cmp::GtLt => a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_ne),
        Cmp::Total => !a.is_nan() && !b.is_nan(),
    }
}

/// A float as a whole number.
pub fn whole(x: f64, round: Round) -> f64 {
    match round {
        Round::Even => x.round_ties_even(),
        Round::Up => x.ceil(),
        Round::Down => x.floor(),
        Round::Zero => x.trunc(),
        Round::Away => x.round(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directed_modes_take_the_neighbour_on_their_side() {
        let third = 1.0 / 3.0;
        let (down, up) = (0x3EAA_AAAA, 0x3EAA_AAAB);
        assert_eq!(to_f32(third, Round::Even), up);
        assert_eq!(to_f32(third, Round::Up), up);
        assert_eq!(to_f32(third, Round::Down), down);
        assert_eq!(to_f32(third, Round::Zero), down);
        assert_eq!(to_f32(-third, Round::Up), down | 0x8000_0000);
        assert_eq!(to_f32(-third, Round::Down), up | 0x8000_0000);
        assert_eq!(to_f32(1e60, Round::Zero), 0x7F7F_FFFF);
        assert_eq!(to_f16(2049.0, Round::Even), 0x6800);
        assert_eq!(to_f16(2049.0, Round::Up), 0x6801);
        assert_eq!(to_f16(2049.0, Round::Away), 0x6801);
        assert_eq!(to_f32(16_777_217.0, Round::Away), 0x4B80_0001);
    }

    #[test]
    fn clamps_of_nan_and_of_minus_zero_are_those_of_the_manual() {
        assert_eq!(clamp32(NAN32, Clamp::Unit), 0);
        assert_eq!(clamp32(0x8000_0000, Clamp::Unit), 0);
        assert_eq!(clamp32(NAN32, Clamp::Signed), (-1f32).to_bits());
        assert_eq!(clamp32(0x8000_0000, Clamp::Signed), 0x8000_0000);
        assert_eq!(clamp32(0x8000_0000, Clamp::Positive), 0);
    }

    #[test]
    fn minima_order_the_zeros_and_leave_nan_out() {
        assert!(extreme(0.0, -0.0, false, false).is_sign_negative());
        assert!(!extreme(-0.0, 0.0, true, false).is_sign_negative());
        assert_eq!(extreme(f64::NAN, 2.0, true, false), 2.0);
        assert!(extreme(f64::NAN, 2.0, true, true).is_nan());
    }
}

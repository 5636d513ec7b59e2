//! Special functions by tables and reduction: what each instruction of such a sequence computes,
//! and the functions that the sequences make of them.
//!
//! Nobody publishes the tables behind these instructions. Each is therefore *defined* here as the
//! correctly rounded value of what it stands for (the names are those of the public assembler of the one machine that has them); lowering emits
//! the sequences, the emulator executes the instructions one by one, and the folder and the interpreter
//! call the compositions: all four agree to the bit because they call the same functions.
//! Instructions whose meaning no document gives (FEXP_TABLE, FLOG_TABLE, FRCP_APPROX, FATAN_TABLE, ...)
//! are not defined here and not emitted.

use super::{Function, Functions, Perturbation, add_to_odd, exact};

/// Units of the fixed-point operand of FEXP: 2^-24.
const FIXED: f64 = 16_777_216.0;
/// 1.5 * 2^19: a sum with it has units of 1/16, the steps of the sine table in quarter turns.
pub const SINCOS_BIAS: f32 = 786_432.0;
/// 2 / pi.
pub const TWO_OVER_PI: f32 = std::f32::consts::FRAC_2_PI;
/// -pi / 2.
pub const MINUS_HALF_PI: f32 = -std::f32::consts::FRAC_PI_2;

/// FMA_RSCALE.f32: (a * b + c) * 2^d, rounded once.
pub fn fma_rscale(a: f32, b: f32, c: f32, d: i32) -> f32 {
    let sum = add_to_odd(f64::from(a) * f64::from(b), f64::from(c));
    // Beyond +-600 every finite f32 has become zero or infinity, and f64 still holds the product.
    libm::scalbn(sum, d.clamp(-600, 600)) as f32
}

/// LDEXP.f32 to nearest even: a * 2^k, rounded once.
pub fn ldexp(a: f32, k: i32) -> f32 {
    libm::scalbn(f64::from(a), k.clamp(-450, 450)) as f32
}

/// Fraction and exponent with `x = fraction * 2^exponent`: x itself and 0 for zero, infinity and NaN.
fn frexp(x: f32) -> (f64, i32) {
    let x = f64::from(x);
    if x == 0.0 || !x.is_finite() { (x, 0) } else { libm::frexp(x) }
}

/// FREXPM.f32: the fraction, in [0.5, 1) with the sign of x.
pub fn frexpm(x: f32) -> f32 {
    frexp(x).0 as f32
}

/// FREXPE.f32: the exponent that belongs to [`frexpm`].
pub fn frexpe(x: f32) -> i32 {
    frexp(x).1
}

fn frexp_log(x: f32) -> (f64, i32) {
    let (fraction, exponent) = frexp(x);
    // [0.5, 1) becomes [0.75, 1) and, a power lower, [1, 1.5).
    if fraction.abs() < 0.75 && fraction != 0.0 {
        (fraction * 2.0, exponent - 1)
    } else {
        (fraction, exponent)
    }
}

/// FREXPM.f32.log: the fraction, in [0.75, 1.5) with the sign of x.
pub fn frexpm_log(x: f32) -> f32 {
    frexp_log(x).0 as f32
}

/// FREXPE.f32.log: the exponent that belongs to [`frexpm_log`].
pub fn frexpe_log(x: f32) -> i32 {
    frexp_log(x).1
}

fn frexp_sqrt(x: f32) -> (f64, i32) {
    let (fraction, exponent) = frexp(x);
    // An even exponent: [0.5, 1) as it is, or half of it one power higher.
    if exponent & 1 != 0 { (fraction * 0.5, exponent + 1) } else { (fraction, exponent) }
}

/// FREXPM.f32.sqrt: the fraction, in [0.25, 1) with the sign of x, to an even exponent.
pub fn frexpm_sqrt(x: f32) -> f32 {
    frexp_sqrt(x).0 as f32
}

/// FREXPE.f32.sqrt: half of the even exponent that belongs to [`frexpm_sqrt`].
pub fn frexpe_sqrt(x: f32) -> i32 {
    frexp_sqrt(x).1 / 2
}

/// FADD_LSCALE.f32: a + m, where b = m * 2^e with m as [`frexpm_log`] gives it; rounded once.
pub fn fadd_lscale(a: f32, b: f32) -> f32 {
    a + frexpm_log(b)
}

/// FLOGD.f32: log2(m) / (m - 1) for x = m * 2^e with m in [0.75, 1.5), rounded once; at m = 1 its limit
/// 1 / ln 2. Zero and +infinity give +infinity, so that the product with m - 1 is the logarithm;
/// negative numbers and NaN give NaN.
pub fn flogd(x: f32) -> f32 {
    if x.is_nan() || x < 0.0 {
        return f32::NAN;
    }
    if x == 0.0 || x.is_infinite() {
        return f32::INFINITY;
    }
    let (m, _) = frexp_log(x);
    if m == 1.0 {
        return std::f64::consts::LOG2_E as f32;
    }
    (libm::log2(m) / (m - 1.0)) as f32
}

/// F32_TO_S32 to nearest even, saturating; NaN gives 0.
pub fn f32_to_s32_rte(x: f32) -> i32 {
    // The cast saturates and makes 0 of NaN.
    x.round_ties_even() as i32
}

/// FEXP.f32: 2^(fixed / 2^24), rounded once. `float` is the same number before it was converted, for
/// what the fixed-point number cannot hold: from magnitude 2^31 on, and for NaN, it decides alone.
pub fn fexp(fixed: i32, float: f32) -> f32 {
    let exponent = if float.abs() < 2_147_483_648.0 { f64::from(fixed) } else { f64::from(float) };
    libm::exp2(exponent / FIXED) as f32
}

/// FSIN_TABLE.u6: sin(k pi / 32) for the low six bits k, rounded once.
pub fn fsin_table(bits: u32) -> f32 {
    exact::sin_turns64(f64::from(bits & 63) / 64.0) as f32
}

/// FCOS_TABLE.u6: cos(k pi / 32) for the low six bits k, rounded once.
pub fn fcos_table(bits: u32) -> f32 {
    exact::cos_turns64(f64::from(bits & 63) / 64.0) as f32
}

/// f + e f' + (e^2 / 2) f'' with f'' = -f, in three instructions: FMUL_RSCALE.f32 (as FMA_RSCALE with
/// -0) makes h = e f / 2, FADD makes f' - h, and FMA the sum.
fn taylor(value: f32, derivative: f32, e: f32) -> f32 {
    let half = fma_rscale(e, value, -0.0, -1);
    super::fma32(e, derivative - half, value)
}

/// The special-function unit: its instructions may be off within the bounds of a perturbation, and are exact without one.
/// Results that are no normal numbers stay, and so do those for 1 and the table's 0, 1 and -1.
#[derive(Copy, Clone, Debug)]
pub struct Unit<'a>(pub Option<&'a Perturbation>);

/// Without errors.
const EXACT: Unit<'static> = Unit(None);

impl Unit<'_> {
    fn near(self, function: Function, x: f32, result: f32, ulps: fn(&Perturbation) -> u32) -> f32 {
        match self.0 {
            Some(errors) if result.is_normal() && x != 1.0 => {
                errors.near(result, (x, function), ulps(errors))
            }
            _ => result,
        }
    }

    /// An entry of a table, by the low six bits.
    fn entry(self, function: Function, bits: u32, result: f32) -> f32 {
        match self.0 {
            Some(errors) if result != 0.0 && result.abs() != 1.0 => {
                errors.near_absolute(result, ((bits & 63) as f32, function))
            }
            _ => result,
        }
    }

    /// FRCP.f32.
    pub fn frcp(self, x: f32) -> f32 {
        self.near(Function::Rcp, x, exact::rcp(x), |errors| errors.rcp_ulps)
    }
    /// FRSQ.f32.
    pub fn frsq(self, x: f32) -> f32 {
        self.near(Function::Rsq, x, exact::rsq(x), |errors| errors.rsq_ulps)
    }
    /// [`fexp`].
    pub fn fexp(self, fixed: i32, float: f32) -> f32 {
        self.near(Function::Exp2, float, fexp(fixed, float), |errors| errors.exp2_ulps)
    }
    /// [`flogd`].
    pub fn flogd(self, x: f32) -> f32 {
        self.near(Function::Log2, x, flogd(x), |errors| errors.log2_ulps)
    }
    /// [`fsin_table`].
    pub fn fsin_table(self, bits: u32) -> f32 {
        self.entry(Function::SinTurns, bits, fsin_table(bits))
    }
    /// [`fcos_table`].
    pub fn fcos_table(self, bits: u32) -> f32 {
        self.entry(Function::CosTurns, bits, fcos_table(bits))
    }

    /// 2^(x * multiplier): FMA_RSCALE(x, multiplier, -0, 24), F32_TO_S32, FEXP.
    fn power(self, x: f32, multiplier: f32) -> f32 {
        let scaled = fma_rscale(x, multiplier, -0.0, 24);
        self.fexp(f32_to_s32_rte(scaled), scaled)
    }

    /// FMA(FLOGD(x), FADD_LSCALE(-1, x), S32_TO_F32(FREXPE.log(x))).
    fn log2(self, x: f32) -> f32 {
        super::fma32(self.flogd(x), fadd_lscale(-1.0, x), frexpe_log(x) as f32)
    }

    /// FRCP(FRSQ(x)).
    fn sqrt(self, x: f32) -> f32 {
        self.frcp(self.frsq(x))
    }

    /// The table index in the low bits, what it leaves of the angle, and both table entries.
    fn sincos(self, x: f32) -> (f32, f32, f32) {
        let index = super::fma32(x, TWO_OVER_PI, SINCOS_BIAS);
        let rest = super::fma32(index - SINCOS_BIAS, MINUS_HALF_PI, x);
        let bits = index.to_bits();
        (rest, self.fsin_table(bits), self.fcos_table(bits))
    }

    /// The nearest multiple of pi / 32 from the table and a second-order step.
    fn sin(self, x: f32) -> f32 {
        let (e, sin, cos) = self.sincos(x);
        taylor(sin, cos, e)
    }

    /// The same of the cosine.
    fn cos(self, x: f32) -> f32 {
        let (e, sin, cos) = self.sincos(x);
        taylor(cos, -sin, e)
    }
}

/// The functions of x (and y) where each instruction errs. Turns are no operand that lowering knows.
fn sequences(errors: &Perturbation, function: Function, x: f32, y: f32) -> Option<f32> {
    let unit = Unit(Some(errors));
    Some(match function {
        Function::Rcp => unit.frcp(x),
        Function::Rsq => unit.frsq(x),
        Function::Sqrt => unit.sqrt(x),
        Function::Exp2 => unit.power(x, 1.0),
        Function::Exp => unit.power(x, std::f32::consts::LOG2_E),
        Function::Log2 => unit.log2(x),
        Function::Pow => unit.power(unit.log2(x), y),
        Function::Sin => unit.sin(x),
        Function::Cos => unit.cos(x),
        Function::SinTurns | Function::CosTurns => return None,
    })
}

/// 2^x.
pub fn exp2(x: f32) -> f32 {
    EXACT.power(x, 1.0)
}

/// e^x: 2^(x * log2 e).
pub fn exp(x: f32) -> f32 {
    EXACT.power(x, std::f32::consts::LOG2_E)
}

/// Base-2 logarithm.
pub fn log2(x: f32) -> f32 {
    EXACT.log2(x)
}

/// x^y: 2^(log2(x) * y).
pub fn pow(x: f32, y: f32) -> f32 {
    EXACT.power(log2(x), y)
}

/// Square root.
pub fn sqrt(x: f32) -> f32 {
    EXACT.sqrt(x)
}

/// Sine.
pub fn sin(x: f32) -> f32 {
    EXACT.sin(x)
}

/// Cosine.
pub fn cos(x: f32) -> f32 {
    EXACT.cos(x)
}

/// A level of detail in the texture unit's signed 8.8 bits: clamped to -16..=16 (NaN to -16) and
/// rounded to the nearest 256th, ties to even. isa/valhall_rogue.md 1.11.
pub fn level(x: f32) -> f32 {
    let within = if x > -16.0 { x.min(16.0) } else { -16.0 };
    (within * 256.0).round_ties_even() / 256.0
}

/// All functions of the model.
pub const FUNCTIONS: Functions = Functions {
    rcp: exact::rcp,
    rsq: exact::rsq,
    sqrt,
    exp2,
    log2,
    sin_turns: exact::sin_turns,
    cos_turns: exact::cos_turns,
    exp,
    pow,
    sin,
    cos,
    level,
    sequences,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units of the last place of the exact value.
    fn ulps(got: f32, want: f64) -> f64 {
        let near = (want as f32).abs();
        let unit = f64::from(f32::from_bits(near.to_bits() + 1)) - f64::from(near);
        (f64::from(got) - want).abs() / unit
    }

    /// 40 000 numbers between two bounds, evenly spread.
    fn walk(low: f64, high: f64) -> impl Iterator<Item = f32> {
        (0..40_000u32).map(move |i| (low + (high - low) * f64::from(i) / 39_999.0) as f32)
    }

    #[test]
    fn exponentials_are_within_wgsls_bounds() {
        for x in walk(-126.0, 127.9) {
            let bound = 3.0 + 2.0 * f64::from(x).abs();
            assert!(ulps(exp2(x), libm::exp2(x.into())) <= bound, "exp2 {x}");
        }
        for x in walk(-87.0, 88.0) {
            let bound = 3.0 + 2.0 * f64::from(x).abs();
            assert!(ulps(exp(x), libm::exp(x.into())) <= bound, "exp {x}");
        }
        assert_eq!(exp2(0.0), 1.0);
        assert_eq!(exp2(-3.0), 0.125);
        assert_eq!(exp2(128.0), f32::INFINITY);
        assert_eq!(exp2(-200.0), 0.0);
        assert_eq!(exp2(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp2(f32::NEG_INFINITY), 0.0);
        assert!(exp2(f32::NAN).is_nan());
    }

    #[test]
    fn logarithms_are_within_wgsls_bounds() {
        for x in walk(1e-6, 0.5).chain(walk(2.0, 1e9)) {
            assert!(ulps(log2(x), libm::log2(x.into())) <= 3.0, "log2 {x}");
        }
        for x in walk(0.5, 2.0) {
            let error = (f64::from(log2(x)) - libm::log2(x.into())).abs();
            assert!(error <= 2f64.powi(-21), "log2 {x}");
        }
        assert_eq!(log2(1.0), 0.0);
        assert_eq!(log2(8.0), 3.0);
        assert_eq!(log2(f32::from_bits(1)), -149.0);
        assert_eq!(log2(0.0), f32::NEG_INFINITY);
        assert_eq!(log2(-0.0), f32::NEG_INFINITY);
        assert_eq!(log2(f32::INFINITY), f32::INFINITY);
        assert!(log2(-1.0).is_nan());
    }

    #[test]
    fn circular_functions_are_within_wgsls_bounds() {
        for x in walk(-std::f64::consts::PI, std::f64::consts::PI) {
            let wide = f64::from(x);
            assert!((f64::from(sin(x)) - libm::sin(wide)).abs() <= 2f64.powi(-11));
            assert!((f64::from(cos(x)) - libm::cos(wide)).abs() <= 2f64.powi(-11));
        }
        assert_eq!(sin(0.0), 0.0);
        assert_eq!(cos(0.0), 1.0);
    }

    #[test]
    fn roots_and_powers_are_within_what_wgsl_lets_them_inherit() {
        for x in walk(1e-9, 1e9) {
            assert!(ulps(sqrt(x), libm::sqrt(x.into())) <= 2.0, "sqrt {x}");
        }
        for x in walk(0.01, 50.0) {
            // exp2(y log2 x) with the bounds of both functions.
            let y = 2.5;
            let exponent = f64::from(y) * libm::log2(x.into());
            let bound = 3.0 + 2.0 * exponent.abs() + 8.0 * exponent.abs() + 8.0;
            assert!(ulps(pow(x, y), libm::exp2(exponent)) <= bound, "{x} ^ {y}");
        }
        assert_eq!(sqrt(0.0), 0.0);
        assert_eq!(sqrt(-0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!(sqrt(f32::INFINITY), f32::INFINITY);
        assert_eq!(pow(2.0, 10.0), 1024.0);
        assert_eq!(pow(0.0, 2.0), 0.0);
    }

    #[test]
    fn fractions_and_exponents_multiply_back_to_what_they_were_taken_from() {
        let mut bits = 1u32;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let x = f32::from_bits(bits);
            if !x.is_finite() || x == 0.0 {
                continue;
            }
            let back = |m: f32, e: i32| libm::scalbn(f64::from(m), e);
            assert_eq!(back(frexpm(x), frexpe(x)), f64::from(x));
            assert_eq!(back(frexpm_log(x), frexpe_log(x)), f64::from(x));
            assert_eq!(back(frexpm_sqrt(x), 2 * frexpe_sqrt(x)), f64::from(x));
            assert!((0.5..1.0).contains(&frexpm(x).abs()));
            assert!((0.75..1.5).contains(&frexpm_log(x).abs()));
            assert!((0.25..1.0).contains(&frexpm_sqrt(x).abs()));
        }
    }

    #[test]
    fn scaling_rounds_once() {
        // 2^-149 * 1.5 rounded first would lose its half.
        let least = f32::from_bits(1);
        assert_eq!(fma_rscale(least, 1.5, 0.0, 1), f32::from_bits(3));
        assert_eq!(fma_rscale(3.0, 2.0, 1.0, -1), 3.5);
        assert_eq!(ldexp(1.0, -149), least);
        assert_eq!(ldexp(1.0, 128), f32::INFINITY);
    }
}

//! Numeric models: what every float operation gives, to the bit, on the reference and on a machine.
//!
//! WGSL and SPIR-V leave much open: denormals may be flushed, `fma` may round twice, `sqrt` may be
//! some units off. A tolerance on a shader's output therefore proves nothing. Instead each target
//! publishes one [`Numerics`], and [`super::eval`](fn@super::eval) is exact under it: the constant
//! folder, the interpreter and the expansions all compute with it, and an emulator calls the same
//! published functions.
//!
//! # What holds under every model
//! - What rounds, rounds once and as [`Numerics::rounding`] says: sums, products, quotients, roots,
//!   conversions. Approximated functions ([`Functions`]) are what they are.
//! - A NaN that an operation makes is [`NAN32`], [`NAN16`] or the model's f64 NaN; `fneg`, `fabs`,
//!   moves, selects and memory keep whatever bits they are given.
//! - Float to integer goes toward zero, saturates, and NaN gives 0. A machine whose instruction does
//!   otherwise out of range clamps first in its expansion, so that is no knob.
//! - `fsat` of NaN is 0. `ffloor`, `fceil`, `ftrunc`, `fround` keep the sign of a zero result.
//! - Nothing depends on the host: transcendental functions come from `libm`'s portable code in f64
//!   (below one unit of f64) and are rounded once. That is the correctly rounded result but for
//!   about one argument in 2^28 and always one of the two neighbours.

pub mod exact;
pub mod tabled;
pub mod toward_zero;
pub mod truncated;

/// The f32 NaN that operations make.
pub const NAN32: u32 = 0x7fc0_0000;
/// The f16 NaN that operations make.
pub const NAN16: u16 = 0x7e00;
/// The f64 NaN that operations make, where the model says nothing else.
pub const NAN64: u64 = 0x7ff8_0000_0000_0000;

/// What happens to denormals of one format: a flushed one becomes a zero of its own sign.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Denormals {
    /// Denormal operands count as zero.
    pub flush_inputs: bool,
    /// Denormal results become zero, after rounding.
    pub flush_outputs: bool,
}

impl Denormals {
    /// Operands and results keep denormals.
    pub const KEEP: Denormals = Denormals { flush_inputs: false, flush_outputs: false };
    /// Operands and results are flushed.
    pub const FLUSH: Denormals = Denormals { flush_inputs: true, flush_outputs: true };
}

/// The rounding direction (IEEE 754, 4.3). Both are the same for a number and its opposite.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even; infinity from half a unit beyond the largest finite number.
    NearestEven,
    /// Toward zero; what is beyond the largest finite number becomes that number.
    TowardZero,
    /// Toward zero, but the power of two beyond the largest finite number, and what is above it,
    /// becomes infinity.
    TowardZeroOverflowing,
}

/// How often `fma` rounds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fma {
    /// Once, after the addition (IEEE 754 fusedMultiplyAdd).
    Fused,
    /// The product, then the sum; a denormal product is flushed if results are.
    Twice,
}

/// What `fmin` and `fmax` give when an operand is NaN.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NanRule {
    /// The other operand; [`NAN32`] when both are (IEEE 754-2008 minNum, DX10).
    Other,
    /// The second operand (`a < b ? a : b`).
    Second,
    /// NaN.
    Nan,
}

/// What `fmin` and `fmax` give when the operands are zeros of both signs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ZeroRule {
    /// -0 is less than +0.
    Ordered,
    /// They compare equal: `fmin` is `a < b ? a : b`, `fmax` is `a >= b ? a : b`, by the comparisons of the machine, which
    /// take denormals for zeros where operands are flushed. `fsat` of a denormal is +0 there.
    Compared,
}

/// In which order `fdot` adds its products.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DotOrder {
    /// First pair first.
    Ascending,
    /// Last pair first.
    Descending,
    /// (first + second) + (third + fourth).
    Pairwise,
    /// At once: the exact sum of the exact products is rounded. Sums of other widths than 32 bits are ascending.
    Exact,
}

/// How `fdot` computes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Dot {
    /// Order of the sum.
    pub order: DotOrder,
    /// Later products are not rounded before they are added (a chain of fused multiply-adds; not
    /// with [`DotOrder::Pairwise`]).
    pub fused: bool,
    /// A dot product of fewer than this many pairs is filled up with products +0 * +0 at the end.
    /// It shows only in the sign of a zero: a machine that has one four-wide instruction says 4.
    pub filled_to: u8,
}

/// The functions that machines approximate. Operands arrive flushed, results are flushed afterwards.
/// Only for f32: f16 and f64 are always [`exact`].
#[derive(Copy, Clone, Debug)]
pub struct Functions {
    /// 1 / x.
    pub rcp: fn(f32) -> f32,
    /// 1 / sqrt(x).
    pub rsq: fn(f32) -> f32,
    /// Square root.
    pub sqrt: fn(f32) -> f32,
    /// 2^x.
    pub exp2: fn(f32) -> f32,
    /// Base-2 logarithm.
    pub log2: fn(f32) -> f32,
    /// sin(2 pi x).
    pub sin_turns: fn(f32) -> f32,
    /// cos(2 pi x).
    pub cos_turns: fn(f32) -> f32,
    /// e^x.
    pub exp: fn(f32) -> f32,
    /// x^y for x >= 0.
    pub pow: fn(f32, f32) -> f32,
    /// Sine of an angle in radians.
    pub sin: fn(f32) -> f32,
    /// Cosine of an angle in radians.
    pub cos: fn(f32) -> f32,
    /// A level of detail or a bias as the texture unit takes it.
    pub level: fn(f32) -> f32,
    /// What the functions give that are sequences of instructions, each of which errs.
    pub sequences: Sequences,
}

/// A function of x (and y) under errors; [`None`] where it is one instruction, or exact.
pub type Sequences = fn(&Perturbation, Function, f32, f32) -> Option<f32>;

/// A function that machines approximate, by its number in a perturbation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Function {
    /// 1 / x.
    Rcp = 1,
    /// 1 / sqrt(x).
    Rsq,
    /// Square root.
    Sqrt,
    /// 2^x.
    Exp2,
    /// Base-2 logarithm.
    Log2,
    /// sin(2 pi x).
    SinTurns,
    /// cos(2 pi x).
    CosTurns,
    /// e^x.
    Exp,
    /// x^y.
    Pow,
    /// Sine of radians.
    Sin,
    /// Cosine of radians.
    Cos,
}

impl Functions {
    /// All rounded once: [`exact`].
    pub const EXACT: Functions = Functions {
        rcp: exact::rcp,
        rsq: exact::rsq,
        sqrt: exact::sqrt,
        exp2: exact::exp2,
        log2: exact::log2,
        sin_turns: exact::sin_turns,
        cos_turns: exact::cos_turns,
        exp: exact::exp,
        pow: exact::pow,
        sin: exact::sin,
        cos: exact::cos,
        level: core::convert::identity,
        sequences: |_, _, _, _| None,
    };

    /// Those of one operand that machines have are rounded once toward zero: [`truncated`].
    pub const TRUNCATED: Functions = Functions {
        rcp: truncated::rcp,
        rsq: truncated::rsq,
        sqrt: truncated::sqrt,
        exp2: truncated::exp2,
        log2: truncated::log2,
        ..Functions::EXACT
    };
}

/// Adversarial error: each approximated function is off by a pseudo-random amount within the bound
/// that its machine declares, a pure function of seed, function and operand. Units count from the
/// exact value, but for functions that are sequences: there, from what a table gives. Results that are zero,
/// infinite or NaN stay, and so do the points that manuals promise: rcp, rsq and sqrt of 1, log2 of
/// 1, exp2 of 0, sin and cos of 0.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Perturbation {
    /// Selects the errors.
    pub seed: u64,
    /// Units in the last place, either way.
    pub rcp_ulps: u32,
    /// Units in the last place, either way.
    pub rsq_ulps: u32,
    /// Units in the last place, either way.
    pub sqrt_ulps: u32,
    /// Units in the last place, either way.
    pub exp2_ulps: u32,
    /// Units in the last place, either way.
    pub log2_ulps: u32,
    /// Absolute, either way; results stay within -1..=1.
    pub sin_cos_absolute: f32,
}

impl Perturbation {
    /// A result that is off by at most so many units in the last place, by an operand and the function. An error
    /// never makes a result zero, infinite or of the other sign.
    pub fn near(&self, result: f32, (operand, function): (f32, Function), ulps: u32) -> f32 {
        let salt = (function as u64) << 56;
        let noise = mix(self.seed ^ salt ^ u64::from(operand.to_bits()));
        let steps = (noise % (2 * u64::from(ulps) + 1)) as i64 - i64::from(ulps);
        let magnitude = i64::from(result.to_bits() & 0x7fff_ffff) + steps;
        let magnitude = magnitude.clamp(1, 0x7f7f_ffff) as u32;
        f32::from_bits((result.to_bits() & 0x8000_0000) | magnitude)
    }

    /// As [`Perturbation::near`], where the units count from the exact value: a result that was rounded is off already, so
    /// that an error of a whole unit may only lead across the exact value.
    fn near_exact(&self, (result, exact): (f32, f64), of: (f32, Function), ulps: u32) -> f32 {
        let found = self.near(result, of, ulps);
        // The unit below the value, or that of denormals.
        let (bias, fraction) = (1023, 52);
        let exponent = ((exact.to_bits() >> fraction & 0x7ff) as i32 - bias).max(-126);
        let allowed = f64::from(ulps) * libm::ldexp(1.0, exponent - 23);
        let beyond = (f64::from(found) - exact).abs() > allowed;
        if ulps == 0 || !beyond {
            return found;
        }
        // Rounding is off by less than a unit, so one step back suffices.
        let back =
            if found.abs() > result.abs() { found.to_bits() - 1 } else { found.to_bits() + 1 };
        f32::from_bits(back)
    }

    /// A sine or cosine that is off by at most [`Perturbation::sin_cos_absolute`], by an operand and the function.
    pub fn near_absolute(&self, result: f32, (operand, function): (f32, Function)) -> f32 {
        let salt = (function as u64) << 56;
        let noise = mix(self.seed ^ salt ^ u64::from(operand.to_bits()));
        let unit = (noise >> 11) as f64 / (1u64 << 53) as f64;
        let error = (2.0 * unit - 1.0) * f64::from(self.sin_cos_absolute);
        ((f64::from(result) + error) as f32).clamp(-1.0, 1.0)
    }
}

/// An exactly defined numeric model.
#[derive(Copy, Clone, Debug)]
pub struct Numerics {
    /// What reports call it.
    pub name: &'static str,
    /// Rounding of whatever rounds, in every format.
    pub rounding: Rounding,
    /// Denormals of f32.
    pub f32_denormals: Denormals,
    /// Denormals of f16.
    pub f16_denormals: Denormals,
    /// Denormals of f64.
    pub f64_denormals: Denormals,
    /// The f64 NaN that operations make.
    pub nan64: u64,
    /// True when conversions between f32 and f64 keep the sign of a NaN, and its fraction where it
    /// becomes wider, and `fldexp` of an f64 NaN gives it back; false when they make the model's NaN.
    pub f64_keeps_nans: bool,
    /// True when `fneg` and `fabs` flush as arithmetic does (source modifiers of an ALU
    /// instruction); false when they only touch the sign bit.
    pub sign_ops_flush: bool,
    /// True when `fmin`, `fmax`, `fsat` flush as arithmetic does.
    pub min_max_flush: bool,
    /// Rounding of `fma`.
    pub fma: Fma,
    /// NaN in `fmin` and `fmax`.
    pub min_max_nan: NanRule,
    /// Zeros in `fmin` and `fmax`.
    pub min_max_zero: ZeroRule,
    /// Dot products.
    pub dot: Dot,
    /// True when `ffract` never gives 1.0: the largest value below it instead.
    pub fract_below_one: bool,
    /// Approximated functions.
    pub functions: Functions,
    /// True when the level of a texture that a quad asks for comes from the upper left pixel and its two neighbours, for all
    /// four; false when each pixel has the differences of its own row and column.
    pub level_of_quad: bool,
    /// True when a load outside of an image gives 0 or 1 as alpha, by the image's format, as Vulkan and WGSL permit; false when
    /// it gives 0.
    pub alpha_outside_is_free: bool,
    /// True when a comparison of a sampler whose reference is a NaN gives 0 or 1, as WGSL permits; false when it compares.
    pub nan_reference_is_free: bool,
    /// Adversarial error, if any.
    pub perturbation: Option<Perturbation>,
}

impl Numerics {
    /// The reference: IEEE 754 with denormals kept, `fma` fused, everything rounded once to nearest; `fmin` and
    /// `fmax` give the operand that is not NaN and order the zeros. Within WGSL's accuracy rules
    /// for every operation, and what `--target interp` computes with.
    pub const REFERENCE: Numerics = Numerics {
        name: "reference",
        rounding: Rounding::NearestEven,
        f32_denormals: Denormals::KEEP,
        f16_denormals: Denormals::KEEP,
        f64_denormals: Denormals::KEEP,
        nan64: NAN64,
        f64_keeps_nans: false,
        sign_ops_flush: false,
        min_max_flush: false,
        fma: Fma::Fused,
        min_max_nan: NanRule::Other,
        min_max_zero: ZeroRule::Ordered,
        dot: Dot { order: DotOrder::Ascending, fused: false, filled_to: 0 },
        fract_below_one: false,
        functions: Functions::EXACT,
        level_of_quad: false,
        alpha_outside_is_free: false,
        nan_reference_is_free: false,
        perturbation: None,
    };

    /// This model with adversarial error.
    pub const fn perturbed(self, perturbation: Perturbation) -> Numerics {
        Numerics { perturbation: Some(perturbation), ..self }
    }

    /// The f32 that these operand bits count as.
    #[inline]
    pub fn in32(&self, bits: u32) -> f32 {
        if self.f32_denormals.flush_inputs {
            f32::from_bits(flush32(bits))
        } else {
            f32::from_bits(bits)
        }
    }
    /// The bits of an f32 result: NaN made canonical, denormals flushed if they are.
    #[inline]
    pub fn out32(&self, value: f32) -> u32 {
        if value.is_nan() {
            NAN32
        } else if self.f32_denormals.flush_outputs {
            flush32(value.to_bits())
        } else {
            value.to_bits()
        }
    }
    /// An f64 in f32, rounded once.
    #[inline]
    pub fn round32(&self, value: f64) -> f32 {
        match self.rounding {
            Rounding::NearestEven => value as f32,
            rounding => toward_zero::to_f32(value, rounding),
        }
    }
    /// The value that these f16 operand bits count as (f16 arithmetic is computed in f64).
    #[inline]
    pub fn in16(&self, bits: u16) -> f64 {
        let bits = if self.f16_denormals.flush_inputs { flush16(bits) } else { bits };
        f16_to_f64(bits)
    }
    /// The bits of an f16 result: rounded once, NaN made canonical, denormals flushed if they are.
    #[inline]
    pub fn out16(&self, value: f64) -> u16 {
        let bits = f64_to_f16(match self.rounding {
            Rounding::NearestEven => value,
            rounding => toward_zero::to_f16(value, rounding),
        });
        if self.f16_denormals.flush_outputs { flush16(bits) } else { bits }
    }
    /// The f64 that these operand bits count as.
    #[inline]
    pub fn in64(&self, bits: u64) -> f64 {
        if self.f64_denormals.flush_inputs {
            f64::from_bits(flush64(bits))
        } else {
            f64::from_bits(bits)
        }
    }
    /// The bits of an f64 result: NaN made canonical, denormals flushed if they are.
    #[inline]
    pub fn out64(&self, value: f64) -> u64 {
        if value.is_nan() {
            self.nan64
        } else if self.f64_denormals.flush_outputs {
            flush64(value.to_bits())
        } else {
            value.to_bits()
        }
    }

    /// `rcp` of this model on bits, flushing and error included.
    pub fn rcp(&self, x: u32) -> u32 {
        self.approximate(x, self.functions.rcp, Function::Rcp, 1.0, |p| p.rcp_ulps)
    }
    /// `rsq` of this model on bits, flushing and error included.
    pub fn rsq(&self, x: u32) -> u32 {
        self.approximate(x, self.functions.rsq, Function::Rsq, 1.0, |p| p.rsq_ulps)
    }
    /// `sqrt` of this model on bits, flushing and error included.
    pub fn sqrt(&self, x: u32) -> u32 {
        self.approximate(x, self.functions.sqrt, Function::Sqrt, 1.0, |p| p.sqrt_ulps)
    }
    /// `exp2` of this model on bits, flushing and error included.
    pub fn exp2(&self, x: u32) -> u32 {
        self.approximate(x, self.functions.exp2, Function::Exp2, 0.0, |p| p.exp2_ulps)
    }
    /// `log2` of this model on bits, flushing and error included.
    pub fn log2(&self, x: u32) -> u32 {
        self.approximate(x, self.functions.log2, Function::Log2, 1.0, |p| p.log2_ulps)
    }
    /// `sin_turns` of this model on bits, flushing and error included.
    pub fn sin_turns(&self, x: u32) -> u32 {
        self.approximate_turns(x, self.functions.sin_turns, Function::SinTurns)
    }
    /// `cos_turns` of this model on bits, flushing and error included.
    pub fn cos_turns(&self, x: u32) -> u32 {
        self.approximate_turns(x, self.functions.cos_turns, Function::CosTurns)
    }

    /// `exp` of this model on bits; it errs as a sequence alone, for no machine has it as one instruction.
    pub fn exp(&self, x: u32) -> u32 {
        let x = self.in32(x);
        self.out32(self.sequence(Function::Exp, x, 0.0).unwrap_or_else(|| (self.functions.exp)(x)))
    }
    /// `pow` of this model on bits; it errs as a sequence alone.
    pub fn pow(&self, x: u32, y: u32) -> u32 {
        let (x, y) = (self.in32(x), self.in32(y));
        self.out32(self.sequence(Function::Pow, x, y).unwrap_or_else(|| (self.functions.pow)(x, y)))
    }
    /// `sin` of this model on bits; it errs as a sequence alone.
    pub fn sin(&self, x: u32) -> u32 {
        let x = self.in32(x);
        self.out32(self.sequence(Function::Sin, x, 0.0).unwrap_or_else(|| (self.functions.sin)(x)))
    }
    /// `cos` of this model on bits; it errs as a sequence alone.
    pub fn cos(&self, x: u32) -> u32 {
        let x = self.in32(x);
        self.out32(self.sequence(Function::Cos, x, 0.0).unwrap_or_else(|| (self.functions.cos)(x)))
    }

    /// See [`Sequences`].
    fn sequence(&self, function: Function, x: f32, y: f32) -> Option<f32> {
        (self.functions.sequences)(self.perturbation.as_ref()?, function, x, y)
    }

    fn approximate(
        &self,
        x: u32,
        rounded: fn(f32) -> f32,
        function: Function,
        fixed_point: f32,
        bound: impl Fn(&Perturbation) -> u32,
    ) -> u32 {
        let x = self.in32(x);
        if let Some(y) = self.sequence(function, x, 0.0) {
            return self.out32(y);
        }
        let mut y = rounded(x);
        if let Some(p) = &self.perturbation
            && y.is_finite()
            && y != 0.0
            && x != fixed_point
        {
            y = p.near_exact((y, exact::wide(function, x)), (x, function), bound(p));
        }
        self.out32(y)
    }

    fn approximate_turns(&self, x: u32, exact: fn(f32) -> f32, function: Function) -> u32 {
        let x = self.in32(x);
        if let Some(y) = self.sequence(function, x, 0.0) {
            return self.out32(y);
        }
        let mut y = exact(x);
        if let Some(p) = &self.perturbation
            && y.is_finite()
            && x != 0.0
        {
            y = p.near_absolute(y, (x, function));
        }
        self.out32(y)
    }
}

/// A denormal f32 becomes a zero of its sign, anything else stays.
#[inline]
pub const fn flush32(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// A denormal f16 becomes a zero of its sign, anything else stays.
#[inline]
pub const fn flush16(bits: u16) -> u16 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}

/// A denormal f64 becomes a zero of its sign, anything else stays.
#[inline]
pub const fn flush64(bits: u64) -> u64 {
    if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 0x8000_0000_0000_0000 } else { bits }
}

/// The f16 bits of f32 bits, rounded to nearest even.
pub fn half_bits(word: u32) -> u32 {
    f64_to_f16(f64::from(f32::from_bits(word))).into()
}

/// The f32 bits of f16 bits, exact.
pub fn word_bits(half: u32) -> u32 {
    (f16_to_f64(half as u16) as f32).to_bits()
}

/// The value of an f16, exact (IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits).
#[inline]
pub fn f16_to_f64(bits: u16) -> f64 {
    let fraction = u64::from(bits & 0x3ff);
    let magnitude = match (bits >> 10) & 0x1f {
        0 => fraction as f64 / f64::from(1u32 << 24),
        0x1f if fraction == 0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => f64::from_bits(((u64::from(exponent) + 1008) << 52) | (fraction << 42)),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// An f64 rounded to f16, to nearest with ties to even; too large gives infinity (from 65520), NaN
/// gives [`NAN16`]. Exact or rounded once for an f32 too, since every f32 is an f64.
#[inline]
pub fn f64_to_f16(value: f64) -> u16 {
    if value.is_nan() {
        return NAN16;
    }
    let sign = ((value.to_bits() >> 48) & 0x8000) as u16;
    let magnitude = value.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Adding and subtracting 2^(e+42) leaves a value below 2^(e+1) rounded to units of 2^(e-10):
    // f64 has 52 fraction bits, so the sum's unit is exactly the f16's unit at exponent e.
    let exponent = ((magnitude.to_bits() >> 52) as i64 - 1023).max(-14);
    let unit = f64::from_bits(((exponent + 42 + 1023) as u64) << 52);
    let rounded = (magnitude + unit) - unit;
    if rounded < 1.0 / 16384.0 {
        return sign | (rounded * 16_777_216.0) as u16;
    }
    let bits = rounded.to_bits();
    sign | (((((bits >> 52) - 1008) << 10) | ((bits >> 42) & 0x3ff)) as u16)
}

/// a + b rounded to odd: rounding this once more, to a format at least two bits narrower, gives the
/// sum rounded once (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The even neighbour was chosen: take the odd one on the side of the error.
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// a * b + c in f32, rounded once. The product of two f32 is exact in f64.
#[inline]
pub fn fma32(a: f32, b: f32, c: f32) -> f32 {
    add_to_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32
}

/// a * b + c of f16 values, ready to be rounded to f16 by [`f64_to_f16`].
#[inline]
pub fn fma16(a: f64, b: f64, c: f64) -> f64 {
    add_to_odd(a * b, c)
}

/// a * b + c in f64, rounded once.
#[inline]
pub fn fma64(a: f64, b: f64, c: f64) -> f64 {
    libm::fma(a, b, c)
}

/// splitmix64's finaliser: a bijection of 64 bits that leaves no visible pattern.
const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;

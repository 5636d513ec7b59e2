//! Definitions that take more than a line: bit fields, sums of products, minima, conversions.

use super::{Apply, sum_of_products};
use crate::ssa::Type;
use crate::ssa::numerics::{
    Denormals, Dot, DotOrder, Fma, NAN16, NAN32, NanRule, Numerics, Rounding, ZeroRule, f16_to_f64,
    f64_to_f16, flush16, flush32, flush64, fma16, fma32, fma64, toward_zero,
};

/// The value of operand bits of a float type.
#[inline]
pub(super) fn float_in(ty: Type, bits: u64, n: &Numerics) -> f64 {
    match ty {
        Type::B1 => 0.0,
        Type::B16 => n.in16(bits as u16),
        Type::B32 => n.in32(bits as u32).into(),
        Type::B64 => n.in64(bits),
    }
}

/// The bits of a result of a float type, rounded once from f64.
#[inline]
pub(super) fn float_out(ty: Type, value: f64, n: &Numerics) -> u64 {
    match ty {
        Type::B1 => 0,
        Type::B16 => n.out16(value).into(),
        Type::B32 => n.out32(n.round32(value)).into(),
        Type::B64 => n.out64(value),
    }
}

/// WGSL extractBits (17.6.8): offset and count are clamped so that they stay within the width.
#[inline]
pub(super) fn extract(value: u64, offset: u64, count: u64, width: u64, signed: bool) -> u64 {
    let offset = offset.min(width);
    let count = count.min(width - offset);
    if count == 0 {
        return 0;
    }
    let top = value << (64 - offset - count);
    if signed {
        let mask = u64::MAX >> (64 - width);
        ((top as i64 >> (64 - count)) as u64) & mask
    } else {
        top >> (64 - count)
    }
}

/// WGSL insertBits (17.6.17), with the same clamps.
#[inline]
pub(super) fn insert(value: u64, new: u64, offset: u64, count: u64, width: u32) -> u64 {
    let offset = offset.min(width.into());
    let count = count.min(u64::from(width) - offset);
    if count == 0 {
        return value;
    }
    let mask = (u64::MAX >> (64 - count)) << offset;
    (value & !mask) | ((new << offset) & mask)
}

pub(super) fn multiply_add<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    fn of<S: Steps, A: Apply>(n: &Numerics, apply: A) -> A::Out {
        let load = |bits| S::load(n, bits);
        match n.fma {
            Fma::Fused => apply.ternary(|a, b, c| S::store(S::fma(n, load(a), load(b), load(c)))),
            Fma::Twice => apply.ternary(|a, b, c| {
                let product = S::mul(n, load(a), load(b));
                S::store(S::add(n, product, load(c)))
            }),
        }
    }
    match ty {
        Type::B1 => apply.nothing(),
        Type::B16 => of::<Half, A>(n, apply),
        Type::B32 => of::<Single, A>(n, apply),
        Type::B64 => of::<Double, A>(n, apply),
    }
}

/// `fneg` and `fabs`: the sign bit alone, and a flush where the model says so.
pub(super) fn sign_op<A: Apply>(
    ty: Type,
    n: &Numerics,
    apply: A,
    change: impl Fn(u64, u64) -> u64,
) -> A::Out {
    let flushes = |d: Denormals| n.sign_ops_flush && (d.flush_inputs || d.flush_outputs);
    match ty {
        Type::B1 => apply.nothing(),
        Type::B16 => {
            let flush = flushes(n.f16_denormals);
            apply.unary(|a| flush_if(flush, Type::B16, change(a, 1 << 15)))
        }
        Type::B32 => {
            let flush = flushes(n.f32_denormals);
            apply.unary(|a| flush_if(flush, Type::B32, change(a, 1 << 31)))
        }
        Type::B64 => {
            let flush = flushes(n.f64_denormals);
            apply.unary(|a| flush_if(flush, Type::B64, change(a, 1 << 63)))
        }
    }
}

#[inline]
fn flush_if(flush: bool, ty: Type, bits: u64) -> u64 {
    match (flush, ty) {
        (false, _) | (_, Type::B1) => bits,
        (true, Type::B16) => flush16(bits as u16).into(),
        (true, Type::B32) => flush32(bits as u32).into(),
        (true, Type::B64) => flush64(bits),
    }
}

/// The value of bits of a float type as they stand.
#[inline]
fn value_of(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::B1 => 0.0,
        Type::B16 => f16_to_f64(bits as u16),
        Type::B32 => f32::from_bits(bits as u32).into(),
        Type::B64 => f64::from_bits(bits),
    }
}

fn nan_of(ty: Type, n: &Numerics) -> u64 {
    match ty {
        Type::B1 => 0,
        Type::B16 => NAN16.into(),
        Type::B32 => NAN32.into(),
        Type::B64 => n.nan64,
    }
}

fn denormals_of(ty: Type, n: &Numerics) -> Denormals {
    match ty {
        Type::B16 => n.f16_denormals,
        Type::B1 | Type::B32 => n.f32_denormals,
        Type::B64 => n.f64_denormals,
    }
}

pub(super) fn min_max<A: Apply>(ty: Type, n: &Numerics, apply: A, max: bool) -> A::Out {
    if ty == Type::B1 {
        return apply.nothing();
    }
    let denormals = denormals_of(ty, n);
    let flush = n.min_max_flush && (denormals.flush_inputs || denormals.flush_outputs);
    let (nan_rule, zero_rule, nan) = (n.min_max_nan, n.min_max_zero, nan_of(ty, n));
    let compares = compares_flushed(n, denormals);
    apply.binary(move |a_bits, b_bits| {
        let (a_bits, b_bits) = (flush_if(flush, ty, a_bits), flush_if(flush, ty, b_bits));
        let [a, b] = [a_bits, b_bits].map(|bits| value_of(ty, flush_if(compares, ty, bits)));
        if a.is_nan() || b.is_nan() {
            let other = match nan_rule {
                NanRule::Other if a.is_nan() => b_bits,
                NanRule::Other => a_bits,
                NanRule::Second => b_bits,
                NanRule::Nan => nan,
            };
            return if value_of(ty, other).is_nan() { nan } else { other };
        }
        let first = match zero_rule {
            ZeroRule::Ordered if a == b => a.is_sign_negative() != max,
            ZeroRule::Ordered | ZeroRule::Compared if max => a >= b,
            ZeroRule::Ordered | ZeroRule::Compared => a < b,
        };
        if first { a_bits } else { b_bits }
    })
}

/// The choice is a comparison of the machine, which takes denormals for zeros.
fn compares_flushed(n: &Numerics, denormals: Denormals) -> bool {
    n.min_max_zero == ZeroRule::Compared && denormals.flush_inputs
}

/// Clamped to 0..=1: NaN and -0 give +0.
pub(super) fn saturate<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    let one = match ty {
        Type::B1 => return apply.nothing(),
        Type::B16 => 0x3c00,
        Type::B32 => 0x3f80_0000,
        Type::B64 => 0x3ff0_0000_0000_0000,
    };
    let denormals = denormals_of(ty, n);
    let flush = n.min_max_flush && (denormals.flush_inputs || denormals.flush_outputs)
        || compares_flushed(n, denormals);
    apply.unary(move |bits| {
        let bits = flush_if(flush, ty, bits);
        let value = value_of(ty, bits);
        if value >= 1.0 {
            one
        } else if value > 0.0 {
            bits
        } else {
            0
        }
    })
}

pub(super) fn fraction<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    let limit = n.fract_below_one;
    match ty {
        Type::B1 => apply.nothing(),
        Type::B16 => apply.unary(|a| {
            let a = n.in16(a as u16);
            let bits = u64::from(n.out16(a - a.floor()));
            if limit && bits == 0x3c00 { 0x3bff } else { bits }
        }),
        Type::B32 => apply.unary(|a| {
            let a = n.in32(a as u32);
            let bits = Single::store(Single::add(n, a, -a.floor()));
            if limit && bits == 0x3f80_0000 { 0x3f7f_ffff } else { bits }
        }),
        Type::B64 => apply.unary(|a| {
            let a = n.in64(a);
            let bits = Double::store(Double::add(n, a, -a.floor()));
            if limit && bits == 0x3ff0_0000_0000_0000 { 0x3fef_ffff_ffff_ffff } else { bits }
        }),
    }
}

/// The format-specific steps of sums of products; sums and products are rounded and flushed each time.
trait Steps {
    type V: Copy;
    fn load(n: &Numerics, bits: u64) -> Self::V;
    fn store(value: Self::V) -> u64;
    fn mul(n: &Numerics, a: Self::V, b: Self::V) -> Self::V;
    fn add(n: &Numerics, a: Self::V, b: Self::V) -> Self::V;
    fn fma(n: &Numerics, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
}

struct Half;
struct Single;
struct Double;

impl Steps for Half {
    type V = f64;
    fn load(n: &Numerics, bits: u64) -> f64 {
        n.in16(bits as u16)
    }
    fn store(value: f64) -> u64 {
        f64_to_f16(value).into()
    }
    fn mul(n: &Numerics, a: f64, b: f64) -> f64 {
        f16_to_f64(n.out16(a * b))
    }
    fn add(n: &Numerics, a: f64, b: f64) -> f64 {
        f16_to_f64(n.out16(a + b))
    }
    fn fma(n: &Numerics, a: f64, b: f64, c: f64) -> f64 {
        f16_to_f64(n.out16(fma16(a, b, c)))
    }
}

impl Steps for Single {
    type V = f32;
    fn load(n: &Numerics, bits: u64) -> f32 {
        n.in32(bits as u32)
    }
    fn store(value: f32) -> u64 {
        value.to_bits().into()
    }
    fn mul(n: &Numerics, a: f32, b: f32) -> f32 {
        f32::from_bits(n.out32(match n.rounding {
            Rounding::NearestEven => a * b,
            _ => n.round32(f64::from(a) * f64::from(b)),
        }))
    }
    fn add(n: &Numerics, a: f32, b: f32) -> f32 {
        f32::from_bits(n.out32(match n.rounding {
            Rounding::NearestEven => a + b,
            rounding => n.round32(toward_zero::add(a.into(), b.into(), rounding)),
        }))
    }
    fn fma(n: &Numerics, a: f32, b: f32, c: f32) -> f32 {
        f32::from_bits(n.out32(match n.rounding {
            Rounding::NearestEven => fma32(a, b, c),
            // The product of two f32 is an f64.
            rounding => {
                let product = f64::from(a) * f64::from(b);
                n.round32(toward_zero::add(product, c.into(), rounding))
            }
        }))
    }
}

impl Steps for Double {
    type V = f64;
    fn load(n: &Numerics, bits: u64) -> f64 {
        n.in64(bits)
    }
    fn store(value: f64) -> u64 {
        value.to_bits()
    }
    fn mul(n: &Numerics, a: f64, b: f64) -> f64 {
        f64::from_bits(n.out64(match n.rounding {
            Rounding::NearestEven => a * b,
            rounding => toward_zero::mul(a, b, rounding),
        }))
    }
    fn add(n: &Numerics, a: f64, b: f64) -> f64 {
        f64::from_bits(n.out64(match n.rounding {
            Rounding::NearestEven => a + b,
            rounding => toward_zero::add(a, b, rounding),
        }))
    }
    fn fma(n: &Numerics, a: f64, b: f64, c: f64) -> f64 {
        f64::from_bits(n.out64(match n.rounding {
            Rounding::NearestEven => fma64(a, b, c),
            rounding => toward_zero::fma(a, b, c, rounding),
        }))
    }
}

pub(super) fn dot<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    match ty {
        Type::B1 => apply.nothing(),
        Type::B16 => apply.many(|args| dot_of::<Half>(args, n)),
        Type::B32 if n.dot.order == DotOrder::Exact => apply.many(|args| exact_dot(args, n)),
        Type::B32 => apply.many(|args| dot_of::<Single>(args, n)),
        Type::B64 => apply.many(|args| dot_of::<Double>(args, n)),
    }
}

/// The sum of exact products, rounded once.
fn exact_dot(args: &[u64], n: &Numerics) -> u64 {
    let pairs = args.len() / 2;
    let value = |at: usize| f64::from(n.in32(args[at] as u32));
    let sum = sum_of_products::to_odd((0..pairs).map(|pair| value(pair) * value(pairs + pair)));
    n.out32(n.round32(sum)).into()
}

fn dot_of<S: Steps>(args: &[u64], n: &Numerics) -> u64 {
    let Dot { order, fused, filled_to } = n.dot;
    let pairs = args.len() / 2;
    let count = pairs.max(filled_to.min(4).into());
    let zero = S::load(n, 0);
    let mut left = [zero; 4];
    let mut right = [zero; 4];
    for pair in 0..pairs {
        left[pair] = S::load(n, args[pair]);
        right[pair] = S::load(n, args[pairs + pair]);
    }
    if order == DotOrder::Descending {
        left[..count].reverse();
        right[..count].reverse();
    }
    let product = |i: usize| S::mul(n, left[i], right[i]);
    let sum = match (order, count) {
        (DotOrder::Pairwise, 4) => {
            let low = S::add(n, product(0), product(1));
            S::add(n, low, S::add(n, product(2), product(3)))
        }
        (_, _) => (1..count).fold(product(0), |sum, i| {
            if fused && matches!(order, DotOrder::Ascending | DotOrder::Descending) {
                S::fma(n, left[i], right[i], sum)
            } else {
                S::add(n, sum, product(i))
            }
        }),
    };
    S::store(sum)
}

pub(super) fn load_exponent<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    // Beyond these every finite f16 or f32 has become zero or infinity, and f64 still holds the
    // scaled value exactly, so that there is one rounding.
    let scale = |x: f64, e: u64| libm::scalbn(x, (e as u32 as i32).clamp(-450, 450));
    match ty {
        Type::B1 => apply.nothing(),
        Type::B16 => apply.binary(|a, e| n.out16(scale(n.in16(a as u16), e)).into()),
        Type::B32 => apply.binary(|a, e| {
            let scaled = scale(n.in32(a as u32).into(), e);
            n.out32(n.round32(scaled)).into()
        }),
        Type::B64 => apply.binary(|a, e| {
            let (value, e) = (n.in64(a), e as u32 as i32);
            if n.f64_keeps_nans && value.is_nan() {
                return a;
            }
            let scaled = match n.rounding {
                Rounding::NearestEven => libm::scalbn(value, e),
                rounding => toward_zero::scale(value, e, rounding),
            };
            // A machine that flushes looks at the exponent: what rounding would lift to the least
            // normal number is flushed too.
            let lost = n.f64_denormals.flush_outputs
                && value.is_finite()
                && value != 0.0
                && libm::ilogb(value).saturating_add(e) < -1022;
            n.out64(if lost { 0f64.copysign(value) } else { scaled })
        }),
    }
}

/// The reciprocal of an f16 or f64.
pub(super) fn reciprocal(x: f64, n: &Numerics) -> f64 {
    match n.rounding {
        Rounding::NearestEven => 1.0 / x,
        rounding => toward_zero::div(1.0, x, rounding),
    }
}

/// The square root of an f16 or f64.
pub(super) fn root(x: f64, n: &Numerics) -> f64 {
    match n.rounding {
        Rounding::NearestEven => libm::sqrt(x),
        rounding => toward_zero::sqrt(x, rounding),
    }
}

/// Fraction in ±[0.5, 1) and exponent with x = fraction * 2^exponent; x and 0 for zero, infinity, NaN.
pub(super) fn split_exponent(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() { (x, 0) } else { libm::frexp(x) }
}

pub(super) fn exponent_bits(x: f64) -> u64 {
    u64::from(split_exponent(x).1 as u32)
}

pub(super) fn integer_to_float<A: Apply>(
    from: Type,
    to: Type,
    signed: bool,
    n: &Numerics,
    apply: A,
) -> A::Out {
    let unused = 64 - from.bits();
    // A u64 alone does not fit into an i64. Whatever f64 cannot hold is infinite in f16.
    let wide = !signed && from == Type::B64;
    let extended = move |a: u64| {
        if signed { (a << unused) as i64 >> unused } else { a as i64 }
    };
    if n.rounding != Rounding::NearestEven && to != Type::B1 {
        return apply.unary(|a| {
            let a = extended(a);
            let negative = a < 0 && !wide;
            let size = if negative { a.unsigned_abs() } else { a as u64 };
            float_out(to, toward_zero::integer(size, negative, n.rounding), n)
        });
    }
    match to {
        Type::B1 => apply.nothing(),
        Type::B16 if wide => apply.unary(|a| n.out16(a as f64).into()),
        Type::B32 if wide => apply.unary(|a| n.out32(a as f32).into()),
        Type::B64 if wide => apply.unary(|a| n.out64(a as f64)),
        Type::B16 => apply.unary(|a| n.out16(extended(a) as f64).into()),
        Type::B32 => apply.unary(|a| n.out32(extended(a) as f32).into()),
        Type::B64 => apply.unary(|a| n.out64(extended(a) as f64)),
    }
}

/// One float as another, rounded once.
pub(super) fn float_to_float<A: Apply>(from: Type, to: Type, n: &Numerics, apply: A) -> A::Out {
    let keeps = n.f64_keeps_nans;
    match (from, to) {
        (Type::B32, Type::B64) if keeps => apply.unary(|a| {
            let value = n.in32(a as u32);
            if value.is_nan() {
                return (a >> 31 << 63) | 0x7ff0_0000_0000_0000 | (a & 0x7f_ffff) << 29;
            }
            n.out64(value.into())
        }),
        (Type::B64, Type::B32) if keeps => apply.unary(|a| {
            let value = n.in64(a);
            if value.is_nan() {
                return (a >> 63 << 31) | u64::from(NAN32);
            }
            n.out32(n.round32(value)).into()
        }),
        _ => apply.unary(|a| float_out(to, float_in(from, a, n), n)),
    }
}

/// WGSL, floating point conversion: toward zero, clamped to the values that both types hold; NaN gives 0. The largest
/// i32 from an f32 is therefore 2147483520.
pub(super) fn float_to_integer<A: Apply>(
    from: Type,
    to: Type,
    signed: bool,
    n: &Numerics,
    apply: A,
) -> A::Out {
    if from == Type::B1 || to == Type::B1 {
        return apply.nothing();
    }
    let (low, high) = integer_range(from, to, signed);
    let mask = to.mask();
    apply.unary(move |a| {
        let value = float_in(from, a, n);
        if value.is_nan() {
            return 0;
        }
        let value = value.clamp(low, high);
        // Both casts are exact up to the fraction that is dropped.
        if signed { (value as i64 as u64) & mask } else { (value as u64) & mask }
    })
}

/// The least and greatest value of an integer type that a float type holds too.
pub fn integer_range(float: Type, integer: Type, signed: bool) -> (f64, f64) {
    let bits = (integer.bits() - u32::from(signed)) as i32;
    let (precision, largest) = match float {
        Type::B1 | Type::B32 => (24, f64::from(f32::MAX)),
        Type::B16 => (11, 65504.0),
        Type::B64 => (53, f64::MAX),
    };
    let power = |e: i32| libm::scalbn(1.0, e);
    let high =
        if bits <= precision { power(bits) - 1.0 } else { power(bits) - power(bits - precision) };
    let low = if signed { -power(bits) } else { 0.0 };
    (low.max(-largest), high.min(largest))
}

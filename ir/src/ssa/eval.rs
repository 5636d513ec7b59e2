//! What each operation computes: one definition per op, under a numeric model.
//!
//! [`define`] holds the definitions. It hands the one function of an op to an [`Apply`], which says
//! what to do with it: [`eval`] calls it once (constant folding), [`eval_lanes`] runs it over all
//! lanes of the interpreter. Values travel zero-extended in `u64`; operands must be of the types that
//! the op's signature asks for ([`super::Sig`]), which the verifier has made sure of. Nothing here
//! allocates, panics, or depends on the host.

use super::numerics::{
    Denormals, Dot, DotOrder, Fma, NAN16, NAN32, NAN64, NanRule, Numerics, ZeroRule, exact,
    f16_to_f64, f64_to_f16, flush16, flush32, flush64, fma16, fma32, fma64,
};
use super::{Func, InstData, Op, Sig, Type};
use std::cell::Cell;

/// What is done with the definition of an op. Exactly one method is called.
pub trait Apply {
    /// What comes of it.
    type Out;
    /// The op has one operand.
    fn unary(self, f: impl Fn(u64) -> u64) -> Self::Out;
    /// The op has two operands.
    fn binary(self, f: impl Fn(u64, u64) -> u64) -> Self::Out;
    /// The op has three operands.
    fn ternary(self, f: impl Fn(u64, u64, u64) -> u64) -> Self::Out;
    /// The op has four operands.
    fn quaternary(self, f: impl Fn(u64, u64, u64, u64) -> u64) -> Self::Out;
    /// The op has 4, 6 or 8 operands.
    fn many(self, f: impl Fn(&[u64]) -> u64) -> Self::Out;
    /// The op is no function of its operands alone (memory, interface, quads, control, `const`).
    fn nothing(self) -> Self::Out;
}

/// The value of an op, or `None` when it is no function of its operands alone, or not of so many.
///
/// `from` is the type of the data operands (of `select`: the second), `to` that of the result.
///
/// ```
/// use gpucc_ir::ssa::{Numerics, Op, Type, eval};
/// let (b32, model) = (Type::B32, &Numerics::REFERENCE);
/// assert_eq!(eval(Op::UDiv, b32, b32, &[7, 0], model), Some(7));
/// let (two, three) = (2f32.to_bits().into(), 3f32.to_bits().into());
/// assert_eq!(eval(Op::FAdd, b32, b32, &[two, three], model), Some(5f32.to_bits().into()));
/// assert_eq!(eval(Op::Barrier, b32, b32, &[], model), None);
/// ```
pub fn eval(op: Op, from: Type, to: Type, args: &[u64], model: &Numerics) -> Option<u64> {
    define(op, from, to, model, Once(args))
}

/// The value of an instruction of `func` for these operand values, or `None` as for [`eval`].
/// `const` gives its bits.
pub fn eval_inst(func: &Func, inst: &InstData, args: &[u64], model: &Numerics) -> Option<u64> {
    if let (Op::Const, super::Imm::Bits(bits)) = (inst.op, inst.imm) {
        return Some(bits);
    }
    let to = func.ty(*inst.results.first()?);
    eval(inst.op, data_type(func, inst, to), to, args, model)
}

/// The type of the data operands of an instruction: `from` of [`eval`].
pub fn data_type(func: &Func, inst: &InstData, result: Type) -> Type {
    let index = usize::from(inst.op.sig() == Sig::Select);
    inst.args.get(index).map_or(result, |&value| func.ty(value))
}

/// Computes an op for every lane of `out`; false when it is no function of its operands alone.
/// Every operand slice has a value per lane; operands and `out` may not overlap meaningfully (SSA).
pub fn eval_lanes(
    op: Op,
    from: Type,
    to: Type,
    args: &[&[Cell<u64>]],
    out: &[Cell<u64>],
    model: &Numerics,
) -> bool {
    define(op, from, to, model, Lanes { args, out })
}

struct Once<'a>(&'a [u64]);

impl Apply for Once<'_> {
    type Out = Option<u64>;
    fn unary(self, f: impl Fn(u64) -> u64) -> Option<u64> {
        match *self.0 {
            [a] => Some(f(a)),
            _ => None,
        }
    }
    fn binary(self, f: impl Fn(u64, u64) -> u64) -> Option<u64> {
        match *self.0 {
            [a, b] => Some(f(a, b)),
            _ => None,
        }
    }
    fn ternary(self, f: impl Fn(u64, u64, u64) -> u64) -> Option<u64> {
        match *self.0 {
            [a, b, c] => Some(f(a, b, c)),
            _ => None,
        }
    }
    fn quaternary(self, f: impl Fn(u64, u64, u64, u64) -> u64) -> Option<u64> {
        match *self.0 {
            [a, b, c, d] => Some(f(a, b, c, d)),
            _ => None,
        }
    }
    fn many(self, f: impl Fn(&[u64]) -> u64) -> Option<u64> {
        matches!(self.0.len(), 4 | 6 | 8).then(|| f(self.0))
    }
    fn nothing(self) -> Option<u64> {
        None
    }
}

struct Lanes<'a> {
    args: &'a [&'a [Cell<u64>]],
    out: &'a [Cell<u64>],
}

impl Apply for Lanes<'_> {
    type Out = bool;
    #[inline(always)]
    fn unary(self, f: impl Fn(u64) -> u64) -> bool {
        let &[a] = self.args else { return false };
        for (out, a) in self.out.iter().zip(a) {
            out.set(f(a.get()));
        }
        true
    }
    #[inline(always)]
    fn binary(self, f: impl Fn(u64, u64) -> u64) -> bool {
        let &[a, b] = self.args else { return false };
        for ((out, a), b) in self.out.iter().zip(a).zip(b) {
            out.set(f(a.get(), b.get()));
        }
        true
    }
    #[inline(always)]
    fn ternary(self, f: impl Fn(u64, u64, u64) -> u64) -> bool {
        let &[a, b, c] = self.args else { return false };
        for (((out, a), b), c) in self.out.iter().zip(a).zip(b).zip(c) {
            out.set(f(a.get(), b.get(), c.get()));
        }
        true
    }
    #[inline(always)]
    fn quaternary(self, f: impl Fn(u64, u64, u64, u64) -> u64) -> bool {
        let &[a, b, c, d] = self.args else {
            return false;
        };
        for ((((out, a), b), c), d) in self.out.iter().zip(a).zip(b).zip(c).zip(d) {
            out.set(f(a.get(), b.get(), c.get(), d.get()));
        }
        true
    }
    #[inline(always)]
    fn many(self, f: impl Fn(&[u64]) -> u64) -> bool {
        if !matches!(self.args.len(), 4 | 6 | 8) {
            return false;
        }
        let mut lane_args = [0; 8];
        for (lane, out) in self.out.iter().enumerate() {
            for (to, from) in lane_args.iter_mut().zip(self.args) {
                *to = from[lane].get();
            }
            out.set(f(&lane_args[..self.args.len()]));
        }
        true
    }
    fn nothing(self) -> bool {
        false
    }
}

/// An integer function for each width; in the body `U` and `S` are the unsigned and signed type,
/// `BITS` their width, and the operands are `U`. A `B1` is handled as nothing.
macro_rules! ints {
    ($apply:expr, $ty:expr, $shape:ident, |$($a:ident),+| $body:expr) => {
        match $ty {
            Type::B1 => $apply.nothing(),
            Type::B16 => ints!(@one $apply, u16, i16, $shape, |$($a),+| $body),
            Type::B32 => ints!(@one $apply, u32, i32, $shape, |$($a),+| $body),
            Type::B64 => ints!(@one $apply, u64, i64, $shape, |$($a),+| $body),
        }
    };
    (@one $apply:expr, $u:ty, $s:ty, $shape:ident, |$($a:ident),+| $body:expr) => {{
        #[allow(dead_code)]
        type U = $u;
        #[allow(dead_code)]
        type S = $s;
        #[allow(dead_code)]
        const BITS: u32 = U::BITS;
        #[allow(clippy::unnecessary_cast)]
        $apply.$shape(|$($a),+| {
            $( let $a = $a as U; )+
            u64::from($body)
        })
    }};
}

/// A float function for each width; operands arrive flushed and results are rounded and flushed as
/// the model says. f16 is computed in f64 and rounded once. `F` is the type computed in.
macro_rules! floats {
    ($apply:expr, $ty:expr, $n:expr, $shape:ident, |$($a:ident),+| $body:expr) => {
        match $ty {
            Type::B1 => $apply.nothing(),
            Type::B16 => $apply.$shape(|$($a),+| {
                #[allow(dead_code)]
                type F = f64;
                $( let $a = $n.in16($a as u16); )+
                let result: F = $body;
                u64::from($n.out16(result))
            }),
            Type::B32 => $apply.$shape(|$($a),+| {
                #[allow(dead_code)]
                type F = f32;
                $( let $a = $n.in32($a as u32); )+
                let result: F = $body;
                u64::from($n.out32(result))
            }),
            Type::B64 => $apply.$shape(|$($a),+| {
                #[allow(dead_code)]
                type F = f64;
                $( let $a = $n.in64($a); )+
                let result: F = $body;
                $n.out64(result)
            }),
        }
    };
}

/// A float function computed in f64 for every width and rounded once.
macro_rules! wide {
    ($apply:expr, $ty:expr, $n:expr, $shape:ident, |$($a:ident),+| $body:expr) => {
        match $ty {
            Type::B1 => $apply.nothing(),
            Type::B16 => $apply.$shape(|$($a),+| {
                $( let $a = $n.in16($a as u16); )+
                u64::from($n.out16($body))
            }),
            Type::B32 => $apply.$shape(|$($a),+| {
                $( let $a = f64::from($n.in32($a as u32)); )+
                u64::from($n.out32($body as f32))
            }),
            Type::B64 => $apply.$shape(|$($a),+| {
                $( let $a = $n.in64($a); )+
                $n.out64($body)
            }),
        }
    };
}

/// A comparison of floats.
macro_rules! compares {
    ($apply:expr, $ty:expr, $n:expr, |$a:ident, $b:ident| $body:expr) => {
        match $ty {
            Type::B1 => $apply.nothing(),
            Type::B16 => $apply.binary(|$a, $b| {
                let ($a, $b) = ($n.in16($a as u16), $n.in16($b as u16));
                u64::from($body)
            }),
            Type::B32 => $apply.binary(|$a, $b| {
                let ($a, $b) = ($n.in32($a as u32), $n.in32($b as u32));
                u64::from($body)
            }),
            Type::B64 => $apply.binary(|$a, $b| {
                let ($a, $b) = ($n.in64($a), $n.in64($b));
                u64::from($body)
            }),
        }
    };
}

/// A function that a machine approximates in f32; f16 and f64 are exact.
macro_rules! approximated {
    ($apply:expr, $ty:expr, $n:expr, $model:ident, |$a:ident| $body:expr) => {
        match $ty {
            Type::B32 => $apply.unary(|$a| u64::from($n.$model($a as u32))),
            ty @ (Type::B1 | Type::B16 | Type::B64) => wide!($apply, ty, $n, unary, |$a| $body),
        }
    };
}

/// Hands the definition of `op` to `apply`. `from` is the type of the data operands, `to` of the
/// result.
#[inline]
pub fn define<A: Apply>(op: Op, from: Type, to: Type, n: &Numerics, apply: A) -> A::Out {
    match op {
        Op::IAdd => ints!(apply, from, binary, |a, b| a.wrapping_add(b)),
        Op::ISub => ints!(apply, from, binary, |a, b| a.wrapping_sub(b)),
        Op::IMul => ints!(apply, from, binary, |a, b| a.wrapping_mul(b)),
        Op::UMulHi => ints!(apply, from, binary, |a, b| {
            ((u128::from(a) * u128::from(b)) >> BITS) as U
        }),
        Op::SMulHi => ints!(apply, from, binary, |a, b| {
            ((i128::from(a as S) * i128::from(b as S)) >> BITS) as U
        }),
        Op::SDiv => ints!(apply, from, binary, |a, b| {
            if b == 0 {
                a
            } else {
                (a as S).wrapping_div(b as S) as U
            }
        }),
        Op::UDiv => ints!(apply, from, binary, |a, b| a.checked_div(b).unwrap_or(a)),
        Op::SRem => ints!(apply, from, binary, |a, b| {
            if b == 0 {
                0
            } else {
                (a as S).wrapping_rem(b as S) as U
            }
        }),
        Op::URem => ints!(apply, from, binary, |a, b| a.checked_rem(b).unwrap_or(0)),
        Op::INeg => ints!(apply, from, unary, |a| a.wrapping_neg()),
        Op::IAbs => ints!(apply, from, unary, |a| (a as S).unsigned_abs()),
        Op::SMin => ints!(apply, from, binary, |a, b| (a as S).min(b as S) as U),
        Op::SMax => ints!(apply, from, binary, |a, b| (a as S).max(b as S) as U),
        Op::UMin => ints!(apply, from, binary, |a, b| a.min(b)),
        Op::UMax => ints!(apply, from, binary, |a, b| a.max(b)),
        Op::And => apply.binary(|a, b| a & b),
        Op::Or => apply.binary(|a, b| a | b),
        Op::Xor => apply.binary(|a, b| a ^ b),
        Op::Not => {
            let mask = from.mask();
            apply.unary(move |a| !a & mask)
        }
        Op::Shl => ints!(apply, from, binary, |a, b| a.wrapping_shl(b as u32)),
        Op::LShr => ints!(apply, from, binary, |a, b| a.wrapping_shr(b as u32)),
        Op::AShr => ints!(apply, from, binary, |a, b| {
            (a as S).wrapping_shr(b as u32) as U
        }),
        Op::PopCount => ints!(apply, from, unary, |a| a.count_ones() as U),
        Op::BitReverse => ints!(apply, from, unary, |a| a.reverse_bits()),
        Op::Clz => ints!(apply, from, unary, |a| a.leading_zeros() as U),
        Op::Ctz => ints!(apply, from, unary, |a| a.trailing_zeros() as U),
        Op::UMsb => ints!(apply, from, unary, |a| {
            ((BITS - 1) as U).wrapping_sub(a.leading_zeros() as U)
        }),
        Op::SMsb => ints!(apply, from, unary, |a| {
            let differs = a ^ ((a as S >> (BITS - 1)) as U);
            ((BITS - 1) as U).wrapping_sub(differs.leading_zeros() as U)
        }),
        Op::Lsb => ints!(apply, from, unary, |a| {
            if a == 0 {
                U::MAX
            } else {
                a.trailing_zeros() as U
            }
        }),
        Op::UBfe => match from {
            Type::B1 => apply.nothing(),
            Type::B16 => apply.ternary(|a, o, c| extract(a, o, c, 16, false)),
            Type::B32 => apply.ternary(|a, o, c| extract(a, o, c, 32, false)),
            Type::B64 => apply.ternary(|a, o, c| extract(a, o, c, 64, false)),
        },
        Op::SBfe => match from {
            Type::B1 => apply.nothing(),
            Type::B16 => apply.ternary(|a, o, c| extract(a, o, c, 16, true)),
            Type::B32 => apply.ternary(|a, o, c| extract(a, o, c, 32, true)),
            Type::B64 => apply.ternary(|a, o, c| extract(a, o, c, 64, true)),
        },
        Op::Bfi => {
            let width = from.bits();
            apply.quaternary(move |a, b, o, c| insert(a, b, o, c, width))
        }
        Op::IEq => apply.binary(|a, b| u64::from(a == b)),
        Op::INe => apply.binary(|a, b| u64::from(a != b)),
        Op::SLt => ints!(apply, from, binary, |a, b| (a as S) < b as S),
        Op::SLe => ints!(apply, from, binary, |a, b| (a as S) <= b as S),
        Op::ULt => ints!(apply, from, binary, |a, b| a < b),
        Op::ULe => ints!(apply, from, binary, |a, b| a <= b),

        Op::FAdd => floats!(apply, from, n, binary, |a, b| a + b),
        Op::FSub => floats!(apply, from, n, binary, |a, b| a - b),
        Op::FMul => floats!(apply, from, n, binary, |a, b| a * b),
        Op::FDiv => floats!(apply, from, n, binary, |a, b| a / b),
        Op::FRem => floats!(apply, from, n, binary, |a, b| a % b),
        Op::FMa => multiply_add(from, n, apply),
        Op::FNeg => sign_op(from, n, apply, |bits, sign| bits ^ sign),
        Op::FAbs => sign_op(from, n, apply, |bits, sign| bits & !sign),
        Op::FSign => floats!(apply, from, n, unary, |a| {
            F::from(i8::from(a > 0.0) - i8::from(a < 0.0))
        }),
        Op::FMin => min_max(from, n, apply, false),
        Op::FMax => min_max(from, n, apply, true),
        Op::FSat => saturate(from, n, apply),
        Op::FFloor => floats!(apply, from, n, unary, |a| a.floor()),
        Op::FCeil => floats!(apply, from, n, unary, |a| a.ceil()),
        Op::FTrunc => floats!(apply, from, n, unary, |a| a.trunc()),
        Op::FRound => floats!(apply, from, n, unary, |a| a.round_ties_even()),
        Op::FFract => fraction(from, n, apply),
        Op::FEq => compares!(apply, from, n, |a, b| a == b),
        Op::FNe => compares!(apply, from, n, |a, b| a != b),
        Op::FLt => compares!(apply, from, n, |a, b| a < b),
        Op::FLe => compares!(apply, from, n, |a, b| a <= b),
        Op::FDot => dot(from, n, apply),
        Op::FSqrt => approximated!(apply, from, n, sqrt, |a| libm::sqrt(a)),
        Op::FRsq => approximated!(apply, from, n, rsq, |a| exact::rsq64(a)),
        Op::FRcp => approximated!(apply, from, n, rcp, |a| 1.0 / a),
        Op::FExp2 => approximated!(apply, from, n, exp2, |a| libm::exp2(a)),
        Op::FLog2 => approximated!(apply, from, n, log2, |a| libm::log2(a)),
        Op::FExp => wide!(apply, from, n, unary, |a| libm::exp(a)),
        Op::FLog => wide!(apply, from, n, unary, |a| libm::log(a)),
        Op::FPow => wide!(apply, from, n, binary, |a, b| libm::pow(a, b)),
        Op::FSin => wide!(apply, from, n, unary, |a| libm::sin(a)),
        Op::FCos => wide!(apply, from, n, unary, |a| libm::cos(a)),
        Op::FTan => wide!(apply, from, n, unary, |a| libm::tan(a)),
        Op::FSinTurns => approximated!(apply, from, n, sin_turns, |a| exact::sin_turns64(a)),
        Op::FCosTurns => approximated!(apply, from, n, cos_turns, |a| exact::cos_turns64(a)),
        Op::FAsin => wide!(apply, from, n, unary, |a| libm::asin(a)),
        Op::FAcos => wide!(apply, from, n, unary, |a| libm::acos(a)),
        Op::FAtan => wide!(apply, from, n, unary, |a| libm::atan(a)),
        Op::FAtan2 => wide!(apply, from, n, binary, |a, b| libm::atan2(a, b)),
        Op::FSinh => wide!(apply, from, n, unary, |a| libm::sinh(a)),
        Op::FCosh => wide!(apply, from, n, unary, |a| libm::cosh(a)),
        Op::FTanh => wide!(apply, from, n, unary, |a| libm::tanh(a)),
        Op::FAsinh => wide!(apply, from, n, unary, |a| libm::asinh(a)),
        Op::FAcosh => wide!(apply, from, n, unary, |a| libm::acosh(a)),
        Op::FAtanh => wide!(apply, from, n, unary, |a| libm::atanh(a)),
        Op::FLdexp => load_exponent(from, n, apply),
        Op::FrexpFract => wide!(apply, from, n, unary, |a| split_exponent(a).0),
        Op::FrexpExp => match from {
            Type::B1 => apply.nothing(),
            Type::B16 => apply.unary(|a| exponent_bits(n.in16(a as u16))),
            Type::B32 => apply.unary(|a| exponent_bits(n.in32(a as u32).into())),
            Type::B64 => apply.unary(|a| exponent_bits(n.in64(a))),
        },

        Op::SToF => integer_to_float(from, to, true, n, apply),
        Op::UToF => integer_to_float(from, to, false, n, apply),
        Op::FToS => float_to_integer(from, to, true, n, apply),
        Op::FToU => float_to_integer(from, to, false, n, apply),
        Op::FConvert => apply.unary(|a| float_out(to, float_in(from, a, n), n)),
        Op::UConvert => {
            let mask = to.mask();
            apply.unary(move |a| a & mask)
        }
        Op::SConvert => {
            let (unused, mask) = (64 - from.bits(), to.mask());
            apply.unary(move |a| (((a << unused) as i64 >> unused) as u64) & mask)
        }
        Op::FQuantize => apply.unary(|a| {
            let half = n.out16(n.in32(a as u32).into());
            n.out32(n.in16(half) as f32).into()
        }),
        Op::PackHalf => apply.binary(|a, b| {
            let half = |x: u64| u64::from(n.out16(n.in32(x as u32).into()));
            half(a) | (half(b) << 16)
        }),
        Op::UnpackHalfLo => apply.unary(|a| n.out32(n.in16(a as u16) as f32).into()),
        Op::UnpackHalfHi => apply.unary(|a| n.out32(n.in16((a >> 16) as u16) as f32).into()),
        Op::Join16 => apply.binary(|a, b| a | (b << 16)),
        Op::Lo16 => apply.unary(|a| a & 0xffff),
        Op::Hi16 => apply.unary(|a| (a >> 16) & 0xffff),
        Op::Join64 => apply.binary(|a, b| a | (b << 32)),
        Op::Lo64 => apply.unary(|a| a & 0xffff_ffff),
        Op::Hi64 => apply.unary(|a| a >> 32),
        Op::Select => apply.ternary(|c, a, b| if c != 0 { a } else { b }),
        Op::Index => apply.binary(|index, length| index.min(length.saturating_sub(1))),

        Op::Const
        | Op::BufferLoad
        | Op::BufferStore
        | Op::BufferSize
        | Op::BufferAtomic
        | Op::MemLoad
        | Op::MemStore
        | Op::MemAtomic
        | Op::Input
        | Op::Output
        | Op::Tex
        | Op::TexQuery
        | Op::ImageStore
        | Op::ImageAtomic
        | Op::Ddx
        | Op::Ddy
        | Op::DdxFine
        | Op::DdyFine
        | Op::DdxCoarse
        | Op::DdyCoarse
        | Op::Demote
        | Op::IsHelper
        | Op::Barrier
        | Op::If
        | Op::Loop
        | Op::Block
        | Op::Yield
        | Op::Break
        | Op::Continue
        | Op::Next
        | Op::BreakIf
        | Op::Exit
        | Op::Unreachable => apply.nothing(),
    }
}

/// The value of operand bits of a float type.
#[inline]
fn float_in(ty: Type, bits: u64, n: &Numerics) -> f64 {
    match ty {
        Type::B1 => 0.0,
        Type::B16 => n.in16(bits as u16),
        Type::B32 => n.in32(bits as u32).into(),
        Type::B64 => n.in64(bits),
    }
}

/// The bits of a result of a float type, rounded once from f64.
#[inline]
fn float_out(ty: Type, value: f64, n: &Numerics) -> u64 {
    match ty {
        Type::B1 => 0,
        Type::B16 => n.out16(value).into(),
        Type::B32 => n.out32(value as f32).into(),
        Type::B64 => n.out64(value),
    }
}

/// WGSL extractBits (17.6.8): offset and count are clamped so that they stay within the width.
#[inline]
fn extract(value: u64, offset: u64, count: u64, width: u64, signed: bool) -> u64 {
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
fn insert(value: u64, new: u64, offset: u64, count: u64, width: u32) -> u64 {
    let offset = offset.min(width.into());
    let count = count.min(u64::from(width) - offset);
    if count == 0 {
        return value;
    }
    let mask = (u64::MAX >> (64 - count)) << offset;
    (value & !mask) | ((new << offset) & mask)
}

fn multiply_add<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    match (n.fma, ty) {
        (_, Type::B1) => apply.nothing(),
        (Fma::Fused, Type::B16) => apply.ternary(|a, b, c| {
            let (a, b, c) = (n.in16(a as u16), n.in16(b as u16), n.in16(c as u16));
            n.out16(fma16(a, b, c)).into()
        }),
        (Fma::Fused, Type::B32) => apply.ternary(|a, b, c| {
            let (a, b, c) = (n.in32(a as u32), n.in32(b as u32), n.in32(c as u32));
            n.out32(fma32(a, b, c)).into()
        }),
        (Fma::Fused, Type::B64) => {
            apply.ternary(|a, b, c| n.out64(fma64(n.in64(a), n.in64(b), n.in64(c))))
        }
        (Fma::Twice, Type::B16) => apply.ternary(|a, b, c| {
            let product = n.out16(n.in16(a as u16) * n.in16(b as u16));
            n.out16(f16_to_f64(product) + n.in16(c as u16)).into()
        }),
        (Fma::Twice, Type::B32) => apply.ternary(|a, b, c| {
            let product = n.out32(n.in32(a as u32) * n.in32(b as u32));
            n.out32(f32::from_bits(product) + n.in32(c as u32)).into()
        }),
        (Fma::Twice, Type::B64) => apply.ternary(|a, b, c| {
            let product = n.out64(n.in64(a) * n.in64(b));
            n.out64(f64::from_bits(product) + n.in64(c))
        }),
    }
}

/// `fneg` and `fabs`: the sign bit alone, and a flush where the model says so.
fn sign_op<A: Apply>(ty: Type, n: &Numerics, apply: A, change: impl Fn(u64, u64) -> u64) -> A::Out {
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

fn nan_of(ty: Type) -> u64 {
    match ty {
        Type::B1 => 0,
        Type::B16 => NAN16.into(),
        Type::B32 => NAN32.into(),
        Type::B64 => NAN64,
    }
}

fn denormals_of(ty: Type, n: &Numerics) -> Denormals {
    match ty {
        Type::B16 => n.f16_denormals,
        Type::B1 | Type::B32 => n.f32_denormals,
        Type::B64 => n.f64_denormals,
    }
}

fn min_max<A: Apply>(ty: Type, n: &Numerics, apply: A, max: bool) -> A::Out {
    if ty == Type::B1 {
        return apply.nothing();
    }
    let denormals = denormals_of(ty, n);
    let flush = n.min_max_flush && (denormals.flush_inputs || denormals.flush_outputs);
    let (nan_rule, zero_rule, nan) = (n.min_max_nan, n.min_max_zero, nan_of(ty));
    apply.binary(move |a_bits, b_bits| {
        let (a_bits, b_bits) = (flush_if(flush, ty, a_bits), flush_if(flush, ty, b_bits));
        let (a, b) = (value_of(ty, a_bits), value_of(ty, b_bits));
        if a.is_nan() || b.is_nan() {
            let other = match nan_rule {
                NanRule::Other if a.is_nan() => b_bits,
                NanRule::Other => a_bits,
                NanRule::Second => b_bits,
                NanRule::Nan => nan,
            };
            return if value_of(ty, other).is_nan() {
                nan
            } else {
                other
            };
        }
        let first = match zero_rule {
            ZeroRule::Ordered if a == b => a.is_sign_negative() != max,
            ZeroRule::Ordered | ZeroRule::Compared if max => a >= b,
            ZeroRule::Ordered | ZeroRule::Compared => a < b,
        };
        if first { a_bits } else { b_bits }
    })
}

/// Clamped to 0..=1: NaN and -0 give +0.
fn saturate<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    let one = match ty {
        Type::B1 => return apply.nothing(),
        Type::B16 => 0x3c00,
        Type::B32 => 0x3f80_0000,
        Type::B64 => 0x3ff0_0000_0000_0000,
    };
    let denormals = denormals_of(ty, n);
    let flush = n.min_max_flush && (denormals.flush_inputs || denormals.flush_outputs);
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

fn fraction<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    let limit = n.fract_below_one;
    match ty {
        Type::B1 => apply.nothing(),
        Type::B16 => apply.unary(|a| {
            let a = n.in16(a as u16);
            let bits = u64::from(n.out16(a - a.floor()));
            if limit && bits == 0x3c00 {
                0x3bff
            } else {
                bits
            }
        }),
        Type::B32 => apply.unary(|a| {
            let a = n.in32(a as u32);
            let bits = u64::from(n.out32(a - a.floor()));
            if limit && bits == 0x3f80_0000 {
                0x3f7f_ffff
            } else {
                bits
            }
        }),
        Type::B64 => apply.unary(|a| {
            let a = n.in64(a);
            let bits = n.out64(a - a.floor());
            if limit && bits == 0x3ff0_0000_0000_0000 {
                0x3fef_ffff_ffff_ffff
            } else {
                bits
            }
        }),
    }
}

/// The format-specific steps of a dot product; sums and products are rounded and flushed each time.
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
        f32::from_bits(n.out32(a * b))
    }
    fn add(n: &Numerics, a: f32, b: f32) -> f32 {
        f32::from_bits(n.out32(a + b))
    }
    fn fma(n: &Numerics, a: f32, b: f32, c: f32) -> f32 {
        f32::from_bits(n.out32(fma32(a, b, c)))
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
        f64::from_bits(n.out64(a * b))
    }
    fn add(n: &Numerics, a: f64, b: f64) -> f64 {
        f64::from_bits(n.out64(a + b))
    }
    fn fma(n: &Numerics, a: f64, b: f64, c: f64) -> f64 {
        f64::from_bits(n.out64(fma64(a, b, c)))
    }
}

fn dot<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    match ty {
        Type::B1 => apply.nothing(),
        Type::B16 => apply.many(|args| dot_of::<Half>(args, n)),
        Type::B32 => apply.many(|args| dot_of::<Single>(args, n)),
        Type::B64 => apply.many(|args| dot_of::<Double>(args, n)),
    }
}

fn dot_of<S: Steps>(args: &[u64], n: &Numerics) -> u64 {
    let Dot {
        order,
        fused,
        filled_to,
    } = n.dot;
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
        (DotOrder::Ascending | DotOrder::Descending | DotOrder::Pairwise, _) => {
            (1..count).fold(product(0), |sum, i| {
                if fused && order != DotOrder::Pairwise {
                    S::fma(n, left[i], right[i], sum)
                } else {
                    S::add(n, sum, product(i))
                }
            })
        }
    };
    S::store(sum)
}

fn load_exponent<A: Apply>(ty: Type, n: &Numerics, apply: A) -> A::Out {
    // Beyond these every finite f16 or f32 has become zero or infinity, and f64 still holds the
    // scaled value exactly, so that there is one rounding.
    let scale = |x: f64, e: u64| libm::scalbn(x, (e as u32 as i32).clamp(-450, 450));
    match ty {
        Type::B1 => apply.nothing(),
        Type::B16 => apply.binary(|a, e| n.out16(scale(n.in16(a as u16), e)).into()),
        Type::B32 => apply.binary(|a, e| n.out32(scale(n.in32(a as u32).into(), e) as f32).into()),
        Type::B64 => apply.binary(|a, e| n.out64(libm::scalbn(n.in64(a), e as u32 as i32))),
    }
}

/// Fraction in ±[0.5, 1) and exponent with x = fraction * 2^exponent; x and 0 for zero, infinity, NaN.
fn split_exponent(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        (x, 0)
    } else {
        libm::frexp(x)
    }
}

fn exponent_bits(x: f64) -> u64 {
    u64::from(split_exponent(x).1 as u32)
}

fn integer_to_float<A: Apply>(
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
        if signed {
            (a << unused) as i64 >> unused
        } else {
            a as i64
        }
    };
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

/// WGSL 15.7.6: toward zero, clamped to the values that both types hold; NaN gives 0. The largest
/// i32 from an f32 is therefore 2147483520.
fn float_to_integer<A: Apply>(
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
        if signed {
            (value as i64 as u64) & mask
        } else {
            (value as u64) & mask
        }
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
    let high = if bits <= precision {
        power(bits) - 1.0
    } else {
        power(bits) - power(bits - precision)
    };
    let low = if signed { -power(bits) } else { 0.0 };
    (low.max(-largest), high.min(largest))
}

#[cfg(test)]
#[path = "eval_tests.rs"]
mod tests;

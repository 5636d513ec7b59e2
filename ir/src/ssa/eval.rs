//! What each operation computes: one definition per op, under a numeric model.
//!
//! [`define`] holds the definitions. It hands the one function of an op to an [`Apply`], which says
//! what to do with it: [`eval`] calls it once (constant folding), [`eval_lanes`] runs it over all
//! lanes of the interpreter. Values travel zero-extended in `u64`; operands must be of the types that
//! the op's signature asks for ([`super::Sig`]), which the verifier has made sure of. Nothing here
//! allocates, panics, or depends on the host.

mod arithmetic;
mod sum_of_products;

pub use arithmetic::integer_range;
use arithmetic::{
    dot, exponent_bits, extract, float_to_float, float_to_integer, fraction, insert,
    integer_to_float, load_exponent, min_max, multiply_add, reciprocal, root, saturate, sign_op,
    split_exponent,
};

use super::numerics::{Numerics, Rounding, exact, toward_zero};
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
                u64::from($n.out32($n.round32($body)))
            }),
            Type::B64 => $apply.$shape(|$($a),+| {
                $( let $a = $n.in64($a); )+
                $n.out64($body)
            }),
        }
    };
}

/// A float function under both roundings: to nearest in the format itself, toward zero in f64, which is cut
/// afterwards.
macro_rules! rounds {
    ($apply:expr, $ty:expr, $n:expr, |$a:ident, $b:ident| $nearest:expr, $toward_zero:ident) => {
        match $n.rounding {
            Rounding::NearestEven => floats!($apply, $ty, $n, binary, |$a, $b| $nearest),
            rounding => wide!($apply, $ty, $n, binary, |$a, $b| {
                toward_zero::$toward_zero($a, $b, rounding)
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
        Op::UMulHi => {
            ints!(apply, from, binary, |a, b| { ((u128::from(a) * u128::from(b)) >> BITS) as U })
        }
        Op::SMulHi => ints!(apply, from, binary, |a, b| {
            ((i128::from(a as S) * i128::from(b as S)) >> BITS) as U
        }),
        Op::SDiv => ints!(apply, from, binary, |a, b| {
            if b == 0 { a } else { (a as S).wrapping_div(b as S) as U }
        }),
        Op::UDiv => ints!(apply, from, binary, |a, b| a.checked_div(b).unwrap_or(a)),
        Op::SRem => ints!(apply, from, binary, |a, b| {
            if b == 0 { 0 } else { (a as S).wrapping_rem(b as S) as U }
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
        Op::AShr => ints!(apply, from, binary, |a, b| { (a as S).wrapping_shr(b as u32) as U }),
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
        Op::Lsb => {
            ints!(apply, from, unary, |a| { if a == 0 { U::MAX } else { a.trailing_zeros() as U } })
        }
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

        Op::FAdd => rounds!(apply, from, n, |a, b| a + b, add),
        Op::FSub => rounds!(apply, from, n, |a, b| a - b, sub),
        Op::FMul => rounds!(apply, from, n, |a, b| a * b, mul),
        Op::FDiv => rounds!(apply, from, n, |a, b| a / b, div),
        Op::FRem => floats!(apply, from, n, binary, |a, b| a % b),
        Op::FMa => multiply_add(from, n, apply),
        Op::FNeg => sign_op(from, n, apply, |bits, sign| bits ^ sign),
        Op::FAbs => sign_op(from, n, apply, |bits, sign| bits & !sign),
        Op::FSign => {
            floats!(apply, from, n, unary, |a| { F::from(i8::from(a > 0.0) - i8::from(a < 0.0)) })
        }
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
        Op::FSqrt => approximated!(apply, from, n, sqrt, |a| root(a, n)),
        Op::FRsq => approximated!(apply, from, n, rsq, |a| exact::rsq64(a)),
        Op::FRcp => approximated!(apply, from, n, rcp, |a| reciprocal(a, n)),
        Op::FExp2 => approximated!(apply, from, n, exp2, |a| libm::exp2(a)),
        Op::FLog2 => approximated!(apply, from, n, log2, |a| libm::log2(a)),
        Op::FExp => approximated!(apply, from, n, exp, |a| libm::exp(a)),
        Op::FLog => wide!(apply, from, n, unary, |a| libm::log(a)),
        Op::FPow => match from {
            Type::B32 => apply.binary(|a, b| u64::from(n.pow(a as u32, b as u32))),
            ty @ (Type::B1 | Type::B16 | Type::B64) => {
                wide!(apply, ty, n, binary, |a, b| libm::pow(a, b))
            }
        },
        Op::FSin => approximated!(apply, from, n, sin, |a| libm::sin(a)),
        Op::FCos => approximated!(apply, from, n, cos, |a| libm::cos(a)),
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
        Op::FConvert => float_to_float(from, to, n, apply),
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
        Op::CubeS => apply.ternary(|x, y, z| n.out32(cube(n, [x, y, z]).0).into()),
        Op::CubeT => apply.ternary(|x, y, z| n.out32(cube(n, [x, y, z]).1).into()),
        Op::CubeMajor => apply.ternary(|x, y, z| {
            let major = f64::from(cube(n, [x, y, z]).2.abs());
            n.out32(n.round32(2.0 * major)).into()
        }),
        Op::CubeFace => apply.ternary(|x, y, z| (cube(n, [x, y, z]).3 as f32).to_bits().into()),
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
        | Op::EmitVertex
        | Op::EndPrimitive
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
        | Op::Ballot
        | Op::Shuffle
        | Op::Reduce
        | Op::SubgroupBarrier
        | Op::Clock
        | Op::DeviceClock
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

/// The value that changes nothing when `op` combines it with another; `None` where there is none.
/// That of a float minimum (maximum) is the greatest (least) infinity.
pub fn identity(op: Op, ty: Type) -> Option<u64> {
    let float = |number: f64| match ty {
        Type::B16 => u64::from(Numerics::REFERENCE.out16(number)),
        Type::B64 => number.to_bits(),
        Type::B1 | Type::B32 => u64::from((number as f32).to_bits()),
    };
    let top = 1u64 << (ty.bits() - 1);
    Some(match op {
        Op::IAdd | Op::Or | Op::Xor | Op::UMax => 0,
        Op::IMul => 1,
        Op::And | Op::UMin => ty.mask(),
        Op::SMin => top - 1,
        Op::SMax => top,
        Op::FAdd => float(0.0),
        Op::FMul => float(1.0),
        Op::FMin => float(f64::INFINITY),
        Op::FMax => float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// A direction's components on its face, as the model reads its operands.
fn cube(n: &Numerics, direction: [u64; 3]) -> (f32, f32, f32, u32) {
    let direction = direction.map(|bits| n.in32(bits as u32));
    super::cube::axes(direction, direction)
}

#[cfg(test)]
#[path = "eval_tests.rs"]
mod tests;

//! Built-in functions: those of the op table one to one, the others by WGSL's definitions.

use super::emit::pick;
use super::frame::Frame;
use super::{Lower, OfNaga, Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Type};
use naga::{Expression, Handle, MathFunction, ScalarKind, TypeInner};

impl<'a> OfNaga<'a> {
    /// A call of a built-in function.
    pub fn math(
        &mut self,
        frame: &mut Frame<'a>,
        fun: MathFunction,
        arguments: [Option<Handle<Expression>>; 4],
    ) -> Result<Values> {
        let first = arguments[0].expect("naga gives the first argument");
        let kind = self.kind(frame, first)?;
        let inner = self.inner(frame, first);
        let mut args: [Values; 4] = Default::default();
        for (values, handle) in args.iter_mut().zip(arguments) {
            if let Some(handle) = handle {
                *values = self.values(frame, handle)?;
            }
        }
        let rows = match *inner {
            TypeInner::Matrix { rows, .. } => rows as usize,
            _ => 0,
        };
        self.math_function(fun, kind, rows, args)
    }
}

impl<S> Lower<'_, S> {
    /// A built-in function of scalars of a kind; of matrices with so many rows, 0 for what is none.
    pub fn math_function(
        &mut self,
        fun: MathFunction,
        kind: ScalarKind,
        rows: usize,
        args: [Values; 4],
    ) -> Result<Values> {
        use MathFunction as F;
        use ScalarKind as K;
        let [a, b, c, d] = args;
        let float = kind == K::Float;
        let by_kind = |of_float, of_signed, of_unsigned| match kind {
            K::Float => of_float,
            K::Sint => of_signed,
            _ => of_unsigned,
        };
        if let Some(op) = one_to_one(fun) {
            return self.map(op, &[&a]);
        }
        let ty = self.ty(a[0]);
        let result = match fun {
            F::Abs if kind == K::Uint => a,
            F::Abs => self.map(by_kind(Op::FAbs, Op::IAbs, Op::IAbs), &[&a])?,
            F::Min => self.map(by_kind(Op::FMin, Op::SMin, Op::UMin), &[&a, &b])?,
            F::Max => self.map(by_kind(Op::FMax, Op::SMax, Op::UMax), &[&a, &b])?,
            F::Clamp => {
                let least = self.map(by_kind(Op::FMax, Op::SMax, Op::UMax), &[&a, &b])?;
                self.map(by_kind(Op::FMin, Op::SMin, Op::UMin), &[&least, &c])?
            }
            F::Sign if float => self.map(Op::FSign, &[&a])?,
            F::Sign => {
                let (one, minus) = (self.constant(ty, 1), self.constant(ty, ty.mask()));
                let at_most = self.map(Op::SMin, &[&a, &Values::from_elem(one, 1)])?;
                self.map(Op::SMax, &[&at_most, &Values::from_elem(minus, 1)])?
            }
            F::Radians | F::Degrees => {
                let factor = match fun {
                    F::Radians => std::f64::consts::PI / 180.0,
                    _ => 180.0 / std::f64::consts::PI,
                };
                let factor = self.float(ty, factor);
                self.map(Op::FMul, &[&a, &Values::from_elem(factor, 1)])?
            }
            F::Atan2 => self.map(Op::FAtan2, &[&a, &b])?,
            F::Pow => self.map(Op::FPow, &[&a, &b])?,
            F::Fma => self.map(Op::FMa, &[&a, &b, &c])?,
            F::Ldexp => {
                let wide = self.lanes(b.len(), |lower, lane| {
                    let exponent = b[lane];
                    Ok(match lower.ty(exponent) {
                        Type::B32 => exponent,
                        _ => lower.convert(Op::SConvert, Type::B32, exponent),
                    })
                })?;
                self.map(Op::FLdexp, &[&a, &wide])?
            }
            F::Modf => {
                let whole = self.map(Op::FTrunc, &[&a])?;
                let mut result = self.map(Op::FSub, &[&a, &whole])?;
                result.extend(whole);
                result
            }
            F::Frexp => {
                let mut result = self.map(Op::FrexpFract, &[&a])?;
                // The reader's exponents are as wide as the number.
                result.extend(self.lanes(a.len(), |lower, lane| {
                    let exponent = lower.convert(Op::FrexpExp, Type::B32, a[lane]);
                    Ok(match ty {
                        Type::B32 => exponent,
                        _ => lower.convert(Op::SConvert, ty, exponent),
                    })
                })?);
                result
            }
            F::Mix => self.mix(&a, &b, &c)?,
            F::Step => {
                let (one, zero) = (self.float(ty, 1.0), self.float(ty, 0.0));
                self.lanes(a.len().max(b.len()), |lower, lane| {
                    let reached = lower.op2(Op::FLe, pick(&a, lane), pick(&b, lane));
                    Ok(lower.select(reached, one, zero))
                })?
            }
            F::SmoothStep => {
                let (two, three) = (self.float(ty, 2.0), self.float(ty, 3.0));
                let (two, three) = (Values::from_elem(two, 1), Values::from_elem(three, 1));
                let above = self.map(Op::FSub, &[&c, &a])?;
                let range = self.map(Op::FSub, &[&b, &a])?;
                let ratio = self.map(Op::FDiv, &[&above, &range])?;
                let t = self.map(Op::FSat, &[&ratio])?;
                let square = self.map(Op::FMul, &[&t, &t])?;
                let double = self.map(Op::FMul, &[&two, &t])?;
                let rest = self.map(Op::FSub, &[&three, &double])?;
                self.map(Op::FMul, &[&square, &rest])?
            }
            F::Dot => Values::from_elem(self.dot(kind, &a, &b), 1),
            F::Cross => self.cross(&a, &b)?,
            F::Length => Values::from_elem(self.length(&a), 1),
            F::Distance => {
                let difference = self.map(Op::FSub, &[&a, &b])?;
                Values::from_elem(self.length(&difference), 1)
            }
            F::Normalize => self.normalize(&a)?,
            F::FaceForward => self.face_forward(&a, &b, &c)?,
            F::Reflect => self.reflect(&a, &b)?,
            F::Refract => self.refract(&a, &b, c[0])?,
            F::Outer => self.outer(&a, &b)?,
            F::Inverse => self.inverse(&a)?,
            F::Transpose if rows == 0 => {
                return Err(Stop::internal("the transpose of what is no matrix"));
            }
            F::Transpose => self.transpose(&a, rows),
            F::Determinant => Values::from_elem(self.determinant(&a)?, 1),
            F::ExtractBits => {
                let op = by_kind(Op::UBfe, Op::SBfe, Op::UBfe);
                self.map(op, &[&a, &b, &c])?
            }
            F::InsertBits => self.map(Op::Bfi, &[&a, &b, &c, &d])?,
            F::FirstLeadingBit => self.map(by_kind(Op::UMsb, Op::SMsb, Op::UMsb), &[&a])?,
            F::Dot4I8Packed
            | F::Dot4U8Packed
            | F::Pack4x8snorm
            | F::Pack4x8unorm
            | F::Pack2x16snorm
            | F::Pack2x16unorm
            | F::Pack2x16float
            | F::Pack4xI8
            | F::Pack4xU8
            | F::Pack4xI8Clamp
            | F::Pack4xU8Clamp
            | F::Unpack4x8snorm
            | F::Unpack4x8unorm
            | F::Unpack2x16snorm
            | F::Unpack2x16unorm
            | F::Unpack2x16float
            | F::Unpack4xI8
            | F::Unpack4xU8 => self.packed(fun, &a, &b)?,
            other => {
                return Err(Stop::internal(format!("{other:?} is one to one and has no op")));
            }
        };
        Ok(result)
    }
}

/// Functions of one argument that are one op.
fn one_to_one(fun: MathFunction) -> Option<Op> {
    use MathFunction as F;
    Some(match fun {
        F::Saturate => Op::FSat,
        F::Cos => Op::FCos,
        F::Cosh => Op::FCosh,
        F::Sin => Op::FSin,
        F::Sinh => Op::FSinh,
        F::Tan => Op::FTan,
        F::Tanh => Op::FTanh,
        F::Acos => Op::FAcos,
        F::Asin => Op::FAsin,
        F::Atan => Op::FAtan,
        F::Asinh => Op::FAsinh,
        F::Acosh => Op::FAcosh,
        F::Atanh => Op::FAtanh,
        F::Ceil => Op::FCeil,
        F::Floor => Op::FFloor,
        F::Round => Op::FRound,
        F::Fract => Op::FFract,
        F::Trunc => Op::FTrunc,
        F::Exp => Op::FExp,
        F::Exp2 => Op::FExp2,
        F::Log => Op::FLog,
        F::Log2 => Op::FLog2,
        F::Sqrt => Op::FSqrt,
        F::InverseSqrt => Op::FRsq,
        F::QuantizeToF16 => Op::FQuantize,
        F::CountTrailingZeros => Op::Ctz,
        F::CountLeadingZeros => Op::Clz,
        F::CountOneBits => Op::PopCount,
        F::ReverseBits => Op::BitReverse,
        F::FirstTrailingBit => Op::Lsb,
        _ => return None,
    })
}

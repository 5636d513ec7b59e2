//! Functions of GLSL.std.450.

use super::module::Inst;
use super::program::READING;
use super::types::Ty;
use super::{Frame, OfSpirv};
use crate::lower::types::width;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Type};
use naga::{MathFunction as Fun, ScalarKind};
use rspirv::spirv::GlslStd450Op as GLOp;

/// What a function's operands are, each with as many lanes as the result has.
fn like_result(code: GLOp) -> Option<(Fun, ScalarKind, usize)> {
    use ScalarKind::{Float, Sint, Uint};
    Some(match code {
        GLOp::Round | GLOp::RoundEven => (Fun::Round, Float, 1),
        GLOp::Trunc => (Fun::Trunc, Float, 1),
        GLOp::FAbs => (Fun::Abs, Float, 1),
        GLOp::SAbs => (Fun::Abs, Sint, 1),
        GLOp::FSign => (Fun::Sign, Float, 1),
        GLOp::SSign => (Fun::Sign, Sint, 1),
        GLOp::Floor => (Fun::Floor, Float, 1),
        GLOp::Ceil => (Fun::Ceil, Float, 1),
        GLOp::Fract => (Fun::Fract, Float, 1),
        GLOp::Radians => (Fun::Radians, Float, 1),
        GLOp::Degrees => (Fun::Degrees, Float, 1),
        GLOp::Sin => (Fun::Sin, Float, 1),
        GLOp::Cos => (Fun::Cos, Float, 1),
        GLOp::Tan => (Fun::Tan, Float, 1),
        GLOp::Asin => (Fun::Asin, Float, 1),
        GLOp::Acos => (Fun::Acos, Float, 1),
        GLOp::Atan => (Fun::Atan, Float, 1),
        GLOp::Sinh => (Fun::Sinh, Float, 1),
        GLOp::Cosh => (Fun::Cosh, Float, 1),
        GLOp::Tanh => (Fun::Tanh, Float, 1),
        GLOp::Asinh => (Fun::Asinh, Float, 1),
        GLOp::Acosh => (Fun::Acosh, Float, 1),
        GLOp::Atanh => (Fun::Atanh, Float, 1),
        GLOp::Atan2 => (Fun::Atan2, Float, 2),
        GLOp::Pow => (Fun::Pow, Float, 2),
        GLOp::Exp => (Fun::Exp, Float, 1),
        GLOp::Log => (Fun::Log, Float, 1),
        GLOp::Exp2 => (Fun::Exp2, Float, 1),
        GLOp::Log2 => (Fun::Log2, Float, 1),
        GLOp::Sqrt => (Fun::Sqrt, Float, 1),
        GLOp::InverseSqrt => (Fun::InverseSqrt, Float, 1),
        GLOp::FMin | GLOp::NMin => (Fun::Min, Float, 2),
        GLOp::UMin => (Fun::Min, Uint, 2),
        GLOp::SMin => (Fun::Min, Sint, 2),
        GLOp::FMax | GLOp::NMax => (Fun::Max, Float, 2),
        GLOp::UMax => (Fun::Max, Uint, 2),
        GLOp::SMax => (Fun::Max, Sint, 2),
        GLOp::FClamp | GLOp::NClamp => (Fun::Clamp, Float, 3),
        GLOp::UClamp => (Fun::Clamp, Uint, 3),
        GLOp::SClamp => (Fun::Clamp, Sint, 3),
        GLOp::FMix => (Fun::Mix, Float, 3),
        GLOp::Step => (Fun::Step, Float, 2),
        GLOp::SmoothStep => (Fun::SmoothStep, Float, 3),
        GLOp::Fma => (Fun::Fma, Float, 3),
        GLOp::Cross => (Fun::Cross, Float, 2),
        GLOp::Normalize => (Fun::Normalize, Float, 1),
        GLOp::FaceForward => (Fun::FaceForward, Float, 3),
        GLOp::Reflect => (Fun::Reflect, Float, 2),
        GLOp::FindILsb => (Fun::FirstTrailingBit, Uint, 1),
        GLOp::FindSMsb => (Fun::FirstLeadingBit, Sint, 1),
        GLOp::FindUMsb => (Fun::FirstLeadingBit, Uint, 1),
        _ => return None,
    })
}

/// Functions between words and vectors: lanes that they take.
fn packing(code: GLOp) -> Option<(Fun, usize)> {
    Some(match code {
        GLOp::PackSnorm4x8 => (Fun::Pack4x8snorm, 4),
        GLOp::PackUnorm4x8 => (Fun::Pack4x8unorm, 4),
        GLOp::PackSnorm2x16 => (Fun::Pack2x16snorm, 2),
        GLOp::PackUnorm2x16 => (Fun::Pack2x16unorm, 2),
        GLOp::PackHalf2x16 => (Fun::Pack2x16float, 2),
        GLOp::UnpackSnorm4x8 => (Fun::Unpack4x8snorm, 1),
        GLOp::UnpackUnorm4x8 => (Fun::Unpack4x8unorm, 1),
        GLOp::UnpackSnorm2x16 => (Fun::Unpack2x16snorm, 1),
        GLOp::UnpackUnorm2x16 => (Fun::Unpack2x16unorm, 1),
        GLOp::UnpackHalf2x16 => (Fun::Unpack2x16float, 1),
        _ => return None,
    })
}

fn mismatch() -> Stop {
    Stop::invalid("operands and result of this function do not have the types that it takes")
}

impl<'p> OfSpirv<'p> {
    /// A call of a function of GLSL.std.450.
    pub(super) fn function(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Values> {
        let program = self.source.program;
        let Some(code) = GLOp::from_u32(inst.operand(3)) else {
            return Err(Stop::invalid("GLSL.std.450 has no such function"));
        };
        let result = inst.operand(0);
        let given = inst.rest(4);
        let args = [0, 1, 2].map(|at| given.get(at).copied().unwrap_or(0));
        if let Some((fun, kind, count)) = like_result(code) {
            let (scalar, lanes) = program.shape(result)?;
            let floats = kind == ScalarKind::Float;
            let mut all: [Values; 4] = Default::default();
            if given.len() != count || (scalar.kind == ScalarKind::Float) != floats {
                return Err(mismatch());
            }
            for (values, &id) in all.iter_mut().zip(given) {
                *values = self.values(frame, id)?;
                if kind == ScalarKind::Sint {
                    *values = self.extended_by_sign(scalar, std::mem::take(values));
                }
                let (own, own_lanes) = program.shape(program.type_of(id)?)?;
                let fits = own_lanes == lanes
                    && own.width == scalar.width
                    && own.kind != ScalarKind::Bool
                    && (own.kind == ScalarKind::Float) == floats;
                if !fits {
                    return Err(mismatch());
                }
            }
            if fun == Fun::Cross && lanes != 3 {
                return Err(mismatch());
            }
            if fun == Fun::Normalize && lanes == 1 {
                let [x, ..] = &all;
                let length = self.map(Op::FAbs, &[x])?;
                return self.map(Op::FDiv, &[x, &length]);
            }
            let found = self.math_function(fun, kind, 1, all)?;
            return Ok(self.cut(scalar, found));
        }
        if let Some((fun, lanes)) = packing(code) {
            let (scalar, count) = program.shape(program.type_of(args[0])?)?;
            let floats = lanes > 1;
            if count != lanes || scalar.width != 4 || (scalar.kind == ScalarKind::Float) != floats {
                return Err(mismatch());
            }
            let values = self.values(frame, args[0])?;
            return self.packed(fun, &values, &Values::new());
        }
        Ok(match code {
            GLOp::Length | GLOp::Distance => {
                let mut vector = self.vector(frame, args[0])?;
                if code == GLOp::Distance {
                    let other = self.vector(frame, args[1])?;
                    self.alike(&vector, &other)?;
                    vector = self.map(Op::FSub, &[&vector, &other])?;
                }
                Values::from_elem(self.length(&vector), 1)
            }
            GLOp::Refract => {
                let (i, n) = (self.vector(frame, args[0])?, self.vector(frame, args[1])?);
                let eta = self.scalar(frame, args[2])?;
                self.alike(&i, &n)?;
                if self.ty(eta) != self.ty(i[0]) {
                    return Err(mismatch());
                }
                self.refract(&i, &n, eta)?
            }
            GLOp::Determinant | GLOp::MatrixInverse => {
                let (rows, columns) = self.matrix(args[0])?;
                if rows != columns {
                    return Err(mismatch());
                }
                let matrix = self.values(frame, args[0])?;
                match code {
                    GLOp::Determinant => Values::from_elem(self.determinant(&matrix)?, 1),
                    _ => self.inverse(&matrix)?,
                }
            }
            GLOp::Modf | GLOp::ModfStruct => {
                let x = self.vector(frame, args[0])?;
                let mut all: [Values; 4] = Default::default();
                all[0] = x.clone();
                let mut both = self.math_function(Fun::Modf, ScalarKind::Float, 1, all)?;
                if code == GLOp::Modf {
                    let whole = Values::from_slice(&both[x.len()..]);
                    both.truncate(x.len());
                    self.give(frame, args[1], &whole)?;
                }
                both
            }
            GLOp::Frexp | GLOp::FrexpStruct => {
                let x = self.vector(frame, args[0])?;
                let fract = self.map(Op::FrexpFract, &[&x])?;
                // The exponent's width is said by where it goes.
                let ty = match code {
                    GLOp::Frexp => program.pointee(program.type_of(args[1])?)?.1,
                    _ => program.part(result, 1)?.0,
                };
                let (scalar, lanes) = program.shape(ty)?;
                if lanes != x.len() || !matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint) {
                    return Err(mismatch());
                }
                let to = width(scalar);
                let exponent = self.lanes(lanes, |lower, lane| {
                    let word = lower.convert(Op::FrexpExp, Type::B32, x[lane]);
                    Ok(match to {
                        Type::B32 => word,
                        _ => lower.convert(Op::SConvert, to, word),
                    })
                })?;
                if code == GLOp::Frexp {
                    self.give(frame, args[1], &exponent)?;
                    return Ok(fract);
                }
                fract.into_iter().chain(exponent).collect()
            }
            GLOp::Ldexp => {
                let x = self.vector(frame, args[0])?;
                let (scalar, lanes) = program.shape(program.type_of(args[1])?)?;
                if lanes != x.len() || !matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint) {
                    return Err(mismatch());
                }
                let mut all: [Values; 4] = Default::default();
                let exponents = self.values(frame, args[1])?;
                all[1] = match (scalar.kind, scalar.width) {
                    (ScalarKind::Sint, 1) => self.extended_by_sign(scalar, exponents),
                    (_, 8) => {
                        self.lanes(lanes, |lower, lane| Ok(lower.nearest_word(exponents[lane])))?
                    }
                    _ => exponents,
                };
                all[0] = x;
                self.math_function(Fun::Ldexp, ScalarKind::Float, 1, all)?
            }
            GLOp::PackDouble2x32 => {
                let halves = self.values(frame, args[0])?;
                let words = halves.iter().all(|&value| self.ty(value) == Type::B32);
                let [low, high] = halves[..] else {
                    return Err(mismatch());
                };
                if !words {
                    return Err(mismatch());
                }
                Values::from_elem(self.op2(Op::Join64, low, high), 1)
            }
            GLOp::UnpackDouble2x32 => {
                let whole = self.scalar(frame, args[0])?;
                if self.ty(whole) != Type::B64 {
                    return Err(mismatch());
                }
                let halves = [Op::Lo64, Op::Hi64].map(|half| self.op1(half, whole));
                Values::from_slice(&halves)
            }
            GLOp::InterpolateAtCentroid | GLOp::InterpolateAtSample | GLOp::InterpolateAtOffset => {
                self.interpolation(frame, code, inst)?
            }
            other => {
                let what = format!("the function {other:?} of GLSL.std.450");
                return Err(Stop::unsupported(what, READING));
            }
        })
    }

    /// The scalars of a float or vector of floats.
    fn vector(&mut self, frame: &mut Frame<'p>, id: u32) -> Result<Values> {
        let program = self.source.program;
        match program.ty(program.type_of(id)?)? {
            Ty::Scalar(scalar) | Ty::Vector(scalar, ..) if scalar.kind == ScalarKind::Float => {
                self.values(frame, id)
            }
            _ => Err(mismatch()),
        }
    }

    fn alike(&self, a: &Values, b: &Values) -> Result<()> {
        let same = a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| self.ty(a) == self.ty(b));
        if same { Ok(()) } else { Err(mismatch()) }
    }

    /// Stores the second result of a function.
    pub(super) fn give(
        &mut self,
        frame: &mut Frame<'p>,
        pointer: u32,
        values: &Values,
    ) -> Result<()> {
        let pointer = self.operand(frame, pointer)?;
        self.at(pointer, None, &mut |lower, pointer| {
            lower.store(pointer, values)?;
            Ok(Values::new())
        })?;
        Ok(())
    }
}

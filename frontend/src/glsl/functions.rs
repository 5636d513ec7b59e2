//! Lowering of built-in functions, those of textures apart.

use super::lower::{Frame, OfGlsl};
use super::tree::Expr;
use super::types::Ty;
use crate::lower::amd::OfThree;
use crate::lower::memory::{Atomic, atomic_op};
use crate::lower::narrow::is_byte;
use crate::lower::types::width;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{AtomicOp, Imm, Op, Type, Value};
use naga::{
    AtomicFunction, DerivativeAxis, DerivativeControl, MathFunction as Fun, RelationalFunction,
    Scalar, ScalarKind,
};
use std::rc::Rc;

/// Functions that are one of the shared lowering's.
fn shared(name: &str, arguments: usize) -> Option<Fun> {
    Some(match (name, arguments) {
        ("radians", _) => Fun::Radians,
        ("degrees", _) => Fun::Degrees,
        ("sin", _) => Fun::Sin,
        ("cos", _) => Fun::Cos,
        ("tan", _) => Fun::Tan,
        ("asin", _) => Fun::Asin,
        ("acos", _) => Fun::Acos,
        ("atan", 1) => Fun::Atan,
        ("atan", _) => Fun::Atan2,
        ("sinh", _) => Fun::Sinh,
        ("cosh", _) => Fun::Cosh,
        ("tanh", _) => Fun::Tanh,
        ("asinh", _) => Fun::Asinh,
        ("acosh", _) => Fun::Acosh,
        ("atanh", _) => Fun::Atanh,
        ("pow", _) => Fun::Pow,
        ("exp", _) => Fun::Exp,
        ("log", _) => Fun::Log,
        ("exp2", _) => Fun::Exp2,
        ("log2", _) => Fun::Log2,
        ("sqrt", _) => Fun::Sqrt,
        ("inversesqrt", _) => Fun::InverseSqrt,
        ("abs", _) => Fun::Abs,
        ("sign", _) => Fun::Sign,
        ("floor", _) => Fun::Floor,
        ("trunc" | "truncate", _) => Fun::Trunc,
        ("round" | "roundEven", _) => Fun::Round,
        ("ceil", _) => Fun::Ceil,
        ("fract", _) => Fun::Fract,
        ("min", _) => Fun::Min,
        ("max", _) => Fun::Max,
        ("clamp", _) => Fun::Clamp,
        ("mix", _) => Fun::Mix,
        ("step", _) => Fun::Step,
        ("smoothstep", _) => Fun::SmoothStep,
        ("fma", _) => Fun::Fma,
        ("ldexp", _) => Fun::Ldexp,
        ("cross", _) => Fun::Cross,
        ("faceforward", _) => Fun::FaceForward,
        ("reflect", _) => Fun::Reflect,
        ("bitfieldExtract", _) => Fun::ExtractBits,
        ("bitfieldInsert", _) => Fun::InsertBits,
        ("bitfieldReverse", _) => Fun::ReverseBits,
        ("bitCount", _) => Fun::CountOneBits,
        ("findLSB", _) => Fun::FirstTrailingBit,
        ("findMSB", _) => Fun::FirstLeadingBit,
        ("countLeadingZeros", _) => Fun::CountLeadingZeros,
        ("countTrailingZeros", _) => Fun::CountTrailingZeros,
        ("packUnorm2x16", _) => Fun::Pack2x16unorm,
        ("packSnorm2x16", _) => Fun::Pack2x16snorm,
        ("packUnorm4x8", _) => Fun::Pack4x8unorm,
        ("packSnorm4x8", _) => Fun::Pack4x8snorm,
        ("packHalf2x16", _) => Fun::Pack2x16float,
        ("unpackUnorm2x16", _) => Fun::Unpack2x16unorm,
        ("unpackSnorm2x16", _) => Fun::Unpack2x16snorm,
        ("unpackUnorm4x8", _) => Fun::Unpack4x8unorm,
        ("unpackSnorm4x8", _) => Fun::Unpack4x8snorm,
        ("unpackHalf2x16", _) => Fun::Unpack2x16float,
        ("inverse", _) => Fun::Inverse,
        ("determinant", _) => Fun::Determinant,
        ("outerProduct", _) => Fun::Outer,
        _ => return None,
    })
}

impl<'p> OfGlsl<'p> {
    /// A call of a built-in function.
    pub(super) fn builtin(
        &mut self,
        frame: &mut Frame,
        name: &str,
        arguments: &'p [Expr],
        ty: Ty,
    ) -> Result<Values> {
        if name.starts_with("image") || name.starts_with("texture") || name == "subpassLoad" {
            return self.texel_function(frame, name, arguments, ty);
        }
        if name.starts_with("atomic") {
            return self.atomic_function(frame, name, arguments);
        }
        if name.starts_with("interpolateAt") {
            return self.interpolation(frame, name, arguments);
        }
        match name {
            "modf" | "frexp" | "uaddCarry" | "usubBorrow" | "umulExtended" | "imulExtended" => {
                return self.with_results(frame, name, arguments);
            }
            _ => {}
        }
        let mut args: Vec<Values> = Vec::with_capacity(arguments.len());
        for argument in arguments {
            args.push(self.values(frame, argument)?);
        }
        let scalar = arguments.first().and_then(|first| first.ty.scalar()).unwrap_or(Scalar::F32);
        let kind = scalar.kind;
        let lanes = self.source.p.types.count(ty).0 as usize;
        if is_byte(scalar) {
            return self.of_bytes(name, arguments, args, ty);
        }
        if let (Some(fun), false) = (shared(name, args.len()), name == "mix" && is_truth(arguments))
        {
            let mut all: [Values; 4] = Default::default();
            for (to, from) in all.iter_mut().zip(args) {
                *to = from;
            }
            return self.math_function(fun, kind, 1, all);
        }
        let groups = name.starts_with("subgroup")
            || name.contains("Invocation") && name != "helperInvocationEXT"
            || matches!(name, "ballotARB" | "mbcntAMD");
        if groups {
            return self.group(name, arguments, args);
        }
        let one = |value| Values::from_elem(value, 1);
        Ok(match (name, &args[..]) {
            ("mix", [a, b, choice]) => self.lanes_of(lanes, &[a, b, choice], |lower, own| {
                Ok(lower.select(own[2], own[1], own[0]))
            })?,
            ("mod", [x, y]) => {
                let ratio = self.map(Op::FDiv, &[x, y])?;
                let whole = self.map(Op::FFloor, &[&ratio])?;
                let product = self.map(Op::FMul, &[y, &whole])?;
                self.map(Op::FSub, &[x, &product])?
            }
            ("isnan", [x]) => self.relational(RelationalFunction::IsNan, x)?,
            ("isinf", [x]) => self.relational(RelationalFunction::IsInf, x)?,
            ("any", [x]) => self.relational(RelationalFunction::Any, x)?,
            ("all", [x]) => self.relational(RelationalFunction::All, x)?,
            ("not", [x]) => self.map(Op::Not, &[x])?,
            ("length", [x]) => one(self.length(x)),
            ("distance", [a, b]) => {
                let apart = self.map(Op::FSub, &[a, b])?;
                one(self.length(&apart))
            }
            ("dot", [a, b]) => one(self.dot(kind, a, b)),
            ("normalize", [x]) if x.len() == 1 => {
                let length = self.map(Op::FAbs, &[x])?;
                self.map(Op::FDiv, &[x, &length])?
            }
            ("normalize", [x]) => self.normalize(x)?,
            ("refract", [i, n, eta]) => {
                let mut eta = eta[0];
                if self.ty(eta) != self.ty(i[0]) {
                    eta = self.convert_scalar(eta, Scalar::F32, scalar)?;
                }
                self.refract(i, n, eta)?
            }
            ("transpose", [m]) => {
                let Some(Ty::Matrix(_, _, rows)) = arguments.first().map(|first| first.ty) else {
                    return Err(Stop::internal("the transpose of no matrix"));
                };
                self.transpose(m, rows.into())
            }
            ("matrixCompMult", [a, b]) => self.map(Op::FMul, &[a, b])?,
            ("lessThan", [a, b]) => self.arithmetic(naga::BinaryOperator::Less, kind, a, b)?,
            ("lessThanEqual", [a, b]) => {
                self.arithmetic(naga::BinaryOperator::LessEqual, kind, a, b)?
            }
            ("greaterThan", [a, b]) => {
                self.arithmetic(naga::BinaryOperator::Greater, kind, a, b)?
            }
            ("greaterThanEqual", [a, b]) => {
                self.arithmetic(naga::BinaryOperator::GreaterEqual, kind, a, b)?
            }
            ("equal", [a, b]) => self.arithmetic(naga::BinaryOperator::Equal, kind, a, b)?,
            ("notEqual", [a, b]) => self.arithmetic(naga::BinaryOperator::NotEqual, kind, a, b)?,
            ("min3", [a, b, c]) => self.of_three(OfThree::Least, kind, [a, b, c])?,
            ("max3", [a, b, c]) => self.of_three(OfThree::Greatest, kind, [a, b, c])?,
            ("mid3", [a, b, c]) => self.of_three(OfThree::Middle, kind, [a, b, c])?,
            ("barrier", _) => {
                let imm = Imm::Barrier { storage: false, workgroup: true, texture: false };
                self.b().inst(Op::Barrier, imm, &[], &[], &[]);
                Values::new()
            }
            ("controlBarrier", [scope, _, semantics, _]) => {
                let known = |lower: &Self, values: &Values| lower.func.as_const(values[0]);
                let (scope, storage) = (known(self, scope), known(self, semantics).unwrap_or(0));
                if scope == Some(3) {
                    self.b().inst(Op::SubgroupBarrier, Imm::None, &[], &[], &[]);
                } else {
                    let imm = Imm::Barrier {
                        storage: storage & 0x40 != 0,
                        workgroup: storage & 0x100 != 0,
                        texture: storage & 0x800 != 0,
                    };
                    self.b().inst(Op::Barrier, imm, &[], &[], &[]);
                }
                Values::new()
            }
            ("helperInvocationEXT", _) => self.helper(),
            ("EmitVertex" | "EmitStreamVertex", _) => {
                let (at, outputs) = (self.span, Rc::clone(&self.source.outputs));
                self.outputs(&outputs)?;
                self.span = at;
                self.strip(Op::EmitVertex);
                Values::new()
            }
            ("EndPrimitive" | "EndStreamPrimitive", _) => {
                self.strip(Op::EndPrimitive);
                Values::new()
            }
            (
                "clockARB"
                | "clock2x32ARB"
                | "clockRealtimeEXT"
                | "clockRealtime2x32EXT"
                | "timeAMD",
                _,
            ) => {
                let device = name.starts_with("clockRealtime");
                let op = if device { Op::DeviceClock } else { Op::Clock };
                let made = self.b().inst(op, Imm::None, &[], &[], &[Type::B32; 2]);
                let words = Values::from_slice(&self.func.insts[made].results);
                match name.contains("2x32") {
                    true => words,
                    false => one(self.op2(Op::Join64, words[0], words[1])),
                }
            }
            // Orders the memory accesses of one invocation as others see them. Every machine here keeps them in
            // program order up to the next control barrier, so there is nothing to do.
            (_, _) if name.contains("emoryBarrier") => Values::new(),
            ("cubeFaceIndexAMD", [x]) => one(self.face_index(x)),
            ("cubeFaceCoordAMD", [x]) => self.face_coordinates(x),
            ("assumeEXT", _) => Values::new(),
            ("expectEXT", [value, _]) => value.clone(),
            (_, [x]) if name.starts_with("dFd") || name.starts_with("fwidth") => {
                let (axis, rest) = if let Some(rest) = name.strip_prefix("dFdx") {
                    (DerivativeAxis::X, rest)
                } else if let Some(rest) = name.strip_prefix("dFdy") {
                    (DerivativeAxis::Y, rest)
                } else {
                    (DerivativeAxis::Width, &name["fwidth".len()..])
                };
                let control = match rest {
                    "Fine" => DerivativeControl::Fine,
                    "Coarse" => DerivativeControl::Coarse,
                    _ => DerivativeControl::None,
                };
                self.derivative(axis, control, x)?
            }
            // GLSL 4.60, 8.13: noise is deprecated, and may be zero.
            _ if name.starts_with("noise") => self.zeros(ty)?,
            // What only changes the type of bits.
            (_, [x]) => {
                let Some(to) = ty.scalar() else {
                    return Err(Stop::internal(format!("the function {name} gives no number")));
                };
                match is_byte(to) {
                    true => self.bitcast_bytes(x, scalar, to),
                    false => self.recast(x.clone(), width(scalar), width(to)),
                }
            }
            _ => return Err(Stop::internal(format!("the function {name} is not lowered"))),
        })
    }

    /// A function of integers of 8 bits.
    fn of_bytes(
        &mut self,
        name: &str,
        arguments: &'p [Expr],
        args: Vec<Values>,
        ty: Ty,
    ) -> Result<Values> {
        let scalar = arguments.first().and_then(|first| first.ty.scalar()).unwrap_or(Scalar::U32);
        let to = ty.scalar().unwrap_or(scalar);
        let signed = scalar.kind == ScalarKind::Sint;
        let mut args = args;
        if signed {
            for (values, argument) in args.iter_mut().zip(arguments) {
                if argument.ty.scalar() == Some(scalar) {
                    *values = self.extended_by_sign(scalar, std::mem::take(values));
                }
            }
        }
        let kind = scalar.kind;
        let found = if name.starts_with("subgroup") {
            self.group(name, arguments, args)?
        } else if let (Some(fun), false) = (shared(name, args.len()), name == "mix") {
            let mut all: [Values; 4] = Default::default();
            for (to, from) in all.iter_mut().zip(args) {
                *to = from;
            }
            self.math_function(fun, kind, 1, all)?
        } else {
            use naga::BinaryOperator as B;
            let compared = match name {
                "lessThan" => Some(B::Less),
                "lessThanEqual" => Some(B::LessEqual),
                "greaterThan" => Some(B::Greater),
                "greaterThanEqual" => Some(B::GreaterEqual),
                "equal" => Some(B::Equal),
                "notEqual" => Some(B::NotEqual),
                _ => None,
            };
            match (compared, &args[..]) {
                (Some(op), [a, b]) => self.arithmetic(op, kind, a, b)?,
                (None, [x]) => self.bitcast_bytes(x, scalar, to),
                _ => {
                    return Err(Stop::unsupported(
                        format!("the function {name} on bytes"),
                        super::READING,
                    ));
                }
            }
        };
        Ok(self.cut(to, found))
    }

    /// Functions that write a second result.
    fn with_results(
        &mut self,
        frame: &mut Frame,
        name: &str,
        arguments: &'p [Expr],
    ) -> Result<Values> {
        let plain = match name {
            "modf" | "frexp" => 1,
            _ => 2,
        };
        let (read, written) = arguments.split_at(plain.min(arguments.len()));
        let mut args = Vec::with_capacity(2);
        for argument in read {
            args.push(self.values(frame, argument)?);
        }
        let mut targets = Vec::with_capacity(2);
        for argument in written {
            targets.push(self.target(frame, argument)?);
        }
        let (first, others) = match (name, &args[..]) {
            ("modf", [x]) => {
                let mut all: [Values; 4] = Default::default();
                all[0] = x.clone();
                let both = self.math_function(Fun::Modf, ScalarKind::Float, 1, all)?;
                let (fraction, whole) = both.split_at(x.len());
                (Values::from_slice(fraction), vec![Values::from_slice(whole)])
            }
            ("frexp", [x]) => {
                let fraction = self.map(Op::FrexpFract, &[x])?;
                let exponent = self.lanes(x.len(), |lower, lane| {
                    Ok(lower.convert(Op::FrexpExp, Type::B32, x[lane]))
                })?;
                (fraction, vec![exponent])
            }
            ("uaddCarry" | "usubBorrow", [a, b]) => {
                let adds = name == "uaddCarry";
                let low = self.map(if adds { Op::IAdd } else { Op::ISub }, &[a, b])?;
                let (one, zero) = (self.u32(1), self.u32(0));
                let over = self.lanes(a.len(), |lower, lane| {
                    let over = match adds {
                        true => lower.op2(Op::ULt, low[lane], a[lane]),
                        false => lower.op2(Op::ULt, a[lane], b[lane]),
                    };
                    Ok(lower.select(over, one, zero))
                })?;
                (low, vec![over])
            }
            (_, [a, b]) => {
                let upper = if name == "umulExtended" { Op::UMulHi } else { Op::SMulHi };
                let (high, low) = (self.map(upper, &[a, b])?, self.map(Op::IMul, &[a, b])?);
                (Values::new(), vec![high, low])
            }
            _ => return Err(Stop::internal("a function without its arguments")),
        };
        for (target, values) in targets.iter().zip(&others) {
            self.store_target(target, values)?;
        }
        Ok(first)
    }

    /// Functions on words that others change too.
    fn atomic_function(
        &mut self,
        frame: &mut Frame,
        name: &str,
        arguments: &'p [Expr],
    ) -> Result<Values> {
        let Some((first, rest)) = arguments.split_first() else {
            return Err(Stop::internal("an atomic function without its word"));
        };
        let pointer = self.pointer(frame, first)?;
        let scalar = pointer.ty.scalar().unwrap_or(Scalar::U32);
        let ty = width(scalar);
        let mut operands = Values::new();
        for argument in rest {
            operands.push(self.scalar(frame, argument)?);
        }
        let place = &pointer.place;
        let one = |value| Values::from_elem(value, 1);
        let word = |lower: &mut Self, op, operands: &[Value]| {
            lower.atomic(place, op, ty, operands).map(one)
        };
        let fun = match name {
            "atomicCounter" | "atomicLoad" => return word(self, AtomicOp::Load, &[]),
            "atomicStore" => {
                self.atomic_store(place, operands[0])?;
                return Ok(Values::new());
            }
            "atomicCounterIncrement" => {
                let by = self.u32(1);
                return word(self, AtomicOp::Add, &[by]);
            }
            "atomicCounterDecrement" => {
                let by = self.u32(u32::MAX);
                let old = self.atomic(place, AtomicOp::Add, ty, &[by])?;
                return Ok(one(self.op2(Op::IAdd, old, by)));
            }
            "atomicCounterSubtract" => return word(self, AtomicOp::Sub, &operands),
            "atomicCompSwap" => return word(self, AtomicOp::CompareExchange, &operands),
            "atomicAdd" => AtomicFunction::Add,
            "atomicMin" => AtomicFunction::Min,
            "atomicMax" => AtomicFunction::Max,
            "atomicAnd" => AtomicFunction::And,
            "atomicOr" => AtomicFunction::InclusiveOr,
            "atomicXor" => AtomicFunction::ExclusiveOr,
            _ => AtomicFunction::Exchange { compare: None },
        };
        match atomic_op(fun, scalar)? {
            Atomic::Native(op) => word(self, op, &operands),
            Atomic::Float(op) => self.atomic_float(place, op, operands[0]).map(one),
        }
    }
}

/// The last argument is made of truth values.
fn is_truth(arguments: &[Expr]) -> bool {
    arguments
        .last()
        .and_then(|last| last.ty.scalar())
        .is_some_and(|scalar| scalar.kind == ScalarKind::Bool)
}

//! Expressions: naga's handles to operands.

use super::emit::pick;
use super::flow::{CONSTANT_LEAVES, SELECT_LEAVES};
use super::frame::{Frame, Operand, Place};
use super::{Global, Lower, OfNaga, Result, Values};
use crate::Needs;
use crate::stop::{LOWERING, Stop};
use gpucc_ir::ssa::{Op, Stage, Type, Value};
use naga::{
    DerivativeAxis, DerivativeControl, Expression, GlobalVariable, Handle, Literal,
    RelationalFunction, ScalarKind, TypeInner,
};
use std::borrow::Cow;

/// The width and bits of a literal.
pub fn literal(literal: Literal) -> (Type, u64) {
    match literal {
        Literal::F64(value) => (Type::B64, value.to_bits()),
        Literal::F32(value) => (Type::B32, value.to_bits().into()),
        Literal::F16(value) => (Type::B16, value.to_bits().into()),
        Literal::U16(value) => (Type::B16, value.into()),
        Literal::I16(value) => (Type::B16, u64::from(value as u16)),
        Literal::U32(value) => (Type::B32, value.into()),
        Literal::I32(value) => (Type::B32, u64::from(value as u32)),
        Literal::U64(value) => (Type::B64, value),
        Literal::I64(value) => (Type::B64, value as u64),
        Literal::Bool(value) => (Type::B1, value.into()),
        // Validation leaves none of these.
        Literal::AbstractInt(value) => (Type::B32, u64::from(value as u32)),
        Literal::AbstractFloat(value) => (Type::B32, (value as f32).to_bits().into()),
    }
}

impl<'a> OfNaga<'a> {
    /// The type of an expression of the function being inlined.
    pub fn inner(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> &'a TypeInner {
        frame.info[handle].ty.inner_with(&self.source.module.types)
    }

    /// What a pointer expression points to.
    pub fn pointee(
        &self,
        frame: &Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Cow<'a, TypeInner>> {
        match *self.inner(frame, handle) {
            TypeInner::Pointer { base, .. } => Ok(Cow::Borrowed(self.source.types.inner(base))),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
                Ok(Cow::Owned(TypeInner::Vector { size, scalar }))
            }
            TypeInner::ValuePointer { size: None, scalar, .. } => {
                Ok(Cow::Owned(TypeInner::Scalar(scalar)))
            }
            _ => Err(Stop::internal("a pointer is expected")),
        }
    }

    /// The operand of an expression, evaluated before or evaluable anywhere.
    pub fn operand(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Operand> {
        if let Some(operand) = &frame.values[handle.index()] {
            return Ok(operand.clone());
        }
        if let Some(Some(_)) = frame.carried.get(handle.index()) {
            return self.reload(frame, handle);
        }
        let operand = match frame.function.expressions[handle] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => {
                let values = match frame.function.expressions[handle] {
                    Expression::Literal(value) => {
                        let (ty, bits) = literal(value);
                        Values::from_elem(self.constant(ty, bits), 1)
                    }
                    Expression::Constant(constant) => {
                        self.global_expression(self.source.module.constants[constant].init)?
                    }
                    Expression::ZeroValue(ty) => self.zero_value(ty)?,
                    _ => return Err(Stop::internal("not a constant")),
                };
                // Constants are visible everywhere, so this needs no place in the log.
                frame.values[handle.index()] = Some(Operand::Values(values.clone()));
                Operand::Values(values)
            }
            Expression::FunctionArgument(index) => match frame.arguments.get(index as usize) {
                Some(argument) => argument.clone(),
                None => return Err(Stop::internal("no such argument")),
            },
            Expression::GlobalVariable(global) => self.global(global)?,
            Expression::LocalVariable(local) => {
                Operand::Place(self.place_of(frame.locals[local.index()]))
            }
            Expression::Override(_) => {
                return Err(Stop::internal("an override is left after overrides were resolved"));
            }
            Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. }
            | Expression::RayQueryProceedResult
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. } => {
                // Only dead code behind a call that never returns asks for these.
                let inner = self.inner(frame, handle);
                let widths = self.source.types.widths(inner)?;
                Operand::Values(widths.iter().map(|&ty| self.constant(ty, 0)).collect())
            }
            // Initial values and constant operands are not emitted.
            _ => self.evaluate(frame, handle)?,
        };
        Ok(operand)
    }

    /// The scalars of an expression.
    pub fn values(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Result<Values> {
        if let Some(Operand::Values(values)) = &frame.values[handle.index()] {
            return Ok(values.clone());
        }
        Frame::scalars(self.operand(frame, handle)?)
    }

    /// The only scalar of an expression.
    pub fn scalar(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Result<Value> {
        match self.values(frame, handle)?.as_slice() {
            [value] => Ok(*value),
            _ => Err(Stop::internal("a scalar is expected")),
        }
    }

    /// The place that a pointer expression points to.
    pub fn place(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Result<Place> {
        match self.operand(frame, handle)? {
            Operand::Place(place) => Ok(place),
            Operand::Values(_) | Operand::Handle(..) => {
                Err(Stop::internal("a pointer is expected"))
            }
        }
    }

    fn global(&mut self, handle: Handle<GlobalVariable>) -> Result<Operand> {
        if matches!(self.source.globals[handle.index()], Global::Unused) {
            self.declare(handle)?;
        }
        match &self.source.globals[handle.index()] {
            Global::Variable(place) => Ok(Operand::Place(place.clone())),
            &Global::Binding(resource) => {
                let variable = &self.source.module.global_variables[handle];
                let array =
                    matches!(self.source.types.inner(variable.ty), TypeInner::BindingArray { .. });
                Ok(match variable.space {
                    naga::AddressSpace::Handle => Operand::Handle(resource, None),
                    _ if array => Operand::Handle(resource, None),
                    _ => Operand::Place(Place::buffer(resource, None)),
                })
            }
            Global::Unused => Err(Stop::internal("a global is used that was not declared")),
        }
    }

    fn zero_value(&mut self, ty: Handle<naga::Type>) -> Result<Values> {
        let widths = self.source.types.widths(self.source.types.inner(ty))?;
        Ok(widths.iter().map(|&ty| self.constant(ty, 0)).collect())
    }

    /// A constant expression of the module.
    pub fn global_expression(&mut self, handle: Handle<Expression>) -> Result<Values> {
        if let Some(values) = &self.source.constant_values[handle.index()] {
            return Ok(values.clone());
        }
        let values = match self.source.module.global_expressions[handle] {
            Expression::Literal(value) => {
                let (ty, bits) = literal(value);
                Values::from_elem(self.constant(ty, bits), 1)
            }
            Expression::Constant(constant) => {
                self.global_expression(self.source.module.constants[constant].init)?
            }
            Expression::ZeroValue(ty) => self.zero_value(ty)?,
            Expression::Compose { ty, ref components } => {
                self.source.types.leaf_count(ty)?;
                let mut values = Values::new();
                for &component in components {
                    values.extend(self.global_expression(component)?);
                }
                values
            }
            Expression::Splat { size, value } => {
                let value = self.global_expression(value)?;
                Values::from_elem(value[0], size as usize)
            }
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.global_expression(vector)?;
                let lanes = pattern.iter().take(size as usize);
                lanes.map(|lane| vector[lane.index() as usize]).collect()
            }
            Expression::Override(_) => {
                return Err(Stop::internal("an override is left after overrides were resolved"));
            }
            _ => {
                return Err(Stop::unsupported(
                    "this constant expression, which naga does not evaluate",
                    LOWERING,
                ));
            }
        };
        self.source.constant_values[handle.index()] = Some(values.clone());
        Ok(values)
    }

    /// Evaluates an expression at the current place.
    pub fn evaluate(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Operand> {
        let values = match frame.function.expressions[handle] {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ZeroValue(_)
            | Expression::Override(_)
            | Expression::FunctionArgument(_)
            | Expression::GlobalVariable(_)
            | Expression::LocalVariable(_)
            | Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. }
            | Expression::RayQueryProceedResult
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. } => {
                return self.operand(frame, handle);
            }
            Expression::Compose { ty, ref components } => {
                self.source.types.leaf_count(ty)?;
                let mut values = Values::new();
                for &component in components {
                    values.extend(self.values(frame, component)?);
                }
                values
            }
            Expression::Splat { size, value } => {
                let value = self.scalar(frame, value)?;
                Values::from_elem(value, size as usize)
            }
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.values(frame, vector)?;
                let lanes = pattern.iter().take(size as usize);
                lanes.map(|lane| vector[lane.index() as usize]).collect()
            }
            Expression::AccessIndex { base, index } => {
                return self.access_constant(frame, base, index);
            }
            Expression::Access { base, index } => {
                return self.access_dynamic(frame, base, index);
            }
            Expression::Load { pointer } => {
                let place = self.place(frame, pointer)?;
                let inner = self.pointee(frame, pointer)?;
                self.load(&place, &inner)?
            }
            Expression::Unary { op, expr } => self.unary(frame, op, expr)?,
            Expression::Binary { op, left, right } => self.binary(frame, op, left, right)?,
            Expression::Select { condition, accept, reject } => {
                let condition = self.values(frame, condition)?;
                let accept = self.values(frame, accept)?;
                let reject = self.values(frame, reject)?;
                self.lanes(accept.len(), |lower, lane| {
                    let condition = pick(&condition, lane);
                    Ok(lower.select(condition, accept[lane], pick(&reject, lane)))
                })?
            }
            Expression::Derivative { axis, ctrl, expr } => {
                let values = self.values(frame, expr)?;
                self.derivative(axis, ctrl, &values)?
            }
            Expression::Relational { fun, argument } => {
                let values = self.values(frame, argument)?;
                self.relational(fun, &values)?
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                self.math(frame, fun, [Some(arg), arg1, arg2, arg3])?
            }
            Expression::As { expr, kind, convert } => self.cast(frame, expr, kind, convert)?,
            Expression::ArrayLength(pointer) => {
                let place = self.place(frame, pointer)?;
                let inner = self.pointee(frame, pointer)?;
                let stride = self.source.types.stride(&inner, place.layout);
                Values::from_elem(self.runtime_length(&place, stride)?, 1)
            }
            Expression::ImageSample {
                image,
                sampler,
                gather,
                coordinate,
                array_index,
                offset,
                level,
                depth_ref,
                clamp_to_edge,
            } => {
                let sample = super::texture::Sampled {
                    image,
                    sampler,
                    gather,
                    coordinate,
                    array_index,
                    offset,
                    level,
                    depth_ref,
                    clamp_to_edge,
                };
                self.image_sample(frame, &sample)?
            }
            Expression::ImageLoad { image, coordinate, array_index, sample, level } => {
                self.image_load(frame, image, coordinate, array_index, sample.or(level))?
            }
            Expression::ImageQuery { image, query } => self.image_query(frame, image, query)?,
            Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryGetIntersection { .. } => {
                return Err(Stop::unsupported("ray queries", LOWERING).needing(Needs::RayTracing));
            }
            Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => {
                return Err(Stop::unsupported("cooperative matrices", LOWERING)
                    .needing(Needs::CooperativeMatrices));
            }
        };
        Ok(Operand::Values(values))
    }

    fn access_constant(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: u32,
    ) -> Result<Operand> {
        let inner = self.inner(frame, base);
        if let Some(Operand::Values(values)) = &frame.values[base.index()] {
            let (start, count) = self.source.types.part(inner, index)?;
            return Ok(Operand::Values(Values::from_slice(&values[start..start + count])));
        }
        match self.operand(frame, base)? {
            Operand::Values(values) => {
                let (start, count) = self.source.types.part(inner, index)?;
                Ok(Operand::Values(Values::from_slice(&values[start..start + count])))
            }
            Operand::Place(place) => {
                let pointee = self.pointee(frame, base)?;
                self.element_at(&place, &pointee, index).map(Operand::Place)
            }
            Operand::Handle(resource, _) => {
                let index = self.u32(index);
                Ok(self.binding_element(frame, base, resource, index))
            }
        }
    }

    /// An element of an array of bindings, at an index that may be out of range.
    fn binding_element(
        &mut self,
        frame: &Frame<'a>,
        base: Handle<Expression>,
        resource: gpucc_ir::ssa::Resource,
        index: Value,
    ) -> Operand {
        let count = self.func.resources[resource].count.unwrap_or(1);
        let known = self.func.as_const(index);
        let element = match known.is_some_and(|bits| bits < u64::from(count)) {
            true => index,
            false => {
                let count = self.u32(count);
                self.op2(Op::Index, index, count)
            }
        };
        match self.inner(frame, base) {
            // A pointer: an array of buffers.
            TypeInner::Pointer { .. } => Operand::Place(Place::buffer(resource, Some(element))),
            _ => Operand::Handle(resource, Some(element)),
        }
    }

    fn access_dynamic(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> Result<Operand> {
        let index = self.scalar(frame, index)?;
        let index = match self.ty(index) {
            Type::B64 => self.op1(Op::Lo64, index),
            Type::B16 => self.convert(Op::UConvert, Type::B32, index),
            Type::B1 | Type::B32 => index,
        };
        match self.operand(frame, base)? {
            Operand::Place(place) => {
                let pointee = self.pointee(frame, base)?;
                Ok(Operand::Place(self.element_of_place(&place, &pointee, index)?))
            }
            Operand::Handle(resource, _) => Ok(self.binding_element(frame, base, resource, index)),
            Operand::Values(values) => {
                let inner = self.inner(frame, base);
                let super::types::Length::Known(length) = self.source.types.length(inner)? else {
                    return Err(Stop::internal("a value is a runtime array"));
                };
                if let Some(bits) = self.func.as_const(index)
                    && bits < u64::from(length)
                {
                    let (start, count) = self.source.types.part(inner, bits as u32)?;
                    let part = Values::from_slice(&values[start..start + count]);
                    return Ok(Operand::Values(part));
                }
                let array = matches!(inner, TypeInner::Array { .. } | TypeInner::Matrix { .. });
                let constants = values.iter().all(|&value| self.func.as_const(value).is_some());
                let most = if constants { CONSTANT_LEAVES } else { SELECT_LEAVES };
                if array && values.len() > most {
                    let mem = match frame.spilled.get(base.index()).copied().flatten() {
                        Some(mem) => mem,
                        None => self.spill(inner, &values)?,
                    };
                    let place = self.place_of(mem);
                    let part = self.element_of_place(&place, inner, index)?;
                    let element = self.source.types.element(inner, 0)?;
                    return Ok(Operand::Values(self.load(&part, &element)?));
                }
                self.choose(&values, index, length).map(Operand::Values)
            }
        }
    }

    /// Kind of the scalars of an expression.
    pub fn kind(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> Result<ScalarKind> {
        self.scalar_of(frame, handle).map(|scalar| scalar.kind)
    }

    /// The scalar type that an expression is made of.
    pub fn scalar_of(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> Result<naga::Scalar> {
        let inner = self.inner(frame, handle);
        inner
            .scalar()
            .ok_or_else(|| Stop::internal("an operand that is not made of one scalar type"))
    }
}

impl<S> Lower<'_, S> {
    /// The part of a short composite at a dynamic index, by selects.
    pub fn choose(&mut self, values: &[Value], index: Value, length: u32) -> Result<Values> {
        let count = self.u32(length);
        let index = self.op2(Op::Index, index, count);
        let part = values.len() / length.max(1) as usize;
        let mut chosen = Values::from_slice(&values[..part]);
        for element in 1..length {
            let number = self.u32(element);
            let here = self.op2(Op::IEq, index, number);
            let start = element as usize * part;
            chosen = self.lanes(part, |lower, lane| {
                Ok(lower.select(here, values[start + lane], chosen[lane]))
            })?;
        }
        Ok(chosen)
    }

    /// A derivative, lane by lane.
    pub fn derivative(
        &mut self,
        axis: DerivativeAxis,
        ctrl: DerivativeControl,
        values: &Values,
    ) -> Result<Values> {
        use DerivativeControl as C;
        if self.stage == Stage::Compute {
            return self.group_derivative(axis, ctrl, values);
        }
        let (x, y) = match ctrl {
            C::None => (Op::Ddx, Op::Ddy),
            C::Fine => (Op::DdxFine, Op::DdyFine),
            C::Coarse => (Op::DdxCoarse, Op::DdyCoarse),
        };
        match axis {
            DerivativeAxis::X => self.map(x, &[values]),
            DerivativeAxis::Y => self.map(y, &[values]),
            DerivativeAxis::Width => {
                let dx = self.map(x, &[values])?;
                let dy = self.map(y, &[values])?;
                let (dx, dy) = (self.map(Op::FAbs, &[&dx])?, self.map(Op::FAbs, &[&dy])?);
                self.map(Op::FAdd, &[&dx, &dy])
            }
        }
    }

    /// A test of all lanes of a value.
    pub fn relational(&mut self, fun: RelationalFunction, values: &Values) -> Result<Values> {
        let all = |lower: &mut Self, op| {
            let (&first, rest) = values.split_first().expect("a vector has lanes");
            let result = rest.iter().fold(first, |all, &lane| lower.op2(op, all, lane));
            Values::from_elem(result, 1)
        };
        Ok(match fun {
            RelationalFunction::All => all(self, Op::And),
            RelationalFunction::Any => all(self, Op::Or),
            RelationalFunction::IsNan => self.map(Op::FNe, &[values, values])?,
            RelationalFunction::IsInf => {
                let infinity = self.float(self.ty(values[0]), f64::INFINITY);
                let infinity = Values::from_elem(infinity, 1);
                let magnitude = self.map(Op::FAbs, &[values])?;
                self.map(Op::FEq, &[&magnitude, &infinity])?
            }
        })
    }
}

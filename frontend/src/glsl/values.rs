//! Lowering of expressions to scalars.

use super::constant::{diagonal, part, resized};
use super::lower::{Frame, OfGlsl, Pointer};
use super::tree::{Binary, Expr, Kind, Unary};
use super::types::Ty;
use crate::lower::emit::pick;
use crate::lower::flow::{CONSTANT_LEAVES, SELECT_LEAVES};
use crate::lower::frame::Flow;
use crate::lower::narrow::is_byte;
use crate::lower::types::width;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Value};
use naga::{BinaryOperator, Scalar, ScalarKind};

fn operator(op: Binary) -> BinaryOperator {
    match op {
        Binary::Add => BinaryOperator::Add,
        Binary::Sub => BinaryOperator::Subtract,
        Binary::Mul => BinaryOperator::Multiply,
        Binary::Div => BinaryOperator::Divide,
        Binary::Rem => BinaryOperator::Modulo,
        Binary::Shl => BinaryOperator::ShiftLeft,
        Binary::Shr => BinaryOperator::ShiftRight,
        Binary::And => BinaryOperator::And,
        Binary::Or => BinaryOperator::InclusiveOr,
        Binary::Xor => BinaryOperator::ExclusiveOr,
        Binary::Less => BinaryOperator::Less,
        Binary::LessEqual => BinaryOperator::LessEqual,
        Binary::Greater => BinaryOperator::Greater,
        Binary::GreaterEqual => BinaryOperator::GreaterEqual,
    }
}

/// Nodes that are computed where only one of two is wanted.
const CHEAP: u32 = 8;

/// How many nodes an expression has that may be computed though nobody asks for it; none where it has effects or
/// costs much.
fn cheap(expr: &Expr, left: u32) -> Option<u32> {
    let left = left.checked_sub(1)?;
    match &expr.kind {
        Kind::Const(_) | Kind::Local(_) | Kind::Global(_) => Some(left),
        Kind::Member(base, _)
        | Kind::Swizzle(base, _)
        | Kind::Convert(base)
        | Kind::Splat(base)
        | Kind::Unary(_, base) => cheap(base, left),
        Kind::Index(base, index) if index.known().is_some() => cheap(base, left),
        Kind::Binary(_, a, b) | Kind::Equal(_, a, b) => cheap(b, cheap(a, left)?),
        Kind::Construct(parts) => parts.iter().try_fold(left, |left, part| cheap(part, left)),
        _ => None,
    }
}

impl<'p> OfGlsl<'p> {
    /// The scalar of an expression.
    pub(super) fn scalar(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<Value> {
        match self.values(frame, expr)?[..] {
            [value, ..] => Ok(value),
            [] => Err(Stop::internal("a value has no scalar")),
        }
    }

    /// The scalars of an expression, in order.
    pub(super) fn values(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<Values> {
        self.step()?;
        let outer = self.span;
        self.span = expr.span;
        let values = self.values_here(frame, expr).map_err(|stop| stop.at(expr.span))?;
        self.span = outer;
        Ok(values)
    }

    fn values_here(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<Values> {
        let types = &self.source.p.types;
        Ok(match &expr.kind {
            Kind::Const(known) => {
                let scalars = types.scalars(expr.ty)?;
                self.keep(scalars.len())?;
                let pairs = known.iter().zip(scalars);
                pairs
                    .map(|(num, scalar)| {
                        let mask = if is_byte(scalar) { 0xff } else { u64::MAX };
                        self.constant(width(scalar), num.bits(scalar) & mask)
                    })
                    .collect()
            }
            Kind::Local(_) | Kind::Global(_) => {
                let pointer = self.pointer(frame, expr)?;
                self.load(&pointer)?
            }
            Kind::Member(base, index) => {
                if self.is_place(expr) {
                    let pointer = self.pointer(frame, expr)?;
                    return self.load(&pointer);
                }
                let values = self.values(frame, base)?;
                self.part_of(base.ty, &values, *index)?
            }
            Kind::Index(base, index) => {
                if self.is_place(expr) {
                    let pointer = self.pointer(frame, expr)?;
                    return self.load(&pointer);
                }
                let values = self.values(frame, base)?;
                let index = self.index(frame, index)?;
                self.pick(base.ty, &values, index)?
            }
            Kind::Swizzle(base, lanes) => {
                if self.is_place(base) && matches!(base.ty, Ty::Vector(..)) {
                    let pointer = self.pointer(frame, base)?;
                    return self.load_lanes(&pointer, lanes);
                }
                let values = self.values(frame, base)?;
                lanes.iter().map(|lane| values[lane]).collect()
            }
            Kind::Convert(inner) => {
                let values = self.values(frame, inner)?;
                match (inner.ty.scalar(), expr.ty.scalar()) {
                    (Some(from), Some(to)) => self.converted(values, from, to)?,
                    _ => return Err(Stop::internal("a conversion of what is not made of numbers")),
                }
            }
            Kind::Construct(parts) => {
                let count = types.leaf_count(expr.ty)?;
                let mut values = Values::new();
                for part in parts {
                    values.extend(self.values(frame, part)?);
                }
                values.truncate(count);
                self.keep(values.len())?;
                values
            }
            Kind::Splat(inner) => {
                let value = self.scalar(frame, inner)?;
                Values::from_elem(value, types.leaf_count(expr.ty)?)
            }
            Kind::Diagonal(inner) => {
                let value = self.scalar(frame, inner)?;
                let Ty::Matrix(scalar, columns, rows) = expr.ty else {
                    return Err(Stop::internal("a diagonal of no matrix"));
                };
                let zero = self.float(width(scalar), 0.0);
                diagonal(columns, rows, value, zero).into()
            }
            Kind::Resize(inner) => {
                let values = self.values(frame, inner)?;
                let (Ty::Matrix(scalar, ca, ra), Ty::Matrix(_, cb, rb)) = (inner.ty, expr.ty)
                else {
                    return Err(Stop::internal("a part of no matrix"));
                };
                let (zero, one) = (self.float(width(scalar), 0.0), self.float(width(scalar), 1.0));
                resized((ca, ra), (cb, rb), &values, zero, one).into()
            }
            Kind::Unary(op, inner) => {
                let values = self.values(frame, inner)?;
                let float =
                    inner.ty.scalar().is_some_and(|scalar| scalar.kind == ScalarKind::Float);
                let op = match op {
                    Unary::Negate if float => Op::FNeg,
                    Unary::Negate => Op::INeg,
                    Unary::Not | Unary::BitNot => Op::Not,
                };
                let values = self.map(op, &[&values])?;
                match inner.ty.scalar() {
                    Some(scalar) => self.cut(scalar, values),
                    None => values,
                }
            }
            Kind::Binary(op, a, b) => {
                if let (Binary::Mul, Ty::Matrix(..), Ty::Vector(..)) = (op, a.ty, b.ty) {
                    return self.matrix_times_vector(frame, a, b);
                }
                let left = self.values(frame, a)?;
                let right = self.values(frame, b)?;
                self.binary(*op, (a.ty, &left), (b.ty, &right))?
            }
            Kind::Equal(equal, a, b) => {
                let (left, right) = (self.values(frame, a)?, self.values(frame, b)?);
                Values::from_elem(self.all_equal(*equal, a.ty, &left, &right)?, 1)
            }
            Kind::AndAlso(a, b) => self.short(frame, a, b, true)?,
            Kind::OrElse(a, b) => self.short(frame, a, b, false)?,
            Kind::Choose(condition, a, b) => {
                let condition = self.scalar(frame, condition)?;
                let left = cheap(a, CHEAP).and_then(|left| cheap(b, left));
                if left.is_some() && types.leaf_count(expr.ty)? <= 4 {
                    let (yes, no) = (self.values(frame, a)?, self.values(frame, b)?);
                    return self.lanes(yes.len(), |lower, lane| {
                        Ok(lower.select(condition, yes[lane], no[lane]))
                    });
                }
                if expr.ty == Ty::Void {
                    self.fork(condition, &mut |lower, holds| {
                        lower.effect(frame, if holds { a } else { b })?;
                        Ok(if lower.ended() { Flow::Dead } else { Flow::Open })
                    })?;
                    return Ok(Values::new());
                }
                let pointer = self.private("chosen", expr.ty)?;
                self.fork(condition, &mut |lower, holds| {
                    let values = lower.values(frame, if holds { a } else { b })?;
                    if lower.ended() {
                        return Ok(Flow::Dead);
                    }
                    lower.store(&pointer, &values)?;
                    Ok(Flow::Open)
                })?;
                self.load(&pointer)?
            }
            Kind::Assign(target, value) => {
                let target = self.target(frame, target)?;
                let values = self.values(frame, value)?;
                self.store_target(&target, &values)?;
                values
            }
            Kind::Update(op, place, value, post) => {
                let target = self.target(frame, place)?;
                let right = self.values(frame, value)?;
                let left = self.load_target(&target)?;
                let made = self.binary(*op, (place.ty, &left), (value.ty, &right))?;
                self.store_target(&target, &made)?;
                if *post { left } else { made }
            }
            Kind::Comma(a, b) => {
                self.effect(frame, a)?;
                self.values(frame, b)?
            }
            Kind::Call(number, arguments) => match self.call(frame, *number, arguments)? {
                Some(slot) if !self.ended() => self.load(&slot)?,
                // The callee never returns; what follows is dead but must stand somewhere.
                Some(slot) => self.zeros(slot.ty)?,
                None => Values::new(),
            },
            Kind::Builtin(name, arguments) => self.builtin(frame, name, arguments, expr.ty)?,
            Kind::Texture(texture) => self.sample(frame, texture)?,
            Kind::Deref(_) => {
                let pointer = self.pointer(frame, expr)?;
                self.load(&pointer)?
            }
            Kind::Recast(inner) => self.recast_pointer(frame, inner, expr.ty)?,
            Kind::Combine(..) => {
                return Err(Stop::unsupported("a texture that is a value", super::READING));
            }
            Kind::Length(array) => {
                let pointer = self.pointer(frame, array)?;
                let length = match types.elements(pointer.ty) {
                    Some((_, Some(length))) => self.u32(length),
                    _ => {
                        let (stride, _) = types.stride(pointer.ty, pointer.packing);
                        self.runtime_length(&pointer.place, stride)?
                    }
                };
                Values::from_elem(length, 1)
            }
        })
    }

    /// A part of a value at a constant index.
    fn part_of(&mut self, ty: Ty, values: &Values, index: u32) -> Result<Values> {
        match part(&self.source.p.types, ty, index) {
            Some((start, count)) => Ok(Values::from_slice(&values[start..start + count])),
            None => Err(Stop::internal("a value has no such part")),
        }
    }

    /// The element of a value at an index that may be out of range.
    fn pick(&mut self, ty: Ty, values: &Values, index: Value) -> Result<Values> {
        let Some((_, Some(length))) = self.source.p.types.elements(ty) else {
            return Err(Stop::internal("an element of what has none"));
        };
        if let Some(bits) = self.func.as_const(index)
            && bits < u64::from(length)
        {
            return self.part_of(ty, values, bits as u32);
        }
        let constant = values.iter().all(|&value| self.func.as_const(value).is_some());
        let most = if constant { CONSTANT_LEAVES } else { SELECT_LEAVES };
        if values.len() <= most {
            return self.choose(values, index, length);
        }
        let table = self.spill(ty, values, constant)?;
        let part = self.element_of(&table, index)?;
        self.load(&part)
    }

    /// Puts a value into a variable. Constant ones are stored once, at the start.
    fn spill(&mut self, ty: Ty, values: &Values, constant: bool) -> Result<Pointer> {
        if constant && let Some(&mem) = self.tables.get(values.as_slice()) {
            let place = self.place_of(mem);
            return Ok(Pointer {
                place,
                ty,
                packing: super::layout::Packing::DENSE,
                bindings: false,
            });
        }
        let pointer = self.private(if constant { "table" } else { "array" }, ty)?;
        if constant {
            let initial = self.initial;
            self.within(initial, |lower| lower.store(&pointer, values))?;
            if let crate::lower::frame::Base::Mem(mem) = pointer.place.base {
                self.tables.insert(values.to_vec(), mem);
            }
        } else {
            self.store(&pointer, values)?;
        }
        Ok(pointer)
    }

    /// `&&` and `||`: the right operand is asked only where the left one does not decide.
    fn short(&mut self, frame: &mut Frame, a: &'p Expr, b: &'p Expr, both: bool) -> Result<Values> {
        let left = self.scalar(frame, a)?;
        let op = if both { Op::And } else { Op::Or };
        if cheap(b, CHEAP).is_some() {
            let right = self.scalar(frame, b)?;
            return Ok(Values::from_elem(self.op2(op, left, right), 1));
        }
        let pointer = self.private("truth", super::types::BOOL)?;
        self.fork(left, &mut |lower, holds| {
            let value = if holds == both { lower.scalar(frame, b)? } else { lower.bool(holds) };
            if lower.ended() {
                return Ok(Flow::Dead);
            }
            lower.store(&pointer, &[value])?;
            Ok(Flow::Open)
        })?;
        self.load(&pointer)
    }

    /// Whether all scalars of two values are equal.
    fn all_equal(&mut self, equal: bool, ty: Ty, a: &Values, b: &Values) -> Result<Value> {
        let scalars = self.source.p.types.scalars(ty)?;
        let mut found = None;
        for ((&a, &b), scalar) in a.iter().zip(b).zip(scalars) {
            let float = scalar.kind == ScalarKind::Float;
            let op = match (equal, float) {
                (true, true) => Op::FEq,
                (true, false) => Op::IEq,
                (false, true) => Op::FNe,
                (false, false) => Op::INe,
            };
            let one = self.op2(op, a, b);
            found = Some(match found {
                None => one,
                Some(all) => self.op2(if equal { Op::And } else { Op::Or }, all, one),
            });
        }
        Ok(found.unwrap_or_else(|| self.bool(equal)))
    }

    /// An operator on values of the same scalars.
    pub(super) fn binary(
        &mut self,
        op: Binary,
        a: (Ty, &Values),
        b: (Ty, &Values),
    ) -> Result<Values> {
        let ((left, a), (right, b)) = (a, b);
        if let Ty::Reference(_) = left {
            return self.pointer_arithmetic(op, (left, a[0]), (right, b));
        }
        if op == Binary::Mul {
            match (left, right) {
                (Ty::Matrix(..), Ty::Vector(..)) => return self.matrix_vector(a, b),
                (Ty::Vector(..), Ty::Matrix(..)) => return self.vector_matrix(a, b),
                (Ty::Matrix(..), Ty::Matrix(_, _, rows)) => {
                    return self.matrix_matrix(a, b, rows.into());
                }
                _ => {}
            }
        }
        let scalar = left.scalar().unwrap_or(Scalar::F32);
        let signed = scalar.kind == ScalarKind::Sint;
        let (mut a, mut b) = (a.clone(), b.clone());
        if signed {
            a = self.extended_by_sign(scalar, a);
            b = self.extended_by_sign(right.scalar().unwrap_or(scalar), b);
        }
        let values = match op {
            // As others have it; GLSL leaves negative operands undefined (GLSL 4.60, 5.9).
            Binary::Rem if signed => self.modulo(&a, &b)?,
            _ => self.arithmetic(operator(op), scalar.kind, &a, &b)?,
        };
        let compares =
            matches!(op, Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual);
        Ok(if compares { values } else { self.cut(scalar, values) })
    }

    /// Scalars of another type.
    pub(super) fn converted(&mut self, values: Values, from: Scalar, to: Scalar) -> Result<Values> {
        let values = match from.kind {
            ScalarKind::Sint => self.extended_by_sign(from, values),
            _ => values,
        };
        let wide =
            |scalar: Scalar| if is_byte(scalar) { Scalar { width: 4, ..scalar } } else { scalar };
        let (own, other) = (wide(from), wide(to));
        let values =
            self.lanes(values.len(), |lower, lane| lower.convert_scalar(values[lane], own, other))?;
        Ok(self.cut(to, values))
    }

    /// Matrix times vector. A matrix that is a product is taken apart, A (B v) for (A B) v: the same if computed exactly,
    /// fewer roundings, a fraction of the work. Not where the position is invariant: another program may need the
    /// product too.
    fn matrix_times_vector(
        &mut self,
        frame: &mut Frame,
        matrix: &'p Expr,
        vector: &'p Expr,
    ) -> Result<Values> {
        let mut factors = Vec::new();
        let mut at = matrix;
        while let Kind::Binary(Binary::Mul, a, b) = &at.kind
            && matches!((a.ty, b.ty), (Ty::Matrix(..), Ty::Matrix(..)))
            && !self.func.invariant
        {
            factors.push(&**b);
            at = a;
        }
        // What stands first is evaluated first.
        let mut all = vec![self.values(frame, at)?];
        for factor in factors.into_iter().rev() {
            all.push(self.values(frame, factor)?);
        }
        let mut vector = self.values(frame, vector)?;
        for matrix in all.iter().rev() {
            vector = self.matrix_vector(matrix, &vector)?;
        }
        Ok(vector)
    }

    /// One op lane by lane on lanes that a scalar may serve.
    pub(super) fn lanes_of(
        &mut self,
        count: usize,
        operands: &[&Values],
        mut each: impl FnMut(&mut Self, &[Value]) -> Result<Value>,
    ) -> Result<Values> {
        self.lanes(count, |lower, lane| {
            let own: Values = operands.iter().map(|values| pick(values, lane)).collect();
            each(lower, &own)
        })
    }
}

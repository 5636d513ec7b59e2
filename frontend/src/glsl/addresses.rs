//! Pointers to physical storage (GL_EXT_buffer_reference, its second version and its `uvec2`): their meaning, and how they are
//! followed ([`crate::lower::addresses`]).

use super::check::{Check, invalid};
use super::lower::{Frame, OfGlsl, Pointer};
use super::tree::{Binary, Expr, Kind};
use super::types::{Ty, is_integer};
use crate::lower::types::width;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Span, Type, Value};
use naga::{Scalar, ScalarKind};

/// A pointer as two words.
const WORDS: Ty = Ty::Vector(Scalar::U32, 2);

/// An expression is a part of what a pointer leads to.
pub fn is_followed(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Deref(_) => true,
        Kind::Member(base, _) | Kind::Index(base, _) | Kind::Swizzle(base, _) => is_followed(base),
        _ => false,
    }
}

impl Check<'_, '_> {
    /// The block that a pointer leads to; other values as they are.
    pub fn followed(&mut self, base: Expr) -> Result<Expr> {
        let Ty::Reference(id) = base.ty else {
            return Ok(base);
        };
        let reference = self.p.types.reference(id);
        let Some((block, _)) = reference.block else {
            let message = format!("the block of `{}` is not declared yet", reference.name);
            return invalid(message, base.span);
        };
        let span = base.span;
        Ok(Expr::new(Kind::Deref(Box::new(base)), Ty::Struct(block), span))
    }

    /// `p[i]`, `p + i`, `i + p`, `p - i` and `p - q` (GL_EXT_buffer_reference2, which has no other operators); none of operands without a pointer.
    pub fn pointer_sum(
        &mut self,
        op: Binary,
        a: &Expr,
        b: &Expr,
        span: Span,
    ) -> Result<Option<Expr>> {
        let is_pointer = |expr: &Expr| matches!(expr.ty, Ty::Reference(_));
        let (a, b, ty) = match op {
            Binary::Add | Binary::Sub if is_pointer(a) && b.ty.is_integer() => (a, b, a.ty),
            Binary::Add if is_pointer(b) && a.ty.is_integer() => (b, a, b.ty),
            Binary::Sub if is_pointer(a) && a.ty == b.ty => (a, b, Ty::Scalar(Scalar::I64)),
            _ => return Ok(None),
        };
        let Ty::Struct(block) = self.followed(a.clone())?.ty else {
            return Err(Stop::internal("a pointer leads to no block"));
        };
        let last = self.p.types.structure(block).members.last();
        if last.is_some_and(|last| self.p.types.is_unsized(last.ty)) {
            let name = self.p.types.name(a.ty);
            let message = format!(
                "`{name}` ends in an array without a length, so its pointers are not moved (GL_EXT_buffer_reference2)"
            );
            return invalid(message, span);
        }
        let kind = Kind::Binary(op, Box::new(a.clone()), Box::new(b.clone()));
        Ok(Some(Expr::new(kind, ty, span)))
    }

    /// Pointers made of numbers or of other pointers, and numbers made of pointers; none of other values.
    pub fn recast(&mut self, ty: Ty, values: &[Expr], span: Span) -> Result<Option<Expr>> {
        let [value] = values else {
            return Ok(None);
        };
        let is_wide =
            |ty: Ty| matches!(ty, Ty::Scalar(scalar) if is_integer(scalar) && scalar.width == 8);
        let value = match (ty, value.ty) {
            (Ty::Reference(_), Ty::Reference(_)) => value.clone(),
            (Ty::Reference(_), own) if own == WORDS => value.clone(),
            (Ty::Reference(_), own) if own.is_integer() => {
                self.converted(value.clone(), Ty::Scalar(Scalar::U64))
            }
            (to, Ty::Reference(_)) if is_wide(to) || to == WORDS => value.clone(),
            _ => return Ok(None),
        };
        Ok(Some(Expr::new(Kind::Recast(Box::new(value)), ty, span)))
    }
}

impl<'p> OfGlsl<'p> {
    /// The memory that a pointer leads to.
    pub(super) fn deref(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<Pointer> {
        let number = self.scalar(frame, expr)?;
        let types = &self.source.p.types;
        let Ty::Reference(id) = expr.ty else {
            return Err(Stop::internal("a number is followed as a pointer"));
        };
        let reference = types.reference(id);
        let Some((block, packing)) = reference.block else {
            return Err(Stop::internal("a pointer leads to a block that is not declared"));
        };
        let ty = Ty::Struct(block);
        // Pointers and layouts may be aligned to less than vectors are (buffer_reference_align, the layout `scalar`).
        let align = types.widest(ty).min(reference.align.into());
        let bytes = types.end_of(ty, packing);
        let lower = self.op1(Op::Lo64, number);
        let place = self.followed(lower, bytes, align);
        Ok(Pointer { place, ty, packing, bindings: false })
    }

    /// A pointer some blocks away, or how many blocks lie between two pointers.
    pub(super) fn pointer_arithmetic(
        &mut self,
        op: Binary,
        pointer: (Ty, Value),
        (ty, values): (Ty, &Values),
    ) -> Result<Values> {
        let types = &self.source.p.types;
        let Ty::Reference(id) = pointer.0 else {
            return Err(Stop::internal("a number is moved as a pointer"));
        };
        let reference = types.reference(id);
        let Some((block, packing)) = reference.block else {
            return Err(Stop::internal("a pointer leads to a block that is not declared"));
        };
        // The size is rounded up to the pointer's alignment, not to that of the members (GL_EXT_buffer_reference2).
        let bytes = types.unpadded(block, packing);
        let stride = bytes.next_multiple_of(u64::from(reference.align)).max(1);
        let stride = self.constant(Type::B64, stride);
        if let Ty::Reference(_) = ty {
            let apart = self.op2(Op::ISub, pointer.1, values[0]);
            return Ok(Values::from_elem(self.op2(Op::SDiv, apart, stride), 1));
        }
        let from = ty.scalar().unwrap_or(Scalar::I32);
        let to = match from.kind {
            ScalarKind::Sint => Scalar::I64,
            _ => Scalar::U64,
        };
        let steps = self.converted(values.clone(), from, to)?;
        let bytes = self.op2(Op::IMul, steps[0], stride);
        let sum = if op == Binary::Sub { Op::ISub } else { Op::IAdd };
        Ok(Values::from_elem(self.op2(sum, pointer.1, bytes), 1))
    }

    /// The bits of a pointer as those of another type.
    pub(super) fn recast_pointer(
        &mut self,
        frame: &mut Frame,
        inner: &'p Expr,
        to: Ty,
    ) -> Result<Values> {
        let values = self.values(frame, inner)?;
        let of = |ty: Ty| ty.scalar().map_or(Type::B64, width);
        Ok(self.recast(values, of(inner.ty), of(to)))
    }
}

//! Atomic operations of memory and of texels.

use super::lanes::mismatch;
use super::module::Inst;
use super::program::{Id, op};
use super::types::Ty;
use super::{Frame, OfSpirv, Operand, Pointer};
use crate::lower::memory::{Atomic, atomic_op};
use crate::lower::narrow::is_byte;
use crate::lower::types::width;
use crate::lower::{Result, Values};
use gpucc_ir::ssa::{AtomicOp, Value};
use naga::{AtomicFunction, ScalarKind};
use rspirv::spirv::Op as Code;

impl<'p> OfSpirv<'p> {
    /// The type of the word that an atomic changes; texels apart.
    pub(super) fn atomic_scalar(&self, pointer: &Pointer) -> Result<naga::Scalar> {
        match *self.source.program.ty(pointer.ty)? {
            Ty::Scalar(scalar) if scalar.kind != ScalarKind::Bool && !is_byte(scalar) => Ok(scalar),
            _ => Err(mismatch()),
        }
    }

    /// What a pointer points to.
    pub(super) fn load_at(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Values> {
        let program = self.source.program;
        let (_, ty) = program.pointee(program.type_of(id)?)?;
        let from = self.operand(frame, id)?;
        self.at(from, Some(ty), &mut |lower, pointer| lower.load(pointer))
    }

    pub(super) fn atomic_write(
        &mut self,
        frame: &mut Frame<'p>,
        id: Id,
        value: Value,
    ) -> Result<()> {
        if let Operand::Texel(..) = self.operand(frame, id)? {
            self.texel_atomic(frame, id, AtomicOp::Exchange, &[value])?;
            return Ok(());
        }
        let pointer = self.operand(frame, id)?;
        self.at(pointer, None, &mut |lower, pointer| {
            if width(lower.atomic_scalar(pointer)?) != lower.ty(value) {
                return Err(mismatch());
            }
            lower.atomic_store(&pointer.place, value)?;
            Ok(Values::new())
        })?;
        Ok(())
    }

    pub(super) fn atomic_read(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Value> {
        let gives = inst.operand(0);
        let (result, _) = self.source.program.shape(gives)?;
        let ty = width(result);
        let pointer = inst.operand(2);
        let code = op(inst);
        let mut operands = Values::new();
        let (fun, signed) = match code {
            Code::AtomicLoad => {
                return match self.operand(frame, pointer)? {
                    Operand::Texel(bound, coordinates) => self.texel_load(bound, &coordinates, ty),
                    pointer => {
                        let found = self.at(pointer, Some(gives), &mut |lower, pointer| {
                            if lower.atomic_scalar(pointer)? != result {
                                return Err(mismatch());
                            }
                            let word = lower.atomic(&pointer.place, AtomicOp::Load, ty, &[])?;
                            Ok(Values::from_elem(word, 1))
                        })?;
                        Ok(found[0])
                    }
                };
            }
            Code::AtomicIIncrement | Code::AtomicIDecrement => {
                operands.push(self.constant(ty, 1));
                match code {
                    Code::AtomicIIncrement => (AtomicFunction::Add, false),
                    _ => (AtomicFunction::Subtract, false),
                }
            }
            Code::AtomicCompareExchange => {
                // The new value stands before the one that is compared.
                let (new, old) = (inst.operand(6), inst.operand(7));
                operands.push(self.scalar(frame, old)?);
                operands.push(self.scalar(frame, new)?);
                (AtomicFunction::Exchange { compare: None }, false)
            }
            _ => {
                operands.push(self.scalar(frame, inst.operand(5))?);
                match code {
                    Code::AtomicExchange => (AtomicFunction::Exchange { compare: None }, false),
                    Code::AtomicIAdd | Code::AtomicFAddEXT => (AtomicFunction::Add, false),
                    Code::AtomicISub => (AtomicFunction::Subtract, false),
                    Code::AtomicSMin => (AtomicFunction::Min, true),
                    Code::AtomicUMin | Code::AtomicFMinEXT => (AtomicFunction::Min, false),
                    Code::AtomicSMax => (AtomicFunction::Max, true),
                    Code::AtomicUMax | Code::AtomicFMaxEXT => (AtomicFunction::Max, false),
                    Code::AtomicAnd => (AtomicFunction::And, false),
                    Code::AtomicOr => (AtomicFunction::InclusiveOr, false),
                    _ => (AtomicFunction::ExclusiveOr, false),
                }
            }
        };
        if operands.iter().any(|&value| self.ty(value) != ty) {
            return Err(mismatch());
        }
        let mut scalar = result;
        if scalar.kind != ScalarKind::Float {
            scalar.kind = if signed { ScalarKind::Sint } else { ScalarKind::Uint };
        }
        let op = match code {
            Code::AtomicCompareExchange => Atomic::Native(AtomicOp::CompareExchange),
            _ => atomic_op(fun, scalar)?,
        };
        if let Operand::Texel(..) = self.operand(frame, pointer)? {
            let (op, value) = match op {
                Atomic::Native(op) => (op, None),
                Atomic::Float(op) => {
                    let (op, value) = self.float_atomic(op, operands[0])?;
                    (op, Some(value))
                }
            };
            let operands = value.map_or(operands, |value| Values::from_elem(value, 1));
            return self.texel_atomic(frame, pointer, op, &operands);
        }
        let pointer = self.operand(frame, pointer)?;
        let found = self.at(pointer, Some(gives), &mut |lower, pointer| {
            if lower.atomic_scalar(pointer)? != result {
                return Err(mismatch());
            }
            let word = match &op {
                Atomic::Native(op) => lower.atomic(&pointer.place, *op, ty, &operands),
                Atomic::Float(op) => lower.atomic_float(&pointer.place, *op, operands[0]),
            };
            Ok(Values::from_elem(word?, 1))
        })?;
        Ok(found[0])
    }
}

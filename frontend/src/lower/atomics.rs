//! GLSL's atomic functions, which naga's reader lacks. The text gets functions of other names that take the
//! word by value (`glsl::library`); a call of one is the operation on the word that its first argument
//! loads, and that load is nobody's.

use super::frame::{Base, Frame, Operand};
use super::memory::{Atomic, atomic_op};
use super::{OfNaga, Result, Values};
use crate::stop::{LOWERING, Stop};
use gpucc_ir::Set;
use gpucc_ir::ssa::{MemSpace, Value};
use naga::{AtomicFunction, Block, Expression, Function, Handle, Statement};

/// What the functions do, by their names; whether the second argument is compared with.
fn operation(name: &str) -> Option<(AtomicFunction, bool)> {
    Some(match name.strip_prefix("gpucc_atomic")? {
        "Add" => (AtomicFunction::Add, false),
        "Min" => (AtomicFunction::Min, false),
        "Max" => (AtomicFunction::Max, false),
        "And" => (AtomicFunction::And, false),
        "Or" => (AtomicFunction::InclusiveOr, false),
        "Xor" => (AtomicFunction::ExclusiveOr, false),
        "Exchange" => (AtomicFunction::Exchange { compare: None }, false),
        "CompSwap" => (AtomicFunction::Exchange { compare: None }, true),
        _ => return None,
    })
}

impl<'a> OfNaga<'a> {
    fn operation_of(&self, function: Handle<Function>) -> Option<(AtomicFunction, bool)> {
        let name = self.source.module.functions[function].name.as_deref()?;
        operation(name).filter(|_| self.source.statement_spans)
    }

    /// Loads that only say which word an atomic function changes.
    pub fn atomic_loads(&self, block: &Block, loads: &mut Set<Handle<Expression>>) {
        if !self.source.statement_spans {
            return;
        }
        for statement in block {
            match statement {
                Statement::Call { function, arguments, .. }
                    if self.operation_of(*function).is_some() =>
                {
                    loads.extend(arguments.first().copied());
                }
                Statement::Block(inner) => self.atomic_loads(inner, loads),
                Statement::If { accept, reject, .. } => {
                    self.atomic_loads(accept, loads);
                    self.atomic_loads(reject, loads);
                }
                Statement::Switch { cases, .. } => {
                    for case in cases {
                        self.atomic_loads(&case.body, loads);
                    }
                }
                Statement::Loop { body, continuing, .. } => {
                    self.atomic_loads(body, loads);
                    self.atomic_loads(continuing, loads);
                }
                _ => {}
            }
        }
    }

    /// A call of such a function; false for any other.
    pub fn atomic_call(
        &mut self,
        frame: &mut Frame<'a>,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<bool> {
        let Some((fun, compares)) = self.operation_of(function) else {
            return Ok(false);
        };
        let wrong = "an atomic function changes a word of a buffer or of shared memory";
        let (Some(&first), rest) = (arguments.first(), arguments.get(1..).unwrap_or_default())
        else {
            return Err(Stop::invalid(wrong));
        };
        // The reader may load a whole structure and take the member out of its value.
        let Expression::Load { pointer } = frame.function.expressions[first] else {
            let what = "an atomic function on a part of what is loaded whole";
            return Err(Stop::unsupported(what, LOWERING));
        };
        let place = self.place(frame, pointer)?;
        if let Base::Mem(mem) = place.base
            && self.func.mems[mem].space != MemSpace::Workgroup
        {
            return Err(Stop::invalid(wrong));
        }
        let scalar = self.scalar_of(frame, first)?;
        let mut operands = Values::new();
        for &argument in rest {
            let value: Value = self.scalar(frame, argument)?;
            operands.push(value);
        }
        let Some(&value) = operands.last() else {
            return Err(Stop::invalid(wrong));
        };
        let ty = self.ty(value);
        let old = match atomic_op(fun, scalar)? {
            Atomic::Native(_) if compares => {
                let op = gpucc_ir::ssa::AtomicOp::CompareExchange;
                self.atomic(&place, op, ty, &operands)?
            }
            Atomic::Native(op) => self.atomic(&place, op, ty, &operands)?,
            Atomic::Float(op) => self.atomic_float(&place, op, value)?,
        };
        if let Some(result) = result {
            self.set(frame, result, Operand::Values(Values::from_elem(old, 1)))?;
        }
        Ok(true)
    }
}

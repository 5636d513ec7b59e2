//! Statements.

use super::frame::{End, Flow, Frame, Operand};
use super::memory::{Atomic, atomic_op};
use super::{OfNaga, Result, Values};
use crate::Needs;
use crate::read::span;
use crate::stop::{LOWERING, Stop};
use gpucc_ir::ssa::{Imm, Op};
use naga::{AtomicFunction, Barrier, Block, Expression, Handle, Statement, TypeInner};

impl<'a> OfNaga<'a> {
    /// Lowers statements until control cannot go on. `end` says what the end of the list does.
    pub fn block(&mut self, frame: &mut Frame<'a>, block: &'a Block, end: End) -> Result<Flow> {
        let last = block.len().wrapping_sub(1);
        for (index, (statement, place)) in block.span_iter().enumerate() {
            self.step()?;
            let place = span(*place);
            if !place.is_none() {
                self.span = place;
            }
            let here = if index == last { end } else { End::default() };
            // A jump may be followed by dead statements: what it skips to is the end all the same.
            let jump = match statement {
                Statement::Break
                | Statement::Continue
                | Statement::Return { .. }
                | Statement::Kill => end,
                _ => here,
            };
            let flow = self.statement(frame, statement, jump).map_err(|stop| stop.at(self.span))?;
            if flow == Flow::Dead || self.ended() {
                return Ok(Flow::Dead);
            }
        }
        Ok(Flow::Open)
    }

    fn statement(
        &mut self,
        frame: &mut Frame<'a>,
        statement: &'a Statement,
        end: End,
    ) -> Result<Flow> {
        match *statement {
            Statement::Emit(ref range) => {
                for handle in range.clone() {
                    self.emit(frame, handle)?;
                }
            }
            Statement::Block(ref inner) => return self.block(frame, inner, end),
            Statement::If { condition, ref accept, ref reject } => {
                return self.if_(frame, condition, accept, reject, end);
            }
            Statement::Switch { selector, ref cases } => {
                return self.switch(frame, selector, cases, end);
            }
            Statement::Loop { ref body, ref continuing, break_if } => {
                return self.loop_(frame, body, continuing, break_if);
            }
            Statement::Break => return self.break_out(frame.breaks.last_mut(), end),
            Statement::Continue => {
                if !end.continues {
                    self.b().end(Op::Continue, &[]);
                }
                return Ok(Flow::Dead);
            }
            Statement::Return { value } => {
                if let Some(value) = value {
                    let values = self.values(frame, value)?;
                    match (&frame.slot, &frame.function.result) {
                        (Some(place), Some(result)) => {
                            let place = place.clone();
                            self.store(&place, self.source.types.inner(result.ty), &values)?;
                        }
                        _ => frame.result = Some(values),
                    }
                }
                if !end.returns {
                    self.exit(frame.label);
                }
                return Ok(Flow::Dead);
            }
            Statement::Kill => {
                self.b().inst(Op::Demote, Imm::None, &[], &[], &[]);
                // Nothing leaves a `continuing`: there the invocation goes on as a helper, whose
                // effects nobody sees.
                if !self.discard_ends || self.continuing > 0 {
                    return Ok(Flow::Open);
                }
                if let Some(whole) = self.whole
                    && !(end.returns && whole == frame.label)
                {
                    self.exit(whole);
                }
                return Ok(Flow::Dead);
            }
            Statement::ControlBarrier(barrier) => self.barrier(barrier)?,
            // Orders the memory accesses of one invocation as others see them. Every machine here
            // keeps them in program order up to the next control barrier, so there is nothing to do.
            Statement::MemoryBarrier(_) => {}
            Statement::Store { pointer, value } => {
                let place = self.place(frame, pointer)?;
                let inner = self.pointee(frame, pointer)?;
                let values = self.values(frame, value)?;
                self.store(&place, &inner, &values)?;
            }
            Statement::ImageStore { image, coordinate, array_index, value } => {
                self.image_store(frame, image, coordinate, array_index, value)?
            }
            Statement::ImageAtomic { image, coordinate, array_index, fun, value } => {
                self.image_atomic(frame, image, coordinate, array_index, fun, value)?
            }
            Statement::Atomic { pointer, ref fun, value, result } => {
                self.atomic_statement(frame, pointer, *fun, value, result)?
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                self.barrier(Barrier::WORK_GROUP)?;
                let place = self.place(frame, pointer)?;
                let inner = self.pointee(frame, pointer)?;
                let values = self.load(&place, &inner)?;
                self.barrier(Barrier::WORK_GROUP)?;
                self.set(frame, result, Operand::Values(values))?;
            }
            Statement::Call { function, ref arguments, result } => {
                self.call(frame, function, arguments, result)?
            }
            Statement::SubgroupBallot { result, predicate } => {
                self.ballot(frame, result, predicate)?;
            }
            Statement::SubgroupGather { mode, argument, result } => {
                self.shuffle(frame, mode, argument, result)?
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                self.collective(frame, op, collective_op, argument, result)?
            }
            Statement::RayQuery { .. } => {
                return Err(Stop::unsupported("ray queries", LOWERING).needing(Needs::RayTracing));
            }
            Statement::RayPipelineFunction(_) => {
                return Err(Stop::unsupported("ray tracing", LOWERING).needing(Needs::RayTracing));
            }
            Statement::CooperativeStore { .. } => {
                return Err(Stop::unsupported("cooperative matrices", LOWERING)
                    .needing(Needs::CooperativeMatrices));
            }
        }
        Ok(Flow::Open)
    }

    fn emit(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Result<()> {
        // Expressions have no side effects; what nobody uses is not evaluated.
        if frame.info[handle].ref_count == 0 {
            return Ok(());
        }
        let statement = self.span;
        let place = span(frame.function.expressions.get_span(handle));
        if !place.is_none() {
            self.span = place;
        }
        let operand = self.evaluate(frame, handle).map_err(|stop| stop.at(self.span))?;
        self.set(frame, handle, operand)?;
        self.span = statement;
        Ok(())
    }

    fn if_(
        &mut self,
        frame: &mut Frame<'a>,
        condition: Handle<Expression>,
        accept: &'a Block,
        reject: &'a Block,
        end: End,
    ) -> Result<Flow> {
        let condition = self.scalar(frame, condition)?;
        self.fork(condition, &mut |lower, holds| {
            lower.block(frame, if holds { accept } else { reject }, end)
        })
    }

    fn barrier(&mut self, barrier: Barrier) -> Result<()> {
        if barrier.contains(Barrier::SUB_GROUP) {
            self.b().inst(Op::SubgroupBarrier, Imm::None, &[], &[], &[]);
            if barrier == Barrier::SUB_GROUP {
                return Ok(());
            }
        }
        let imm = Imm::Barrier {
            storage: barrier.contains(Barrier::STORAGE),
            workgroup: barrier.contains(Barrier::WORK_GROUP),
            texture: barrier.contains(Barrier::TEXTURE),
        };
        self.b().inst(Op::Barrier, imm, &[], &[], &[]);
        Ok(())
    }

    fn atomic_statement(
        &mut self,
        frame: &mut Frame<'a>,
        pointer: Handle<Expression>,
        fun: AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let place = self.place(frame, pointer)?;
        let inner = self.pointee(frame, pointer)?;
        let TypeInner::Atomic(scalar) = *inner else {
            return Err(Stop::internal("an atomic on what is not atomic"));
        };
        let op = atomic_op(fun, scalar)?;
        let value = self.scalar(frame, value)?;
        let (operands, compare) = match fun {
            AtomicFunction::Exchange { compare: Some(compare) } => {
                let compare = self.scalar(frame, compare)?;
                (Values::from_slice(&[compare, value]), Some(compare))
            }
            _ => (Values::from_slice(&[value]), None),
        };
        let old = match op {
            Atomic::Native(op) => self.atomic(&place, op, self.ty(value), &operands)?,
            Atomic::Float(op) => self.atomic_float(&place, op, value)?,
        };
        let Some(handle) = result else {
            return Ok(());
        };
        let mut values = Values::from_slice(&[old]);
        if let Some(compare) = compare {
            // The exchange takes place exactly when the old word is the expected one.
            let exchanged = self.op2(Op::IEq, old, compare);
            // SPIR-V's instruction gives the word alone.
            if let TypeInner::Struct { .. } = self.inner(frame, handle) {
                values.push(exchanged);
            }
        }
        self.set(frame, handle, Operand::Values(values))
    }
}

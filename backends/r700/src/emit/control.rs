//! Marks of control flow as CF instructions with their addresses, and the stack that they take.
//! R700 ISA 3.6, 3.7.

use super::{Emitter, Entry, Jump, broken};
use crate::api::Failure;
use crate::inst::Alu;
use crate::isa::{self, CfOp};
use gpucc_ir::ssa::Span;

/// What is open.
pub(super) enum Frame {
    If {
        jump: usize,
        otherwise: Option<usize>,
        /// Writes may be on their way where an arm is jumped over.
        unacknowledged: bool,
    },
    Loop {
        start: usize,
        breaks: Vec<usize>,
    },
}

impl Emitter<'_> {
    pub(super) fn if_start(&mut self, alu: &Alu, span: Span) -> Result<(), Failure> {
        self.alu(alu, span);
        self.flush();
        match self.entries.last_mut() {
            Some((Entry::Run(_, op), _)) => *op = CfOp::ALU_PUSH_BEFORE,
            _ => return Err(broken("an `if` ends in an ALU clause")),
        }
        self.pushes += 1;
        self.measure_stack();
        let jump = self.entries.len();
        self.plain(isa::Inst::new(self.isa().cf_op(CfOp::JUMP)), span);
        self.frames.push(Frame::If { jump, otherwise: None, unacknowledged: self.unacknowledged });
        self.stats.branches += 1;
        Ok(())
    }

    pub(super) fn if_else(&mut self, span: Span) -> Result<(), Failure> {
        self.flush();
        let here = self.entries.len();
        let Some(Frame::If { jump, otherwise, unacknowledged }) = self.frames.last_mut() else {
            return Err(broken("`else` without `if`"));
        };
        // The wavefront may jump over a wait that stands in an arm.
        self.unacknowledged |= *unacknowledged;
        *unacknowledged = self.unacknowledged;
        if otherwise.replace(here).is_some() {
            return Err(broken("two `else` of one `if`"));
        }
        let jump = *jump;
        self.patch(jump, here, 0);
        self.plain(isa::Inst::new(self.isa().cf_op(CfOp::ELSE)), span);
        Ok(())
    }

    pub(super) fn if_end(&mut self, span: Span) -> Result<(), Failure> {
        self.flush();
        let Some(Frame::If { jump, otherwise, unacknowledged }) = self.frames.pop() else {
            return Err(broken("`endif` without `if`"));
        };
        self.unacknowledged |= unacknowledged;
        self.entries.push((Entry::Pop, span));
        let after = self.entries.len();
        self.patch(otherwise.unwrap_or(jump), after, 1);
        self.pushes -= 1;
        Ok(())
    }

    pub(super) fn loop_start(&mut self, span: Span) -> Result<(), Failure> {
        self.flush();
        self.loops += 1;
        self.measure_stack();
        let start = self.entries.len();
        self.plain(isa::Inst::new(self.isa().cf_op(CfOp::LOOP_START_DX10)), span);
        self.frames.push(Frame::Loop { start, breaks: Vec::new() });
        self.stats.loops += 1;
        self.unacknowledged |= self.any_write;
        Ok(())
    }

    pub(super) fn loop_end(&mut self, span: Span) -> Result<(), Failure> {
        self.flush();
        let Some(Frame::Loop { start, breaks }) = self.frames.pop() else {
            return Err(broken("`endloop` without `loop`"));
        };
        let end = self.entries.len();
        self.plain(isa::Inst::new(self.isa().cf_op(CfOp::LOOP_END)), span);
        self.patch(end, start + 1, 0);
        self.patch(start, end + 1, 0);
        for at in breaks {
            self.patch(at, end, 0);
        }
        self.unacknowledged |= self.any_write;
        self.loops -= 1;
        Ok(())
    }

    pub(super) fn loop_break(&mut self, span: Span) -> Result<(), Failure> {
        self.flush();
        let here = self.entries.len();
        let frame = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Loop { breaks, .. } => Some(breaks),
            Frame::If { .. } => None,
        });
        frame.ok_or_else(|| broken("`break` outside a loop"))?.push(here);
        self.plain(isa::Inst::new(self.isa().cf_op(CfOp::LOOP_BREAK)), span);
        Ok(())
    }

    fn measure_stack(&mut self) {
        self.stack = self.stack.max(self.config.chip.stack_entries(self.loops, self.pushes));
    }

    fn patch(&mut self, at: usize, target: usize, pops: u32) {
        self.jumps.push(Jump { at, target, pops });
    }
}

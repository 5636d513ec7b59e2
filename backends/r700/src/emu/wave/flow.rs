//! Control flow of a wavefront: the stack, branches, loops and calls. R700 ISA 3.6, 3.7.

use super::Wave;
use crate::emu::decode::{Cf, Condition, Flow, FlowInst};
use crate::emu::lanes::each;
use crate::emu::memory::Emitted;
use crate::emu::rule::{Rule, Trap};

/// What stands on the stack.
#[derive(Clone, Debug)]
pub(super) enum Frame {
    /// Lanes that were active when a branch began.
    Branch { active: u64 },
    /// A loop: the masks around it and its counters.
    Loop {
        active: u64,
        continued: u64,
        broken: u64,
        index: i32,
        left: u64,
        step: i32,
        counts: bool,
    },
    /// A call: where it goes on, in which program.
    Call { next: u32, in_fetch: bool, depth: u32 },
}

impl Wave<'_> {
    fn constant_passes(&self, flow: &FlowInst) -> bool {
        let constants = self.state.bool_constants.unwrap_or(0);
        let set = constants >> flow.constant & 1 == 1;
        match flow.condition {
            Condition::Active => true,
            Condition::Never => false,
            Condition::Bool => set,
            Condition::NotBool => !set,
        }
    }

    pub(super) fn test(&self, flow: &FlowInst, cf: &Cf) -> u64 {
        if self.constant_passes(flow) { self.lanes_of(cf) } else { 0 }
    }

    pub(super) fn push(&mut self, frame: Frame, offset: u32) -> Result<(), Trap> {
        self.stack.push(frame);
        // R700 ISA 3.6.5: a branch or call takes a part of an entry, a loop one or, on chips of narrow wavefronts, two;
        // two parts are lost as long as a branch is open. Entries of STACK_SIZE have four parts on every chip.
        let facts = crate::emu::chip::facts(self.state.chip);
        let (mut parts, mut branches) = (0, 0);
        for frame in &self.stack {
            match frame {
                Frame::Branch { .. } => branches += 1,
                Frame::Loop { .. } => parts += facts.looping,
                Frame::Call { .. } => parts += facts.call,
            }
        }
        parts += branches + if branches > 0 { 2 } else { 0 };
        let declared = 4 * self.stack_size;
        if parts > declared {
            let detail = format!("{parts} elements are needed, {declared} declared");
            return Err(Trap::new(Rule::StackDepth, offset, detail));
        }
        Ok(())
    }

    pub(super) fn pop(&mut self, count: u32, offset: u32) -> Result<(), Trap> {
        for _ in 0..count {
            match self.stack.pop() {
                Some(Frame::Branch { active }) => {
                    self.active = active & !self.continued & !self.broken;
                }
                Some(Frame::Loop { .. } | Frame::Call { .. }) => {
                    let detail = "a pop meets a loop or a call";
                    return Err(Trap::new(Rule::StackKind, offset, detail));
                }
                None => {
                    let detail = "a pop meets an empty stack";
                    return Err(Trap::new(Rule::StackUnderflow, offset, detail));
                }
            }
        }
        Ok(())
    }

    /// Lanes of the innermost branch that are on the other side of it.
    pub(super) fn other_side(&self, offset: u32) -> Result<u64, Trap> {
        match self.stack.last() {
            Some(Frame::Branch { active }) => {
                Ok(active & !self.active & !self.continued & !self.broken)
            }
            Some(Frame::Loop { .. } | Frame::Call { .. }) => {
                Err(Trap::new(Rule::StackKind, offset, "ELSE without a branch around it"))
            }
            None => Err(Trap::new(Rule::StackUnderflow, offset, "ELSE without a branch around it")),
        }
    }

    /// Place of the innermost loop's frame and the lanes that entered it.
    pub(super) fn innermost(&self, offset: u32) -> Result<(usize, u64), Trap> {
        for (n, frame) in self.stack.iter().enumerate().rev() {
            match frame {
                Frame::Loop { active, .. } => return Ok((n, *active)),
                Frame::Call { .. } => break,
                Frame::Branch { .. } => {}
            }
        }
        Err(Trap::new(Rule::OutsideLoop, offset, "no loop is open"))
    }

    pub(super) fn flow(
        &mut self,
        flow: &FlowInst,
        cf: &Cf,
        at: u32,
        offset: u32,
    ) -> Result<u32, Trap> {
        let next = at + 1;
        let passing = self.test(flow, cf);
        match flow.op {
            Flow::Nop => Ok(next),
            Flow::WaitAck => {
                self.acknowledged = self.acknowledged.max(self.writes.saturating_sub(flow.addr));
                Ok(next)
            }
            Flow::Kill => {
                self.killed = true;
                self.valid &= !passing;
                Ok(next)
            }
            Flow::Jump => {
                if passing != 0 {
                    return Ok(next);
                }
                self.pop(flow.pop, offset)?;
                Ok(flow.addr)
            }
            Flow::PopJump => {
                self.pop(flow.pop, offset)?;
                Ok(if self.test(flow, cf) == 0 { flow.addr } else { next })
            }
            Flow::Push | Flow::PopPush => {
                let mut passing = passing;
                let mut pops = flow.pop;
                if flow.op == Flow::PopPush {
                    self.pop(flow.pop, offset)?;
                    pops = 0;
                    passing = self.test(flow, cf);
                }
                if passing == 0 {
                    self.pop(pops, offset)?;
                    return Ok(flow.addr);
                }
                self.push(Frame::Branch { active: self.active }, offset)?;
                self.active = passing;
                Ok(next)
            }
            Flow::Else => {
                let mut other = self.other_side(offset)?;
                if !self.constant_passes(flow) {
                    other = 0;
                }
                if cf.valid_only {
                    other &= self.valid;
                }
                self.active = other;
                if other != 0 {
                    return Ok(next);
                }
                self.pop(flow.pop, offset)?;
                Ok(flow.addr)
            }
            Flow::Pop => {
                self.pop(flow.pop, offset)?;
                self.active &= self.test(flow, cf);
                Ok(next)
            }
            Flow::LoopStart | Flow::LoopStartDx10 | Flow::LoopStartNoAl => {
                self.loop_start(flow, passing, next, offset)
            }
            Flow::LoopEnd => self.loop_end(flow, next, offset),
            Flow::LoopBreak | Flow::LoopContinue => {
                let (place, entered) = self.innermost(offset)?;
                if flow.op == Flow::LoopBreak {
                    self.broken |= passing;
                } else {
                    self.continued |= passing;
                }
                self.active &= !passing;
                if entered & !self.broken & !self.continued != 0 {
                    return Ok(next);
                }
                self.stack.truncate(place + 1);
                Ok(flow.addr)
            }
            Flow::Call => {
                if passing == 0 || self.depth + flow.call_count > 32 {
                    return Ok(next);
                }
                self.call(next, flow.call_count, offset)?;
                Ok(flow.addr)
            }
            Flow::CallFs => {
                if passing == 0 || self.depth + flow.call_count > 32 {
                    return Ok(next);
                }
                if self.fetch_program.is_none() {
                    let detail = "CALL_FS without a fetch program";
                    return Err(Trap::new(Rule::State, offset, detail));
                }
                self.call(next, flow.call_count, offset)?;
                self.in_fetch = true;
                Ok(0)
            }
            Flow::Return => {
                if passing != self.active {
                    return Ok(next);
                }
                match self.stack.pop() {
                    Some(Frame::Call { next, in_fetch, depth }) => {
                        self.depth = depth;
                        self.in_fetch = in_fetch;
                        Ok(next)
                    }
                    Some(Frame::Branch { .. } | Frame::Loop { .. }) => {
                        let detail = "RETURN out of a branch or loop";
                        Err(Trap::new(Rule::StackKind, offset, detail))
                    }
                    None => Err(Trap::new(Rule::OutsideCall, offset, "nothing was called")),
                }
            }
            Flow::PushElse | Flow::PopPushElse => {
                let mut passing = passing;
                if flow.op == Flow::PopPushElse {
                    self.pop(flow.pop, offset)?;
                    passing = self.test(flow, cf);
                }
                // Table 3.7: always pushes, never pops, jumps when no lane passes.
                let active = self.active;
                self.push(Frame::Branch { active }, offset)?;
                self.active = passing;
                Ok(if passing == 0 { flow.addr } else { next })
            }
            Flow::EmitVertex | Flow::EmitCutVertex | Flow::CutVertex => {
                for lane in each(passing & self.valid) {
                    let thread = self.first_thread + lane as u32;
                    if flow.op != Flow::CutVertex {
                        self.memory.emitted.push((thread, Emitted::Vertex));
                    }
                    if flow.op != Flow::EmitVertex {
                        self.memory.emitted.push((thread, Emitted::Cut));
                    }
                }
                Ok(next)
            }
            Flow::Tex | Flow::Vtx | Flow::VtxTc => {
                Err(Trap::new(Rule::Unsupported, offset, "refused when it was loaded"))
            }
        }
    }

    fn call(&mut self, next: u32, count: u32, offset: u32) -> Result<(), Trap> {
        let frame = Frame::Call { next, in_fetch: self.in_fetch, depth: self.depth };
        self.push(frame, offset)?;
        self.depth += count;
        Ok(())
    }

    fn loop_start(
        &mut self,
        flow: &FlowInst,
        passing: u64,
        next: u32,
        offset: u32,
    ) -> Result<u32, Trap> {
        let Some(constant) = self.state.loop_constant(flow.constant) else {
            let detail = format!("SQ_LOOP_CONST_{} is not programmed", flow.constant);
            return Err(Trap::new(Rule::State, offset, detail));
        };
        let dx10 = flow.op == Flow::LoopStartDx10;
        let counts = flow.op == Flow::LoopStart;
        let left = if dx10 { u64::from(constant) } else { u64::from(constant & 0xFFF) };
        if passing == 0 || left == 0 {
            self.pop(flow.pop, offset)?;
            return Ok(flow.addr);
        }
        let frame = Frame::Loop {
            active: self.active,
            continued: self.continued,
            broken: self.broken,
            index: self.loop_index,
            left,
            step: (constant as i32) >> 24,
            counts,
        };
        self.push(frame, offset)?;
        if counts {
            self.loop_index = (constant >> 12 & 0xFFF) as i32;
        }
        self.continued = 0;
        self.broken = self.active & !passing;
        self.active = passing;
        Ok(next)
    }

    fn loop_end(&mut self, flow: &FlowInst, next: u32, offset: u32) -> Result<u32, Trap> {
        let broken_now = self.broken;
        let passes = self.constant_passes(flow);
        let top = match self.stack.last_mut() {
            Some(Frame::Loop { active, continued, broken, index, left, step, counts }) => {
                (*active, *continued, *broken, *index, left, *step, *counts)
            }
            Some(Frame::Branch { .. } | Frame::Call { .. }) => {
                let detail = "LOOP_END with a branch or call still open";
                return Err(Trap::new(Rule::StackKind, offset, detail));
            }
            None => return Err(Trap::new(Rule::OutsideLoop, offset, "no loop is open")),
        };
        let (active, continued, broken, index, left, step, counts) = top;
        *left -= 1;
        let again = if passes { active & !broken_now } else { 0 };
        if again != 0 && *left > 0 {
            self.active = again;
            self.continued = 0;
            if counts {
                self.loop_index += step;
            }
            return Ok(flow.addr);
        }
        self.stack.pop();
        (self.active, self.continued, self.broken) = (active, continued, broken);
        self.loop_index = index;
        Ok(next)
    }
}

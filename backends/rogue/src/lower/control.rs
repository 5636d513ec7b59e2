//! Regions, branches and loops as marks among blocks with logical and physical edges. isa/rogue-pipeline.md 2.7.

use super::Lower;
use crate::inst::{Inst, Src, Step};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Block, Edges, VReg};
use gpucc_ir::ssa::{self, Op, Region, Value};
use smallvec::SmallVec;

/// A loop around the code.
pub(super) struct LoopFrame {
    /// Registers of the parameters of its continuing part, and of its results.
    continuing: SmallVec<[VReg; 4]>,
    results: SmallVec<[VReg; 4]>,
    /// The block behind it.
    exit: Block,
    /// A way to the continuing part was lowered, and a way out.
    continued: bool,
    left: bool,
}

impl Lower<'_> {
    fn start_block(&mut self) {
        self.block = self.m.push_block();
        self.numbers.clear();
    }

    /// Lowers a region; its `yield` assigns `results`. True when control reaches its end.
    pub(super) fn region(&mut self, region: Region, results: &[VReg]) -> Result<bool, Failure> {
        let ssa = self.ssa;
        for &inst in &ssa.regions[region].insts {
            let data = &ssa.insts[inst];
            self.span = data.span;
            match data.op {
                Op::Yield => {
                    self.assign(results, &data.args);
                    return Ok(true);
                }
                Op::Break => {
                    let Some(frame) = self.loops.last_mut() else {
                        return Err(self.misplaced("break"));
                    };
                    frame.left = true;
                    let (to, exit) = (frame.results.clone(), frame.exit);
                    self.assign(&to, &data.args);
                    self.leave(exit);
                    return Ok(false);
                }
                Op::Continue => {
                    let Some(frame) = self.loops.last_mut() else {
                        return Err(self.misplaced("continue"));
                    };
                    frame.continued = true;
                    let to = frame.continuing.clone();
                    self.assign(&to, &data.args);
                    return Ok(true);
                }
                Op::Next | Op::BreakIf => return Err(self.misplaced("next")),
                Op::Exit => return Err(self.not_yet("leaving a labelled block by a jump")),
                Op::Unreachable => return Ok(false),
                _ => self.inner(inst)?,
            }
        }
        Ok(true)
    }

    fn misplaced(&self, what: &str) -> Failure {
        Failure::Internal { pass: "lower", message: format!("`{what}` stands where none may") }
    }

    /// What ends no region.
    fn inner(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let ssa = self.ssa;
        let data = &ssa.insts[inst];
        match data.op {
            Op::If => self.if_else(data),
            Op::Loop => self.loop_(data),
            Op::Block => {
                let to = self.results(data);
                if !self.region(data.regions[0], &to)? {
                    self.define_unreached(&to);
                }
                Ok(())
            }
            _ => self.instruction(inst),
        }
    }

    fn results(&mut self, data: &ssa::InstData) -> SmallVec<[VReg; 4]> {
        data.results.iter().map(|&value| self.define(value)).collect()
    }

    /// Gives registers that no path assigns a value, for code that nobody reaches but that the function still holds.
    fn define_unreached(&mut self, registers: &[VReg]) {
        for &register in registers {
            self.push(Step::copy(register, Src::ZERO));
        }
    }

    /// Ends the block with `Break`; what follows is reached by the task alone.
    fn leave(&mut self, exit: Block) {
        self.push(Inst::Break(self.open));
        let from = self.block;
        self.m.add_both_edges(from, exit);
        self.start_block();
        self.m.add_edge(Edges::Physical, from, self.block);
    }

    /// Opens a condition: the block that follows runs for instances whose p0 is this. Where nobody is left, the block that
    /// [`Self::land`] names is next.
    pub(super) fn begin_if(&mut self, p0: bool) -> Block {
        self.open += 1;
        let head = self.block;
        self.push(Inst::If { p0, target: head });
        self.start_block();
        self.m.add_both_edges(head, self.block);
        head
    }

    /// Says where the branch of a head leads.
    fn land(&mut self, head: Block, to: Block) {
        if let Some(node) = self.m.blocks[head].nodes.last_mut()
            && let Inst::If { target, .. } = &mut node.inst
        {
            *target = to;
        }
    }

    fn close(&mut self) {
        self.open -= 1;
        self.push(Inst::EndIf);
    }

    /// Closes a condition without another arm that [`Self::begin_if`] opened at the end of `head`.
    pub(super) fn end_if(&mut self, head: Block) {
        let end = self.block;
        self.start_block();
        self.m.add_both_edges(head, self.block);
        self.m.add_both_edges(end, self.block);
        self.land(head, self.block);
        self.close();
    }

    /// Begins a loop that nobody leaves but at its end: its block, and the one behind it.
    pub(super) fn begin_turns(&mut self) -> (Block, Block) {
        self.push(Inst::Do);
        let before = self.block;
        self.start_block();
        self.m.add_both_edges(before, self.block);
        (self.block, self.m.make_block())
    }

    /// Ends such a loop: instances whose p0 is 1 go through it once more.
    pub(super) fn end_turns(&mut self, header: Block, exit: Block) {
        self.push(Inst::While { p0: Some(true), target: header });
        let latch = self.block;
        self.m.add_both_edges(latch, header);
        self.m.add_both_edges(latch, exit);
        self.m.place(exit);
        self.block = exit;
        self.numbers.clear();
    }

    fn if_else(&mut self, data: &ssa::InstData) -> Result<(), Failure> {
        let (then, otherwise) = (data.regions[0], data.regions[1]);
        let to = self.results(data);
        let trivial = self.ssa.regions[otherwise].insts.len() == 1
            && to.is_empty()
            && self.ssa.terminator(otherwise).is_some_and(|t| self.ssa.insts[t].op == Op::Yield);
        self.decide(data.args[0]);
        let head = self.begin_if(true);
        let then_falls = self.region(then, &to)?;
        let then_end = self.block;
        let mut ends: SmallVec<[(Block, bool); 2]> = SmallVec::new();
        ends.push((then_end, then_falls));
        let mut opposite = None;
        if !trivial {
            self.start_block();
            self.m.add_both_edges(head, self.block);
            self.m.add_edge(Edges::Physical, then_end, self.block);
            self.land(head, self.block);
            opposite = Some(self.block);
            self.push(Inst::Else { target: self.block });
            let falls = self.region(otherwise, &to)?;
            ends.push((self.block, falls));
        }
        self.start_block();
        let join = self.block;
        match opposite {
            None => {
                self.m.add_both_edges(head, join);
                self.land(head, join);
            }
            Some(block) => {
                let node = self.m.blocks[block].nodes.first_mut();
                if let Some(Inst::Else { target }) = node.map(|node| &mut node.inst) {
                    *target = join;
                }
            }
        }
        for &(end, falls) in &ends {
            if falls {
                self.m.add_edge(Edges::Logical, end, join);
            }
            // `Else` jumps over its arm when nobody is left for it.
            self.m.add_edge(Edges::Physical, end, join);
        }
        self.close();
        if !trivial && ends.iter().all(|&(_, falls)| !falls) {
            self.define_unreached(&to);
        }
        Ok(())
    }

    fn loop_(&mut self, data: &ssa::InstData) -> Result<(), Failure> {
        let ssa = self.ssa;
        let (body, continuing) = (data.regions[0], data.regions[1]);
        let mut regs = |values: &[Value]| -> SmallVec<[VReg; 4]> {
            values.iter().map(|&value| self.define(value)).collect()
        };
        let (body_regs, continuing_regs, results) = (
            regs(&ssa.regions[body].params),
            regs(&ssa.regions[continuing].params),
            regs(&data.results),
        );
        self.assign(&body_regs, &data.args);
        self.push(Inst::Do);
        let before = self.block;
        self.start_block();
        self.m.add_both_edges(before, self.block);
        let header = self.block;
        let exit = self.m.make_block();
        self.loops.push(LoopFrame {
            continuing: continuing_regs.clone(),
            results: results.clone(),
            exit,
            continued: false,
            left: false,
        });
        let outside = std::mem::take(&mut self.open);
        self.region(body, &[])?;
        if self.loops.last().is_some_and(|frame| !frame.continued) {
            self.define_unreached(&continuing_regs);
        }
        let mut again = None;
        for &inst in &ssa.regions[continuing].insts {
            let data = &ssa.insts[inst];
            self.span = data.span;
            match data.op {
                Op::Next => self.assign(&body_regs, &data.args),
                Op::BreakIf => {
                    let count = results.len();
                    self.decide(data.args[0]);
                    // Who goes on writes them again.
                    self.assign(&results, &data.args[1..=count]);
                    self.assign(&body_regs, &data.args[count + 1..]);
                    again = Some(false);
                    if let Some(frame) = self.loops.last_mut() {
                        frame.left = true;
                    }
                }
                Op::Exit => return Err(self.not_yet("leaving a labelled block by a jump")),
                Op::Unreachable => {}
                _ => self.inner(inst)?,
            }
        }
        self.open = outside;
        let left = self.loops.pop().is_some_and(|frame| frame.left);
        self.push(Inst::While { p0: again, target: header });
        let latch = self.block;
        self.m.add_both_edges(latch, header);
        match again {
            Some(_) => self.m.add_both_edges(latch, exit),
            None => self.m.add_edge(Edges::Physical, latch, exit),
        }
        self.m.place(exit);
        self.block = exit;
        self.numbers.clear();
        if !left {
            self.define_unreached(&results);
        }
        Ok(())
    }
}

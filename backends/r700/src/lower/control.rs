//! Regions, branches and loops as marks among blocks with logical and physical edges. R700 ISA 3.6, 3.7.

use super::{Lower, Place};
use crate::api::Failure;
use crate::inst::{Alu, GPR, Inst, Source};
use crate::isa::AluOp;
use crate::op;
use gpucc_ir::mach::{Block, Demand, Edges, VReg};
use gpucc_ir::ssa::{self, Op, Region, Value};
use smallvec::SmallVec;

/// A loop around the code.
pub(super) struct LoopFrame {
    /// Its parameters' registers, of the body.
    body: SmallVec<[VReg; 4]>,
    /// Of the continuing part.
    continuing: SmallVec<[VReg; 4]>,
    /// Its results.
    results: SmallVec<[VReg; 4]>,
    /// The block after it.
    exit: Block,
    /// A way to the continuing part was lowered.
    continued: bool,
    /// A way out was lowered.
    left: bool,
}

impl Lower<'_> {
    /// Lowers a region; its `yield` assigns `results`. True when control reaches its end.
    pub(super) fn region(&mut self, region: Region, results: &[VReg]) -> Result<bool, Failure> {
        let known = self.cubes.len();
        let falls = self.region_body(region, results);
        self.cubes.truncate(known);
        falls
    }

    fn region_body(&mut self, region: Region, results: &[VReg]) -> Result<bool, Failure> {
        let list = &self.ssa.regions[region].insts;
        for &inst in list {
            self.at_top = region == self.ssa.body;
            let data = &self.ssa.insts[inst];
            self.span = data.span;
            match data.op {
                Op::Yield => {
                    self.assign(results, &data.args);
                    return Ok(true);
                }
                Op::Break => {
                    let frame = self.loops.last_mut().expect("verified: `break` is in a loop");
                    frame.left = true;
                    let (to, exit) = (frame.results.clone(), frame.exit);
                    self.assign(&to, &data.args);
                    self.leave(exit);
                    return Ok(false);
                }
                Op::Continue => {
                    let frame = self.loops.last_mut().expect("verified: `continue` is in a loop");
                    frame.continued = true;
                    let to = frame.continuing.clone();
                    self.assign(&to, &data.args);
                    return Ok(true);
                }
                Op::Next | Op::BreakIf => {
                    return Err(Failure::Internal {
                        pass: "lower",
                        message: "`next` outside `continuing`".into(),
                    });
                }
                Op::Exit => return Err(self.not_yet("leaving a labelled block by a jump")),
                Op::Unreachable => return Ok(false),
                Op::If => self.if_else(inst)?,
                Op::Loop => self.loop_(inst)?,
                Op::Block => self.block_(inst)?,
                _ => self.instruction(inst)?,
            }
        }
        Ok(true)
    }

    /// A block that nobody leaves but at its end.
    fn block_(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let to: SmallVec<[VReg; 4]> = data.results.iter().map(|_| self.fresh()).collect();
        for (&value, &reg) in data.results.iter().zip(&to) {
            self.define(value, reg);
        }
        if !self.region(data.regions[0], &to)? {
            self.define_unreached(&to);
        }
        Ok(())
    }

    /// Gives registers that no path assigns a value, for code that no lane reaches but that the
    /// machine function still holds.
    fn define_unreached(&mut self, registers: &[VReg]) {
        for &register in registers {
            self.alu_to(register, AluOp::MOV, &[Source::bits(0)]);
        }
    }

    /// Ends the block with `Break`; what follows is reached by the wavefront alone.
    fn leave(&mut self, exit: Block) {
        self.push(Inst::Break);
        let from = self.block;
        self.m.add_both_edges(from, exit);
        self.start_block();
        self.m.add_edge(Edges::Physical, from, self.block);
    }

    /// What a condition that is not in a register is the opposite of; or itself.
    fn opposite(&self, cond: Value) -> (Value, bool) {
        match self.ssa.def(cond) {
            Some(data) if data.op == Op::Not && !self.uses.in_register(cond) => {
                (data.args[0], false)
            }
            _ => (cond, true),
        }
    }

    /// The test that an `if` makes.
    fn test(&self, cond: Value) -> Alu {
        let (cond, holds) = self.opposite(cond);
        if !holds {
            let src = [self.plain(cond), Source::bits(0)];
            return Alu::new(AluOp::PRED_SETE_INT, None, &src);
        }
        if !self.uses.in_register(cond)
            && let Some((op, a, b)) = self.comparison(cond)
            && let Some(pred) = op::as_pred_set(op)
        {
            return Alu::new(pred, None, &[self.source(a, pred, 0), self.source(b, pred, 1)]);
        }
        Alu::new(AluOp::PRED_SETNE_INT, None, &[self.plain(cond), Source::bits(0)])
    }

    /// Opens an `if`: the block that follows runs for lanes that pass.
    pub(super) fn begin_if(&mut self, test: Alu) -> Block {
        self.push(Inst::If(test));
        let head = self.block;
        self.start_block();
        self.m.add_both_edges(head, self.block);
        head
    }

    fn if_else(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (then, otherwise) = (data.regions[0], data.regions[1]);
        if let Some(kill) = self.as_kill(inst) {
            self.push(Inst::Alu(kill));
            return Ok(());
        }
        let to: SmallVec<[VReg; 4]> = data.results.iter().map(|_| self.fresh()).collect();
        for (&value, &reg) in data.results.iter().zip(&to) {
            self.define(value, reg);
        }
        let test = self.test(data.args[0]);
        let head = self.begin_if(test);
        let then_falls = self.region(then, &to)?;
        let then_end = self.block;
        let trivial = self.ssa.regions[otherwise].insts.len() == 1
            && to.is_empty()
            && self.ssa.terminator(otherwise).is_some_and(|t| self.ssa.insts[t].op == Op::Yield);
        let mut ends: SmallVec<[(Block, bool); 2]> = SmallVec::new();
        ends.push((then_end, then_falls));
        if !trivial {
            self.start_block();
            let start = self.block;
            self.m.add_both_edges(head, start);
            self.m.add_edge(Edges::Physical, then_end, start);
            self.push(Inst::Else);
            let falls = self.region(otherwise, &to)?;
            ends.push((self.block, falls));
        }
        self.start_block();
        let join = self.block;
        if trivial {
            self.m.add_both_edges(head, join);
        }
        let last = ends.len() - 1;
        for (number, &(end, falls)) in ends.iter().enumerate() {
            if falls {
                self.m.add_edge(Edges::Logical, end, join);
            }
            if number == last {
                self.m.add_edge(Edges::Physical, end, join);
            }
        }
        // ELSE jumps over its arm when no lane is left for it.
        self.m.add_edge(Edges::Physical, then_end, join);
        self.push(Inst::EndIf);
        if !trivial && ends.iter().all(|&(_, falls)| !falls) {
            self.define_unreached(&to);
        }
        Ok(())
    }

    /// `if c { demote }` with nothing else is one KILL.
    fn as_kill(&self, inst: ssa::Inst) -> Option<Alu> {
        let data = &self.ssa.insts[inst];
        let ops = |region: Region| -> SmallVec<[Op; 4]> {
            self.ssa.regions[region].insts.iter().take(3).map(|&i| self.ssa.insts[i].op).collect()
        };
        if !data.results.is_empty()
            || ops(data.regions[0]).as_slice() != [Op::Demote, Op::Yield]
            || ops(data.regions[1]).as_slice() != [Op::Yield]
        {
            return None;
        }
        let (cond, holds) = self.opposite(data.args[0]);
        if !holds {
            let src = [self.plain(cond), Source::bits(0)];
            return Some(Alu::new(AluOp::KILLE_INT, None, &src));
        }
        if !self.uses.in_register(cond)
            && let Some((op, a, b)) = self.comparison(cond)
            && let Some(kill) = op::as_kill(op)
        {
            return Some(Alu::new(kill, None, &[self.source(a, kill, 0), self.source(b, kill, 1)]));
        }
        Some(Alu::new(AluOp::KILLNE_INT, None, &[self.plain(cond), Source::bits(0)]))
    }

    /// Closes an `if` without an else arm that [`Self::begin_if`] opened at the end of `head`.
    pub(super) fn end_if(&mut self, head: Block) {
        let end = self.block;
        self.start_block();
        self.m.add_both_edges(head, self.block);
        self.m.add_both_edges(end, self.block);
        self.push(Inst::EndIf);
    }

    fn loop_(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (body, continuing) = (data.regions[0], data.regions[1]);
        let params = |region: Region| self.ssa.regions[region].params.clone();
        let (body_params, continuing_params) = (params(body), params(continuing));
        let mut regs = |values: &[Value]| -> SmallVec<[VReg; 4]> {
            values
                .iter()
                .map(|&value| {
                    let reg = self.m.make_vreg(Demand::scalar(GPR), self.span);
                    self.values[value] = Some(Place::Reg(reg));
                    reg
                })
                .collect()
        };
        let frame = LoopFrame {
            body: regs(&body_params),
            continuing: regs(&continuing_params),
            results: regs(&data.results),
            exit: self.m.make_block(),
            continued: false,
            left: false,
        };
        let (exit, body_regs, results) = (frame.exit, frame.body.clone(), frame.results.clone());
        self.assign(&body_regs, &data.args);
        self.push(Inst::LoopStart);
        let before = self.block;
        self.start_block();
        let header = self.block;
        self.m.add_both_edges(before, header);
        self.m.add_edge(Edges::Physical, before, exit);
        self.loops.push(frame);
        self.region(body, &[])?;
        let frame = self.loops.last().expect("pushed above");
        if !frame.continued {
            let unreached = frame.continuing.clone();
            self.define_unreached(&unreached);
        }
        let known = self.cubes.len();
        for &inst in &self.ssa.regions[continuing].insts {
            let data = &self.ssa.insts[inst];
            self.span = data.span;
            match data.op {
                Op::Next => self.assign(&body_regs, &data.args),
                Op::BreakIf => {
                    self.loops.last_mut().expect("pushed above").left = true;
                    let count = results.len();
                    let test = self.test(data.args[0]);
                    let head = self.begin_if(test);
                    self.assign(&results, &data.args[1..=count]);
                    self.leave(exit);
                    let end = self.block;
                    self.start_block();
                    self.m.add_both_edges(head, self.block);
                    self.m.add_edge(Edges::Physical, end, self.block);
                    self.push(Inst::EndIf);
                    self.assign(&body_regs, &data.args[count + 1..]);
                }
                Op::If => self.if_else(inst)?,
                Op::Loop => self.loop_(inst)?,
                Op::Block => self.block_(inst)?,
                Op::Exit => return Err(self.not_yet("leaving a labelled block by a jump")),
                Op::Unreachable => {}
                _ => self.instruction(inst)?,
            }
        }
        self.cubes.truncate(known);
        let left = self.loops.pop().expect("pushed above").left;
        self.push(Inst::LoopEnd);
        let latch = self.block;
        self.m.add_both_edges(latch, header);
        self.m.add_edge(Edges::Physical, latch, exit);
        self.place_block(exit);
        if !left {
            self.define_unreached(&results);
        }
        Ok(())
    }
}

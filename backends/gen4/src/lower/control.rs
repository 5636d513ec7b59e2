//! Regions, branches and loops as marks among blocks with logical and physical edges. G45 vol. 4, 14.1.2, 14.2.

use super::Lower;
use super::depth::around_exits;
use crate::inst::{Inst, Src};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Block, Edges, VReg};
use gpucc_ir::ssa::{self, Op, Region, Value};
use smallvec::SmallVec;

/// A loop around the code.
pub(super) struct LoopFrame {
    /// Registers of its parameters, of the body and of the continuing part, and of its results.
    body: SmallVec<[VReg; 4]>,
    continuing: SmallVec<[VReg; 4]>,
    results: SmallVec<[VReg; 4]>,
    /// The block behind it.
    exit: Block,
    /// A way to the continuing part was lowered, and a way out.
    continued: bool,
    left: bool,
}

impl Lower<'_> {
    pub(super) fn start_block(&mut self) {
        self.block = self.m.push_block();
        self.forget();
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
                    self.leave(exit)?;
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
    pub(super) fn inner(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
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
            Op::EmitVertex => self.emit_vertex(inst),
            Op::EndPrimitive => self.end_primitive(inst),
            _ => self.instruction(data),
        }
    }

    fn results(&mut self, data: &ssa::InstData) -> SmallVec<[VReg; 4]> {
        data.results.iter().map(|&value| self.define(value)).collect()
    }

    /// A new register for a value.
    pub(super) fn define(&mut self, value: Value) -> VReg {
        let reg = self.fresh();
        self.values[value] = Some(super::Place::Reg(reg));
        reg
    }

    /// Gives registers that no path assigns a value, for code that no lane reaches but that the function still holds.
    fn define_unreached(&mut self, registers: &[VReg]) {
        for &register in registers {
            self.alu(Opcode::Mov, Ty::Ud, register, &[Src::Bits(0).into()]);
        }
    }

    fn if_else(&mut self, data: &ssa::InstData) -> Result<(), Failure> {
        let (then, otherwise) = (data.regions[0], data.regions[1]);
        let to = self.results(data);
        let trivial = self.ssa.regions[otherwise].insts.len() == 1
            && to.is_empty()
            && self.ssa.terminator(otherwise).is_some_and(|t| self.ssa.insts[t].op == Op::Yield);
        let inverse = self.decide(data.args[0]);
        let head = self.begin_if(inverse, !trivial)?;
        let then_falls = self.region(then, &to)?;
        let then_end = self.block;
        let mut ends: SmallVec<[(Block, bool); 2]> = SmallVec::new();
        ends.push((then_end, then_falls));
        if !trivial {
            self.start_block();
            self.m.add_both_edges(head, self.block);
            self.m.add_edge(Edges::Physical, then_end, self.block);
            self.push(Inst::Else);
            let falls = self.region(otherwise, &to)?;
            ends.push((self.block, falls));
        }
        self.start_block();
        let join = self.block;
        if trivial {
            self.m.add_both_edges(head, join);
        }
        for &(end, falls) in &ends {
            if falls {
                self.m.add_edge(Edges::Logical, end, join);
            }
            // `Else` jumps over its arm when no lane is left for it.
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
        let header = self.begin_loop(around_exits(ssa, &data.regions))?;
        let exit = self.m.make_block();
        self.loops.push(LoopFrame {
            body: body_regs.clone(),
            continuing: continuing_regs.clone(),
            results: results.clone(),
            exit,
            continued: false,
            left: false,
        });
        self.region(body, &[])?;
        if self.loops.last().is_some_and(|frame| !frame.continued) {
            self.define_unreached(&continuing_regs);
        }
        for &inst in &ssa.regions[continuing].insts {
            let data = &ssa.insts[inst];
            self.span = data.span;
            match data.op {
                Op::Next => {
                    let to = self.loops.last().map(|frame| frame.body.clone());
                    self.assign(&to.unwrap_or_default(), &data.args);
                }
                Op::BreakIf => {
                    let count = results.len();
                    let inverse = self.decide(data.args[0]);
                    let head = self.begin_if(inverse, false)?;
                    self.assign(&results, &data.args[1..=count]);
                    if let Some(frame) = self.loops.last_mut() {
                        frame.left = true;
                    }
                    self.leave(exit)?;
                    let end = self.block;
                    self.start_block();
                    self.m.add_both_edges(head, self.block);
                    self.m.add_edge(Edges::Physical, end, self.block);
                    self.close();
                    self.assign(&body_regs, &data.args[count + 1..]);
                }
                Op::Exit => return Err(self.not_yet("leaving a labelled block by a jump")),
                Op::Unreachable => {}
                _ => self.inner(inst)?,
            }
        }
        let left = self.loops.pop().is_some_and(|frame| frame.left);
        self.end_loop(header, exit);
        if !left {
            self.define_unreached(&results);
        }
        Ok(())
    }
}

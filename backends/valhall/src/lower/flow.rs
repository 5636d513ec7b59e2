//! Control flow: regions become blocks, leaving them becomes branches.

use super::operand::{Lane, Opnd, build};
use super::{Lower, Place};
use crate::api::Failure;
use crate::inst::{Inst, Src};
use crate::isa::{Opcode, f};
use gpucc_ir::mach::{Block, Reg, VReg};
use gpucc_ir::ssa::{self, Op, Region, Type, Value};
use smallvec::SmallVec;

/// Registers of values that blocks hand on: two each at 64 bits.
type Registers = SmallVec<[VReg; 4]>;

/// A loop or labelled block around the code.
pub(super) struct Construct {
    /// Which.
    inst: ssa::Inst,
    is_loop: bool,
    /// Registers of its results.
    results: Registers,
    /// The block after it.
    exit: Block,
    /// Loops: registers of the continuing part's parameters, and its block.
    continuing: Option<(Registers, Block)>,
    /// Something leads to `exit`.
    left: bool,
    /// Something leads to the continuing part.
    continued: bool,
}

impl Lower<'_> {
    /// Registers for values that get theirs from several places.
    fn registers_for(&mut self, values: &[Value]) -> Registers {
        let mut registers = Registers::new();
        for &value in values {
            match self.ssa.ty(value) {
                Type::B64 => {
                    let pair = [self.fresh(), self.fresh()];
                    registers.extend(pair);
                    self.define_pair(value, pair);
                }
                Type::B16 => {
                    let reg = self.fresh();
                    registers.push(reg);
                    self.define(value, Place::Half(reg, 0));
                }
                Type::B1 | Type::B32 => {
                    let reg = self.fresh();
                    registers.push(reg);
                    self.define(value, Place::Reg(reg));
                }
            }
        }
        registers
    }

    /// Gives registers new values, all at once.
    fn assign(&mut self, to: &[VReg], values: &[Value]) {
        let mut operands: SmallVec<[Opnd; 4]> = SmallVec::new();
        for &value in values {
            match self.ssa.ty(value) {
                Type::B64 => operands.extend(self.words(value)),
                Type::B16 => {
                    let operand = self.plain(value);
                    operands.push(match operand.lane {
                        Lane::Half(1) => Opnd::reg(self.low_half(value)),
                        _ => operand.lane(Lane::All),
                    });
                }
                _ => operands.push(self.plain(value)),
            }
        }
        let (mut dst, mut src) = (SmallVec::new(), SmallVec::new());
        let mut rest: SmallVec<[(VReg, Opnd); 4]> = SmallVec::new();
        for (&to, &operand) in to.iter().zip(&operands) {
            match operand.src {
                Src::Reg(from) => {
                    if from != Reg::from(to) {
                        dst.push(to.into());
                        src.push(from);
                    }
                }
                _ => rest.push((to, operand)),
            }
        }
        if !dst.is_empty() {
            self.push_inst(Inst::Copy { dst, src });
        }
        // These read no registers, so they may come after the copies.
        for (to, operand) in rest {
            self.emit_to(to, Opcode::MovI32, &[operand], &[]);
        }
    }

    pub(super) fn place_block(&mut self, block: Block) {
        self.m.place(block);
        self.block = block;
    }

    /// A branch to `target` where the condition is zero (`eq`) or not; control falls through otherwise.
    pub(super) fn branch(&mut self, condition: Opnd, eq: bool, target: Block, divergent: bool) {
        let condition = match condition.src {
            Src::Bits(_) => condition,
            _ => Opnd::reg(self.in_register(condition.lane(Lane::All))),
        };
        let mut op = build(Opcode::Branchz, &[condition]).with(f::EQ, eq.into());
        op.target = Some(target);
        op.divergent = divergent;
        self.push(op);
        self.m.add_both_edges(self.block, target);
    }

    /// Goes on in `target`.
    fn jump(&mut self, target: Block) {
        self.branch(Opnd::bits(0), true, target, self.divergent);
    }

    /// Lowers a region up to its terminator, which is left to the caller; none when control does not
    /// reach the end.
    fn statements(&mut self, region: Region) -> Result<Option<ssa::Inst>, Failure> {
        let outer = self.divergent;
        self.divergent = self.uniformity.is_divergent(region);
        let (mark, angles) = (self.addresses.mark(), self.angles.len());
        let corners = self.corners.len();
        let list = &self.ssa.regions[region].insts;
        let mut end = None;
        for &inst in list {
            let data = &self.ssa.insts[inst];
            self.span = data.span;
            match data.op {
                Op::Yield | Op::Next | Op::BreakIf => {
                    self.flush_waiting();
                    end = Some(inst);
                    break;
                }
                Op::Break | Op::Continue | Op::Exit => {
                    self.flush_waiting();
                    self.leave(inst);
                    break;
                }
                Op::Unreachable => {
                    self.flush_waiting();
                    break;
                }
                Op::If | Op::Loop | Op::Block => {
                    self.flush_waiting();
                    let goes_on = match data.op {
                        Op::If => self.if_else(inst)?,
                        Op::Loop => self.loop_(inst)?,
                        _ => self.labelled(inst)?,
                    };
                    if !goes_on {
                        break;
                    }
                }
                _ => self.instruction(inst)?,
            }
        }
        self.addresses.release(mark);
        self.angles.truncate(angles);
        self.corners.truncate(corners);
        self.divergent = outer;
        Ok(end)
    }

    /// The function's body.
    pub(super) fn region(&mut self, body: Region) -> Result<(), Failure> {
        self.prologue()?;
        match self.statements(body)? {
            Some(_) => self.epilogue(),
            None => Ok(()),
        }
    }

    /// Leaves a construct from within.
    fn leave(&mut self, inst: ssa::Inst) {
        let data = &self.ssa.insts[inst];
        let number = self
            .constructs
            .iter()
            .rposition(|construct| match (data.op, data.imm) {
                (Op::Exit, ssa::Imm::Label(label)) => construct.inst == label,
                _ => construct.is_loop,
            })
            .expect("verified: there is something to leave");
        let construct = &mut self.constructs[number];
        let (to, target) = match (&construct.continuing, data.op) {
            (Some((registers, block)), Op::Continue) => {
                construct.continued = true;
                (registers.clone(), *block)
            }
            _ => {
                construct.left = true;
                (construct.results.clone(), construct.exit)
            }
        };
        self.assign(&to, &data.args);
        self.jump(target);
    }

    /// True for a region that does nothing but yield nothing.
    fn is_trivial(&self, region: Region) -> bool {
        match self.ssa.regions[region].insts.as_slice() {
            [only] => {
                let data = &self.ssa.insts[*only];
                data.op == Op::Yield && data.args.is_empty()
            }
            _ => false,
        }
    }

    /// The construct's exit that a region does nothing but leave for, without values.
    fn is_departure(&self, region: Region) -> Option<ssa::Inst> {
        match self.ssa.regions[region].insts.as_slice() {
            [only] => {
                let data = &self.ssa.insts[*only];
                (matches!(data.op, Op::Break | Op::Continue | Op::Exit) && data.args.is_empty())
                    .then_some(*only)
            }
            _ => None,
        }
    }

    /// True when control reaches what follows; so for the other constructs.
    fn if_else(&mut self, inst: ssa::Inst) -> Result<bool, Failure> {
        let data = &self.ssa.insts[inst];
        let (mut then, mut otherwise) = (data.regions[0], data.regions[1]);
        if self.is_demotion(inst) {
            self.demote(Some(data.args[0]));
            return Ok(true);
        }
        let divergent = !self.uniformity.is_uniform(data.args[0]) || self.divergent;
        let results = self.registers_for(&data.results);
        let (condition, mut zero_is_true) = self.branch_condition(data.args[0]);
        // `if c { break }` is one branch to the exit.
        for (region, other, eq) in
            [(then, otherwise, zero_is_true), (otherwise, then, !zero_is_true)]
        {
            if results.is_empty()
                && self.is_trivial(other)
                && let Some(leaving) = self.is_departure(region)
            {
                let target = self.departure(leaving);
                self.branch(condition, eq, target, divergent);
                let from = self.block;
                let next = self.m.make_block();
                self.m.add_both_edges(from, next);
                self.place_block(next);
                return Ok(true);
            }
        }
        if results.is_empty() && self.is_trivial(then) {
            std::mem::swap(&mut then, &mut otherwise);
            zero_is_true = !zero_is_true;
        }
        let join = self.m.make_block();
        let plain = results.is_empty() && self.is_trivial(otherwise);
        let start_else = if plain { join } else { self.m.make_block() };
        self.branch(condition, !zero_is_true, start_else, divergent);
        let head = self.block;
        let start_then = self.m.make_block();
        self.m.add_both_edges(head, start_then);
        self.place_block(start_then);
        let mut reached = plain;
        if let Some(end) = self.statements(then)? {
            reached = true;
            let end = &self.ssa.insts[end];
            self.assign(&results, &end.args);
            if plain {
                let from = self.block;
                self.m.add_both_edges(from, join);
            } else {
                let outer = std::mem::replace(&mut self.divergent, divergent);
                self.jump(join);
                self.divergent = outer;
            }
        }
        if !plain {
            self.place_block(start_else);
            if let Some(end) = self.statements(otherwise)? {
                reached = true;
                let end = &self.ssa.insts[end];
                self.assign(&results, &end.args);
                let from = self.block;
                self.m.add_both_edges(from, join);
            }
        }
        if reached {
            self.place_block(join);
        }
        Ok(reached)
    }

    /// Where a terminator that hands nothing on leads.
    fn departure(&mut self, inst: ssa::Inst) -> Block {
        let data = &self.ssa.insts[inst];
        let construct = self
            .constructs
            .iter_mut()
            .rev()
            .find(|construct| match (data.op, data.imm) {
                (Op::Exit, ssa::Imm::Label(label)) => construct.inst == label,
                _ => construct.is_loop,
            })
            .expect("verified: there is something to leave");
        match (&construct.continuing, data.op) {
            (Some((_, block)), Op::Continue) => {
                construct.continued = true;
                *block
            }
            _ => {
                construct.left = true;
                construct.exit
            }
        }
    }

    fn labelled(&mut self, inst: ssa::Inst) -> Result<bool, Failure> {
        let data = &self.ssa.insts[inst];
        let results = self.registers_for(&data.results);
        let exit = self.m.make_block();
        self.constructs.push(Construct {
            inst,
            is_loop: false,
            results: results.clone(),
            exit,
            continuing: None,
            left: false,
            continued: false,
        });
        let end = self.statements(data.regions[0])?;
        let construct = self.constructs.pop().expect("pushed above");
        let mut reached = construct.left;
        if let Some(end) = end {
            reached = true;
            let end = &self.ssa.insts[end];
            self.assign(&results, &end.args);
            let from = self.block;
            self.m.add_both_edges(from, exit);
        }
        if reached {
            self.place_block(exit);
        }
        Ok(reached)
    }

    fn loop_(&mut self, inst: ssa::Inst) -> Result<bool, Failure> {
        let data = &self.ssa.insts[inst];
        let (body, continuing) = (data.regions[0], data.regions[1]);
        let body_registers = self.registers_for(&self.ssa.regions[body].params);
        let next_registers = self.registers_for(&self.ssa.regions[continuing].params);
        let results = self.registers_for(&data.results);
        self.assign(&body_registers, &data.args);
        let (header, next, exit) = (self.m.make_block(), self.m.make_block(), self.m.make_block());
        let before = self.block;
        self.m.add_both_edges(before, header);
        self.place_block(header);
        self.constructs.push(Construct {
            inst,
            is_loop: true,
            results: results.clone(),
            exit,
            continuing: Some((next_registers.clone(), next)),
            left: false,
            continued: false,
        });
        // Addresses computed in the body hold for the body alone; so do those of the continuing part.
        self.statements(body)?;
        let outer = self.divergent;
        let continued = self.constructs.last().expect("pushed above").continued;
        if continued {
            self.place_block(next);
        }
        if continued && let Some(end) = self.statements(continuing)? {
            self.divergent = self.uniformity.is_divergent(continuing);
            let end_data = &self.ssa.insts[end];
            self.span = end_data.span;
            match end_data.op {
                Op::Next => {
                    self.assign(&body_registers, &end_data.args);
                    self.jump(header);
                }
                Op::BreakIf => {
                    self.constructs.last_mut().expect("pushed above").left = true;
                    let cond = end_data.args[0];
                    let count = data.results.len();
                    let divergent = self.divergent || !self.uniformity.is_uniform(cond);
                    let (condition, zero_is_true) = self.branch_condition(cond);
                    let (leaving, going) = (&end_data.args[1..=count], &end_data.args[count + 1..]);
                    // The results are assigned on every trip: nobody else reads their registers, and
                    // the last trip's are those that count. Unless the loop's own values are among
                    // them, which the copies for the next trip would overwrite, this saves a block.
                    let condition = Opnd {
                        src: match condition.src {
                            Src::Bits(_) => condition.src,
                            _ => Src::Reg(self.in_register(condition.lane(Lane::All)).into()),
                        },
                        ..Opnd::bits(0)
                    };
                    self.assign(&results, leaving);
                    if going.is_empty() {
                        self.branch(condition, !zero_is_true, header, divergent);
                        let from = self.block;
                        self.m.add_both_edges(from, exit);
                    } else {
                        self.branch(condition, zero_is_true, exit, divergent);
                        let from = self.block;
                        let again = self.m.make_block();
                        self.m.add_both_edges(from, again);
                        self.place_block(again);
                        self.assign(&body_registers, going);
                        self.jump(header);
                    }
                }
                _ => {
                    return Err(Failure::Internal {
                        pass: "lower",
                        message: "a continuing part that yields".into(),
                    });
                }
            }
        }
        self.divergent = outer;
        let left = self.constructs.pop().expect("pushed above").left;
        if left {
            self.place_block(exit);
        }
        Ok(left)
    }
}

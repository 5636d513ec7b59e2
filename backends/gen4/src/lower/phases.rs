//! Work-item loops: what stands between two barriers runs for all invocations of a workgroup, a step at a time, before anything
//! behind the second barrier does. A workgroup is one thread, so a barrier is no instruction: it cuts the program into phases.
//!
//! Control flow around a barrier that is proved uniform in the group runs once, and the phases in it each have a loop over the
//! invocations. Where invocations may part, no branch is taken: each of them has a mask in scratch ([`masks`]). What is alive from
//! one phase to another is in scratch, a cell for each value: a doubleword of each invocation.

mod masks;
mod plan;

use super::depth::around_exits;
use super::{Lower, STATELESS};
use crate::inst::{Condition, Inst, Source, Src, Test};
use crate::isa::operand::Type as Ty;
use cranelift_entity::EntitySet;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Block, Edges};
use gpucc_ir::ssa::{self, Builtin, Imm, InputKind, Op, Region, Value};
pub(super) use plan::Phases;
use smallvec::SmallVec;

/// A loop around barriers.
#[derive(Clone)]
pub(super) struct PhasedLoop {
    /// Its results, which have cells.
    results: Vec<Value>,
    way: Way,
}

/// How a loop around barriers is left.
#[derive(Copy, Clone)]
enum Way {
    /// The whole group goes to this block.
    Jump(Block),
    /// Invocations leave this mask of [`Lower::masks`], and those behind it.
    Mask(usize),
}

impl Lower<'_> {
    /// Steps of all invocations.
    pub(super) fn steps(&self) -> u32 {
        self.invocations().div_ceil(self.abi.lanes)
    }

    /// Gives cells to what lives across barriers, behind the variables; the end of both.
    pub(super) fn place_cells(&mut self, first: u32) -> Result<u32, Failure> {
        let bytes = self.abi.lane_bytes() * self.steps();
        let Some(mut phases) = self.phases.take() else {
            return Ok(first);
        };
        let end = phases.place(self.ssa, first, bytes)?;
        for (value, _) in phases.cells.iter().filter(|(_, cell)| cell.is_some()) {
            self.in_registers.insert(value);
        }
        self.phases = Some(phases);
        Ok(end)
    }

    /// Whether the operands of what made a value are at hand where it is read: its own phase alone reads it. Nothing else may
    /// be looked through.
    pub(super) fn is_near(&self, value: Value) -> bool {
        self.cell(value).is_none()
    }

    /// The cell of a value.
    pub(super) fn cell(&self, value: Value) -> Option<u32> {
        self.phases.as_ref()?.cells[value]
    }

    fn is_masked(&self, inst: ssa::Inst) -> bool {
        self.phases.as_ref().is_some_and(|phases| phases.masked.contains(inst))
    }

    fn is_around(&self, inst: ssa::Inst) -> bool {
        self.phases.as_ref().is_some_and(|phases| phases.around.contains(inst))
    }

    /// A region with barriers; its `yield` goes to the cells of `results`. True when control reaches its end.
    pub(super) fn phased(&mut self, region: Region, results: &[Value]) -> Result<bool, Failure> {
        let ssa = self.ssa;
        let mut from = 0;
        let list = &ssa.regions[region].insts;
        for (at, &inst) in list.iter().enumerate() {
            let data = &ssa.insts[inst];
            if !self.is_around(inst) && !data.op.is_terminator() {
                continue;
            }
            self.phase(&list[from..at])?;
            from = at + 1;
            self.span = data.span;
            match data.op {
                Op::Barrier => {}
                Op::If if self.is_masked(inst) => self.masked_if(data)?,
                Op::If => self.phased_if(data)?,
                Op::Loop if self.is_masked(inst) => self.masked_loop(data)?,
                Op::Loop => self.phased_loop(data)?,
                Op::Block => {
                    self.phased(data.regions[0], &data.results)?;
                }
                Op::Yield => {
                    self.transfer(results, &data.args)?;
                    return Ok(true);
                }
                Op::Break => {
                    let Some(frame) = self.phased_loops.last().cloned() else {
                        return Err(self.not_yet("leaving a loop from here"));
                    };
                    self.transfer(&frame.results, &data.args)?;
                    match frame.way {
                        Way::Jump(exit) => self.leave(exit)?,
                        Way::Mask(from) => self.unmask(from)?,
                    }
                    return Ok(false);
                }
                Op::Continue | Op::Next => {
                    // The caller knows to whom the operands go.
                    self.transfer(results, &data.args)?;
                    return Ok(true);
                }
                Op::Unreachable => return Ok(false),
                _ => return Err(self.not_yet("this control flow around a barrier")),
            }
        }
        Ok(true)
    }

    /// The loop over the group's invocations around some code, for those that the mask has, if there is one.
    fn each_step(
        &mut self,
        fill: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let count = self.invocations();
        let below = |first: Source| Test {
            condition: Condition::Less,
            ty: Ty::Ud,
            first,
            second: Src::Bits(count).into(),
            join: None,
        };
        let lane = Source::from(Src::Fixed(self.abi.lane()));
        let header = (count > self.abi.lanes).then(|| self.begin_loop(0)).transpose()?;
        let partial = !count.is_multiple_of(self.abi.lanes);
        let head = partial
            .then(|| {
                self.push(Inst::Compare(below(lane)));
                self.begin_if(false, false)
            })
            .transpose()?;
        let mask = self.masks.last().copied();
        let masked = mask.map(|mask| self.begin_masked(mask)).transpose()?;
        fill(self)?;
        for head in [masked, head].into_iter().flatten() {
            self.end_if(head);
        }
        if let Some(header) = header {
            self.push(Inst::Advance { steps: 1, bytes: true });
            let first = Src::Scalar { register: self.abi.lane(), dword: 0 };
            self.repeat(header, below(first.into()));
            self.push(Inst::Advance { steps: -(self.steps() as i32), bytes: true });
        }
        Ok(())
    }

    fn load_cell(&mut self, value: Value, cell: u32) {
        let dst = self.define(value).into();
        let address = Src::Fixed(self.abi.lane_offsets()).into();
        self.push(Inst::Read { dst, address, offset: cell, surface: STATELESS, slot: None });
    }

    fn store_cell(&mut self, value: Source, cell: u32) {
        let address = Src::Fixed(self.abi.lane_offsets()).into();
        self.push(Inst::Write { address, value, offset: cell, surface: STATELESS, slot: None });
    }

    /// The code of one phase for all invocations.
    fn phase(&mut self, list: &[ssa::Inst]) -> Result<(), Failure> {
        let ssa = self.ssa;
        let constant = |&inst: &ssa::Inst| ssa.insts[inst].op == Op::Const;
        if list.iter().all(constant) {
            return Ok(());
        }
        let made: Vec<Value> = list
            .iter()
            .flat_map(|&inst| &ssa.insts[inst].results)
            .copied()
            .filter(|&value| self.cell(value).is_some())
            .collect();
        let mut own: EntitySet<Value> = EntitySet::new();
        made.iter().for_each(|&value| {
            own.insert(value);
        });
        let mut read = Vec::new();
        let mut todo: Vec<ssa::Inst> = list.iter().rev().copied().collect();
        let mut numbered = false;
        while let Some(inst) = todo.pop() {
            let data = &ssa.insts[inst];
            for &value in &data.args {
                if self.cell(value).is_some() && own.insert(value) {
                    read.push(value);
                }
            }
            if let (Op::Input, Imm::Input(input, _)) = (data.op, &data.imm) {
                numbered |= matches!(
                    ssa.inputs[*input].kind,
                    InputKind::Builtin(Builtin::GlobalInvocationId | Builtin::LocalInvocationId)
                );
            }
            for &region in &data.regions {
                todo.extend(ssa.regions[region].insts.iter().rev());
            }
        }
        self.each_step(|lower| {
            if numbered {
                lower.number_invocations();
            }
            for &value in &read {
                if let Some(cell) = lower.cell(value) {
                    lower.load_cell(value, cell);
                }
            }
            for &inst in list {
                lower.span = ssa.insts[inst].span;
                lower.inner(inst)?;
            }
            for &value in &made {
                if let Some(cell) = lower.cell(value) {
                    let source = lower.source(value);
                    lower.store_cell(source, cell);
                }
            }
            Ok(())
        })?;
        for value in made.into_iter().chain(read) {
            self.values[value] = None;
        }
        Ok(())
    }

    /// Cells to cells, all read before one is written.
    fn transfer(&mut self, to: &[Value], from: &[Value]) -> Result<(), Failure> {
        if to.is_empty() {
            return Ok(());
        }
        self.each_step(|lower| {
            let mut sources: SmallVec<[Source; 4]> = SmallVec::new();
            for &value in from {
                if let Some(cell) = lower.cell(value) {
                    lower.load_cell(value, cell);
                }
                sources.push(lower.source(value));
            }
            for (&value, source) in to.iter().zip(sources) {
                if let Some(cell) = lower.cell(value) {
                    lower.store_cell(source, cell);
                }
            }
            Ok(())
        })?;
        for &value in from {
            self.values[value] = None;
        }
        Ok(())
    }

    /// A condition that is the same for the whole group, all of which is here: that of its first invocation.
    fn uniform_test(&mut self, value: Value) {
        let first = match self.cell(value) {
            Some(cell) => {
                let dst = self.fresh();
                let address = Src::Bits(cell).into();
                self.push(Inst::Read {
                    dst: dst.into(),
                    address,
                    offset: 0,
                    surface: STATELESS,
                    slot: None,
                });
                Src::Reg(dst.into()).into()
            }
            None => self.source(value),
        };
        let first = self.no_number(first);
        let second = Src::Bits(0).into();
        let condition = Condition::NotEqual;
        self.push(Inst::Compare(Test { condition, ty: Ty::D, first, second, join: None }));
    }

    fn phased_if(&mut self, data: &ssa::InstData) -> Result<(), Failure> {
        let continues = |&region: &Region| {
            let end = self.ssa.terminator(region);
            end.is_some_and(|end| self.ssa.insts[end].op == Op::Continue)
        };
        if data.regions.iter().any(continues) {
            return Err(self.not_yet("going on with a loop out of a condition around a barrier"));
        }
        self.uniform_test(data.args[0]);
        let head = self.begin_if(false, true)?;
        let then_falls = self.phased(data.regions[0], &data.results)?;
        let then_end = self.block;
        self.start_block();
        self.m.add_both_edges(head, self.block);
        self.m.add_edge(Edges::Physical, then_end, self.block);
        self.push(Inst::Else);
        let falls = self.phased(data.regions[1], &data.results)?;
        let end = self.block;
        self.start_block();
        for (end, falls) in [(then_end, then_falls), (end, falls)] {
            if falls {
                self.m.add_edge(Edges::Logical, end, self.block);
            }
            self.m.add_edge(Edges::Physical, end, self.block);
        }
        self.close();
        Ok(())
    }

    fn phased_loop(&mut self, data: &ssa::InstData) -> Result<(), Failure> {
        let ssa = self.ssa;
        let (body, continuing) = (data.regions[0], data.regions[1]);
        let params = |region: Region| ssa.regions[region].params.to_vec();
        let (body_params, continuing_params) = (params(body), params(continuing));
        self.transfer(&body_params, &data.args)?;
        let header = self.begin_loop(around_exits(ssa, &data.regions))?;
        let exit: Block = self.m.make_block();
        let results = data.results.to_vec();
        self.phased_loops.push(PhasedLoop { results, way: Way::Jump(exit) });
        self.phased(body, &continuing_params)?;
        self.phased(continuing, &body_params)?;
        self.phased_loops.pop();
        self.end_loop(header, exit);
        Ok(())
    }
}

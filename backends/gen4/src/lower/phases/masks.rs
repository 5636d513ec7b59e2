//! Control flow around barriers in which invocations may part: nobody branches, and each invocation has a mask in scratch that says
//! whether it is there. Both arms of a condition run, each phase for the invocations of the arm's mask; a loop goes on while one
//! invocation is in it. So a barrier that no invocation reaches changes nothing.

use super::{PhasedLoop, Way};
use crate::inst::{Condition, Inst, Source, Src, Test};
use crate::isa::operand::Type as Ty;
use crate::limits;
use crate::lower::{Lower, STATELESS};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Block, VReg};
use gpucc_ir::ssa;

impl Lower<'_> {
    /// A cell in scratch: a doubleword of each invocation.
    fn fresh_cell(&mut self) -> Result<u32, Failure> {
        let cell = self.scratch;
        let end = u64::from(cell) + u64::from(self.abi.lane_bytes() * self.steps());
        limits::MEMORY.admit(end)?;
        self.scratch = end as u32;
        Ok(cell)
    }

    fn is_set(first: Source) -> Test {
        let second = Src::Bits(0).into();
        Test { condition: Condition::NotEqual, ty: Ty::D, first, second, join: None }
    }

    fn read_mask(&mut self, mask: u32) -> VReg {
        let dst = self.fresh();
        let address = Src::Fixed(self.abi.lane_offsets()).into();
        let (offset, surface) = (mask, STATELESS);
        self.push(Inst::Read { dst: dst.into(), address, offset, surface, slot: None });
        dst
    }

    /// Opens a condition: what follows is for the invocations of this step that the mask has.
    pub(super) fn begin_masked(&mut self, mask: u32) -> Result<Block, Failure> {
        let mask = self.read_mask(mask);
        self.push(Inst::Compare(Self::is_set(Src::Reg(mask.into()).into())));
        self.begin_if(false, false)
    }

    /// All invocations of the group, whatever the mask.
    fn each_of_all(
        &mut self,
        fill: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let masks = std::mem::take(&mut self.masks);
        self.each_step(fill)?;
        self.masks = masks;
        Ok(())
    }

    /// The mask of the code here: 1 for all where there is none.
    fn here(&mut self, mask: Option<u32>) -> Source {
        match mask {
            Some(mask) => Src::Reg(self.read_mask(mask).into()).into(),
            None => self.no_number(Src::Bits(1).into()),
        }
    }

    /// The invocations that are here leave the masks from this one on.
    pub(super) fn unmask(&mut self, from: usize) -> Result<(), Failure> {
        let left = self.masks[from..].to_vec();
        self.each_step(|lower| {
            left.iter().for_each(|&mask| lower.store_cell(Src::Bits(0).into(), mask));
            Ok(())
        })
    }

    /// Both arms, the first before the second, each for the invocations that take it.
    pub(super) fn masked_if(&mut self, data: &ssa::InstData) -> Result<(), Failure> {
        let outer = self.masks.last().copied();
        let arms = [self.fresh_cell()?, self.fresh_cell()?];
        let condition = data.args[0];
        self.each_of_all(|lower| {
            let zero: Source = Src::Bits(0).into();
            // What has not come here has no condition.
            let head = outer.map(|mask| {
                arms.iter().for_each(|&arm| lower.store_cell(zero, arm));
                lower.begin_masked(mask)
            });
            let head = head.transpose()?;
            if let Some(cell) = lower.cell(condition) {
                lower.load_cell(condition, cell);
            }
            let first = lower.source(condition);
            let first = lower.no_number(first);
            lower.push(Inst::Compare(Self::is_set(first)));
            let taken = [false, true].map(|inverse| {
                let dst = lower.fresh();
                lower.push(Inst::Flagged { dst: dst.into(), inverse });
                Source::from(Src::Reg(dst.into()))
            });
            for (taken, arm) in taken.into_iter().zip(arms) {
                lower.store_cell(taken, arm);
            }
            if let Some(head) = head {
                lower.end_if(head);
            }
            Ok(())
        })?;
        if self.cell(condition).is_some() {
            self.values[condition] = None;
        }
        for (&region, arm) in data.regions.iter().zip(arms) {
            self.masks.push(arm);
            self.phased(region, &data.results)?;
            self.masks.pop();
        }
        Ok(())
    }

    /// A loop that goes on while one invocation is in it.
    pub(super) fn masked_loop(&mut self, data: &ssa::InstData) -> Result<(), Failure> {
        let ssa = self.ssa;
        let (body, continuing) = (data.regions[0], data.regions[1]);
        let [body_params, continuing_params] =
            [body, continuing].map(|region| ssa.regions[region].params.to_vec());
        self.transfer(&body_params, &data.args)?;
        let outer = self.masks.last().copied();
        let (inside, again) = (self.fresh_cell()?, self.fresh_cell()?);
        self.each_of_all(|lower| {
            let here = lower.here(outer);
            lower.store_cell(here, inside);
            Ok(())
        })?;
        let header = self.begin_loop(0)?;
        let results = data.results.to_vec();
        self.phased_loops.push(PhasedLoop { results, way: Way::Mask(self.masks.len()) });
        self.masks.push(inside);
        // One word for the group: all lanes write it alike.
        let word = Source::from(Src::Bits(again));
        let write = |bits| {
            let (address, value) = (word, Src::Bits(bits).into());
            Inst::Write { address, value, offset: 0, surface: STATELESS, slot: None }
        };
        self.push(write(0));
        self.phased(body, &continuing_params)?;
        self.phased(continuing, &body_params)?;
        self.each_step(|lower| {
            lower.push(write(1));
            Ok(())
        })?;
        self.masks.pop();
        self.phased_loops.pop();
        let dst = self.fresh();
        let (address, surface) = (word, STATELESS);
        self.push(Inst::Read { dst: dst.into(), address, offset: 0, surface, slot: None });
        self.repeat(header, Self::is_set(Src::Reg(dst.into()).into()));
        Ok(())
    }
}

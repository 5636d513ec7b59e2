//! Compute: from the linear thread number to workgroup and invocation ids, by the program ABI.

use super::{Lower, Place};
use crate::inst::{Alu, Source, Src};
use crate::isa::AluOp;
use gpucc_ir::mach::{Block, VReg};
use gpucc_ir::ssa::MemSpace;

impl Lower<'_> {
    fn threads_per_workgroup(&self) -> u32 {
        self.abi.compute.map_or(1, |layout| layout.threads_per_workgroup)
    }

    fn workgroup_lanes(&self) -> u32 {
        self.ssa.workgroup_size.iter().product()
    }

    /// Some lanes of a wavefront have no invocation.
    pub(super) fn surplus_lanes(&self) -> bool {
        self.abi.compute.is_some() && self.threads_per_workgroup() != self.workgroup_lanes()
    }

    pub(super) fn uses_workgroup_memory(&self) -> bool {
        self.ssa.mems.values().any(|mem| mem.space == MemSpace::Workgroup)
    }

    /// Opens the `if` that keeps surplus lanes out; its head when there is one.
    pub(super) fn mask_surplus_lanes(&mut self) -> Option<Block> {
        if !self.surplus_lanes() {
            return None;
        }
        let local = self.inputs.local.expect("split when lanes are surplus");
        let test = Alu::new(
            AluOp::PRED_SETGT_UINT,
            None,
            &[Source::bits(self.workgroup_lanes()), Source::reg(local)],
        );
        Some(self.begin_if(test))
    }

    /// Thread number to workgroup number and number within the workgroup.
    pub(super) fn split_thread(&mut self) {
        if self.inputs.thread.is_none() {
            return;
        }
        let thread = self.thread();
        let per = self.threads_per_workgroup();
        if per == 1 {
            let Src::Reg(reg) = thread.src else { return };
            self.inputs.workgroup = reg.as_virt();
            return;
        }
        let workgroup = self.divide(thread, per, 31);
        let local = if per.is_power_of_two() {
            self.alu(AluOp::AND_INT, &[thread, Source::bits(per - 1)])
        } else {
            let whole = self.alu(AluOp::MULLO_INT, &[Source::reg(workgroup), Source::bits(per)]);
            self.alu(AluOp::SUB_INT, &[thread, Source::reg(whole)])
        };
        self.inputs.workgroup = Some(workgroup);
        self.inputs.local = Some(local);
    }

    /// Unsigned division of a number of at most `bits` (31) bits by a constant: by shift, or by
    /// multiplication with the rounded-up reciprocal (Granlund and Montgomery 1994: with
    /// m = ceil(2^(32+s) / d), 2^s >= d / 2^(32-bits) makes the quotient exact).
    fn divide(&mut self, n: Source, d: u32, bits: u32) -> VReg {
        if d.is_power_of_two() {
            return self.alu(AluOp::LSHR_INT, &[n, Source::bits(d.trailing_zeros())]);
        }
        let wanted = d.next_power_of_two().trailing_zeros();
        let shift = (wanted + bits).saturating_sub(32);
        let magic = (1u64 << (32 + shift)).div_ceil(d.into()) as u32;
        let high = self.alu(AluOp::MULHI_UINT, &[n, Source::bits(magic)]);
        if shift == 0 {
            return high;
        }
        self.alu(AluOp::LSHR_INT, &[Source::reg(high), Source::bits(shift)])
    }

    /// Component of local_invocation_id.
    pub(super) fn local_id(&mut self, component: u8) -> Place {
        let [x, y, z] = self.ssa.workgroup_size;
        let Some(local) = self.inputs.local else {
            return Place::Source(Src::Bits(0));
        };
        let size = [x, y, z][usize::from(component)];
        if size == 1 {
            return Place::Source(Src::Bits(0));
        }
        let below = match component {
            0 => 1,
            1 => x,
            _ => x * y,
        };
        let above = size * below == self.workgroup_lanes();
        let mut value = local;
        if below > 1 {
            value = self.divide(Source::reg(value), below, 16);
        }
        if !above {
            value = self.modulo(value, size);
        }
        Place::Reg(value)
    }

    fn modulo(&mut self, value: VReg, d: u32) -> VReg {
        if d.is_power_of_two() {
            return self.alu(AluOp::AND_INT, &[Source::reg(value), Source::bits(d - 1)]);
        }
        let quotient = self.divide(Source::reg(value), d, 16);
        let whole = self.alu(AluOp::MULLO_INT, &[Source::reg(quotient), Source::bits(d)]);
        self.alu(AluOp::SUB_INT, &[Source::reg(value), Source::reg(whole)])
    }

    /// Component of workgroup_id: the workgroup's number in the grid of num_workgroups.
    pub(super) fn workgroup_id(&mut self, component: u8) -> Place {
        let Some(workgroup) = self.inputs.workgroup else {
            return Place::Source(Src::Bits(0));
        };
        let x = self.driver_constant(0, 0);
        let (row, within) = self.divide_by(Source::reg(workgroup), x);
        if component == 0 {
            return Place::Reg(within);
        }
        let y = self.driver_constant(0, 1);
        let (layer, column) = self.divide_by(Source::reg(row), y);
        Place::Reg(if component == 1 { column } else { layer })
    }

    /// Quotient and remainder of unsigned numbers below 2^31, the divisor not 0: an estimate from
    /// the reciprocal that is never too large and at most two too small, then two corrections.
    fn divide_by(&mut self, n: Source, d: Source) -> (VReg, VReg) {
        let float = self.alu(AluOp::UINT_TO_FLT, &[d]);
        let reciprocal = self.alu(AluOp::RECIP_IEEE, &[Source::reg(float)]);
        // 4294966784 is 2^32 less two units: room for the errors of both steps before.
        let scaled = self.alu(
            AluOp::MUL_IEEE,
            &[Source::reg(reciprocal), Source::bits(4_294_966_784f32.to_bits())],
        );
        let estimate = self.alu(AluOp::FLT_TO_UINT, &[Source::reg(scaled)]);
        // One step of Newton on the integer estimate e of 2^32 / d: e += e * (2^32 - e * d) / 2^32.
        let product = self.alu(AluOp::MULLO_INT, &[Source::reg(estimate), d]);
        let error = self.alu(AluOp::SUB_INT, &[Source::bits(0), Source::reg(product)]);
        let step = self.alu(AluOp::MULHI_UINT, &[Source::reg(estimate), Source::reg(error)]);
        let better = self.alu(AluOp::ADD_INT, &[Source::reg(estimate), Source::reg(step)]);
        let mut quotient = self.alu(AluOp::MULHI_UINT, &[n, Source::reg(better)]);
        let whole = self.alu(AluOp::MULLO_INT, &[Source::reg(quotient), d]);
        let mut rest = self.alu(AluOp::SUB_INT, &[n, Source::reg(whole)]);
        for _ in 0..2 {
            // -1 where the rest still holds the divisor.
            let more = self.alu(AluOp::SETGE_UINT, &[Source::reg(rest), d]);
            quotient = self.alu(AluOp::SUB_INT, &[Source::reg(quotient), Source::reg(more)]);
            let taken = self.alu(AluOp::AND_INT, &[Source::reg(more), d]);
            rest = self.alu(AluOp::SUB_INT, &[Source::reg(rest), Source::reg(taken)]);
        }
        (quotient, rest)
    }

    /// Component of global_invocation_id.
    pub(super) fn global_id(&mut self, workgroup: Place, local: Place, component: u8) -> Place {
        let size = self.ssa.workgroup_size[usize::from(component)];
        let source = |place: Place| match place {
            Place::Reg(reg) => Source::reg(reg),
            Place::Source(src) => Source::plain(src),
        };
        let base = match workgroup {
            Place::Reg(reg) if size != 1 => {
                let scaled = if size.is_power_of_two() {
                    let shift = Source::bits(size.trailing_zeros());
                    self.alu(AluOp::LSHL_INT, &[Source::reg(reg), shift])
                } else {
                    self.alu(AluOp::MULLO_INT, &[Source::reg(reg), Source::bits(size)])
                };
                Place::Reg(scaled)
            }
            other => other,
        };
        match local {
            Place::Source(Src::Bits(0)) => base,
            _ => Place::Reg(self.alu(AluOp::ADD_INT, &[source(base), source(local)])),
        }
    }
}

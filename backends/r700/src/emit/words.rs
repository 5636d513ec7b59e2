//! Instructions as their words: fetches, memory and exports.

use super::Emitter;
use crate::api::Family;
use crate::inst::{
    Export, ExportType, Lane, MemRead, MemWrite, ShareRead, ShareWrite, Space, Texture, Vertex,
};
use crate::isa::{self, CfOp, FetchOp, f};
use gpucc_ir::mach::Reg;
use gpucc_isa::FieldId;

impl Emitter<'_> {
    fn results(
        &mut self,
        mut inst: isa::Inst,
        dst: &[Option<Reg>; 4],
        select: &[u8; 4],
    ) -> isa::Inst {
        let mut sel = [7; 4];
        let mut row = 0;
        for (reg, &component) in dst.iter().zip(select) {
            if let Some(reg) = reg {
                let (gpr, chan) = self.reg(*reg);
                row = gpr;
                sel[usize::from(chan)] = u32::from(component);
            }
        }
        inst = inst.with(f::DST_GPR, row.into());
        for (field, value) in isa::fields::DST_SELS.into_iter().zip(sel) {
            inst = inst.with(field, value);
        }
        inst
    }

    pub(super) fn vertex(&mut self, fetch: &Vertex) -> isa::Inst {
        let (gpr, chan) = self.reg(fetch.index);
        let inst = isa::Inst::new(self.isa().fetch_op(FetchOp::VFETCH))
            .with(f::FETCH_TYPE, fetch.fetch_type.into())
            .with(f::BUFFER_ID, fetch.resource.into())
            .with(f::SRC_GPR, gpr.into())
            .with(f::SRC_SEL_X, chan.into())
            .with(f::MEGA_FETCH_COUNT, u32::from(fetch.bytes) - 1)
            .with(f::MEGA_FETCH, 1)
            .with(f::DATA_FORMAT, fetch.data_format.into())
            .with(f::NUM_FORMAT_ALL, fetch.num_format.into())
            .with(f::FORMAT_COMP_ALL, fetch.signed.into())
            .with(f::OFFSET, fetch.offset.into());
        self.results(inst, &fetch.dst, &fetch.select)
    }

    pub(super) fn texture(&mut self, fetch: &Texture) -> isa::Inst {
        let mut inst = isa::Inst::new(self.isa().fetch_op(fetch.op))
            .with(f::RESOURCE_ID, fetch.resource.into())
            .with(f::SAMPLER_ID, fetch.sampler.into());
        inst = self.lanes(inst, &fetch.src, f::SRC_GPR, isa::fields::SRC_SELS, 4);
        for (&normalized, field) in fetch.normalized.iter().zip(isa::fields::COORD_TYPES) {
            inst = inst.with(field, normalized.into());
        }
        // Offsets are S3.1: half texels. Register guide, TEX_WORD2.
        for (&offset, field) in fetch.offset.iter().zip([f::OFFSET_X, f::OFFSET_Y, f::OFFSET_Z]) {
            inst = inst.with(field, (i32::from(offset) * 2) as u32 & 31);
        }
        self.results(inst, &fetch.dst, &fetch.select)
    }

    pub(super) fn mem_read(&mut self, read: &MemRead) -> isa::Inst {
        let op = match read.space {
            Space::Scratch => FetchOp::READ_SCRATCH,
            Space::Scatter => FetchOp::READ_MEM,
            Space::Stream(_) => unreachable!("streams are written only"),
        };
        let mut inst = isa::Inst::new(self.isa().fetch_op(op))
            .with(f::ELEM_SIZE, u32::from(read.elements) - 1)
            .with(f::UNCACHED, 1)
            .with(f::MEGA_FETCH, 1)
            .with(f::ARRAY_BASE, read.base.into())
            .with(f::ARRAY_SIZE, read.size.into())
            .with(f::DATA_FORMAT, if read.elements == 1 { 13 } else { 34 })
            .with(f::NUM_FORMAT_ALL, 1);
        if let Some(index) = read.index {
            let (gpr, chan) = self.reg(index);
            inst = inst
                .with(f::INDEXED, 1)
                .with(f::SRC_GPR, gpr.into())
                .with(f::SRC_SEL_X, chan.into());
        }
        self.results(inst, &read.dst, &read.select)
    }

    /// SIMD_WAVE_REL counts threads from the group's first and keeps what they wrote: without it the places are the same
    /// for all wavefronts, and data does not outlive a clause. R700 ISA 2.6.2.
    pub(super) fn share_write(&mut self, write: &ShareWrite) -> isa::Inst {
        let inst = isa::Inst::new(self.isa().fetch_op(FetchOp::DS_LOCAL_WRITE))
            .with(f::DST_INDEX, write.index.into())
            .with(f::DST_STRIDE, write.stride.into())
            .with(f::SIMD_WAVE_REL, 1);
        self.lanes(inst, &write.src, f::SRC_GPR, isa::fields::SRC_SELS, 7)
    }

    /// WATERFALL: threads of a quad may read one bank. R700 ISA 10.6.
    pub(super) fn share_read(&mut self, read: &ShareRead) -> isa::Inst {
        let (gpr, bank) = self.reg(read.bank);
        let (_, address) = self.reg(read.address);
        let mut inst = isa::Inst::new(self.isa().fetch_op(FetchOp::DS_LOCAL_READ))
            .with(f::SRC_GPR, gpr.into())
            .with(f::SRC_SEL_X, bank.into())
            .with(f::SRC_SEL_Y, address.into())
            .with(f::RD_OFFSET, read.offset.into())
            .with(f::WATERFALL, 1);
        for (reg, field) in read.dst.iter().zip(isa::fields::DST_WRS) {
            if let Some(reg) = reg {
                let (gpr, _) = self.reg(*reg);
                inst = inst.with(f::DST_GPR, gpr.into()).with(field, 1);
            }
        }
        inst
    }

    /// Sources of one register by components, and `masked` for those that take nothing.
    fn lanes(
        &mut self,
        mut inst: isa::Inst,
        src: &[Lane; 4],
        gpr_field: FieldId,
        fields: [FieldId; 4],
        masked: u32,
    ) -> isa::Inst {
        for (lane, field) in src.iter().zip(fields) {
            let sel = match lane {
                Lane::Reg(reg) => {
                    let (gpr, chan) = self.reg(*reg);
                    inst = inst.with(gpr_field, gpr.into());
                    u32::from(chan)
                }
                Lane::Zero => 4,
                Lane::One => 5,
                Lane::Masked => masked,
            };
            inst = inst.with(field, sel);
        }
        inst
    }

    pub(super) fn mem_write(&mut self, write: &MemWrite) -> isa::Inst {
        let op = match write.space {
            Space::Scratch => CfOp::MEM_SCRATCH,
            Space::Scatter => CfOp::MEM_EXPORT,
            Space::Stream(0) => CfOp::MEM_STREAM0,
            Space::Stream(1) => CfOp::MEM_STREAM1,
            Space::Stream(2) => CfOp::MEM_STREAM2,
            Space::Stream(_) => CfOp::MEM_STREAM3,
        };
        let mut mask = 0;
        let mut row = 0;
        for reg in write.src.iter().flatten() {
            let (gpr, chan) = self.reg(*reg);
            row = gpr;
            mask |= 1 << chan;
        }
        let mut inst = isa::Inst::new(self.isa().cf_op(op))
            // WRITE_ACK, or WRITE_IND_ACK with an index; R6xx has neither acknowledgement.
            .with(
                f::TYPE,
                match (self.config.chip.family(), write.space) {
                    (Family::R600, _) | (_, Space::Stream(_)) => 0,
                    (Family::R700, Space::Scratch | Space::Scatter) => 2,
                } + u32::from(write.index.is_some()),
            )
            .with(f::ARRAY_BASE, write.base.into())
            .with(f::ARRAY_SIZE, write.size.into())
            .with(f::ELEM_SIZE, u32::from(write.elements) - 1)
            .with(f::RW_GPR, row.into())
            .with(f::COMP_MASK, mask);
        if let Some(index) = write.index {
            let (gpr, _) = self.reg(index);
            inst = inst.with(f::INDEX_GPR, gpr.into());
        }
        let scatter = write.space == Space::Scatter;
        self.writes_memory |= scatter;
        if self.config.pixel && (scatter || write.valid) {
            inst = inst.with(f::VALID_PIXEL_MODE, 1);
        }
        inst
    }

    pub(super) fn export(&mut self, export: &Export) -> isa::Inst {
        let op = if export.done { CfOp::EXPORT_DONE } else { CfOp::EXPORT };
        let inst = isa::Inst::new(self.isa().cf_op(op))
            .with(
                f::TYPE,
                match export.ty {
                    ExportType::Pixel => 0,
                    ExportType::Position => 1,
                    ExportType::Parameter => 2,
                },
            )
            .with(f::ARRAY_BASE, export.base.into())
            .with(f::ELEM_SIZE, 3);
        self.lanes(inst, &export.src, f::RW_GPR, isa::fields::SELS, 7)
    }
}

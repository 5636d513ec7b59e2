//! The register file for the allocator: how to copy, and how to spill to scratch. R700 ISA 2.2, 3.5.

use crate::inst::{Alu, Inst, MemRead, MemWrite, Source, Space, Src};
use crate::isa::AluOp;
use gpucc_ir::mach::{FileId, Phases, Reg, Slot, VReg};
use gpucc_regalloc::{Shape, Target};
use smallvec::SmallVec;

/// The allocator's hooks. Slot 4r + c is channel c of scratch vec4 `first + r`.
pub struct Hooks {
    /// First scratch vec4 after those of variables.
    pub first: u32,
}

impl Hooks {
    fn row(&self, slot: Slot) -> u16 {
        (self.first + slot.0 / 4) as u16
    }
}

impl Target<Inst> for Hooks {
    fn copy(&mut self, to: Reg, from: Reg, _shape: Shape) -> Inst {
        Inst::Copy { dst: SmallVec::from_slice(&[to]), src: SmallVec::from_slice(&[from]) }
    }

    fn swap(
        &mut self,
        a: gpucc_ir::mach::Cell,
        b: gpucc_ir::mach::Cell,
        _shape: Shape,
    ) -> Option<Inst> {
        let (a, b) = (Reg::phys(a), Reg::phys(b));
        Some(Inst::Copy { dst: SmallVec::from_slice(&[a, b]), src: SmallVec::from_slice(&[b, a]) })
    }

    fn store(&mut self, slot: Slot, value: VReg, _shape: Shape) -> Inst {
        let mut src = [None; 4];
        src[(slot.0 % 4) as usize] = Some(value.into());
        Inst::MemWrite(MemWrite {
            space: Space::Scratch,
            index: None,
            base: self.row(slot),
            size: 0,
            src,
            elements: 4,
            valid: false,
            slot: Some(slot),
        })
    }

    fn load(&mut self, slot: Slot, value: VReg, _shape: Shape) -> Inst {
        Inst::MemRead(MemRead {
            space: Space::Scratch,
            index: None,
            base: self.row(slot),
            size: 0,
            dst: [Some(value.into()), None, None, None],
            select: [(slot.0 % 4) as u8, 1, 2, 3],
            elements: 4,
            slot: Some(slot),
        })
    }

    fn slot_phases(&self, slot: Slot, _file: FileId) -> Phases {
        Phases::only((slot.0 % 4) as u8)
    }

    /// A move of constants is cheaper than a reload.
    fn remat(&self, inst: &Inst) -> bool {
        matches!(inst, Inst::Alu(alu) if alu.op == AluOp::MOV && alu.dst.is_some()
            && alu.src.iter().all(|source| !matches!(source.src, Src::Reg(_))))
    }

    fn same_operation(&self, a: &Inst, b: &Inst) -> bool {
        let strip = |alu: &Alu| -> (AluOp, SmallVec<[Source; 3]>) { (alu.op, alu.src.clone()) };
        match (a, b) {
            (Inst::Alu(a), Inst::Alu(b)) => strip(a) == strip(b),
            _ => false,
        }
    }
}

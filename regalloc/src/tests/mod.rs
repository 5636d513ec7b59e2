//! Random allocation problems, a second opinion by execution, and mutations that the checker must see.

mod cases;
mod cost;
mod generate;
mod mixed;
mod random;

use crate::{Options, Policy, Shape, Target};
use gpucc_ir::mach::plain::Plain;
use gpucc_ir::mach::{Cell, File, FileId, Files, Operand, Phases, Reg, Scope, Slot, VReg};

/// R: rows of four, per lane. A: uniform cells. T: rows of one, for runs.
pub(crate) const FILES: Files = Files(&[
    File { name: "R", cells: 512, row: 4, per_lane: true, scope: Scope::Function },
    File { name: "A", cells: 64, row: 1, per_lane: false, scope: Scope::Function },
    File { name: "T", cells: 64, row: 2, per_lane: true, scope: Scope::Function },
]);
pub(crate) const R: FileId = FileId(0);
pub(crate) const A: FileId = FileId(1);
pub(crate) const T: FileId = FileId(2);

/// A target whose scratch writes do not swizzle, and which recomputes constants.
pub(crate) struct Plainly {
    pub can_swap: bool,
}

impl Target<Plain> for Plainly {
    fn copy(&mut self, to: Reg, from: Reg, _shape: Shape) -> Plain {
        Plain::new("copy", &[to], &[from])
    }
    fn swap(&mut self, a: Cell, b: Cell, _shape: Shape) -> Option<Plain> {
        let (a, b) = (Reg::phys(a), Reg::phys(b));
        self.can_swap.then(|| Plain::new("copy", &[a, b], &[b, a]))
    }
    fn store(&mut self, slot: Slot, value: VReg, shape: Shape) -> Plain {
        let phases = self.slot_phases(slot, shape.file);
        let operands = vec![Operand::use_of(value).at(phases)];
        Plain { name: "store".into(), operands, numbers: vec![slot.0] }
    }
    fn load(&mut self, slot: Slot, value: VReg, _shape: Shape) -> Plain {
        Plain { name: "load".into(), operands: vec![Operand::def_of(value)], numbers: vec![slot.0] }
    }
    fn slot_phases(&self, slot: Slot, file: FileId) -> Phases {
        if file == R { Phases::only((slot.0 % 4) as u8) } else { Phases::ANY }
    }
    fn can_spill(&self, _shape: Shape) -> bool {
        true
    }
    fn remat(&self, inst: &Plain) -> bool {
        inst.name == "const"
    }
    fn same_operation(&self, a: &Plain, b: &Plain) -> bool {
        a.name == b.name && a.numbers == b.numbers
    }
}

pub(crate) fn options(rows: [u16; 3], policy: Policy) -> Options {
    Options { rows: rows.to_vec(), policy, ..Options::for_files(FILES.0) }
}

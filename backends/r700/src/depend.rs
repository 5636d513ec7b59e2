//! Who wrote and read each virtual register in the run of instructions that is walked.

use crate::inst::Inst;
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Inst as _, Role, VReg};
use smallvec::SmallVec;

/// Kept from run to run, so that a run costs what it holds and not what the program holds.
#[derive(Default)]
pub struct Seen {
    /// The run that the facts are of.
    run: u32,
    facts: SecondaryMap<VReg, Facts>,
}

#[derive(Clone, Default)]
struct Facts {
    run: u32,
    writer: Option<u32>,
    readers: SmallVec<[u32; 2]>,
}

/// The virtual registers of an instruction, as often as it names them.
pub struct Touched {
    reads: SmallVec<[VReg; 4]>,
    writes: SmallVec<[VReg; 4]>,
}

impl Touched {
    fn of(inst: &Inst) -> Touched {
        let (mut reads, mut writes) = (SmallVec::new(), SmallVec::new());
        inst.operands(&mut |operand| {
            if let Some(v) = operand.reg.as_virt() {
                if operand.role == Role::Use {
                    reads.push(v);
                } else {
                    writes.push(v);
                }
            }
        });
        Touched { reads, writes }
    }
}

impl Seen {
    /// Begins a run.
    pub fn start(&mut self) {
        self.run += 1;
    }

    fn of(&mut self, v: VReg) -> &mut Facts {
        let run = self.run;
        let facts = &mut self.facts[v];
        if facts.run != run {
            facts.run = run;
            facts.writer = None;
            facts.readers.clear();
        }
        facts
    }

    /// Calls for the instructions of the run that `inst` must come behind: with 1 behind what writes a register that it
    /// reads or writes, with 0 behind what reads a register that it writes.
    pub fn before(&mut self, inst: &Inst, edge: &mut impl FnMut(u32, u32)) -> Touched {
        let touched = Touched::of(inst);
        for &v in &touched.reads {
            if let Some(from) = self.of(v).writer {
                edge(from, 1);
            }
        }
        for &v in &touched.writes {
            let facts = self.of(v);
            if let Some(from) = facts.writer {
                edge(from, 1);
            }
            for &reader in &facts.readers {
                edge(reader, 0);
            }
        }
        touched
    }

    /// Who reads the value that a register has now.
    pub fn readers(&mut self, v: VReg) -> &[u32] {
        &self.of(v).readers
    }

    /// Instruction `at` is the latest of the run.
    pub fn note(&mut self, at: u32, touched: &Touched) {
        for &v in &touched.reads {
            self.of(v).readers.push(at);
        }
        for &v in &touched.writes {
            let facts = self.of(v);
            facts.writer = Some(at);
            facts.readers.clear();
        }
    }
}

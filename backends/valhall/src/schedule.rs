//! What the scheduler asks of this machine: one instruction a cycle, messages whose results are late. isa/valhall_rogue.md
//! 1.8, 5.

use crate::flow;
use crate::helpers;
use crate::inst::Inst;
use crate::isa::{Opcode, Unit};
use gpucc_ir::mach::{Func, Inst as _, Reg};
use gpucc_passes::mach::{Effects, Model, schedule};

/// The class of what a fragment puts out, and of what may end a fragment.
const OUTPUT: u32 = 1 << 27;
/// The class of the interpolation state.
const INTERPOLATION: u32 = 1 << 26;
/// The class of which lanes there are.
const LANES: u32 = 1 << 25;
/// Registers that alignment may cost, left free where latency is hidden.
const ALIGNMENT: u32 = 2;

/// The machine as the dependence graph asks for it.
pub struct Machine;

impl Model<Inst> for Machine {
    fn result(&self, inst: &Inst) -> u32 {
        inst.op().map_or(1, |op| latency(op.opcode))
    }

    fn effects(&self, inst: &Inst) -> Effects {
        let Some(op) = inst.op() else {
            return Effects::default();
        };
        let mut effects = flow::effects(op);
        match op.opcode {
            Opcode::Atest | Opcode::ZsEmit | Opcode::Blend | Opcode::LdTile | Opcode::StTile => {
                effects.writes |= OUTPUT;
            }
            // What a lane does behind its end does not happen, so that nothing visible moves across.
            Opcode::DiscardF32 => effects.writes = u32::MAX,
            _ => {}
        }
        // An alpha test may end lanes: errata 101.
        if op.opcode == Opcode::Atest {
            effects.writes |= LANES;
        }
        if helpers::needs(&op.word) {
            effects.reads |= LANES;
        }
        if matches!(op.opcode.unit(), Unit::V | Unit::Vt) {
            effects.writes |= INTERPOLATION;
        }
        effects
    }

    fn ends_region(&self, inst: &Inst) -> bool {
        inst.ends_block()
            || match inst {
                Inst::Entry(_) => true,
                // What a blend shader may overwrite is not filled before it runs, and the last one ends the program.
                Inst::Op(op) => matches!(op.opcode, Opcode::Barrier | Opcode::Blend),
                Inst::Copy { .. } => false,
            }
    }

    fn is_result(&self, inst: &Inst, reg: Reg) -> bool {
        let clobbers = inst.op().map_or(&[][..], |op| &op.clobbers[..]);
        !clobbers.iter().any(|&(clobbered, _)| clobbered == reg)
    }
}

/// Cycles from an instruction to one that reads its result, taken for granted: no document gives them for messages.
pub fn latency(opcode: Opcode) -> u32 {
    match opcode.unit() {
        Unit::T | Unit::Vt => 24,
        Unit::Ls => 16,
        Unit::V => 8,
        Unit::None => 4,
        Unit::Fma | Unit::Cvt | Unit::Sfu => 1,
    }
}

/// Orders every block. Returns how many registers the function needs at least, alignment apart.
pub fn run(func: &mut Func<Inst>) -> u32 {
    schedule(func, &Machine, ALIGNMENT)
}

#[cfg(test)]
mod tests;

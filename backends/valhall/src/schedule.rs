//! Orders instructions before registers are given: few values alive first, then messages early and their results late.
//!
//! The machine issues one instruction at a time and hides latency with other warps, so that registers matter more than
//! distance; a result that is read at once makes the warp wait, though. isa/valhall_rogue.md 1.8, 5.

use crate::flow;
use crate::inst::Inst;
use crate::isa::{Opcode, Unit};
use gpucc_ir::mach::{Func, Inst as _};
use gpucc_passes::mach::{Dependence, Effects, Model, Rules, Scheduler, Tuning, reorder};
use std::convert::Infallible;

/// Registers alive beyond which saving registers goes before distance.
const COMFORT: u32 = 20;

/// The class of what a fragment puts out, and of what may end a fragment.
const OUTPUT: u32 = 1 << 27;
/// The class of the interpolation state.
const INTERPOLATION: u32 = 1 << 26;
/// The class of which lanes there are.
const LANES: u32 = 1 << 25;

/// One instruction a cycle.
#[derive(Clone)]
struct Issue {
    full: bool,
}

impl Rules<Inst> for Issue {
    type Violation = Infallible;

    fn admit(&self, _inst: &Inst) -> Result<Issue, Infallible> {
        Ok(Issue { full: true })
    }

    fn next(&self) -> Issue {
        Issue { full: false }
    }

    fn is_full(&self) -> bool {
        self.full
    }
}

struct Machine;

impl Model<Inst> for Machine {
    type Rules = Issue;

    fn start(&self) -> Issue {
        Issue { full: false }
    }

    fn latency(&self, from: &Inst, _to: &Inst, why: Dependence) -> u32 {
        match (from.op(), why) {
            (Some(op), Dependence::True) => match op.opcode.unit() {
                Unit::T | Unit::Vt => 24,
                Unit::Ls => 16,
                Unit::V => 8,
                Unit::None => 4,
                Unit::Fma | Unit::Cvt | Unit::Sfu => 1,
            },
            _ => 1,
        }
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
            Opcode::ClperI32 | Opcode::Wmask => effects.reads |= LANES,
            _ => {}
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
}

/// Reorders every block.
pub fn run(func: &mut Func<Inst>) {
    let tuning = Tuning {
        pressure: vec![COMFORT],
        ..Tuning::default()
    };
    let result = reorder(
        func,
        &Machine,
        &tuning,
        &mut Scheduler::default(),
        |_, _, _| {},
    );
    if let Err(stuck) = result {
        match stuck.violation {}
    }
}

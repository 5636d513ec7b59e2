//! What the scheduler asks of this machine: messages whose replies are late. isa/gen4.md 6.

use crate::abi::Abi;
use crate::back::{most_threads, threads};
use crate::cost;
use crate::inst::{Inst, REGISTERS};
use crate::legal::Chip;
use crate::lower::STATELESS;
use gpucc_ir::mach::{Func, Inst as _, VReg};
use gpucc_passes::mach::{Effects, Model, overlap};

/// The class of the flag.
const FLAG: u32 = 1 << 0;
/// The class of the pixels that live.
const LIVING: u32 = 1 << 1;
/// The class of buffers and textures.
const MEMORY: u32 = 1 << 2;
/// The class of the thread's scratch.
const SCRATCH: u32 = 1 << 3;
/// The class of the registers that all lanes read.
const LANES: u32 = 1 << 4;
/// The class of variables in registers.
const ELEMENTS: u32 = 1 << 5;
/// Cells that stay free: what values beside each other may cost.
const MARGIN: u32 = 3;

/// The machine as the dependence graph asks for it.
struct Machine {
    /// Registers of a value.
    rows: u32,
}

impl Model<Inst> for Machine {
    /// In instructions that are issued meanwhile.
    fn result(&self, inst: &Inst) -> u32 {
        match inst {
            Inst::Sample { .. } | Inst::Read { .. } | Inst::ReadRow { .. } => {
                cost::memory(self.rows)
            }
            Inst::Math { function, .. } | Inst::MathVector { function, .. } => {
                cost::math(*function as u32)
            }
            Inst::Divide { remainder, .. } => cost::math(if *remainder { 13 } else { 12 }),
            _ => 1,
        }
    }

    fn effects(&self, inst: &Inst) -> Effects {
        let of = |surface: u8| if surface == STATELESS { SCRATCH } else { MEMORY };
        let (reads, writes) = match inst {
            _ if inst.sets_flag() => (0, FLAG),
            Inst::Select { .. } | Inst::When { .. } | Inst::Flagged { .. } => (FLAG, 0),
            Inst::Read { surface, .. } | Inst::ReadRow { surface, .. } => (of(*surface), 0),
            Inst::Write { surface, .. } => (LIVING, of(*surface)),
            Inst::Sample { .. } => (MEMORY, 0),
            Inst::Demote | Inst::DemoteWhere(_) | Inst::DemoteBy(_) => (FLAG, LIVING),
            Inst::Helper { .. } => (LIVING, 0),
            Inst::Spread { .. } => (0, LANES),
            Inst::Lane { .. } | Inst::Gather { .. } => (LANES, 0),
            Inst::Element { .. } => (ELEMENTS, 0),
            Inst::SetElement { .. } => (0, ELEMENTS),
            _ => (0, 0),
        };
        Effects { reads, writes }
    }

    fn ends_region(&self, inst: &Inst) -> bool {
        inst.ends_block()
            || matches!(
                inst,
                Inst::Else
                    | Inst::EndIf
                    | Inst::Do
                    | Inst::Masks { .. }
                    | Inst::Guard(_)
                    | Inst::Advance { .. }
                    // What stands in message registers stays until it is sent.
                    | Inst::Slot { .. }
                    | Inst::Entry { .. }
                    | Inst::Leave { .. }
                    | Inst::Mark { .. }
                    | Inst::Close
                    | Inst::Target { .. }
            )
    }

    /// What is kept in part or in some lanes is written over: others read it before.
    fn follows(&self, inst: &Inst, visit: &mut dyn FnMut(VReg)) {
        let keep = match inst {
            Inst::When { keep, .. } | Inst::Apply { keep, .. } => Some(*keep),
            Inst::Vector { keep, .. }
            | Inst::Dot { keep, .. }
            | Inst::MathVector { keep, .. }
            | Inst::Choose { keep, .. } => *keep,
            _ => None,
        };
        if let Some(keep) = keep.and_then(|keep| keep.as_virt()) {
            visit(keep);
        }
    }
}

/// A program whose messages overlap where no thread of an execution unit is lost by it, with the most registers with which that
/// holds; none where nothing moves. `taken`: registers behind the payload that have their use.
pub fn overlap_messages(
    func: &Func<Inst>,
    (abi, taken): (&Abi, u8),
    chip: Chip,
) -> Option<(Func<Inst>, u32)> {
    let rows = u32::from(abi.rows());
    let payload = u32::from(abi.payload() + taken).div_ceil(rows);
    let mut most = u32::from(REGISTERS);
    let ordered = overlap(func, &Machine { rows }, |needed| {
        let kept = threads(chip, rows * (payload + needed)).min(most_threads(chip));
        while most > 16 && threads(chip, most) < kept {
            most -= 16;
        }
        (most / rows).saturating_sub(payload + MARGIN)
    });
    ordered.map(|ordered| (ordered, most))
}

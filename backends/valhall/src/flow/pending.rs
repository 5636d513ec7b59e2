//! What messages may have on their way, and what an instruction asks of it.

use crate::inst::{Op, Src};
use crate::isa::{Opcode, Unit, f};
use gpucc_ir::mach::Reg;
use gpucc_passes::mach::Effects;

/// Slots that messages may choose.
pub const SLOTS: usize = 3;
/// The slot of barriers.
pub const BARRIER_SLOT: u32 = 7;

/// Masks of what to wait for: bit 0..=2 a slot.
pub const ANY_SLOT: u8 = 0b00_111;
/// What fragments wait for before they test: slot 6.
pub const FRAGMENT: u8 = 0b01_000;
/// What fragments wait for before they write, and barriers: slot 7.
pub const LAST: u8 = 0b10_000;

/// Values of the flow field.
pub mod code {
    pub const WAIT0126: u32 = 8;
    pub const WAIT: u32 = 9;
    pub const RECONVERGE: u32 = 10;
    pub const END: u32 = 15;
}

/// The flow value that waits for a mask.
pub fn wait_code(mask: u8) -> u32 {
    if mask & LAST != 0 {
        code::WAIT
    } else if mask & FRAGMENT != 0 {
        code::WAIT0126
    } else {
        u32::from(mask)
    }
}

/// What a flow value waits for.
pub fn wait_mask(code: u32) -> u8 {
    match code {
        0..=7 => code as u8,
        code::WAIT0126 => ANY_SLOT | FRAGMENT,
        code::WAIT => ANY_SLOT | FRAGMENT | LAST,
        _ => 0,
    }
}

/// What the order of messages asks of an instruction.
pub struct Facts {
    /// Registers read, by any operand.
    pub reads: u64,
    /// Registers written, at once or later.
    pub writes: u64,
    /// Registers read as staging.
    pub staging: u64,
    /// Registers written when the message is done.
    pub later: u64,
    /// The slot it signals.
    pub slot: Option<usize>,
    pub effects: Effects,
    /// Waits for these whatever is on its way in them; the fragment's own only where they are not yet past.
    pub fence: u8,
    /// It goes to another unit.
    pub message: bool,
    /// It is an alpha test.
    pub tests: bool,
    /// Changes or reads the interpolation state of a fragment.
    pub varying: bool,
    /// It changes it.
    pub moves_varying: bool,
}

pub fn bit(reg: Reg) -> u64 {
    1 << reg.cell().index
}

/// What memory an instruction touches, if lowering has not said: everything, as far as its opcode goes.
pub fn effects(op: &Op) -> Effects {
    if let Some(effects) = op.effects {
        return effects;
    }
    let all = u32::MAX;
    let (reads, writes) = match op.opcode {
        Opcode::LdAttr
        | Opcode::LdAttrImm
        | Opcode::LeaAttr
        | Opcode::LeaAttrImm
        | Opcode::LeaBuf
        | Opcode::LeaBuffer
        | Opcode::LeaBufImm
        | Opcode::LeaTex
        | Opcode::LeaTexImm => (0, 0),
        _ => match op.opcode.unit() {
            Unit::Ls if op.opcode.staging().reads() && op.opcode.staging().writes() => (all, all),
            Unit::Ls if op.opcode.staging().reads() => (0, all),
            Unit::Ls | Unit::T | Unit::Vt => (all, 0),
            _ => (0, 0),
        },
    };
    // Atomics that return nothing still read; those with a result only still write.
    let atomic = matches!(
        op.opcode,
        Opcode::AtomI32
            | Opcode::AtomI64
            | Opcode::Atom1I32
            | Opcode::Atom1I64
            | Opcode::Atom1ReturnI32
            | Opcode::Atom1ReturnI64
    );
    if atomic { Effects { reads: all, writes: all } } else { Effects { reads, writes } }
}

/// Registers that an instruction touches, a bit each.
pub struct Touched {
    pub reads: u64,
    pub writes: u64,
    /// Of those that are read: staging registers.
    pub staging: u64,
    /// Of those that are written: what a message writes when it comes back.
    pub later: u64,
}

pub fn touched(op: &Op) -> Touched {
    let mut reads = 0;
    for source in &op.src {
        match *source {
            Src::Reg(reg) | Src::Low(reg) => reads |= bit(reg),
            Src::Pair(pair) => reads |= bit(pair[0]) | bit(pair[1]),
            _ => {}
        }
    }
    let set = |list: &[Reg]| list.iter().fold(0, |set, &reg| set | bit(reg));
    let (staging, later) = (set(&op.read) | set(&op.second), set(&op.write));
    // What a blend shader may overwrite while it runs.
    let clobbered = op.clobbers.iter().fold(0, |set, &(reg, _)| set | bit(reg));
    let writes = later | set(&op.dst) | clobbered;
    Touched { reads: reads | staging, writes, staging, later }
}

pub fn facts(op: &Op) -> Facts {
    let Touched { reads, writes, staging, later } = touched(op);
    let slot = if op.opcode.has_slot() {
        Some(op.word.get(f::SLOT) as usize).filter(|&slot| slot < SLOTS)
    } else {
        // An alpha test always signals slot 0.
        (op.opcode == Opcode::Atest).then_some(0)
    };
    let fence = match op.opcode {
        Opcode::Barrier => ANY_SLOT,
        Opcode::Atest | Opcode::ZsEmit => ANY_SLOT | FRAGMENT,
        Opcode::Blend | Opcode::LdTile | Opcode::StTile => ANY_SLOT | FRAGMENT | LAST,
        _ => 0,
    };
    let varying = matches!(op.opcode.unit(), Unit::V | Unit::Vt);
    let moves_varying = varying
        && (op.opcode.has(f::UPDATE) && op.word.get(f::UPDATE) != 1
            || op.opcode.has(f::SAMPLE_UPDATE) && op.word.get(f::SAMPLE_UPDATE) != 7);
    Facts {
        reads,
        writes,
        staging,
        later,
        slot,
        effects: effects(op),
        fence,
        message: op.opcode.is_message(),
        tests: op.opcode == Opcode::Atest,
        varying,
        moves_varying,
    }
}

/// What may be on its way.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Pending {
    /// Registers that will be written, by slot.
    pub written: [u64; SLOTS],
    /// Staging registers that may still be read, by slot.
    pub read: [u64; SLOTS],
    pub effects: [Effects; SLOTS],
    /// Slots with anything in them, and the fragment's own dependences that are not past.
    pub busy: u8,
    /// Slots with varyings in them.
    pub varying: u8,
    /// The slot of an alpha test. It may end threads, so that no message may follow before it is done (errata 101).
    pub testing: u8,
}

impl Pending {
    pub fn union(&mut self, other: &Pending) {
        for slot in 0..SLOTS {
            self.written[slot] |= other.written[slot];
            self.read[slot] |= other.read[slot];
            self.effects[slot].reads |= other.effects[slot].reads;
            self.effects[slot].writes |= other.effects[slot].writes;
        }
        self.busy |= other.busy;
        self.varying |= other.varying;
        self.testing |= other.testing;
    }

    /// What must be waited for before an instruction.
    pub fn needed(&self, facts: &Facts) -> u8 {
        let mut mask = facts.fence & self.busy;
        for slot in 0..SLOTS {
            let touched = self.written[slot] & (facts.reads | facts.writes) != 0;
            let (ours, theirs) = (facts.effects, self.effects[slot]);
            let ordered =
                ours.writes & (theirs.reads | theirs.writes) | ours.reads & theirs.writes != 0;
            if touched || ordered {
                mask |= 1 << slot;
            }
        }
        if facts.moves_varying {
            mask |= self.varying;
        }
        if facts.message {
            mask |= self.testing;
        }
        mask
    }

    pub fn wait(&mut self, mask: u8) {
        // Waiting for the fragment's own dependences takes all slots along.
        let mask = wait_mask(wait_code(mask));
        for slot in 0..SLOTS {
            if mask >> slot & 1 != 0 {
                self.written[slot] = 0;
                self.read[slot] = 0;
                self.effects[slot] = Effects::default();
            }
        }
        self.busy &= !mask;
        self.varying &= !mask;
        self.testing &= !mask;
    }

    pub fn issue(&mut self, facts: &Facts) {
        let Some(slot) = facts.slot else { return };
        self.written[slot] |= facts.later;
        self.read[slot] |= facts.staging;
        self.effects[slot].reads |= facts.effects.reads;
        self.effects[slot].writes |= facts.effects.writes;
        self.busy |= 1 << slot;
        if facts.fence & FRAGMENT != 0 {
            // The next of these waits again, whatever is on its way (errata 102, 104).
            self.busy |= FRAGMENT | LAST;
        }
        if facts.tests {
            self.testing |= 1 << slot;
        }
        if facts.varying {
            self.varying |= 1 << slot;
        }
    }
}

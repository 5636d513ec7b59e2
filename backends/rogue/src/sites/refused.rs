//! Changes that the emulator refuses, or may refuse, whatever they leave: they are noticed.

use super::arithmetic::spared;
use super::live::{Around, Set, looks_around};
use crate::describe::{SHAREDS, TEMPS};
use crate::emu::{self, Core};
use crate::isa::Group;
use crate::isa::fields::f;
use crate::isa::group::{Condition, MainOps, Ops};
use crate::isa::ops::Main;
use crate::isa::register::Register;
use crate::legal::{reads_of, writes_of};
use gpucc_ir::ssa::Stage;
use gpucc_isa::Inst;
use gpucc_machine::Compiled;
use gpucc_machine::described::Setting;
use std::collections::BTreeSet;

/// What the words of state give a program, and the core that runs it.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    core: Core,
    stage: emu::Stage,
    temps: u32,
    shareds: u32,
}

impl Limits {
    /// Of a program on a core.
    pub fn of(compiled: &Compiled, core: Core) -> Limits {
        let number = |name: &str| match compiled.described.state.get(name) {
            Some(Setting::Number(number)) => *number,
            _ => 0,
        };
        let stage = match compiled.expanded.stage {
            Stage::Vertex => emu::Stage::Vertex,
            Stage::Fragment => emu::Stage::Fragment,
            _ => emu::Stage::Compute,
        };
        // A driver gives temporaries in units of four.
        let temps = number(TEMPS).next_multiple_of(4);
        Limits { core, stage, temps, shareds: number(SHAREDS) }
    }

    /// Whether the core refuses a group, wherever it stands.
    pub fn refuse(&self, bytes: &[u8]) -> bool {
        let Ok(mut group) = emu::decode(bytes) else { return true };
        // A program may switch the check for overlap off.
        group.checked = true;
        emu::admit(&group, &self.core, self.stage).is_err()
    }

    /// Whether a group may read what nobody wrote, or write what a message holds, where the old one does not.
    pub fn may_refuse(&self, old: &Group, new: &Group, around: &Around) -> bool {
        if let Ops::Main(MainOps { p0: Some(word), .. }) = &new.ops
            && word.has_field(f::SIGNED)
            && !word.flag(f::SIGNED)
            && [f::ABS0, f::ABS1, f::ABS2].iter().any(|&id| word.has_field(id) && word.flag(id))
        {
            // No document says what the magnitude of an unsigned operand is.
            return true;
        }
        if !around.all_run && (everybody(new) && !everybody(old) || looks_around(new)) {
            // Of those that wait it is not known what they have written.
            return true;
        }
        if self.stage != emu::Stage::Fragment && derives(new) && !derives(old) {
            // Quads are whole among fragments alone.
            return true;
        }
        let conditions = old.condition != new.condition;
        if conditions && (new.condition != Condition::Runs && !around.written.reads_p0()) {
            return true;
        }
        // Those read it already who run the old one.
        let more = conditions && old.condition != Condition::Runs;
        let before = if more { BTreeSet::new() } else { reads_of(old) };
        let known =
            |register: &Register| before.contains(register) || self.has(*register, &around.written);
        if !asked_of(new).iter().all(known) {
            return true;
        }
        let (before, after) = (writes_of(old), writes_of(new));
        let free = |register: &Register| match *register {
            Register::Temp(number) => around.sent == [false; 2] && u32::from(number) < self.temps,
            Register::Special(36..=43) => true,
            _ => false,
        };
        !after.iter().all(|register| before.contains(register) || free(register))
    }

    /// Whether a register is there, and holds something.
    fn has(&self, register: Register, written: &Set) -> bool {
        match register {
            Register::Special(0..=31 | 64..=95 | 128..=159) => true,
            Register::Shared(number) => u32::from(number) < self.shareds,
            Register::Temp(_) | Register::Special(36..=43) => written.reads(register),
            Register::Vtxin(0) => self.stage == emu::Stage::Compute,
            _ => false,
        }
    }
}

/// Whether a group asks the pixels beside one.
fn derives(group: &Group) -> bool {
    let Ops::Main(ops) = &group.ops else { return false };
    let rows = [ops.p0, ops.p1].into_iter().flatten().map(|word| Main::of(word.op()));
    rows.into_iter().any(|row| matches!(row, Main::Fdsx | Main::Fdsy | Main::Fdsxf | Main::Fdsyf))
}

fn everybody(group: &Group) -> bool {
    group.condition == Condition::IgnorePe
}

/// The registers whose words a group asks for: a bitwise one names more. 2.6.
fn asked_of(group: &Group) -> BTreeSet<Register> {
    let mut registers = reads_of(group);
    if let Ops::Main(MainOps { p0: Some(word), .. }) = &group.ops
        && Main::of(word.op()) == Main::Fred
    {
        // The other ports name the register too where it is asked for.
        for port in spared(group) {
            let register = group.sources[port];
            let others = (0..6).filter(|other| *other != port);
            if others.into_iter().all(|other| group.sources[other] != register) {
                registers.remove(&register);
            }
        }
    }
    if let Ops::Bitwise([Some(first), logical, shift]) = &group.ops
        && group.repeat == 1
    {
        const BYPASS: u32 = 7;
        const TOP_OF_MASK: u32 = 6;
        let masked = match logical {
            Some(logical) => logical.flag(f::MASK_A) || logical.flag(f::MASK_B),
            None => shift.is_some() || group.writes[0].is_some(),
        };
        let tests = |shift: &Inst| shift.flag(f::PWEN) && shift.get(f::TEST_SRC) == 1;
        let counted = group.writes[1].is_some() || shift.as_ref().is_some_and(tests);
        let shifted = logical.is_some() || counted && first.get(f::COUNT_SRC) == 1;
        let numbered = first.get(f::BIT_IMM) == 1;
        let asked = [
            masked && !numbered && first.get(f::BITMASK) == 1
                || shift.as_ref().is_some_and(|shift| shift.get(f::SHIFT2) == TOP_OF_MASK),
            masked && !numbered || shifted && matches!(first.get(f::SHIFT1), 1 | 3),
            shifted || counted,
            logical.as_ref().is_some_and(|logical| logical.get(f::LOGIC) != BYPASS),
            shift.is_some(),
            false,
        ];
        let ports = group.sources.into_iter().zip(asked);
        registers = ports.filter(|(_, asked)| *asked).map(|(register, _)| register).collect();
    }
    registers
}

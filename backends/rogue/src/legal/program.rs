//! Rules of whole programs.

use super::{Context, Rule, admit_encoded, sources};
use crate::isa::Group;
use crate::isa::disasm::asks_external;
use crate::isa::fields::f;
use crate::isa::group::{Condition, Ops, Place};
use crate::isa::ops::{Backend, Control};
use crate::isa::program::LINE;
use crate::isa::register::Register;
use gpucc_isa::Inst;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// A breach and the byte offset of its group.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("offset {offset:#x}: {rule}")]
pub struct Breach {
    /// In bytes from the start.
    pub offset: usize,
    /// What is broken.
    pub rule: Rule,
}

/// Asks whether a program is legal whose groups have bytes: they were read or encoded. The groups come with their byte offsets, which
/// ascend; `end` is that of the program.
///
/// # Errors
/// The first breach.
pub fn admit_program(
    groups: &[(usize, Group)],
    end: usize,
    context: &Context,
) -> Result<(), Breach> {
    for (offset, group) in groups {
        admit_encoded(group, context).map_err(|rule| Breach { offset: *offset, rule })?;
    }
    let starts = |offset: &usize| groups.binary_search_by_key(offset, |(start, _)| *start).is_ok();
    let mut targets = BTreeSet::new();
    for (offset, group) in groups {
        if let Some(target) = branch_of(group).map(|inst| target_of(*offset, inst)) {
            let known = usize::try_from(target).ok().filter(&starts);
            let wrong = Breach { offset: *offset, rule: Rule::BranchTarget };
            targets.insert(known.ok_or(wrong)?);
        }
    }
    waits(groups, &targets)?;
    let Some((offset, last)) = groups.last() else { return Ok(()) };
    let breach = |rule| Err(Breach { offset: *offset, rule });
    if !offset.is_multiple_of(LINE) || !end.is_multiple_of(LINE) {
        return breach(Rule::LastAligned);
    }
    let leaves = branch_of(last).is_some_and(always);
    if !last.end && !leaves {
        return breach(Rule::LastEnds);
    }
    Ok(())
}

/// The branch of a group, where it is one.
pub(crate) fn branch_of(group: &Group) -> Option<&Inst> {
    match &group.ops {
        Ops::Control(inst) if Control::of(inst.op()) == Control::Br => Some(inst),
        _ => None,
    }
}

/// Whether a branch is taken whatever holds, as far as its own bits say.
fn always(inst: &Inst) -> bool {
    inst.get(f::BPRED) == 0
}

/// Bytes from the program's start that a branch goes to. 0.1.
pub(crate) fn target_of(offset: usize, inst: &Inst) -> i64 {
    let from = if inst.flag(f::ABSOLUTE) { 0 } else { offset as i64 };
    from + 2 * i64::from((inst.get(f::OFFSET) << 1) as i32 >> 1)
}

/// The counter of a message whose result lands later.
fn counter(inst: &Inst) -> Option<u32> {
    use Backend as B;
    match B::of(inst.op()) {
        B::Fitr | B::Fitrp | B::Ld | B::LdReg | B::Smp | B::Atomic => Some(inst.get(f::DRC)),
        _ => None,
    }
}

/// So many registers from this one on.
fn span(register: Register, count: u16) -> impl Iterator<Item = Register> {
    (0..count).map(move |at| match register {
        Register::Temp(first) => Register::Temp(first + at),
        Register::Vtxin(first) => Register::Vtxin(first + at),
        Register::Shared(first) => Register::Shared(first + at),
        other => other,
    })
}

/// Registers that a group reads, the places where messages land left out.
pub(crate) fn reads_of(group: &Group) -> BTreeSet<Register> {
    reads(group).into_iter().collect()
}

/// The same, some perhaps several times.
pub(crate) fn reads(group: &Group) -> SmallVec<[Register; 8]> {
    let backend = match &group.ops {
        Ops::Main(ops) => ops.backend.as_ref(),
        _ => None,
    };
    let lands = backend.and_then(sources::landing).map(|port| port as u8);
    let mut registers = SmallVec::new();
    for (_, port) in sources::named(group) {
        if Some(port) != lands {
            let count = backend.map_or(1, |inst| sources::length(inst, port));
            let count = count.max(group.repeat.into());
            registers.extend(span(group.sources[usize::from(port)], count));
        }
    }
    if asks_external(group) {
        let source = group.sources[usize::from(group.selectors.is0)];
        registers.extend(span(source, group.repeat.into()));
    }
    registers
}

/// The counter of a message, and the registers that its result fills.
fn message(group: &Group) -> Option<(u32, Vec<Register>)> {
    match &group.ops {
        Ops::Main(ops) => {
            let inst = ops.backend.as_ref()?;
            let (drc, port) = (counter(inst)?, sources::landing(inst)?);
            let count = sources::length(inst, port as u8);
            Some((drc, span(group.sources[port], count).collect()))
        }
        Ops::Control(inst) => {
            let iterates = matches!(Control::of(inst.op()), Control::Ditr | Control::Ditrp);
            let count = sources::full(inst.get(f::COUNT), 16);
            let first = Register::Temp(inst.get(f::DEST) as u16);
            iterates.then(|| (inst.get(f::DRC), span(first, count).collect()))
        }
        Ops::Bitwise(_) => None,
    }
}

/// How many registers each result of a group takes: a pack that repeats gathers into one. 1.1, rpt.
pub(crate) fn results(group: &Group) -> u16 {
    match &group.ops {
        Ops::Main(ops) if ops.pack.is_some() => 1,
        _ => group.repeat.into(),
    }
}

/// Registers that a group writes, those that its message fills among them.
pub(crate) fn writes_of(group: &Group) -> Vec<Register> {
    let written = group.writes.into_iter().flatten();
    let mut registers: Vec<Register> =
        written.flat_map(|register| span(register, results(group))).collect();
    registers.extend(message(group).into_iter().flat_map(|(_, registers)| registers));
    registers
}

/// The counter of a message, and the registers that it reads when it likes: addresses, data, states.
fn held(group: &Group) -> Option<(u32, Vec<Register>)> {
    let Ops::Main(ops) = &group.ops else { return None };
    let inst = ops.backend.as_ref()?;
    inst.op().format.field(f::DRC)?;
    let lands = sources::landing(inst).map(|port| port as u8);
    let ports = sources::named(group).into_iter();
    let ports = ports.filter(|(place, port)| *place == Place::Backend && Some(*port) != lands);
    let registers = ports
        .flat_map(|(_, port)| span(group.sources[usize::from(port)], sources::length(inst, port)))
        .filter(|register| {
            matches!(register, Register::Temp(_) | Register::Vtxin(_) | Register::Shared(_))
        });
    Some((inst.get(f::DRC), registers.collect()))
}

/// Results are read behind a wait, and what a message reads or fills is written behind one. Known for straight code alone: what comes from elsewhere may have waited there.
fn waits(groups: &[(usize, Group)], targets: &BTreeSet<usize>) -> Result<(), Breach> {
    let mut pending: [BTreeSet<Register>; 2] = Default::default();
    let mut taken: [BTreeSet<Register>; 2] = Default::default();
    for (offset, group) in groups {
        if targets.contains(offset) {
            (pending, taken) = Default::default();
        }
        let is_pending = pending.iter().any(|set| !set.is_empty());
        let outstanding = is_pending
            && reads(group)
                .into_iter()
                .any(|register| pending.iter().any(|set| set.contains(&register)));
        if outstanding {
            return Err(Breach { offset: *offset, rule: Rule::WaitBeforeUse });
        }
        let is_taken = is_pending || taken.iter().any(|set| !set.is_empty());
        let overwritten = is_taken
            && writes_of(group)
                .iter()
                .any(|register| pending.iter().chain(&taken).any(|set| set.contains(register)));
        if overwritten {
            return Err(Breach { offset: *offset, rule: Rule::WaitBeforeWrite });
        }
        if let Some((drc, registers)) = held(group) {
            taken[drc as usize].extend(registers);
        }
        if let Some((drc, registers)) = message(group) {
            pending[drc as usize].extend(registers);
        }
        let Ops::Control(inst) = &group.ops else { continue };
        match Control::of(inst.op()) {
            Control::Wdf => {
                pending[inst.get(f::MISC) as usize].clear();
                taken[inst.get(f::MISC) as usize].clear();
            }
            // Whoever does not take the branch goes on.
            Control::Br if group.condition == Condition::Runs && always(inst) => {
                (pending, taken) = Default::default();
            }
            _ => {}
        }
    }
    Ok(())
}

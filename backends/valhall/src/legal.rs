//! The rules of a finished program, folded over it before it leaves. Sections are those of isa/valhall_rogue.md.
//!
//! [`admit`] looks at one instruction; [`State::admit`] at an instruction on a way through the program, and [`legal`]
//! folds both over all ways: states of ways that meet are joined until nothing changes.

use crate::emit::LAST_USE;
use crate::fau::{self, Read, Reader, Sources};
use crate::helpers;
use crate::isa::{self, Opcode, Unit, f, ops, rules};
use gpucc_ir::ssa::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// A rule that a program would break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Sources that cannot be read together.
    #[error(transparent)]
    Fau(#[from] fau::Violation),
    /// Pairs, groups, reserved sources.
    #[error(transparent)]
    Operands(#[from] rules::Broken),
    /// What Arm's v9 does not have in this row.
    #[error(transparent)]
    Reserved(#[from] isa::limits::Reserved),
    /// A register of the middle half.
    #[error(
        "r{0} does not exist where a thread has 32 registers: r16 to r47 are the other half (1.9)"
    )]
    NoRegister(u32),
    /// A row that only foreign programs have.
    #[error("{0} is not in Arm's description: it is read, never written")]
    Foreign(&'static str),
    /// A slot of barriers for something else, or the other way round.
    #[error("slot 7 is the barrier's, slots 0 to 2 are the messages' (1.1)")]
    Slot,
    /// An access to thread-local memory across 16 bytes.
    #[error("an access to packed thread-local memory crosses 16 bytes (1.9)")]
    Crosses,
    /// A message's result before its slot was waited for.
    #[error("r{0} is the result of a message in slot {1} that was not waited for (1.8)")]
    NotWaited(u32, u32),
    /// A dead register.
    #[error("r{0} was marked as read for the last time (1.8)")]
    Dead(u32),
    /// A last use that a message may not have reached yet.
    #[error("the last use of r{0} is marked while a message may still read it (1.8)")]
    DeadTooSoon(u32),
    /// A register that nothing fills.
    #[error("r{0} is read before anything is written to it, and is not preloaded (2.1)")]
    Unwritten(u32),
    /// Barriers.
    #[error("a barrier stands where messages are on their way, or does not wait (1.8)")]
    Barrier,
    /// Outputs of fragments.
    #[error("{0} stands where the fragment has not waited for what it depends on (1.8)")]
    Dependence(&'static str),
    /// Order of outputs.
    #[error("{0} stands before ATEST (1.10)")]
    BeforeTest(&'static str),
    /// Registers of outputs.
    #[error("{0} has its operands in fixed registers: coverage in r60, colour in r0 or r4 (1.10)")]
    OutputRegister(&'static str),
    /// Varyings on their way at the end of a block.
    #[error("varyings are on their way where a block ends (1.8)")]
    VaryingAtEnd,
    /// Changes the interpolation state under others.
    #[error("a varying changes the interpolation state while others are on their way (1.8)")]
    Interpolation,
    /// Something is taken from helpers that have ended.
    #[error("{0} takes something from lanes that `discard` or ATEST may have ended (1.8)")]
    Helpers(&'static str),
    /// A branch out of the program.
    #[error("a branch leads out of its program (1.8)")]
    Target,
    /// The program does not end.
    #[error("control runs past the last instruction without `end` (1.6)")]
    NoEnd,
    /// Lanes meet without reconverging.
    #[error("lanes that a branch parted meet where the way in does not reconverge (1.8)")]
    Reconverge,
}

/// A violation and the instruction that commits it, counted from the start of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Index of the instruction.
    pub at: u32,
    /// What it breaks.
    pub violation: Violation,
}

/// What a program is judged by.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The stage.
    pub stage: Stage,
    /// Registers of a thread: 32 or 64.
    pub work: u32,
}

impl Config {
    /// Registers that the hardware fills before the program starts.
    fn preloaded(self) -> u64 {
        match self.stage {
            Stage::Vertex => 0x0f << 59,
            Stage::Fragment => 0x3f << 57,
            Stage::Compute => 0xff << 55,
            Stage::Geometry => 0,
        }
    }
}

/// Registers that a blend shader uses: r0 to r15 and its return address in r48 (1.10).
const BLEND_SHADER: u64 = 1 << 48 | 0xffff;

/// Flow values.
const END: u32 = 15;
const RECONVERGE: u32 = 10;
const DISCARD: u32 = 13;
/// Slots, and the two that fragments begin with.
const SLOTS: u8 = 0b00_111;
const SIX: u8 = 0b01_000;
const SEVEN: u8 = 0b10_000;

fn waits(flow: u32) -> u8 {
    match flow {
        0..=7 => flow as u8,
        8 => SLOTS | SIX,
        9 => SLOTS | SIX | SEVEN,
        _ => 0,
    }
}

/// Registers `first..first + count` as bits.
fn run(first: u32, count: u32) -> u64 {
    (0..count).fold(0, |set, k| set | 1u64 << ((first + k) & 63))
}

/// What an instruction does with registers.
#[derive(Copy, Clone)]
pub struct Registers {
    /// Sources, staging excluded.
    pub sources: u64,
    /// Sources that are marked as last uses.
    pub last: u64,
    pub read: u64,
    pub written_later: u64,
    pub written: u64,
}

/// The registers that a word names.
pub fn registers(inst: &isa::Inst) -> Registers {
    let opcode = Opcode::of(inst.op());
    let (mut sources, mut last) = (0, 0);
    for source in opcode.sources() {
        let byte = inst.get(source.field);
        if byte >= 0x80 {
            continue;
        }
        // A word alone of 64 bits: the other one is not looked at.
        let low_only = source.swizzle().is_some_and(|id| opcode.has(id) && inst.get(id) != 0);
        let set = run(byte & 63, if source.kind.is_pair() { 2 } else { 1 });
        sources |= if low_only { run(byte & 63, 1) } else { set };
        if byte & LAST_USE != 0 {
            last |= set;
        }
    }
    let (read, later) = rules::staging(inst);
    let group = |group: Option<(u32, u32)>| group.map_or(0, |(first, count)| run(first, count));
    let direct =
        opcode.dst().map_or(0, |kind| run(inst.get(f::DST), if kind.is_pair() { 2 } else { 1 }));
    let written_later = group(later);
    Registers { sources, last, read: group(read), written_later, written: direct | written_later }
}

/// The rules of one instruction alone; `used` are its [`registers`].
///
/// # Errors
/// The first that it breaks.
pub fn admit(inst: &isa::Inst, used: &Registers, config: Config) -> Result<(), Violation> {
    let opcode = Opcode::of(inst.op());
    if opcode.op().has(ops::flag::FOREIGN) {
        return Err(Violation::Foreign(opcode.name()));
    }
    let page = inst.get(f::FAU_PAGE) as u8;
    let mut sources = Sources::new(Reader::of(opcode));
    for source in opcode.sources() {
        if let Ok(Some(read)) = Read::of(inst.get(source.field) as u8, page) {
            sources = sources.admit(read, source.kind.is_pair())?;
        }
    }
    rules::check(inst)?;
    let named = used.sources | used.read | used.written;
    if config.work == 32 && named & 0x0000_ffff_ffff_0000 != 0 {
        let first = (named & 0x0000_ffff_ffff_0000).trailing_zeros();
        return Err(Violation::NoRegister(first));
    }
    if opcode.has_slot() && (inst.get(f::SLOT) == 7) != (opcode == Opcode::Barrier) {
        return Err(Violation::Slot);
    }
    isa::limits::check(inst)?;
    isa::limits::relations(inst)?;
    if let Some(bytes) = access_bytes(opcode)
        && let Ok(Some(Read::Special { page: 1, slot: 1, .. })) =
            Read::of(inst.get(f::SRC0) as u8, page)
        && inst.get(f::OFFSET) % 16 + bytes > 16
    {
        return Err(Violation::Crosses);
    }
    let sixty = |id| inst.get(id) & !LAST_USE == 60;
    let legal = match opcode {
        Opcode::Atest => inst.get(f::SR) == 60 && (sixty(f::SRC0) || inst.get(f::SRC0) >= 0x80),
        Opcode::ZsEmit => inst.get(f::SR) == 60,
        Opcode::Blend => matches!(inst.get(f::SR), 0 | 4) && sixty(f::SRC2),
        _ => true,
    };
    if !legal {
        return Err(Violation::OutputRegister(opcode.name()));
    }
    Ok(())
}

/// Bytes of a load or store with an address and an offset.
fn access_bytes(opcode: Opcode) -> Option<u32> {
    Some(match opcode {
        Opcode::LoadI8 | Opcode::StoreI8 => 1,
        Opcode::LoadI16 | Opcode::StoreI16 => 2,
        Opcode::LoadI24 | Opcode::StoreI24 => 3,
        Opcode::LoadI32 | Opcode::StoreI32 => 4,
        Opcode::LoadI48 | Opcode::StoreI48 => 6,
        Opcode::LoadI64 | Opcode::StoreI64 => 8,
        Opcode::LoadI96 | Opcode::StoreI96 => 12,
        Opcode::LoadI128 | Opcode::StoreI128 => 16,
        _ => return None,
    })
}

/// What is known on a way through the program.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Results on their way, by slot.
    later: [u64; 3],
    /// Staging that may still be read, by slot.
    reading: [u64; 3],
    /// Slots with messages in them; what a fragment has not waited for yet.
    busy: u8,
    /// Slots with varyings in them.
    varying: u8,
    /// Registers without a value.
    unwritten: u64,
    /// Registers that were read for the last time.
    dead: u64,
    /// On every way here there was an alpha test.
    tested: bool,
    /// The slot of an alpha test that was not waited for.
    testing: u8,
    /// On some way here helpers ended.
    ended: bool,
}

impl State {
    /// Where a program starts.
    pub fn start(config: Config) -> State {
        State {
            later: [0; 3],
            reading: [0; 3],
            busy: match config.stage {
                Stage::Fragment => SIX | SEVEN,
                Stage::Vertex | Stage::Geometry | Stage::Compute => 0,
            },
            varying: 0,
            unwritten: !config.preloaded(),
            dead: 0,
            tested: false,
            testing: 0,
            ended: false,
        }
    }

    /// What is known where two ways meet.
    fn join(&mut self, other: &State) {
        for slot in 0..3 {
            self.later[slot] |= other.later[slot];
            self.reading[slot] |= other.reading[slot];
        }
        self.busy |= other.busy;
        // Varyings are not on their way where blocks end.
        self.unwritten |= other.unwritten;
        self.dead |= other.dead;
        self.tested &= other.tested;
        self.testing |= other.testing;
        self.ended |= other.ended;
    }

    /// The state behind one more instruction; `used` are its [`registers`].
    ///
    /// # Errors
    /// The rule that it breaks here.
    pub fn admit(mut self, inst: &isa::Inst, used: &Registers) -> Result<State, Violation> {
        let opcode = Opcode::of(inst.op());
        let reads = used.sources | used.read;
        for slot in 0..3 {
            let early = self.later[slot] & (reads | used.written);
            if early != 0 {
                return Err(Violation::NotWaited(early.trailing_zeros(), slot as u32));
            }
        }
        if reads & self.dead != 0 {
            return Err(Violation::Dead((reads & self.dead).trailing_zeros()));
        }
        if reads & self.unwritten != 0 {
            return Err(Violation::Unwritten((reads & self.unwritten).trailing_zeros()));
        }
        let still = used.read | self.reading.iter().fold(0, |set, &slot| set | slot);
        if used.last & still != 0 {
            return Err(Violation::DeadTooSoon((used.last & still).trailing_zeros()));
        }
        let flow = inst.get(f::FLOW);
        match opcode {
            Opcode::Barrier if self.busy & SLOTS != 0 || flow != 9 => {
                return Err(Violation::Barrier);
            }
            Opcode::Atest | Opcode::ZsEmit if self.busy & (SLOTS | SIX) != 0 => {
                return Err(Violation::Dependence(opcode.name()));
            }
            Opcode::Blend | Opcode::LdTile | Opcode::StTile if self.busy != 0 => {
                return Err(Violation::Dependence(opcode.name()));
            }
            // An alpha test may end threads: errata 101.
            _ if opcode.is_message() && self.testing != 0 => {
                return Err(Violation::Dependence(opcode.name()));
            }
            Opcode::Blend | Opcode::ZsEmit if !self.tested => {
                return Err(Violation::BeforeTest(opcode.name()));
            }
            Opcode::Atest => self.tested = true,
            _ => {}
        }
        let varying = matches!(opcode.unit(), Unit::V | Unit::Vt);
        let moves = varying
            && (opcode.has(f::UPDATE) && inst.get(f::UPDATE) != 1
                || opcode.has(f::SAMPLE_UPDATE) && inst.get(f::SAMPLE_UPDATE) != 7);
        if moves && self.varying != 0 {
            return Err(Violation::Interpolation);
        }
        if (self.ended || self.tested) && helpers::needs(inst) {
            return Err(Violation::Helpers(opcode.name()));
        }
        self.ended |= flow == DISCARD;
        if opcode == Opcode::Branchzi {
            // What a blend shader leaves behind.
            self.unwritten |= BLEND_SHADER;
        }
        self.dead = (self.dead | used.last) & !used.written;
        self.unwritten &= !used.written;
        let slot = if opcode == Opcode::Atest {
            Some(0)
        } else {
            opcode.has_slot().then(|| inst.get(f::SLOT) as usize).filter(|&slot| slot < 3)
        };
        if let Some(slot) = slot {
            self.later[slot] |= used.written_later;
            self.reading[slot] |= used.read;
            self.busy |= 1 << slot;
            // Each of these waits for itself: errata 102, 104.
            if matches!(
                opcode,
                Opcode::Atest | Opcode::ZsEmit | Opcode::Blend | Opcode::LdTile | Opcode::StTile
            ) {
                self.busy |= SIX | SEVEN;
            }
            if opcode == Opcode::Atest {
                self.testing |= 1 << slot;
            }
            if varying {
                self.varying |= 1 << slot;
            }
        }
        let waited = waits(flow);
        for slot in 0..3 {
            if waited >> slot & 1 != 0 {
                self.later[slot] = 0;
                self.reading[slot] = 0;
            }
        }
        self.busy &= !waited;
        self.varying &= !waited;
        self.testing &= !waited;
        Ok(self)
    }
}

/// Where control goes behind an instruction: the next one, and the target of a branch.
fn successors(insts: &[isa::Inst], at: usize) -> Result<(bool, Option<usize>), Violation> {
    let inst = &insts[at];
    let falls = inst.get(f::FLOW) != END;
    match Opcode::of(inst.op()) {
        Opcode::Branchz => {}
        // The call of a blend shader comes back to the next instruction, where there is one.
        Opcode::Branchzi => return Ok((at + 1 < insts.len(), None)),
        Opcode::Blend if falls => {
            let behind = at + 1 + inst.get(f::TARGET) as usize;
            if behind >= insts.len() {
                return Err(Violation::Target);
            }
            return Ok((true, Some(behind)));
        }
        _ => return Ok((falls, None)),
    }
    let offset = ((inst.get(f::OFFSET) << 5) as i32) >> 5;
    let target = usize::try_from(at as i64 + 1 + i64::from(offset))
        .ok()
        .filter(|&target| target < insts.len())
        .ok_or(Violation::Target)?;
    Ok((falls && !is_jump(inst), Some(target)))
}

fn is_jump(inst: &isa::Inst) -> bool {
    Opcode::of(inst.op()) == Opcode::Branchz && inst.flag(f::EQ) && inst.get(f::SRC0) == 0xc0
}

/// Judges a program: `insts` from its first instruction to its last.
///
/// # Errors
/// The first violation in program order.
pub fn legal(insts: &[isa::Inst], config: Config) -> Result<(), Finding> {
    let finding = |at: usize, violation: Violation| Finding { at: at as u32, violation };
    let mut next: Vec<(bool, Option<usize>)> = Vec::with_capacity(insts.len());
    let mut leader = vec![false; insts.len() + 1];
    let used: Vec<Registers> = insts.iter().map(registers).collect();
    for (at, inst) in insts.iter().enumerate() {
        admit(inst, &used[at], config).map_err(|violation| finding(at, violation))?;
        let to = successors(insts, at).map_err(|violation| finding(at, violation))?;
        if to.0 && at + 1 == insts.len() {
            return Err(finding(at, Violation::NoEnd));
        }
        if let Some(target) = to.1 {
            leader[target] = true;
            leader[at + 1] = true;
        }
        leader[at + 1] |= !to.0;
        next.push(to);
    }
    if insts.is_empty() {
        return Ok(());
    }
    leader[0] = true;
    // States where blocks begin; they only lose knowledge, so that this ends.
    let mut states: Vec<Option<State>> = vec![None; insts.len()];
    states[0] = Some(State::start(config));
    let mut queue: BTreeSet<usize> = BTreeSet::from([0]);
    let mut first: Option<Finding> = None;
    while let Some(block) = queue.pop_first() {
        let Some(mut state) = states[block] else {
            continue;
        };
        let mut at = block;
        loop {
            match state.admit(&insts[at], &used[at]) {
                Ok(next) => state = next,
                Err(violation) => {
                    let found = finding(at, violation);
                    if first.as_ref().is_none_or(|first| found.at < first.at) {
                        first = Some(found);
                    }
                    break;
                }
            }
            let (falls, target) = next[at];
            let ends = leader[at + 1];
            if ends && state.varying != 0 && (falls || target.is_some()) {
                let found = finding(at, Violation::VaryingAtEnd);
                if first.as_ref().is_none_or(|first| found.at < first.at) {
                    first = Some(found);
                }
                break;
            }
            if !ends {
                at += 1;
                continue;
            }
            for to in target.into_iter().chain(falls.then_some(at + 1)) {
                let joined = match states[to] {
                    Some(mut old) => {
                        old.join(&state);
                        old
                    }
                    None => state,
                };
                if states[to] != Some(joined) {
                    states[to] = Some(joined);
                    queue.insert(to);
                }
            }
            break;
        }
    }
    match first {
        Some(found) => Err(found),
        None => meetings(insts, &next),
    }
}

/// Lanes that a reconverging branch parts meet only where all ways in reconverge.
fn meetings(insts: &[isa::Inst], next: &[(bool, Option<usize>)]) -> Result<(), Finding> {
    // Of a branch that may part lanes, the later of its two ways begins where lanes wait: whoever runs into that
    // instruction from above must let them join.
    let parts = |at: usize| {
        let inst = &insts[at];
        Opcode::of(inst.op()) == Opcode::Branchz
            && !is_jump(inst)
            && inst.get(f::FLOW) == RECONVERGE
    };
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut loops: Vec<(usize, usize)> = Vec::new();
    for (at, &(_, target)) in next.iter().enumerate() {
        let Some(target) = target else { continue };
        if parts(at) {
            waiting.entry(target.max(at + 1)).or_default().push(at);
        }
        if target <= at {
            loops.push((target, at));
        }
    }
    // Lanes wait at `place` when control comes from `at`: a branch above parted them, or one below in a loop that does
    // not lead through the place.
    let meets = |at: usize, place: usize| {
        waiting.get(&place).is_some_and(|list| {
            let below = list.partition_point(|&branch| branch <= at);
            list.first().is_some_and(|&first| first < at)
                || list.get(below).is_some_and(|&branch| {
                    loops.iter().any(|&(first, last)| first <= at && branch <= last && last < place)
                })
        })
    };
    for at in 0..insts.len() {
        let (falls, target) = next[at];
        let meets = (falls && meets(at, at + 1))
            || target.is_some_and(|target| target > at && meets(at, target));
        if meets && insts[at].get(f::FLOW) != RECONVERGE {
            return Err(Finding { at: at as u32, violation: Violation::Reconverge });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

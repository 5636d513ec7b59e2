//! Operations that may share a group do: what passes a value on takes in who makes it, and neighbours that do not wait for each other
//! stand beside each other. It runs before registers are chosen, so that nothing waits for a name. isa/rogue-pipeline.md 1.5, 2.4.

mod bits;
mod constants;
mod fold;
mod loads;
mod work;

use crate::clean;
use crate::constants::Constants;
use crate::inst::{Inst, Message, Step};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Group, Ops};
use crate::isa::ops::Main;
use crate::isa::register::{Register, Special, special};
use crate::legal::Context;
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Func, Node, Reg};
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;
use work::{Load, Slot, Work};

/// How many steps ahead a partner is looked for: a value lives longer by no more than these.
const WINDOW: usize = 24;

/// What a step reads and writes beside registers of the allocator.
const P0: usize = 0;
const MEMORY: usize = 1;
const INDEX: usize = 2;
const OTHERS: usize = 3;

/// What is known of a step of the block.
struct Entry {
    work: Option<Work>,
    reads: SmallVec<[usize; 6]>,
    writes: SmallVec<[usize; 2]>,
    /// Nothing passes it.
    wall: bool,
}

/// What says quickly that two steps do not join, of every step side by side.
#[derive(Copy, Clone)]
struct Quick {
    /// Bits for what it reads and for what it writes, several resources a bit.
    reads: u64,
    writes: u64,
    /// What its work loads the phases with.
    load: Load,
    /// It may be part of another: its work is known, and it neither writes memory nor leads an index register.
    free: bool,
    /// Nothing passes it.
    wall: bool,
    /// It has become part of another.
    gone: bool,
}

impl Quick {
    fn of(entry: &Entry) -> Quick {
        let bits = |list: &[usize]| list.iter().fold(0, |bits, at| bits | 1u64 << (at % 64));
        let bound = entry.writes.contains(&INDEX) || entry.writes.contains(&MEMORY);
        Quick {
            reads: bits(&entry.reads),
            writes: bits(&entry.writes),
            load: entry.work.as_ref().map(Work::load).unwrap_or_default(),
            free: entry.work.is_some() && !bound,
            wall: entry.wall,
            gone: false,
        }
    }

    /// Whether a step behind it may join it: two phases have operations, and one of them integers.
    fn may_join(&self, second: &Quick, wanted: Wanted) -> bool {
        let free = |step: &Quick| step.free && !step.gone;
        free(self)
            && free(second)
            && self.load.real + second.load.real <= 2
            && self.load.integers + second.load.integers <= 1
            && (wanted == Wanted::Any || self.writes & second.reads != 0)
    }
}

/// How often each register is read and written.
struct Counts {
    uses: Vec<u32>,
    definitions: Vec<u32>,
}

/// What lies between a step and a candidate: the turn in which a resource was last met.
struct Between {
    turn: u32,
    reads: Vec<u32>,
    writes: Vec<u32>,
}

impl Between {
    fn add(&mut self, entry: &Entry) {
        entry.reads.iter().for_each(|&at| self.reads[at] = self.turn);
        entry.writes.iter().for_each(|&at| self.writes[at] = self.turn);
    }

    fn reads(&self, at: usize) -> bool {
        self.reads[at] == self.turn
    }

    fn writes(&self, at: usize) -> bool {
        self.writes[at] == self.turn
    }

    /// Whether a step may come from behind all of it to before it, or the other way.
    fn passes(&self, entry: &Entry) -> bool {
        entry.reads.iter().all(|&at| !self.writes(at))
            && entry.writes.iter().all(|&at| !self.writes(at) && !self.reads(at))
    }
}

/// The place of a register of the allocator among resources.
fn key(reg: Reg) -> Option<usize> {
    Some(OTHERS + reg.as_virt()?.index())
}

/// Packs every block of a function; numbers go to shared registers as far as there is room. Gives how many groups it saved.
///
/// Where it searches, other choices of partners are tried in every block that is not too long, and the best one is kept.
pub fn pack(
    func: &mut Func<Inst>,
    context: &Context,
    constants: &mut Constants,
    searches: bool,
) -> u64 {
    let steps = |func: &Func<Inst>| -> usize {
        func.layout.iter().map(|&block| func.blocks[block].nodes.len()).sum()
    };
    let before = steps(func);
    loads::join(func);
    fold::fold(func);
    bits::chain(func);
    // What is gone reads no number.
    clean::drop_unread(func);
    constants::share(func, constants, context);
    clean::clean(func);
    let size = OTHERS + func.vregs.len();
    let mut packer = Packer {
        context,
        counts: Counts { uses: vec![0; size], definitions: vec![0; size] },
        between: Between { turn: 0, reads: vec![0; size], writes: vec![0; size] },
        chances: 0,
        refused: 0,
    };
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            packer.counts.add(&node.inst, 1);
        }
    }
    for &block in &func.layout {
        let nodes = std::mem::take(&mut func.blocks[block].nodes);
        func.blocks[block].nodes =
            if searches { packer.search(nodes) } else { packer.block(nodes) };
    }
    (before - steps(func)) as u64
}

impl Counts {
    fn add(&mut self, inst: &Inst, sign: i32) {
        inst.each(|reg, role| {
            let Some(at) = key(reg) else { return };
            let of = if role.is_def() { &mut self.definitions } else { &mut self.uses };
            of[at] = of[at].wrapping_add_signed(sign);
        });
    }
}

/// Whether operations read p0, and whether they write it.
pub(crate) fn predicate(group: &Group) -> (bool, bool) {
    let reads = matches!(group.condition, Condition::IfP0 | Condition::IfNotP0);
    let flag = |word: &Word, id| word.has_field(id) && word.flag(id);
    match &group.ops {
        Ops::Main(ops) => {
            let words = ops.places().into_iter().flatten();
            let (mut carries, mut writes) = (false, false);
            for word in words {
                carries |= flag(word, f::CARRY);
                writes |= flag(word, f::PWEN);
            }
            writes |= ops.p0.is_some_and(|word| Main::of(word.op()) == Main::Fsinc);
            (reads || carries, writes)
        }
        Ops::Bitwise(phases) => (reads, phases.iter().flatten().any(|word| flag(word, f::PWEN))),
        // Adjustments of the mask ask p0, and some give it.
        Ops::Control(_) => (true, true),
    }
}

/// Whether a register is memory that somebody else writes, or one of the hardware.
fn is_shared(register: Register) -> bool {
    match register {
        Register::Special(number) => {
            !matches!(special(number), Special::Constant(_) | Special::Pixout(_))
        }
        Register::Coeff(_) | Register::Relative { .. } => true,
        _ => false,
    }
}

impl Entry {
    fn of(inst: &Inst) -> Entry {
        let (mut reads, mut writes) = (SmallVec::new(), SmallVec::new());
        inst.each(|reg, role| {
            let Some(at) = key(reg) else { return };
            if role.is_def() { writes.push(at) } else { reads.push(at) }
        });
        let Inst::Step(step) = inst else {
            let wall = !matches!(inst, Inst::Copy { .. });
            return Entry { work: None, reads, writes, wall };
        };
        let (asks, gives) = predicate(&step.group);
        reads.extend(asks.then_some(P0));
        writes.extend(gives.then_some(P0));
        let group = &step.group;
        let index = |register: &Register| {
            matches!(register, Register::Index(_) | Register::Relative { .. })
        };
        let registers = || group.sources.iter().chain(group.writes.iter().flatten());
        if registers().any(index) || step.ports.iter().any(|port| port.indexed) {
            // Nothing stands between what leads and what is led.
            writes.push(INDEX);
        }
        let backend = matches!(&group.ops, Ops::Main(ops) if ops.backend.is_some());
        let outside = group.writes.iter().flatten().any(|register| is_shared(*register));
        let strong = step.message.is_some() || backend || outside || group.atom;
        if strong {
            writes.push(MEMORY);
        } else if !step.pure {
            reads.push(MEMORY);
        }
        let control = matches!(group.ops, Ops::Control(_)) && step.message != Some(Message::Reads);
        let wall = control || step.message == Some(Message::Decides);
        Entry { work: Work::of(step), reads, writes, wall }
    }
}

/// Steps of a block and what is known of them; those that are gone stand in their places to the end.
struct Block {
    nodes: Vec<Node<Inst>>,
    quick: Vec<Quick>,
}

struct Packer<'a> {
    context: &'a Context,
    counts: Counts,
    between: Between,
    /// Merges of this block that could be made so far, and those by their numbers that are not made, a bit each.
    chances: u32,
    refused: u64,
}

/// Where the window of a step ends, or a wall stands behind it.
fn window(quick: &[Quick], at: usize) -> usize {
    let mut seen = 0;
    let end = quick.iter().skip(at + 1).position(|second| {
        let ends = second.wall || seen == WINDOW;
        seen += usize::from(!second.gone);
        ends
    });
    end.map_or(quick.len(), |end| at + 1 + end)
}

/// The last of these steps that the one at `at` may be joined with.
fn last_partner(quick: &[Quick], at: usize, wanted: Wanted) -> Option<usize> {
    (at + 1..quick.len()).rev().find(|&other| quick[at].may_join(&quick[other], wanted))
}

/// Nodes of a block that is searched, at most.
const SEARCHED: usize = 48;
/// All choices are tried where a block has no more than so many, each with and without.
const EXHAUSTIVE: u32 = 6;

/// What a merge must be.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Wanted {
    /// One reads what the other writes.
    Chain,
    Any,
}

impl Packer<'_> {
    /// The block in as few groups as a search finds: with every set of refused merges where there are few, else with every single one and
    /// every pair of neighbours.
    fn search(&mut self, nodes: Vec<Node<Inst>>) -> Vec<Node<Inst>> {
        let original = nodes.clone();
        self.refused = 0;
        let mut best = self.block(nodes);
        let chances = self.chances;
        if original.len() > SEARCHED || chances == 0 {
            return best;
        }
        let refusals: Vec<u64> = match chances {
            ..=EXHAUSTIVE => (1..1u64 << chances).collect(),
            _ => (0..chances.min(63)).flat_map(|at| [1 << at, 3 << at]).collect(),
        };
        for refused in refusals {
            self.refused = refused;
            self.exchange(&best, &original);
            let other = self.block(original.clone());
            if other.len() < best.len() {
                best = other;
            } else {
                self.exchange(&other, &best);
            }
        }
        self.refused = 0;
        best
    }

    /// Counts nodes in the place of others.
    fn exchange(&mut self, old: &[Node<Inst>], new: &[Node<Inst>]) {
        old.iter().for_each(|node| self.counts.add(&node.inst, -1));
        new.iter().for_each(|node| self.counts.add(&node.inst, 1));
    }

    /// Whether the next merge that could be made is made.
    fn takes(&mut self) -> bool {
        self.chances += 1;
        self.chances > u64::BITS || self.refused >> (self.chances - 1) & 1 == 0
    }

    fn block(&mut self, nodes: Vec<Node<Inst>>) -> Vec<Node<Inst>> {
        self.chances = 0;
        let mut entries: Vec<Entry> = nodes.iter().map(|node| Entry::of(&node.inst)).collect();
        let mut block = Block { quick: entries.iter().map(Quick::of).collect(), nodes };
        for wanted in [Wanted::Chain, Wanted::Any] {
            for at in 0..entries.len() {
                self.look(&mut block, &mut entries, at, wanted);
            }
        }
        let Block { mut nodes, quick } = block;
        let mut gone = quick.iter().map(|quick| quick.gone);
        nodes.retain(|_| !gone.next().unwrap_or(false));
        nodes
    }

    /// Looks for partners of a step among those behind it.
    fn look(&mut self, block: &mut Block, entries: &mut [Entry], at: usize, wanted: Wanted) {
        // What stands between is worth knowing as far as the last one that may be a partner.
        let end = window(&block.quick, at);
        let Some(mut last) = last_partner(&block.quick[..end], at, wanted) else {
            return;
        };
        self.between.turn += 1;
        let mut next = at + 1;
        while next <= last {
            let other = next;
            next += 1;
            if block.quick[other].gone {
                continue;
            }
            if block.quick[at].may_join(&block.quick[other], wanted)
                && let Some(down) = self.fits(&entries[at], &entries[other], wanted)
                && let Some(step) = self.merged(&entries[at], &entries[other])
                && self.takes()
            {
                let (kept, gone) = if down { (other, at) } else { (at, other) };
                self.replace(block, entries, (kept, gone), step);
                if down {
                    return;
                }
                // Others may follow what both do.
                last = last_partner(&block.quick[..end], at, wanted).unwrap_or(at);
                continue;
            }
            self.between.add(&entries[other]);
        }
    }

    /// Whether two steps may meet, and whether the first has to come down.
    fn fits(&self, first: &Entry, second: &Entry, wanted: Wanted) -> Option<bool> {
        let chained = second.reads.iter().any(|at| first.writes.contains(at));
        if wanted == Wanted::Chain && !chained {
            return None;
        }
        if self.between.passes(second) {
            return Some(false);
        }
        self.between.passes(first).then_some(true)
    }

    fn merged(&self, first: &Entry, second: &Entry) -> Option<Step> {
        let (a, b) = (first.work.as_ref()?, second.work.as_ref()?);
        // What the first writes into p0 the second must not read.
        if first.writes.contains(&P0) && (second.reads.contains(&P0) || second.writes.contains(&P0))
        {
            return None;
        }
        let kept = |slot: Slot| match slot {
            Slot::Fixed(_) => true,
            Slot::Port(port) => key(port.reg).is_none_or(|at| {
                let own = second.reads.iter().filter(|read| **read == at).count() as u32;
                self.counts.definitions[at] != 1
                    || self.counts.uses[at] > own
                    || !port.part.is_whole()
            }),
        };
        a.with(b, kept)?.lay(self.context)
    }

    /// Puts a step in the place of two.
    fn replace(
        &mut self,
        block: &mut Block,
        entries: &mut [Entry],
        (kept, gone): (usize, usize),
        step: Step,
    ) {
        for at in [kept, gone] {
            self.counts.add(&block.nodes[at].inst, -1);
        }
        block.quick[gone].gone = true;
        let inst = Inst::from(step);
        self.counts.add(&inst, 1);
        entries[kept] = Entry::of(&inst);
        block.quick[kept] = Quick::of(&entries[kept]);
        block.nodes[kept].inst = inst;
    }
}

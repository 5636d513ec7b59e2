//! Packs scalar operations with real registers into as few VLIW groups as their dependences, slots
//! and read ports allow, and groups into clauses as long as constants and length allow.
//!
//! A list scheduler by critical path: each group takes the most urgent ready operations that
//! [`legal::Group::admit`] lets in; results of the previous group are read from PV and PS, which
//! frees read ports. Work comes in windows so that the cost stays linear.

mod encode;
mod graph;

use crate::api::Chip;
use crate::isa::{self, AluOp};
use crate::legal::{self, TRANS};
use crate::op::{self, Units};
use crate::slot::{Dst, Operand, Read, Slot, cell};
pub use encode::encode;
use gpucc_ir::ssa::Span;
use gpucc_passes::mach::{Depend, Key, Queue};
use graph::{AR_FIRST, Window};
use smallvec::SmallVec;

/// What is placed at once.
#[derive(Clone, Debug)]
pub enum Work {
    /// One operation in any slot that takes it.
    One(Slot),
    /// A reduction over the four vector slots. Few are, and what is moved about is as large as the largest.
    Four(Box<[Slot; 4]>),
    /// A double, from slot x on.
    Double(Vec<Slot>),
}

/// An array of cells that an indexed operation may touch.
#[derive(Copy, Clone, Debug)]
pub struct Range {
    /// First register.
    pub gpr: u8,
    /// Channel.
    pub chan: u8,
    /// Elements, one a register.
    pub count: u16,
}

impl Range {
    /// The cells, one a row.
    pub fn cells(self) -> impl Iterator<Item = u16> + Clone {
        let first = cell(self.gpr, self.chan);
        (0..self.count).map(move |row| first + 4 * row)
    }
}

/// One operation to pack.
#[derive(Clone, Debug)]
pub struct Item {
    /// What to place.
    pub work: Work,
    /// Cells that an indexed source or destination may touch.
    pub range: Option<Range>,
    /// Source position.
    pub span: Span,
}

impl Item {
    /// A plain operation.
    pub fn one(slot: Slot, span: Span) -> Item {
        Item { work: Work::One(slot), range: None, span }
    }
    /// Its slots.
    pub fn slots(&self) -> &[Slot] {
        match &self.work {
            Work::One(slot) => std::slice::from_ref(slot),
            Work::Four(slots) => &slots[..],
            Work::Double(slots) => slots,
        }
    }
    fn op(&self) -> AluOp {
        self.slots()[0].op
    }
    /// Reads or writes through AR.
    fn is_user(&self) -> bool {
        self.range.is_some()
    }
    /// May stand between a MOVA that reads `cell`, or a constant, and another operation that uses its AR: it leaves
    /// the register and the clause as they are.
    pub fn may_stand_behind_mova(&self, cell: Option<u16>) -> bool {
        let Work::One(slot) = &self.work else {
            return false;
        };
        let constant = |s: &Operand| matches!(s.read, Read::Kcache { .. });
        !op::is_kill(slot.op)
            && !op::is_pred_set(slot.op)
            && !slot.sources().iter().any(constant)
            && slot.dst.is_none_or(|dst| match self.range.filter(|_| dst.rel) {
                Some(range) => range.cells().all(|written| Some(written) != cell),
                None => cell.is_none() || dst.cell() != cell,
            })
    }
}

/// Lines of constant buffers that a clause locks. R700 ISA 4.6.4, register guide CF_ALU_WORD.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Locks {
    /// Up to two sets: buffer, first line, number of lines (1 or 2).
    pub sets: [Option<(u8, u16, u8)>; 2],
}

impl Locks {
    /// The locks with one more line, or nothing when there is no room.
    fn with(&self, buffer: u8, line: u16) -> Option<Locks> {
        let mut next = *self;
        for (b, first, count) in next.sets.iter().flatten() {
            if *b == buffer && line >= *first && line < first + u16::from(*count) {
                return Some(next);
            }
        }
        for set in &mut next.sets {
            match set {
                Some((b, first, count)) if *b == buffer && *count == 1 => {
                    if line == *first + 1 {
                        *count = 2;
                        return Some(next);
                    }
                    if line + 1 == *first {
                        *first = line;
                        *count = 2;
                        return Some(next);
                    }
                }
                Some(_) => {}
                None => {
                    *set = Some((buffer, line, 1));
                    return Some(next);
                }
            }
        }
        None
    }

    fn with_slots(&self, slots: &[Slot]) -> Option<Locks> {
        let mut next = *self;
        for slot in slots {
            for s in slot.sources() {
                if let Read::Kcache { buffer, index, .. } = s.read {
                    next = next.with(buffer, index / 16)?;
                }
            }
        }
        Some(next)
    }
}

/// A group and where it came from.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Its slots.
    pub group: legal::Group,
    /// Position of its first operation.
    pub span: Span,
}

/// A clause of groups.
#[derive(Clone, Debug, Default)]
pub struct Clause {
    /// In order.
    pub groups: Vec<Packed>,
    /// Constants that it needs.
    pub locks: Locks,
    /// Slots, literals included.
    pub qwords: u32,
}

impl Clause {
    /// Some group loads the address register.
    pub fn loads_address(&self) -> bool {
        self.groups.iter().any(|packed| packed.group.has_mova())
    }

    /// The last group narrows the execute mask.
    pub fn narrows(&self) -> bool {
        self.groups
            .last()
            .is_some_and(|packed| packed.group.slots.iter().flatten().any(Slot::narrows))
    }
}

/// Longest clause. Register guide, CF_ALU_WORD1.COUNT.
const CLAUSE_LIMIT: u32 = 128;
/// Most that one group adds: five slots and two pairs of literals.
const GROUP_LIMIT: u32 = 7;
/// Operations that are scheduled together.
const WINDOW: usize = 256;
/// Ready operations that a group looks at before it closes.
const LOOKAHEAD: usize = 48;
/// Operations behind a MOVA that may still use its AR.
pub const SHARING: usize = 8;
/// NOPs of a group behind a write by index: x to w.
const REST: u32 = 4;
/// Room that a MOVA wants in its clause for itself and its users.
const ADDRESS_ROOM: u32 = 70;

/// What comes first among operations that are ready.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Priority {
    /// What the longest chain hangs on.
    Height,
    /// What comes first in the program.
    Source,
    /// As `Height`, with a little chance: the search of `-Omax`.
    Shuffled(u32),
}

/// Orders that the search tries.
const SEARCH: u32 = 48;

/// Packs operations, in an order that keeps their meaning, into clauses: by the critical path, and
/// with `search` also in the order that registers were given in and in others, until no more than
/// `least` groups are left.
///
/// # Errors
/// An operation that no group admits: it should have been made legal before.
pub fn pack(items: &[Item], chip: Chip, least: u32, search: bool) -> Result<Vec<Clause>, String> {
    let cost = |clauses: &[Clause]| {
        let groups: usize = clauses.iter().map(|clause| clause.groups.len()).sum();
        (groups, clauses.len())
    };
    let mut best = pack_by(items, chip, Priority::Height)?;
    if !search {
        return Ok(best);
    }
    let orders = std::iter::once(Priority::Source).chain((0..SEARCH).map(Priority::Shuffled));
    for priority in orders {
        let (groups, clauses) = cost(&best);
        if groups as u32 <= least && clauses <= 1 {
            break;
        }
        let next = pack_by(items, chip, priority)?;
        if cost(&next) < (groups, clauses) {
            best = next;
        }
    }
    Ok(best)
}

fn pack_by(items: &[Item], chip: Chip, priority: Priority) -> Result<Vec<Clause>, String> {
    let mut packer = Packer::new(chip, priority);
    let mut rest = items;
    while !rest.is_empty() {
        let mut end = rest.len().min(WINDOW);
        // A MOVA and its users stay together.
        while let Some(at) = rest[end..]
            .iter()
            .take(SHARING + 2)
            .position(|item| item.op() == AluOp::MOVA_INT || item.is_user())
            && rest[end + at].is_user()
        {
            end += at + 1;
        }
        let (window, after) = rest.split_at(end);
        packer.window(window)?;
        rest = after;
    }
    packer.close();
    Ok(packer.clauses)
}

fn writes_by_index(group: &legal::Group) -> bool {
    group.slots.iter().flatten().any(|slot| slot.dst.is_some_and(|dst| dst.rel))
}

struct Packer {
    chip: Chip,
    isa: &'static isa::Isa,
    /// Slots of the group of NOPs that follows a write by index, where the window has one.
    rests: u32,
    priority: Priority,
    clauses: Vec<Clause>,
    clause: Clause,
    /// What PV.x to PV.w and PS hold: the cell each was written to.
    left: [Option<u16>; 5],
    /// The previous group was a reduction: only PV.x is good.
    reduced: bool,
    /// Indexed reads of the address register still to come.
    pending_address: usize,
    depend: Depend,
}

impl Packer {
    fn new(chip: Chip, priority: Priority) -> Packer {
        Packer {
            isa: chip.family().isa(),
            chip,
            rests: 0,
            priority,
            clauses: Vec::new(),
            clause: Clause::default(),
            left: [None; 5],
            reduced: false,
            pending_address: 0,
            depend: Depend::default(),
        }
    }

    fn close(&mut self) {
        debug_assert_eq!(self.pending_address, 0, "AR is used in the clause that sets it");
        if !self.clause.groups.is_empty() {
            self.clauses.push(std::mem::take(&mut self.clause));
        }
        self.clause = Clause::default();
        self.left = [None; 5];
        self.reduced = false;
    }

    fn window(&mut self, items: &[Item]) -> Result<(), String> {
        // The hazard of an indexed write also holds from window to window.
        if self.clause.groups.last().is_some_and(|packed| writes_by_index(&packed.group)) {
            self.idle();
        }
        let by_index = |slot: &Slot| slot.dst.is_some_and(|dst| dst.rel);
        let rests = self.chip.rests_after_indexed_writes()
            && items.iter().flat_map(Item::slots).any(by_index);
        self.rests = if rests { REST } else { 0 };
        let mut window = Window::of(items, &mut self.depend);
        match self.priority {
            Priority::Height => {}
            // What uses AR still goes first.
            Priority::Source => {
                for height in &mut window.urgency {
                    *height &= AR_FIRST;
                }
            }
            Priority::Shuffled(seed) => {
                let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
                for height in &mut window.urgency {
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    *height = *height * 4 + state % (2 + seed % 8);
                }
            }
        }
        let mut queue = Queue::of(&window.graph, &window.urgency);
        let mut placed = 0;
        while placed < items.len() {
            queue.wake();
            if self.pending_address == 0
                && self.clause.qwords + GROUP_LIMIT + self.rests > CLAUSE_LIMIT
            {
                self.close();
            }
            let (group, locks, count, span) = self.fill(items, &window, &mut queue);
            if count == 0 {
                if queue.is_empty() || self.pending_address > 0 {
                    // The hazard of an indexed write leaves a group with nothing to do, and while AR is
                    // awaited the clause cannot end for other constants.
                    self.idle();
                    queue.now += 1;
                } else if self.clause.groups.is_empty() {
                    let at = queue.next(None).map_or(0, |key| key.1 as usize);
                    return Err(format!("no group admits {:?}", items[at]));
                } else {
                    // Constants that this clause cannot lock.
                    self.close();
                }
                continue;
            }
            placed += count;
            queue.now += 1;
            let kills = group.has_kill();
            // KILL ends its clause.
            let rests = self.rests > 0 && writes_by_index(&group) && !kills;
            self.finish(group, locks, span);
            if rests {
                self.idle();
                queue.now += 1;
            }
            if kills {
                self.close();
            }
        }
        Ok(())
    }

    /// A group that does nothing. Behind a write by index it fills x to w, where the chip wants it: docs/errata.md 12.
    fn idle(&mut self) {
        let nop = Slot::new(AluOp::NOP, None, &[]);
        let rests = self.chip.rests_after_indexed_writes()
            && self.clause.groups.last().is_some_and(|packed| writes_by_index(&packed.group));
        let slots = if rests { 0..REST as usize } else { 0..1 };
        let group = slots.fold(legal::Group::of(self.isa), |group, slot| {
            group.admit(slot, &nop).expect("an empty slot admits NOP")
        });
        let locks = self.clause.locks;
        self.finish(group, locks, Span::NONE);
    }

    /// Ends a group: what it leaves in PV and PS, and what it adds to the clause.
    fn finish(&mut self, group: legal::Group, locks: Locks, span: Span) {
        for (unit, slot) in group.slots.iter().enumerate() {
            self.left[unit] = slot.and_then(|slot| slot.dst?.cell());
        }
        self.reduced = group.is_reduction();
        if let Some(slot) = group.slots[0].filter(|_| self.reduced) {
            // The sum stands in PV.x whatever channel it is written to; CUBE is read from registers.
            let sum = group.slots[..TRANS]
                .iter()
                .flatten()
                .find_map(|slot| slot.dst)
                .filter(|_| slot.op != AluOp::CUBE);
            self.left[..TRANS].fill(None);
            self.left[0] = sum.and_then(Dst::cell);
        }
        self.clause.qwords += group.qwords();
        self.clause.locks = locks;
        self.clause.groups.push(Packed { group, span });
    }

    /// Fills one group with ready operations.
    fn fill(
        &mut self,
        items: &[Item],
        window: &Window,
        queue: &mut Queue,
    ) -> (legal::Group, Locks, usize, Span) {
        let mut group = legal::Group::of(self.isa);
        let mut locks = self.clause.locks;
        let mut count = 0;
        let mut span = Span::NONE;
        // First every operation in its own slot, then the trans slot takes what is left over.
        for trans in [false, true] {
            let mut from: Option<Key> = None;
            let mut tries = 0;
            while tries < LOOKAHEAD && group.has_room(trans) {
                let Some(key) = queue.next(from) else { break };
                from = Some(key);
                tries += 1;
                let item = &items[key.1 as usize];
                if item.op() == AluOp::MOVA_INT
                    && self.clause.qwords + ADDRESS_ROOM + self.rests * SHARING as u32
                        > CLAUSE_LIMIT
                {
                    // Not enough room for the users of the address: the next clause takes it.
                    if group.is_empty() && self.pending_address == 0 {
                        self.close();
                        locks = self.clause.locks;
                    } else {
                        continue;
                    }
                }
                let Some(more) = locks.with_slots(item.slots()) else {
                    continue;
                };
                let Some(next) = self.try_place(&group, item, trans) else {
                    continue;
                };
                group = next;
                locks = more;
                count += 1;
                if span.is_none() {
                    span = item.span;
                }
                if item.op() == AluOp::MOVA_INT {
                    self.pending_address += window.users[key.1 as usize] as usize;
                } else if item.is_user() {
                    self.pending_address -= 1;
                }
                let joined = queue.take(&window.graph, key);
                // More urgent than where we stand: look again from the start.
                if joined.is_some_and(|joined| joined < key) {
                    from = None;
                }
            }
        }
        (group, locks, count, span)
    }

    fn try_place(&self, group: &legal::Group, item: &Item, trans: bool) -> Option<legal::Group> {
        match &item.work {
            Work::Four(slots) => {
                if trans {
                    return None;
                }
                let slots = [
                    self.forwarded(&slots[0]),
                    self.forwarded(&slots[1]),
                    self.forwarded(&slots[2]),
                    self.forwarded(&slots[3]),
                ];
                group.admit_reduction(&slots).ok()
            }
            Work::Double(slots) => {
                if trans {
                    return None;
                }
                let next: SmallVec<[Slot; 4]> =
                    slots.iter().map(|slot| self.forwarded(slot)).collect();
                group.admit_double(0, &next).ok()
            }
            Work::One(slot) => {
                let slot = self.forwarded(slot);
                match op::units(group.isa(), slot.op) {
                    Units::Trans => group.admit(TRANS, &slot).ok(),
                    Units::Any if trans => {
                        // Only beside an occupied slot of its channel: else the hardware would
                        // put it there (R700 ISA 4.4).
                        let chan = slot.dst.map_or(0, |dst| usize::from(dst.chan));
                        group.slots[chan].as_ref()?;
                        group.admit(TRANS, &slot).ok()
                    }
                    Units::Any | Units::Vector => match slot.dst {
                        Some(dst) => group.admit(usize::from(dst.chan), &slot).ok(),
                        // Slot x loads AR.x, the element that indexes registers.
                        None if slot.op == AluOp::MOVA_INT => group.admit(0, &slot).ok(),
                        None => (0..TRANS).find_map(|unit| group.admit(unit, &slot).ok()),
                    },
                    Units::Reduction | Units::Pair | Units::Quad => None,
                }
            }
        }
    }

    /// The operation with reads of what the previous group wrote turned to PV and PS.
    fn forwarded(&self, slot: &Slot) -> Slot {
        let mut slot = *slot;
        for s in &mut slot.src[..usize::from(slot.sources)] {
            let Some(wanted) = s.read.cell() else {
                continue;
            };
            match self.left.iter().position(|&left| left == Some(wanted)) {
                Some(TRANS) => s.read = Read::Ps,
                Some(unit) => s.read = Read::Pv(unit as u8),
                None => {}
            }
        }
        slot
    }
}

//! Which registers share a place, and which lie side by side: coalescing and constraints in one.
//!
//! A *class* is a set of registers that will get the same cells: they never live at the same time.
//! A *unit* is a set of classes placed together: in one row at distinct positions, or at fixed
//! offsets from a base. Each constraint of an operand is first tried on the class of its register
//! itself. Where classes clash, the operand gets a short register of its own (a *temporary*) and a
//! copy. Copies of the program are tried last, as merges of classes. Everything in the deepest loop
//! goes first, so that clashes cost least.

mod ask;
mod search;

use crate::api::{Error, Shape};
use crate::live::Live;
use crate::segment::{Segments, cover, overlap, unite};
use crate::work::{NONE, Origin, Work, constrained, virt};
use ask::Asker;
use gpucc_ir::mach::{Inst, Relation};
use search::{Search, distinct};
use smallvec::SmallVec;
use std::cmp::Reverse;

/// A set of registers in the same cells.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub segments: Segments,
    /// Some write of it ignores the mask.
    pub whole: bool,
    /// Where lanes that wait hold it while no running lane does.
    pub dormant: Segments,
    pub weight: u64,
    /// Positions in the row that all members allow.
    pub phases: u16,
    /// The cell it must be in.
    pub pin: Option<u16>,
    /// The position it would like.
    pub prefer: Option<u8>,
    /// A class whose cell it would like, or `NONE`: they are copies of each other.
    pub hint: u32,
    /// The unit it is part of, or `NONE`.
    pub unit: u32,
    /// No member gains from being spilled.
    pub tiny: bool,
    pub shape: Shape,
}

impl Class {
    /// Both are alive somewhere, or one is written for all lanes where lanes that wait hold the other.
    pub fn meets(&self, other: &Class) -> bool {
        overlap(&self.segments, &other.segments)
            || (self.whole && overlap(&self.segments, &other.dormant))
            || (other.whole && overlap(&other.segments, &self.dormant))
    }
}

/// Classes that are placed together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unit {
    /// Classes, and for a run their offsets from the base.
    pub members: SmallVec<[(u32, u16); 4]>,
    /// Members lie at fixed offsets from one base; otherwise anywhere in one row.
    pub run: bool,
}

/// A copy that a clash made necessary.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Transfer {
    pub node: u32,
    /// Behind the node (for a definition) instead of before it.
    pub behind: bool,
    /// Class of the source and of the destination (find their roots).
    pub from: u32,
    pub to: u32,
    /// Cells from where the class that is no temporary begins to the part that is moved.
    pub distance: u16,
}

impl Transfer {
    /// The class made for the operand: it has the shape of what is moved.
    pub fn temporary(&self) -> u32 {
        if self.behind { self.from } else { self.to }
    }
}

/// An operand that uses a temporary instead of its register.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Override {
    pub node: u32,
    pub operand: u32,
    pub class: u32,
}

/// The result: classes 0..regs are those of the registers, further ones of temporaries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    parent: Vec<u32>,
    pub class: Vec<Class>,
    pub units: Vec<Unit>,
    /// In the order of nodes.
    pub transfers: Vec<Transfer>,
    /// In the order of nodes.
    pub overrides: Vec<Override>,
    pub steps: u64,
    /// Pinned class of each cell, sorted by (file, cell).
    pinned: Vec<((u8, u16), u32)>,
    /// Unit that may put unpinned classes into a pinned row, sorted by (file, row).
    owner: Vec<((u8, u16), u32)>,
    rows: SmallVec<[u8; 4]>,
}

/// Classes with more segments than this are not merged any further: the cost of merging would grow
/// with the program.
const MOST_SEGMENTS: usize = 4096;
/// Classes in a run that grows by laying runs over each other: it finds one place for all of them.
const MOST_MEMBERS: usize = 16;
/// Classes beyond which a row is not extended over ever more instructions.
const MOST_SEARCH: u32 = 2000;

/// Forms classes and units for a function.
///
/// With `apart`, every operand in a fixed cell is a temporary: costs copies, but two values that
/// want one cell at different times cannot clash. Tried when the direct way fails.
pub(crate) fn classify<I: Inst>(
    work: &Work<I>,
    live: &mut Live,
    apart: bool,
) -> Result<Classes, Error> {
    let mut classes =
        Classes { rows: work.files.0.iter().map(|file| file.row).collect(), ..Classes::default() };
    classes.parent = (0..work.regs.len() as u32).collect();
    classes.class.reserve(work.regs.len() + 64);
    for (index, reg) in work.regs.iter().enumerate() {
        let demand = reg.data.demand;
        let row_mask = row_mask(classes.rows[demand.file.0 as usize]);
        classes.class.push(Class {
            segments: std::mem::take(&mut live.segments[index]),
            whole: live.whole[index],
            dormant: std::mem::take(&mut live.dormant[index]),
            weight: live.weight[index],
            phases: demand.phases.0 & row_mask,
            pin: None,
            prefer: reg.data.prefer,
            hint: NONE,
            unit: NONE,
            tiny: reg.tiny,
            shape: Shape::of(&reg.data),
        });
        if let Some(cell) = reg.pin
            && !classes.pin(index as u32, cell.index)
        {
            return Err(Error::Invalid("a physical register cannot be where it is".into()));
        }
    }
    // Nodes that ask for something, the most frequent first; constraints before copies.
    let mut asking: Vec<(Reverse<u32>, bool, u32)> = Vec::new();
    let mut fixed: Vec<(Reverse<u32>, u32)> = Vec::new();
    for block in &work.blocks {
        for node in block.first..block.end {
            let operands = work.operands.of(node);
            let copy = work.nodes[node as usize].inst.is_copy();
            if operands.iter().any(constrained) {
                asking.push((Reverse(block.depth), false, node));
                if operands.iter().any(|operand| matches!(operand.relation, Relation::Fixed(_))) {
                    fixed.push((Reverse(block.depth), node));
                }
            }
            if copy {
                asking.push((Reverse(block.depth), true, node));
            }
        }
    }
    asking.sort_unstable();
    // Fixed cells come first: where rows are pinned must be known before rows are shared.
    if !apart {
        fixed.sort_unstable();
        for &(_, node) in &fixed {
            for operand in work.operands.of(node) {
                if let Relation::Fixed(cell) = operand.relation
                    && operand.part.is_whole()
                {
                    let class = classes.find(virt(operand).as_u32());
                    classes.pin(class, cell.index);
                }
            }
        }
    }
    let mut current: Vec<u32> = Vec::new();
    for &(_, copy, node) in &asking {
        let operands = work.operands.of(node);
        if copy {
            let of =
                |defs: bool| operands.iter().filter(move |operand| operand.role.is_def() == defs);
            for (from, to) in of(false).zip(of(true)) {
                let (a, b) = (classes.find(virt(from).as_u32()), classes.find(virt(to).as_u32()));
                // A spill's copies reconcile two wishes; merged they might have none left.
                let spills = matches!(work.nodes[node as usize].origin, Origin::Move { .. });
                if !from.part.is_whole() || !to.part.is_whole() {
                    if !spills {
                        classes.lay(a, work.distance(from), b, work.distance(to));
                    }
                    continue;
                }
                if spills || !classes.merge(a, b) {
                    classes.class[b as usize].hint = virt(from).as_u32();
                }
            }
            continue;
        }
        current.clear();
        current.extend(operands.iter().map(|operand| virt(operand).as_u32()));
        let mut asker =
            Asker { work, node, operands, current: &mut current, classes: &mut classes, apart };
        asker.all()?;
    }
    for index in 0..classes.class.len() {
        let hint = classes.class[index].hint;
        if hint != NONE {
            classes.class[index].hint = classes.find(hint);
        }
    }
    classes.transfers.sort_by_key(|transfer| (transfer.node, transfer.behind));
    classes.overrides.sort_by_key(|over| (over.node, over.operand));
    Ok(classes)
}

fn row_mask(row: u8) -> u16 {
    ((1u32 << row) - 1) as u16
}

impl Classes {
    /// The class that a register or temporary ended in.
    #[inline]
    pub fn find(&mut self, mut index: u32) -> u32 {
        while self.parent[index as usize] != index {
            let up = self.parent[self.parent[index as usize] as usize];
            self.parent[index as usize] = up;
            index = up;
        }
        index
    }

    /// The same where nothing may be noted on the way.
    pub fn root(&self, mut index: u32) -> u32 {
        while self.parent[index as usize] != index {
            index = self.parent[index as usize];
        }
        index
    }

    fn row_of(&self, class: u32) -> u8 {
        self.rows[self.class[class as usize].shape.file.0 as usize]
    }

    /// Narrows the positions of a class, if its unit allows.
    fn restrict(&mut self, class: u32, phases: u16) -> bool {
        let old = self.class[class as usize].phases;
        let new = old & phases;
        if new == old {
            return true;
        }
        if new == 0 {
            return false;
        }
        self.class[class as usize].phases = new;
        if self.unit_possible(class) {
            return true;
        }
        self.class[class as usize].phases = old;
        false
    }

    /// Positions of a row that no other pinned class occupies during the life of this one.
    fn not_pinned_to_others(&self, class: u32, row: u16) -> u16 {
        let data = &self.class[class as usize];
        if data.pin.is_some() {
            return u16::MAX;
        }
        let length = u16::from(self.row_of(class));
        let first =
            self.pinned.partition_point(|&(key, _)| key < (data.shape.file.0, row * length));
        let mut mask = u16::MAX;
        for &((file, cell), other) in &self.pinned[first..] {
            if file != data.shape.file.0 || cell / length != row {
                break;
            }
            let mut other = other;
            while self.parent[other as usize] != other {
                other = self.parent[other as usize];
            }
            if other != class && self.class[other as usize].meets(data) {
                mask &= !(1 << (cell % length));
            }
        }
        mask
    }

    /// Pins a class to a cell of its file, or merges it with the class that is pinned there.
    fn pin(&mut self, class: u32, cell: u16) -> bool {
        let data = &self.class[class as usize];
        if data.pin == Some(cell) {
            return true;
        }
        let row = self.row_of(class);
        let phase = 1u16 << (cell % u16::from(row));
        if data.pin.is_some() || data.phases & phase == 0 {
            return false;
        }
        let key = (data.shape.file.0, cell);
        match self.pinned.binary_search_by_key(&key, |&(key, _)| key) {
            Ok(found) => {
                let other = self.find(self.pinned[found].1);
                self.merge(other, class)
            }
            Err(at) => {
                let old = data.phases;
                self.class[class as usize].pin = Some(cell);
                self.class[class as usize].phases = phase;
                if !self.unit_possible(class) {
                    self.class[class as usize].pin = None;
                    self.class[class as usize].phases = old;
                    return false;
                }
                self.pinned.insert(at, (key, class));
                true
            }
        }
    }

    /// Whether the unit of a class can still be placed, by positions and pins alone.
    fn unit_possible(&self, class: u32) -> bool {
        let unit = self.class[class as usize].unit;
        if unit == NONE {
            return true;
        }
        let unit = &self.units[unit as usize];
        let row = self.row_of(class);
        if unit.run {
            return self.run_possible(&unit.members, row);
        }
        let mut masks: SmallVec<[u16; 8]> = SmallVec::new();
        let mut pin_row = None;
        for &(member, _) in &unit.members {
            let data = &self.class[member as usize];
            masks.push(data.phases);
            if let Some(cell) = data.pin {
                let this = cell / u16::from(row);
                if *pin_row.get_or_insert(this) != this {
                    return false;
                }
            }
        }
        distinct(&masks)
    }

    /// Whether some base cell satisfies the positions and pins of all members of a run.
    fn run_possible(&self, members: &[(u32, u16)], row: u8) -> bool {
        let mut base_pin = None;
        for &(member, offset) in members {
            if let Some(cell) = self.class[member as usize].pin {
                let Some(base) = cell.checked_sub(offset) else {
                    return false;
                };
                if *base_pin.get_or_insert(base) != base {
                    return false;
                }
            }
        }
        let positions = (0..row).any(|base| {
            members.iter().all(|&(member, offset)| {
                let phase = (u16::from(base) + offset) % u16::from(row);
                self.class[member as usize].phases >> phase & 1 != 0
            })
        });
        // Where the base is fixed, so are the members: beside what else is fixed there.
        positions
            && base_pin.is_none_or(|base| {
                members.iter().all(|&(member, offset)| {
                    let row = u16::from(row);
                    let (at, phase) = ((base + offset) / row, (base + offset) % row);
                    self.not_pinned_to_others(member, at) >> phase & 1 != 0
                })
            })
    }

    /// Whether a class at an offset of a run would live in cells of a member while that lives. Members may share
    /// cells at different times.
    fn clashes(&self, members: &[(u32, u16)], class: u32, offset: u16) -> bool {
        let extent = |class: u32| self.class[class as usize].shape.extent();
        members.iter().any(|&(member, at)| {
            let apart = u32::from(at) + extent(member) <= u32::from(offset)
                || u32::from(offset) + extent(class) <= u32::from(at);
            !apart && self.class[member as usize].meets(&self.class[class as usize])
        })
    }

    /// Merges two classes when nothing forbids it: one shape, disjoint lives, common positions,
    /// compatible units. Returns whether they are one now.
    pub fn merge(&mut self, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        self.steps += 1;
        let (left, right) = (&self.class[a as usize], &self.class[b as usize]);
        if left.shape != right.shape || left.phases & right.phases == 0 {
            return false;
        }
        if left.pin.is_some() && right.pin.is_some() && left.pin != right.pin {
            return false;
        }
        if left.segments.len().min(right.segments.len()) > MOST_SEGMENTS {
            return false;
        }
        self.steps += left.segments.len().min(right.segments.len()) as u64;
        if left.meets(right) {
            return false;
        }
        match (left.unit, right.unit) {
            (NONE, NONE) => {
                let row = self.row_of(a);
                let pin = left.pin.or(right.pin);
                if pin.is_some_and(|cell| {
                    (left.phases & right.phases) >> (cell % u16::from(row)) & 1 == 0
                }) {
                    return false;
                }
                self.fuse(a, b);
                true
            }
            (one, other) if one == other => false,
            (one, other) => {
                let run = |unit: u32| unit != NONE && self.units[unit as usize].run;
                if run(one) || run(other) {
                    if one != NONE && other != NONE {
                        return false;
                    }
                    self.merge_into_run(a, b)
                } else {
                    self.join_rows(a, b, true)
                }
            }
        }
    }

    /// Merges a class without a unit into a member of a run.
    fn merge_into_run(&mut self, a: u32, b: u32) -> bool {
        let (member, single) = if self.class[a as usize].unit != NONE { (a, b) } else { (b, a) };
        let members = &self.units[self.class[member as usize].unit as usize].members;
        let at = members.iter().find(|entry| entry.0 == member);
        let (_, offset) = *at.expect("a class is a member of its unit");
        if self.clashes(members, single, offset) {
            return false;
        }
        let saved = (self.class[member as usize].phases, self.class[member as usize].pin);
        self.class[member as usize].phases &= self.class[single as usize].phases;
        self.class[member as usize].pin = saved.1.or(self.class[single as usize].pin);
        if !self.unit_possible(member) {
            (self.class[member as usize].phases, self.class[member as usize].pin) = saved;
            return false;
        }
        self.fuse(member, single);
        true
    }

    /// Makes `b` part of `a`. The caller has checked everything; `b`'s unit is the caller's to fix.
    fn fuse(&mut self, a: u32, b: u32) {
        self.parent[b as usize] = a;
        let from = std::mem::take(&mut self.class[b as usize].segments);
        let other = self.class[b as usize].clone();
        let into = &mut self.class[a as usize];
        unite(&mut into.segments, &from);
        cover(&mut into.dormant, &other.dormant);
        into.whole |= other.whole;
        into.weight += other.weight;
        into.phases &= other.phases;
        into.pin = into.pin.or(other.pin);
        into.prefer = into.prefer.or(other.prefer);
        if into.hint == NONE {
            into.hint = other.hint;
        }
        into.tiny &= other.tiny;
        if let Some(cell) = other.pin {
            let key = (into.shape.file.0, cell);
            if let Ok(found) = self.pinned.binary_search_by_key(&key, |&(key, _)| key) {
                self.pinned[found].1 = a;
            }
        }
    }

    /// Puts the units of two classes in one row; with `same`, the two classes become one.
    /// Changes nothing when it returns false.
    fn join_rows(&mut self, a: u32, b: u32, same: bool) -> bool {
        let row = self.row_of(a);
        let (unit_a, unit_b) = (self.class[a as usize].unit, self.class[b as usize].unit);
        // A run may lie across rows.
        let is_run = |unit: u32| unit != NONE && self.units[unit as usize].run;
        if is_run(unit_a) || is_run(unit_b) {
            return false;
        }
        if unit_a != NONE && unit_a == unit_b {
            return !same;
        }
        let members = |unit: u32, class: u32| -> SmallVec<[u32; 8]> {
            if unit == NONE {
                return SmallVec::from_slice(&[class]);
            }
            self.units[unit as usize].members.iter().map(|member| member.0).collect()
        };
        // The larger unit stays, the smaller one's classes look for places in it.
        let (mut left, mut right) = (members(unit_a, a), members(unit_b, b));
        let (mut forced_left, mut forced_right) = (a, b);
        let mut keep = unit_a;
        if right.len() > left.len() {
            std::mem::swap(&mut left, &mut right);
            std::mem::swap(&mut forced_left, &mut forced_right);
            keep = unit_b;
        }
        let mut search = Search {
            classes: self,
            left: &left,
            right: &right,
            forced: same.then_some((forced_left, forced_right)),
            row: row as usize,
            pin_row: None,
            chosen: SmallVec::new(),
            budget: MOST_SEARCH,
        };
        let found = search.run();
        let (chosen, budget, pin_row) = (search.chosen, search.budget, search.pin_row);
        self.steps += u64::from(MOST_SEARCH - budget);
        if !found {
            return false;
        }
        if let Some(pin_row) = pin_row {
            // Two units with classes to place in one pinned row might not both find positions.
            let key = (self.class[a as usize].shape.file.0, pin_row);
            let mine = |unit: u32| unit != NONE && (unit == unit_a || unit == unit_b);
            let unpinned =
                left.iter().chain(&right).any(|&class| self.class[class as usize].pin.is_none());
            match self.owner.binary_search_by_key(&key, |&(key, _)| key) {
                Ok(at) if unpinned && !mine(self.owner[at].1) => return false,
                Ok(at) => {
                    if mine(self.owner[at].1) {
                        self.owner[at].1 =
                            if keep == NONE { self.units.len() as u32 } else { keep };
                    }
                }
                Err(at) if unpinned => {
                    let unit = if keep == NONE { self.units.len() as u32 } else { keep };
                    self.owner.insert(at, (key, unit));
                }
                Err(_) => {}
            }
        }
        let unit = if keep == NONE {
            self.units
                .push(Unit { members: left.iter().map(|&class| (class, 0)).collect(), run: false });
            (self.units.len() - 1) as u32
        } else {
            keep
        };
        for &class in &left {
            self.class[class as usize].unit = unit;
        }
        for (&class, &place) in right.iter().zip(&chosen) {
            let old = self.class[class as usize].unit;
            if old != NONE {
                self.units[old as usize].members.clear();
            }
            match place {
                Some(k) => self.fuse(left[k], class),
                None => {
                    self.class[class as usize].unit = unit;
                    self.units[unit as usize].members.push((class, 0));
                }
            }
        }
        true
    }

    /// Makes two runs one: `class`, a member of the second, comes to lie at `wanted` of the first. Their members may
    /// share cells at different times.
    fn lay_over(&mut self, first: u32, second: u32, class: u32, wanted: i32) -> bool {
        let (kept, moved) = (&self.units[first as usize], &self.units[second as usize]);
        if !moved.run || kept.members.len() + moved.members.len() > MOST_MEMBERS {
            return false;
        }
        let at = moved.members.iter().find(|member| member.0 == class);
        let at = i32::from(at.expect("a class is a member of its unit").1);
        let distance = wanted - at;
        // Offsets are counted from the lowest member of both.
        let shift = (-distance).max(0);
        let by = |members: &[(u32, u16)], by: i32| -> SmallVec<[(u32, u16); 4]> {
            let place = |&(member, at): &(u32, u16)| (member, (i32::from(at) + by) as u16);
            members.iter().map(place).collect()
        };
        let mut all = by(&kept.members, shift);
        let added = by(&moved.members, shift + distance);
        if added.iter().any(|&(member, place)| self.clashes(&all, member, place)) {
            return false;
        }
        all.extend_from_slice(&added);
        if !self.run_possible(&all, self.row_of(class)) {
            return false;
        }
        for &(member, _) in &added {
            self.class[member as usize].unit = first;
        }
        self.units[first as usize].members = all;
        self.units[second as usize].members.clear();
        true
    }

    /// Makes a copy of a part vanish: what lies `from` cells behind the start of one class comes to lie `to` cells behind
    /// the start of the other, if they are never alive at the same time.
    fn lay(&mut self, a: u32, from: u16, b: u32, to: u16) -> bool {
        let (left, right) = (&self.class[a as usize], &self.class[b as usize]);
        if from == to && left.shape == right.shape {
            return self.merge(a, b);
        }
        let alike = left.shape.file == right.shape.file
            && left.shape.per_lane == right.shape.per_lane
            && left.segments.len().min(right.segments.len()) <= MOST_SEGMENTS;
        let is_full =
            |unit: u32| unit != NONE && self.units[unit as usize].members.len() >= MOST_MEMBERS;
        let fits = a != b && alike && !is_full(left.unit) && !is_full(right.unit);
        fits && !left.meets(right) && self.beside_run(a, to.into(), b, from.into())
    }

    /// Puts `class` at `offset` from the base that `base` has at `base_offset`.
    fn beside_run(&mut self, base: u32, base_offset: i32, class: u32, offset: i32) -> bool {
        let row = self.row_of(base);
        let mut unit = self.class[base as usize].unit;
        if unit == NONE {
            self.units.push(Unit { members: SmallVec::from_slice(&[(base, 0)]), run: true });
            unit = (self.units.len() - 1) as u32;
            self.class[base as usize].unit = unit;
        }
        if !self.units[unit as usize].run {
            return false;
        }
        if base == class {
            return base_offset == offset;
        }
        let members = &self.units[unit as usize].members;
        let at = members.iter().find(|member| member.0 == base).map(|member| member.1);
        let at = i32::from(at.expect("a class is a member of its unit"));
        let wanted = at + offset - base_offset;
        match self.class[class as usize].unit {
            NONE => {}
            other if other == unit => {
                return members
                    .iter()
                    .any(|&(member, at)| member == class && i32::from(at) == wanted);
            }
            other => return self.lay_over(unit, other, class, wanted),
        }
        // Offsets are counted from the lowest member: a member below it shifts all others.
        let shift = (-wanted).max(0);
        let mut moved: SmallVec<[(u32, u16); 4]> =
            members.iter().map(|&(member, at)| (member, (i32::from(at) + shift) as u16)).collect();
        let place = (wanted + shift) as u16;
        let clash = self.clashes(&moved, class, place);
        moved.push((class, place));
        if clash || !self.run_possible(&moved, row) {
            return false;
        }
        self.units[unit as usize].members = moved;
        self.class[class as usize].unit = unit;
        true
    }
}

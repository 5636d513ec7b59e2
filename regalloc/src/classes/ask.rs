//! Meets the constraints of one instruction: directly where it can, with temporaries where classes clash.

use super::{Class, Classes, Override, Transfer, row_mask};
use crate::api::{Error, Shape};
use crate::segment::{Segment, after, before, read, remove, write};
use crate::work::{NONE, Work, virt};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Inst, Operand, Relation, Role};
use smallvec::SmallVec;

/// One instruction's constraints being met.
pub(super) struct Asker<'a, I> {
    pub(super) work: &'a Work<I>,
    pub(super) node: u32,
    pub(super) operands: &'a [Operand],
    /// The class each operand uses: its register's or a temporary.
    pub(super) current: &'a mut Vec<u32>,
    pub(super) classes: &'a mut Classes,
    pub(super) apart: bool,
}

impl<I: Inst> Asker<'_, I> {
    pub(super) fn all(&mut self) -> Result<(), Error> {
        let mut sets: SmallVec<[(bool, u8); 4]> = SmallVec::new();
        for index in 0..self.operands.len() {
            let operand = self.operands[index];
            let class = self.find(index);
            // A run narrows positions where it takes a class, and not where the class stays out of it.
            let phases_met = matches!(operand.relation, Relation::Group { .. })
                || self.classes.restrict(class, self.phases(index));
            let is_part = !operand.part.is_whole();
            match operand.relation {
                Relation::Fixed(cell) => {
                    let class = self.find(index);
                    if is_part || self.apart || !phases_met || !self.classes.pin(class, cell.index)
                    {
                        let temporary = self.temporary(index)?;
                        if !self.classes.pin(temporary, cell.index) {
                            return Err(self.unsatisfiable("two values in one fixed cell"));
                        }
                    }
                }
                // Rows and fixed cells are for whole classes: a part goes there on its own.
                Relation::SameRow(_) if is_part => drop(self.temporary(index)?),
                Relation::SameRow(_)
                | Relation::Group { .. }
                | Relation::Tied(_)
                | Relation::Any => {
                    if !phases_met {
                        self.temporary(index)?;
                    }
                }
            }
            let set = match operand.relation {
                Relation::SameRow(set) => (false, set),
                Relation::Group { set, .. } => (true, set),
                Relation::Any | Relation::Fixed(_) | Relation::Tied(_) => continue,
            };
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        for (run, set) in sets {
            let members: SmallVec<[(usize, u16); 8]> = self
                .operands
                .iter()
                .enumerate()
                .filter_map(|(index, operand)| match operand.relation {
                    Relation::SameRow(other) if !run && other == set => Some((index, 0)),
                    Relation::Group { set: other, offset } if run && other == set => {
                        Some((index, u16::from(offset)))
                    }
                    _ => None,
                })
                .collect();
            self.together(run, &members)?;
        }
        for index in 0..self.operands.len() {
            if let Relation::Tied(to) = self.operands[index].relation {
                self.tie(index, to as usize)?;
            }
        }
        Ok(())
    }

    fn find(&mut self, index: usize) -> u32 {
        self.classes.find(self.current[index])
    }

    /// Cells from the first of the class that an operand uses to the first of the operand.
    fn distance(&self, index: usize) -> u16 {
        let operand = &self.operands[index];
        match self.current[index] == virt(operand).as_u32() {
            true => self.work.distance(operand),
            false => 0,
        }
    }

    /// Positions of the class that an operand uses at which the operand is where it may be.
    fn phases(&self, index: usize) -> u16 {
        let operand = &self.operands[index];
        match self.distance(index) {
            0 => operand.phases.0,
            distance => {
                let file = self.work.demand(operand).file;
                let row = self.classes.rows[file.0 as usize];
                let back = u32::from(row) - u32::from(distance) % u32::from(row);
                operand.phases.moved(back, row).0
            }
        }
    }

    fn unsatisfiable(&self, why: &str) -> Error {
        Error::Invalid(format!("the constraints of instruction {} cannot be met: {why}", self.node))
    }

    /// Gives an operand a short register of its own, with a copy from or to its register.
    fn temporary(&mut self, index: usize) -> Result<u32, Error> {
        let operand = self.operands[index];
        let reg = virt(&operand).as_u32();
        // The same register twice in one set shares its temporary.
        if operand.role == Role::Use {
            for (other, twin) in self.operands[..index].iter().enumerate() {
                if twin.reg == operand.reg
                    && twin.part == operand.part
                    && twin.role == Role::Use
                    && twin.relation == operand.relation
                    && twin.phases == operand.phases
                    && self.current[other] != reg
                {
                    let shared = self.current[other];
                    let previous = std::mem::replace(&mut self.current[index], shared);
                    if previous != reg && previous != shared {
                        self.forget(previous, index);
                    }
                    let (node, class) = (self.node, self.current[other]);
                    self.classes.overrides.push(Override { node, operand: index as u32, class });
                    return Ok(self.find(index));
                }
            }
        }
        if operand.role.is_def() && self.work.nodes[self.node as usize].inst.ends_block() {
            return Err(
                self.unsatisfiable("the definition of an instruction that ends a block clashes")
            );
        }
        let node = self.node;
        let segment = self.segment(index);
        let mut data = self.work.regs[virt(&operand).index()].data;
        data.demand = self.work.demand(&operand);
        let demand = data.demand;
        let ignores = self.work.nodes[node as usize].inst.ignores_mask();
        let row = self.classes.rows[demand.file.0 as usize];
        let class = self.classes.class.len() as u32;
        self.classes.parent.push(class);
        self.classes.class.push(Class {
            segments: SmallVec::from_slice(&[segment]),
            whole: !data.per_lane || (operand.role.is_def() && ignores),
            dormant: SmallVec::new(),
            weight: 0,
            phases: demand.phases.0 & operand.phases.0 & row_mask(row),
            pin: None,
            prefer: None,
            hint: NONE,
            unit: NONE,
            tiny: true,
            shape: Shape::of(&data),
        });
        if self.classes.class[class as usize].phases == 0 {
            return Err(self.unsatisfiable("no position in the row is left"));
        }
        // A second temporary of the operand replaces the first.
        let previous = self.current[index];
        if previous != reg {
            self.forget(previous, index);
        }
        let behind = operand.role.is_def();
        let (from, to) = if behind { (class, reg) } else { (reg, class) };
        if !(behind && self.is_dead(reg)) {
            self.classes.transfers.push(Transfer {
                node,
                behind,
                from,
                to,
                distance: self.work.distance(&operand),
            });
        }
        self.classes.overrides.push(Override { node, operand: index as u32, class });
        self.current[index] = class;
        Ok(class)
    }

    /// Whether nobody reads what the instruction writes to a register.
    fn is_dead(&mut self, reg: u32) -> bool {
        let (written, end) = (write(self.node), after(self.node) - 1);
        let root = self.classes.find(reg) as usize;
        let segments = &self.classes.class[root].segments;
        segments.iter().any(|segment| segment.start <= written && segment.end == end)
    }

    /// When the temporary of an operand lives.
    fn segment(&self, index: usize) -> Segment {
        let node = self.node;
        match self.operands[index].role {
            Role::Use => Segment { start: before(node), end: write(node) },
            Role::Def => Segment { start: write(node), end: after(node) },
            Role::EarlyDef => Segment { start: read(node), end: after(node) },
        }
    }

    /// Takes back a temporary that an operand of this instruction had.
    fn forget(&mut self, temporary: u32, index: usize) {
        let node = self.node;
        self.classes.transfers.retain_from_end(node, |transfer| {
            transfer.from != temporary && transfer.to != temporary
        });
        self.classes.overrides.retain_from_end(node, |over| over.class != temporary);
        let root = self.classes.find(temporary);
        if root != temporary {
            return;
        }
        // Where rows were joined, a register may have become part of the temporary's class: it stays.
        let segment = self.segment(index);
        let class = &mut self.classes.class[root as usize];
        remove(&mut class.segments, segment);
        let unit = class.unit;
        if class.segments.is_empty() && unit != NONE {
            self.classes.units[unit as usize].members.retain(|member| member.0 != root);
        }
    }

    /// Puts operands in one row, or in one run.
    fn together(&mut self, run: bool, members: &[(usize, u16)]) -> Result<(), Error> {
        let (first, first_offset) = members[0];
        let mut alone = false;
        if run {
            let (class, phases) = (self.find(first), self.phases(first));
            if !self.classes.restrict(class, phases) {
                self.temporary(first)?;
            }
        }
        for &(index, offset) in &members[1..] {
            let (base, class) = (self.find(first), self.find(index));
            let phases = self.phases(index);
            let wide = self.classes.class[class as usize].phases;
            if (!run || self.classes.restrict(class, phases))
                && self.beside(run, first, first_offset, index, offset)
            {
                continue;
            }
            if run && base != class {
                self.classes.class[class as usize].phases = wide;
            }
            self.temporary(index)?;
            if !self.beside(run, first, first_offset, index, offset) {
                alone = true;
                break;
            }
        }
        if run && members.len() == 1 {
            alone = !self.beside(run, first, first_offset, first, first_offset);
        }
        if !alone {
            return Ok(());
        }
        // Too entangled: all operands get registers of their own, which nothing else ties.
        for &(index, _) in members {
            self.temporary(index)?;
        }
        for &(index, offset) in &members[1..] {
            if !self.beside(run, first, first_offset, index, offset) {
                return Err(self.unsatisfiable("operands that must lie together do not fit"));
            }
        }
        Ok(())
    }

    /// Puts an operand beside the `first` of its set.
    fn beside(
        &mut self,
        run: bool,
        first: usize,
        first_offset: u16,
        index: usize,
        offset: u16,
    ) -> bool {
        let (base, class) = (self.find(first), self.find(index));
        if run {
            let from_class =
                |index: usize, offset: u16| i32::from(offset) - i32::from(self.distance(index));
            let (base_offset, offset) =
                (from_class(first, first_offset), from_class(index, offset));
            self.classes.beside_run(base, base_offset, class, offset)
        } else {
            base == class || self.classes.join_rows(base, class, false)
        }
    }

    /// Puts a definition where a use is.
    fn tie(&mut self, index: usize, to: usize) -> Result<(), Error> {
        let (def, used) = (self.find(index), self.find(to));
        if self.distance(index) == self.distance(to)
            && (def == used || self.classes.merge(used, def))
        {
            return Ok(());
        }
        if self.current[to] == virt(&self.operands[to]).as_u32() {
            self.temporary(to)?;
            let (def, used) = (self.find(index), self.find(to));
            if self.distance(index) == 0 && self.classes.merge(used, def) {
                return Ok(());
            }
        }
        self.temporary(index)?;
        let (def, used) = (self.find(index), self.find(to));
        if !self.classes.merge(used, def) {
            return Err(self.unsatisfiable("a definition cannot lie where its use is"));
        }
        Ok(())
    }
}

/// Removal from the end of a list that grows node by node.
trait RetainFromEnd<T> {
    fn retain_from_end(&mut self, node: u32, keep: impl Fn(&T) -> bool);
}

impl RetainFromEnd<Transfer> for Vec<Transfer> {
    fn retain_from_end(&mut self, node: u32, keep: impl Fn(&Transfer) -> bool) {
        let start = self.iter().rposition(|item| item.node != node).map_or(0, |k| k + 1);
        let tail: SmallVec<[Transfer; 8]> = self.drain(start..).filter(|item| keep(item)).collect();
        self.extend(tail);
    }
}

impl RetainFromEnd<Override> for Vec<Override> {
    fn retain_from_end(&mut self, node: u32, keep: impl Fn(&Override) -> bool) {
        let start = self.iter().rposition(|item| item.node != node).map_or(0, |k| k + 1);
        let tail: SmallVec<[Override; 8]> = self.drain(start..).filter(|item| keep(item)).collect();
        self.extend(tail);
    }
}

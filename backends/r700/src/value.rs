//! Translation validation by value numbering.
//!
//! What a run of operations with real registers leaves, as values that know no places: whether the steps between registers
//! and words (moves taken out, groups, clause temporaries) mean what the operations before them meant.
//!
//! A value is a number: what a cell held when the run began, a constant, or an operation on values. Equal operations on equal
//! values are equal, so two runs that leave equal numbers leave equal bits.

use crate::group::{Clause, Item, Range};
use crate::isa::{AluOp, Isa};
use crate::legal::TRANS;
use crate::live::Cells;
use crate::op::{self, Units};
use crate::slot::{Operand, Read, Slot, cell};
use crate::temporaries::FIRST;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A kind of value and what it is made of.
type Key = SmallVec<[u64; 12]>;

const CONSTANT: u64 = 0;
const OPERATION: u64 = 1;
const ELEMENT: u64 = 2;
const STORED: u64 = 3;

const CELLS: u16 = 512;
const TEMPORARIES: u16 = cell(FIRST, 0);

/// Numbers of values, the same for all runs that are compared.
pub struct Values {
    isa: &'static Isa,
    /// What cells hold when a run begins has the numbers of the cells.
    next: u64,
    numbers: BTreeMap<Key, u64>,
    /// Arrays that AR reaches into.
    ranges: Vec<Range>,
}

/// Values at one point of a run.
struct State {
    cells: Vec<u64>,
    address: u64,
    /// PV.x to PV.w and PS.
    left: [u64; 5],
}

/// What a run leaves.
pub struct Left {
    cells: Vec<u64>,
    /// Lanes that end, and the test that the run ends in.
    tests: Vec<u64>,
}

impl Left {
    /// Compares with what else a run leaves, as far as it matters.
    ///
    /// # Errors
    /// The first difference, in words.
    pub fn differs(&self, expected: &Left, live: &Cells) -> Result<(), String> {
        for at in (0..TEMPORARIES).filter(|&at| live.contains(at)) {
            let index = usize::from(at);
            if self.cells[index] != expected.cells[index] {
                let chan = ["x", "y", "z", "w"][index % 4];
                return Err(format!("R{}.{chan} holds another value behind it", at / 4));
            }
        }
        match self.tests == expected.tests {
            true => Ok(()),
            false => Err("other lanes go on behind it".into()),
        }
    }
}

fn fresh(next: &mut u64) -> u64 {
    *next += 1;
    *next - 1
}

impl Values {
    /// No value is known yet; `ranges` are the arrays of the run as it was first.
    pub fn new(isa: &'static Isa, mut ranges: Vec<Range>) -> Values {
        ranges.sort_unstable_by_key(|range| (range.chan, range.gpr, range.count));
        Values { isa, next: CELLS.into(), numbers: BTreeMap::new(), ranges }
    }

    fn number(&mut self, key: Key) -> u64 {
        let next = &mut self.next;
        *self.numbers.entry(key).or_insert_with(|| fresh(next))
    }

    /// A value that equals no other.
    fn nothing(&mut self) -> u64 {
        fresh(&mut self.next)
    }

    fn begin(&mut self) -> State {
        State {
            cells: (0..CELLS.into()).collect(),
            address: self.nothing(),
            left: [0; 5].map(|_| self.nothing()),
        }
    }

    /// The cells that AR reaches from here.
    fn reached(&self, gpr: u8, chan: u8) -> SmallVec<[u16; 16]> {
        let holds = |range: &&Range| {
            let rows = u16::from(range.gpr)..u16::from(range.gpr) + range.count;
            range.chan == chan && rows.contains(&gpr.into())
        };
        match self.ranges.iter().find(holds) {
            Some(range) => range.cells().filter(|&at| at < CELLS).collect(),
            None => SmallVec::from_slice(&[cell(gpr, chan)]),
        }
    }

    fn read(&mut self, state: &State, read: Read) -> u64 {
        let constant = |kind: u64, what: u64| Key::from_slice(&[CONSTANT, kind, what]);
        match read {
            Read::Gpr { gpr, chan, rel } => {
                if !rel {
                    return state.cells[usize::from(cell(gpr, chan))];
                }
                let place = u64::from(cell(gpr, chan));
                let mut key = Key::from_slice(&[ELEMENT, state.address, place]);
                let cells = self.reached(gpr, chan).into_iter();
                key.extend(cells.map(|at| state.cells[usize::from(at)]));
                self.number(key)
            }
            Read::Kcache { buffer, index, chan } => {
                let place = u64::from(buffer) << 32 | u64::from(index) << 8 | u64::from(chan);
                self.number(constant(0, place))
            }
            Read::Literal(bits) => self.number(constant(1, bits.into())),
            Read::Inline(operand) => self.number(constant(2, operand.sel().into())),
            Read::Pv(unit) => state.left[usize::from(unit)],
            Read::Ps => state.left[TRANS],
        }
    }

    /// The result of slots that compute together: one that says which of several results it is.
    fn operation(&mut self, state: &State, slots: &[Slot], result: usize) -> u64 {
        let first = &slots[0];
        if let ([slot], [source]) = (slots, first.sources())
            && *slot == Slot::new(AluOp::MOV, slot.dst, &[Operand::plain(source.read)])
        {
            return self.read(state, source.read);
        }
        let modifiers = u64::from(first.omod) << 1 | u64::from(first.clamp);
        let op = u64::from(first.op.id().0);
        let mut key = Key::from_slice(&[OPERATION, op, modifiers, result as u64]);
        for source in slots.iter().flat_map(|slot| slot.sources()) {
            let value = self.read(state, source.read);
            key.push(value << 2 | u64::from(source.neg) << 1 | u64::from(source.abs));
        }
        self.number(key)
    }

    /// Results of slots that compute together, one a slot.
    fn results(&mut self, state: &State, slots: &[Slot]) -> SmallVec<[u64; 4]> {
        let sum =
            op::units(self.isa, slots[0].op) == Units::Reduction && slots[0].op != AluOp::CUBE;
        (0..slots.len()).map(|k| self.operation(state, slots, if sum { 0 } else { k })).collect()
    }

    /// Writes what slots computed from the state before them.
    fn write(&mut self, state: &mut State, slots: &[(Slot, u64)], tests: &mut Vec<u64>) {
        let address = state.address;
        for &(slot, value) in slots {
            match slot.dst {
                Some(dst) if dst.rel => {
                    let place = u64::from(cell(dst.gpr, dst.chan));
                    for at in self.reached(dst.gpr, dst.chan) {
                        let cell = &mut state.cells[usize::from(at)];
                        let key = [STORED, *cell, address, place, value, at.into()];
                        *cell = self.number(Key::from_slice(&key));
                    }
                }
                Some(dst) => state.cells[usize::from(cell(dst.gpr, dst.chan))] = value,
                None if slot.op == AluOp::MOVA_INT => state.address = value,
                None if op::is_kill(slot.op) || op::is_pred_set(slot.op) => tests.push(value),
                None => {}
            }
        }
    }

    fn left(state: State, mut tests: Vec<u64>) -> Left {
        tests.sort_unstable();
        Left { cells: state.cells, tests }
    }

    /// What operations leave that run one after the other.
    pub fn of_items(&mut self, items: &[Item]) -> Left {
        let mut state = self.begin();
        let mut tests = Vec::new();
        for item in items {
            let results = self.results(&state, item.slots());
            let slots: SmallVec<[(Slot, u64); 4]> =
                item.slots().iter().copied().zip(results).collect();
            self.write(&mut state, &slots, &mut tests);
        }
        Values::left(state, tests)
    }

    /// What groups leave that run one after the other: the slots of each read what was before it.
    pub fn of_clauses(&mut self, clauses: &[Clause]) -> Left {
        let mut state = self.begin();
        let mut tests = Vec::new();
        for clause in clauses {
            // Results, AR and clause temporaries do not outlive a clause.
            state.address = self.nothing();
            state.left = [0; 5].map(|_| self.nothing());
            for at in TEMPORARIES..CELLS {
                state.cells[usize::from(at)] = self.nothing();
            }
            for packed in &clause.groups {
                let units = &packed.group.slots;
                let mut done: SmallVec<[(Slot, u64); 5]> = SmallVec::new();
                let mut left = [0; 5].map(|_| self.nothing());
                let mut unit = 0;
                while unit < units.len() {
                    let Some(slot) = units[unit] else {
                        unit += 1;
                        continue;
                    };
                    let together = match op::units(self.isa, slot.op) {
                        Units::Reduction | Units::Quad => 4,
                        Units::Pair => 2,
                        Units::Any | Units::Vector | Units::Trans => 1,
                    };
                    let slots: SmallVec<[Slot; 4]> = units[unit..units.len().min(unit + together)]
                        .iter()
                        .map_while(|slot| *slot)
                        .collect();
                    let results = self.results(&state, &slots);
                    for (k, (slot, value)) in slots.iter().zip(results).enumerate() {
                        left[unit + k] = value;
                        done.push((*slot, value));
                    }
                    unit += slots.len();
                }
                self.write(&mut state, &done, &mut tests);
                state.left = left;
            }
        }
        Values::left(state, tests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Chip;
    use crate::group::pack;
    use crate::isa::R700;
    use crate::slot::Dst;
    use gpucc_ir::ssa::Span;

    fn item(op: AluOp, dst: (u8, u8), sources: &[(u8, u8)]) -> Item {
        let sources: Vec<Operand> = sources.iter().map(|&(g, c)| Operand::gpr(g, c)).collect();
        Item::one(Slot::new(op, Some(Dst::gpr(dst.0, dst.1)), &sources), Span::NONE)
    }

    fn verdict(before: &[Item], after: &[Item]) -> Result<(), String> {
        let mut values = Values::new(&R700, Vec::new());
        let expected = values.of_items(before);
        let clauses = pack(after, Chip::Rv770, 0, false).expect("fits");
        values.of_items(after).differs(&expected, &Cells::ALL)?;
        values.of_clauses(&clauses).differs(&expected, &Cells::ALL)
    }

    #[test]
    fn groups_leave_what_their_operations_left() {
        let chain = [
            item(AluOp::ADD, (1, 0), &[(0, 0), (0, 1)]),
            item(AluOp::MUL_IEEE, (1, 1), &[(1, 0), (0, 0)]),
            item(AluOp::MOV, (0, 0), &[(1, 1)]),
            item(AluOp::MOV, (1, 2), &[(0, 0)]),
        ];
        assert_eq!(verdict(&chain, &chain), Ok(()));
        // The copy of a copy reads what the copy read.
        let mut forwarded = chain.clone();
        forwarded[3] = item(AluOp::MOV, (1, 2), &[(1, 1)]);
        assert_eq!(verdict(&chain, &forwarded), Ok(()));
    }

    #[test]
    fn a_move_that_is_missing_or_reads_too_late_is_seen() {
        let chain = [
            item(AluOp::ADD, (1, 0), &[(0, 0), (0, 1)]),
            item(AluOp::MOV, (0, 0), &[(1, 0)]),
            item(AluOp::MUL_IEEE, (1, 1), &[(0, 0), (0, 1)]),
        ];
        let said = verdict(&chain, &[chain[0].clone(), chain[2].clone()]);
        assert_eq!(said, Err("R0.x holds another value behind it".into()));
        let late = [chain[0].clone(), chain[2].clone(), chain[1].clone()];
        let said = verdict(&chain, &late);
        assert_eq!(said, Err("R1.y holds another value behind it".into()));
    }
}

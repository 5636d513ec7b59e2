//! Renaming of registers to clause temporaries.
//!
//! Values that begin and end within one ALU clause move to clause temporaries, which do not count as
//! registers of the program. R700 ISA 4.6.1.
//!
//! Only the number of a register changes, never its channel, and different registers stay different:
//! slots, read ports and PV stay as they were.

use crate::group::{Clause, Range};
use crate::live::Cells;
use crate::slot::Read;
use smallvec::{SmallVec, smallvec};

/// First clause temporary.
pub const FIRST: u8 = 124;
/// How many there are.
const COUNT: u8 = 4;

const NONE: u32 = u32::MAX;

/// One value of a cell within a clause.
#[derive(Clone, Debug)]
struct Value {
    cell: u16,
    /// The group that writes it, and the last that reads it.
    from: u32,
    to: u32,
    /// Where it is named: group, unit, and source (3 for the destination).
    names: SmallVec<[(u32, u8, u8); 4]>,
    local: bool,
}

/// Moves what it can in the clauses of one run; `live` is what matters behind the run, `ranges` what
/// indexed operations may touch. Registers from `limit` on are left alone.
pub fn run(clauses: &mut [Clause], live: Cells, ranges: &[Range], limit: u8) {
    let mut live = live;
    for clause in clauses.iter_mut().rev() {
        let values = values(clause, &live, ranges, limit);
        // Before this clause: what it reads first, and what it leaves alone.
        let mut before = live;
        for packed in clause.groups.iter().rev() {
            before.pass(packed.group.slots.iter().flatten());
        }
        for cell in ranges.iter().flat_map(|range| range.cells()) {
            before.insert(cell);
        }
        live = before;
        rename(clause, values);
    }
}

fn values(clause: &Clause, live: &Cells, ranges: &[Range], limit: u8) -> Vec<Value> {
    let mut fixed = Cells::NONE;
    for cell in ranges.iter().flat_map(|range| range.cells()) {
        fixed.insert(cell);
    }
    let mut values: Vec<Value> = Vec::new();
    // The number of the value that each cell holds.
    let mut current = [NONE; 512];
    for (at, packed) in clause.groups.iter().enumerate() {
        let at = at as u32;
        for (unit, slot) in packed.group.slots.iter().enumerate() {
            let Some(slot) = slot else { continue };
            for (index, source) in slot.sources().iter().enumerate() {
                if let Some(cell) = source.read.cell()
                    && let Some(value) = values.get_mut(current[usize::from(cell)] as usize)
                {
                    value.to = at;
                    value.names.push((at, unit as u8, index as u8));
                }
            }
        }
        for (unit, slot) in packed.group.slots.iter().enumerate() {
            if let Some(dst) = slot.and_then(|slot| slot.dst)
                && let Some(cell) = dst.cell()
            {
                current[usize::from(cell)] = values.len() as u32;
                values.push(Value {
                    cell,
                    from: at,
                    to: at + 1,
                    names: smallvec![(at, unit as u8, 3)],
                    local: !fixed.contains(cell) && dst.gpr < limit,
                });
            }
        }
    }
    for (number, value) in (0..).zip(&mut values) {
        let is_last = current[usize::from(value.cell)] == number;
        value.local &= !(is_last && live.contains(value.cell));
    }
    values
}

fn rename(clause: &mut Clause, mut values: Vec<Value>) {
    // The highest registers first: they decide how many the program needs.
    values.retain(|value| value.local);
    values.sort_by_key(|value| (std::cmp::Reverse(value.cell / 4), value.from));
    let mut taken: Vec<Vec<(u32, u32)>> = vec![Vec::new(); usize::from(COUNT) * 4];
    for value in values {
        let chan = value.cell % 4;
        let free = (0..COUNT).find(|&temp| {
            taken[usize::from(u16::from(temp) * 4 + chan)]
                .iter()
                .all(|&(from, to)| to <= value.from || value.to <= from)
        });
        let Some(temp) = free else { continue };
        taken[usize::from(u16::from(temp) * 4 + chan)].push((value.from, value.to));
        for (at, unit, place) in value.names {
            let group = &mut clause.groups[at as usize].group;
            let Some(slot) = &mut group.slots[usize::from(unit)] else {
                continue;
            };
            if place == 3 {
                if let Some(dst) = &mut slot.dst {
                    dst.gpr = FIRST + temp;
                }
            } else if let Read::Gpr { gpr, .. } = &mut slot.src[usize::from(place)].read {
                *gpr = FIRST + temp;
            }
        }
    }
}

#[cfg(test)]
mod tests;

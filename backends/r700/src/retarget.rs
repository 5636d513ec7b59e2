//! Copy elimination after register allocation.
//!
//! Plain moves that need not be: elements of arrays at known places, copies that the allocator could
//! not avoid. A move whose source dies with it becomes the destination of the operation that made the
//! source; who reads the result of a move reads its source; and a move that nobody reads goes.
//!
//! Within one run of ALU work, after registers are given and before groups are formed.

use crate::group::{Item, Work};
use crate::isa::{AluOp, Isa};
use crate::legal::Group;
use crate::live::Cells;
use crate::slot::{Dst, Operand, Read, Slot};

/// What is known of a cell while a run is walked.
#[derive(Copy, Clone, Default)]
struct Cell {
    /// The operation that wrote it last, if one operation alone may be told to write elsewhere.
    writer: Option<u32>,
    /// The last operation that read or wrote it.
    touched: u32,
    /// Reads since it was written.
    reads: u32,
}

/// Takes out what it can; `live` is what matters behind the run.
pub fn run(items: &mut Vec<Item>, live: &Cells, isa: &'static Isa) {
    let moves = items.iter().filter(|item| plain_move(item).is_some());
    if items.len() < 2 || moves.count() == 0 {
        return;
    }
    retarget(items, live);
    forward(items, isa);
    sweep(items, live);
}

/// What matters before an item, from what matters behind it.
fn step(item: &Item, needed: &mut Cells) {
    needed.pass(item.slots().iter());
    for cell in item.range.iter().flat_map(|range| range.cells()) {
        needed.insert(cell);
    }
}

/// Reads of a moved value become reads of what was moved, as long as it is still there.
fn forward(items: &mut [Item], isa: &'static Isa) {
    // The number of each cell's last write, and what it is a copy of: a register and its write then.
    let mut written = vec![0u32; 512];
    let mut copies: Vec<Option<(u16, u32)>> = vec![None; 512];
    for (at, item) in items.iter_mut().enumerate() {
        let original = |source: &Operand| {
            let (cell, write) = copies[usize::from(source.read.cell()?)]?;
            (written[usize::from(cell)] == write).then(|| Read::at(cell))
        };
        match &mut item.work {
            Work::One(slot) => {
                for source in &mut slot.src[..usize::from(slot.sources)] {
                    source.read = original(source).unwrap_or(source.read);
                }
            }
            Work::Double(slots) => {
                let mut next = slots.clone();
                for source in next.iter_mut().flat_map(|slot| &mut slot.src) {
                    source.read = original(source).unwrap_or(source.read);
                }
                if next != *slots && Group::of(isa).admit_double(0, &next).is_ok() {
                    *slots = next;
                }
            }
            Work::Four(slots) => {
                let mut next = **slots;
                for source in next.iter_mut().flat_map(|slot| &mut slot.src) {
                    source.read = original(source).unwrap_or(source.read);
                }
                // Eight sources may crowd a channel.
                if next != **slots && Group::of(isa).admit_reduction(&next).is_ok() {
                    **slots = next;
                }
            }
        }
        let now = at as u32 + 1;
        for dst in item.slots().iter().filter_map(|slot| slot.dst) {
            let range = item.range.filter(|_| dst.rel);
            let indexed = range.iter().flat_map(|range| range.cells());
            for cell in dst.cell().into_iter().chain(indexed) {
                written[usize::from(cell)] = now;
                copies[usize::from(cell)] = None;
            }
        }
        if let Some(moved) = plain_move(item)
            && moved.to != moved.from
        {
            let from = written[usize::from(moved.from)];
            copies[usize::from(moved.to)] = Some((moved.from, from));
        }
    }
}

/// Takes out moves whose result nobody reads.
fn sweep(items: &mut Vec<Item>, live: &Cells) {
    let mut needed = *live;
    let mut kept: Vec<bool> = vec![true; items.len()];
    for (at, item) in items.iter().enumerate().rev() {
        if let Some(moved) = plain_move(item)
            && (!needed.contains(moved.to) || moved.from == moved.to)
        {
            kept[at] = false;
            continue;
        }
        step(item, &mut needed);
    }
    let mut number = 0;
    items.retain(|_| {
        number += 1;
        kept[number - 1]
    });
}

/// Moves into the operation that made their source.
fn retarget(items: &mut Vec<Item>, live: &Cells) {
    // The next operation that writes each cell after a point, from the back: is the source dead?
    let mut dead_after: Vec<bool> = vec![false; items.len()];
    let mut needed = *live;
    for (at, item) in items.iter().enumerate().rev() {
        if let Some(moved) = plain_move(item) {
            dead_after[at] = !needed.contains(moved.from);
        }
        step(item, &mut needed);
    }
    let mut cells = vec![Cell::default(); 512];
    let mut gone: Vec<bool> = vec![false; items.len()];
    for at in 0..items.len() {
        if let Some(moved) = plain_move(&items[at])
            && dead_after[at]
        {
            let (from, to) = (usize::from(moved.from), usize::from(moved.to));
            let source = cells[from];
            if let Some(writer) = source.writer.filter(|_| source.reads == 0)
                && cells[to].touched <= writer + 1
                && let Work::One(slot) = &mut items[writer as usize].work
            {
                slot.dst = Some(moved.dst);
                gone[at] = true;
                cells[from].writer = None;
                cells[to] = Cell { writer: Some(writer), touched: at as u32 + 1, reads: 0 };
                continue;
            }
        }
        let item = &items[at];
        let now = at as u32 + 1;
        let sources = item.slots().iter().flat_map(Slot::sources);
        for cell in sources.filter_map(|source| source.read.cell()) {
            let cell = &mut cells[usize::from(cell)];
            cell.touched = now;
            cell.reads += 1;
        }
        for cell in item.range.iter().flat_map(|range| range.cells()) {
            cells[usize::from(cell)] = Cell { writer: None, touched: now, reads: 1 };
        }
        let alone = matches!(item.work, Work::One(_));
        for cell in item.slots().iter().filter_map(|slot| slot.dst?.cell()) {
            cells[usize::from(cell)] =
                Cell { writer: alone.then_some(at as u32), touched: now, reads: 0 };
        }
    }
    let mut number = 0;
    items.retain(|_| {
        number += 1;
        !gone[number - 1]
    });
}

/// A move of one register to another that changes nothing.
struct Move {
    dst: Dst,
    from: u16,
    to: u16,
}

fn plain_move(item: &Item) -> Option<Move> {
    let Work::One(slot) = &item.work else {
        return None;
    };
    let Operand { read, neg, abs } = slot.src[0];
    let plain = slot.op == AluOp::MOV && !slot.clamp && slot.omod == 0 && !neg && !abs;
    let dst = slot.dst.filter(|_| plain && item.range.is_none())?;
    Some(Move { dst, from: read.cell()?, to: dst.cell()? })
}

#[cfg(test)]
mod tests;

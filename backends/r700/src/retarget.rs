//! Plain moves that need not be: elements of arrays at known places, copies that the allocator could
//! not avoid. A move whose source dies with it becomes the destination of the operation that made the
//! source; who reads the result of a move reads its source; and a move that nobody reads goes.
//!
//! Within one run of ALU work, after registers are given and before groups are formed.

use crate::group::{Item, Work};
use crate::isa::{AluOp, Isa};
use crate::legal::Group;
use crate::live::Cells;
use crate::slot::{Dst, Operand, Read};

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

const fn index(gpr: u8, chan: u8) -> usize {
    gpr as usize * 4 + chan as usize
}

/// What matters before an item, from what matters behind it.
fn step(item: &Item, needed: &mut Cells) {
    for slot in item.slots() {
        if let Some(dst) = slot.dst.filter(|dst| !dst.rel) {
            needed.remove(index(dst.gpr, dst.chan) as u16);
        }
    }
    for source in item.slots().iter().flat_map(|slot| slot.sources()) {
        if let Read::Gpr {
            gpr,
            chan,
            rel: false,
        } = source.read
        {
            needed.insert(index(gpr, chan) as u16);
        }
    }
    if let Some(range) = item.range {
        for row in 0..range.count {
            needed.insert(index(range.gpr, range.chan) as u16 + 4 * row);
        }
    }
}

/// Reads of a moved value become reads of what was moved, as long as it is still there.
fn forward(items: &mut [Item], isa: &'static Isa) {
    // The number of each cell's last write, and what it is a copy of: a register and its write then.
    let mut written = vec![0u32; 512];
    let mut copies: Vec<Option<(u8, u8, u32)>> = vec![None; 512];
    for (at, item) in items.iter_mut().enumerate() {
        let original = |source: &Operand| match source.read {
            Read::Gpr {
                gpr,
                chan,
                rel: false,
            } => copies[index(gpr, chan)]
                .filter(|&(from, of, write)| written[index(from, of)] == write)
                .map(|(gpr, chan, _)| Read::Gpr {
                    gpr,
                    chan,
                    rel: false,
                }),
            _ => None,
        };
        match &mut item.work {
            Work::One(slot) => {
                for source in &mut slot.src[..usize::from(slot.sources)] {
                    source.read = original(source).unwrap_or(source.read);
                }
            }
            Work::Four(slots) => {
                let mut next = *slots;
                for source in next.iter_mut().flat_map(|slot| &mut slot.src) {
                    source.read = original(source).unwrap_or(source.read);
                }
                // Eight sources may crowd a channel.
                if next != *slots && Group::of(isa).admit_reduction(&next).is_ok() {
                    *slots = next;
                }
            }
        }
        let now = at as u32 + 1;
        for dst in item.slots().iter().filter_map(|slot| slot.dst) {
            if !dst.rel {
                written[index(dst.gpr, dst.chan)] = now;
                copies[index(dst.gpr, dst.chan)] = None;
            } else if let Some(range) = item.range {
                for row in 0..usize::from(range.count) {
                    written[index(range.gpr, range.chan) + 4 * row] = now;
                    copies[index(range.gpr, range.chan) + 4 * row] = None;
                }
            }
        }
        if let Some((dst, (gpr, chan))) = plain_move(item)
            && (dst.gpr, dst.chan) != (gpr, chan)
        {
            copies[index(dst.gpr, dst.chan)] = Some((gpr, chan, written[index(gpr, chan)]));
        }
    }
}

/// Takes out moves whose result nobody reads.
fn sweep(items: &mut Vec<Item>, live: &Cells) {
    let mut needed = *live;
    let mut kept: Vec<bool> = vec![true; items.len()];
    for (at, item) in items.iter().enumerate().rev() {
        if let Some((dst, source)) = plain_move(item) {
            let cell = index(dst.gpr, dst.chan) as u16;
            if !needed.contains(cell) || source == (dst.gpr, dst.chan) {
                kept[at] = false;
                continue;
            }
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
        if let Some((_, (gpr, chan))) = plain_move(item) {
            dead_after[at] = !needed.contains(index(gpr, chan) as u16);
        }
        step(item, &mut needed);
    }
    let mut cells = vec![Cell::default(); 512];
    let mut gone: Vec<bool> = vec![false; items.len()];
    for at in 0..items.len() {
        if let Some((dst, (gpr, chan))) = plain_move(&items[at])
            && dead_after[at]
        {
            let source = cells[index(gpr, chan)];
            let target = cells[index(dst.gpr, dst.chan)];
            if let Some(writer) = source.writer.filter(|_| source.reads == 0)
                && target.touched <= writer + 1
                && let Work::One(slot) = &mut items[writer as usize].work
            {
                slot.dst = Some(dst);
                gone[at] = true;
                cells[index(gpr, chan)] = Cell {
                    writer: None,
                    ..source
                };
                cells[index(dst.gpr, dst.chan)] = Cell {
                    writer: Some(writer),
                    touched: at as u32 + 1,
                    reads: 0,
                };
                continue;
            }
        }
        let item = &items[at];
        let now = at as u32 + 1;
        for slot in item.slots() {
            for source in slot.sources() {
                if let Read::Gpr {
                    gpr,
                    chan,
                    rel: false,
                } = source.read
                {
                    let cell = &mut cells[index(gpr, chan)];
                    cell.touched = now;
                    cell.reads += 1;
                }
            }
        }
        if let Some(range) = item.range {
            for row in 0..range.count {
                cells[index(range.gpr, range.chan) + 4 * usize::from(row)] = Cell {
                    writer: None,
                    touched: now,
                    reads: 1,
                };
            }
        }
        let alone = matches!(item.work, Work::One(_));
        for slot in item.slots() {
            if let Some(dst) = slot.dst.filter(|dst| !dst.rel) {
                cells[index(dst.gpr, dst.chan)] = Cell {
                    writer: alone.then_some(at as u32),
                    touched: now,
                    reads: 0,
                };
            }
        }
    }
    let mut number = 0;
    items.retain(|_| {
        number += 1;
        !gone[number - 1]
    });
}

/// A move of one register to another that changes nothing.
fn plain_move(item: &Item) -> Option<(Dst, (u8, u8))> {
    let Work::One(slot) = &item.work else {
        return None;
    };
    let source = slot.src[0];
    let plain =
        slot.op == AluOp::MOV && !slot.clamp && slot.omod == 0 && !source.neg && !source.abs;
    let dst = slot
        .dst
        .filter(|dst| plain && !dst.rel && item.range.is_none())?;
    match source.read {
        Read::Gpr {
            gpr,
            chan,
            rel: false,
        } => Some((dst, (gpr, chan))),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

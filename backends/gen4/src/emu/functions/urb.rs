//! The unified return buffer, as threads write to it. G45 vol. 4, chapter 8.

use super::super::memory::Refused;
use super::super::message::{Message, Register, Reply, Unit};
use super::super::rule::Rule;
use super::{Context, Entry, Functions, defined};

impl Functions<'_> {
    /// A write to entries, and what the unit of the thread is told of them. Bit 12 is of setup threads where pixels are dispatched
    /// in two ways, which no state here is; it is ignored elsewhere, and by the 965.
    ///
    /// # Errors
    /// The message is none of the URB, or does not fit the thread's entry.
    pub(super) fn urb(&mut self, message: &Message<'_>) -> Result<Reply, Refused> {
        let bits = message.descriptor;
        let (complete, used) = (bits >> 15 & 1 == 1, bits >> 14 & 1 == 1);
        let (allocate, swizzle) = (bits >> 13 & 1 == 1, bits >> 10 & 3);
        let offset = (bits >> 4 & 63) as usize;
        let unit = message.sender.unit;
        if matches!(unit, Unit::Media | Unit::Pixel) {
            return Err((Rule::UrbUnit, format!("a {unit:?} thread writes to the URB")));
        }
        let form = |what: &str| Err((Rule::UrbForm, format!("{what} of {:#06x}", bits & 0xffff)));
        if bits & 15 != 0 {
            return form("the opcode");
        }
        let data = message.payload.get(1..).unwrap_or(&[]);
        let clips = matches!(unit, Unit::Clip | Unit::Geometry);
        if message.response != u32::from(allocate) {
            return form("the reply");
        }
        if allocate && (!clips || message.end_of_thread) {
            return Err((Rule::UrbAllocate, format!("a {unit:?} thread allocates")));
        }
        // Bit 14 means nothing in a message that does not complete.
        if complete && !used && !clips {
            return Err((Rule::UrbComplete, format!("an entry of {unit:?} is of no use")));
        }
        let two = match swizzle {
            0 => false,
            // Two entries, of which a thread of primitives has one at a time.
            1 if unit != Unit::Vertex => {
                return Err((Rule::UrbHandle, format!("a {unit:?} thread has no second entry")));
            }
            1 if data.len() < 2 => return form("the registers of an interleaved message"),
            1 => true,
            2 if unit != Unit::Setup => return form("the swizzle of coefficients"),
            2 if !data.len().is_multiple_of(3) || !offset.is_multiple_of(2) => {
                return form("the registers or the offset of a transposed message");
            }
            2 => false,
            _ => return form("the swizzle"),
        };
        let enabled = message.enabled;
        let context = self.context(message.sender)?;
        let open = context.entries.iter().any(|entry| !entry.complete);
        if !complete && (allocate || message.end_of_thread) && (open || !data.is_empty()) {
            // Valid where all entries are complete, and as a write of nothing. 8.4.2, the table of combinations.
            let rule = if allocate { Rule::UrbAllocate } else { Rule::UrbComplete };
            return Err((rule, "the thread has an entry that is not complete".into()));
        }
        if complete || !data.is_empty() {
            let count = if two { context.entries.len().min(2) } else { 1 };
            let first = named(context, message.payload)?;
            if two && count == 2 {
                let second = defined(message.payload, 0, 1)?;
                if context.entries[1].handle != second {
                    return Err((Rule::UrbHandle, format!("handle {second:#x}")));
                }
            }
            let entries = match two {
                true => &mut context.entries[..count],
                false => &mut context.entries[first..=first],
            };
            write(entries, data, (swizzle, offset), enabled)?;
            if complete {
                let primitive = primitive(message.payload, clips, used)?;
                for entry in entries {
                    (entry.complete, entry.used, entry.primitive) = (true, used, primitive);
                }
            }
        }
        if message.end_of_thread && context.entries.iter().any(|entry| !entry.complete) {
            return Err((Rule::UrbComplete, "the thread ends with an entry that it left".into()));
        }
        let mut reply = Reply::default();
        if allocate {
            let room = context.entries.last().map_or(0, |entry| entry.rows.len());
            if context.entries.len() > usize::from(u16::MAX) {
                return Err((Rule::UrbAllocate, "entries are used up".into()));
            }
            let words = [context.give(room), 0, 0, 0, 0, 0, 0, 0];
            reply.registers.push((Register::new(words), 0xff));
        }
        Ok(reply)
    }
}

/// The entry that a header names first, which is open: its place among the thread's.
fn named(context: &Context, payload: &[Register]) -> Result<usize, Refused> {
    let handle = defined(payload, 0, 0)?;
    let found = context.entries.iter().rposition(|entry| entry.handle == handle);
    match found {
        Some(at) if !context.entries[at].complete => Ok(at),
        Some(_) => Err((Rule::UrbComplete, format!("handle {handle:#x}"))),
        None => Err((Rule::UrbHandle, format!("handle {handle:#x}"))),
    }
}

/// What a header says of a vertex's place: PrimType, PrimStart and PrimEnd, which are reserved in threads that end no primitives.
/// A vertex of no use has none.
fn primitive(payload: &[Register], clips: bool, used: bool) -> Result<u32, Refused> {
    match (clips, used) {
        (true, true) => Ok(defined(payload, 0, 2)? & 0x7f),
        (true, false) => Ok(0),
        // What the unit itself handed out in r0 is not the thread's to clear: nothing says what a setup thread has there.
        (false, _) => match defined(payload, 0, 2) {
            Ok(word) if word & 0x7f != 0 => {
                Err((Rule::UrbForm, format!("word 2 of the header is {word:#x}")))
            }
            _ => Ok(0),
        },
    }
}

/// Puts registers into rows of entries, by the swizzle from a row on.
fn write(
    entries: &mut [Entry],
    data: &[Register],
    (swizzle, offset): (u32, usize),
    enabled: u16,
) -> Result<(), Refused> {
    let rows = match swizzle {
        0 => data.len(),
        1 => data.len().div_ceil(2),
        _ => data.len() / 3 * 4,
    };
    let room = entries.first().map_or(0, |entry| entry.rows.len());
    if offset + rows > room {
        let what = format!("rows {offset} to {} of {room}", offset + rows);
        return Err((Rule::UrbBounds, what));
    }
    for (index, register) in data.iter().enumerate() {
        if swizzle != 1 {
            whole(register)?;
        }
        for (vertex, entry) in entries.iter_mut().enumerate() {
            match swizzle {
                0 => entry.rows[offset + index] = *register,
                1 => {
                    let row = &mut entry.rows[offset + index / 2];
                    for word in (0..4).filter(|word| enabled >> (4 * vertex + word) & 1 == 1) {
                        let value = defined(data, index, 4 * vertex + word)?;
                        set(row, 4 * (index % 2) + word, value);
                    }
                }
                _ => {
                    // Three registers are Cx, Cy and C0 of eight components. Tables 8-1, 8-2.
                    let (part, base) = ([0, 1, 3][index % 3], offset + index / 3 * 4);
                    for component in 0..8 {
                        let row = &mut entry.rows[base + component / 2];
                        let at = component % 2 * 4;
                        set(row, at + part, register.words[component]);
                        set(row, at + 2, 0);
                    }
                }
            }
        }
    }
    Ok(())
}

fn set(row: &mut Register, word: usize, value: u32) {
    row.words[word] = value;
    row.undefined &= !(15 << (4 * word));
}

/// A register whose channels are all read.
fn whole(register: &Register) -> Result<(), Refused> {
    match register.undefined {
        0 => Ok(()),
        undefined => {
            let word = undefined.trailing_zeros() / 4;
            Err((Rule::Undefined, format!("word {word} of a register for the URB")))
        }
    }
}

//! The unified return buffer, as threads write to it. G45 vol. 4, chapter 8.

use super::super::memory::Refused;
use super::super::message::{Message, Register, Reply, Unit};
use super::super::rule::Rule;
use super::{Entry, Functions, defined};

impl Functions<'_> {
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
        if bits & 15 != 0 || bits >> 12 & 1 != 0 {
            return form("the opcode");
        }
        let data = message.payload.get(1..).unwrap_or(&[]);
        let clips = matches!(unit, Unit::Clip | Unit::Geometry);
        if message.response != u32::from(allocate) {
            return form("the reply");
        }
        if allocate && (!clips || !complete || message.end_of_thread) {
            return Err((Rule::UrbAllocate, format!("a {unit:?} thread allocates")));
        }
        if !used && !clips {
            return Err((Rule::UrbComplete, format!("an entry of {unit:?} is of no use")));
        }
        if used && data.is_empty() {
            return form("the registers");
        }
        let pairs = match swizzle {
            0 => false,
            1 if data.len() < 2 => return form("the registers of an interleaved message"),
            1 => true,
            2 if !data.len().is_multiple_of(3) || !offset.is_multiple_of(2) => {
                return form("the registers or the offset of a transposed message");
            }
            2 => false,
            _ => return form("the swizzle"),
        };
        // A thread of primitives has one vertex at a time, in the lower channels. 8.4.2.
        let two = pairs && !clips;
        if pairs && clips && message.enabled & 0xf0 != 0 {
            return Err((Rule::UrbHandle, format!("a second vertex of a {unit:?} thread")));
        }
        let handles = [
            defined(message.payload, 0, 0)? & 0xffff,
            match two {
                true => defined(message.payload, 0, 1)? & 0xffff,
                false => 0,
            },
        ];
        let primitive = if clips && used { defined(message.payload, 0, 2)? & 0x7f } else { 0 };
        let enabled = message.enabled;
        let context = self.context(message.sender)?;
        let open = context.entries.iter().rposition(|entry| u32::from(entry.handle) == handles[0]);
        let Some(first) = open.filter(|at| !context.entries[*at].complete) else {
            let rule = if open.is_some() { Rule::UrbComplete } else { Rule::UrbHandle };
            return Err((rule, format!("handle {:#x}", handles[0])));
        };
        let count = match two {
            true => context.entries.len().min(2),
            false => 1,
        };
        if two && count == 2 && u32::from(context.entries[1].handle) != handles[1] {
            return Err((Rule::UrbHandle, format!("handle {:#x}", handles[1])));
        }
        let rows = match swizzle {
            0 => data.len(),
            1 => data.len().div_ceil(2),
            _ => data.len() / 3 * 4,
        };
        let room = context.entries[first].rows.len();
        if offset + rows > room {
            let what = format!("rows {offset} to {} of {room}", offset + rows);
            return Err((Rule::UrbBounds, what));
        }
        for (index, register) in data.iter().enumerate() {
            match swizzle {
                0 => {
                    whole(register)?;
                    context.entries[first].rows[offset + index] = *register;
                }
                1 => {
                    for vertex in 0..count {
                        let at = if two { vertex } else { first };
                        let row = &mut context.entries[at].rows[offset + index / 2];
                        for word in 0..4 {
                            let bit = 4 * vertex + word;
                            if enabled >> bit & 1 == 1 {
                                let value = defined(data, index, bit)?;
                                set(row, 4 * (index % 2) + word, value);
                            }
                        }
                    }
                }
                _ => {
                    whole(register)?;
                    // Three registers are Cx, Cy and C0 of eight components. Tables 8-1, 8-2.
                    let (part, base) = ([0, 1, 3][index % 3], offset + index / 3 * 4);
                    for component in 0..8 {
                        let row = &mut context.entries[first].rows[base + component / 2];
                        let at = component % 2 * 4;
                        set(row, at + part, register.words[component]);
                        set(row, at + 2, 0);
                    }
                }
            }
        }
        let last = if two { count } else { first + 1 };
        let from = if two { 0 } else { first };
        for entry in &mut context.entries[from..last] {
            entry.complete = complete;
            entry.used = used;
            entry.primitive = primitive;
        }
        if message.end_of_thread && context.entries.iter().any(|entry| !entry.complete) {
            return Err((Rule::UrbComplete, "the thread ends with an entry that it left".into()));
        }
        let mut reply = Reply::default();
        if allocate {
            let handle = context.entries.iter().map(|entry| entry.handle).max().unwrap_or(0);
            let Some(handle) = handle.checked_add(1) else {
                return Err((Rule::UrbAllocate, "entries are used up".into()));
            };
            context.entries.push(Entry::new(handle, room));
            let words = [u32::from(handle), 0, 0, 0, 0, 0, 0, 0];
            reply.registers.push((Register::new(words), 0xff));
        }
        Ok(reply)
    }
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

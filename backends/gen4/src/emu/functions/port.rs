//! The data port: blocks of OWords, pairs of them, scattered double words, flushes. G45 vol. 4, 5.10.

use super::super::Model;
use super::super::memory::{Refused, Through};
use super::super::message::{Message, Register, Reply};
use super::super::rule::Rule;
use super::super::surface::{self, Kind};
use super::{Functions, defined};

/// The entry that stands for memory without a surface.
const STATELESS: u32 = 255;

/// What a message reaches: a surface, or all of General State.
#[derive(Copy, Clone, Debug)]
struct Reach {
    base: u32,
    /// Bytes from the base.
    bytes: u64,
}

/// The forms that reads and writes share.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Form {
    /// OWords, and whether a single one is in the upper half.
    Block(u32, bool),
    Pair,
    /// Channels.
    Scattered(u32),
}

impl Form {
    /// Registers that are read or written.
    const fn registers(self) -> usize {
        match self {
            Form::Block(words, _) => (words as usize).div_ceil(2),
            Form::Pair => 1,
            Form::Scattered(channels) => channels as usize / 8,
        }
    }

    /// Registers in front of data.
    const fn ahead(self) -> usize {
        match self {
            Form::Block(..) => 1,
            Form::Pair => 2,
            Form::Scattered(channels) => 1 + channels as usize / 8,
        }
    }
}

/// A form by the number that writes have. 5.10.1.
fn form(kind: u32, control: u32) -> Result<Form, Refused> {
    let control_refused = || Err((Rule::PortType, format!("control {control} of type {kind}")));
    match (kind, control) {
        (0, 0 | 1) => Ok(Form::Block(1, control == 1)),
        (0, 2..=4) => Ok(Form::Block(1 << (control - 1), false)),
        (1, 0) => Ok(Form::Pair),
        (3, 2 | 3) => Ok(Form::Scattered(8 * (control - 1))),
        (0 | 1 | 3, _) => control_refused(),
        (2, _) => Err((Rule::NotBuilt, "media blocks".into())),
        _ => Err((Rule::PortType, format!("type {kind}"))),
    }
}

impl Functions<'_> {
    /// # Errors
    /// The message is none of the read port, or an access is refused.
    pub(super) fn port_read(&mut self, message: &Message<'_>) -> Result<Reply, Refused> {
        let bits = message.descriptor;
        let (kind, control) = match self.model {
            Model::I965 | Model::Gm965 => (bits >> 12 & 3, bits >> 8 & 15),
            // The numbers of G45 stand for those of writes.
            Model::G45 => match bits >> 11 & 7 {
                0 => (0, bits >> 8 & 7),
                2 => (1, bits >> 8 & 7),
                4 => (2, bits >> 8 & 7),
                6 => (3, bits >> 8 & 7),
                other => return Err((Rule::PortType, format!("read type {other}"))),
            },
        };
        let form = form(kind, control)?;
        let through = match bits >> 14 & 3 {
            1 => Through::Render,
            3 => return Err((Rule::PortType, "cache 3".into())),
            _ => Through::Other,
        };
        if message.payload.len() != form.ahead() || message.response as usize != form.registers() {
            let what = format!("{} and {} registers", message.payload.len(), message.response);
            return Err((Rule::PortForm, what));
        }
        let reach = self.reach(message, form, through)?;
        let mut reply = Reply { registers: vec![(Register::UNDEFINED, 0); form.registers()] };
        for (place, address) in self.places(message, form, reach, false)? {
            if self.context(message.sender)?.uncommitted.contains(&(address & !3)) {
                let what = format!("the word at {address:#x} was written without a commit");
                return Err((Rule::Uncommitted, what));
            }
            let (word, undefined) = self.memory.word(address, through)?;
            let Some((register, written)) = reply.registers.get_mut(place / 8) else { continue };
            let lane = place % 8;
            register.words[lane] = word;
            register.undefined &= !(15 << (4 * lane));
            register.undefined |= u32::from(undefined) << (4 * lane);
            *written |= 1 << lane;
        }
        Ok(reply)
    }

    /// # Errors
    /// The message is none of the write port, or an access is refused.
    pub(super) fn port_write(&mut self, message: &Message<'_>) -> Result<Reply, Refused> {
        let bits = message.descriptor;
        let (kind, control, commit) = (bits >> 12 & 7, bits >> 8 & 15, bits >> 15 & 1 == 1);
        if message.response != u32::from(commit) {
            let what = format!("{} registers of a commit", message.response);
            return Err((Rule::PortForm, what));
        }
        // A commit leaves its register as it is.
        let reply =
            Reply { registers: if commit { vec![(Register::UNDEFINED, 0)] } else { Vec::new() } };
        match kind {
            4 => return self.target(message).map(|()| reply),
            7 => {
                if message.payload.len() != 1 {
                    return Err((Rule::PortForm, "a flush has a header alone".into()));
                }
                self.memory.flush();
                self.textures.clear();
                if commit {
                    self.context(message.sender)?.uncommitted.clear();
                }
                return Ok(reply);
            }
            _ => {}
        }
        let form = form(kind, control)?;
        if message.payload.len() != form.ahead() + form.registers() {
            let what = format!("{} registers", message.payload.len());
            return Err((Rule::PortForm, what));
        }
        let reach = self.reach(message, form, Through::Render)?;
        let mut written = Vec::new();
        for (place, address) in self.places(message, form, reach, true)? {
            let value = defined(message.payload, form.ahead() + place / 8, place % 8)?;
            self.memory.render(address, &value.to_le_bytes())?;
            written.push(address & !3);
        }
        let uncommitted = &mut self.context(message.sender)?.uncommitted;
        if commit {
            // Messages of one thread to one function are done in order. 14.2.44.
            uncommitted.clear();
        } else {
            uncommitted.extend(written);
        }
        Ok(reply)
    }

    /// What the entry of the binding table names.
    fn reach(
        &mut self,
        message: &Message<'_>,
        form: Form,
        through: Through,
    ) -> Result<Reach, Refused> {
        let entry = message.descriptor & 0xff;
        let (model, bases) = (self.model, *self.bases);
        if entry == STATELESS {
            let word = defined(message.payload, 0, 5)?;
            let context = self.context(message.sender)?;
            let (base, bytes) = context.scratch;
            let from = word & !0x3ff;
            let own = from == base && bytes > 0;
            let bytes = if own { u64::from(bytes) } else { u64::from(!from) + 1 };
            return Ok(Reach { base: bases.general.wrapping_add(from), bytes });
        }
        let table = self.context(message.sender)?.table;
        let found = surface::entry(model, self.memory, bases.surface, table, entry)?;
        let refused = |what: &str| Err((Rule::PortSurface, format!("{what} of entry {entry}")));
        if found.kind != Kind::Buffer {
            return refused("the type");
        }
        let unit = if matches!(form, Form::Scattered(_)) { 4 } else { 16 };
        if found.base % unit != 0 {
            return refused("the base");
        }
        if through == Through::Render && !found.read_write {
            return Err((Rule::PortMode, format!("entry {entry} is for writes alone")));
        }
        // The size is one of elements of 16 bytes, whatever the pitch. 5.10.2 to 5.10.5.
        Ok(Reach { base: found.base, bytes: 16 * u64::from(found.width) })
    }

    /// Double words of registers, by their place, and where they are in memory. Bit by bit of the mask where
    /// something is written, whole OWords where a block is read.
    fn places(
        &mut self,
        message: &Message<'_>,
        form: Form,
        reach: Reach,
        writes: bool,
    ) -> Result<Vec<(usize, u32)>, Refused> {
        let enabled = |bit: usize| message.enabled >> (bit & 15) & 1 == 1;
        // Any channel of four stands for an OWord that is read.
        let takes = |bit: usize| match writes {
            true => enabled(bit),
            false => (bit & !3..(bit & !3) + 4).any(enabled),
        };
        let global = defined(message.payload, 0, 2)?;
        let mut places = Vec::new();
        let mut put = |place: usize, offset: u32| {
            let end = u64::from(offset) + 4;
            if end > reach.bytes {
                let what = format!("byte {offset:#x} of {:#x} bytes", reach.bytes);
                return Err((Rule::PortBounds, what));
            }
            places.push((place, reach.base.wrapping_add(offset)));
            Ok(())
        };
        let aligned = |offset: u32, unit: u32| match offset % unit {
            0 => Ok(()),
            _ => Err((Rule::PortAligned, format!("offset {offset:#x}"))),
        };
        match form {
            Form::Block(1, upper) => {
                aligned(global, 16)?;
                let half = if upper { 4 } else { 0 };
                let beyond = message.enabled & 0xff & !(0xf << half);
                if self.model.is_early() && beyond != 0 {
                    let what = format!("channels {:#04x}", message.enabled & 0xff);
                    return Err((Rule::PortMask, what));
                }
                for dword in (0..4).filter(|dword| takes(half + dword)) {
                    put(half + dword, global.wrapping_add(4 * dword as u32))?;
                }
            }
            Form::Block(words, _) => {
                aligned(global, 16)?;
                // The second register has the upper eight bits, the third the lower again.
                for place in (0..4 * words as usize).filter(|place| takes(*place)) {
                    put(place, global.wrapping_add(4 * place as u32))?;
                }
            }
            Form::Pair => {
                aligned(global, 16)?;
                for block in 0..2 {
                    let channels = (4 * block..4 * block + 4).filter(|bit| takes(*bit));
                    let channels: Vec<usize> = channels.collect();
                    if channels.is_empty() {
                        continue;
                    }
                    // The global offset is added to the offset of each block. 5.10.3.
                    let own = defined(message.payload, 1, 4 * block)?;
                    aligned(own, 16)?;
                    let offset = global.wrapping_add(own);
                    for place in channels {
                        put(place, offset.wrapping_add(4 * (place as u32 & 3)))?;
                    }
                }
            }
            Form::Scattered(channels) => {
                aligned(global, 4)?;
                for channel in (0..channels as usize).filter(|channel| enabled(*channel)) {
                    let offset = defined(message.payload, 1 + channel / 8, channel % 8)?;
                    aligned(offset, 4)?;
                    put(channel, global.wrapping_add(offset))?;
                }
            }
        }
        Ok(places)
    }
}

//! The vertex shader's unit: two vertices a thread, which write their URB entry anew. isa/gen4-pipeline.md 3, 9.2.

use super::super::dispatch::{Job, Limits};
use super::super::functions::{Entry, Pool};
use super::super::memory::Refused;
use super::super::message::{Register, Unit};
use super::super::rule::{Rule, Trap};
use super::super::run::Run;
use super::super::state::SECTIONS;
use super::pixel::rows;
use super::unit::UnitState;
use super::{Gpu, media};

/// Words of VS_STATE.
const WORDS: u32 = 7;

/// The URB entries of a unit.
#[derive(Copy, Clone, Debug)]
pub struct Entries {
    pub count: u32,
    pub rows: usize,
    pub threads: u32,
}

impl Entries {
    /// As threads name them.
    pub fn pool(self) -> Pool {
        Pool { count: self.count, units: self.rows as u32 / 2 }
    }

    /// From word 4 of a unit's state.
    ///
    /// # Errors
    /// They do not fit their section, or there are more threads than the unit has.
    pub fn of(gpu: &Gpu, word: u32, section: usize, most: u32) -> Result<Entries, Refused> {
        let (count, size) = (word >> 11 & 0xff, (word >> 19 & 31) + 1);
        let threads = (word >> 25 & 63) + 1;
        let refused = |rule, what: &str| Err((rule, format!("{what} of section {section}")));
        if threads > most || count == 0 {
            return refused(Rule::ThreadState, "the threads or entries");
        }
        let fences: [u32; SECTIONS] = match gpu.state.fences {
            Some(fences) => fences,
            None => return refused(Rule::Fences, "no URB_FENCE was sent: the end"),
        };
        let from = if section == 0 { 0 } else { fences[section - 1] };
        if count * size > fences[section].saturating_sub(from) {
            return refused(Rule::Fences, "the entries");
        }
        Ok(Entries { count, rows: 2 * size as usize, threads })
    }
}

/// An entry as a thread left it, up to the last row that has anything.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Left {
    /// What nobody wrote is 0xdeadbeef.
    bytes: Vec<u8>,
    /// A bit for each byte of each row that nobody wrote; rows behind these are written.
    undefined: Vec<u32>,
}

impl From<Vec<u8>> for Left {
    fn from(bytes: Vec<u8>) -> Left {
        Left { bytes, undefined: Vec::new() }
    }
}

impl Left {
    /// A doubleword that fixed function reads.
    ///
    /// # Errors
    /// The entry does not have it, or nobody wrote it.
    pub fn word(&self, word: usize) -> Result<u32, Refused> {
        let row = self.undefined.get(word / 8).copied().unwrap_or(0);
        if row >> (4 * (word % 8)) & 15 != 0 {
            return Err((Rule::Undefined, format!("nobody wrote word {word} of a vertex")));
        }
        match self.bytes.get(4 * word..).and_then(|rest| rest.first_chunk::<4>()) {
            Some(bytes) => Ok(u32::from_le_bytes(*bytes)),
            None => Err((Rule::Payload, format!("word {word} of a vertex is missing"))),
        }
    }

    /// The same as a float.
    ///
    /// # Errors
    /// As of [`Self::word`].
    pub fn float(&self, word: usize) -> Result<f32, Refused> {
        self.word(word).map(f32::from_bits)
    }

    /// Rows as registers of a payload, the first and how many: what nobody wrote is undefined there.
    ///
    /// # Errors
    /// The entry does not have them.
    pub fn rows(&self, (from, count): (usize, usize)) -> Result<Vec<Register>, Refused> {
        let mut registers = rows(&self.bytes, (from, count))?;
        for (register, undefined) in registers.iter_mut().zip(self.undefined.iter().skip(from)) {
            register.undefined = *undefined;
        }
        Ok(registers)
    }

    /// All of it.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// What a thread wrote of an entry.
///
/// # Errors
/// The entry is not complete.
pub fn written(entry: &Entry) -> Result<Left, Refused> {
    if !entry.complete {
        let what = format!("entry {:#x} is not complete", entry.handle);
        return Err((Rule::UrbComplete, what));
    }
    let end = entry.rows.iter().rposition(|row| row.undefined != !0).map_or(0, |last| last + 1);
    let words = entry.rows[..end].iter().flat_map(|row| {
        (0..8).map(|word| match row.undefined >> (4 * word) & 15 {
            0 => row.words[word],
            _ => 0xdead_beef,
        })
    });
    let bytes = words.flat_map(u32::to_le_bytes).collect();
    let undefined = entry.rows[..end].iter().map(|row| row.undefined).collect();
    Ok(Left { bytes, undefined })
}

impl Gpu {
    /// Runs the vertex threads: URB entries as the vertex fetcher leaves them, attributes of 16 bytes, and what the
    /// threads make of them. Where the unit is disabled, entries pass. What nobody writes is 0xdeadbeef.
    ///
    /// # Errors
    /// The rule that the state or a thread breaks.
    pub fn vertex_threads(
        &mut self,
        inputs: &[Vec<u8>],
        run: &mut Run<'_>,
    ) -> Result<Vec<Vec<u8>>, Trap> {
        let left = self.vertex_entries(inputs, run)?;
        Ok(left.into_iter().map(Left::into_bytes).collect())
    }

    /// As [`Self::vertex_threads`], with what is written.
    pub(super) fn vertex_entries(
        &mut self,
        inputs: &[Vec<u8>],
        run: &mut Run<'_>,
    ) -> Result<Vec<Left>, Trap> {
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        let Some((jobs, limits)) = self.vertex_jobs(inputs).map_err(trap)? else {
            return Ok(inputs.iter().cloned().map(Left::from).collect());
        };
        let ended = self.threads(jobs, limits, run)?;
        ended
            .iter()
            .flat_map(|context| &context.entries)
            .map(|e| written(e).map_err(trap))
            .collect()
    }

    fn vertex_jobs(&self, inputs: &[Vec<u8>]) -> Result<Option<(Vec<Job>, Limits)>, Refused> {
        let missing = |what: &str| (Rule::Bases, format!("no {what} were sent"));
        let units = self.state.units.ok_or_else(|| missing("3DSTATE_PIPELINED_POINTERS"))?;
        let unit = UnitState::read(self, Unit::Vertex, units.vertex, WORDS)?;
        if unit.words[6] & 1 == 0 {
            return Ok(None);
        }
        let tables = self.state.tables.ok_or_else(|| missing("3DSTATE_BINDING_TABLE_POINTERS"))?;
        let refused = |what: &str| Err((Rule::ThreadState, format!("{what} of VS_STATE")));
        let most = if self.model.is_early() { 16 } else { 32 };
        let entries = Entries::of(self, unit.words[4], 0, most)?;
        if unit.constants.1 == 0 || unit.urb.1 == 0 {
            return refused("a row of constants and one of vertices");
        }
        if unit.start != 1 {
            return refused("the first register");
        }
        if 2 * entries.threads > entries.count.max(2) {
            return refused("the threads, two entries each,");
        }
        let constants = media::constants(self, unit.constants.0, unit.constants.1)?;
        let jobs = inputs.chunks(2).enumerate().map(|(pair, vertices)| {
            let mut payload = vec![Register::UNDEFINED];
            let mut context = unit.context(payload[0], tables[0]);
            (context.pool, context.handed) = (entries.pool(), 2 * pair as u32);
            for vertex in 0..vertices.len() {
                payload[0].words[vertex] = context.give(entries.rows);
            }
            // Without a second vertex its handle is that of none.
            for (word, value) in
                [(0, None), (1, None), (2, Some(0)), (3, Some(unit.words[5] & !31))]
            {
                if let Some(value) = value {
                    payload[0].words[word] = value;
                }
                payload[0].undefined &= !(15 << (4 * word));
            }
            payload.extend(constants.iter().copied());
            payload.extend(attributes(vertices, unit.urb, entries.rows)?);
            unit.job(Unit::Vertex, payload, if vertices.len() == 2 { 0xff } else { 0x0f }, context)
        });
        let jobs: Result<Vec<Job>, Refused> = jobs.collect();
        Ok(Some((jobs?, Limits { threads: entries.threads, entries: None })))
    }
}

/// A register an attribute: the lower half is of the first vertex, the upper of the second.
fn attributes(
    vertices: &[Vec<u8>],
    (from, count): (usize, usize),
    most: usize,
) -> Result<Vec<Register>, Refused> {
    if from + count > most {
        return Err((Rule::Payload, format!("rows {from} to {} of {most}", from + count)));
    }
    let mut registers = vec![Register::UNDEFINED; 2 * count];
    for (vertex, bytes) in vertices.iter().enumerate() {
        if bytes.len() > 32 * most || !bytes.len().is_multiple_of(16) {
            return Err((Rule::Payload, format!("{} bytes of a vertex", bytes.len())));
        }
        // An odd attribute leaves half a row.
        let mut bytes = bytes.clone();
        let whole = bytes.len() / 16;
        bytes.resize(32 * (from + count).max(whole.div_ceil(2)), 0);
        for (row, found) in rows(&bytes, (from, count))?.iter().enumerate() {
            for half in (0..2).filter(|half| 2 * (from + row) + half < whole) {
                for word in 0..4 {
                    let register = &mut registers[2 * row + half];
                    register.words[4 * vertex + word] = found.words[4 * half + word];
                    register.undefined &= !(15 << (4 * (4 * vertex + word)));
                }
            }
        }
    }
    Ok(registers)
}

#[cfg(test)]
mod tests {
    use super::super::super::rule::Rule;
    use super::{Entry, Left, Register, written};

    #[test]
    fn what_nobody_wrote_of_an_entry_is_undefined_where_it_is_read() {
        let mut entry = Entry::new(0, 3);
        entry.rows[0] = Register::new([1, 2, 3, 4, 5, 6, 7, 8]);
        // The upper half of a row is left, as an odd slot leaves it.
        entry.rows[1] = Register { undefined: 0xffff_0000, ..Register::new([9; 8]) };
        assert!(written(&entry).is_err(), "it is not complete");
        entry.complete = true;
        let left = written(&entry).unwrap();
        assert_eq!((left.word(7).unwrap(), left.word(8).unwrap()), (8, 9));
        assert_eq!(left.word(12).unwrap_err().0, Rule::Undefined);
        assert_eq!(left.word(16).unwrap_err().0, Rule::Payload);
        let rows = left.rows((1, 1)).unwrap();
        assert_eq!(rows[0].undefined, 0xffff_0000);
        assert_eq!(left.rows((0, 1)).unwrap()[0].undefined, 0);
        // What the fetcher leaves is whole.
        assert_eq!(Left::from(vec![0; 32]).rows((0, 1)).unwrap()[0].undefined, 0);
    }
}

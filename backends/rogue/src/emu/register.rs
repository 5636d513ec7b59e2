//! Register files: what was written, and what messages have to do with. 3.1.

use super::rule::{Refused, Rule};

/// Instances of a task. 3.3.
pub const INSTANCES: usize = 32;

/// A set of instances, by bit.
pub type Lanes = u32;

/// The instances of a set.
pub fn each(lanes: Lanes) -> impl Iterator<Item = usize> {
    (0..INSTANCES).filter(move |lane| lanes >> lane & 1 == 1)
}

/// What an instance that was never given a value holds where its quad looks, beside what an instance that executes holds. Flow
/// that is not uniform leaves derivatives indeterminate, and the machine takes what it finds. Here that is far away, so that a
/// quad which the source does not part gives another result.
pub fn elsewhere(word: u32) -> u32 {
    (f32::from_bits(word) + 0.25).to_bits()
}

/// One register in every instance.
#[derive(Clone, Debug)]
struct Row {
    words: [u32; INSTANCES],
    defined: Lanes,
    /// A message that is under way writes it.
    pending: Lanes,
    /// A message that is under way reads it.
    held: Lanes,
}

/// A file of registers that every instance has of its own.
#[derive(Clone, Debug)]
pub struct PerLane {
    name: &'static str,
    rows: Vec<Row>,
}

impl PerLane {
    /// A file of so many registers that nobody has written.
    pub fn new(name: &'static str, count: usize) -> PerLane {
        let row = Row { words: [0; INSTANCES], defined: 0, pending: 0, held: 0 };
        PerLane { name, rows: vec![row; count] }
    }

    fn missing(&self, index: usize) -> Refused {
        (Rule::Bounds, format!("{}{index} of {}", self.name, self.rows.len()))
    }

    /// A register's word.
    ///
    /// # Errors
    /// It is not there, was never written, or a message that is under way writes it.
    pub fn read(&self, index: usize, lane: usize) -> Result<u32, Refused> {
        let row = self.rows.get(index).ok_or_else(|| self.missing(index))?;
        let bit = 1 << lane;
        if row.pending & bit != 0 {
            return Err((Rule::Pending, format!("{}{index} is read", self.name)));
        }
        if row.defined & bit == 0 {
            return Err((Rule::Undefined, format!("{}{index}", self.name)));
        }
        Ok(row.words[lane])
    }

    /// A register's word, whatever stands there.
    pub fn peek(&self, index: usize, lane: usize) -> Option<u32> {
        let row = self.rows.get(index)?;
        (row.defined >> lane & 1 == 1).then(|| row.words[lane])
    }

    /// Writes a register.
    ///
    /// # Errors
    /// It is not there, or a message that is under way reads or writes it.
    pub fn write(&mut self, index: usize, lane: usize, word: u32) -> Result<(), Refused> {
        self.admit(index, lane)?;
        self.set(index, lane, word);
        Ok(())
    }

    /// Asks whether a register may be written.
    ///
    /// # Errors
    /// As [`PerLane::write`].
    pub fn admit(&self, index: usize, lane: usize) -> Result<(), Refused> {
        let row = self.rows.get(index).ok_or_else(|| self.missing(index))?;
        let bit = 1 << lane;
        if row.pending & bit != 0 {
            return Err((Rule::Pending, format!("{}{index} is written", self.name)));
        }
        if row.held & bit != 0 {
            return Err((Rule::Held, format!("{}{index}", self.name)));
        }
        Ok(())
    }

    /// Writes a register for whoever launches a task or completes a message.
    pub fn set(&mut self, index: usize, lane: usize, word: u32) {
        if let Some(row) = self.rows.get_mut(index) {
            row.words[lane] = word;
            row.defined |= 1 << lane;
        }
    }

    /// Marks a register that a message will write, or reads.
    pub fn mark(&mut self, index: usize, lane: usize, written: bool) {
        if let Some(row) = self.rows.get_mut(index) {
            let marks = if written { &mut row.pending } else { &mut row.held };
            *marks |= 1 << lane;
        }
    }

    /// Takes a register's marks away.
    pub fn unmark(&mut self, index: usize, lane: usize) {
        if let Some(row) = self.rows.get_mut(index) {
            row.pending &= !(1 << lane);
            row.held &= !(1 << lane);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }
}

/// A file of registers that instances share.
#[derive(Clone, Debug, Default)]
pub struct Common {
    name: &'static str,
    words: Vec<Option<u32>>,
    /// A message that is under way writes it.
    pending: Vec<bool>,
}

impl Common {
    /// A file of so many registers that nobody has written.
    pub fn new(name: &'static str, count: usize) -> Common {
        Common { name, words: vec![None; count], pending: vec![false; count] }
    }

    /// A register's word.
    ///
    /// # Errors
    /// As [`PerLane::read`].
    pub fn read(&self, index: usize) -> Result<u32, Refused> {
        match self.words.get(index) {
            None => Err((Rule::Bounds, format!("{}{index} of {}", self.name, self.words.len()))),
            Some(_) if self.pending[index] => {
                Err((Rule::Pending, format!("{}{index} is read", self.name)))
            }
            Some(None) => Err((Rule::Undefined, format!("{}{index}", self.name))),
            Some(Some(word)) => Ok(*word),
        }
    }

    /// Writes a register.
    ///
    /// # Errors
    /// It is not there, or a message that is under way writes it.
    pub fn write(&mut self, index: usize, word: u32) -> Result<(), Refused> {
        self.admit(index)?;
        self.words[index] = Some(word);
        Ok(())
    }

    /// Asks whether a register may be written.
    ///
    /// # Errors
    /// As [`Common::write`].
    pub fn admit(&self, index: usize) -> Result<(), Refused> {
        match self.pending.get(index) {
            None => Err((Rule::Bounds, format!("{}{index} of {}", self.name, self.words.len()))),
            Some(true) => Err((Rule::Pending, format!("{}{index} is written", self.name))),
            Some(false) => Ok(()),
        }
    }

    /// Marks a register that a message will write, or takes the mark away.
    pub fn mark(&mut self, index: usize, pending: bool) {
        if let Some(mark) = self.pending.get_mut(index) {
            *mark = pending;
        }
    }

    /// Writes a register for a message that completes.
    pub fn set(&mut self, index: usize, word: u32) {
        if let Some(place) = self.words.get_mut(index) {
            *place = Some(word);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.words.len()
    }
}

//! What either reading finds in a group, in words and numbers that belong to neither.

mod emulator;
mod table;

use std::collections::BTreeMap;

pub use emulator::of_emulator;
pub use table::of_table;

/// A word, a number other than 0, or a register: its file, its number, the index register plus one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Word(String),
    Number(i64),
    Register(&'static str, i64, i64),
}

/// What is said of each place by the names of its fields. What is 0 is not said.
pub type Said = BTreeMap<(&'static str, &'static str), Value>;

/// The fields of one place.
struct At<'a> {
    said: &'a mut Said,
    place: &'static str,
}

impl At<'_> {
    fn number(&mut self, name: &'static str, value: impl Into<i64>) {
        let value = value.into();
        if value != 0 {
            self.said.insert((self.place, name), Value::Number(value));
        }
    }

    fn word(&mut self, name: &'static str, word: impl Into<String>) {
        self.said.insert((self.place, name), Value::Word(word.into()));
    }
}

const SOURCES: [&str; 6] = ["s0", "s1", "s2", "s3", "s4", "s5"];
const WRITES: [&str; 2] = ["w0", "w1"];

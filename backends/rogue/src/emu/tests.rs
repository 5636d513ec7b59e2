//! Tests of the emulator.

mod agree;
mod bench;
mod compute;
mod draw;
mod flow;
mod foreign;
mod golden;
mod launch;
mod messages;
mod neutral;
mod run;
mod state;
mod texture;
mod values;
mod words;

#[path = "../../../../tests/src/shared.rs"]
mod shared;

use super::inst::Group;
use super::rule::Refused;
use gpucc_ir::ssa::random::Rng;

/// Bytes of hexadecimal digits with white space between them.
pub fn bytes(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("a byte")).collect()
}

/// The group of such bytes, which it must take whole.
pub fn group(text: &str) -> Result<Group, Refused> {
    let bytes = bytes(text);
    let group = super::decode(&bytes)?;
    assert_eq!(usize::from(group.length), bytes.len(), "{text}");
    Ok(group)
}

/// Numbers that a seed fixes.
pub struct Dice(Rng);

impl Dice {
    pub const fn new(seed: u64) -> Dice {
        Dice(Rng::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

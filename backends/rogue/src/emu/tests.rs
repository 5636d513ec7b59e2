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
mod texture;
mod values;
mod words;

use super::inst::Group;
use super::rule::Refused;
use std::path::PathBuf;

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

/// The shared documents, where they are there.
pub fn shared() -> Option<PathBuf> {
    let path = std::env::var_os("GPUCC_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    path.join("golden/rogue.jsonl").is_file().then_some(path)
}

/// Numbers that a seed fixes (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

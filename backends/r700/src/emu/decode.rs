//! Words become instructions, from scratch, with every reserved field checked. Register guide chapter 5,
//! R700 ISA chapter 10.

mod alu;
mod fetch;
mod flow;

use super::rule::{Rule, Trap};
pub use alu::*;
pub use fetch::*;
pub use flow::*;

/// Bits `hi:lo` of a word.
pub const fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    (word >> lo) & (u32::MAX >> (31 - (hi - lo)))
}

const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 == 1
}

fn reserved(word: u32, hi: u32, lo: u32, offset: u32, what: &str) -> Result<(), Trap> {
    match bits(word, hi, lo) {
        0 => Ok(()),
        found => {
            let detail = format!("bits {hi}:{lo} of {what} are {found:#x}");
            Err(Trap::new(Rule::Reserved, offset, detail))
        }
    }
}

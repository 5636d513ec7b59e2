#![forbid(unsafe_code)]
//! Intel Gen4 (965) and G45. So far the instruction table, assembler, disassembler and legality; no code is made yet.

pub mod isa;
pub mod legal;
mod machine;
mod refuse;

pub use machine::{G45, GEN4};

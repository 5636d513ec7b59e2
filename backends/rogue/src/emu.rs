//! The strict emulator of PowerVR Rogue.
//!
//! It reads bytes: groups of a program, control streams and state in memory. It shares no table with the assembler and no
//! code with the legality rules. A run ends with the name of the rule where a document forbids, or leaves undefined, what
//! the program does. Sections are those of isa/rogue-pipeline.md; [A] marks what is ours to assume.
//!
//! | file | what |
//! |---|---|
//! | `rule` | the rules, by name |
//! | `inst` | groups as the emulator sees them |
//! | `decode` | bytes to groups |
//! | `check` | what the documents forbid of one group |

mod check;
mod constant;
mod core;
mod decode;
mod inst;
mod rule;
#[cfg(test)]
mod tests;

pub use check::{Stage, admit};
pub use core::Core;
pub use decode::{decode, program};
pub use rule::{Refused, Rule, Trap};

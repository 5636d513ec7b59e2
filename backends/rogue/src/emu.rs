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
//! | `core`, `constant` | what differs between cores; special constants |
//! | `value`, `integer`, `pack`, `special` | floats, integers and bits, packed data, functions that are defined by us |
//! | `register`, `task` | register files; 32 instances that go on together |
//! | `machine` | tasks side by side, and what they share |
//! | `execute`, `flow` | groups of the ALUs; execution masks and branches |
//! | `message`, `texture` | what completes later; texture operations |
//! | `pds`, `gpu` | programs of the data sequencer; control streams |
//! | `undocumented` | what no document settles, and what is done |
//! | `memory`, `order` | memory; what is left open, chosen by a seed |

mod check;
mod constant;
mod core;
mod decode;
mod execute;
mod flow;
mod gpu;
mod inst;
mod integer;
mod machine;
mod memory;
mod message;
mod order;
mod pack;
mod pds;
mod register;
mod rule;
mod special;
mod task;
#[cfg(test)]
mod tests;
mod texture;
mod undocumented;
mod value;

pub use check::{Stage, admit};
pub use core::Core;
pub use decode::{decode, program};
pub use gpu::{
    Bases, Drawn, Gpu, Pass, Pixel, PixelState, Quad, Render, Sampled, Shaded, Target, TargetState,
};
pub use inst::Mode;
pub use machine::{Machine, Run};
pub use memory::Memory;
pub use register::{Common, INSTANCES, Lanes, PerLane};
pub use rule::{Refused, Rule, Trap};
pub use task::{Fragments, Sizes, Status, Task, Vertices};

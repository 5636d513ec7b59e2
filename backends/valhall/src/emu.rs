//! The strict Valhall emulator: it decodes a program's bytes from scratch, runs warps of 16 lanes, and ends
//! with the name of the rule wherever the manual forbids or leaves undefined what the program does.
//!
//! It was written from the manual (isa/valhall_rogue.md, Arm's description) and shares no code with the
//! back end's legality rules: two readings of one page. It is configured by [`State`] alone: memory with
//! descriptors as a driver lays them out (docs/abi-valhall.md), uniform words, register file.
//!
//! | file | what |
//! |---|---|
//! | `table` | opcodes, fields and limits of words, apart from the assembler's |
//! | `inst`, `decode`, `message` | words to instructions |
//! | `undocumented` | what is refused because no document defines it |
//! | `fau` | what one instruction may read of uniforms, constants and special values |
//! | `program` | reachable code |
//! | `warp` | lanes, divergence, registers and what must not be read or written |
//! | `effect` | messages: when they act on memory and when their results arrive |
//! | `alu`, `float`, `integer` | arithmetic |
//! | `units`, `texture`, `fragment` | what messages ask for |
//! | `memory`, `descriptor`, `pixel`, `texel` | memory and what lies in it |
//! | `launch` | workgroups, vertices, quads |
//!
//! What is undefined is poison that remembers why. It may move and be computed with; a store, a colour, an
//! address or a branch that depends on it ends the run. A message's result arrives at the wait for its slot
//! and not before; its effect on memory happens at issue or at the wait, as a seed says.
//!
//! Choices where the documents are silent: waits deliver to the lanes that execute them; lanes run at the
//! lowest place that any of them stands at; shift counts are taken modulo the width; a float that does not
//! fit the integer is undefined.

mod alu;
mod decode;
mod descriptor;
mod effect;
mod fau;
mod float;
mod fragment;
mod inst;
mod integer;
mod launch;
mod memory;
mod message;
mod pixel;
mod program;
mod rule;
mod state;
mod table;
mod texel;
mod texture;
mod undocumented;
mod units;
mod value;
mod warp;

pub use inst::Sampled;
pub use launch::{
    Dispatch, PixelOut, PixelVarying, Pixels, QuadStart, Vertices, run_compute, run_pixels,
    run_vertices,
};
pub use memory::Memory;
pub use rule::{Rule, Trap};
pub use state::{Stage, State, THREAD_BASE, WORKGROUP_BASE};
pub use warp::Trace;

use program::Program;

/// Decodes and checks a program without running it: everything but what only a run shows.
///
/// # Errors
/// The first rule that reachable code breaks.
pub fn check(code: &[u8], entry: u32, stage: Stage, work_registers: u32) -> Result<(), Trap> {
    Program::load(code, entry, stage, work_registers).map(drop)
}

#[cfg(test)]
mod tests;

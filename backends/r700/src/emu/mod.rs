//! The strict R700 emulator: it decodes a program's bytes from scratch, runs wavefronts, and ends with the
//! name of the rule wherever the manual forbids or leaves undefined what the program does.
//!
//! It was written from the manual and shares no code with the back end's legality rules: two readings of
//! one page. It is configured by [`State`] alone, which is what the report's `state`, `inputs`, `outputs`
//! and `resources` say.
//!
//! | file | what |
//! |---|---|
//! | `decode` | words to instructions, reserved fields |
//! | `ops` | the ALU instructions |
//! | `group`, `ports` | rules of groups, read ports |
//! | `program` | reachable code, clause limits, registers of each clause |
//! | `registers` | rules of registers that the manuals leave out |
//! | `wave` | masks, control flow and its stack |
//! | `alu`, `math`, `double` | ALU clauses |
//! | `fetch`, `formats`, `memory` | fetches, data share, exports, memory |
//! | `model` | registers and descriptors as a driver wrote them |
//! | `chip` | what differs between chips, apart from what the compiler knows |
//! | `launch` | dispatches, batches of vertices, quads of pixels |
//!
//! What is undefined is poison that remembers why. It may move and be computed with; a store, an export,
//! an address, a branch or a kill that depends on it ends the run.
//!
//! Choices where the documents are silent or contradict each other are listed at [`State`] and in
//! ERRATA.md: JUMP and ELSE pop only when they jump; ALU_ELSE_AFTER does not pop; GET_GRADIENTS gives the
//! differences of the own row and column.

mod alu;
mod chip;
pub mod commands;
pub(crate) mod decode;
mod double;
mod fetch;
mod formats;
mod group;
mod lanes;
mod launch;
mod math;
mod memory;
pub mod model;
pub(crate) mod ops;
mod ports;
mod program;
mod registers;
mod rule;
mod state;
mod wave;

pub use launch::{
    Export, Launched, PixelBatch, Primitive, run_compute, run_geometry, run_pixels, run_vertices,
};
pub use memory::Emitted;
pub use ops::AluOp;
pub use rule::{Rule, Trap};
pub use state::{
    Aperture, BufferResource, FetchResource, FetchSource, Stage, State, Stream, address,
};
pub use wave::Trace;

use program::Program;

/// Decodes and checks a program without running it: everything but what only a run shows.
///
/// # Errors
/// The first rule that reachable code breaks.
pub fn check(code: &[u8], state: &State) -> Result<(), Trap> {
    Program::load(code, state, false).map(drop)
}

#[cfg(test)]
pub(crate) mod tests;

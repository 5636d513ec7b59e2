//! Running programs: the interpreter and every emulated machine behind one verb for each stage.

mod executor;
pub mod interp;
pub mod layout;
pub mod shade;

pub use executor::{Executor, Stop};
pub use gpucc_emu::device::{FragmentOut, MOST_INVOCATIONS, VertexOut, VertexRun};

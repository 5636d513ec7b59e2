#![forbid(unsafe_code)]
//! The Valhall back end: optimised structured SSA becomes machine code for Arm Valhall v9.

pub mod abi;
mod api;
mod constants;
mod cost;
mod emit;
pub mod emu;
mod expand;
mod fau;
mod flow;
mod inst;
pub mod isa;
mod legal;
mod lower;
mod numerics;
mod refuse;
mod regs;
pub mod state;
mod target;

pub use numerics::numerics;
pub use refuse::refusals;
pub use target::target_info;

pub use api::{
    AttributeFetch, Chip, Compiled, Descriptor, Effort, Failure, FauWord, ImageWord, InputPlace,
    InputSlot, Options, OutputPlace, OutputSlot, PipelineState, ProgramInfo, ResourceSlot, Slot,
    Stats, TableUse, Uniforms, VertexAttribute, VertexBuffer, VertexForm,
};

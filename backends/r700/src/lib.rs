#![forbid(unsafe_code)]
//! The R700 back end: optimised structured SSA becomes VLIW machine code for AMD RV7xx.

mod api;
mod emit;
mod expand;
pub mod group;
pub mod inst;
pub mod isa;
pub mod legal;
mod numerics;
pub mod op;
mod refuse;
pub mod slot;
mod target;

pub use api::{
    AttributeFetch, Chip, Compiled, ComputeLayout, DriverConstant, Effort, ExportKind, Failure,
    FetchMode, InputSlot, Options, OutputSlot, PipelineState, ResourceSlot, Slot, StateRegister,
    Stats, VertexAttribute, VertexBuffer,
};

pub use numerics::numerics;
pub use refuse::refusals;
pub use target::target_info;

use gpucc_ir::ssa::{Func, Span};

/// Compiles one entry point, given after the shared passes, to machine code.
///
/// # Errors
/// See [`Failure`].
pub fn compile(func: Func, options: &Options) -> Result<Compiled, Failure> {
    let _ = (func, options);
    Err(Failure::NotYet {
        feature: "code generation".into(),
        stage: "lower",
        span: Span::NONE,
    })
}

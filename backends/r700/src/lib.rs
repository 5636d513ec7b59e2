#![forbid(unsafe_code)]
//! The R700 back end: optimised structured SSA becomes VLIW machine code for AMD RV7xx.

mod api;
mod emit;
pub mod group;
pub mod inst;
pub mod isa;
pub mod legal;
pub mod op;
pub mod slot;

pub use api::{
    AttributeFetch, Chip, Compiled, ComputeLayout, DriverConstant, Effort, ExportKind, Failure,
    FetchMode, InputSlot, Options, OutputSlot, PipelineState, ResourceSlot, Slot, StateRegister,
    Stats, VertexAttribute, VertexBuffer,
};

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

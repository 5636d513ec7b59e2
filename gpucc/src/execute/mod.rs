//! Running programs: the interpreter and every emulated machine behind one verb for each stage.

mod executor;
pub mod interp;
pub mod layout;
pub mod shade;

use crate::Failure;
pub use executor::{Executor, Stop};
pub use gpucc_emu::device::{
    FragmentOut, MOST_INVOCATIONS, PrimitiveIn, PrimitiveOut, VertexOut, VertexRun,
};
pub use gpucc_emu::format::Format;
pub use gpucc_emu::image::{Extent, Image};
pub use gpucc_emu::sampler::Sampler;
use gpucc_emu::world::MOST_BYTES;
pub use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::Func;

/// Bindings of every resource of a function: buffers of zeros, and nothing else.
///
/// # Errors
/// A limit, where the declared sizes are more than an emulator holds.
pub fn bindings(func: &Func) -> Result<Bindings, Failure> {
    Bindings::bounded(func).map_err(|needed| {
        Failure::limit("bytes of all bindings, as they are declared", needed, MOST_BYTES)
    })
}

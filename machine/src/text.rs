//! Machine IR that is given as text, for [`Machine::run_passes`](crate::Machine::run_passes).

use gpucc_ir::driver::Failure;
use gpucc_ir::mach::ParseError;
use gpucc_ir::ssa::Stage;

/// What stands behind the last pass to ask for the assembly.
pub const EMIT: &str = "emit";

/// A program as machine IR, and what its text does not say.
#[derive(Copy, Clone, Debug)]
pub struct Excerpt<'a> {
    /// The function, as the machine prints it.
    pub text: &'a str,
    /// The stage of its shader.
    pub stage: Stage,
}

/// Why passes have made nothing of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// It is no machine IR.
    #[error(transparent)]
    Text(#[from] ParseError),
    /// It is machine IR that breaks an invariant, or that these passes do not take.
    #[error("{0}")]
    Broken(String),
    /// The names of the passes are none, or in another order.
    #[error("{0}")]
    Passes(String),
    /// What a pass says.
    #[error(transparent)]
    Failure(#[from] Failure),
}

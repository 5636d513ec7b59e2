//! The assembler of a target.

use crate::{Failure, Target};
pub use gpucc_machine::{Assembler, AssemblyError};

/// The assembler of a target.
///
/// # Errors
/// A target without machine code, or one whose assembler is not built.
pub fn assembler(target: Target) -> Result<&'static dyn Assembler, Failure> {
    target.assembler().ok_or_else(|| match target {
        Target::Interp => Failure::usage("target interp has no machine code; name a machine"),
        _ => Failure::not_yet(format!("target {}", target.name()), "the assembler"),
    })
}

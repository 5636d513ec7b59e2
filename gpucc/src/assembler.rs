//! The assembler of a target.

use crate::{Failure, Target};
pub use gpucc_machine::{Assembler, AssemblyError};

/// The assembler of a target.
///
/// # Errors
/// A target without machine code, or one that is not built.
pub fn assembler(target: Target) -> Result<&'static dyn Assembler, Failure> {
    match target {
        Target::Machine(machine) => Ok(machine.assembler()),
        Target::Interp => Err(Failure::usage("target interp has no machine code; name a machine")),
        Target::Planned(about) => {
            Err(Failure::not_yet(format!("target {}", about.name), "the back end"))
        }
    }
}

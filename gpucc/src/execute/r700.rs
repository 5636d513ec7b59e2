//! R700's strict emulator as an executor.

use super::Executor;
use crate::{Failure, SourceText};
use gpucc_r700 as r700;

/// The emulated machine for a program.
pub fn executor(
    chip: r700::Chip,
    compiled: &r700::Compiled,
    source: &SourceText,
) -> Result<Box<dyn Executor>, Failure> {
    let _ = (chip, compiled, source);
    Err(Failure::not_yet(
        "running machine code",
        "the R700 emulator",
    ))
}

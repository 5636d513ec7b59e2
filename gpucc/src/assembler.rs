//! Text to machine code and back, one target at a time, by unit.

use crate::{Failure, Target};

/// Why bytes or text were not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssemblyError {
    /// Bytes that are no instruction.
    #[error("at offset {offset:#x}: {message}")]
    Code {
        /// Byte offset.
        offset: usize,
        /// What is wrong.
        message: String,
    },
    /// Text that is no instruction.
    #[error("line {line}, column {column}: {message}")]
    Text {
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
        /// What is wrong.
        message: String,
    },
}

/// Assembler and disassembler of one target.
pub trait Assembler: Send + Sync {
    /// Bytes of a hexadecimal token.
    fn token_bytes(&self) -> usize;
    /// Names of the units that text and code may consist of, the default first.
    fn units(&self) -> &'static [&'static str];
    /// Machine code to text.
    ///
    /// # Errors
    /// Where the code stops making sense.
    fn disassemble(&self, unit: &str, code: &[u8]) -> Result<String, AssemblyError>;
    /// Text to machine code.
    ///
    /// # Errors
    /// The first line that does not parse.
    fn assemble(&self, unit: &str, text: &str) -> Result<Vec<u8>, AssemblyError>;
    /// Machine code as hexadecimal text, one machine word group a line.
    fn hex_lines(&self, code: &[u8]) -> String;
}

/// The assembler of a target.
///
/// # Errors
/// A target without machine code, or one that is not built.
pub fn assembler(target: Target) -> Result<&'static dyn Assembler, Failure> {
    match target {
        Target::R700 => Ok(crate::backend::r700::assembler(gpucc_r700::Family::R700)),
        Target::R600 => Ok(crate::backend::r700::assembler(gpucc_r700::Family::R600)),
        Target::Valhall => Ok(&crate::backend::valhall::ASSEMBLER),
        Target::Interp => Err(Failure::usage(
            "target interp has no machine code; name a machine",
        )),
        Target::Gen4 | Target::G45 | Target::Rogue => Err(Failure::not_yet(
            format!("target {}", target.name()),
            "the back end",
        )),
    }
}

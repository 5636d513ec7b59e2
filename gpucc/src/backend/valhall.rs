//! Valhall behind the facade: options in, report out.

use crate::assembler::{Assembler, AssemblyError};
use gpucc_valhall::isa;

/// Assembler and disassembler.
pub struct ValhallAssembler;

/// The one instance.
pub static ASSEMBLER: ValhallAssembler = ValhallAssembler;

impl Assembler for ValhallAssembler {
    fn token_bytes(&self) -> usize {
        8
    }
    fn units(&self) -> &'static [&'static str] {
        &["program"]
    }
    fn disassemble(&self, _: &str, code: &[u8]) -> Result<String, AssemblyError> {
        isa::disassemble(code).map_err(|error| AssemblyError::Code {
            offset: error.offset,
            message: error.reason.to_string(),
        })
    }
    fn assemble(&self, _: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        isa::assemble(text).map_err(|error| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        })
    }
    fn hex_lines(&self, code: &[u8]) -> String {
        let mut text = String::with_capacity(code.len() * 19 / 8);
        for word in code.chunks(8) {
            text.push_str("0x");
            for byte in word.iter().rev() {
                text.push_str(&format!("{byte:02x}"));
            }
            text.push('\n');
        }
        text
    }
}

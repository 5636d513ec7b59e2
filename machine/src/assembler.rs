//! Text to machine code and back, one machine at a time, by unit.

use crate::flow::Steps;

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

/// One line of a program's assembly with what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingLine {
    /// Byte offset of the instruction.
    pub offset: u32,
    /// It stands outside of the clauses that the source's lines are known for: only a position at
    /// this very offset is its own.
    pub flow: bool,
    /// Text without the line end.
    pub text: String,
}

/// Assembler and disassembler of one machine.
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
    /// The lines of a program with their places in the code; a line is a token where nothing else is said.
    ///
    /// # Errors
    /// As [`Assembler::disassemble`].
    fn listing(&self, code: &[u8]) -> Result<Vec<ListingLine>, AssemblyError> {
        let text = self.disassemble(self.units()[0], code)?;
        let line = |(text, token): (&str, usize)| ListingLine {
            offset: (self.token_bytes() * token) as u32,
            flow: false,
            text: text.to_owned(),
        };
        Ok(text.lines().zip(0..).map(line).collect())
    }
    /// What each instruction of a program does with registers, what it costs, and where a lane goes from it.
    ///
    /// # Errors
    /// As [`Assembler::disassemble`].
    fn steps(&self, code: &[u8]) -> Result<Steps, AssemblyError>;
    /// Machine code as hexadecimal text, a token a line where nothing else is said.
    fn hex_lines(&self, code: &[u8]) -> String {
        hex_lines(code, self.token_bytes(), 1)
    }
}

/// Machine code as numbers in ordinary notation, so many tokens of so many bytes a line.
pub fn hex_lines(code: &[u8], token: usize, tokens: usize) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(code.len() * 3);
    for line in code.chunks(token * tokens) {
        for (index, word) in line.chunks(token).enumerate() {
            text.push_str(if index > 0 { " 0x" } else { "0x" });
            for byte in word.iter().rev() {
                let _ = write!(text, "{byte:02x}");
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_least_significant_byte_of_a_token_is_its_first_in_memory() {
        let code = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(super::hex_lines(&code, 4, 2), "0x04030201 0x08070605\n");
        assert_eq!(super::hex_lines(&code, 8, 1), "0x0807060504030201\n");
    }
}

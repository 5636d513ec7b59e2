//! Both members of the family as machines that no code is made for yet: names, what the silicon lacks, assembler.

use crate::isa::{self, Machine, program::decode_program};
use crate::refuse;
use gpucc_machine::assembler::{Assembler, AssemblyError, ListingLine, hex_lines};
use gpucc_machine::{About, Planned};

const fn planned(
    name: &'static str,
    machine: &'static str,
    short: &'static str,
    chips: &'static [&'static str],
    refusals: &'static [(&'static str, &'static str)],
    assembler: &'static Text,
) -> Planned {
    Planned {
        about: About { name, machine, short, chips, stages: &[], limits: &[], noticed: 100 },
        refusals,
        assembler: Some(assembler),
    }
}

/// Intel 965, G35, GM965.
pub static GEN4: Planned = planned(
    "gen4",
    "Intel 965 family",
    "Gen4",
    &["i965", "gm965"],
    refuse::GEN4,
    &Text(Machine::Gen4),
);
/// Intel G45 and GM45, B stepping.
pub static G45: Planned =
    planned("g45", "Intel G45 family", "G45", &["g45", "gm45"], refuse::G45, &Text(Machine::G45));

/// Assembler and disassembler of a member.
struct Text(Machine);

impl Assembler for Text {
    fn token_bytes(&self) -> usize {
        4
    }
    fn units(&self) -> &'static [&'static str] {
        &["program"]
    }
    fn disassemble(&self, _: &str, code: &[u8]) -> Result<String, AssemblyError> {
        isa::disassemble(self.0, code).map_err(wrong)
    }
    fn assemble(&self, _: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        isa::assemble(self.0, text).map_err(|error| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        })
    }
    fn listing(&self, code: &[u8]) -> Result<Vec<ListingLine>, AssemblyError> {
        let program = decode_program(self.0, code).map_err(wrong)?;
        let line = |(offset, decoded): &(usize, isa::Decoded)| ListingLine {
            offset: *offset as u32,
            flow: false,
            text: isa::disasm::text_of(self.0, decoded),
        };
        Ok(program.iter().map(line).collect())
    }
    fn hex_lines(&self, code: &[u8]) -> String {
        // A line is an instruction, whose length its first doubleword says; what is none stays as it is.
        let mut lines = String::with_capacity(3 * code.len());
        let mut rest = code;
        while let Some(first) = rest.first_chunk::<4>() {
            let tokens = if isa::is_compact(u32::from_le_bytes(*first)) { 2 } else { 4 };
            let (unit, after) = rest.split_at(rest.len().min(4 * tokens));
            lines.push_str(&hex_lines(unit, 4, tokens));
            rest = after;
        }
        if !rest.is_empty() {
            lines.push_str(&hex_lines(rest, 4, 1));
        }
        lines
    }
}

fn wrong(error: isa::program::ProgramError) -> AssemblyError {
    AssemblyError::Code { offset: error.offset, message: error.reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_numbers_is_an_instruction() {
        let text = Text(Machine::G45);
        let code = text.assemble(
            "program",
            "nop ;\npln(16) g6<1>F g4<0,1,0>F g8<8,8,1>F { align1 compr compacted }; nenop ;",
        );
        let code = code.expect("text of the machine");
        assert_eq!(code.len(), 32);
        let lines = text.hex_lines(&code);
        let tokens: Vec<usize> = lines.lines().map(|line| line.split(' ').count()).collect();
        assert_eq!(tokens, [4, 2, 2]);
        let listing = text.listing(&code).expect("the same program");
        let offsets: Vec<u32> = listing.iter().map(|line| line.offset).collect();
        assert_eq!(offsets, [0, 16, 24]);
    }
}

//! Rogue's assembler and disassembler to the rest of the workspace.

use crate::isa::program::{ProgramError, assemble, disassemble, listing};
use crate::steps;
use gpucc_machine::assembler::hex_lines;
use gpucc_machine::flow::Steps;
use gpucc_machine::{Assembler, AssemblyError, ListingLine};

/// Assembler and disassembler. A token is a byte, a line of numbers a group.
#[derive(Copy, Clone, Debug)]
pub struct Text;

impl Assembler for Text {
    fn token_bytes(&self) -> usize {
        1
    }
    fn units(&self) -> &'static [&'static str] {
        &["program"]
    }
    fn disassemble(&self, _: &str, code: &[u8]) -> Result<String, AssemblyError> {
        disassemble(code).map_err(wrong)
    }
    fn assemble(&self, _: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        assemble(text).map_err(|error| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        })
    }
    fn listing(&self, code: &[u8]) -> Result<Vec<ListingLine>, AssemblyError> {
        let groups = listing(code).map_err(wrong)?;
        let lines = |(offset, text): &(usize, String)| -> Vec<ListingLine> {
            let line = |line: &str| ListingLine {
                offset: *offset as u32,
                flow: false,
                text: line.to_owned(),
            };
            text.lines().map(line).collect()
        };
        Ok(groups.iter().flat_map(lines).collect())
    }
    fn steps(&self, code: &[u8]) -> Result<Steps, AssemblyError> {
        steps::steps(code).map_err(wrong)
    }
    fn hex_lines(&self, code: &[u8]) -> String {
        // The low half of the first byte is the length of the group in words; what is no group stays as it is.
        let mut lines = String::with_capacity(6 * code.len());
        let mut rest = code;
        while let Some(first) = rest.first() {
            let words = match first & 15 {
                0 => 16,
                words => usize::from(words),
            };
            let (group, after) = rest.split_at(rest.len().min(2 * words));
            lines.push_str(&hex_lines(group, 1, group.len()));
            rest = after;
        }
        lines
    }
}

fn wrong(error: ProgramError) -> AssemblyError {
    AssemblyError::Code { offset: error.offset, message: error.reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "\
0 :
 s0 = r2, s3 = r4
 ld s3, drc0, 2, s0
1 :
 wdf drc0
2 : if (p0)
 br @4
3 :
 s0 = r5
 is4 = ft0
 mbyp ft0, s0
 w0 = r1
4 : end
 nop
";

    #[test]
    fn a_line_of_numbers_is_a_group() {
        let code = Text.assemble("program", PROGRAM).expect("text of the machine");
        let lines: Vec<usize> =
            Text.hex_lines(&code).lines().map(|line| line.split(' ').count()).collect();
        let listing = Text.listing(&code).expect("the same program");
        let mut offsets: Vec<u32> = listing.iter().map(|line| line.offset).collect();
        offsets.dedup();
        let starts = lines.iter().scan(0, |at, bytes| {
            *at += *bytes as u32;
            Some(*at)
        });
        assert_eq!(offsets[1..], starts.take(4).collect::<Vec<u32>>());
        assert_eq!(listing.len(), PROGRAM.lines().count());
    }

    #[test]
    fn steps_read_and_write_temporaries_and_follow_branches() {
        let code = Text.assemble("program", PROGRAM).expect("text of the machine");
        let steps = Text.steps(&code).expect("the same program");
        let next: Vec<&[u32]> = steps.list.iter().map(|step| &step.next[..]).collect();
        assert_eq!(next, [&[1][..], &[2], &[3, 4], &[4], &[]]);
        assert_eq!(steps.list[0].reads[..], [2, 3]);
        assert_eq!(steps.list[0].writes[..], [4, 5]);
        assert_eq!((&steps.list[3].reads[..], &steps.list[3].writes[..]), (&[5][..], &[1][..]));
    }
}

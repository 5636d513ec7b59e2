//! Whole programs: words in memory order, text a line an instruction. A doubleword that is part of no instruction and that
//! control flow does not reach is `.dword 0x...`.
//! On G45 an instruction may take 8 bytes; where one may
//! stand is legality, for the lists of foreign words hold single ones. G45 vol. 4, 11.6.3.

use super::asm::statement;
use super::disasm::text_of;
use super::fields::f;
use super::operand::{File, IP, Place};
use super::ops::{Opcode, Shape};
use super::{Decoded, Machine, WordError, decode, decode_compact, is_compact};
use gpucc_isa::Diagnostic;
use std::fmt::Write;

/// Why bytes are no program, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("offset {offset:#x}: {reason}")]
pub struct ProgramError {
    /// In bytes from the start.
    pub offset: usize,
    pub reason: ProgramReason,
}

/// See [`ProgramError`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramReason {
    #[error(transparent)]
    Word(#[from] WordError),
    #[error("{found} bytes are no whole instruction of {needed} bytes")]
    Partial { found: usize, needed: usize },
}

/// Reads the instruction at a place of a program.
fn read(machine: Machine, bytes: &[u8], offset: usize) -> Result<Decoded, ProgramError> {
    let rest = &bytes[offset..];
    let wrong = |reason| ProgramError { offset, reason };
    let partial = |needed| wrong(ProgramReason::Partial { found: rest.len(), needed });
    let first = rest.first_chunk::<4>().ok_or_else(|| partial(16))?;
    let decoded = if is_compact(u32::from_le_bytes(*first)) {
        let word = rest.first_chunk::<8>().ok_or_else(|| partial(8))?;
        decode_compact(machine, u64::from_le_bytes(*word))
    } else {
        let word = rest.first_chunk::<16>().ok_or_else(|| partial(16))?;
        decode(machine, u128::from_le_bytes(*word))
    };
    decoded.map_err(|error| wrong(error.into()))
}

/// Hands over each instruction of a program with its byte offset.
fn each(
    machine: Machine,
    bytes: &[u8],
    mut take: impl FnMut(usize, Decoded),
) -> Result<(), ProgramError> {
    let mut offset = 0;
    while offset < bytes.len() {
        let decoded = read(machine, bytes, offset)?;
        let taken = decoded.bytes();
        take(offset, decoded);
        offset += taken;
    }
    Ok(())
}

/// Where control flow goes from an instruction.
pub struct Flow {
    offset: usize,
    bytes: usize,
    /// On to the next instruction.
    pub falls: bool,
    /// To this byte.
    pub jumps: Option<i64>,
    /// To a place that a register says.
    pub anywhere: bool,
}

impl Flow {
    /// Jumps count from the 16 bytes of the instruction, `jmpi` from the next ones. G45 vol. 4, 14.2, 11.6.2.
    pub fn of(offset: usize, decoded: &Decoded) -> Flow {
        let inst = &decoded.inst;
        let opcode = Opcode::of(inst.op());
        let own = (offset / 16 * 16) as i64;
        let predicated = inst.get(f::PRED_CTRL) != 0;
        let mut flow =
            Flow { offset, bytes: decoded.bytes(), falls: true, jumps: None, anywhere: false };
        match opcode.shape() {
            Shape::Branch { jump: true, .. } => {
                let count = inst.get(f::JUMP_COUNT) as u16 as i16;
                flow.jumps = Some(own + 16 * i64::from(count));
            }
            Shape::Jump if File::of(inst.get(f::SRC1_FILE)) == File::Imm => {
                let count = inst.get(f::SRC1) as u16 as i16;
                flow.jumps = Some(own + 16 + 16 * i64::from(count));
                flow.falls = predicated;
            }
            Shape::Jump => flow.anywhere = true,
            Shape::Send => flow.falls = predicated || inst.get(f::SRC1) >> 31 == 0,
            Shape::Unary | Shape::Binary => {
                flow.anywhere = decoded.operands.dst.is_some_and(|dst| {
                    dst.file == File::Arf && matches!(dst.place, Place::Direct { register: IP, .. })
                });
            }
            Shape::Branch { .. } | Shape::Do | Shape::Wait | Shape::Special => {}
        }
        flow
    }
}

/// Whether control flow stays within the instructions, given in ascending order. What cannot be known does not.
fn stays(flows: &[Flow], length: usize) -> bool {
    let find = |offset: i64| {
        let offset = usize::try_from(offset).ok()?;
        flows.binary_search_by_key(&offset, |flow| flow.offset).ok()
    };
    let gap = |offset: i64| {
        usize::try_from(offset).is_ok_and(|offset| offset < length && find(offset as i64).is_none())
    };
    let mut reached = vec![false; flows.len()];
    let mut todo: Vec<i64> = vec![0];
    while let Some(offset) = todo.pop() {
        if gap(offset) {
            return false;
        }
        let Some(at) = find(offset) else { continue };
        if std::mem::replace(&mut reached[at], true) {
            continue;
        }
        let flow = &flows[at];
        if flow.anywhere {
            return false;
        }
        if flow.falls {
            todo.push((flow.offset + flow.bytes) as i64);
        }
        todo.extend(flow.jumps);
    }
    true
}

/// The instructions of a program with their byte offsets.
///
/// # Errors
/// The first that is none.
pub fn decode_program(
    machine: Machine,
    bytes: &[u8],
) -> Result<Vec<(usize, Decoded)>, ProgramError> {
    let mut program = Vec::with_capacity(bytes.len() / 16);
    each(machine, bytes, |offset, decoded| program.push((offset, decoded)))?;
    Ok(program)
}

/// Text of a program, a line an instruction.
///
/// # Errors
/// The first word that is no instruction, where control flow may reach one that is none.
pub fn disassemble(machine: Machine, bytes: &[u8]) -> Result<String, ProgramError> {
    let mut out = String::with_capacity(5 * bytes.len());
    let whole = each(machine, bytes, |_, decoded| {
        out.push_str(&text_of(machine, &decoded));
        out.push('\n');
    });
    match whole {
        Ok(()) => Ok(out),
        Err(error) => with_data(machine, bytes, error),
    }
}

/// The same of a program with words that are no instructions: up to the next 16 bytes they are data.
fn with_data(machine: Machine, bytes: &[u8], first: ProgramError) -> Result<String, ProgramError> {
    if first.offset == 0 || !bytes.len().is_multiple_of(4) {
        return Err(first);
    }
    let mut out = String::with_capacity(5 * bytes.len());
    let mut flows = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() {
        match read(machine, bytes, offset) {
            Ok(decoded) => {
                out.push_str(&text_of(machine, &decoded));
                out.push('\n');
                let flow = Flow::of(offset, &decoded);
                offset += flow.bytes;
                flows.push(flow);
            }
            Err(_) => {
                let end = (offset / 16 * 16 + 16).min(bytes.len());
                for word in bytes[offset..end].chunks_exact(4) {
                    let word = u32::from_le_bytes(word.try_into().expect("4 bytes"));
                    writeln!(out, ".dword {word:#010x}").expect("writing to a string");
                }
                offset = end;
            }
        }
    }
    if stays(&flows, bytes.len()) { Ok(out) } else { Err(first) }
}

/// Bytes of a program's text. Empty lines and comments (`//`, and `/* */` within a line) count for nothing; `;` ends an
/// instruction, and so does the end of a line.
///
/// # Errors
/// The first instruction that is wrong.
pub fn assemble(machine: Machine, text: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::with_capacity(text.len() / 4);
    for (number, line) in text.lines().enumerate() {
        let line = without_comments(line);
        let mut before = 0;
        for part in line.split(';') {
            let line = number as u32 + 1;
            match part.trim_start().strip_prefix(".dword") {
                Some(value) => bytes.extend(dword(value.trim(), line, before)?.to_le_bytes()),
                None if part.trim().is_empty() => {}
                None => bytes.extend(statement(machine, part, line, before)?),
            }
            before += part.chars().count() + 1;
        }
    }
    Ok(bytes)
}

fn dword(value: &str, line: u32, before: usize) -> Result<u32, Diagnostic> {
    let digits = value.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
    digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).ok_or_else(|| Diagnostic {
        line,
        column: before as u32 + 1,
        message: "`.dword 0x` and up to 8 hexadecimal digits expected".into(),
    })
}

/// A line with blanks for its comments, so that columns stay.
fn without_comments(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    // Asked once a line where there is none.
    let mut ends = true;
    while let Some(at) = rest.find('/') {
        let (before, comment) = rest.split_at(at);
        out.push_str(before);
        if comment.starts_with("//") {
            return out;
        }
        let body = comment.strip_prefix("/*").filter(|_| ends);
        let end = body.and_then(|body| body.find("*/"));
        ends &= body.is_none() || end.is_some();
        let length = end.map_or(1, |end| end + 4);
        if end.is_some() {
            out.extend(comment[..length].chars().map(|_| ' '));
        } else {
            out.push('/');
        }
        rest = &comment[length..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_leave_their_columns() {
        assert_eq!(without_comments("a /* b; */ c // d"), "a          c ");
        assert_eq!(without_comments("a / b /* c"), "a / b /* c");
        let long = "/* ".repeat(200_000);
        assert_eq!(without_comments(&long), long, "and in no time");
    }
}

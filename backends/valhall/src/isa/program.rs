//! Whole programs: words in memory order, text a line a word.
//!
//! Programs are followed from their first word. A word that control flow reaches must be an instruction; one that it does
//! not reach (padding, data, what lies behind the last `end`) may be anything and is `.dword 0x...` where it is none. So are
//! zeros that it does reach, which the emulator refuses.

use super::Inst;
use super::asm::assemble_line;
use super::disasm::{WordError, decode_word, text_of};
use super::fields::f;
use super::ops::Opcode;
use super::source::{CONSTANTS, SourceByte};
use gpucc_isa::Diagnostic;
use std::fmt::Write;

/// `flow` of the instruction that ends a program.
const END: u32 = 15;

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
    #[error("{0} bytes are no whole instruction of 8 bytes")]
    PartialWord(usize),
}

/// Words of bytes in memory order.
///
/// # Errors
/// Bytes left over.
pub fn words_of(bytes: &[u8]) -> Result<Vec<u64>, ProgramError> {
    let (words, rest) = bytes.as_chunks::<8>();
    if rest.is_empty() {
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    } else {
        Err(ProgramError {
            offset: 8 * words.len(),
            reason: ProgramReason::PartialWord(rest.len()),
        })
    }
}

/// Text of a program, a line a word.
///
/// # Errors
/// The first word that control flow reaches and that is no instruction.
pub fn disassemble(bytes: &[u8]) -> Result<String, ProgramError> {
    let words = words_of(bytes)?;
    let decoded: Vec<Result<Inst, WordError>> =
        words.iter().map(|word| decode_word(*word)).collect();
    let reached = reached(&decoded);
    let mut out = String::with_capacity(48 * words.len());
    for (i, (word, result)) in words.iter().zip(decoded).enumerate() {
        match result {
            Ok(inst) => out.push_str(&text_of(&inst)),
            // Public disassemblers print it so, though no assembler makes it: NOP has its placeholder mask.
            Err(_) if reached[i] && *word == 0 => {
                write!(out, ".dword {word:#018x} // NOP").expect("writing to a string");
            }
            Err(reason) if reached[i] => {
                return Err(ProgramError { offset: 8 * i, reason: reason.into() });
            }
            Err(_) => write!(out, ".dword {word:#018x}").expect("writing to a string"),
        }
        out.push('\n');
    }
    Ok(out)
}

/// Which words control flow reaches from the first one. Indirect branches go to other programs.
fn reached(words: &[Result<Inst, WordError>]) -> Vec<bool> {
    let mut reached = vec![false; words.len()];
    let mut todo = vec![0i64];
    while let Some(at) = todo.pop() {
        let Some((index, seen)) =
            usize::try_from(at).ok().and_then(|index| Some((index, reached.get_mut(index)?)))
        else {
            continue;
        };
        if std::mem::replace(seen, true) {
            continue;
        }
        if let Ok(inst) = &words[index] {
            todo.extend(successors(at, inst));
        }
    }
    reached
}

/// Where control flow goes from an instruction, in words from the start of the program. What ends the program goes nowhere.
pub fn successors(at: i64, inst: &Inst) -> impl Iterator<Item = i64> {
    let opcode = Opcode::of(inst.op());
    let mut falls = inst.get(f::FLOW) != END || opcode == Opcode::Blend;
    let mut jumps = None;
    match opcode {
        Opcode::Branchz => {
            let field = inst.op().format.field(f::OFFSET).expect("branches have one");
            let taken = taken(inst);
            falls &= taken != Some(true);
            jumps = (taken != Some(false)).then(|| at + 1 + field.signed(inst.get(f::OFFSET)));
        }
        Opcode::Branchzi | Opcode::JumpEx if taken(inst) == Some(true) => falls = false,
        Opcode::Blend => jumps = Some(at + 1 + i64::from(inst.get(f::TARGET))),
        _ => {}
    }
    falls.then_some(at + 1).into_iter().chain(jumps)
}

/// Whether a branch is taken, where its condition is a constant.
fn taken(inst: &Inst) -> Option<bool> {
    match SourceByte::decode(inst.get(f::SRC0) as u8, inst.get(f::FAU_PAGE) as u8) {
        Some(SourceByte::Constant(number)) if inst.get(f::COMBINE) == 0 => {
            Some((CONSTANTS[usize::from(number)] == 0) == inst.flag(f::EQ))
        }
        _ => None,
    }
}

/// Bytes of a program's text. Empty lines and comments (`//`) count for nothing; `;` ends a line too.
///
/// # Errors
/// The first line that is wrong.
pub fn assemble(text: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::with_capacity(text.len() / 4);
    for (number, line) in text.lines().enumerate() {
        let code = line.find("//").map_or(line, |end| &line[..end]);
        let mut start = 0;
        for part in code.split(';') {
            let word = match part.trim() {
                "" => None,
                trimmed => Some(match trimmed.strip_prefix(".dword") {
                    Some(value) => dword(value.trim()),
                    None => assemble_line(part),
                }),
            };
            if let Some(word) = word {
                let word = word.map_err(|error| Diagnostic {
                    line: number as u32 + 1,
                    column: error.column + start,
                    ..error
                })?;
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            start += part.len() as u32 + 1;
        }
    }
    Ok(bytes)
}

fn dword(value: &str) -> Result<u64, Diagnostic> {
    value.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or_else(
        || Diagnostic {
            line: 1,
            column: 1,
            message: "`.dword 0x` and up to 16 hexadecimal digits expected".into(),
        },
    )
}

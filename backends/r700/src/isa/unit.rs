//! Single units without a program around them, one a line: what `asm --lines` and `disasm --lines` work on.

use super::program::{
    DecodeError, decode_alu_slot, decode_cf, decode_fetch, decode_group, decode_program_of,
};
use super::{Isa, asm, disasm};
use gpucc_isa::Diagnostic;

/// What a unit is.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnitKind {
    /// A control-flow instruction: 2 dwords.
    Cf,
    /// One ALU group with its literals, padded to a pair.
    Alu,
    /// One ALU instruction, LAST free: 2 dwords.
    AluSlot,
    /// A vertex, texture, memory or data-share instruction: 4 dwords.
    Fetch,
    /// A whole program.
    Program,
}

impl UnitKind {
    pub const ALL: [UnitKind; 5] =
        [UnitKind::Cf, UnitKind::Alu, UnitKind::AluSlot, UnitKind::Fetch, UnitKind::Program];

    /// As `--format` names it.
    pub const fn name(self) -> &'static str {
        match self {
            UnitKind::Cf => "cf",
            UnitKind::Alu => "alu",
            UnitKind::AluSlot => "alu-slot",
            UnitKind::Fetch => "fetch",
            UnitKind::Program => "program",
        }
    }

    pub fn named(name: &str) -> Option<UnitKind> {
        UnitKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One unit as one line of text; lines of a longer unit are joined by ` ; `.
///
/// # Errors
/// Offset in bytes and reason.
pub fn disassemble_unit(
    isa: &'static Isa,
    kind: UnitKind,
    words: &[u32],
) -> Result<String, DecodeError> {
    let mut text = String::new();
    match kind {
        UnitKind::Cf => disasm::write_cf(&mut text, &decode_cf(isa, words)?),
        UnitKind::Alu => disasm::write_group(&mut text, &decode_group(isa, words)?, None),
        UnitKind::AluSlot => disasm::write_slot(&mut text, &decode_alu_slot(isa, words)?),
        UnitKind::Fetch => disasm::write_fetch(&mut text, &decode_fetch(isa, words)?),
        UnitKind::Program => disasm::write_program(&mut text, &decode_program_of(isa, words)?),
    }
    let mut line = String::with_capacity(text.len());
    for part in text.lines() {
        if !line.is_empty() {
            line.push_str(" ; ");
        }
        line.push_str(part.trim());
    }
    Ok(line)
}

/// The dwords of one unit.
///
/// # Errors
/// Line, column and what was expected.
pub fn assemble_unit(
    isa: &'static Isa,
    kind: UnitKind,
    text: &str,
) -> Result<Vec<u32>, Diagnostic> {
    match kind {
        UnitKind::Cf => Ok(asm::assemble_cf(isa, text)?.words().collect()),
        UnitKind::AluSlot => Ok(asm::assemble_slot(isa, text)?.inst().words().collect()),
        UnitKind::Fetch => Ok(asm::assemble_fetch(isa, text)?.words().collect()),
        UnitKind::Program => asm::assemble_of(isa, text),
        UnitKind::Alu => {
            let mut words = Vec::new();
            asm::assemble_group(isa, text)?.encode(&mut words);
            Ok(words)
        }
    }
}

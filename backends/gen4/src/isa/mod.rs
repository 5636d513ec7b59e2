//! The instruction set of Gen4 (965) and G45 in the text of the public assembler.
//!
//! - [`fields`]: fields and formats of words and operands; [`ops`]: a row an instruction; [`operand`]: operands as values.
//! - [`compact`]: the 64-bit form of G45; [`message`]: descriptors of the shared functions.
//! - [`rules`]: what one word must obey beyond its layout.
//! - [`disasm`], [`asm`]: words to text and back; [`program`]: whole programs; [`doc`]: the table as a document.

pub mod asm;
pub mod compact;
pub mod disasm;
pub mod doc;
pub mod fields;
pub(crate) mod implied;
pub mod message;
pub mod operand;
pub mod ops;
pub mod program;
pub mod rules;

pub use program::{assemble, disassemble};

use gpucc_isa::{DecodeError, Inst, Table};
use operand::File;
use rules::{Broken, Operands};

/// The member of the family.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Machine {
    /// 965, G35, GM965.
    Gen4,
    /// G45, GM45 from the B stepping on.
    G45,
}

impl Machine {
    /// Its rows.
    pub fn table(self) -> &'static Table {
        match self {
            Machine::Gen4 => &ops::GEN4,
            Machine::G45 => &ops::G45,
        }
    }
}

/// A word that was read.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The native form.
    pub inst: Inst,
    /// Its operands.
    pub operands: Operands,
    /// It stands in 64 bits.
    pub compact: bool,
}

impl Decoded {
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        if self.compact { 8 } else { 16 }
    }
}

/// Why bits are no instruction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WordError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("{op}: {rule}")]
    Rule { op: &'static str, rule: Broken },
}

/// Whether the first doubleword begins a compact word. Table 13-19, CompactCtrl.
pub fn is_compact(first: u32) -> bool {
    first >> 29 & 1 == 1
}

/// Reads a native word: layout, reserved values, rules.
///
/// # Errors
/// What is reserved, or the rule that is broken.
pub fn decode(machine: Machine, bits: u128) -> Result<Decoded, WordError> {
    let decoded = checked(machine, bits, false)?;
    if ops::Opcode::of(decoded.inst.op()) == ops::Opcode::Nenop {
        return Err(WordError::Rule { op: "nenop", rule: Broken::Nenop });
    }
    Ok(decoded)
}

/// Reads a compact word.
///
/// # Errors
/// As [`decode`].
pub fn decode_compact(machine: Machine, word: u64) -> Result<Decoded, WordError> {
    let rule = |rule| WordError::Rule { op: "compact", rule };
    if machine != Machine::G45 {
        return Err(rule(Broken::NoCompact));
    }
    let native = compact::expand(word).map_err(rule)?;
    let decoded = checked(machine, native, true)?;
    let inst = decoded.inst;
    let number = |id| File::of(inst.get(id)) == File::Imm;
    if number(fields::f::SRC0_FILE) || number(fields::f::SRC1_FILE) {
        return Err(WordError::Rule { op: inst.op().name, rule: Broken::CompactImmediate });
    }
    Ok(decoded)
}

fn checked(machine: Machine, bits: u128, compact: bool) -> Result<Decoded, WordError> {
    let inst = machine.table().decode(bits)?;
    let decoded = native(machine, inst)?;
    Ok(Decoded { compact, ..decoded })
}

/// Reads a native word whose layout is known: its operands, by the rules of all words.
///
/// # Errors
/// The rule that is broken.
pub fn native(machine: Machine, inst: Inst) -> Result<Decoded, WordError> {
    let operands = rules::check(machine, &inst)
        .map_err(|rule| WordError::Rule { op: inst.op().name, rule })?;
    Ok(Decoded { inst, operands, compact: false })
}

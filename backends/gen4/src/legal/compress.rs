//! Instructions that hardware splits in two. G45 vol. 4, 11.5.2 and 11.5.3.

use super::{
    Rule, Word, architecture, destination_stride, hold, is_accumulator, is_byte, is_null,
    is_scalar, stride,
};
use crate::isa::fields::f;
use crate::isa::operand::{COMPR4, File, Operand, Place, Region};
use crate::isa::ops::{Opcode, flag};

pub fn check(word: &Word<'_>) -> Result<(), Rule> {
    if !word.compressed {
        return Ok(());
    }
    let op = word.inst().op();
    hold(!op.has(flag::CONTROL) || is_math(word), Rule::CompressedControl)?;
    hold(!op.has(flag::UNCOMPRESSED), Rule::CompressedNever)?;
    hold(!word.align16, Rule::CompressedAlign16)?;
    hold(matches!(word.size, 16 | 32), Rule::CompressedSize)?;
    if word.chip.early() && word.size == 32 {
        let implied = matches!(word.opcode, Opcode::Mac | Opcode::Mach | Opcode::Sada2);
        hold(!implied, Rule::CompressedAccumulates)?;
    }
    if let Some(dst) = word.dst {
        destination(word, &dst)?;
    }
    for (number, source) in word.sources.iter().enumerate() {
        if let Some(source) = source {
            // The second source of pln has a rule of its own.
            if word.opcode != Opcode::Pln || number == 0 {
                self::source(word, source)?;
            }
        }
    }
    Ok(())
}

/// A message to extended math with one operand, which G45 sends in halves of one register each. ERRATA E21.
fn is_math(word: &Word<'_>) -> bool {
    let inst = word.inst();
    let number = File::of(inst.get(f::SRC1_FILE)) == File::Imm;
    let lengths = inst.get(f::SRC1) >> 16 & 0xfff;
    let room = inst.get(f::MRF) + 2 <= 16;
    let dwords = word.dst.is_some_and(|dst| packed_dwords(word) && dst.file == File::Grf);
    let send = word.opcode == Opcode::Send && !word.chip.early() && word.size == 16;
    send && number && lengths == 0x111 && room && dwords
}

/// What an indirect operand may be.
fn index(operand: &Operand, index: u32) -> Result<(), Rule> {
    let many = matches!(operand.region, Region::Rows { vertical: 15, .. });
    hold(!many && index.is_multiple_of(2), Rule::CompressedIndex)
}

/// No architecture register but an accumulator; and that is acc0.
fn named(operand: &Operand) -> Result<bool, Rule> {
    if architecture(operand).is_none() {
        return Ok(false);
    }
    let first = matches!(operand.place, Place::Direct { register: 0x20, .. });
    hold(is_null(operand) || is_accumulator(operand) && first, Rule::CompressedArchitecture)?;
    Ok(true)
}

/// The destination has dwords side by side: Exceptions A and C speak of it.
fn packed_dwords(word: &Word<'_>) -> bool {
    word.dst.is_some_and(|dst| dst.ty.bytes() == 4 && destination_stride(&dst) == 1)
}

fn destination(word: &Word<'_>, dst: &Operand) -> Result<(), Rule> {
    if named(dst)? {
        return Ok(());
    }
    match dst.place {
        Place::Indirect { index: register, .. } => index(dst, register),
        Place::Direct { register, byte } if dst.file == File::Mrf => {
            hold(register & COMPR4 == 0 || !word.chip.early(), Rule::Compr4)?;
            hold(byte == 0, Rule::CompressedByte)
        }
        Place::Direct { register, byte } => {
            hold(register % 2 == 0, Rule::CompressedRegister)?;
            hold(byte == 0 || !packed_dwords(word), Rule::CompressedByte)
        }
    }
}

fn source(word: &Word<'_>, source: &Operand) -> Result<(), Rule> {
    // A message's source is a register, whatever of it is read.
    let scalar = is_scalar(source) && word.opcode != Opcode::Send;
    if named(source)? || scalar && matches!(source.place, Place::Direct { .. }) {
        return Ok(());
    }
    let (register, byte) = match source.place {
        Place::Indirect { .. } if is_scalar(source) => return Ok(()),
        Place::Indirect { index: register, .. } => return index(source, register),
        Place::Direct { register, byte } => (register, byte),
    };
    let Region::Rows { horizontal, .. } = source.region else {
        return Ok(());
    };
    if packed_dwords(word) && word.size == 16 {
        if source.ty.bytes() == 2 && horizontal == 1 {
            return hold(byte == 0, Rule::CompressedPackedWords);
        }
        if is_byte(source.ty) {
            // Stride 2 is code 2.
            return hold(matches!(horizontal, 0 | 2), Rule::CompressedBytes);
        }
    }
    hold(register % 2 == 0, Rule::CompressedRegister)?;
    if word.opcode == Opcode::Send {
        return Ok(());
    }
    // One of the parts of an element's pitch: hardware leaves the byte as it is (E25).
    let pitch = stride(horizontal) * source.ty.bytes();
    hold(byte < pitch || !packed_dwords(word), Rule::CompressedByte)
}

//! Messages: the instruction, 14.2.44, and which lengths each shared function has (G45 vol. 4, chapters 4 to 8).

use super::{Rule, Word, hold, is_byte, is_null};
use crate::isa::fields::f;
use crate::isa::message::{self, bits};
use crate::isa::operand::{File, Operand, Place};

/// Message registers.
const REGISTERS: u32 = 16;

pub fn check(word: &Word<'_>) -> Result<(), Rule> {
    let inst = word.inst();
    hold(!inst.flag(f::NO_DD_CHK), Rule::MessageNoDDChk)?;
    let direct =
        |source: Operand| source.file == File::Grf && matches!(source.place, Place::Direct { .. });
    let named = |source: Operand| is_null(&source) || direct(source);
    hold(word.sources[0].is_some_and(named), Rule::MessageSource)?;
    let Some(dst) = word.dst else {
        return Ok(());
    };
    hold(!is_byte(dst.ty), Rule::MessageType)?;
    if word.half() == 16 {
        let aligned = matches!(dst.place, Place::Direct { byte: 0, .. });
        hold(dst.ty.bytes() == 2 && aligned, Rule::MessageWords)?;
    }
    if File::of(inst.get(f::SRC1_FILE)) != File::Imm {
        // What a register says is not known here.
        return Ok(());
    }
    let descriptor = inst.get(f::SRC1);
    let (length, response) = (bits(descriptor, 23, 20), bits(descriptor, 19, 16));
    hold(length != 0, Rule::MessageLength)?;
    hold(inst.get(f::MRF) + length <= REGISTERS, Rule::MessageRegisters)?;
    hold(response <= 8, Rule::ResponseLength)?;
    hold(!(dst.file == File::Grf && response == 0), Rule::ResponseMissing)?;
    // The null function and Gen5's words are reserved as well.
    let known = message::decode(word.chip.machine(), descriptor).is_ok();
    hold(known && inst.get(f::GFX5_SFID) == 0, Rule::Descriptor)?;
    let function = bits(descriptor, 27, 24);
    if descriptor >> 31 == 1 {
        hold(is_null(&dst) && response == 0, Rule::EndDestination)?;
        hold(!matches!(function, 0..=2), Rule::EndFunction)?;
    }
    match function {
        1 => hold(math(descriptor, length, response), Rule::MathLength),
        2 => hold(sampler(word, descriptor, length, response), Rule::SamplerLength),
        4 => hold(read(word, descriptor, length, response), Rule::DataLength),
        5 => hold(write(descriptor, length, response), Rule::DataLength),
        6 => {
            // The handle comes back in one register.
            let allocates = descriptor >> 13 & 1;
            hold(response == allocates, Rule::UrbLength)
        }
        _ => Ok(()),
    }
}

/// 6.1: operands and results by the function.
fn math(descriptor: u32, length: u32, response: u32) -> bool {
    let (operands, results) = match bits(descriptor, 3, 0) {
        8 => (1, 2),
        10 | 12 | 13 => (2, 1),
        11 => (2, 2),
        _ => (1, 1),
    };
    (length, response) == (operands, results)
}

/// The messages of the sampler: type, length, response; the longer response may lack masked channels. 4.8.1.
#[rustfmt::skip]
const SAMPLER: &[(u32, u32, u32)] = &[
    (0, 3, 8), (0, 5, 8), (0, 7, 8), (0, 4, 4), (1, 4, 5), (0, 9, 8), (1, 9, 8), (2, 9, 8), (0, 6, 4), (1, 6, 4),
    (1, 2, 1), (0, 2, 1), (1, 3, 1), (3, 3, 8), (3, 5, 8), (3, 7, 8), (3, 9, 8), (3, 4, 4), (3, 2, 1), (2, 7, 4),
    (2, 10, 4), (2, 4, 1), (2, 3, 8), (2, 2, 1),
];

fn sampler(word: &Word<'_>, descriptor: u32, length: u32, response: u32) -> bool {
    let code = match word.chip.early() {
        true => bits(descriptor, 15, 14),
        false => bits(descriptor, 15, 12),
    };
    SAMPLER.iter().any(|&(known, registers, most)| {
        // Channels that the header masks are left out of a response of 8.
        let fits = response == most || most == 8 && matches!(response, 2 | 4 | 6);
        (known, registers) == (code, length) && fits
    })
}

/// 5.10.2 to 5.10.5.
fn read(word: &Word<'_>, descriptor: u32, length: u32, response: u32) -> bool {
    // Both machines' codes of the common messages are the same bits.
    let code = match word.chip.early() {
        true => 2 * bits(descriptor, 13, 12),
        false => bits(descriptor, 13, 11),
    };
    let control = bits(descriptor, 10, 8);
    match code {
        0 => length == 1 && response == [1, 1, 1, 2, 4][control as usize],
        2 => length == 2 && (1..=4).contains(&response),
        4 => length == 1 && response >= 1,
        6 => (length, response) == if control == 3 { (3, 2) } else { (2, 1) },
        _ => true,
    }
}

/// 5.10.2 to 5.10.9: a response is the acknowledgement.
fn write(descriptor: u32, length: u32, response: u32) -> bool {
    let commit = descriptor >> 15 & 1;
    let control = bits(descriptor, 10, 8);
    let registers = match bits(descriptor, 14, 12) {
        0 => length == 1 + [1, 1, 1, 2, 4][control as usize],
        1 => length >= 3,
        2 => length >= 2,
        3 => length == if control == 3 { 5 } else { 3 },
        4 => length >= if control == 1 { 3 } else { 6 },
        _ => length >= 1,
    };
    registers && response <= 1 && response == commit
}

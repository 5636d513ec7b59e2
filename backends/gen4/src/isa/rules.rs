//! What one word must obey beyond the layout of its fields: encodings that the manual reserves or forbids where a field's
//! meaning depends on another field. What depends on more than the encoding (regions, types, messages) is legality.

use super::Machine;
use super::fields::f;
use super::operand::{
    ARCHITECTURE, COMPR4, File, GRF_REGISTERS, MRF_REGISTERS, Operand, Place, Role, Type,
};
use super::ops::{Opcode, Shape};
use gpucc_isa::{DecodeError, Inst};

/// A rule that a word breaks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Broken {
    #[error("predicate control {0} is reserved in align1 (13.2.2)")]
    Predicate(u32),
    #[error("predicate control {0} is reserved in align16 (13.2.2)")]
    Predicate16(u32),
    #[error("{which}: type {code} is reserved for registers (13.2.3)")]
    RegisterType { which: &'static str, code: u32 },
    #[error("{which}: type {code} is reserved for immediate numbers (13.2.3)")]
    ImmediateType { which: &'static str, code: u32 },
    #[error("{which}: there is no register {file}{number} (13.2.1)")]
    Register { which: &'static str, file: &'static str, number: u32 },
    #[error("{which}: the architecture register {0:#04x} is reserved (11.3.4)", .number)]
    Architecture { which: &'static str, number: u32 },
    #[error(
        "{which}: byte {byte} of a register is no place for {bytes}-byte elements (11.3.10 rule 10, 13.2.1)"
    )]
    Alignment { which: &'static str, byte: u32, bytes: u32 },
    #[error("{which}: {what}")]
    Layout { which: &'static str, what: DecodeError },
    #[error("{which}: an architecture register cannot be indirect (11.3.7)")]
    IndirectArchitecture { which: &'static str },
    #[error("a number of 16 bits must stand in both halves (13.2.1, Imm32)")]
    Replicated,
    #[error("the last source alone can be a number (13.2.1, Imm32)")]
    FirstImmediate,
    #[error("the instruction has no number (14.2)")]
    NoNumber,
    #[error("bits of src0 beside a number must be 0 (13.2.4)")]
    BesideImmediate,
    #[error("the second source is not there: its word must be 0 (13.2.5)")]
    Unused,
    #[error("bits 127:121 must be 0 beside a register (13.2.5)")]
    SecondReserved,
    #[error("the shared function {0} is reserved (14.2.44)")]
    SharedFunction(u32),
    #[error("the descriptor must be a number or a0.0 (14.2.44)")]
    Descriptor,
    #[error("the first source of a message must not be a number (14.2.44)")]
    MessageSource,
    #[error("nenop has the compact form alone (11.6.3)")]
    Nenop,
    #[error("a number cannot stand in the compact form (11.6)")]
    CompactImmediate,
    #[error("this machine has no compact form (11.6)")]
    NoCompact,
}

/// The operands of a word, as far as it has them and they are no numbers.
#[derive(Copy, Clone, Debug, Default)]
pub struct Operands {
    pub dst: Option<Operand>,
    pub src0: Option<Operand>,
    pub src1: Option<Operand>,
}

/// Reads the operands of a word whose layout is right.
///
/// # Errors
/// The rule that the word breaks.
pub fn check(_machine: Machine, inst: &Inst) -> Result<Operands, Broken> {
    let opcode = Opcode::of(inst.op());
    let mut operands = Operands::default();
    if opcode.shape() == Shape::Special {
        return Ok(operands);
    }
    let align16 = inst.flag(f::ACCESS_MODE);
    match (align16, inst.get(f::PRED_CTRL)) {
        (false, code @ 12..) => return Err(Broken::Predicate(code)),
        (true, code @ 8..) => return Err(Broken::Predicate16(code)),
        _ => {}
    }
    let file = File::of(inst.get(f::DST_FILE));
    let ty = inst.get(f::DST_TYPE);
    operands.dst = Some(operand("dst", Role::Destination, align16, file, ty, inst.get(f::DST))?);
    let compressed = inst.get(f::COMPR_CTRL) == 2;
    registers("dst", &operands.dst, compressed)?;

    let second = inst.get(f::SRC1);
    let (file0, type0) = (File::of(inst.get(f::SRC0_FILE)), inst.get(f::SRC0_TYPE));
    let (file1, type1) = (File::of(inst.get(f::SRC1_FILE)), inst.get(f::SRC1_TYPE));
    if file0 == File::Imm {
        match opcode.shape() {
            Shape::Unary if inst.get(f::SRC0) != 0 => return Err(Broken::BesideImmediate),
            Shape::Unary => number("src0", type0, second)?,
            Shape::Send => return Err(Broken::MessageSource),
            _ => return Err(Broken::FirstImmediate),
        }
    } else {
        let bits = inst.get(f::SRC0);
        operands.src0 = Some(operand("src0", Role::Source, align16, file0, type0, bits)?);
        registers("src0", &operands.src0, false)?;
    }
    match opcode.shape() {
        Shape::Unary | Shape::Wait => {
            if file0 != File::Imm && second != 0 {
                return Err(Broken::Unused);
            }
        }
        Shape::Branch { .. } => {
            number("src1", type1, 0)?;
        }
        Shape::Send if file1 == File::Imm => {
            number("src1", type1, 0)?;
            let function = second >> 24 & 15;
            // Words of Gen5 name the function elsewhere, and here is none of ours.
            if function > 7 && inst.get(f::GFX5_SFID) == 0 {
                return Err(Broken::SharedFunction(function));
            }
        }
        Shape::Do if file1 == File::Imm => return Err(Broken::NoNumber),
        _ if file1 == File::Imm => number("src1", type1, second)?,
        _ => {
            if second >> 25 != 0 {
                return Err(Broken::SecondReserved);
            }
            operands.src1 = Some(operand("src1", Role::Source, align16, file1, type1, second)?);
            registers("src1", &operands.src1, false)?;
            let descriptor = |operand: Operand| {
                operand.file == File::Arf
                    && operand.place == Place::Direct { register: 0x10, byte: 0 }
            };
            if opcode.shape() == Shape::Send && !operands.src1.is_some_and(descriptor) {
                return Err(Broken::Descriptor);
            }
        }
    }
    Ok(operands)
}

fn operand(
    which: &'static str,
    role: Role,
    align16: bool,
    file: File,
    code: u32,
    bits: u32,
) -> Result<Operand, Broken> {
    let ty = Type::of(file, code).ok_or(Broken::RegisterType { which, code })?;
    Operand::decode(role, align16, file, ty, bits).map_err(|what| Broken::Layout { which, what })
}

/// A number of a type that numbers have.
fn number(which: &'static str, code: u32, value: u32) -> Result<(), Broken> {
    let ty = Type::of(File::Imm, code).ok_or(Broken::ImmediateType { which, code })?;
    match ty {
        Type::Uw | Type::W if value >> 16 != value & 0xffff => Err(Broken::Replicated),
        _ => Ok(()),
    }
}

/// Whether the registers exist and elements lie where their size allows.
fn registers(
    which: &'static str,
    operand: &Option<Operand>,
    compressed: bool,
) -> Result<(), Broken> {
    let Some(operand) = operand else { return Ok(()) };
    let Place::Direct { register: number, byte } = operand.place else {
        return match operand.file {
            File::Arf => Err(Broken::IndirectArchitecture { which }),
            _ => Ok(()),
        };
    };
    match operand.file {
        File::Grf if number >= GRF_REGISTERS => {
            return Err(Broken::Register { which, file: "g", number });
        }
        File::Mrf => {
            let base = if compressed { number & !COMPR4 } else { number };
            if base >= MRF_REGISTERS {
                return Err(Broken::Register { which, file: "m", number });
            }
        }
        File::Arf
            if !ARCHITECTURE
                .iter()
                .any(|(known, _, count)| *known == number >> 4 && number & 15 < *count) =>
        {
            return Err(Broken::Architecture { which, number });
        }
        _ => {}
    }
    let bytes = operand.ty.bytes();
    if !byte.is_multiple_of(bytes) {
        return Err(Broken::Alignment { which, byte, bytes });
    }
    Ok(())
}

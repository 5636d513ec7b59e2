//! Legality: what the manual forbids of an instruction beyond its encoding, one rule a sentence of it. [`admit`] asks one
//! instruction alone, [`admit_program`] all of a program and where they stand. What depends on a run (hazards, mask stacks,
//! nesting) is not asked here.
//!
//! - `region`: regions of registers, G45 vol. 4, 11.3.10.
//! - `compress`: compressed instructions, 11.5.3.
//! - `control`: control flow, 14.2, and masks, 11.3.4.7 to 11.3.4.11.
//! - `operation`: each instruction's own restrictions, 14.2; accumulators, 11.3.4.5; vectors as numbers, 11.3.5.
//! - `send`: messages, 14.2.44 and chapters 4 to 8.

mod compress;
mod control;
mod operation;
mod region;
mod rule;
mod send;

pub use rule::Rule;

use crate::isa::fields::f;
use crate::isa::operand::{File, Operand, Place, Region, Type};
use crate::isa::ops::{Opcode, Shape};
use crate::isa::{Decoded, Machine};

/// The chips, as far as the rules tell them apart.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Chip {
    /// 965 (DevBW).
    I965,
    /// GM965 (DevCL).
    Gm965,
    /// G45 and GM45 from the B stepping on (DevCTG-B, DevEL).
    G45,
}

impl Chip {
    /// The table that its words are read by.
    pub const fn machine(self) -> Machine {
        match self {
            Chip::I965 | Chip::Gm965 => Machine::Gen4,
            Chip::G45 => Machine::G45,
        }
    }

    /// Masks that each stack holds. G45 vol. 4, 11.3.4.9, table 11-16: what is beyond raises an exception on G45, and is lost
    /// on others.
    pub const fn mask_depth(self) -> u32 {
        match self {
            Chip::I965 => 15,
            Chip::Gm965 => 7,
            Chip::G45 => 12,
        }
    }

    /// One of the first two: [DevBW, DevCL] of the manual.
    const fn early(self) -> bool {
        !matches!(self, Chip::G45)
    }
}

/// Whether a chip may execute an instruction.
///
/// # Errors
/// The first rule that it breaks.
pub fn admit(chip: Chip, decoded: &Decoded) -> Result<(), Rule> {
    let word = Word::of(chip, decoded);
    if word.opcode.shape() == Shape::Special {
        return Ok(());
    }
    if word.inst().get(f::EXEC_SIZE) > 5 {
        return Err(Rule::ExecSizeReserved);
    }
    compress::check(&word)?;
    operation::check(&word)?;
    match word.opcode.shape() {
        Shape::Send => send::check(&word),
        Shape::Unary | Shape::Binary => region::check(&word),
        _ => Ok(()),
    }
}

/// Whether a chip may execute the instructions of a program, each given with its byte offset.
///
/// # Errors
/// The first instruction that breaks a rule, by its offset, and the rule.
pub fn admit_program(chip: Chip, program: &[(usize, Decoded)]) -> Result<(), (usize, Rule)> {
    let mut before = None;
    for (offset, decoded) in program {
        let at = |rule| (*offset, rule);
        admit(chip, decoded).map_err(at)?;
        let opcode = Opcode::of(decoded.inst.op());
        let first_half = offset.is_multiple_of(16);
        hold(decoded.compact || first_half, Rule::NativeAlign).map_err(at)?;
        hold(opcode != Opcode::Nenop || !first_half, Rule::NenopFirst).map_err(at)?;
        let twice = opcode == Opcode::Wait && before == Some(Opcode::Wait);
        hold(!twice, Rule::WaitTwice).map_err(at)?;
        before = Some(opcode);
    }
    Ok(())
}

/// A rule that holds or not.
fn hold(holds: bool, rule: Rule) -> Result<(), Rule> {
    if holds { Ok(()) } else { Err(rule) }
}

/// An instruction as the rules ask it.
struct Word<'a> {
    chip: Chip,
    decoded: &'a Decoded,
    opcode: Opcode,
    /// Channels.
    size: u32,
    align16: bool,
    /// Two instructions in one.
    compressed: bool,
    dst: Option<Operand>,
    sources: [Option<Operand>; 2],
    /// The number, where a source is one.
    number: Option<Type>,
}

impl<'a> Word<'a> {
    fn of(chip: Chip, decoded: &'a Decoded) -> Word<'a> {
        let inst = &decoded.inst;
        let opcode = Opcode::of(inst.op());
        let number = [(f::SRC0_FILE, f::SRC0_TYPE), (f::SRC1_FILE, f::SRC1_TYPE)]
            .into_iter()
            .find(|(file, _)| File::of(inst.get(*file)) == File::Imm)
            .and_then(|(_, ty)| Type::of(File::Imm, inst.get(ty)));
        Word {
            chip,
            decoded,
            opcode,
            size: 1 << inst.get(f::EXEC_SIZE),
            align16: inst.flag(f::ACCESS_MODE),
            compressed: inst.get(f::COMPR_CTRL) == 2,
            dst: decoded.operands.dst,
            sources: [decoded.operands.src0, decoded.operands.src1],
            number,
        }
    }

    fn inst(&self) -> &gpucc_isa::Inst {
        &self.decoded.inst
    }

    /// Channels of one of the halves that are executed.
    fn half(&self) -> u32 {
        if self.compressed { self.size / 2 } else { self.size }
    }

    /// Types of the sources, the number's among them.
    fn source_types(&self) -> impl Iterator<Item = Type> {
        let registers = self.sources.into_iter().flatten();
        registers.filter(|source| !is_null(source)).map(|source| source.ty).chain(self.number)
    }

    /// The execution type: any float makes it float, else any dword a dword, else it is a word. 11.3.9.
    fn execution(&self) -> Type {
        let mut types: Vec<Type> = self.source_types().collect();
        types.sort_unstable_by_key(|ty| (!is_float(*ty), 4 - ty.bytes()));
        match types.first() {
            Some(ty) if is_float(*ty) => Type::F,
            Some(ty) if ty.bytes() == 4 => Type::D,
            _ => Type::W,
        }
    }
}

fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F | Type::Vf)
}

fn is_dword(ty: Type) -> bool {
    matches!(ty, Type::D | Type::Ud)
}

fn is_byte(ty: Type) -> bool {
    matches!(ty, Type::B | Type::Ub)
}

/// The kind of an architecture register that is named directly.
fn architecture(operand: &Operand) -> Option<u32> {
    match operand.place {
        Place::Direct { register, .. } if operand.file == File::Arf => Some(register >> 4),
        _ => None,
    }
}

fn is_null(operand: &Operand) -> bool {
    architecture(operand) == Some(0)
}

fn is_accumulator(operand: &Operand) -> bool {
    architecture(operand) == Some(2)
}

fn is_ip(operand: &Operand) -> bool {
    architecture(operand) == Some(0xa)
}

/// Elements from one to the next, by the code of a stride.
const fn stride(code: u32) -> u32 {
    match code {
        0 => 0,
        code => 1 << (code - 1),
    }
}

/// A source of which every channel reads the same element.
fn is_scalar(operand: &Operand) -> bool {
    match operand.region {
        Region::Rows { vertical, horizontal, .. } => vertical == 0 && horizontal == 0,
        _ => false,
    }
}

/// Elements from one channel's to the next of a destination.
fn destination_stride(operand: &Operand) -> u32 {
    match operand.region {
        Region::Stride(code) => stride(code),
        _ => 1,
    }
}

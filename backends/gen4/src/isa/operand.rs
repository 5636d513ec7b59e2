//! Operands: what the bits of a destination or a source mean, as values. The tables of operands say where the bits lie.

use super::fields::f;
use super::ops;
use gpucc_isa::{DecodeError, FieldId, Inst, Table};

/// A register file, by its code.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum File {
    /// Architecture registers.
    Arf,
    /// General registers.
    Grf,
    /// Message registers.
    Mrf,
    /// A number in the instruction.
    Imm,
}

impl File {
    /// The file of a code of 2 bits.
    pub const fn of(code: u32) -> File {
        match code & 3 {
            0 => File::Arf,
            1 => File::Grf,
            2 => File::Mrf,
            _ => File::Imm,
        }
    }

    /// The code.
    pub const fn code(self) -> u32 {
        self as u32
    }
}

/// Types of registers, and of immediate numbers beyond them. G45 vol. 4, 13.2.3.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Type {
    Ud,
    D,
    Uw,
    W,
    Ub,
    B,
    F,
    /// Eight signed numbers of 4 bits.
    V,
    /// Four floats of 8 bits.
    Vf,
}

impl Type {
    const REGISTER: [Option<Type>; 8] = [
        Some(Type::Ud),
        Some(Type::D),
        Some(Type::Uw),
        Some(Type::W),
        Some(Type::Ub),
        Some(Type::B),
        None,
        Some(Type::F),
    ];
    const IMMEDIATE: [Option<Type>; 8] = [
        Some(Type::Ud),
        Some(Type::D),
        Some(Type::Uw),
        Some(Type::W),
        None,
        Some(Type::Vf),
        Some(Type::V),
        Some(Type::F),
    ];

    /// The type of a code, `None` for a reserved one.
    pub fn of(file: File, code: u32) -> Option<Type> {
        let types = if file == File::Imm { Type::IMMEDIATE } else { Type::REGISTER };
        types[code as usize & 7]
    }

    /// The code, `None` where the file lacks the type.
    pub fn code(self, file: File) -> Option<u32> {
        let types = if file == File::Imm { Type::IMMEDIATE } else { Type::REGISTER };
        types.iter().position(|known| *known == Some(self)).map(|code| code as u32)
    }

    /// As text says it.
    pub const fn name(self) -> &'static str {
        match self {
            Type::Ud => "UD",
            Type::D => "D",
            Type::Uw => "UW",
            Type::W => "W",
            Type::Ub => "UB",
            Type::B => "B",
            Type::F => "F",
            Type::V => "V",
            Type::Vf => "VF",
        }
    }

    /// The type of this name, small letters included.
    pub fn named(name: &str) -> Option<Type> {
        const ALL: [Type; 9] =
            [Type::Ud, Type::D, Type::Uw, Type::W, Type::Ub, Type::B, Type::F, Type::V, Type::Vf];
        ALL.into_iter().find(|ty| ty.name().eq_ignore_ascii_case(name))
    }

    /// Bytes of an element. The vectors are of words and floats.
    pub const fn bytes(self) -> u32 {
        match self {
            Type::Ud | Type::D | Type::F | Type::Vf => 4,
            Type::Uw | Type::W | Type::V => 2,
            Type::Ub | Type::B => 1,
        }
    }
}

/// Where an operand begins.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A register and a byte within it.
    Direct { register: u32, byte: u32 },
    /// What a sub-register of a0 says, and bytes from there.
    Indirect { index: u32, offset: i32 },
}

/// The elements that an operand takes, as codes of the word.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Region {
    /// A destination: how far apart.
    Stride(u32),
    /// A destination of Align16: how far apart, and which of four are written.
    Masked { stride: u32, channels: u32 },
    /// A source: rows.
    Rows { vertical: u32, width: u32, horizontal: u32 },
    /// A source of Align16: rows, and which of four each channel reads (2 bits each, the first lowest).
    Swizzled { vertical: u32, select: u32 },
}

/// An operand that is no number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    pub file: File,
    pub ty: Type,
    pub place: Place,
    pub region: Region,
    /// Bit 0: the absolute value; bit 1: then the negative.
    pub modifier: u32,
}

/// The architecture registers: bits 7:4 of a register's number, the name, and how many there are. G45 vol. 4, table 11-5
/// (E3).
pub const ARCHITECTURE: [(u32, &str, u32); 12] = [
    (0x0, "null", 1),
    (0x1, "a", 1),
    (0x2, "acc", 2),
    (0x3, "f", 1),
    (0x4, "mask", 1),
    (0x5, "ms", 1),
    (0x6, "msd", 1),
    (0x7, "sr", 1),
    (0x8, "cr", 1),
    (0x9, "n", 2),
    (0xa, "ip", 1),
    // Not of this family; words of a public list have it (E12).
    (0xc, "tm", 1),
];

/// The number of `ip`.
pub const IP: u32 = 0xa0;

/// How many registers each file has: 13.2.1, RegNum. COMPR4 of a message register is bit 7.
pub const GRF_REGISTERS: u32 = 128;
/// See [`GRF_REGISTERS`].
pub const MRF_REGISTERS: u32 = 16;
/// Bit of a message register's number: the second half of a compressed instruction goes 4 registers further.
pub const COMPR4: u32 = 0x80;

/// Which of the two operands of a word.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Role {
    Destination,
    Source,
}

fn table(role: Role, align16: bool) -> &'static Table {
    match (role, align16) {
        (Role::Destination, false) => &ops::DST_ALIGN1,
        (Role::Destination, true) => &ops::DST_ALIGN16,
        (Role::Source, false) => &ops::SRC_ALIGN1,
        (Role::Source, true) => &ops::SRC_ALIGN16,
    }
}

/// The operand's bits as a row of the table of operands.
///
/// # Errors
/// Reserved bits and reserved values.
pub fn layout(role: Role, align16: bool, bits: u32) -> Result<Inst, DecodeError> {
    table(role, align16).decode(u128::from(bits))
}

impl Operand {
    /// What the bits mean; `file` and `ty` stand elsewhere in the word.
    ///
    /// # Errors
    /// As [`layout`].
    pub fn decode(
        role: Role,
        align16: bool,
        file: File,
        ty: Type,
        bits: u32,
    ) -> Result<Operand, DecodeError> {
        let inst = layout(role, align16, bits)?;
        let get = |id: FieldId| inst.get(id);
        let signed = |id: FieldId| {
            inst.op().format.field(id).map_or(0, |field| field.signed(inst.get(id)) as i32)
        };
        let place = match (get(f::ADDR_MODE) != 0, align16) {
            (false, false) => Place::Direct { register: get(f::REG), byte: get(f::SUBREG) },
            (false, true) => Place::Direct { register: get(f::REG), byte: 16 * get(f::SUBREG4) },
            (true, false) => {
                Place::Indirect { index: get(f::ADDR_SUBREG), offset: signed(f::ADDR_IMM) }
            }
            (true, true) => {
                Place::Indirect { index: get(f::ADDR_SUBREG), offset: 16 * signed(f::ADDR_IMM) }
            }
        };
        let region = match (role, align16) {
            (Role::Destination, false) => Region::Stride(get(f::HORZ_STRIDE)),
            (Role::Destination, true) => {
                Region::Masked { stride: get(f::HORZ_STRIDE), channels: get(f::CHAN_EN) }
            }
            (Role::Source, false) => Region::Rows {
                vertical: get(f::VERT_STRIDE),
                width: get(f::WIDTH),
                horizontal: get(f::HORZ_STRIDE),
            },
            (Role::Source, true) => {
                Region::Swizzled { vertical: get(f::VERT_STRIDE), select: get(f::CHAN_SEL) }
            }
        };
        Ok(Operand { file, ty, place, region, modifier: get(f::SRC_MOD) })
    }

    /// The bits; `None` where something does not fit its field.
    pub fn encode(&self) -> Option<u32> {
        let (role, align16) = match self.region {
            Region::Stride(_) => (Role::Destination, false),
            Region::Masked { .. } => (Role::Destination, true),
            Region::Rows { .. } => (Role::Source, false),
            Region::Swizzled { .. } => (Role::Source, true),
        };
        let indirect = matches!(self.place, Place::Indirect { .. });
        let mut inst = Inst::new(&table(role, align16).ops[usize::from(indirect)]);
        let mut set = |id: FieldId, value: u32| inst.set(id, value).ok();
        match self.place {
            Place::Direct { register, byte } => {
                set(f::REG, register)?;
                match align16 {
                    false => set(f::SUBREG, byte)?,
                    true if byte % 16 == 0 => set(f::SUBREG4, byte / 16)?,
                    true => return None,
                }
            }
            Place::Indirect { index, offset } => {
                set(f::ADDR_SUBREG, index)?;
                if !(-512..512).contains(&offset) {
                    return None;
                }
                match align16 {
                    false => set(f::ADDR_IMM, offset as u32 & 0x3ff)?,
                    true if offset % 16 == 0 => set(f::ADDR_IMM, (offset / 16) as u32 & 0x3f)?,
                    true => return None,
                }
            }
        }
        match self.region {
            Region::Stride(stride) => set(f::HORZ_STRIDE, stride)?,
            Region::Masked { stride, channels } => {
                set(f::HORZ_STRIDE, stride)?;
                set(f::CHAN_EN, channels)?;
            }
            Region::Rows { vertical, width, horizontal } => {
                set(f::VERT_STRIDE, vertical)?;
                set(f::WIDTH, width)?;
                set(f::HORZ_STRIDE, horizontal)?;
            }
            Region::Swizzled { vertical, select } => {
                set(f::VERT_STRIDE, vertical)?;
                set(f::CHAN_SEL, select)?;
            }
        }
        if role == Role::Source {
            set(f::SRC_MOD, self.modifier)?;
        }
        Some(inst.bits() as u32)
    }
}

//! What a 64-bit word may be: the emulator's own table of opcodes, fields and limits, written from Arm's description
//! (isa/arm-mali-isa-v9-v14.xml, v9) and from nothing that the assembler has. [`Form`] is one layout of one operation; a
//! bit that belongs to none of its fields is reserved, and so is a value that a field does not list.
//!
//! The test `agree` compares this table and the decoder over it with the assembler's by random words.

mod fields;
mod forms;

pub use fields::*;
pub use forms::FORMS;

use super::decode::{Refused, reserved};
use super::inst::{Combine, Ty};
use std::sync::OnceLock;

/// A field: its lowest bit, its width, and the set of values that it may have (bit v for value v; wide fields take any).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub at: u8,
    pub width: u8,
    pub values: u32,
}

impl Field {
    const fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.at
    }

    const fn takes(self, value: u32) -> bool {
        self.width > 5 || self.values >> value & 1 == 1
    }
}

/// The bits of one instruction.
#[derive(Copy, Clone)]
pub struct Bits(pub u64);

impl Bits {
    /// The value of a field.
    pub const fn get(self, field: Field) -> u32 {
        (self.0 >> field.at & ((1 << field.width) - 1)) as u32
    }

    /// Whether a field has any bit set.
    pub const fn has(self, field: Field) -> bool {
        self.get(field) != 0
    }
}

/// Types as the rows name them: integers by width and sign, of 16 and 8 bits several to a register.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Type {
    F32,
    V2F16,
    F16,
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
}

impl Type {
    /// What the decoder calls it.
    pub const fn ty(self) -> Ty {
        let (bits, signed) = match self {
            Type::F32 => return Ty::F32,
            Type::V2F16 => return Ty::V2F16,
            Type::F16 => return Ty::F16,
            Type::U8 => (8, false),
            Type::S8 => (8, true),
            Type::U16 => (16, false),
            Type::S16 => (16, true),
            Type::U32 => (32, false),
            Type::S32 => (32, true),
            Type::U64 => (64, false),
            Type::S64 => (64, true),
        };
        Ty::Int { bits, signed }
    }
}

/// Operations of words. Numbers of memory accesses are bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// What no document defines of it.
    Missing(&'static str),
    Nop,
    Branch,
    Jump,
    Discard,
    FAdd,
    FAddLscale,
    FMin {
        max: bool,
    },
    Fma,
    FmaRscale,
    FExp,
    Ldexp,
    Frexpm,
    Frexpe,
    Flush,
    FRound,
    Frcp,
    Frsq,
    Flogd,
    FSinTable,
    FCosTable,
    ToInt {
        half: bool,
        bits: u8,
        signed: bool,
    },
    ToFloat {
        bits: u8,
        half: bool,
        signed: bool,
    },
    Widen {
        bits: u8,
        to: u8,
        signed: bool,
    },
    HalfToFloat,
    FloatsToHalves,
    Mov,
    Clz,
    IAbs,
    Popcount,
    BitRev,
    NotOld,
    Wmask,
    IAdd {
        sub: bool,
    },
    IAddCarry {
        sub: bool,
    },
    IMul,
    HAdd,
    ShiftAdd,
    Clper,
    MakeHalves,
    MakeBytes,
    ShiftLogic,
    Mux,
    CubeSelect {
        t: bool,
    },
    CubeMajor,
    CubeFace,
    Dot,
    Compare(Combine),
    Select,
    IAddImm,
    FAddImm,
    Barrier,
    Load(u8),
    Store(u8),
    LoadBuffer(u8),
    LeaBuffer,
    LeaBuf {
        imm: bool,
    },
    Atom(u8),
    AtomReturn(u8),
    CmpXchg(u8),
    Atom1(u8),
    Atom1Return(u8),
    LdAttr {
        imm: bool,
    },
    LeaAttr {
        imm: bool,
    },
    LdTex {
        imm: bool,
    },
    LeaTex {
        imm: bool,
    },
    LdCvt,
    StCvt,
    LdVarBuf {
        imm: bool,
        half: bool,
    },
    LdVarSpecial,
    Clock,
    TexSingle,
    TexFetch,
    TexGather,
    TexGradient,
    VarTexSingle,
    VarTexGather,
    VarTexGradient,
    Atest,
    ZsEmit,
    Blend,
}

/// One layout of one operation.
#[derive(Debug)]
pub struct Form {
    /// The bits that are the same in all its words, and their values.
    mask: u64,
    value: u64,
    /// All bits that may be set.
    known: u64,
    /// Arm's name.
    pub name: &'static str,
    /// What its suffix says.
    pub ty: Type,
    pub code: Code,
    /// What may differ, but for page and flow.
    pub fields: &'static [Field],
}

impl Form {
    const fn new(
        opcode: u64,
        exact: &[(u8, u8, u64)],
        name: &'static str,
        ty: Type,
        code: Code,
        fields: &'static [Field],
    ) -> Form {
        let (mut mask, mut value) = (OPCODE.mask(), opcode << OPCODE.at);
        let mut i = 0;
        while i < exact.len() {
            let (at, width, is) = exact[i];
            mask |= ((1 << width) - 1) << at;
            value |= is << at;
            i += 1;
        }
        let mut known = mask | PAGE.mask() | FLOW.mask();
        i = 0;
        while i < fields.len() {
            // A field within the opcode: two operations differ by it.
            mask &= !fields[i].mask();
            known |= fields[i].mask();
            i += 1;
        }
        Form { mask, value, known, name, ty, code, fields }
    }

    /// Bits that are the same in all its words, and their values.
    #[cfg(test)]
    pub const fn fixed(&self) -> (u64, u64) {
        (self.mask, self.value)
    }
}

/// The forms that an opcode may have, as a range of the table.
fn of_opcode(opcode: u32) -> &'static [Form] {
    static FIRST: OnceLock<Vec<u16>> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let opcode = |form: &Form| (form.value >> OPCODE.at) as usize;
        let before = |limit: usize| FORMS.partition_point(|form| opcode(form) < limit);
        (0..=1 << OPCODE.width).map(|n| before(n) as u16).collect()
    });
    &FORMS[usize::from(first[opcode as usize])..usize::from(first[opcode as usize + 1])]
}

/// The form of a word.
///
/// # Errors
/// A word that v9 reserves: its opcode, a bit, a value.
pub fn find(word: u64) -> Result<&'static Form, Refused> {
    let bits = Bits(word);
    let opcode = bits.get(OPCODE);
    // FMA_RSCALE's rounding stands within the opcode.
    let row = match opcode >> 4 {
        0x16 => opcode & !4,
        _ => opcode,
    };
    let is = |form: &&Form| word & form.mask == form.value;
    let Some(form) = of_opcode(row).iter().find(is) else {
        return Err(reserved(format!("{word:#018x}, opcode {opcode:#05x},")));
    };
    let unknown = word & !form.known;
    if unknown != 0 {
        let bit = unknown.trailing_zeros();
        return Err(reserved(format!("bit {bit} of {}", form.name)));
    }
    for field in form.fields.iter().chain(&[FLOW]) {
        let value = bits.get(*field);
        if !field.takes(value) {
            let (low, high) = (field.at, field.at + field.width - 1);
            let detail = format!("{value} in bits {high}:{low} of {}", form.name);
            return Err(reserved(detail));
        }
    }
    Ok(form)
}

//! Operands that the text of an instruction does not say: what every encoder puts there. Where a word has others, the text
//! says them among the options.

use super::operand::{File, Operand, Place, Region};
use super::ops::{Opcode, Shape};

/// An operand as the word holds it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Raw {
    pub file: u32,
    pub ty: u32,
    pub bits: u32,
}

/// The operands that the text leaves out.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Implied {
    pub dst: Option<Raw>,
    pub src0: Option<Raw>,
    pub src1: Option<Raw>,
}

const UD: u32 = 0;
const D: u32 = 1;
const F: u32 = 7;

const fn arf(ty: u32, bits: u32) -> Option<Raw> {
    Some(Raw { file: 0, ty, bits })
}

/// What an instruction implies. Branches write and read `ip` (13.4.1); the regions are those of public encoders.
pub fn implied(opcode: Opcode, align16: bool, exec_code: u32) -> Implied {
    let (null_dst, null_src) = if align16 { (0x200f, 0x6e_0004) } else { (0x2000, 0x8d_0000) };
    let ip_dst = if align16 { 0x340f } else { 0x3400 };
    let ip_scalar = if align16 { 0x6e_1404 } else { 0x1400 };
    match (opcode.shape(), opcode) {
        (Shape::Branch { .. }, Opcode::Endif) => {
            Implied { dst: arf(D, null_dst), src0: arf(D, null_src), src1: None }
        }
        (Shape::Branch { .. }, _) => {
            let rows = if align16 || exec_code == 0 { ip_scalar } else { 0x60_1400 };
            Implied { dst: arf(UD, ip_dst), src0: arf(UD, rows), src1: None }
        }
        (Shape::Do, _) => {
            Implied { dst: arf(F, null_dst), src0: arf(F, null_src), src1: arf(F, null_src) }
        }
        (Shape::Jump, _) => Implied { dst: arf(UD, ip_dst), src0: arf(UD, ip_scalar), src1: None },
        _ => Implied::default(),
    }
}

/// The source of `wait`: the register that it writes, one element of it. `None` where that has no such form.
pub fn repeated(dst: &Operand) -> Option<Raw> {
    if !matches!(dst.place, Place::Direct { .. }) {
        return None;
    }
    let region = match dst.region {
        Region::Masked { .. } => Region::Swizzled { vertical: 0, select: 0 },
        _ => Region::Rows { vertical: 0, width: 0, horizontal: 0 },
    };
    let source = Operand { region, modifier: 0, ..*dst };
    let ty = source.ty.code(File::Arf)?;
    Some(Raw { file: source.file.code(), ty, bits: source.encode()? })
}

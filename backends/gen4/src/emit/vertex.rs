//! Slots of vertex URB entries: components side by side, by Align16, and the messages that take them. G45 vol. 4, 8.2;
//! isa/gen4-pipeline.md 4.1, 5.4.

use super::math::sets;
use super::{EIGHT, Emit, From, How, LANES, NULL, grf, into, result, source, swizzled};
use crate::inst::{Inst, Source, Src, Swizzled, small};
use crate::isa::fields::f;
use crate::isa::operand::{File, Operand, Region, Type};
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::Reg;
use smallvec::SmallVec;

/// The message register of the header: those before it are memory's, which spilled values may need between two slots.
pub const HEADER: u8 = 3;
/// The message register of the first slot.
pub const SLOTS: u8 = 4;
/// Slots of a message: registers up to m15.
pub const MOST: u8 = 12;

/// What components of a slot can be taken from at once.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Base {
    /// A register of lanes.
    Lanes(u32),
    /// A register of two vertices.
    Pair(u32),
    /// Half of a register, for both vertices.
    Half(u32, u32),
    Number(u32),
    /// Numbers that are floats of 8 bits: one vector has one for each component.
    Floats,
}

/// The base of a source, and the component there.
fn base(source: &Source) -> (Base, u32) {
    match source.src {
        Src::Reg(reg) => (Base::Lanes(reg.cell().index.into()), 0),
        Src::Fixed(register) => (Base::Lanes(register.into()), 0),
        Src::Pair { register, dword } => (Base::Pair(register.into()), dword.into()),
        Src::Scalar { register, dword } => {
            (Base::Half(register.into(), u32::from(dword) / 4), u32::from(dword) % 4)
        }
        Src::Part { reg, component } => (Base::Pair(reg.cell().index.into()), component.into()),
        Src::Bits(bits) if small(bits).is_some() => (Base::Floats, 0),
        Src::Bits(bits) | Src::Floats(bits) => (Base::Number(bits), 0),
        Src::There | Src::Free => (Base::Number(0), 0),
    }
}

/// Components of a register of two vertices as a destination, or those of a message register that the register names.
fn components(reg: Reg, ty: Type, channels: u8) -> Operand {
    match result(reg, ty) {
        all @ Operand { region: Region::Stride(_), .. } => {
            Operand { region: Region::Masked { stride: 1, channels: channels.into() }, ..all }
        }
        masked => masked,
    }
}

/// A source of components with the component that each reads.
fn selected(source: &Swizzled, ty: Type) -> From {
    match swizzled(source.of, ty) {
        From::Operand(operand) => {
            let vertical = match operand.region {
                Region::Swizzled { vertical, .. } => vertical,
                _ => 3,
            };
            let region = Region::Swizzled { vertical, select: source.select.into() };
            From::Operand(Operand { region, ..operand })
        }
        number => number,
    }
}

impl Emit<'_> {
    /// An operation on components of two vertices. G45 vol. 4, 11.3.7.
    pub(super) fn vector(&mut self, inst: &Inst) -> Result<(), Failure> {
        let Inst::Vector { opcode, to, dst, from, saturate, channels, sources, .. } = inst else {
            return Ok(());
        };
        let dst = components(*dst, *to, *channels);
        let sources: SmallVec<[From; 2]> =
            sources.iter().map(|source| selected(source, *from)).collect();
        let how = How { size: Some(EIGHT), saturate: *saturate, ..How::default() };
        self.word(*opcode, how, dst, &sources)?;
        self.align16()
    }

    /// A function of components of two vertices. Public drivers send such messages in Align16 (isa/gen4.md 8).
    pub(super) fn math_vector(&mut self, inst: &Inst) -> Result<(), Failure> {
        let Inst::MathVector { dst, function, channels, source, .. } = inst else {
            return Ok(());
        };
        let From::Operand(from) = selected(source, Type::F) else {
            return Err(super::internal("a number goes to extended math"));
        };
        let how = How { size: Some(EIGHT), components: true, ..How::default() };
        let dst = components(*dst, Type::F, *channels);
        self.send((super::MATH, how), dst, from, super::math::descriptor(*function))
    }

    /// A comparison that sets f0.1, and the choice by it.
    pub(super) fn choose(&mut self, inst: &Inst) -> Result<(), Failure> {
        let Inst::Choose { dst, condition, ty, channels, inverse, sources, .. } = inst else {
            return Ok(());
        };
        let vector = *channels != 0;
        let to = match vector {
            true => components(*dst, Type::Ud, *channels),
            false => result(*dst, Type::Ud),
        };
        let masked = matches!(to.region, Region::Masked { .. });
        let from = |number: usize, ty: Type| {
            let of: &Swizzled = &sources[number];
            match (vector, masked) {
                (true, _) => selected(of, ty),
                (_, true) => swizzled(of.of, ty),
                _ => source(of.of, ty),
            }
        };
        let (opcode, condition, made) = sets(*condition, *ty);
        let nowhere = Operand { region: to.region, ..into(File::Arf, NULL, made) };
        let usual = How { size: Some(EIGHT), other: true, ..How::default() };
        let how = How { condition, ..usual };
        self.word(opcode, how, nowhere, &[from(0, *ty), from(1, *ty)])?;
        if masked {
            self.align16()?;
        }
        let how = How { predicate: Some(*inverse), ..usual };
        self.word(Opcode::Sel, how, to, &[from(2, Type::Ud), from(3, Type::Ud)])?;
        if masked { self.align16() } else { Ok(()) }
    }

    /// The last word has Align16.
    pub(super) fn align16(&mut self) -> Result<(), Failure> {
        match self.words.last_mut() {
            Some(word) => word.set(f::ACCESS_MODE, 1).map_err(super::internal),
            None => Ok(()),
        }
    }

    /// One instruction for all components that have one base.
    pub(super) fn slot(&mut self, values: &[Source; 4], message: u8) -> Result<(), Failure> {
        // What nobody reads has what is moved first.
        let mut left = values.map(|value| !matches!(value.src, Src::There | Src::Free));
        let mut free = values.map(|value| value.src == Src::Free);
        let none = !left.contains(&true);
        for first in 0..4 {
            let wanted = left[first] || none && free[first];
            if !wanted {
                continue;
            }
            let (from, negate) = (base(&values[first]).0, values[first].negate);
            let (mut channels, mut select, mut floats) = (0, 0, 0);
            let free = std::mem::take(&mut free);
            for component in 0..4 {
                let number = if free[component] { first } else { component };
                let (other, place) = base(&values[number]);
                let alike = left[component] && other == from && values[number].negate == negate;
                if alike || free[component] {
                    left[component] = false;
                    channels |= 1 << component;
                    select |= place << (2 * component);
                    if let Src::Bits(bits) = values[number].src {
                        floats |= small(bits).unwrap_or(0) << (8 * component);
                    }
                }
            }
            let ty = if negate || from == Base::Floats { Type::F } else { Type::Ud };
            let dst = Operand {
                region: Region::Masked { stride: 1, channels },
                ..into(File::Mrf, message.into(), ty)
            };
            let rows = |register: u32, byte: u32, vertical: u32| {
                let region = Region::Swizzled { vertical, select };
                let modifier = if negate { 2 } else { 0 };
                From::Operand(Operand { modifier, ..grf(register, byte, ty, region) })
            };
            let from = match from {
                Base::Lanes(register) | Base::Pair(register) => rows(register, 0, 3),
                Base::Half(register, half) => rows(register, 16 * half, 0),
                Base::Number(bits) => From::Number(bits, Type::Ud),
                Base::Floats => From::Number(floats, Type::Vf),
            };
            self.word(Opcode::Mov, How { size: Some(EIGHT), ..How::default() }, dst, &[from])?;
            self.align16()?;
        }
        Ok(())
    }

    /// The slots so far go to both vertices' entries.
    pub(super) fn entry(&mut self, row: u8, count: u8, last: bool) -> Result<(), Failure> {
        let header = grf(0, 0, Type::Ud, LANES);
        let nowhere = into(File::Arf, NULL, Type::Ud);
        let end = if last { 0x8000_8000 } else { 0 };
        let length = (u32::from(count) + 1) << 20;
        // Used, interleaved.
        let descriptor = 0x0600_4400 | end | length | u32::from(row) << 4;
        self.send((HEADER, How::default()), nowhere, header, descriptor)
    }
}

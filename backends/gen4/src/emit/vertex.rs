//! Slots of vertex URB entries: components side by side, by Align16, and the messages that take them. G45 vol. 4, 8.2;
//! isa/gen4-pipeline.md 4.1, 5.4.

use super::math::sets;
use super::{
    EIGHT, Emit, From, How, LANES, NULL, grf, half_of_message, into, result, source, swizzled,
};
use crate::inst::{Base, Inst, Source, Src, Swizzled, small};
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

    /// A comparison that sets f0.1, and the word by it.
    pub(super) fn apply(&mut self, inst: &Inst) -> Result<(), Failure> {
        let Inst::Apply {
            dst,
            condition,
            ty,
            channels,
            inverse,
            test,
            opcode,
            to,
            from,
            sources,
            ..
        } = inst
        else {
            return Ok(());
        };
        let vector = *channels != 0;
        let dst = match vector {
            true => components(*dst, *to, *channels),
            false => result(*dst, *to),
        };
        let of = |of: &Swizzled, ty: Type| match vector {
            true => selected(of, ty),
            false => source(of.of, ty),
        };
        let (compares, condition, made) = sets(*condition, *ty);
        let nowhere = Operand { region: dst.region, ..into(File::Arf, NULL, made) };
        let usual = How { size: Some(EIGHT), other: true, components: vector, ..How::default() };
        let how = How { condition, ..usual };
        self.word(compares, how, nowhere, &test.map(|operand| of(&operand, *ty)))?;
        let how = How { predicate: Some(*inverse), ..usual };
        let sources: SmallVec<[From; 2]> = sources.iter().map(|one| of(one, *from)).collect();
        self.word(*opcode, how, dst, &sources)
    }

    /// The last word has Align16.
    pub(super) fn align16(&mut self) -> Result<(), Failure> {
        match self.words.last_mut() {
            Some(word) => word.set(f::ACCESS_MODE, 1).map_err(super::internal),
            None => Ok(()),
        }
    }

    /// One instruction for all components that have one base, of a message register or a half of it.
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
            let of = values[first].place();
            let done = |source: &Source| (source.negate, source.absolute);
            let (mut channels, mut select, mut floats) = (0, 0, 0);
            let free = std::mem::take(&mut free);
            for component in 0..4 {
                let number = if free[component] { first } else { component };
                let place = values[number].place();
                let same = place.base == of.base && done(&values[number]) == done(&of.whole);
                let alike = left[component] && same;
                if alike || free[component] {
                    left[component] = false;
                    channels |= 1 << component;
                    select |= place.component << (2 * component);
                    if let Src::Bits(bits) = values[number].src {
                        floats |= small(bits).unwrap_or(0) << (8 * component);
                    }
                }
            }
            let float = !of.whole.is_plain() || of.base == Base::Floats;
            let ty = if float { Type::F } else { Type::Ud };
            let dst = Operand {
                region: Region::Masked { stride: 1, channels },
                ..half_of_message(message, ty)
            };
            let from = match of.base {
                Base::Number(bits) => From::Number(bits, Type::Ud),
                Base::Floats => From::Number(floats, Type::Vf),
                Base::Nothing => From::Number(0, Type::Ud),
                _ => selected(&Swizzled { of: of.whole, select }, ty),
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

//! Texels by their numbers: loads, stores and atomic operations. isa/rogue-pipeline.md 2.3, 2.9, 4.5.
//!
//! The unit takes numbers as floats. What is beyond a texture is its border, which is 0, and is not written. Texels are packed before
//! they are written.

use super::Lower;
use super::alu::{AND, OR};
use super::test::{self, Asked};
use super::texture::{Place, Shape};
use crate::abi::{LAST_LAYER, TEXTURE_WORDS};
use crate::color::Packed;
use crate::inst::{Message, Src, Step};
use crate::isa::fields::f;
use crate::isa::group::{Feed, MainOps};
use crate::isa::ops::{Backend, Bitwise0, Bitwise1, Main, Pack};
use crate::isa::register::Register;
use gpucc_emu::format::Format;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Reg, Role};
use gpucc_ir::ssa::{AtomicOp, Dim, Imm, InstData, ResourceKind, TexOp, Type, Value};
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;

/// The code of a level that is given. 2.9.
const REPLACE: u32 = 2;
/// Formats of packs and unpacks. 2.3.
const S32: u32 = 7;

impl Lower<'_> {
    /// A number of a texel as the unit takes it.
    fn as_float(&mut self, value: Value) -> Src {
        match self.ssa.as_const(value) {
            Some(bits) => self.number((bits as u32 as i32 as f32).to_bits()),
            None => {
                let number = self.source(value);
                Src::Reg(self.unpacked(S32, 0, number).into())
            }
        }
    }

    /// Where a texel is: coordinates, then the layer. What is in no layer is nowhere.
    fn by_number(
        &mut self,
        shape: Shape,
        texture: u16,
        args: &mut &[Value],
    ) -> Result<Place, Failure> {
        if shape.dim == Dim::Cube {
            return Err(self.not_yet("texels of cubes by number"));
        }
        let count = shape.dim.coords().min(args.len());
        let (coordinates, rest) = args.split_at(count);
        *args = rest;
        let mut place = Place { by_number: true, ..Place::default() };
        for &value in coordinates {
            let coordinate = self.as_float(value);
            place.coordinates.push(coordinate);
        }
        if shape.arrayed
            && let Some(&layer) = args.split_off_first()
        {
            let layer = self.source(layer);
            let last = Src::Fixed(Register::Shared(texture + LAST_LAYER));
            let inside = Src::Reg(self.bound(test::LESS, test::U32, layer, last).into());
            let beyond = self.difference(layer, inside);
            place.coordinates[0] = self.nowhere_if(beyond, place.coordinates[0]);
            place.address = Some(self.layer_address(texture, inside));
        }
        Ok(place)
    }

    /// What one word is more than another.
    fn difference(&mut self, a: Src, b: Src) -> Src {
        let word = Word::usual(Main::Imadd32.op()).with(f::NEG0, 1);
        Src::Reg(self.p0(word, &[b, Src::ONE, a]).into())
    }

    /// A load of a texel.
    pub(super) fn texel_load(
        &mut self,
        data: &InstData,
        tex: &TexOp,
        shape: Shape,
        (texture, mut args): (u16, &[Value]),
    ) -> Result<(), Failure> {
        let Some(sampler) = self.abi.texels else {
            return Err(self.not_yet("a load without its sampler"));
        };
        let mut place = self.by_number(shape, texture, &mut args)?;
        place.offset = tex.offset;
        let last = args.first().copied();
        let is_first = last.is_none_or(|last| self.ssa.as_const(last) == Some(0));
        if shape.multisampled {
            self.name_sample(texture, &mut place, last.filter(|_| !is_first));
        } else {
            place.level = REPLACE;
            let mut level = Src::ZERO;
            if let Some(last) = last.filter(|_| !is_first) {
                let operands = [self.levels(texture), self.source(last)];
                let beyond = Asked { test: test::LESS_EQUAL, ty: test::U32, operands };
                let beyond = Src::Reg(self.truth(beyond).into());
                place.coordinates[0] = self.nowhere_if(beyond, place.coordinates[0]);
                level = self.as_float(last);
            }
            place.levels = SmallVec::from_slice(&[level]);
        }
        let channels = self.channels(&data.results);
        let found = self.look(shape, (texture, sampler), &place, (channels, false));
        for (&result, &reg) in data.results.iter().zip(&found) {
            self.values[result] = Some(Src::Reg(reg.into()));
        }
        Ok(())
    }

    /// The number of a sample in its bits of a word; what is beyond the texture's samples is nowhere. Offsets are added to the
    /// coordinates.
    fn name_sample(&mut self, texture: u16, place: &mut Place, sample: Option<Value>) {
        for (coordinate, offset) in place.coordinates.iter_mut().zip(place.offset) {
            if offset != 0 {
                let by = self.number(f32::from(offset).to_bits());
                let sum = self.p0(Word::usual(Main::Fadd.op()), &[*coordinate, by]);
                *coordinate = Src::Reg(sum.into());
            }
        }
        place.offset = [0; 3];
        if place.address.is_some() {
            place.level = REPLACE;
            place.levels = SmallVec::from_slice(&[Src::ZERO]);
        }
        let Some(sample) = sample else {
            place.sample = Some(Src::ZERO);
            return;
        };
        let sample = self.source(sample);
        let power = self.samples(texture);
        let over = Src::Reg(self.shift(super::alu::RIGHT, sample, power).into());
        place.coordinates[0] = self.nowhere_if(over, place.coordinates[0]);
        let (seven, sixteen) = (self.number(7), self.number(16));
        let low = Src::Reg(self.logical(AND, sample, seven).into());
        place.sample = Some(Src::Reg(self.shift(super::alu::LEFT, low, sixteen).into()));
    }

    /// A store of a texel.
    pub(super) fn image_store(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Resource(resource) = data.imm else {
            return Err(self.not_yet("this store"));
        };
        let ResourceKind::StorageTexture { format, .. } = self.ssa.resources[resource].kind else {
            return Err(self.not_yet("a store to what is no storage texture"));
        };
        let how = Format::from_name(format.0).and_then(Packed::of);
        let (Some(how), Some(sampler)) = (how, self.abi.texels) else {
            return Err(self.not_yet(format!("stores of texels `{}`", format.0)));
        };
        let shape = self.shape(resource)?;
        let mut args = &data.args[..];
        let texture = self.descriptor(resource, TEXTURE_WORDS, &mut args)?;
        let mut place = self.by_number(shape, texture, &mut args)?;
        (place.level, place.levels) = (REPLACE, SmallVec::from_slice(&[Src::ZERO]));
        let mut texel: SmallVec<[Src; 4]> = args.iter().map(|&value| self.source(value)).collect();
        if format.0 == "bgra8unorm" {
            texel.swap(0, 2);
        }
        let four = format.0.starts_with("rgba16");
        let words = self.packed_texel(how, &texel, four);
        self.living(|lower| {
            let word = Word::usual(Backend::SmpWrite.op())
                .with(f::CHANNELS, 3)
                .with(f::FCNORM, u32::from(!shape.integers));
            let (word, mut data) = lower.placed(word, shape, &place);
            for word in words {
                let word = lower.own(word);
                data.push(word);
            }
            let step = Step::backend(word)
                .from(0, Src::Fixed(Register::Shared(texture)))
                .range(1, &data, Role::Use)
                .from(2, Src::Fixed(Register::Shared(sampler)));
            lower.push(step.message(Message::Stores));
            Ok(())
        })
    }

    /// The four words that a write takes: a texel of one word is the first, two words of halves are the first and the third.
    fn packed_texel(&mut self, how: Packed, texel: &[Src], halves: bool) -> [Src; 4] {
        let mut words = [Src::ZERO; 4];
        let parts =
            |count: usize| if halves { texel.chunks(count) } else { texel[..count].chunks(count) };
        match how {
            Packed::Words(count) => words[..count].copy_from_slice(&texel[..count]),
            Packed::Pack(format, scale, count) => {
                for (part, at) in parts(count).zip([0, 2]) {
                    words[at] = self.pack(format, scale, part);
                }
            }
            Packed::Integers(bits, signed) => {
                for (part, at) in parts(bits.len()).zip([0, 2]) {
                    words[at] = self.joined(part, bits, signed);
                }
            }
        }
        words
    }

    /// Floats in one word, rounded to nearest. 2.3.
    fn pack(&mut self, format: u32, scale: bool, values: &[Src]) -> Src {
        let dst = self.fresh();
        let step = self.pack_step(format, scale, values);
        self.push(step.early(dst));
        Src::Reg(dst.into())
    }

    /// A pack, but for where it goes.
    pub(super) fn pack_step(&mut self, format: u32, scale: bool, values: &[Src]) -> Step {
        let regs: SmallVec<[Reg; 4]> = values.iter().map(|&value| self.own(value)).collect();
        let pack = Word::usual(Pack::Pck.op()).with(f::FORMAT, format);
        let pack = Some(pack.with(f::SCALE, scale.into()));
        let mut step = Step::main(MainOps { pack, ..MainOps::default() });
        step.group.repeat = values.len() as u8;
        let step = step.range(0, &regs, Role::Use).external(0);
        step.select(3, Feed::Fte).select(4, Feed::Ft2)
    }

    /// Integers in one word, each clamped to what its bits hold, the first lowest.
    pub(super) fn joined(&mut self, values: &[Src], bits: &[u32], signed: bool) -> Src {
        let mut word = Src::ZERO;
        let mut place = 0;
        for (&value, &bits) in values.iter().zip(bits) {
            let value = self.clamped(value, bits, signed);
            word = if place == 0 { value } else { self.shifted_or(value, place, word) };
            place += bits;
        }
        word
    }

    fn clamped(&mut self, value: Src, bits: u32, signed: bool) -> Src {
        let mask = (1u32 << bits) - 1;
        let all = self.number(mask);
        if !signed {
            return Src::Reg(self.bound(test::LESS, test::U32, value, all).into());
        }
        let (low, high) = (self.number(!(mask >> 1)), self.number(mask >> 1));
        let above = Src::Reg(self.bound(test::GREATER, test::S32, value, low).into());
        let inside = Src::Reg(self.bound(test::LESS, test::S32, above, high).into());
        Src::Reg(self.logical(AND, inside, all).into())
    }

    /// (value << by) | other. 2.6.
    fn shifted_or(&mut self, value: Src, by: u32, other: Src) -> Src {
        let (dst, by) = (self.fresh(), self.number(by));
        let shift = Word::usual(Bitwise0::Lsl.op());
        let logical = Word::usual(Bitwise1::Logical.op()).with(f::LOGIC, OR);
        let step = Step::bits([Some(shift), Some(logical), None]);
        self.push(step.from(2, value).from(1, by).from(3, other).to(0, dst));
        Src::Reg(dst.into())
    }

    /// An atomic operation on a texel of one word. Textures that have some are rows of texels in memory.
    pub(super) fn image_atomic(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::ImageAtomic(resource, op) = data.imm else {
            return Err(self.not_yet("this atomic operation"));
        };
        let wide =
            data.args.iter().chain(&data.results).any(|&value| self.ssa.ty(value) != Type::B32);
        // A load is a disjunction with 0, a store an exchange whose result nobody reads.
        let same = match op {
            AtomicOp::Load => AtomicOp::Or,
            AtomicOp::Store => AtomicOp::Exchange,
            op => op,
        };
        if wide {
            return Err(self.not_yet("atomic operations on texels of 64 bits"));
        }
        let code = super::memory::code(same).filter(|_| !self.in_turn);
        let shape = self.shape(resource)?;
        if !matches!(shape.dim, Dim::D1 | Dim::D2) {
            return Err(self.not_yet("atomic operations on texels of volumes and cubes"));
        }
        let mut args = &data.args[..];
        let texture = self.descriptor(resource, TEXTURE_WORDS, &mut args)?;
        let (coordinates, mut rest) = args.split_at(shape.dim.coords().min(args.len()));
        let coordinates: SmallVec<[Src; 2]> =
            coordinates.iter().map(|&value| self.source(value)).collect();
        let layer = match shape.arrayed {
            true => rest.split_off_first().map(|&layer| self.source(layer)),
            false => None,
        };
        let operands: SmallVec<[Src; 2]> = rest.iter().map(|&value| self.source(value)).collect();
        let operand = operands.first().copied().unwrap_or(Src::ZERO);
        let inside = self.inside(texture, &coordinates, layer);
        let dst = data.results.first().map(|&value| self.define(value));
        let dst = dst.unwrap_or_else(|| self.fresh());
        self.push(Step::copy(dst, Src::ZERO));
        self.living(|lower| {
            lower.compare(Asked {
                test: test::NOT_EQUAL,
                ty: test::U32,
                operands: [inside, Src::ZERO],
            });
            let head = lower.begin_if(true);
            let index = lower.texel_index(texture, &coordinates);
            let base = match layer {
                Some(layer) => lower.layer_address(texture, layer),
                None => lower.layer_address(texture, Src::ZERO),
            };
            let address = lower.word_behind(index, base);
            match code {
                Some(code) => lower.atomic_at(address, operand, code, dst.into()),
                None => lower.turns_at(&address, op, &operands, dst)?,
            }
            lower.end_if(head);
            Ok(())
        })
    }

    /// Whether there is such a texel.
    fn inside(&mut self, texture: u16, coordinates: &[Src], layer: Option<Src>) -> Src {
        let mut lasts: SmallVec<[(Src, Src); 3]> = SmallVec::new();
        for (&coordinate, axis) in coordinates.iter().zip(0..) {
            lasts.push((coordinate, self.size(texture, axis)));
        }
        lasts
            .extend(layer.map(|layer| (layer, Src::Fixed(Register::Shared(texture + LAST_LAYER)))));
        let mut all: Option<Src> = None;
        for (number, last) in lasts {
            let operands = [number, last];
            let asked = Asked { test: test::LESS_EQUAL, ty: test::U32, operands };
            let within = Src::Reg(self.truth(asked).into());
            all = Some(match all {
                Some(all) => Src::Reg(self.logical(AND, all, within).into()),
                None => within,
            });
        }
        all.unwrap_or(Src::ZERO)
    }

    /// The number of a texel among the rows of its layer. 4.5: the distance of rows is one more than the state says.
    fn texel_index(&mut self, texture: u16, coordinates: &[Src]) -> Src {
        let x = coordinates.first().copied().unwrap_or(Src::ZERO);
        let Some(&y) = coordinates.get(1) else { return x };
        let stride = self.bits_of(texture + 2, 0, 15);
        let row = Src::Reg(self.multiply_add(y, stride, x).into());
        Src::Reg(self.multiply_add(y, Src::ONE, row).into())
    }
}

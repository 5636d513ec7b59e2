//! Textures: operations of the texture unit by what they ask. isa/rogue-pipeline.md 2.9, 4.4, 4.5.
//!
//! Layers are addresses: an operation takes its texels from another place than the state says, and a level's word goes with that. Every
//! pixel takes its level from its own row and column of the quad.

use super::Lower;
use super::alu::{AND, RIGHT};
use super::test::{self, Asked};
use crate::abi::{
    COMPARISON, GATHERER, LAST_LAYER, LAYER_BYTES, SAMPLER_WORDS, TEXELS, TEXTURE_WORDS,
};
use crate::inst::{Message, Src, Step};
use crate::isa::fields::f;
use crate::isa::group::{Feed, MainOps};
use crate::isa::ops::{Backend, Bitwise0, Bitwise1, Bitwise2, Main, Move, Test};
use crate::isa::register::Register;
use cranelift_entity::SecondaryMap;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Reg, Role, VReg};
use gpucc_ir::ssa::{
    Dim, Func, Imm, InstData, Resource, ResourceKind, SampleType, Stage, TexKind, TexOp, TexQuery,
    Value,
};
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;

/// Codes of how a level is found. 2.9.
const NORMAL: u32 = 0;
const BIAS: u32 = 1;
const REPLACE: u32 = 2;
const GRADIENTS: u32 = 3;
/// The code of texels before a filter. 2.9.
const RAW: u32 = 1;
/// The level where no quad gives one: of no difference, before all biases.
const NO_DIFFERENCE: f32 = -500.0;
/// A place that is in no texture, with an offset neither.
const NOWHERE: f32 = -32768.0;
/// 1.0 among the constants. 3.2.
pub(super) const ONE: Src = Src::Fixed(Register::Special(64));

/// The words that say where an operation looks, in their order. 2.9.
#[derive(Default)]
pub(super) struct Place {
    pub coordinates: SmallVec<[Src; 3]>,
    /// The code of how the level is found, and its words.
    pub level: u32,
    pub levels: SmallVec<[Src; 6]>,
    /// The address of the texels.
    pub address: Option<[Src; 2]>,
    /// Offsets on the axes.
    pub offset: [i8; 3],
    /// The number of a sample, and that it is named.
    pub sample: Option<Src>,
    /// Coordinates are numbers of texels.
    pub by_number: bool,
}

/// What a texture is.
#[derive(Copy, Clone)]
pub(super) struct Shape {
    pub dim: Dim,
    pub arrayed: bool,
    pub multisampled: bool,
    /// Its components are integers.
    pub integers: bool,
    /// Somebody writes it.
    pub written: bool,
}

impl Shape {
    pub fn of(func: &Func, resource: Resource) -> Option<Shape> {
        let integer = |sample| matches!(sample, SampleType::Sint | SampleType::Uint);
        match func.resources[resource].kind {
            ResourceKind::Texture { dim, arrayed, sample, multisampled } => Some(Shape {
                dim,
                arrayed,
                multisampled,
                integers: integer(sample),
                written: false,
            }),
            ResourceKind::StorageTexture { dim, arrayed, sample, access, .. } => Some(Shape {
                dim,
                arrayed,
                multisampled: false,
                integers: integer(sample),
                written: access.store || access.atomic,
            }),
            _ => None,
        }
    }
}

/// Values that somebody reads.
pub(super) fn read(func: &Func) -> SecondaryMap<Value, bool> {
    let mut read = func.by_value();
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            for &arg in &func.insts[inst].args {
                read[arg] = true;
            }
        }
    }
    read
}

impl Lower<'_> {
    /// The first register of the descriptor of a binding, or of an element of it that the first operand names.
    pub(super) fn descriptor(
        &self,
        resource: Resource,
        words: u16,
        args: &mut &[Value],
    ) -> Result<u16, Failure> {
        let Some(first) = self.abi.descriptors[resource] else {
            return Err(self.not_yet("this binding"));
        };
        let Some(count) = self.ssa.resources[resource].count else { return Ok(first) };
        let element = args.split_off_first().and_then(|&value| self.ssa.as_const(value));
        let Some(element) = element else {
            return Err(self.not_yet("an element of bindings that is known at run time alone"));
        };
        Ok(first + words * element.min(u64::from(count.saturating_sub(1))) as u16)
    }

    pub(super) fn shape(&self, resource: Resource) -> Result<Shape, Failure> {
        let shape = Shape::of(self.ssa, resource);
        shape.ok_or_else(|| self.not_yet("a lookup in what is no texture"))
    }

    /// A lookup in a texture, or a load.
    pub(super) fn tex(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Tex(tex) = data.imm else {
            return Err(self.not_yet("this lookup"));
        };
        let shape = self.shape(tex.texture)?;
        let mut args = &data.args[..];
        let texture = self.descriptor(tex.texture, TEXTURE_WORDS, &mut args)?;
        if tex.kind == TexKind::Load {
            return self.texel_load(data, &tex, shape, (texture, args));
        }
        let Some(sampler) = tex.sampler.expand() else {
            return Err(self.not_yet("a lookup without a sampler"));
        };
        let sampler = self.descriptor(sampler, SAMPLER_WORDS, &mut args)?;
        let (coordinates, mut rest) = args.split_at(shape.dim.coords().min(args.len()));
        let mut place = Place {
            coordinates: coordinates.iter().map(|&value| self.source(value)).collect(),
            offset: tex.offset,
            ..Place::default()
        };
        if shape.arrayed
            && let Some(&layer) = rest.split_off_first()
        {
            let layer = self.source(layer);
            place.address = Some(self.layer(texture, layer));
        }
        let reference = match tex.compare {
            true => rest.split_off_first().map(|&value| self.source(value)),
            false => None,
        };
        self.find_level(&tex, &mut place, rest)?;
        let gathers = tex.kind == TexKind::Gather;
        let state = if gathers { sampler + GATHERER } else { sampler };
        let component = if tex.compare { 0 } else { u32::from(tex.component & 3) };
        let channels = match (gathers, tex.compare) {
            (true, _) => component + 1,
            (false, true) => 1,
            (false, false) => self.channels(&data.results),
        };
        let found = self.look(shape, (texture, state), &place, (channels, gathers));
        for (&result, at) in data.results.iter().zip(0u32..) {
            // Texels of a filter are (0,0), (1,0), (0,1), (1,1); what is gathered is (0,1), (1,1), (1,0), (0,0).
            let at = match gathers {
                true => [2, 3, 1, 0][at as usize & 3] * channels + component,
                false => at,
            };
            let Some(&reg) = found.get(at as usize) else { continue };
            let mut reg = Src::Reg(reg.into());
            if let Some(reference) = reference {
                reg = self.compared(reg, reference, sampler);
            }
            self.values[result] = Some(reg);
        }
        Ok(())
    }

    /// How a lookup finds its level.
    fn find_level(
        &mut self,
        tex: &TexOp,
        place: &mut Place,
        rest: &[Value],
    ) -> Result<(), Failure> {
        let rest: SmallVec<[Src; 6]> = rest.iter().map(|&value| self.source(value)).collect();
        let first = rest.first().copied().unwrap_or(Src::ZERO);
        let quads = self.ssa.stage == Stage::Fragment;
        (place.level, place.levels) = match tex.kind {
            TexKind::Sample | TexKind::SampleBias if !quads => {
                let level = self.number(NO_DIFFERENCE.to_bits());
                let level = match tex.kind {
                    TexKind::SampleBias => {
                        let sum = Word::usual(Main::Fadd.op());
                        Src::Reg(self.p0(sum, &[first, level]).into())
                    }
                    _ => level,
                };
                (REPLACE, SmallVec::from_slice(&[level]))
            }
            // An address goes with a level's word alone.
            TexKind::Sample if place.address.is_some() => {
                (BIAS, SmallVec::from_slice(&[Src::ZERO]))
            }
            TexKind::Sample => (NORMAL, SmallVec::new()),
            TexKind::SampleBias => (BIAS, SmallVec::from_slice(&[first])),
            TexKind::SampleLevel => (REPLACE, SmallVec::from_slice(&[first])),
            TexKind::Gather => (REPLACE, SmallVec::from_slice(&[Src::ZERO])),
            TexKind::SampleGrad => {
                // Axis by axis the difference along the row, then along the column.
                let axes = place.coordinates.len();
                let both = (0..axes).flat_map(|axis| [axis, axis + axes]);
                (GRADIENTS, both.map(|at| rest.get(at).copied().unwrap_or(Src::ZERO)).collect())
            }
            kind => return Err(self.not_yet(format!("the lookup `{}`", kind.word()))),
        };
        Ok(())
    }

    /// How many channels of results somebody reads.
    pub(super) fn channels(&self, results: &[Value]) -> u32 {
        let last = results.iter().rposition(|&value| self.read[value]);
        last.map_or(1, |last| last as u32 + 1)
    }

    /// An operation that reads, with the registers of its results.
    pub(super) fn look(
        &mut self,
        shape: Shape,
        (texture, sampler): (u16, u16),
        place: &Place,
        (channels, raw): (u32, bool),
    ) -> SmallVec<[VReg; 4]> {
        let word = Word::usual(Backend::Smp.op())
            .with(f::CHANNELS, channels - 1)
            .with(f::FCNORM, u32::from(!shape.integers))
            .with(f::SBMODE, if raw { RAW } else { 0 });
        let (word, data) = self.placed(word, shape, place);
        let count = channels * if raw { 4 } else { 1 };
        let found: SmallVec<[VReg; 4]> = (0..count).map(|_| self.fresh()).collect();
        let to: SmallVec<[Reg; 4]> = found.iter().map(|&reg| reg.into()).collect();
        let step = Step::backend(word)
            .from(0, Src::Fixed(Register::Shared(texture)))
            .range(1, &data, Role::Use)
            .from(2, Src::Fixed(Register::Shared(sampler)))
            .range(4, &to, Role::EarlyDef);
        self.push(step.message(if shape.written { Message::Loads } else { Message::Reads }));
        found
    }

    /// An operation with what says its place, and the registers with those words.
    pub(super) fn placed(
        &mut self,
        word: Word,
        shape: Shape,
        place: &Place,
    ) -> (Word, SmallVec<[Reg; 8]>) {
        let offsets = place.offset != [0; 3];
        let per_pixel = place.level != GRADIENTS && place.sample.is_none();
        let word = word
            .with(f::DIM, shape.dim.coords() as u32)
            .with(f::LOD, place.level)
            .with(f::PPLOD, u32::from(per_pixel))
            .with(f::NNCOORDS, u32::from(place.by_number))
            .with(f::SNO, u32::from(place.sample.is_some()))
            .with(f::SOO, u32::from(offsets))
            .with(f::TAO, u32::from(place.address.is_some()));
        let mut words: SmallVec<[Src; 12]> = place.coordinates.iter().copied().collect();
        words.extend(place.levels.iter().copied());
        words.extend(place.address.into_iter().flatten());
        if offsets {
            let [u, v, w] = place.offset.map(|by| by as u32);
            words.push(self.number(u & 63 | (v & 63) << 6 | (w & 15) << 12));
        } else if let Some(sample) = place.sample {
            words.push(sample);
        }
        (word, words.into_iter().map(|word| self.own(word)).collect())
    }

    /// The address of a layer, which is the nearest that there is.
    fn layer(&mut self, texture: u16, layer: Src) -> [Src; 2] {
        let last = Src::Fixed(Register::Shared(texture + LAST_LAYER));
        let layer = Src::Reg(self.bound(test::GREATER, test::S32, layer, Src::ZERO).into());
        let layer = self.bound(test::LESS, test::S32, layer, last);
        self.layer_address(texture, Src::Reg(layer.into()))
    }

    /// The address of a layer that there is.
    pub(super) fn layer_address(&mut self, texture: u16, layer: Src) -> [Src; 2] {
        let bytes = Src::Fixed(Register::Shared(texture + LAYER_BYTES));
        self.behind(bytes, layer, Src::shared(texture + TEXELS)).map(Src::Reg)
    }

    /// The address of a word behind another.
    pub(super) fn word_behind(&mut self, count: Src, address: [Src; 2]) -> [Reg; 2] {
        let four = self.number(4);
        self.behind(four, count, address)
    }

    fn behind(&mut self, a: Src, b: Src, address: [Src; 2]) -> [Reg; 2] {
        let (low, high) = (self.fresh(), self.fresh());
        self.push(Step::behind(a, b, address).to(0, low).to(1, high));
        [low.into(), high.into()]
    }

    /// 1.0 where a reference compares with a texel as the sampler says, else 0.0: the test of alpha asks, and a sum with p0 passes the
    /// answer on. 2.4, 2.9.
    fn compared(&mut self, texel: Src, reference: Src, sampler: u16) -> Src {
        let word = Word::usual(Backend::Alphatst.op()).with(f::PWEN, 1);
        let comparison = Src::Fixed(Register::Shared(sampler + COMPARISON));
        let step = Step::backend(word).from(0, texel).from(1, reference).from(2, comparison);
        self.push(step.message(Message::Decides));
        let ops = MainOps {
            p0: Some(Word::usual(Main::Imadd64.op()).with(f::CARRY, 1)),
            p1: Some(Word::usual(Main::Mbyp.op())),
            test: Some(Word::usual(Test::Tst.op()).with(f::TYPE, test::U32)),
            mov: Some(Word::usual(Move::Movc.op()).with(f::MOV_W0, Feed::Ft1 as u32)),
            ..MainOps::default()
        };
        let dst = self.fresh();
        let step = Step::main(ops).from(3, Src::ZERO).from(4, ONE).external(4);
        self.push(step.select(4, Feed::Fte).to(0, dst).effect());
        Src::Reg(dst.into())
    }

    /// Bits of a shared register.
    pub(super) fn bits_of(&mut self, register: u16, low: u32, count: u32) -> Src {
        let dst = self.fresh();
        let mask = self.number(((1 << count) - 1) << low);
        let pass = Word::usual(Bitwise0::Bbyp.op());
        let logical = Word::usual(Bitwise1::Logical.op()).with(f::LOGIC, AND);
        let shift = Word::usual(Bitwise2::Shift.op()).with(f::SHIFT2, RIGHT);
        let by = self.number(low);
        let step = Step::bits([Some(pass), Some(logical), Some(shift)]);
        let step = step.from(2, Src::Fixed(Register::Shared(register))).from(3, mask);
        self.push(step.from(4, by).to(0, dst));
        Src::Reg(dst.into())
    }

    pub(super) fn plus_one(&mut self, value: Src) -> Src {
        let one = Src::ONE;
        Src::Reg(self.multiply_add(value, one, one).into())
    }

    /// How many levels a texture has. 4.5.
    pub(super) fn levels(&mut self, texture: u16) -> Src {
        self.bits_of(texture + 2, 0, 4)
    }

    /// The size on an axis at level 0, less one. 4.5.
    pub(super) fn size(&mut self, texture: u16, axis: usize) -> Src {
        match axis {
            0 => self.bits_of(texture + 1, 2, 14),
            1 => self.bits_of(texture + 1, 16, 14),
            _ => self.bits_of(texture + 2, 4, 11),
        }
    }

    /// The number of samples as a power of two. 4.5.
    pub(super) fn samples(&mut self, texture: u16) -> Src {
        self.bits_of(texture + 1, 30, 2)
    }

    /// Sizes, levels, layers and samples, from the words of state.
    pub(super) fn texture_query(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Query(resource, query) = data.imm else {
            return Err(self.not_yet("this query"));
        };
        let shape = self.shape(resource)?;
        let mut args = &data.args[..];
        let texture = self.descriptor(resource, TEXTURE_WORDS, &mut args)?;
        match query {
            TexQuery::Size => return self.sizes(data, texture, args.first().copied()),
            TexQuery::Levels if shape.written || shape.multisampled => {
                self.values[data.results[0]] = Some(Src::ONE);
            }
            TexQuery::Levels => self.values[data.results[0]] = Some(self.levels(texture)),
            TexQuery::Layers => {
                let last = Src::Fixed(Register::Shared(texture + LAST_LAYER));
                self.values[data.results[0]] = Some(self.plus_one(last));
            }
            // Nothing of this machine's plan asks for it.
            TexQuery::Sampler => return Err(self.not_yet("words of a sampler")),
            TexQuery::Samples => {
                let power = self.samples(texture);
                let one = Src::ONE;
                let count = self.shift(super::alu::LEFT, one, power);
                self.values[data.results[0]] = Some(Src::Reg(count.into()));
            }
        }
        Ok(())
    }

    /// Sizes of a level: those of level 0 shifted, and at least 1; 0 where there is no such level.
    fn sizes(
        &mut self,
        data: &InstData,
        texture: u16,
        level: Option<Value>,
    ) -> Result<(), Failure> {
        let level = level.filter(|&level| self.ssa.as_const(level) != Some(0));
        let level = level.map(|level| self.source(level));
        let there = level.map(|level| {
            let operands = [level, self.levels(texture)];
            Src::Reg(self.truth(Asked { test: test::LESS, ty: test::U32, operands }).into())
        });
        let one = Src::ONE;
        for (&result, axis) in data.results.iter().zip(0..) {
            if !self.read[result] {
                self.values[result] = Some(Src::ZERO);
                continue;
            }
            let last = self.size(texture, axis);
            let mut size = self.plus_one(last);
            if let (Some(level), Some(there)) = (level, there) {
                let shifted = self.shift(RIGHT, size, level);
                let least = self.bound(test::GREATER, test::U32, Src::Reg(shifted.into()), one);
                let least = Src::Reg(least.into());
                size = Src::Reg(self.multiply_add(least, there, Src::ZERO).into());
            }
            self.values[result] = Some(size);
        }
        Ok(())
    }

    /// A place, or one that is nowhere where a word is not 0.
    pub(super) fn nowhere_if(&mut self, word: Src, place: Src) -> Src {
        let nowhere = self.number(NOWHERE.to_bits());
        Src::Reg(self.choose(test::POSITIVE, test::U32, word, nowhere, place).into())
    }
}

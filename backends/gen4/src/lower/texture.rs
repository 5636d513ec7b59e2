//! Textures: messages to the sampler by what they ask. G45 vol. 4, 4.8.1; isa/gen4.md 1.8.
//!
//! A program of eight lanes has messages of eight channels where there is one, and of 16 without the upper eight else: a
//! bias or a level without a reference, a load with a level, sizes. One of 16 lanes has messages of 16 channels; what lacks such a
//! form keeps a program at eight ([`lacks_sixteen`]).

use super::Lower;
use crate::abi::{self, Abi, Told};
use crate::inst::{Condition, Inst, Lookup, Reply, Source, Src, Test};
use crate::isa::Machine;
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{
    Dim, Func, Imm, InstData, Resource, ResourceKind, SampleType, TexKind, TexOp, TexQuery, Value,
};
use smallvec::SmallVec;

/// Level 0 by the header.
const LEVEL_ZERO: u32 = 1 << 16;
/// The first of the bits that leave components out of a reply to 16 channels, red to alpha.
const HIDDEN: u32 = 12;
/// Messages by their types.
const SAMPLE: u8 = 0;
const LEVEL: u8 = 1;
const COMPARED: u8 = 2;
const GRADIENTS: u8 = 2;
const SIZES: u8 = 2;
const LOAD: u8 = 3;

/// Components that nobody reads and that a header of its own does not pay for.
const FEW: usize = 2;
/// Components of a reply.
const COMPONENTS: usize = 4;

/// A message that is being made.
struct Asked {
    message: u8,
    wide: bool,
    control: u32,
    parameters: SmallVec<[Source; 9]>,
}

fn zero() -> Source {
    Src::Bits(0).into()
}

/// How the 965 is told to reply.
fn reply(sample: SampleType) -> Reply {
    match sample {
        SampleType::Float | SampleType::Depth => Reply::Float,
        SampleType::Sint => Reply::Signed,
        SampleType::Uint => Reply::Unsigned,
    }
}

impl Lower<'_> {
    /// A load of a texel by a message, whose numbers are what stands in the registers.
    pub(super) fn loads(&self, data: &InstData) -> bool {
        matches!(data.imm, Imm::Tex(tex) if tex.kind == TexKind::Load
            && tex.offset == [0; 3]
            && !self.abi.stored[tex.texture]
            && self.ssa.resources[tex.texture].count.is_none())
    }

    /// The entry of a table that a binding or an element of one has, which the first operand names.
    pub(super) fn entry(
        &self,
        first: Option<u8>,
        resource: Resource,
        args: &mut &[Value],
    ) -> Result<u8, Failure> {
        let first = first.ok_or_else(|| self.not_yet("this binding"))?;
        let element = abi::element(self.ssa, resource, args);
        if self.ssa.resources[resource].count.is_some() {
            *args = &args[1..];
        }
        Ok(first + element as u8)
    }

    /// A lookup in a texture, or a load.
    pub(super) fn tex(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Tex(tex) = data.imm else {
            return Err(self.not_yet("this lookup"));
        };
        if self.abi.stored[tex.texture] {
            return self.image_load(data, tex.texture);
        }
        let mut args = &data.args[..];
        let surface = self.entry(self.abi.surface(tex.texture), tex.texture, &mut args)?;
        let sampler = match tex.sampler.expand() {
            Some(sampler) => {
                let dim = abi::dim(self.ssa, tex.texture);
                self.entry(self.abi.sampler(sampler, dim, tex.texel), sampler, &mut args)?
            }
            None => 0,
        };
        let (ResourceKind::Texture { dim, arrayed, sample, .. }
        | ResourceKind::StorageTexture { dim, arrayed, sample, .. }) =
            self.ssa.resources[tex.texture].kind
        else {
            return Err(self.not_yet("a lookup in what is no texture"));
        };
        let mut at = [zero(); 3];
        let (coordinates, mut rest) = args.split_at(dim.coords().min(args.len()));
        for (place, &value) in at.iter_mut().zip(coordinates) {
            *place = self.source(value);
        }
        if tex.projected {
            for place in &mut at[..2] {
                *place = self.centred(*place);
            }
        }
        if arrayed && let Some(&layer) = rest.split_off_first() {
            let layer = self.source(layer);
            at[dim.coords().min(2)] = match tex.kind {
                TexKind::Load => layer,
                _ => self.layer(layer),
            };
        }
        let reference = match tex.compare {
            true => rest.split_off_first().map(|&value| self.source(value)),
            false => None,
        };
        let asked = self.asked(&tex, (dim, arrayed), at, reference, rest)?;
        let asked = Asked { control: asked.control | offsets(tex.offset), ..asked };
        let lookup = (surface, sampler, reply(sample));
        let components: SmallVec<[Option<Value>; COMPONENTS]> =
            data.results.iter().map(|&value| Some(value)).collect();
        self.look_up(asked, lookup, &components);
        Ok(())
    }

    /// The message and its parameters.
    fn asked(
        &mut self,
        tex: &TexOp,
        (dim, arrayed): (Dim, bool),
        at: [Source; 3],
        reference: Option<Source>,
        rest: &[Value],
    ) -> Result<Asked, Failure> {
        let rest: SmallVec<[Source; 6]> = rest.iter().map(|&value| self.source(value)).collect();
        let first = rest.first().copied().unwrap_or(zero());
        let is_zero = matches!(first.src, Src::Bits(bits) if bits << 1 == 0);
        // In steps of 16 lanes each message is one of 16 channels; what has no other has as many coordinates as the texture.
        let all = self.abi.lanes == 16;
        let count = match all {
            true => (dim.coords() + usize::from(arrayed)).min(3),
            false => 3,
        };
        let plain: SmallVec<[Source; 9]> = at.into_iter().take(count).collect();
        let mut asked =
            Asked { message: SAMPLE, wide: all, control: 0, parameters: at.into_iter().collect() };
        match (tex.kind, reference) {
            (TexKind::Sample, None) => asked.parameters = plain,
            (TexKind::Sample, Some(reference)) if all => {
                asked.message = COMPARED;
                asked.parameters.push(reference);
            }
            (TexKind::Sample, Some(reference)) => asked.parameters.extend([zero(), reference]),
            (TexKind::SampleBias, None) => {
                asked.wide = true;
                asked.parameters.push(first);
            }
            (TexKind::SampleBias, Some(reference)) => asked.parameters.extend([first, reference]),
            // The 965 does not leave anisotropic filters by it. 4.7.1, errata.
            (TexKind::SampleLevel, None) if is_zero && self.abi.forces_levels() => {
                (asked.control, asked.parameters) = (LEVEL_ZERO, plain);
            }
            (TexKind::SampleLevel, Some(reference)) if all => {
                (asked.message, asked.control) = (COMPARED, LEVEL_ZERO);
                asked.parameters.push(reference);
            }
            (TexKind::SampleLevel, None) => {
                (asked.message, asked.wide) = (LEVEL, true);
                asked.parameters.push(first);
            }
            (TexKind::SampleLevel, Some(reference)) => {
                asked.message = LEVEL;
                asked.parameters.extend([first, reference]);
            }
            (TexKind::SampleGrad, None) => {
                asked.message = GRADIENTS;
                // Two coordinates, or three.
                let deep = dim.coords() > 2 || at[2] != zero();
                let count = if deep { 3 } else { 2 };
                asked.parameters.truncate(count);
                for slope in rest.chunks(dim.coords()) {
                    for axis in 0..count {
                        let slope = slope.get(axis).copied().unwrap_or(zero());
                        let slope = match tex.projected {
                            true if axis < 2 => self.doubled(slope),
                            _ => slope,
                        };
                        asked.parameters.push(slope);
                    }
                }
            }
            (TexKind::Load, _) => {
                asked.message = LOAD;
                let at_first = rest.is_empty() || matches!(first.src, Src::Bits(0));
                if at_first {
                    asked.parameters = plain;
                } else {
                    asked.wide = true;
                    asked.parameters.push(first);
                }
            }
            (kind, _) => return Err(self.not_yet(format!("the lookup {kind:?} of this kind"))),
        }
        Ok(asked)
    }

    /// Sizes, levels and layers.
    pub(super) fn query(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Query(texture, query) = data.imm else {
            return Err(self.not_yet("this query"));
        };
        if query == TexQuery::Sampler {
            let (args, result) = (&data.args, data.results[0]);
            let which = Told::Sampler(abi::sampler_word(self.ssa, args));
            let told = self.told(texture, abi::element(self.ssa, texture, args), which)?;
            self.values[result] = Some(super::Place::Source(told.src));
            return Ok(());
        }
        if self.abi.stored[texture] {
            return self.image_query(data, texture, query);
        }
        let mut args = &data.args[..];
        let surface = self.entry(self.abi.surface(texture), texture, &mut args)?;
        let (ResourceKind::Texture { dim, .. } | ResourceKind::StorageTexture { dim, .. }) =
            self.ssa.resources[texture].kind
        else {
            return Err(self.not_yet("the size of what is no texture"));
        };
        let level = match (query, args.first()) {
            (TexQuery::Size, Some(&level)) => self.source(level),
            _ => zero(),
        };
        // Width; height, or layers of a line; depth or layers; levels.
        let mut components: SmallVec<[Option<Value>; COMPONENTS]> = SmallVec::new();
        let skipped = match query {
            TexQuery::Size => 0,
            TexQuery::Layers if dim == Dim::D1 => 1,
            TexQuery::Layers => 2,
            TexQuery::Levels => 3,
            TexQuery::Samples | TexQuery::Sampler => {
                for &result in &data.results {
                    self.values[result] = Some(super::Place::Source(Src::Bits(1)));
                }
                return Ok(());
            }
        };
        components.resize(skipped, None);
        components.extend(data.results.iter().map(|&value| Some(value)));
        let asked = Asked {
            message: SIZES,
            wide: true,
            control: 0,
            parameters: SmallVec::from_slice(&[level]),
        };
        self.look_up(asked, (surface, 0, Reply::Unsigned), &components);
        if query == TexQuery::Layers {
            // One layer is told as none. 4.8.1.4, resinfo.
            for &result in &data.results {
                let told = self.register(result);
                let first = Src::Reg(told.into()).into();
                let one = Source::from(Src::Bits(1));
                let condition = Condition::GreaterEqual;
                let test = Test { condition, ty: Ty::Ud, first, second: one, join: None };
                let dst = self.define(result);
                self.push(Inst::Compare(test));
                self.push(Inst::Select { dst: dst.into(), inverse: false, yes: first, no: one });
            }
        }
        Ok(())
    }

    /// Sends a message; the components of its reply that are read become values.
    fn look_up(
        &mut self,
        asked: Asked,
        (surface, sampler, reply): (u8, u8, Reply),
        components: &[Option<Value>],
    ) {
        let read = |component: usize| {
            components.get(component).copied().flatten().filter(|v| self.in_registers.contains(*v))
        };
        let read: [Option<Value>; COMPONENTS] = std::array::from_fn(read);
        if read.iter().all(Option::is_none) {
            return;
        }
        let mut control = asked.control;
        let mut dst = SmallVec::new();
        let unread = read.iter().filter(|value| value.is_none()).count();
        // The header that hides takes two words: where none is made, few components come that nobody reads. The 965 reads each
        // register of a reply twice, and in steps of eight lanes a component has a register more that somebody waits for.
        let cheap = self.abi.lanes == 16 && self.abi.chip.machine() == Machine::G45;
        let few = unread <= FEW && cheap;
        let hides = asked.wide && (control != 0 || !few || self.abi.hides);
        self.unread |= asked.wide && unread > 0 && !hides;
        for (component, value) in read.into_iter().enumerate() {
            match (value, hides) {
                // A reply to 16 channels lacks what is hidden.
                (None, true) => control |= 1 << (HIDDEN + component as u32),
                (Some(value), _) => dst.push(self.define(value).into()),
                (None, false) => dst.push(self.fresh().into()),
            }
            if (value.is_some() || !hides) && asked.wide && self.abi.lanes == 8 {
                dst.push(self.fresh().into());
            }
        }
        let lookup =
            Lookup { message: asked.message, wide: asked.wide, surface, sampler, reply, control };
        self.push(Inst::Sample { dst, lookup, parameters: asked.parameters });
    }

    /// A layer as the sampler takes it: a float, which it rounds and clamps.
    fn layer(&mut self, layer: Source) -> Source {
        if let Src::Bits(bits) = layer.src {
            return Src::Bits((bits as i32 as f32).to_bits()).into();
        }
        let float = self.fresh();
        self.convert(Opcode::Mov, Ty::F, float, Ty::D, &[layer]);
        Src::Reg(float.into()).into()
    }

    /// A coordinate of a cube's face, 1 to 2, as -1 to 1. Exact.
    fn centred(&mut self, place: Source) -> Source {
        let (twice, moved) = (self.doubled(place), self.fresh());
        let three = Src::Bits((-3f32).to_bits()).into();
        self.alu(Opcode::Add, Ty::F, moved, &[twice, three]);
        Src::Reg(moved.into()).into()
    }

    fn doubled(&mut self, value: Source) -> Source {
        if value == zero() {
            return value;
        }
        let twice = self.fresh();
        self.alu(Opcode::Mul, Ty::F, twice, &[value, Src::Bits(2f32.to_bits()).into()]);
        Src::Reg(twice.into()).into()
    }
}

/// Whether some lookup has no message of 16 channels: gradients, and comparisons with a bias or with a level, but for level 0 where
/// the header says it.
pub fn lacks_sixteen(func: &Func, abi: &Abi) -> bool {
    let lacks = |data: &InstData| {
        let Imm::Tex(tex) = data.imm else { return false };
        match tex.kind {
            TexKind::SampleGrad => true,
            TexKind::SampleBias => tex.compare,
            TexKind::SampleLevel if tex.compare => {
                let level = data.args.last().and_then(|&value| func.as_const(value));
                !abi.forces_levels() || level.is_none_or(|bits| bits << 33 != 0)
            }
            _ => false,
        }
    };
    let regions = func.regions_in_order();
    let mut insts = regions.into_iter().flat_map(|(region, ..)| &func.regions[region].insts);
    insts.any(|&inst| lacks(&func.insts[inst]))
}

/// Offsets as the header has them: u, v and r, 4 bits each.
fn offsets(offset: [i8; 3]) -> u32 {
    offset.iter().fold(0, |bits, &by| bits << 4 | u32::from(by as u8 & 15))
}

#[cfg(test)]
mod tests {
    #[test]
    fn offsets_stand_as_the_header_has_them() {
        assert_eq!(super::offsets([1, -1, 0]), 0x1f0);
        assert_eq!(super::offsets([-8, 7, 2]), 0x872);
    }
}

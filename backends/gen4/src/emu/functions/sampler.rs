//! Sampler messages: forms, SAMPLER_STATE, textures in memory. G45 vol. 4, 4.7 and 4.8; isa/gen4.md 1.8.

use super::super::Model;
use super::super::memory::{Memory, Refused, Through};
use super::super::message::{Message, Register, Reply};
use super::super::rule::Rule;
use super::super::surface::{self, Kind, Surface};
use super::{Functions, defined};
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_emu::sampler::{
    Compare, Filter, Level, Lookup, MipFilter, Position, Sampler, Wrap, sample,
};
use gpucc_ir::ssa::Dim;
use std::sync::Arc;

/// What is asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Op {
    /// Level from the neighbours, a bias and a reference where there are some.
    Sample {
        bias: bool,
        reference: bool,
    },
    /// Level as a parameter.
    Level {
        reference: bool,
    },
    /// Derivatives as parameters.
    Gradient,
    /// Texels by number, and whether a level is given.
    Load(bool),
    Info,
}

/// A message's form: what, how many coordinates, and channels.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Form {
    op: Op,
    coordinates: usize,
    wide: bool,
}

/// The form of a pair of type and length. isa/gen4.md 1.8.
fn form(kind: u32, length: usize) -> Result<Form, Refused> {
    let plain = Op::Sample { bias: false, reference: false };
    let (op, coordinates, wide) = match (kind, length) {
        (0, 3) => (plain, 1, true),
        (0, 5) => (plain, 2, true),
        (0, 7) => (plain, 3, true),
        (0, 4) => (plain, 3, false),
        (0, 9) => (Op::Sample { bias: true, reference: false }, 3, true),
        (1, 9) => (Op::Level { reference: false }, 3, true),
        (2, 9) => (Op::Sample { bias: false, reference: true }, 3, true),
        (0, 6) => (Op::Sample { bias: true, reference: true }, 3, false),
        (1, 6) => (Op::Level { reference: true }, 3, false),
        (3, 3) => (Op::Load(false), 1, true),
        (3, 5) => (Op::Load(false), 2, true),
        (3, 7) => (Op::Load(false), 3, true),
        (3, 9) => (Op::Load(true), 3, true),
        (3, 4) => (Op::Load(false), 3, false),
        (2, 7) => (Op::Gradient, 2, false),
        (2, 10) => (Op::Gradient, 3, false),
        (2, 3) => (Op::Info, 0, true),
        (1, 4) | (0..=3, 2) | (1, 3) => {
            let what = format!("sampler type {kind} of {length} registers");
            return Err((Rule::NotBuilt, what));
        }
        _ => return Err((Rule::SamplerForm, format!("type {kind} of {length} registers"))),
    };
    Ok(Form { op, coordinates, wide })
}

/// A texture or buffer, as the sampler's cache holds it.
#[derive(Clone, Debug)]
pub struct Texture {
    surface: Surface,
    image: Arc<Image>,
}

impl Functions<'_> {
    /// # Errors
    /// The message is none of the sampler, or what it reads is not there.
    pub(super) fn sampler(&mut self, message: &Message<'_>) -> Result<Reply, Refused> {
        let bits = message.descriptor;
        let kind = match self.model {
            Model::I965 => bits >> 14 & 3,
            Model::G45 => bits >> 12 & 15,
        };
        let form = form(kind, message.payload.len())?;
        let control = defined(message.payload, 0, 2)?;
        let hidden = if form.wide { control >> 12 & 15 } else { 0 };
        let rows = if form.wide { 2 } else { 1 };
        // Of 16 channels what is masked is not sent; of 8 all is.
        let response = rows * (4 - hidden.count_ones() as usize);
        if message.response as usize != response {
            let what = format!("{} registers of a reply of {response}", message.response);
            return Err((Rule::SamplerForm, what));
        }
        if !form.wide && message.enabled >> 8 != 0 {
            return Err((Rule::SamplerForm, "16 channels of a message of 8".into()));
        }
        let texture = self.texture(message, bits & 0xff)?;
        if self.model == Model::I965 {
            check_return(bits >> 12 & 3, form, &texture)?;
        }
        let sampler = match form.op {
            Op::Load(_) | Op::Info => Sampler::default(),
            _ => {
                let table = defined(message.payload, 0, 3)? & !31;
                let at = self.bases.general.wrapping_add(table);
                let at = at.wrapping_add(16 * (bits >> 8 & 15));
                state(self.memory, self.bases.general, at, &texture)?
            }
        };
        let mut registers = vec![(Register::UNDEFINED, 0u8); response];
        let channels = (0..8 * rows).filter(|channel| message.enabled >> channel & 1 == 1);
        for channel in channels {
            let lane = Lane { payload: message.payload, form, control, channel };
            let out = lane.answer(&texture, &sampler)?;
            let shown = (0..4).filter(|component| hidden >> component & 1 == 0);
            for (place, component) in shown.enumerate() {
                let (register, written) = &mut registers[rows * place + channel / 8];
                register.words[channel % 8] = out[component];
                register.undefined &= !(15 << (4 * (channel % 8)));
                *written |= 1 << (channel % 8);
            }
        }
        Ok(Reply { registers })
    }

    /// The texture of an entry; the sampler's cache keeps it until the next flush.
    fn texture(&mut self, message: &Message<'_>, entry: u32) -> Result<Texture, Refused> {
        let table = self.context(message.sender)?.table;
        let (model, bases) = (self.model, *self.bases);
        let surface = surface::entry(model, self.memory, bases.surface, table, entry)?;
        if let Some(found) = self.textures.iter().find(|found| found.surface == surface) {
            return Ok(found.clone());
        }
        let image = Arc::new(image(self.memory, &surface, entry)?);
        let texture = Texture { surface, image };
        self.textures.push(texture.clone());
        Ok(texture)
    }
}

/// The 965 is told how the components come: as floats, or as integers of either kind.
fn check_return(told: u32, form: Form, texture: &Texture) -> Result<(), Refused> {
    let integer = form.op == Op::Info || texture.image.format().kind().is_integer();
    if (told != 0) != integer {
        let what = format!("return format {told} of {}", texture.image.format().name());
        return Err((Rule::SamplerForm, what));
    }
    Ok(())
}

/// The levels of a plane, the texels of a line or a buffer.
fn image(memory: &Memory, surface: &Surface, entry: u32) -> Result<Image, Refused> {
    let not_built = |what: &str| Err((Rule::NotBuilt, format!("{what} of entry {entry}")));
    let Some(format) = surface.format() else { return not_built("the format") };
    let dim = match surface.kind {
        Kind::Line | Kind::Buffer => Dim::D1,
        Kind::Plane => Dim::D2,
        Kind::Volume | Kind::Cube => return not_built("the type"),
        Kind::Null => return Err((Rule::SurfaceState, format!("entry {entry} is null"))),
    };
    let buffer = surface.kind == Kind::Buffer;
    let layered = surface.depth != 1 || surface.first_layer != 0 || surface.least_level != 0;
    if layered || surface.layout_right {
        return not_built("layers, a least level or a layout");
    }
    let height = if dim == Dim::D1 { 1 } else { surface.height };
    let levels = if buffer { 1 } else { surface.levels + 1 };
    let extent =
        Extent { dim, width: surface.width, height, depth: 1, layers: 1, levels, samples: 1 };
    let mut image = Image::new(format, extent)
        .map_err(|error| (Rule::SurfaceState, format!("entry {entry}: {error}")))?;
    let bytes = format.bytes();
    let (mut left, mut top) = (0, 0);
    for level in 0..levels {
        let [width, height, _] = image.size(level);
        for y in 0..height {
            for x in 0..width {
                let at = match buffer {
                    true => surface.base.wrapping_add(x.wrapping_mul(surface.pitch)),
                    false => surface.address(left + x, top + y, bytes),
                };
                let texel = memory.load(at, bytes as usize, Through::Other)?;
                if texel.undefined.contains(&true) {
                    return Err((Rule::Undefined, format!("texel {x}, {y} of entry {entry}")));
                }
                let place = Texel { x, y, level, ..Texel::default() };
                if let Some(offset) = image.offset(place) {
                    let end = offset + bytes as usize;
                    image.bytes_mut()[offset..end].copy_from_slice(&texel.bytes);
                }
            }
        }
        // Level 1 is below level 0, level 2 right of level 1, the others below each other; in units of 4 by 2.
        if level == 1 {
            left += width.next_multiple_of(4);
        } else {
            top += height.next_multiple_of(2);
        }
    }
    Ok(image)
}

/// SAMPLER_STATE.
fn state(memory: &Memory, general: u32, at: u32, texture: &Texture) -> Result<Sampler, Refused> {
    let word = |index: u32| memory.state(at.wrapping_add(4 * index));
    let (d0, d1, d2, d3) = (word(0)?, word(1)?, word(2)?, word(3)?);
    let refused = |what: &str| Err((Rule::SamplerState, format!("{what} of the state at {at:#x}")));
    if d0 >> 31 == 1 {
        return refused("the disable bit");
    }
    if d0 >> 22 & 31 != 0 || d3 >> 25 & 1 != 0 {
        return Err((Rule::NotBuilt, "a base level or a chroma key".into()));
    }
    let filter = |code: u32| match code {
        0 => Ok(Filter::Nearest),
        1 => Ok(Filter::Linear),
        2 | 6 => Err((Rule::NotBuilt, format!("filter {code}"))),
        _ => Err((Rule::SamplerState, format!("filter {code}"))),
    };
    let mip = match d0 >> 20 & 3 {
        0 => MipFilter::None,
        1 => MipFilter::Nearest,
        3 => MipFilter::Linear,
        _ => return refused("the filter between levels"),
    };
    let wrap = |code: u32| match code {
        0 => Ok(Wrap::Repeat),
        1 => Ok(Wrap::Mirror),
        2 => Ok(Wrap::Clamp),
        4 => Ok(Wrap::Border),
        5 => Ok(Wrap::MirrorOnce),
        3 => Err((Rule::NotBuilt, "cube wrapping".to_string())),
        _ => Err((Rule::SamplerState, format!("wrap mode {code}"))),
    };
    let wrap = [wrap(d1 >> 6 & 7)?, wrap(d1 >> 3 & 7)?, wrap(d1 & 7)?];
    // A texture of one line leaks its border through v.
    if texture.surface.kind == Kind::Line && wrap[1] != Wrap::Repeat && wrap.contains(&Wrap::Border)
    {
        return refused("v's wrap mode beside a border");
    }
    let mut border = [0; 4];
    if wrap.contains(&Wrap::Border) {
        if d2 & 31 != 0 {
            return refused("the border's pointer");
        }
        let at = general.wrapping_add(d2 & !31);
        for (index, component) in border.iter_mut().enumerate() {
            *component = memory.state(at.wrapping_add(4 * index as u32))?;
        }
    }
    let level = |bits: u32| (bits & 0x3ff) as f32 / 64.0;
    let (least, most) = (level(d1 >> 22), level(d1 >> 12));
    // 11 bits with a sign, 6 of them behind the point.
    let bias = ((d0 >> 3 & 0x7ff) << 21) as i32 >> 21;
    // The manual's comparison makes a texel 0 where it holds.
    let compare = [
        Compare::Never,
        Compare::Always,
        Compare::LessEqual,
        Compare::NotEqual,
        Compare::Less,
        Compare::GreaterEqual,
        Compare::Equal,
        Compare::Greater,
    ][(d0 & 7) as usize];
    Ok(Sampler {
        wrap,
        mag: filter(d0 >> 17 & 7)?,
        min: filter(d0 >> 14 & 7)?,
        mip,
        lod_min: least,
        // The least level goes before the most.
        lod_max: most.max(least),
        lod_bias: bias as f32 / 64.0,
        compare: Some(compare),
        border,
    })
}

/// A channel of a message.
struct Lane<'a> {
    payload: &'a [Register],
    form: Form,
    /// Word 2 of the header.
    control: u32,
    channel: usize,
}

impl Lane<'_> {
    /// A parameter of a channel.
    fn parameter(&self, index: usize, channel: usize) -> Result<u32, Refused> {
        let rows = if self.form.wide { 2 } else { 1 };
        defined(self.payload, 1 + rows * index + channel / 8, channel % 8)
    }

    fn float(&self, index: usize, channel: usize) -> Result<f32, Refused> {
        self.parameter(index, channel).map(f32::from_bits)
    }

    /// Offsets of u, v and r: 4 bits with a sign each.
    fn offsets(&self) -> [i32; 3] {
        [8, 4, 0].map(|shift| (self.control >> shift << 28) as i32 >> 28)
    }

    fn answer(&self, texture: &Texture, sampler: &Sampler) -> Result<[u32; 4], Refused> {
        let image = &texture.image;
        let dims = image.extent().dim.coords();
        if self.form.op == Op::Info {
            let level = self.parameter(0, self.channel)?;
            if texture.surface.kind == Kind::Buffer {
                return Err((Rule::SamplerForm, "sizes of a buffer".into()));
            }
            let levels = image.extent().levels;
            let [width, height, _] = match level < levels {
                true => image.size(level),
                false => [0; 3],
            };
            return Ok([width, if dims > 1 { height } else { 0 }, 0, levels]);
        }
        if let Op::Load(given) = self.form.op {
            return self.load(texture, given);
        }
        if texture.surface.kind == Kind::Buffer {
            return Err((Rule::SamplerForm, "a buffer is sampled".into()));
        }
        if image.format().kind().is_integer() {
            return Err((Rule::SamplerForm, "integers are filtered".into()));
        }
        let linear = sampler.mag == Filter::Linear || sampler.min == Filter::Linear;
        let compared = matches!(
            self.form.op,
            Op::Sample { reference: true, .. } | Op::Level { reference: true }
        );
        // Floats of 32 bits are compared with filters, and not filtered else.
        if linear && !compared && matches!(texture.surface.code, 0x000 | 0x085 | 0x0d8 | 0x0d9) {
            let what = format!("{} is filtered", image.format().name());
            return Err((Rule::SamplerState, what));
        }
        self.filtered(image, sampler, dims)
    }

    fn load(&self, texture: &Texture, given: bool) -> Result<[u32; 4], Refused> {
        let image = &texture.image;
        let dims = image.extent().dim.coords();
        let mut at = [0; 3];
        for (axis, place) in at.iter_mut().enumerate().take(self.form.coordinates) {
            let value = self.parameter(axis, self.channel)?;
            if axis < dims {
                *place = value.wrapping_add_signed(self.offsets()[axis]);
            } else if value != 0 && !self.form.wide {
                // What is not used must be 0 in messages of 8 channels. 4.8.1.4, errata.
                return Err((Rule::SamplerForm, format!("coordinate {axis} is {value:#x}")));
            }
        }
        let level = if given { self.parameter(3, self.channel)? } else { 0 };
        let texel = Texel { x: at[0], y: at[1], level, ..Texel::default() };
        let outside = {
            let format = image.format();
            let one = if format.kind().is_integer() { 1 } else { 1f32.to_bits() };
            [0, 0, 0, if format.components() < 4 { one } else { 0 }]
        };
        Ok(image.load(texel).unwrap_or(outside))
    }

    fn filtered(&self, image: &Image, sampler: &Sampler, dims: usize) -> Result<[u32; 4], Refused> {
        let position = |channel: usize| -> Result<[f32; 3], Refused> {
            let mut at = [0.0; 3];
            for (axis, place) in at.iter_mut().enumerate().take(dims.min(self.form.coordinates)) {
                *place = self.float(axis, channel)?;
            }
            Ok(at)
        };
        let own = position(self.channel)?;
        let after = self.form.coordinates;
        let forced = self.control >> 16 & 1 == 1;
        let (level, reference) = match self.form.op {
            Op::Level { reference } => {
                let level = Level::Given(self.float(after, self.channel)?);
                (level, reference.then_some(after + 1))
            }
            Op::Sample { bias, reference } => {
                let next = after + usize::from(bias);
                let level = if forced {
                    Level::Given(0.0)
                } else {
                    let quad = self.channel & !3;
                    let (corner, right, below) =
                        (position(quad)?, position(quad + 1)?, position(quad + 2)?);
                    let from = |to: [f32; 3]| std::array::from_fn(|axis| to[axis] - corner[axis]);
                    let bias = if bias { self.float(after, self.channel)? } else { 0.0 };
                    Level::Gradient { ddx: from(right), ddy: from(below), bias }
                };
                (level, reference.then_some(next))
            }
            _ => {
                let mut slopes = [[0.0; 3]; 2];
                // All coordinates, their slopes along x, those along y.
                for (side, slope) in slopes.iter_mut().enumerate() {
                    for (axis, number) in slope.iter_mut().enumerate().take(dims.min(after)) {
                        *number = self.float(after * (1 + side) + axis, self.channel)?;
                    }
                }
                (Level::Gradient { ddx: slopes[0], ddy: slopes[1], bias: 0.0 }, None)
            }
        };
        let reference = match reference {
            Some(index) => Some(self.float(index, self.channel)?),
            None => None,
        };
        let lookup = Lookup {
            position: Position::Normalized(own),
            layer: 0,
            level,
            reference,
            offset: self.offsets(),
        };
        let sampler = match reference {
            Some(_) => *sampler,
            None => Sampler { compare: None, ..*sampler },
        };
        Ok(sample(image, &sampler, &lookup))
    }
}

//! Sampler messages: forms, parameters of channels, replies. G45 vol. 4, 4.8; isa/gen4.md 1.8.

use super::super::Model;
use super::super::memory::{Refused, Through};
use super::super::message::{Message, Register, Reply};
use super::super::rule::Rule;
use super::super::surface::{self, Kind, Surface};
use super::filter::{Asked, State};
use super::texture::Texture;
use super::{Functions, defined};
use gpucc_emu::format::Kind as Numbers;
use gpucc_emu::image::Texel;
use gpucc_emu::sampler::{FacePoint, Level, Lookup, Position, computed_level, sample};

/// What is asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Op {
    /// Level from the neighbours, a bias and a reference where there are some.
    Sample { bias: bool, reference: bool },
    /// Level as a parameter.
    Level { reference: bool },
    /// Derivatives as parameters, those along x and y from these on.
    Gradient([usize; 2]),
    /// Texels by number, and whether a level is given.
    Load(bool),
    /// Sizes of the level of this parameter.
    Info(usize),
}

/// How channels lie in registers. 4.8.1.6 to 4.8.1.8.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Mode {
    /// SIMD16: two registers a parameter.
    Wide,
    /// SIMD8: one.
    Eight,
    /// SIMD4x2: four parameters of two samples a register.
    Pair,
}

/// A message's form: what, how many coordinates, and channels.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Form {
    op: Op,
    coordinates: usize,
    mode: Mode,
}

/// The form of a pair of type and length. 4.8.1.3, isa/gen4.md 1.8.
fn form(kind: u32, length: usize) -> Result<Form, Refused> {
    use Mode::{Eight, Pair, Wide};
    let plain = Op::Sample { bias: false, reference: false };
    let (op, coordinates, mode) = match (kind, length) {
        (0, 3) => (plain, 1, Wide),
        (0, 5) => (plain, 2, Wide),
        (0, 7) => (plain, 3, Wide),
        (0, 4) => (plain, 3, Eight),
        (0, 9) => (Op::Sample { bias: true, reference: false }, 3, Wide),
        (1, 9) => (Op::Level { reference: false }, 3, Wide),
        (1, 2) => (Op::Level { reference: false }, 3, Pair),
        (2, 9) => (Op::Sample { bias: false, reference: true }, 3, Wide),
        (0, 2) => (Op::Sample { bias: false, reference: true }, 3, Pair),
        (0, 6) => (Op::Sample { bias: true, reference: true }, 3, Eight),
        (1, 6) => (Op::Level { reference: true }, 3, Eight),
        (1, 3) => (Op::Level { reference: true }, 3, Pair),
        (3, 3) => (Op::Load(false), 1, Wide),
        (3, 5) => (Op::Load(false), 2, Wide),
        (3, 7) => (Op::Load(false), 3, Wide),
        (3, 9) => (Op::Load(true), 3, Wide),
        (3, 4) => (Op::Load(false), 3, Eight),
        (3, 2) => (Op::Load(true), 3, Pair),
        (2, 7) => (Op::Gradient([2, 4]), 2, Eight),
        (2, 10) => (Op::Gradient([3, 6]), 3, Eight),
        (2, 4) => (Op::Gradient([4, 8]), 3, Pair),
        (2, 3) => (Op::Info(0), 0, Wide),
        (2, 2) => (Op::Info(3), 0, Pair),
        (1, 4) => return Err((Rule::NotBuilt, "a sample with a mask of killed pixels".into())),
        _ => return Err((Rule::SamplerForm, format!("type {kind} of {length} registers"))),
    };
    Ok(Form { op, coordinates, mode })
}

impl Form {
    fn reference(self) -> bool {
        matches!(self.op, Op::Sample { reference: true, .. } | Op::Level { reference: true })
    }

    /// Channels, and registers of a reply with all components.
    const fn size(self) -> (usize, usize) {
        match self.mode {
            Mode::Wide => (16, 8),
            Mode::Eight => (8, 4),
            Mode::Pair => (2, 1),
        }
    }

    /// What the chip and the header say against a message of this form on a texture's surface.
    fn check(self, model: Model, control: u32, surface: &Surface) -> Result<(), Refused> {
        let refused = |what: &str| Err((Rule::SamplerForm, what.to_string()));
        if control >> 12 & 15 == 15 {
            return refused("all components are masked");
        }
        let forced = control >> 16 & 1 == 1;
        match (self.op, self.mode) {
            (Op::Sample { .. }, Mode::Pair) if !forced => {
                return refused("a level of two vertices is computed");
            }
            (Op::Level { reference: true }, Mode::Pair) if model.is_early() => {
                return refused("the 965 does not compare in SIMD4x2");
            }
            _ => {}
        }
        // Offsets of u, v and r where the surface has none. 4.8.1.2.
        let offsets = match surface.kind {
            Kind::Cube | Kind::Buffer => 0xfff,
            Kind::Line => 0xff,
            Kind::Plane => 0xf,
            _ => 0,
        };
        if !matches!(self.op, Op::Info(_)) && control & offsets != 0 {
            return refused("an offset along an axis that the surface lacks");
        }
        let array = surface.kind != Kind::Volume && surface.depth != 1;
        if self.reference() && (surface.kind == Kind::Volume || array || !surface.compares()) {
            return refused("a comparison with a volume, an array or a format without");
        }
        match self.op {
            Op::Info(_) if surface.kind == Kind::Buffer => refused("sizes of a buffer"),
            Op::Load(_) if surface.kind == Kind::Cube => refused("a cube is loaded"),
            Op::Load(_) | Op::Info(_) => Ok(()),
            _ if surface.kind == Kind::Buffer => refused("a buffer is sampled"),
            _ if surface.format().is_some_and(|format| format.kind().is_integer()) => {
                refused("integers are filtered")
            }
            _ => Ok(()),
        }
    }
}

/// The 965 is told how the components come: as floats, or as integers of either kind. 4.8.1.1.1.
fn check_return(told: u32, form: Form, surface: &Surface) -> Result<(), Refused> {
    let numbers = surface.format().map(|format| format.kind());
    let right = match (form.op, numbers) {
        (Op::Info(_), _) => matches!(told, 0 | 2),
        (_, Some(Numbers::Uint)) => told == 2,
        (_, Some(Numbers::Sint)) => told == 3,
        _ => told == 0,
    };
    match right {
        true => Ok(()),
        false => Err((Rule::SamplerForm, format!("return format {told} of {numbers:?}"))),
    }
}

impl Functions<'_> {
    /// # Errors
    /// The message is none of the sampler, or what it reads is not there.
    pub(super) fn sampler(&mut self, message: &Message<'_>) -> Result<Reply, Refused> {
        let bits = message.descriptor;
        let kind = match self.model {
            Model::I965 | Model::Gm965 => bits >> 14 & 3,
            Model::G45 => bits >> 12 & 15,
        };
        let form = form(kind, message.payload.len())?;
        let control = defined(message.payload, 0, 2)?;
        let hidden = control >> 12 & 15;
        let (channels, whole) = form.size();
        // Of 16 channels what is masked is not sent; of 8 it is sent and not written. 4.8.2.
        let response = match form.mode {
            Mode::Wide => 2 * (4 - hidden.count_ones() as usize),
            _ => whole,
        };
        let entry = bits & 0xff;
        let table = self.context(message.sender)?.table;
        let surface = surface::entry(self.model, self.memory, self.bases.surface, table, entry)?;
        form.check(self.model, control, &surface)?;
        let told = bits >> 12 & 3;
        if self.model.is_early() {
            check_return(told, form, &surface)?;
        }
        if message.response as usize != response {
            let what = format!("{} registers of a reply of {response}", message.response);
            return Err((Rule::SamplerForm, what));
        }
        if form.mode != Mode::Wide && message.enabled >> 8 != 0 {
            return Err((Rule::SamplerForm, "16 channels of a message of 8".into()));
        }
        let source = self.source(message, form, control, surface)?;
        let mut registers = vec![(Register::UNDEFINED, 0u8); response];
        for channel in 0..channels {
            // A sample of two is active where any of its four channels is.
            let active = match form.mode {
                Mode::Pair => message.enabled >> (4 * channel) & 15 != 0,
                _ => message.enabled >> channel & 1 == 1,
            };
            if !active {
                continue;
            }
            let torn = message.enabled >> (channel & !3) & 7 != 7;
            let lane = Lane { payload: message.payload, form, control, channel, torn };
            let mut out = self.lane(&lane, &source)?;
            if matches!(form.op, Op::Info(_)) && self.model.is_early() && told == 0 {
                out = out.map(|number| (number as f32).to_bits());
            }
            let shown = (0..4).filter(|component| hidden >> component & 1 == 0);
            for (place, component) in shown.enumerate() {
                let (register, word) = match form.mode {
                    Mode::Wide => (2 * place + channel / 8, channel % 8),
                    Mode::Eight => (component, channel),
                    Mode::Pair => (0, 4 * channel + component),
                };
                let (register, written) = &mut registers[register];
                register.words[word] = out[component];
                register.undefined &= !(15 << (4 * word));
                *written |= 1 << word;
            }
        }
        Ok(Reply { registers })
    }

    /// What a message reads, and by which state.
    fn source(
        &mut self,
        message: &Message<'_>,
        form: Form,
        control: u32,
        surface: Surface,
    ) -> Result<Source, Refused> {
        let bits = message.descriptor;
        if matches!(form.op, Op::Info(_)) || surface.kind == Kind::Buffer {
            return Ok(Source::Surface(surface));
        }
        let texture = self.textures.get(self.memory, &surface, bits & 0xff)?;
        if matches!(form.op, Op::Load(_)) {
            return Ok(Source::Texels(texture));
        }
        let asked = Asked {
            level: matches!(form.op, Op::Level { .. }),
            forced: control >> 16 & 1 == 1,
            reference: form.reference(),
        };
        let states = self.bases.general.wrapping_add(defined(message.payload, 0, 3)? & !31);
        let at = states.wrapping_add(16 * (bits >> 8 & 15));
        let general = self.bases.general;
        let state = State::read(self.model, self.memory, general, at, &texture, asked)?;
        Ok(Source::Filtered(texture, state))
    }

    fn lane(&self, lane: &Lane<'_>, source: &Source) -> Result<[u32; 4], Refused> {
        match source {
            Source::Surface(surface) if surface.kind == Kind::Buffer => self.element(lane, surface),
            Source::Surface(surface) => lane.sizes(surface),
            Source::Texels(texture) => lane.load(texture),
            Source::Filtered(texture, state) => lane.filtered(texture, state),
        }
    }

    /// An element of a buffer: what is beyond it is 0.
    fn element(&self, lane: &Lane<'_>, surface: &Surface) -> Result<[u32; 4], Refused> {
        let index = lane.parameter(0, lane.channel)?;
        if let (Op::Load(true), Model::I965 | Model::Gm965) = (lane.form.op, self.model)
            && lane.parameter(3, lane.channel)? != 0
        {
            return Err((Rule::SamplerForm, "a level of a buffer".into()));
        }
        let Some(format) = surface.format() else {
            return Err((Rule::NotBuilt, format!("format {:#x} of a buffer", surface.code)));
        };
        if index >= surface.width {
            return Ok(surface.absent());
        }
        let at = surface.base.wrapping_add(index.wrapping_mul(surface.pitch));
        let found = self.memory.load(at, format.bytes() as usize, Through::Other)?;
        if found.undefined.contains(&true) {
            return Err((Rule::Undefined, format!("element {index} of a buffer")));
        }
        Ok(surface.loaded(format.decode(&found.bytes)))
    }
}

/// What a message reads.
enum Source {
    /// Sizes, or elements of a buffer.
    Surface(Surface),
    Texels(Texture),
    Filtered(Texture, State),
}

impl Surface {
    /// A surface without alpha whose channels have 8 bits: loads give 0 in place of 1. 4.8.1.4, errata.
    fn lacks_one(&self) -> bool {
        matches!(self.code, 0x106..=0x109 | 0x140..=0x143)
    }

    /// What a load gives beside the surface.
    fn absent(&self) -> [u32; 4] {
        let format = self.format();
        let one = match format.map(|format| (format.components(), format.kind().is_integer())) {
            None | Some((4, _)) => 0,
            Some((_, true)) => 1,
            Some(_) => 1f32.to_bits(),
        };
        [0, 0, 0, if self.lacks_one() { 0 } else { one }]
    }

    /// What a load gives of a texel.
    fn loaded(&self, [red, green, blue, alpha]: [u32; 4]) -> [u32; 4] {
        [red, green, blue, if self.lacks_one() { 0 } else { alpha }]
    }
}

/// A channel of a message.
struct Lane<'a> {
    payload: &'a [Register],
    form: Form,
    /// Word 2 of the header.
    control: u32,
    channel: usize,
    /// A channel that the computed level comes from is not enabled: what it sends nobody need have written.
    torn: bool,
}

impl Lane<'_> {
    /// A parameter of a channel.
    fn parameter(&self, index: usize, channel: usize) -> Result<u32, Refused> {
        match self.form.mode {
            Mode::Wide => defined(self.payload, 1 + 2 * index + channel / 8, channel % 8),
            Mode::Eight => defined(self.payload, 1 + index, channel),
            Mode::Pair => defined(self.payload, 1 + index / 4, 4 * channel + index % 4),
        }
    }

    fn float(&self, index: usize, channel: usize) -> Result<f32, Refused> {
        self.parameter(index, channel).map(f32::from_bits)
    }

    /// A coordinate; what a message lacks is 0.
    fn coordinate(&self, index: usize, channel: usize) -> Result<f32, Refused> {
        if index < self.form.coordinates { self.float(index, channel) } else { Ok(0.0) }
    }

    /// Offsets of u, v and r: 4 bits with a sign each.
    fn offsets(&self) -> [i32; 3] {
        [8, 4, 0].map(|shift| (self.control >> shift << 28) as i32 >> 28)
    }

    /// Width, height, depth or layers (0 where there is no array), levels. 4.8.1.4.
    fn sizes(&self, surface: &Surface) -> Result<[u32; 4], Refused> {
        let Op::Info(parameter) = self.form.op else { return Ok([0; 4]) };
        let level = self.parameter(parameter, self.channel)?;
        let levels = surface.levels + 1;
        let half = |size: u32| match level < levels {
            true => (size >> (surface.least_level + level)).max(1),
            false => 0,
        };
        let layers = if surface.depth == 1 { 0 } else { surface.depth };
        let (width, height) = (half(surface.width), half(surface.height));
        Ok(match surface.kind {
            Kind::Line => [width, layers, 0, levels],
            Kind::Volume => [width, height, half(surface.depth), levels],
            Kind::Cube => [width, height, 0, levels],
            _ => [width, height, layers, levels],
        })
    }

    /// A texel by its numbers. What is outside is 0, and alpha 1 where the format has none.
    fn load(&self, texture: &Texture) -> Result<[u32; 4], Refused> {
        let surface = &texture.surface;
        let axes = surface.kind.axes();
        let array = surface.depth != 1 && surface.kind != Kind::Volume;
        let mut at = [0; 3];
        for (index, place) in at.iter_mut().enumerate().take(self.form.coordinates) {
            let value = self.parameter(index, self.channel)?;
            if index < axes {
                *place = value.wrapping_add_signed(self.offsets()[index]);
            } else if index == axes && array {
                *place = value;
            } else if value != 0 && self.form.mode != Mode::Wide {
                // What is not used must be 0 in messages of 8 channels. 4.8.1.4, errata.
                return Err((Rule::SamplerForm, format!("coordinate {index} is {value:#x}")));
            }
        }
        let level =
            if self.form.op == Op::Load(true) { self.parameter(3, self.channel)? } else { 0 };
        let layer = if array { at[axes] } else { 0 };
        let axis = |index: usize| if index < axes { at[index] } else { 0 };
        let level = level.saturating_add(surface.least_level);
        let texel = Texel { x: axis(0), y: axis(1), z: axis(2), layer, level, ..Texel::default() };
        let found = texture.image.load(texel);
        Ok(found.map_or_else(|| surface.absent(), |texel| surface.loaded(texel)))
    }

    /// Coordinates of the texture's axes, without a layer.
    fn position(&self, axes: usize, channel: usize) -> Result<[f32; 3], Refused> {
        let mut at = [0.0; 3];
        for (index, place) in at.iter_mut().enumerate().take(axes) {
            *place = self.coordinate(index, channel)?;
        }
        Ok(at)
    }

    /// A direction that was divided by its largest coordinate. 4.8.1.4.
    fn direction(&self, channel: usize) -> Result<[f32; 3], Refused> {
        let at = self.position(3, channel)?;
        let most = at.iter().fold(0.0, |most: f32, part| most.max(part.abs()));
        // What is divided by an infinity or by a reciprocal that is flushed is 0, or NaN.
        let divided = (most - 1.0).abs() <= 1e-4 || most == 0.0 || at.iter().any(|x| x.is_nan());
        match divided {
            true => Ok(at),
            false => Err((Rule::SamplerForm, format!("{at:?} is not divided by its largest"))),
        }
    }

    /// The computed level, before the state's bias. Where a channel that it comes from is not enabled and sends what is no
    /// coordinate, the level may be any: level 0 here.
    fn computed(&self, texture: &Texture) -> Result<f32, Refused> {
        match self.of_quad(texture) {
            Err(_) if self.torn => Ok(0.0),
            level => level,
        }
    }

    /// The level from the upper left pixel of the four and its neighbours. 4.2.1.1.
    fn of_quad(&self, texture: &Texture) -> Result<f32, Refused> {
        let axes = texture.surface.kind.axes();
        let quad = self.channel & !3;
        let (ddx, ddy, position);
        if texture.surface.kind == Kind::Cube {
            let point = |channel| Ok(FacePoint::of(self.direction(channel)?));
            let (corner, right, below) = (point(quad)?, point(quad + 1)?, point(quad + 2)?);
            (ddx, ddy) = (corner.gradient(&right), corner.gradient(&below));
            position = corner.position();
        } else {
            let point = |channel| self.position(axes, channel);
            let (corner, right, below) = (point(quad)?, point(quad + 1)?, point(quad + 2)?);
            let from = |to: [f32; 3]| std::array::from_fn(|axis| to[axis] - corner[axis]);
            (ddx, ddy) = (from(right), from(below));
            position = Position::Normalized(corner);
        }
        Ok(computed_level(&texture.image, position, ddx, ddy))
    }

    /// The level of slopes that are given; those of a cube are on its face, from -1 to 1.
    fn sloped(&self, texture: &Texture, from: [usize; 2], at: Position) -> Result<f32, Refused> {
        let cube = texture.surface.kind == Kind::Cube;
        let axes = if cube { 2 } else { texture.surface.kind.axes() };
        let mut slopes = [[0.0; 3]; 2];
        for (slope, from) in slopes.iter_mut().zip(from) {
            for (axis, number) in slope.iter_mut().enumerate().take(axes) {
                let told = self.float(from + axis, self.channel)?;
                *number = if cube { told / 2.0 } else { told };
            }
        }
        Ok(computed_level(&texture.image, at, slopes[0], slopes[1]))
    }

    fn filtered(&self, texture: &Texture, state: &State) -> Result<[u32; 4], Refused> {
        let surface = &texture.surface;
        let axes = surface.kind.axes();
        let (own, count) = (self.channel, self.form.coordinates);
        let array = surface.depth != 1 && surface.kind != Kind::Volume;
        // Slopes come with every coordinate that the surface uses.
        if matches!(self.form.op, Op::Gradient(_)) && axes + usize::from(array) > count {
            return Err((Rule::SamplerForm, "slopes without the third coordinate".into()));
        }
        let sloped = matches!(self.form.op, Op::Gradient(_));
        let position = match surface.kind {
            // The face is a parameter: u and v are on it already.
            Kind::Cube if sloped => {
                let on_face = |at: f32| at / 2.0 + 1.5;
                let (u, v) = (self.float(0, own)?, self.float(1, own)?);
                let face = self.float(2, own)?;
                if !(0.0..6.0).contains(&face) || face.fract() != 0.0 {
                    return Err((Rule::SamplerForm, format!("face {face} of a cube")));
                }
                Position::Face { s: on_face(u), t: on_face(v), face: face as u32 }
            }
            Kind::Cube => Position::Normalized(self.direction(own)?),
            _ => Position::Normalized(self.position(axes, own)?),
        };
        let layer = if array { self.coordinate(axes, own)? } else { 0.0 };
        let forced = self.control >> 16 & 1 == 1;
        let computed = |sloped: Option<[usize; 2]>| match sloped {
            _ if forced || !state.needs_level() => Ok(0.0),
            Some(from) => self.sloped(texture, from, position),
            None => self.computed(texture),
        };
        let (level, reference) = match self.form.op {
            Op::Level { reference } => {
                let level = self.float(count, own)? + state.bias + surface.least_level as f32;
                (level, reference.then_some(count + 1))
            }
            Op::Sample { bias, reference } => {
                let told = if bias { self.float(count, own)? } else { 0.0 };
                if !(-16.0..16.0).contains(&told) {
                    return Err((Rule::SamplerForm, format!("a bias of {told}")));
                }
                let level = computed(None)? + told + state.bias;
                (level, reference.then_some(count + usize::from(bias)))
            }
            Op::Gradient(from) => (computed(Some(from))? + state.bias, None),
            Op::Load(_) | Op::Info(_) => (0.0, None),
        };
        let reference = match reference {
            Some(index) => Some(self.float(index, own)?),
            None => None,
        };
        if reference.is_some_and(|reference| state.is_one(reference)) {
            return Ok([1f32.to_bits(), 0, 0, 1f32.to_bits()]);
        }
        let (level, sampler) = state.at_level(texture, level, reference.is_some());
        let lookup = Lookup {
            position,
            // Clamped to those that exist.
            layer: layer.round_ties_even() as i32,
            level: Level::Given(level),
            reference,
            offset: self.offsets(),
        };
        Ok(sample(&texture.image, &sampler, &lookup))
    }
}

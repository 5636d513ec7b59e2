//! SAMPLER_STATE and the level of detail. G45 vol. 4, 4.2.1.5, 4.4, 4.7.3, 4.7.4.

use super::super::Model;
use super::super::memory::{Memory, Refused};
use super::super::rule::Rule;
use super::super::surface::Kind;
use super::texture::Texture;
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};

/// The greatest level that a state may name.
const MOST: f32 = 13.0;

/// What a message changes of a state.
#[derive(Copy, Clone, Debug, Default)]
pub struct Asked {
    /// The level is a parameter.
    pub level: bool,
    /// Force LOD to Zero.
    pub forced: bool,
    pub reference: bool,
}

/// A sampler state.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct State {
    pub wrap: [Wrap; 3],
    mag: Filter,
    min: Filter,
    mip: MipFilter,
    least: f32,
    most: f32,
    /// Added to every level.
    pub bias: f32,
    /// What is above counts as minified.
    base: f32,
    clamps_first: bool,
    /// The comparison, as the shared sampler has it: of the reference with a texel.
    compare: Compare,
    /// What fails for a number is 1 for a NaN too: the state's comparison makes a texel 0 where it holds.
    ordered: bool,
    border: [u32; 4],
}

/// A filter's code. The anisotropic one is linear where no slopes are known.
fn filter(model: Model, code: u32, asked: Asked) -> Result<Filter, Refused> {
    let no_slopes = asked.level || asked.forced && model == Model::G45;
    match code {
        0 => Ok(Filter::Nearest),
        1 => Ok(Filter::Linear),
        2 if no_slopes => Ok(Filter::Linear),
        2 | 6 => Err((Rule::NotBuilt, format!("filter {code}"))),
        _ => Err((Rule::SamplerState, format!("filter {code}"))),
    }
}

fn wraps(d1: u32, kind: Kind) -> Result<[Wrap; 3], Refused> {
    let codes = [d1 >> 6 & 7, d1 >> 3 & 7, d1 & 7];
    if kind == Kind::Cube {
        // The override makes all three those of cubes.
        return match (d1 >> 9 & 1, codes) {
            (1, _) | (0, [3, 3, 3]) => Ok([Wrap::Clamp; 3]),
            (_, [2, 2, 2]) => Err((Rule::NotBuilt, "faces of a cube that clamp".into())),
            _ => Err((Rule::SamplerState, format!("wrap modes {codes:?} of a cube"))),
        };
    }
    let mut wraps = [Wrap::Repeat; 3];
    for (wrap, code) in wraps.iter_mut().zip(codes) {
        *wrap = match code {
            0 => Wrap::Repeat,
            1 => Wrap::Mirror,
            2 => Wrap::Clamp,
            4 => Wrap::Border,
            5 => Wrap::MirrorOnce,
            _ => return Err((Rule::SamplerState, format!("wrap mode {code}"))),
        };
    }
    Ok(wraps)
}

impl State {
    /// The state at an address.
    ///
    /// # Errors
    /// It is not mapped or written, has what is reserved or not built, or does not go with the texture.
    pub fn read(
        model: Model,
        memory: &Memory,
        general: u32,
        at: u32,
        texture: &Texture,
        asked: Asked,
    ) -> Result<State, Refused> {
        let word = |index: u32| memory.state(at.wrapping_add(4 * index));
        let (d0, d1, d2, d3) = (word(0)?, word(1)?, word(2)?, word(3)?);
        let refused =
            |what: &str| Err((Rule::SamplerState, format!("{what} of the state at {at:#x}")));
        let not_built =
            |what: &str| Err((Rule::NotBuilt, format!("{what} of the state at {at:#x}")));
        if d0 & 0x4800_0000 != 0 || d1 & 0xc00 != 0 || d2 & 31 != 0 || d3 & 0x1fff != 0 {
            return refused("reserved bits");
        }
        if d0 >> 31 == 1 || d0 >> 29 & 1 == 1 || d3 >> 25 & 1 == 1 {
            return not_built("the disable bit, the border mode of DX9 or a chroma key");
        }
        let mip = match d0 >> 20 & 3 {
            0 => MipFilter::None,
            1 => MipFilter::Nearest,
            3 => MipFilter::Linear,
            _ => return refused("the filter between levels"),
        };
        let (mag, min) = (filter(model, d0 >> 17 & 7, asked)?, filter(model, d0 >> 14 & 7, asked)?);
        let linear = mag == Filter::Linear || min == Filter::Linear || mip == MipFilter::Linear;
        if linear && !asked.reference && !texture.surface.filters() {
            return refused("a linear filter of a format without");
        }
        let level = |bits: u32| (bits & 0x3ff) as f32 / 64.0;
        let (least, most) = (level(d1 >> 22), level(d1 >> 12));
        let base = (d0 >> 22 & 31) as f32 / 2.0;
        if least > MOST || most > MOST || base > MOST {
            return refused("a level above 13");
        }
        let wrap = wraps(d1, texture.surface.kind)?;
        // A texture of one line leaks its border through v. P 7.9.
        let line = texture.surface.kind == Kind::Line;
        if line && wrap[1] == Wrap::Border {
            return refused("v's wrap mode of a line");
        }
        let border = match wrap.contains(&Wrap::Border) {
            true => border(memory, general.wrapping_add(d2), texture)?,
            false => [0; 4],
        };
        // By the state's code: the shared sampler compares the other way round, and makes 1 of what holds.
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
        Ok(State {
            wrap,
            mag,
            min,
            mip,
            least,
            most,
            // 11 bits with a sign, 6 of them behind the point.
            bias: (((d0 >> 3 & 0x7ff) << 21) as i32 >> 21) as f32 / 64.0,
            base,
            clamps_first: d0 >> 28 & 1 == 1,
            compare,
            ordered: matches!(d0 & 7, 2 | 4 | 5 | 7),
            border,
        })
    }

    /// Whether the level decides anything: else the neighbours of a channel are not asked.
    pub fn needs_level(&self) -> bool {
        self.mip != MipFilter::None || self.mag != self.min
    }

    /// The level and filter of a lookup whose level before clamps is given, and the sampler that takes it from there. 4.2.1.5.
    pub fn at_level(&self, texture: &Texture, level: f32, reference: bool) -> (f32, Sampler) {
        let (count, first) = (texture.surface.levels as f32, texture.surface.least_level as f32);
        let (most, least) = (self.most.min(count) + first, self.least.min(count) + first);
        let mut level = if level.is_nan() { 0.0 } else { level };
        if self.clamps_first {
            level = level.min(most).max(least);
        }
        let magnified = level - self.base <= 0.0;
        let whole = |level: f32| level.min(most.ceil()).max(least.floor()).floor();
        let (level, mip) = match self.mip {
            _ if magnified => (whole(0.0), MipFilter::Nearest),
            MipFilter::None => (whole(0.0), MipFilter::Nearest),
            MipFilter::Nearest => (whole(level + 0.5), MipFilter::Nearest),
            MipFilter::Linear => (level.min(most).max(least), MipFilter::Linear),
        };
        let filter = if magnified { self.mag } else { self.min };
        let sampler = Sampler {
            wrap: self.wrap,
            mag: filter,
            min: filter,
            mip,
            lod_min: 0.0,
            lod_max: 2.0 * MOST,
            lod_bias: 0.0,
            compare: reference.then_some(self.compare),
            border: self.border,
        };
        (level, sampler)
    }

    /// A comparison with a NaN that orders numbers holds for no texel, so every texel is 1. 4.4, 4.8.1.4.
    pub fn is_one(&self, reference: f32) -> bool {
        self.ordered && reference.is_nan()
    }
}

/// SAMPLER_BORDER_COLOR_STATE of DX10 and OpenGL: four floats, of which a format takes the components that it has.
fn border(memory: &Memory, at: u32, texture: &Texture) -> Result<[u32; 4], Refused> {
    let mut border = [0, 0, 0, 1f32.to_bits()];
    let components = texture.image.format().components() as usize;
    for (index, component) in (0..).zip(&mut border) {
        let found = memory.state(at.wrapping_add(4 * index))?;
        if (index as usize) < components {
            *component = found;
        }
    }
    Ok(border)
}

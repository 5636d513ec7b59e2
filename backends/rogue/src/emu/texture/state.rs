//! Texture and sampler words. 4.5.

use super::super::rule::{Refused, Rule};
use gpucc_emu::format::Format;
use gpucc_emu::sampler::{Filter, MipFilter, Sampler, Wrap};
use gpucc_ir::ssa::Dim;

/// What a component of a result is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Swizzle {
    /// A component of the texel.
    Component(u8),
    /// 1.
    One,
    /// 0.
    Zero,
}

/// A texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    pub dim: Dim,
    pub format: Format,
    pub width: u32,
    pub height: u32,
    /// Slices, or layers.
    pub depth: u32,
    pub levels: u32,
    pub base_level: u32,
    pub samples: u32,
    pub address: u64,
    pub swizzle: [Swizzle; 4],
    /// Texels from one row to the next, where rows follow each other.
    pub stride: Option<u32>,
}

fn wrong<T>(what: impl Into<String>) -> Result<T, Refused> {
    Err((Rule::TextureWords, what.into()))
}

/// Bits of a word of 64.
const fn field(word: u64, high: u32, low: u32) -> u32 {
    (word >> low & ((1 << (high - low + 1)) - 1)) as u32
}

/// Two words of 64 bits.
fn pair(words: &[u32; 4]) -> [u64; 2] {
    let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    [join(words[0], words[1]), join(words[2], words[3])]
}

impl Description {
    /// From the words of a texture's state.
    ///
    /// # Errors
    /// They have a reserved value, or do not fit the operation.
    pub fn read(words: &[u32; 4], normalise: bool, dimensions: u8) -> Result<Description, Refused> {
        let [first, second] = pair(words);
        let dim = match field(first, 2, 0) {
            0 => Dim::D1,
            1 | 4 => Dim::D2,
            2 => Dim::D3,
            3 => Dim::Cube,
            other => return wrong(format!("texture type {other}")),
        };
        let expected = match dim {
            Dim::D1 => 1,
            Dim::D2 => 2,
            Dim::D3 | Dim::Cube => 3,
        };
        if expected != dimensions {
            return wrong(format!("{dimensions} coordinates of a texture of {dim:?}"));
        }
        let strided = field(first, 2, 0) == 4;
        let gamma = field(first, 4, 3);
        let number = field(first, 33, 27);
        let Some(format) = format(number, normalise, gamma != 0) else {
            return wrong(format!("format {number}, normalised {normalise}, gamma {gamma}"));
        };
        let mut swizzle = [Swizzle::Zero; 4];
        for (at, source) in swizzle.iter_mut().enumerate() {
            let low = 14 - 3 * at as u32;
            *source = match field(first, low + 2, low) {
                component @ 0..=3 => Swizzle::Component(component as u8),
                4 => Swizzle::One,
                5 => Swizzle::Zero,
                other => return wrong(format!("swizzle {other}")),
            };
        }
        if field(first, 26, 17) != 0 {
            return Err((Rule::NotBuilt, "a least level of a texture".into()));
        }
        if field(second, 59, 59) != 0 {
            return Err((Rule::NotBuilt, "alpha in the highest bit".into()));
        }
        if field(second, 57, 54) != 0 {
            return Err((Rule::NotBuilt, "a compressed texture".into()));
        }
        let mipmapped = field(second, 15, 15) == 1;
        let levels = match (strided, mipmapped) {
            (true, true) => return Err((Rule::NotBuilt, "levels of a strided texture".into())),
            (false, true) => field(second, 3, 0),
            _ => 1,
        };
        if strided && field(second, 14, 0) < field(first, 47, 34) {
            return wrong("rows that overlap");
        }
        if levels == 0 {
            return wrong("no levels");
        }
        Ok(Description {
            dim,
            format,
            width: field(first, 47, 34) + 1,
            height: if dim == Dim::D1 { 1 } else { field(first, 61, 48) + 1 },
            depth: if strided { 1 } else { field(second, 14, 4) + 1 },
            levels,
            base_level: if strided { 0 } else { field(second, 63, 60) },
            samples: 1 << field(first, 63, 62),
            address: (second >> 16 & ((1 << 38) - 1)) << 2,
            swizzle,
            stride: strided.then(|| field(second, 14, 0) + 1),
        })
    }
}

/// The format of a number: channels are floats where they are normalised, else integers. 4.5.
fn format(number: u32, normalise: bool, gamma: bool) -> Option<Format> {
    let of = |float: Format, integer: Format| Some(if normalise { float } else { integer });
    let float = |format: Format| normalise.then_some(format);
    let integer = |format: Format| (!normalise).then_some(format);
    match number {
        12 if gamma => float(Format::Rgba8UnormSrgb),
        _ if gamma => None,
        0 => of(Format::R8Unorm, Format::R8Uint),
        1 => of(Format::R8Snorm, Format::R8Sint),
        7 => of(Format::Rg8Unorm, Format::Rg8Uint),
        8 => of(Format::Rg8Snorm, Format::Rg8Sint),
        9 => of(Format::R16Unorm, Format::R16Uint),
        10 => of(Format::R16Snorm, Format::R16Sint),
        11 => float(Format::R16Float),
        12 => of(Format::Rgba8Unorm, Format::Rgba8Uint),
        13 => of(Format::Rgba8Snorm, Format::Rgba8Sint),
        14 => of(Format::Rgb10a2Unorm, Format::Rgb10a2Uint),
        15 => of(Format::Rg16Unorm, Format::Rg16Uint),
        16 => of(Format::Rg16Snorm, Format::Rg16Sint),
        17 => float(Format::Rg16Float),
        18 => float(Format::R32Float),
        21 | 22 => float(Format::Depth24Plus),
        24 => integer(Format::R32Uint),
        25 => integer(Format::R32Sint),
        26 => float(Format::Rgb9e5Ufloat),
        28 => float(Format::Rgba16Float),
        29 => of(Format::Rgba16Unorm, Format::Rgba16Uint),
        30 => of(Format::Rgba16Snorm, Format::Rgba16Sint),
        34 => float(Format::Rg32Float),
        35 => integer(Format::Rg32Uint),
        36 => integer(Format::Rg32Sint),
        61 => float(Format::Rgba32Float),
        62 => integer(Format::Rgba32Uint),
        63 => integer(Format::Rgba32Sint),
        88 => float(Format::Rg11b10Ufloat),
        _ => None,
    }
}

/// A sampler from its words; `border` gives the colour of an index.
///
/// # Errors
/// They have a reserved value.
pub fn sampler(
    words: &[u32; 4],
    border: impl Fn(u32) -> Result<[u32; 4], Refused>,
) -> Result<Sampler, Refused> {
    let [first, second] = pair(words);
    if field(first, 61, 59) != 0 || field(first, 48, 47) != 0 || field(first, 35, 33) != 0 {
        return Err((Rule::NotBuilt, "comparisons, luma keys and anisotropy".into()));
    }
    if second != 0 || field(first, 63, 62) != 0 {
        return Err((Rule::NotBuilt, "several planes".into()));
    }
    let wrap = |low: u32| {
        Ok(match field(first, low + 2, low) {
            0 => Wrap::Repeat,
            1 => Wrap::Mirror,
            2 => Wrap::Clamp,
            3 => Wrap::MirrorOnce,
            4 => Wrap::Border,
            other => return wrong(format!("address mode {other}")),
        })
    };
    let filter = |low: u32| {
        Ok(match field(first, low + 1, low) {
            0 => Filter::Nearest,
            1 => Filter::Linear,
            other => return wrong(format!("filter {other}")),
        })
    };
    if field(first, 49, 49) == 1 {
        return Err((Rule::NotBuilt, "coordinates that are not normalised".into()));
    }
    let wrap = [wrap(41)?, wrap(44)?, wrap(56)?];
    let colour = if wrap.contains(&Wrap::Border) { border(field(first, 55, 50))? } else { [0; 4] };
    let lod = |high: u32, low: u32| field(first, high, low) as f32 / 64.0;
    Ok(Sampler {
        wrap,
        mag: filter(36)?,
        min: filter(38)?,
        mip: if field(first, 40, 40) == 1 { MipFilter::Linear } else { MipFilter::Nearest },
        lod_min: lod(22, 13),
        lod_max: lod(32, 23),
        lod_bias: (field(first, 12, 0) as f32 - 4095.0) / 256.0,
        compare: None,
        border: colour,
    })
}

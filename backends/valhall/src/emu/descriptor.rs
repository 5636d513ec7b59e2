//! Descriptors as they lie in memory: docs/abi-valhall.md, read back here word by word.

use super::memory::{Memory, Refused};
use super::rule::Rule;
use super::state::State;
use gpucc_emu::format::VertexFormat;
use gpucc_emu::image::Image;
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_ir::ssa::Dim;

/// Bytes of a descriptor.
const SIZE: u64 = 32;

fn refused<T>(rule: Rule, detail: String) -> Result<T, Refused> {
    Err((rule, detail))
}

fn words(memory: &Memory, address: u64) -> Result<[u32; 8], Refused> {
    let mut words = [0; 8];
    for (k, word) in words.iter_mut().enumerate() {
        *word = memory.word(address + 4 * k as u64)?;
    }
    Ok(words)
}

fn address(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The descriptor of a handle, or `None` for the null descriptor.
pub fn find(state: &State, handle: u32) -> Result<Option<[u32; 8]>, Refused> {
    let (table, index) = (handle >> 24, u64::from(handle & 0xFF_FFFF));
    let (array, count) = (state.tables & !63, (state.tables & 63) as u32);
    if table >= count {
        return refused(Rule::Table, format!("table {table} of {count}"));
    }
    let entry = array + 16 * u64::from(table);
    let [low, high, size] = [0, 4, 8].map(|at| state.memory.word(entry + at));
    let (low, high, size) = (low?, high?, size?);
    if size != 0 && high >> 24 & 1 == 0 {
        return refused(Rule::Table, format!("table {table} has no descriptors"));
    }
    if (index + 1) * SIZE > u64::from(size) {
        return Ok(None);
    }
    let words = words(&state.memory, address(low, high & 0xFF_FFFF) + SIZE * index)?;
    Ok((words[0] & 15 != 0).then_some(words))
}

/// A buffer.
#[derive(Copy, Clone, Debug, Default)]
pub struct Buffer {
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub size: u32,
    /// Bytes of an element, of a structured one.
    pub stride: Option<u32>,
}

/// The buffer of a handle.
pub fn buffer(state: &State, handle: u32) -> Result<Option<Buffer>, Refused> {
    let Some(w) = find(state, handle)? else {
        return Ok(None);
    };
    let stride = match (w[0] & 15, w[0] >> 4 & 15) {
        (9, 1) => None,
        (9, 3) => Some(w[4]),
        (kind, form) => {
            let detail = format!("{handle:#010x} is of type {kind}, form {form}, no buffer");
            return refused(Rule::Descriptor, detail);
        }
    };
    Ok(Some(Buffer { address: address(w[2], w[3]), size: w[1], stride }))
}

/// An attribute.
#[derive(Copy, Clone, Debug)]
pub struct Attribute {
    /// What its components are.
    pub format: VertexFormat,
    /// The 22 bits that say so: the conversion word.
    pub pixel: u32,
    /// Advances by instance.
    pub per_instance: bool,
    /// Bytes from an element's start.
    pub offset: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Where elements are.
    pub buffer: Buffer,
}

/// The attribute of a handle.
pub fn attribute(state: &State, handle: u32) -> Result<Attribute, Refused> {
    let Some(w) = find(state, handle)? else {
        return refused(Rule::Descriptor, format!("attribute {handle:#010x} is null"));
    };
    if w[0] & 15 != 5 || w[0] >> 4 & 15 != 1 {
        let detail = format!("{handle:#010x} is of type {}, no attribute", w[0] & 15);
        return refused(Rule::Descriptor, detail);
    }
    let pixel = w[0] >> 10;
    let Some(format) = super::pixel::attribute(pixel) else {
        return refused(Rule::Descriptor, format!("pixel format {pixel:#x}"));
    };
    let frequency = w[1] >> 6 & 3;
    if frequency > 1 {
        return refused(Rule::Descriptor, format!("attribute frequency {frequency}"));
    }
    let table = w[1] & 63;
    Ok(Attribute {
        format,
        pixel,
        per_instance: frequency == 1,
        offset: if w[0] >> 8 & 1 == 1 { w[2] } else { 0 },
        stride: w[4],
        buffer: buffer(state, table << 24 | w[3])?.unwrap_or_default(),
    })
}

/// The image behind a texture's handle, `None` for the null descriptor, with the address of its
/// first byte and its pixel format.
pub fn texture(state: &State, handle: u32) -> Result<Option<(u64, &Image, u32)>, Refused> {
    let Some(w) = find(state, handle)? else {
        return Ok(None);
    };
    if w[0] & 15 != 2 {
        let detail = format!("{handle:#010x} is of type {}, no texture", w[0] & 15);
        return refused(Rule::Descriptor, detail);
    }
    let pixel = w[0] >> 10;
    let plane = words(&state.memory, address(w[4], w[5]))?;
    if plane[0] & 15 != 10 || plane[0] >> 4 & 15 != 1 || plane[0] >> 8 & 15 != 2 {
        let detail = format!("plane {:#010x} of {handle:#010x}", plane[0]);
        return refused(Rule::Descriptor, detail);
    }
    let first = address(plane[2], plane[3]);
    let Some(image) = state.memory.image(first) else {
        let detail = format!("no image stands at {first:#x}, plane of {handle:#010x}");
        return refused(Rule::Descriptor, detail);
    };
    let extent = image.extent();
    let dim = match w[0] >> 4 & 7 {
        0 => Dim::Cube,
        1 => Dim::D1,
        2 => Dim::D2,
        3 => Dim::D3,
        other => return refused(Rule::Descriptor, format!("dimension {other}")),
    };
    let per_layer = if dim == Dim::Cube { 6 } else { 1 };
    let said = (
        dim,
        [w[1] & 0xFFFF, w[1] >> 16, w[7] & 0xFFFF].map(|n| n + 1),
        (w[2] >> 16 & 31) + 1,
        1 << (w[3] >> 13 & 7),
        ((w[6] & 0xFFFF) + 1) * per_layer,
        super::pixel::texel(pixel, plane[0] >> 24),
    );
    let is = (
        extent.dim,
        [extent.width, extent.height, extent.depth],
        extent.levels,
        extent.samples,
        extent.layers,
        Some(image.format()),
    );
    if said != is {
        let detail = format!("{handle:#010x} describes {said:?}, memory holds {is:?}");
        return refused(Rule::Descriptor, detail);
    }
    // Rows, slices and the whole of level 0, in bytes, and the last level as a maximum with eight bits after the point.
    let [width, height, depth] = image.size(0);
    let row = width * image.format().bytes() * extent.samples;
    let lies = [plane[1], plane[4], plane[6], w[3] >> 16 & 0x1FFF];
    let slice = row * height;
    let should = [slice * depth, row, slice, (extent.levels - 1) << 8];
    if lies[0] < should[0] || lies[1..] != should[1..] {
        let detail = format!("{handle:#010x} describes {lies:?}, memory holds {should:?}");
        return refused(Rule::Descriptor, detail);
    }
    // The swizzle is R G B A: the only one that the executor's textures have.
    if w[2] & 0xFFF != 1 << 3 | 2 << 6 | 3 << 9 {
        return refused(Rule::Unsupported, "a texture with a swizzle".into());
    }
    Ok(Some((first, image, pixel)))
}

/// The sampler of a handle.
pub fn sampler(state: &State, handle: u32) -> Result<Sampler, Refused> {
    let Some(w) = find(state, handle)? else {
        return refused(Rule::Descriptor, format!("sampler {handle:#010x} is null"));
    };
    if w[0] & 15 != 1 {
        let detail = format!("{handle:#010x} is of type {}, no sampler", w[0] & 15);
        return refused(Rule::Descriptor, detail);
    }
    if w[0] >> 25 & 1 == 0 {
        return refused(Rule::Unsupported, "coordinates that are not normalised".into());
    }
    let wrap = |low: u32| match w[0] >> low & 15 {
        8 => Ok(Wrap::Repeat),
        9 => Ok(Wrap::Clamp),
        11 => Ok(Wrap::Border),
        12 => Ok(Wrap::Mirror),
        13 => Ok(Wrap::MirrorOnce),
        15 => Ok(Wrap::MirrorOnceBorder),
        other => refused(Rule::Descriptor, format!("wrap mode {other}")),
    };
    let filter = |bit: u32| {
        if w[0] >> bit & 1 == 1 { Filter::Nearest } else { Filter::Linear }
    };
    let fixed = |v: u32| (v & 0x1FFF) as f32 / 256.0;
    Ok(Sampler {
        wrap: [wrap(16)?, wrap(12)?, wrap(8)?],
        mag: filter(28),
        min: filter(27),
        mip: match w[0] >> 30 {
            0 => MipFilter::Nearest,
            1 => MipFilter::None,
            3 => MipFilter::Linear,
            other => return refused(Rule::Descriptor, format!("mip mode {other}")),
        },
        lod_min: fixed(w[1]),
        lod_max: fixed(w[1] >> 16),
        lod_bias: f32::from(w[2] as i16) / 256.0,
        compare: Some(match w[1] >> 13 & 7 {
            0 => Compare::Never,
            1 => Compare::Less,
            2 => Compare::Equal,
            3 => Compare::LessEqual,
            4 => Compare::Greater,
            5 => Compare::NotEqual,
            6 => Compare::GreaterEqual,
            _ => Compare::Always,
        }),
        border: [w[4], w[5], w[6], w[7]],
    })
}

//! Where texels lie in memory. See the module above.

use super::super::memory::Memory;
use super::super::rule::{Refused, Rule};
use super::state::Description;
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_ir::ssa::Dim;

/// Bytes from one layer of a cube or array to the next are a multiple of this.
const LAYER_ALIGNMENT: u64 = 4096;

/// A level's size in memory.
fn padded(description: &Description, level: u32) -> [u32; 3] {
    let size = [
        description.width.next_power_of_two(),
        description.height.next_power_of_two(),
        if description.dim == Dim::D3 { description.depth.next_power_of_two() } else { 1 },
    ];
    let size = size.map(|n| (n >> level.min(31)).max(1));
    if description.dim == Dim::D3 { size.map(|n| n.next_multiple_of(4)) } else { size }
}

/// Bytes of a level.
fn level_bytes(description: &Description, level: u32) -> u64 {
    let [w, h, d] = padded(description, level).map(u64::from);
    let bytes = w * h * d * u64::from(description.samples) * u64::from(description.format.bytes());
    if description.levels > 1 || description.base_level > 0 {
        bytes.next_multiple_of(4)
    } else {
        bytes
    }
}

/// Bytes of a layer.
fn layer_bytes(description: &Description) -> u64 {
    let chain = if description.levels > 1 || description.base_level > 0 {
        let largest = description.width.max(description.height);
        32 - largest.next_power_of_two().leading_zeros()
    } else {
        1
    };
    let bytes: u64 = (0..chain).map(|level| level_bytes(description, level)).sum();
    bytes.next_multiple_of(LAYER_ALIGNMENT)
}

/// The number of a texel within its level: bits of row, column and slice by turns, as far as each side has some.
fn twiddled(size: [u32; 3], at: [u32; 3]) -> u64 {
    let bits = size.map(|n| n.next_power_of_two().trailing_zeros());
    let (mut number, mut place) = (0u64, 0);
    for bit in 0..32 {
        // The row, the column, the slice.
        for axis in [1, 0, 2] {
            if bit < bits[axis] {
                number |= u64::from(at[axis] >> bit & 1) << place;
                place += 1;
            }
        }
    }
    number
}

/// The address of a texel, or none outside of the texture.
pub fn place(description: &Description, at: Texel) -> Option<u64> {
    let level = at.level + description.base_level;
    let size = [description.width, description.height, description.depth];
    let size = size.map(|n| (n >> level.min(31)).max(1));
    let slices = if description.dim == Dim::D3 { size[2] } else { 1 };
    if at.x >= size[0] || at.y >= size[1] || at.z >= slices {
        return None;
    }
    let bytes = u64::from(description.format.bytes());
    if let Some(stride) = description.stride {
        let texel = u64::from(at.y) * u64::from(stride) + u64::from(at.x);
        return Some(description.address.wrapping_add(texel * bytes));
    }
    let before: u64 = (0..level).map(|level| level_bytes(description, level)).sum();
    let number = twiddled(padded(description, level), [at.x, at.y, at.z]);
    let texel = number * u64::from(description.samples) + u64::from(at.sample);
    let layer = if at.layer == 0 { 0 } else { u64::from(at.layer) * layer_bytes(description) };
    Some(description.address.wrapping_add(layer + before + texel * bytes))
}

/// What each place on an axis adds to the number of a texel within its level.
fn steps(description: &Description, level: u32, axis: u32, count: u32) -> Vec<u64> {
    let size = padded(description, level + description.base_level);
    let of = |n: u32| match (description.stride, axis) {
        (Some(stride), 1) => u64::from(n) * u64::from(stride),
        (Some(_), 0) => u64::from(n),
        (Some(_), _) => 0,
        (None, _) => {
            let mut at = [0; 3];
            at[axis as usize] = n;
            twiddled(size, at)
        }
    };
    (0..count).map(of).collect()
}

/// The texels of a texture as an image, with the memory that they were read from: an address and its stamp.
///
/// # Errors
/// Its size is none, or a texel is not mapped.
pub fn read(
    description: &Description,
    memory: &Memory,
) -> Result<(Image, Vec<(u64, u64)>), Refused> {
    let level_size = |n: u32| (n >> description.base_level.min(31)).max(1);
    let layers = match description.dim {
        Dim::Cube => description.depth.saturating_mul(6),
        Dim::D3 => 1,
        _ => description.depth,
    };
    let extent = Extent {
        dim: description.dim,
        width: level_size(description.width),
        height: level_size(description.height),
        depth: if description.dim == Dim::D3 { level_size(description.depth) } else { 1 },
        layers,
        levels: description.levels,
        samples: description.samples,
    };
    let refused = |error: gpucc_emu::image::ImageError| (Rule::TextureWords, error.to_string());
    let mut image = Image::new(description.format, extent).map_err(refused)?;
    let bytes = description.format.bytes() as usize;
    let (mut from_where, mut part, mut held) = (Vec::new(), 0..0, &[][..]);
    // From one texel to the next, and from one sample: texels of rows have one alone.
    let [next_texel, next_sample] = match description.stride {
        Some(_) => [1, 0],
        None => [u64::from(extent.samples), 1],
    };
    for level in 0..extent.levels {
        let size = image.size(level);
        let steps = [0, 1, 2].map(|axis| steps(description, level, axis, size[axis as usize]));
        for layer in 0..layers {
            let first = place(description, Texel { layer, level, ..Texel::default() });
            let first = first.unwrap_or(description.address);
            for (z, y) in (0..size[2]).flat_map(|z| (0..size[1]).map(move |y| (z, y))) {
                let row = Texel { y, z, layer, level, ..Texel::default() };
                let Some(mut to) = image.offset(row) else { continue };
                let row = steps[1][y as usize] + steps[2][z as usize];
                let samples = 0..u64::from(extent.samples);
                let texels = steps[0].iter().flat_map(|x| samples.clone().map(move |s| (x, s)));
                for (column, sample) in texels {
                    let texel = (row + column) * next_texel + sample * next_sample;
                    let from = first.wrapping_add(texel * bytes as u64);
                    if from < part.start || from + bytes as u64 > part.end {
                        let (stamp, end) = memory.stamp(from).unwrap_or_default();
                        from_where.push((from, stamp));
                        part = from..end.max(from + bytes as u64);
                        held = memory.read(from, (part.end - from) as usize)?;
                    }
                    let texel = &held[(from - part.start) as usize..][..bytes];
                    image.bytes_mut()[to..to + bytes].copy_from_slice(texel);
                    to += bytes;
                }
            }
        }
    }
    Ok((image, from_where))
}

//! Storage textures that a program writes, as a driver lays them out: level 0 in rows of whole 64 bytes, an even number of rows a
//! slice. docs/abi-gen4.md, Memory.

use gpucc_emu::image::{Image, Texel};
use gpucc_ir::ssa::Dim;
use gpucc_machine::described::ImageWord;

/// What every row begins at a multiple of.
const PITCH: u32 = 64;
/// What rows of a slice are rounded up to.
const ROWS: u32 = 2;

/// Texels from row to row, and rows from slice to slice.
pub fn steps(image: &Image) -> [u32; 2] {
    let texel = image.format().bytes();
    let pitch = (image.extent().width * texel).next_multiple_of(PITCH) / texel;
    [pitch, image.size(0)[1].next_multiple_of(ROWS)]
}

/// A size that the driver tells of an image.
pub fn size(image: &Image, what: ImageWord) -> Option<u32> {
    let extent = image.extent();
    Some(match what {
        ImageWord::Width => extent.width,
        ImageWord::Height => extent.height,
        ImageWord::Depth => extent.depth,
        ImageWord::Layers => extent.layers,
        _ => return None,
    })
}

/// The rows of an image: first byte within the image, first byte in memory, and bytes; and the bytes of all in memory.
fn rows(image: &Image) -> (Vec<(usize, usize, usize)>, usize) {
    let (extent, texel) = (*image.extent(), image.format().bytes());
    let [pitch, step] = steps(image);
    // The layers of a line stand as the rows of a plane.
    let step = if extent.dim == Dim::D1 { 1 } else { step };
    let [width, height, depth] = image.size(0);
    let slices = if extent.dim == Dim::D3 { depth } else { extent.layers };
    let mut list = Vec::new();
    for slice in 0..slices {
        for y in 0..height {
            let at = match extent.dim {
                Dim::D3 => Texel { y, z: slice, ..Texel::default() },
                _ => Texel { y, layer: slice, ..Texel::default() },
            };
            let Some(from) = image.offset(at) else { continue };
            let to = (slice * step + y) * pitch * texel;
            list.push((from, to as usize, (width * texel) as usize));
        }
    }
    (list, (slices * step * pitch * texel) as usize)
}

/// The bytes in memory.
pub fn linear(image: &Image) -> Vec<u8> {
    let (rows, bytes) = rows(image);
    let mut linear = vec![0; bytes];
    for (from, to, count) in rows {
        linear[to..to + count].copy_from_slice(&image.bytes()[from..from + count]);
    }
    linear
}

/// Takes over what memory holds, of which there is as much as [`linear`] gives.
pub fn take(image: &mut Image, linear: &[u8]) {
    let (rows, _) = rows(image);
    for (from, to, count) in rows {
        image.bytes_mut()[from..from + count].copy_from_slice(&linear[to..to + count]);
    }
}

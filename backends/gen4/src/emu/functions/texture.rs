//! Textures in memory: where levels, layers and slices lie, and what the sampler's cache holds. isa/gen4-pipeline.md 1.5, 9.12.

use super::super::memory::{Memory, Refused, Through};
use super::super::rule::Rule;
use super::super::surface::{Kind, Surface};
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_ir::ssa::Dim;
use std::sync::Arc;

/// Levels and slices begin at a multiple of so many columns and rows.
const ALIGNED: [u32; 2] = [4, 2];
/// Rows between layers beside those of levels 0 and 1.
const BETWEEN_LAYERS: u32 = 11 * ALIGNED[1];

/// A texture, as the sampler's cache holds it.
#[derive(Clone, Debug)]
pub struct Texture {
    pub surface: Surface,
    pub image: Arc<Image>,
    /// The lowest address of a texel, and bytes to the end of the highest.
    span: (u32, usize),
}

/// The sampler's cache: textures that were read since the last flush.
#[derive(Clone, Debug, Default)]
pub struct Textures(Vec<Texture>);

impl Textures {
    /// Forgets all, as flushes do.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The texture of an entry of the binding table: from the cache, else from memory.
    ///
    /// # Errors
    /// It is none that is built, its texels are not mapped or not written, or the render cache holds some.
    pub fn get(
        &mut self,
        memory: &Memory,
        surface: &Surface,
        entry: u32,
    ) -> Result<Texture, Refused> {
        if let Some(found) = self.0.iter().find(|found| found.surface == *surface) {
            let (from, bytes) = found.span;
            if memory.is_dirty(from, bytes).unwrap_or(false) {
                return Err((Rule::Stale, format!("entry {entry} is in the render cache")));
            }
            return Ok(found.clone());
        }
        let texture = read(memory, surface, entry)?;
        self.0.push(texture.clone());
        Ok(texture)
    }
}

/// Where a level of a layer or slice begins, in columns and rows of texels. Planes: level 1 is below level 0, level 2 right of
/// level 1, the others below each other; a layer is below the layer before it. Volumes, and cubes as volumes of six faces: levels
/// are below each other, and 2^level slices of a level side by side.
pub fn origin(surface: &Surface, level: u32, slice: u32) -> [u32; 2] {
    let width = |level: u32| (surface.width >> level).max(1).next_multiple_of(ALIGNED[0]);
    let height = |level: u32| (surface.rows() >> level).max(1).next_multiple_of(ALIGNED[1]);
    match surface.kind {
        Kind::Volume | Kind::Cube => {
            let above = (0..level).map(|level| {
                surface.slices(level).div_ceil(1 << level).wrapping_mul(height(level))
            });
            let above = above.fold(0, u32::wrapping_add);
            let (column, row) = (slice & ((1 << level) - 1), slice >> level);
            [column.wrapping_mul(width(level)), above.wrapping_add(row.wrapping_mul(height(level)))]
        }
        _ => {
            let layer = height(0).wrapping_add(height(1)).wrapping_add(BETWEEN_LAYERS);
            let top = slice.wrapping_mul(layer);
            let below = (2..level).map(height).fold(height(0), u32::wrapping_add);
            match level {
                0 => [0, top],
                1 => [0, top.wrapping_add(height(0))],
                _ => [width(1), top.wrapping_add(below)],
            }
        }
    }
}

/// All levels that may be accessed, of all layers or slices.
fn read(memory: &Memory, surface: &Surface, entry: u32) -> Result<Texture, Refused> {
    let refused = |what: &str| Err((Rule::SurfaceState, format!("{what} of entry {entry}")));
    let Some(format) = surface.format() else {
        return Err((Rule::NotBuilt, format!("the format of entry {entry}")));
    };
    let dim = match surface.kind {
        Kind::Line => Dim::D1,
        Kind::Plane => Dim::D2,
        Kind::Volume => Dim::D3,
        Kind::Cube => Dim::Cube,
        Kind::Buffer | Kind::Null => return refused("the type"),
    };
    if surface.layout_right {
        return Err((Rule::NotBuilt, format!("the layout of entry {entry}")));
    }
    let volume = dim == Dim::D3;
    let cube = dim == Dim::Cube;
    if cube && (surface.depth != 1 || surface.width != surface.height) {
        return refused("an array of cubes, or the width and height of a cube");
    }
    if (volume || cube) && surface.first_layer != 0 {
        return refused("the first layer");
    }
    let extent = Extent {
        dim,
        width: surface.width,
        height: surface.rows(),
        depth: if volume { surface.depth } else { 1 },
        layers: if volume { 1 } else { surface.slices(0) },
        levels: surface.least_level + surface.levels + 1,
        samples: 1,
    };
    let image = Image::new(format, extent);
    let mut image =
        image.map_err(|error| (Rule::SurfaceState, format!("entry {entry}: {error}")))?;
    let bytes = format.bytes();
    let mut span = (u32::MAX, 0u32);
    for level in surface.least_level..extent.levels {
        let [width, height, depth] = image.size(level);
        for slice in 0..if volume { depth } else { extent.layers } {
            let [left, top] = origin(surface, level, surface.first_layer + slice);
            if u64::from(left) + u64::from(width) > u64::from(surface.pitch / bytes) {
                return refused("a level that is wider than the pitch");
            }
            for y in 0..height {
                let (z, layer) = if volume { (slice, 0) } else { (0, slice) };
                let place = Texel { y, z, layer, level, ..Texel::default() };
                let Some(to) = image.offset(place) else { continue };
                let row = &mut image.bytes_mut()[to..to + (width * bytes) as usize];
                let reached = surface.read_row(memory, [left, top + y], bytes, row);
                let (low, high) = reached.map_err(|(rule, what)| {
                    (rule, format!("row {y} of level {level} of entry {entry}: {what}"))
                })?;
                span = (span.0.min(low), span.1.max(high));
            }
        }
    }
    let span = (span.0, span.1.saturating_sub(span.0) as usize);
    Ok(Texture { surface: *surface, image: Arc::new(image), span })
}

impl Surface {
    /// Rows of level 0.
    fn rows(&self) -> u32 {
        if self.kind == Kind::Line { 1 } else { self.height }
    }

    /// Slices of a level of a volume, faces of a cube, layers.
    fn slices(&self, level: u32) -> u32 {
        match self.kind {
            Kind::Volume => (self.depth >> level).max(1),
            Kind::Cube => 6,
            _ => self.depth,
        }
    }

    /// Reads texels side by side; gives the lowest address and the one behind the highest.
    fn read_row(
        &self,
        memory: &Memory,
        [x, y]: [u32; 2],
        bytes: u32,
        row: &mut [u8],
    ) -> Result<(u32, u32), Refused> {
        // Bytes that lie side by side in a tile.
        let run = match (self.tiled, self.walk_y) {
            (false, _) => u32::MAX,
            (true, false) => 512,
            (true, true) => 16,
        };
        let (mut at, mut done) = (x * bytes, 0);
        let mut reached = (u32::MAX, 0);
        while done < row.len() {
            let count = ((run - at % run) as usize).min(row.len() - done);
            let address = self.byte(at, y);
            let found = memory.load(address, count, Through::Other)?;
            if found.undefined.contains(&true) {
                return Err((Rule::Undefined, format!("{count} bytes at {address:#x}")));
            }
            row[done..done + count].copy_from_slice(&found.bytes);
            reached = (reached.0.min(address), reached.1.max(address + count as u32));
            done += count;
            at += count as u32;
        }
        Ok(reached)
    }
}

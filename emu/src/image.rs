//! Images: texels of every level, layer and sample in one vector of bytes.

use crate::format::Format;
use gpucc_ir::ssa::Dim;
use thiserror::Error;

/// The largest image, in bytes, that the emulators make.
pub const LARGEST_IMAGE: u64 = 1 << 30;

/// Why an image cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImageError {
    /// A size is 0.
    #[error("an image needs at least one texel in every direction, one level and one sample")]
    Empty,
    /// More levels than halvings.
    #[error("{levels} levels are too many: an image of this size has at most {most}")]
    Levels {
        /// Asked for.
        levels: u32,
        /// Possible.
        most: u32,
    },
    /// A cube whose layers are not a multiple of six or whose faces are not square.
    #[error("a cube needs square faces and six layers per cube")]
    Cube,
    /// More than [`LARGEST_IMAGE`].
    #[error("an image of {bytes} bytes is too large: at most {LARGEST_IMAGE}")]
    TooLarge {
        /// Needed.
        bytes: u64,
    },
}

/// Size and kind of an image.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Dimension.
    pub dim: Dim,
    /// Texels.
    pub width: u32,
    /// Texels; 1 for 1D.
    pub height: u32,
    /// Texels; 1 but for 3D.
    pub depth: u32,
    /// Layers; a cube has six per cube.
    pub layers: u32,
    /// Mip levels.
    pub levels: u32,
    /// Samples per texel.
    pub samples: u32,
}

impl Extent {
    /// A 2D extent of one level, layer and sample.
    pub const fn plane(width: u32, height: u32) -> Extent {
        Extent { dim: Dim::D2, width, height, depth: 1, layers: 1, levels: 1, samples: 1 }
    }

    /// Levels of a full chain: halve until one texel is left.
    pub fn full_chain(self) -> u32 {
        let largest = match self.dim {
            Dim::D1 => self.width,
            Dim::D2 | Dim::Cube => self.width.max(self.height),
            Dim::D3 => self.width.max(self.height).max(self.depth),
        };
        32 - largest.max(1).leading_zeros()
    }
}

/// One texel of one level.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Texel {
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
    /// Slice of a 3D image.
    pub z: u32,
    /// Layer (for cubes: `6 * cube + face`).
    pub layer: u32,
    /// Mip level.
    pub level: u32,
    /// Sample.
    pub sample: u32,
}

/// An image. Bytes lie level by level; within a level layer, slice, row, column, sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    format: Format,
    extent: Extent,
    /// First byte of each level, then the end.
    starts: Vec<usize>,
    bytes: Vec<u8>,
}

impl Image {
    /// An image of zero bytes.
    pub fn new(format: Format, extent: Extent) -> Result<Image, ImageError> {
        let Extent { width, height, depth, layers, levels, samples, .. } = extent;
        if [width, height, depth, layers, levels, samples].contains(&0) {
            return Err(ImageError::Empty);
        }
        if levels > extent.full_chain() {
            return Err(ImageError::Levels { levels, most: extent.full_chain() });
        }
        if extent.dim == Dim::Cube && (!layers.is_multiple_of(6) || width != height) {
            return Err(ImageError::Cube);
        }
        let mut starts = vec![0usize];
        let mut bytes = 0u64;
        for level in 0..levels {
            let [w, h, d] = level_size(&extent, level).map(u64::from);
            // Each factor is checked as it grows: none can overflow 64 bits below the limit.
            let mut size = u64::from(format.bytes());
            for factor in [w, h, d, u64::from(layers), u64::from(samples)] {
                size = size.saturating_mul(factor);
            }
            bytes = bytes.saturating_add(size);
            if bytes > LARGEST_IMAGE {
                return Err(ImageError::TooLarge { bytes });
            }
            starts.push(bytes as usize);
        }
        Ok(Image { format, extent, starts, bytes: vec![0; bytes as usize] })
    }

    /// The texel format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Size and kind.
    pub fn extent(&self) -> &Extent {
        &self.extent
    }

    /// Width, height and depth of a level, at least 1 each.
    pub fn size(&self, level: u32) -> [u32; 3] {
        level_size(&self.extent, level)
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The same bytes read as another format of as many bytes a texel.
    #[must_use]
    pub fn viewed_as(&self, format: Format) -> Option<Image> {
        (format.bytes() == self.format.bytes()).then(|| Image { format, ..self.clone() })
    }

    /// The bytes of one level.
    pub fn level_bytes(&self, level: u32) -> &[u8] {
        &self.bytes[self.starts[level as usize]..self.starts[level as usize + 1]]
    }

    /// The bytes of one level.
    pub fn level_bytes_mut(&mut self, level: u32) -> &mut [u8] {
        let range = self.starts[level as usize]..self.starts[level as usize + 1];
        &mut self.bytes[range]
    }

    /// First byte of a texel within [`Image::bytes`], or `None` outside of the image.
    pub fn offset(&self, at: Texel) -> Option<usize> {
        if at.level >= self.extent.levels
            || at.layer >= self.extent.layers
            || at.sample >= self.extent.samples
        {
            return None;
        }
        let [w, h, d] = self.size(at.level);
        if at.x >= w || at.y >= h || at.z >= d {
            return None;
        }
        let [w, h, d] = [w as usize, h as usize, d as usize];
        let row = (at.layer as usize * d + at.z as usize) * h + at.y as usize;
        let texel = (row * w + at.x as usize) * self.extent.samples as usize + at.sample as usize;
        Some(self.starts[at.level as usize] + texel * self.format.bytes() as usize)
    }

    /// The four components of a texel, or `None` outside of the image.
    pub fn load(&self, at: Texel) -> Option<[u32; 4]> {
        let offset = self.offset(at)?;
        Some(self.format.decode(&self.bytes[offset..]))
    }

    /// The bytes of a texel, or `None` outside of the image.
    pub fn texel_bytes_mut(&mut self, at: Texel) -> Option<&mut [u8]> {
        let offset = self.offset(at)?;
        self.bytes.get_mut(offset..offset + self.format.bytes() as usize)
    }

    /// Writes a texel; outside of the image nothing happens.
    pub fn store(&mut self, at: Texel, components: [u32; 4]) {
        if let Some(offset) = self.offset(at) {
            self.format.encode(components, &mut self.bytes[offset..]);
        }
    }

    /// Fills every texel of every level with `components`.
    pub fn fill(&mut self, components: [u32; 4]) {
        let len = self.format.bytes() as usize;
        let mut texel = [0u8; 16];
        self.format.encode(components, &mut texel);
        for chunk in self.bytes.chunks_exact_mut(len) {
            chunk.copy_from_slice(&texel[..len]);
        }
    }

    /// Makes each texel of the first level the mean of a pixel's samples, in f32. Integer formats take the first sample.
    pub fn resolve(&mut self, samples: &Image) {
        let count = samples.extent.samples;
        let [width, height, _] = self.size(0);
        let integer = self.format.kind().is_integer();
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let mut sum = [0f32; 4];
            for sample in 0..count {
                let texel = samples.load(Texel { x, y, sample, ..Texel::default() });
                for (sum, word) in sum.iter_mut().zip(texel.unwrap_or_default()) {
                    *sum += f32::from_bits(word);
                }
            }
            let first = samples.load(Texel { x, y, ..Texel::default() });
            let mean = sum.map(|sum| (sum / count as f32).to_bits());
            let texel = if integer { first.unwrap_or_default() } else { mean };
            self.store(Texel { x, y, ..Texel::default() }, texel);
        }
    }

    /// Computes every level but the first as the mean of the (up to) two by two by two texels
    /// above, in f32, x before y before z. Integer formats take the first of them.
    pub fn make_mips(&mut self) {
        let integer = self.format.kind().is_integer();
        for level in 1..self.extent.levels {
            let [w, h, d] = self.size(level);
            let [sw, sh, sd] = self.size(level - 1);
            for layer in 0..self.extent.layers {
                for z in 0..d {
                    for y in 0..h {
                        for x in 0..w {
                            let source = |dx: u32, dy: u32, dz: u32| {
                                let at = Texel {
                                    x: (2 * x + dx).min(sw - 1),
                                    y: (2 * y + dy).min(sh - 1),
                                    z: (2 * z + dz).min(sd - 1),
                                    layer,
                                    level: level - 1,
                                    sample: 0,
                                };
                                self.load(at).expect("clamped to the level above")
                            };
                            let texel = if integer {
                                source(0, 0, 0)
                            } else {
                                let mut sum = [0f32; 4];
                                for n in 0..8 {
                                    let part = source(n & 1, n >> 1 & 1, n >> 2);
                                    for c in 0..4 {
                                        sum[c] += f32::from_bits(part[c]);
                                    }
                                }
                                sum.map(|s| (s / 8.0).to_bits())
                            };
                            self.store(Texel { x, y, z, layer, level, sample: 0 }, texel);
                        }
                    }
                }
            }
        }
    }
}

fn level_size(extent: &Extent, level: u32) -> [u32; 3] {
    let half = |n: u32| n.checked_shr(level).unwrap_or(0).max(1);
    match extent.dim {
        Dim::D1 => [half(extent.width), 1, 1],
        Dim::D2 | Dim::Cube => [half(extent.width), half(extent.height), 1],
        Dim::D3 => [half(extent.width), half(extent.height), half(extent.depth)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_of_every_level_have_their_own_bytes() {
        let extent = Extent { levels: 3, layers: 2, ..Extent::plane(5, 3) };
        let mut image = Image::new(Format::R32Uint, extent).expect("fits");
        // 15 + 2 + 1 texels per layer.
        assert_eq!(image.bytes().len(), 4 * 2 * 18);
        let mut n = 1;
        for level in 0..3 {
            let [w, h, _] = image.size(level);
            for layer in 0..2 {
                for y in 0..h {
                    for x in 0..w {
                        image.store(Texel { x, y, layer, level, ..Texel::default() }, [n, 0, 0, 0]);
                        n += 1;
                    }
                }
            }
        }
        let words: Vec<u32> = image
            .bytes()
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
            .collect();
        assert_eq!(words, (1..=36).collect::<Vec<_>>());
        assert_eq!(image.load(Texel { x: 5, ..Texel::default() }), None);
        assert_eq!(image.load(Texel { level: 3, ..Texel::default() }), None);
    }

    #[test]
    fn mips_are_means() {
        let extent = Extent { levels: 2, ..Extent::plane(2, 2) };
        let mut image = Image::new(Format::R32Float, extent).expect("fits");
        for (n, v) in [1.0f32, 2.0, 3.0, 6.0].into_iter().enumerate() {
            let at = Texel { x: n as u32 & 1, y: n as u32 >> 1, ..Texel::default() };
            image.store(at, [v.to_bits(), 0, 0, 0]);
        }
        image.make_mips();
        let top = image.load(Texel { level: 1, ..Texel::default() }).expect("inside");
        assert_eq!(f32::from_bits(top[0]), 3.0);
    }

    #[test]
    fn impossible_images_are_refused() {
        let make = |extent| Image::new(Format::Rgba32Float, extent);
        assert_eq!(make(Extent::plane(0, 4)), Err(ImageError::Empty));
        let deep = Extent { levels: 4, ..Extent::plane(4, 4) };
        assert_eq!(make(deep), Err(ImageError::Levels { levels: 4, most: 3 }));
        assert!(matches!(
            make(Extent::plane(u32::MAX, u32::MAX)),
            Err(ImageError::TooLarge { .. })
        ));
        let cube = Extent { dim: Dim::Cube, layers: 5, ..Extent::plane(4, 4) };
        assert_eq!(make(cube), Err(ImageError::Cube));
    }
}

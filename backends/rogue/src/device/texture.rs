//! Textures and samplers as a driver lays them out: texels in memory, words of state, colours of borders. isa/rogue-pipeline.md 4.4, 4.5.
//!
//! Levels of a layer follow each other, with sizes rounded up to powers of two; within a level the bits of row, column and slice take
//! turns. Textures with atomic operations are rows of texels.

use super::heap::{Heap, refused};
use crate::abi::{
    COMPARISON, GATHERER, LAST_LAYER, LAYER_BYTES, SAMPLER_WORDS, TEXELS, TEXTURE_WORDS,
};
use crate::state::{code, is_rows, swizzle, texture_type};
use crate::words::texture::{image0, image1, sampler0, stride_image1};
use gpucc_emu::device::Stop;
use gpucc_emu::format::{Format, Kind};
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Dim, Resource, ResourceKind, SampleType};
use gpucc_isa::Inst as Word;

/// Layers begin at multiples of so many bytes.
const LAYERS: u64 = 4096;
/// Slices, rows and columns of a volume's level are multiples of this.
const BRICK: u32 = 4;
/// The largest level that a sampler has. 4.5.
const LAST_LEVEL: f32 = 959.0 / 64.0;
/// The largest size on an axis. 4.5: 14 bits.
const LARGEST: u32 = 1 << 14;
/// No bias. 4.5.
const NO_BIAS: f32 = 4095.0;
/// Colours of borders that a sampler's six bits name.
const MOST_BORDERS: usize = 64;

/// Where the texels of a texture are.
pub struct Texels {
    address: u64,
    bytes: u64,
    extent: Extent,
    texel: u64,
    /// The texels of a row follow each other, and rows do.
    rows: bool,
}

impl Texels {
    fn levels(&self) -> bool {
        self.extent.levels > 1
    }

    /// The size of a level in memory.
    fn padded(&self, level: u32) -> [u32; 3] {
        let Extent { dim, width, height, depth, .. } = self.extent;
        let size = [width, height, depth].map(|n| (n.next_power_of_two() >> level).max(1));
        match dim {
            Dim::D3 => size.map(|n| n.next_multiple_of(BRICK)),
            _ => size,
        }
    }

    fn level_bytes(&self, level: u32) -> u64 {
        if self.rows {
            return u64::from(self.extent.width) * u64::from(self.extent.height) * self.texel;
        }
        let texels: u64 = self.padded(level).iter().map(|&n| u64::from(n)).product();
        let bytes = texels * u64::from(self.extent.samples) * self.texel;
        if self.levels() { bytes.next_multiple_of(4) } else { bytes }
    }

    /// From one layer to the next: a whole chain of levels where there are several.
    fn layer_bytes(&self) -> u64 {
        let largest = self.extent.width.max(self.extent.height).next_power_of_two();
        let chain = if self.levels() { largest.trailing_zeros() + 1 } else { 1 };
        let chain = chain.max(self.extent.levels);
        let bytes: u64 = (0..chain).map(|level| self.level_bytes(level)).sum();
        bytes.next_multiple_of(LAYERS)
    }

    /// Bytes from the texture's first one to a texel.
    fn offset(&self, at: Texel) -> u64 {
        let layer = u64::from(at.layer) * self.layer_bytes();
        if self.rows {
            let texel = u64::from(at.y) * u64::from(self.extent.width) + u64::from(at.x);
            return layer + texel * self.texel;
        }
        let before: u64 = (0..at.level).map(|level| self.level_bytes(level)).sum();
        let [columns, rows, slices] = self.padded(at.level).map(u32::trailing_zeros);
        let (mut number, mut place) = (0u64, 0);
        for bit in 0..columns.max(rows).max(slices) {
            for (axis, bits) in [(at.y, rows), (at.x, columns), (at.z, slices)] {
                if bit < bits {
                    number |= u64::from(axis >> bit & 1) << place;
                    place += 1;
                }
            }
        }
        let sample = number * u64::from(self.extent.samples) + u64::from(at.sample);
        layer + before + sample * self.texel
    }

    /// Where every texel of an image is among the image's bytes and in memory.
    fn places(&self, image: &Image) -> Vec<(usize, usize)> {
        let Extent { layers, levels, samples, .. } = *image.extent();
        let mut places = Vec::new();
        for level in 0..levels {
            let size = image.size(level);
            let first = self.offset(Texel { level, ..Texel::default() });
            // What a place on an axis adds: the bits of one axis are none of the others'.
            let axes = [0, 1, 2].map(|axis| {
                let of = |n| match axis {
                    0 => Texel { x: n, level, ..Texel::default() },
                    1 => Texel { y: n, level, ..Texel::default() },
                    _ => Texel { z: n, level, ..Texel::default() },
                };
                let added = |n| self.offset(of(n)) - first;
                (0..size[axis]).map(added).collect::<Vec<u64>>()
            });
            for layer in 0..layers {
                let first = self.offset(Texel { layer, level, ..Texel::default() });
                for (z, y) in (0..size[2]).flat_map(|z| (0..size[1]).map(move |y| (z, y))) {
                    let row = image.offset(Texel { y, z, layer, level, ..Texel::default() });
                    let Some(mut own) = row else { continue };
                    let row = first + axes[1][y as usize] + axes[2][z as usize];
                    for column in &axes[0] {
                        for sample in 0..u64::from(samples) {
                            places.push((own, (row + column + sample * self.texel) as usize));
                            own += self.texel as usize;
                        }
                    }
                }
            }
        }
        places
    }

    /// The words of a texture's descriptor.
    fn words(&self, format: Format) -> Result<[u32; TEXTURE_WORDS as usize], Stop> {
        let Extent { dim, width, height, depth, layers, levels, samples } = self.extent;
        let Some(code) = code(format) else {
            return Err(Stop::TooLarge(format!("the machine has no texture of {}", format.name())));
        };
        if width.max(height).max(layers).max(depth) > LARGEST {
            return Err(Stop::TooLarge(format!("the machine's textures end at {LARGEST} texels")));
        }
        let gamma = u32::from(format.kind() == Kind::Srgb);
        let [red, green, blue, alpha] = swizzle(format);
        let first = image0::word()
            .with(image0::SMPCNT, samples.trailing_zeros())
            .with(image0::HEIGHT, height - 1)
            .with(image0::WIDTH, width - 1)
            .with(image0::FORMAT, code)
            .with(image0::SWIZ0, red)
            .with(image0::SWIZ1, green)
            .with(image0::SWIZ2, blue)
            .with(image0::SWIZ3, alpha)
            .with(image0::GAMMA, gamma)
            .with(image0::TEXTYPE, texture_type(dim, self.rows));
        let whole = if dim == Dim::Cube { layers / 6 } else { layers };
        let slices = if dim == Dim::D3 { depth } else { whole };
        let address = self.address >> 2;
        let (high, low) = ((address >> 32) as u32, address as u32);
        let second = match self.rows {
            true => stride_image1::word()
                .with(stride_image1::TEXADDR_HI, high)
                .with(stride_image1::TEXADDR_LO, low)
                .with(stride_image1::STRIDE, width - 1),
            false => image1::word()
                .with(image1::TEXADDR_HI, high)
                .with(image1::TEXADDR_LO, low)
                .with(image1::MIPMAPS_PRESENT, 1)
                .with(image1::DEPTH, slices - 1)
                .with(image1::LEVELS, levels),
        };
        let mut words = [0; TEXTURE_WORDS as usize];
        put(&mut words, &[first, second]);
        let faces = if dim == Dim::Cube { 6 } else { 1 };
        words[usize::from(LAYER_BYTES)] = (faces * self.layer_bytes()) as u32;
        words[usize::from(LAST_LAYER)] = whole - 1;
        words[usize::from(TEXELS)] = self.address as u32;
        words[usize::from(TEXELS) + 1] = (self.address >> 32) as u32;
        Ok(words)
    }
}

/// What stands for a texture that is not bound: one texel of zeros.
fn nothing(kind: ResourceKind) -> Result<Image, Stop> {
    let (ResourceKind::Texture { dim, sample, .. }
    | ResourceKind::StorageTexture { dim, sample, .. }) = kind
    else {
        return Err(Stop::TooLarge("the binding is no texture".into()));
    };
    let stored = match kind {
        ResourceKind::StorageTexture { format, .. } => Format::from_name(format.0),
        _ => None,
    };
    let format = stored.filter(|format| code(*format).is_some()).unwrap_or(match sample {
        SampleType::Float => Format::Rgba8Unorm,
        SampleType::Sint => Format::Rgba8Sint,
        SampleType::Uint => Format::Rgba8Uint,
        SampleType::Depth => Format::Depth32Float,
    });
    let layers = if dim == Dim::Cube { 6 } else { 1 };
    let extent = Extent { dim, layers, ..Extent::plane(1, 1) };
    Image::new(format, extent).map_err(|error| Stop::TooLarge(error.to_string()))
}

/// Words of state, two registers each.
fn put(words: &mut [u32], state: &[Word]) {
    for (pair, word) in words.chunks_mut(2).zip(state) {
        pair.copy_from_slice(&[word.bits() as u32, (word.bits() >> 32) as u32]);
    }
}

impl Heap {
    /// The descriptor of a texture or of a sampler; none of a buffer.
    pub(super) fn describe(
        &mut self,
        (resource, element): (Resource, u32),
        kind: ResourceKind,
        bound: &Bound,
    ) -> Result<Option<Vec<u32>>, Stop> {
        let (written, rows) = match kind {
            ResourceKind::Texture { .. } => (false, false),
            ResourceKind::StorageTexture { access, .. } => {
                (access.store || access.atomic, is_rows(&kind))
            }
            ResourceKind::Sampler { .. } => {
                let sampler = match bound {
                    Bound::Sampler(sampler) => *sampler,
                    _ => Sampler::default(),
                };
                return Ok(Some(self.sampler(&sampler)?.to_vec()));
            }
            _ => return Ok(None),
        };
        let (texels, words) = match bound {
            Bound::Image(image) => self.texture(image, rows)?,
            _ => self.texture(&nothing(kind)?, rows)?,
        };
        if written {
            self.textures.push((resource, element, texels));
        }
        Ok(Some(words.to_vec()))
    }

    fn texture(
        &mut self,
        image: &Image,
        rows: bool,
    ) -> Result<(Texels, [u32; TEXTURE_WORDS as usize]), Stop> {
        let mut extent = *image.extent();
        if extent.dim == Dim::D1 {
            extent.height = 1;
        }
        let texel = u64::from(image.format().bytes());
        let mut texels = Texels { address: 0, bytes: 0, extent, texel, rows };
        let layers = if extent.dim == Dim::D3 { 1 } else { u64::from(extent.layers) };
        texels.bytes = layers * texels.layer_bytes();
        let mut memory = vec![0; texels.bytes as usize];
        let size = texel as usize;
        for (from, to) in texels.places(image) {
            memory[to..to + size].copy_from_slice(&image.bytes()[from..from + size]);
        }
        texels.address = self.put(&memory)?;
        let words = texels.words(image.format())?;
        Ok((texels, words))
    }

    /// What the program stored to textures.
    pub(super) fn read_textures(&mut self, bindings: &mut Bindings) -> Result<(), Stop> {
        for (resource, element, texels) in &self.textures {
            let memory = self.gpu.memory().read(texels.address, texels.bytes as usize);
            let memory = memory.map_err(refused)?.to_vec();
            let Some(Bound::Image(image)) = bindings.get_mut(*resource, *element) else { continue };
            let size = texels.texel as usize;
            for (to, from) in texels.places(image) {
                image.bytes_mut()[to..to + size].copy_from_slice(&memory[from..from + size]);
            }
        }
        Ok(())
    }

    /// The words of a sampler's descriptor.
    fn sampler(&mut self, sampler: &Sampler) -> Result<[u32; SAMPLER_WORDS as usize], Stop> {
        let mut words = [0; SAMPLER_WORDS as usize];
        put(&mut words, &[self.state(sampler)?]);
        words[usize::from(COMPARISON)] = match sampler.compare.unwrap_or(Compare::Never) {
            Compare::Never => 0,
            Compare::Less => 1,
            Compare::Equal => 2,
            Compare::LessEqual => 3,
            Compare::Greater => 4,
            Compare::NotEqual => 5,
            Compare::GreaterEqual => 6,
            Compare::Always => 7,
        };
        let gatherer = Sampler {
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: MipFilter::Nearest,
            lod_min: 0.0,
            lod_max: 0.0,
            lod_bias: 0.0,
            ..*sampler
        };
        put(&mut words[usize::from(GATHERER)..], &[self.state(&gatherer)?]);
        Ok(words)
    }

    /// The first word of a sampler's state; the other one is 0.
    fn state(&mut self, sampler: &Sampler) -> Result<Word, Stop> {
        let [u, v, w] = sampler.wrap.map(address_mode);
        let filter = |filter: Filter| u32::from(filter == Filter::Linear);
        // Without levels the first one is taken, which is magnified up to 0 and minified above.
        let most = if sampler.mip == MipFilter::None { 0.25 } else { LAST_LEVEL };
        let level = |level: f32| (level.clamp(0.0, most) * 64.0) as u32;
        let bias = (sampler.lod_bias * 256.0 + NO_BIAS).clamp(0.0, 8191.0) as u32;
        let border = self.border(sampler)?;
        Ok(sampler0::word()
            .with(sampler0::ADDRMODE_U, u?)
            .with(sampler0::ADDRMODE_V, v?)
            .with(sampler0::ADDRMODE_W, w?)
            .with(sampler0::BORDER_INDEX, border)
            .with(sampler0::MIPFILTER, u32::from(sampler.mip == MipFilter::Linear))
            .with(sampler0::MINFILTER, filter(sampler.min))
            .with(sampler0::MAGFILTER, filter(sampler.mag))
            .with(sampler0::MINLOD, level(sampler.lod_min))
            .with(sampler0::MAXLOD, level(sampler.lod_max))
            .with(sampler0::DADJUST, bias))
    }

    /// The number of a border's colour; the first one is 0.
    fn border(&mut self, sampler: &Sampler) -> Result<u32, Stop> {
        let colour = match sampler.wrap.contains(&Wrap::Border) {
            true => sampler.border,
            false => [0; 4],
        };
        let known = self.borders.iter().position(|known| *known == colour);
        let number = known.unwrap_or(self.borders.len());
        if number >= MOST_BORDERS {
            return Err(Stop::TooLarge(format!(
                "the machine has {MOST_BORDERS} colours of borders"
            )));
        }
        if known.is_none() {
            self.borders.push(colour);
        }
        Ok(number as u32)
    }

    /// The table of colours of borders: of each 16 bytes, and 16 for compressed textures. 4.5.
    pub(super) fn put_borders(&mut self) -> Result<(), Stop> {
        let words: Vec<u32> =
            self.borders.iter().flat_map(|colour| colour.iter().chain(colour)).copied().collect();
        let table = self.put(&gpucc_emu::device::bytes_of(&words))?;
        self.gpu.set_border_table(table);
        Ok(())
    }
}

/// The address mode on an axis. 4.5.
fn address_mode(wrap: Wrap) -> Result<u32, Stop> {
    Ok(match wrap {
        Wrap::Repeat => 0,
        Wrap::Mirror => 1,
        Wrap::Clamp => 2,
        Wrap::MirrorOnce => 3,
        Wrap::Border => 4,
        Wrap::MirrorOnceBorder => {
            return Err(Stop::TooLarge("the machine does not mirror once to a border".into()));
        }
    })
}

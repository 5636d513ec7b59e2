//! What surrounds a shader while the interpreter runs it: buffers, images and samplers.

use super::resource::{Resource, TexQuery};

/// How the level of detail of a sample is found.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Lod {
    /// From screen-space derivatives of the coordinates (x then y), plus a bias.
    Gradient {
        /// d coord / dx.
        ddx: [f32; 3],
        /// d coord / dy.
        ddy: [f32; 3],
        /// Added to the level.
        bias: f32,
    },
    /// From a pixel of the quad and the pixels beside it in its row and column, whose coordinates these
    /// are: a cube's, since its gradient depends on the faces that they point to.
    Quad {
        /// Of the pixel: the own one, or the upper left one ([`super::Numerics::level_of_quad`]).
        from: [f32; 3],
        /// Of the other pixel of its row.
        x: [f32; 3],
        /// Of the other pixel of its column.
        y: [f32; 3],
        /// Added to the level.
        bias: f32,
    },
    /// Given.
    Level(f32),
    /// Level 0 with coordinates clamped to half a texel from the edge.
    BaseClampToEdge,
}

/// One sample of a texture through a sampler.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sample {
    /// The texture and its element in an array of bindings.
    pub texture: (Resource, u32),
    /// The sampler and its element.
    pub sampler: (Resource, u32),
    /// Coordinates; unused ones are 0.
    pub coords: [f32; 3],
    /// Array layer, unclamped.
    pub layer: i32,
    /// Level of detail.
    pub lod: Lod,
    /// Reference value of a comparison.
    pub compare: Option<f32>,
    /// Texel offset.
    pub offset: [i8; 3],
    /// The coordinates of a cube (and those of [`Lod::Quad`]) are s, t and face: [`super::Op::Tex`].
    pub projected: bool,
    /// The texel of level 0 at a texel's centre: [`super::TexOp::texel`].
    pub texel: bool,
    /// Gather this component instead of filtering.
    pub gather: Option<u8>,
    /// Find the level alone: see [`World::sample`].
    pub level_only: bool,
}

/// One texel by integer coordinates.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TexelAddress {
    /// The texture and its element in an array of bindings.
    pub texture: (Resource, u32),
    /// Coordinates, unclamped; unused ones are 0.
    pub coords: [i32; 3],
    /// Array layer, unclamped.
    pub layer: i32,
    /// Mip level, unclamped.
    pub level: i32,
    /// Sample number.
    pub sample: i32,
}

/// What the interpreter asks of its surroundings. Out-of-range reads give zero bits, out-of-range
/// writes are dropped, and nothing here panics.
pub trait World {
    /// Size in bytes of what is bound to a buffer.
    fn buffer_size(&self, buffer: Resource, element: u32) -> u32;
    /// The word at a byte address that is a multiple of 4.
    fn load_word(&mut self, buffer: Resource, element: u32, address: u32) -> u32;
    /// Writes a word under a mask of bits.
    fn store_word(&mut self, buffer: Resource, element: u32, address: u32, word: u32, mask: u32);
    /// Samples: four words (floats or integers by the texture's kind). Of [`Sample::level_only`]: the level after clamps,
    /// the level before them, 1 where the API lets the first differ from what a machine gives, 0.
    fn sample(&mut self, sample: &Sample) -> [u32; 4];
    /// Loads one texel.
    fn load_texel(&mut self, at: &TexelAddress) -> [u32; 4];
    /// Whether an image has a texel.
    fn has_texel(&self, _: &TexelAddress) -> bool {
        true
    }
    /// Stores one texel.
    fn store_texel(&mut self, at: &TexelAddress, texel: [u32; 4]);
    /// Answers a query; unused words are 0.
    fn query(&self, texture: (Resource, u32), what: TexQuery, level: i32) -> [u32; 3];
}

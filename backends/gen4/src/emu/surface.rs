//! SURFACE_STATE: what an entry of the binding table names. isa/gen4-pipeline.md 1.5.

use super::Model;
use super::memory::{Memory, Refused};
use super::rule::Rule;
use gpucc_emu::format::Format;

/// The kind of a surface.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Line,
    Plane,
    Volume,
    Cube,
    Buffer,
    Null,
}

/// A surface, as its state says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    pub kind: Kind,
    /// Code of the format, d0 26:18.
    pub code: u32,
    /// By component from red, not written by the render target message.
    pub masked: u8,
    pub blend: bool,
    /// The render cache both reads and writes it.
    pub read_write: bool,
    pub base: u32,
    /// In texels; elements of a buffer.
    pub width: u32,
    pub height: u32,
    pub depth: u32,
    /// Level that is rendered to, or how many there are less one.
    pub levels: u32,
    /// Bytes from row to row, or of an element.
    pub pitch: u32,
    pub tiled: bool,
    /// Tiles are Y's.
    pub walk_y: bool,
    pub least_level: u32,
    pub first_layer: u32,
    pub layout_right: bool,
}

impl Surface {
    /// The format, where shared code knows it.
    pub fn format(&self) -> Option<Format> {
        format(self.code)
    }

    /// Address of a texel of a plane: linear, X tiles of 512 by 8 bytes, Y tiles of 128 by 32.
    pub fn address(&self, x: u32, y: u32, bytes: u32) -> u32 {
        self.byte(x.wrapping_mul(bytes), y)
    }

    /// Address of a byte of a row.
    pub fn byte(&self, x: u32, y: u32) -> u32 {
        place(self.base, self.pitch, (self.tiled, self.walk_y), x, y)
    }

    /// Whether the sampler filters the format. isa/gen4-pipeline.md 1.5.
    pub const fn filters(&self) -> bool {
        matches!(
            self.code,
            0x080
                | 0x081
                | 0x084
                | 0x0c0..=0x0c2
                | 0x0c7..=0x0c9
                | 0x0cc
                | 0x0cd
                | 0x0d0
                | 0x0d3
                | 0x0ed
                | 0x106
                | 0x107
                | 0x10a
                | 0x10b
                | 0x10e
                | 0x140
                | 0x141
        )
    }

    /// Whether the sampler compares the format with a reference. isa/gen4-pipeline.md 1.5.
    pub const fn compares(&self) -> bool {
        matches!(self.code, 0x088 | 0x0d8 | 0x0d9 | 0x10a)
    }
}

impl Kind {
    /// Axes of coordinates; a cube's are those of a direction.
    pub const fn axes(self) -> usize {
        match self {
            Kind::Line | Kind::Buffer => 1,
            Kind::Plane | Kind::Null => 2,
            Kind::Volume | Kind::Cube => 3,
        }
    }
}

/// Address of a byte of a row.
pub fn place(base: u32, pitch: u32, (tiled, walk_y): (bool, bool), x: u32, y: u32) -> u32 {
    let offset = match (tiled, walk_y) {
        (false, _) => y.wrapping_mul(pitch).wrapping_add(x),
        (true, false) => {
            let tile = (y / 8).wrapping_mul(pitch / 512).wrapping_add(x / 512);
            tile.wrapping_mul(4096).wrapping_add(y % 8 * 512 + x % 512)
        }
        (true, true) => {
            let tile = (y / 32).wrapping_mul(pitch / 128).wrapping_add(x / 128);
            let within = x % 128 / 16 * 512 + y % 32 * 16 + x % 16;
            tile.wrapping_mul(4096).wrapping_add(within)
        }
    };
    base.wrapping_add(offset)
}

/// The entry of a binding table whose address is known.
///
/// # Errors
/// The table or the state is not mapped or not written, or has what is reserved.
pub fn entry(
    model: Model,
    memory: &Memory,
    surfaces: u32,
    table: u32,
    entry: u32,
) -> Result<Surface, Refused> {
    let at = surfaces.wrapping_add(table).wrapping_add(4 * entry);
    let pointer = memory.state(at)?;
    if pointer & 31 != 0 {
        let what = format!("entry {entry} of the binding table is {pointer:#x}");
        return Err((Rule::StateAligned, what));
    }
    read(model, memory, surfaces.wrapping_add(pointer))
}

/// The state at an address.
///
/// # Errors
/// As [`entry`].
pub fn read(model: Model, memory: &Memory, at: u32) -> Result<Surface, Refused> {
    let mut words = [0u32; 6];
    let count = if model == Model::G45 { 6 } else { 5 };
    for (index, word) in words.iter_mut().enumerate().take(count) {
        *word = memory.state(at.wrapping_add(4 * index as u32))?;
    }
    let refused = |what: &str| (Rule::SurfaceState, format!("{what} of the state at {at:#x}"));
    // Rotation and samples are those of later chips.
    let reserved = [
        words[0] & 0x1000_0200,
        words[2] & 3,
        words[3] & 4,
        words[4] & 0xff,
        words[5] & 0x010f_ffff,
    ];
    if reserved != [0; 5] {
        return Err(refused("reserved bits"));
    }
    let kind = match words[0] >> 29 {
        0 => Kind::Line,
        1 => Kind::Plane,
        2 => Kind::Volume,
        3 => Kind::Cube,
        4 => Kind::Buffer,
        7 => Kind::Null,
        _ => return Err(refused("the type")),
    };
    let (low, high) = (words[2] >> 6 & 0x1fff, words[2] >> 19);
    let (pitch, depth) = ((words[3] >> 3 & 0x1_ffff) + 1, words[3] >> 21);
    let writes = words[0] >> 14 & 15;
    // Bits 17 to 14 are alpha, red, green, blue.
    let masked = (writes >> 2 & 1 | writes & 2 | (writes & 1) << 2 | writes & 8) as u8;
    let mut surface = Surface {
        kind,
        code: words[0] >> 18 & 0x1ff,
        masked,
        blend: words[0] >> 13 & 1 == 1,
        read_write: words[0] >> 8 & 1 == 1,
        base: words[1],
        width: low + 1,
        height: high + 1,
        depth: depth + 1,
        levels: words[2] >> 2 & 15,
        pitch,
        tiled: words[3] >> 1 & 1 == 1,
        walk_y: words[3] & 1 == 1,
        least_level: words[4] >> 28,
        first_layer: words[4] >> 17 & 0x7ff,
        layout_right: words[0] >> 10 & 1 == 1,
    };
    if kind == Kind::Buffer {
        // The number of elements less one is spread over width (7 bits), height (13) and depth (7).
        if low > 0x7f || depth > 0x7f {
            return Err(refused("the size of a buffer"));
        }
        surface.width = (low | high << 7 | depth << 20) + 1;
        (surface.height, surface.depth) = (1, 1);
        if surface.tiled {
            return Err(refused("tiles of a buffer"));
        }
    }
    let texels = !matches!(kind, Kind::Buffer | Kind::Null);
    if let Some(format) = surface.format().filter(|_| texels)
        && surface.width * format.bytes() > surface.pitch
    {
        return Err(refused("a row that is longer than the pitch"));
    }
    if surface.tiled && kind != Kind::Null {
        let unit = if surface.walk_y { 128 } else { 512 };
        if !surface.base.is_multiple_of(4096) || !surface.pitch.is_multiple_of(unit) {
            return Err(refused("the base or pitch of tiles"));
        }
    }
    if model == Model::G45 && words[5] != 0 {
        return Err(refused("X and Y offsets (not built)"));
    }
    Ok(surface)
}

/// The format of a code. isa/gen4-pipeline.md 1.5.
pub const fn format(code: u32) -> Option<Format> {
    use Format::*;
    Some(match code {
        0x000 => Rgba32Float,
        0x001 => Rgba32Sint,
        0x002 => Rgba32Uint,
        0x080 => Rgba16Unorm,
        0x081 => Rgba16Snorm,
        0x082 => Rgba16Sint,
        0x083 => Rgba16Uint,
        0x084 => Rgba16Float,
        0x085 => Rg32Float,
        0x086 => Rg32Sint,
        0x087 => Rg32Uint,
        0x0c0 => Bgra8Unorm,
        0x0c1 => Bgra8UnormSrgb,
        0x0c2 => Rgb10a2Unorm,
        0x0c4 => Rgb10a2Uint,
        0x0c7 => Rgba8Unorm,
        0x0c8 => Rgba8UnormSrgb,
        0x0c9 => Rgba8Snorm,
        0x0ca => Rgba8Sint,
        0x0cb => Rgba8Uint,
        0x0cc => Rg16Unorm,
        0x0cd => Rg16Snorm,
        0x0ce => Rg16Sint,
        0x0cf => Rg16Uint,
        0x0d0 => Rg16Float,
        0x0d3 => Rg11b10Ufloat,
        0x0d6 => R32Sint,
        0x0d7 => R32Uint,
        0x0d8 => R32Float,
        0x0d9 => Depth24Plus,
        0x0ed => Rgb9e5Ufloat,
        0x106 => Rg8Unorm,
        0x107 => Rg8Snorm,
        0x108 => Rg8Sint,
        0x109 => Rg8Uint,
        0x10a => R16Unorm,
        0x10b => R16Snorm,
        0x10c => R16Sint,
        0x10d => R16Uint,
        0x10e => R16Float,
        0x140 => R8Unorm,
        0x141 => R8Snorm,
        0x142 => R8Sint,
        0x143 => R8Uint,
        _ => return None,
    })
}

/// Whether a format can be rendered to, and blended. isa/gen4-pipeline.md 1.5.
pub const fn renders(model: Model, code: u32) -> (bool, bool) {
    let g45 = matches!(model, Model::G45);
    match code {
        0x000 | 0x084 | 0x085 | 0x0c0 | 0x0c1 | 0x0c2 | 0x0c7 | 0x0c8 | 0x0d0 | 0x0d3 | 0x0d8
        | 0x106 | 0x10e | 0x140 | 0x144 => (true, true),
        0x080 | 0x0cc | 0x10a => (true, g45),
        0x001
        | 0x002
        | 0x081..=0x083
        | 0x086
        | 0x087
        | 0x0c4
        | 0x0c9..=0x0cb
        | 0x0cd..=0x0cf
        | 0x0d6
        | 0x0d7
        | 0x107..=0x109
        | 0x10b..=0x10d
        | 0x141..=0x143 => (true, false),
        _ => (false, false),
    }
}

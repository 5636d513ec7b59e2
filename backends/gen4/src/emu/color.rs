//! Colour calculator: blending, depth test, and which payload a pixel thread has for them. isa/gen4-pipeline.md 1.2, isa/gen4.md
//! 2.2.

use super::memory::{Memory, Refused, Through};
use super::rule::Rule;
use super::surface;
use gpucc_emu::blend::{Blend, BlendComponent, BlendOp, Factor};
use gpucc_emu::draw::representable;
use gpucc_emu::format::Format;
use gpucc_emu::sampler::Compare;

/// The state of the colour calculator.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Color {
    pub blend: Option<Blend>,
    /// Colours and the constant are clamped before they are blended.
    pub clamps: Option<Range>,
    pub constant: [f32; 4],
    pub depth_test: Option<Compare>,
    pub depth_write: bool,
}

/// What colours are clamped to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Range {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    /// What the format of the target holds.
    Target,
}

const COMPARES: [Compare; 8] = [
    Compare::Always,
    Compare::Never,
    Compare::Less,
    Compare::Equal,
    Compare::LessEqual,
    Compare::Greater,
    Compare::NotEqual,
    Compare::GreaterEqual,
];

fn factor(code: u32) -> Result<Factor, Refused> {
    Ok(match code {
        1 => Factor::One,
        2 => Factor::Src,
        3 => Factor::SrcAlpha,
        4 => Factor::DstAlpha,
        5 => Factor::Dst,
        6 => Factor::SrcAlphaSaturated,
        7 => Factor::Constant,
        17 => Factor::Zero,
        18 => Factor::OneMinusSrc,
        19 => Factor::OneMinusSrcAlpha,
        20 => Factor::OneMinusDstAlpha,
        21 => Factor::OneMinusDst,
        23 => Factor::OneMinusConstant,
        8 | 9 | 10 | 24 | 25 | 26 => {
            return Err((Rule::NotBuilt, format!("blend factor {code}")));
        }
        _ => return Err((Rule::ThreadState, format!("blend factor {code}"))),
    })
}

fn component(function: u32, src: u32, dst: u32) -> Result<BlendComponent, Refused> {
    let op = match function {
        0 => BlendOp::Add,
        1 => BlendOp::Subtract,
        2 => BlendOp::ReverseSubtract,
        3 => BlendOp::Min,
        4 => BlendOp::Max,
        _ => return Err((Rule::ThreadState, format!("blend function {function}"))),
    };
    Ok(BlendComponent { op, src: factor(src)?, dst: factor(dst)? })
}

impl Color {
    /// The state at an address.
    ///
    /// # Errors
    /// It is not mapped or written, or asks for what is reserved or not built.
    pub fn read(memory: &Memory, at: u32, constant: [f32; 4]) -> Result<Color, Refused> {
        let word = |index: u32| memory.state(at.wrapping_add(4 * index));
        let (d0, d2, d3, d5, d6) = (word(0)?, word(2)?, word(3)?, word(5)?, word(6)?);
        if d0 >> 31 == 1 || d0 >> 18 & 1 == 1 {
            return Err((Rule::NotBuilt, "stencil".into()));
        }
        if d2 & 1 == 1 || d3 >> 11 & 1 == 1 {
            return Err((Rule::NotBuilt, "logic operations or the alpha test".into()));
        }
        let blend = if d3 >> 12 & 1 == 1 {
            let color = component(d6 >> 29, d6 >> 24 & 31, d6 >> 19 & 31)?;
            let alpha = match d3 >> 13 & 1 {
                0 => color,
                _ => component(d5 >> 12 & 7, d5 >> 7 & 31, d5 >> 2 & 31)?,
            };
            Some(Blend { color, alpha })
        } else {
            None
        };
        let clamps = match (d6 >> 1 & 1, d6 >> 2 & 3) {
            (0, _) => None,
            (_, 0) => Some(Range::Unorm),
            (_, 1) => Some(Range::Snorm),
            (_, 2) => Some(Range::Target),
            (_, code) => return Err((Rule::ThreadState, format!("clamp range {code}"))),
        };
        let test = d2 >> 15 & 1 == 1;
        let depth_test = test.then(|| COMPARES[(d2 >> 12 & 7) as usize]);
        Ok(Color { blend, clamps, constant, depth_test, depth_write: d2 >> 11 & 1 == 1 })
    }
}

impl Range {
    /// A component within the range, as bits of a float.
    pub fn clamp(self, format: Format, bits: u32) -> u32 {
        let within = |least: f32| f32::from_bits(bits).max(least).min(1.0).to_bits();
        match self {
            Range::Unorm => within(0.0),
            Range::Snorm => within(-1.0),
            Range::Target => representable(format, bits),
        }
    }
}

/// The depth buffer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    format: u32,
    base: u32,
    pitch: u32,
    pub width: u32,
    pub height: u32,
}

impl Depth {
    /// From the words of 3DSTATE_DEPTH_BUFFER; none where it is null.
    ///
    /// # Errors
    /// The format or the surface is not built or none.
    pub fn of(words: [u32; 5]) -> Result<Option<Depth>, Refused> {
        let [d1, base, d3, ..] = words;
        match d1 >> 29 {
            7 => return Ok(None),
            1 => {}
            _ => return Err((Rule::NotBuilt, "a depth buffer that is no plane".into())),
        }
        let format = d1 >> 18 & 7;
        if !matches!(format, 1 | 3 | 5) || d3 >> 2 & 15 != 0 {
            return Err((Rule::NotBuilt, format!("depth format {format}, or its level")));
        }
        let (width, height) = ((d3 >> 6 & 0x1fff) + 1, (d3 >> 19) + 1);
        let depth = Depth { format, base, pitch: (d1 & 0x1_ffff) + 1, width, height };
        if width * depth.bytes() > depth.pitch {
            return Err((Rule::SurfaceState, "a row of depths is longer than the pitch".into()));
        }
        Ok(Some(depth))
    }

    /// Bytes of a pixel.
    const fn bytes(&self) -> u32 {
        if self.format == 5 { 2 } else { 4 }
    }

    fn place(&self, x: u32, y: u32) -> (u32, u32) {
        let bytes = self.bytes();
        let tiles = (true, true);
        (surface::place(self.base, self.pitch, tiles, x.wrapping_mul(bytes), y), bytes)
    }

    /// The depth of a pixel.
    ///
    /// # Errors
    /// It is not mapped, or nobody wrote it.
    pub fn load(&self, memory: &Memory, x: u32, y: u32) -> Result<f32, Refused> {
        let (at, bytes) = self.place(x, y);
        let found = memory.load(at, bytes as usize, Through::Render)?;
        if found.undefined.contains(&true) {
            return Err((Rule::Undefined, format!("the depth of pixel {x}, {y}")));
        }
        let bits = found.bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        Ok(match self.format {
            1 => f32::from_bits(bits),
            3 => (f64::from(bits & 0xff_ffff) / f64::from(0xff_ffff)) as f32,
            _ => (f64::from(bits) / f64::from(0xffff)) as f32,
        })
    }

    /// Writes the depth of a pixel.
    ///
    /// # Errors
    /// It is not mapped.
    pub fn store(&self, memory: &mut Memory, x: u32, y: u32, depth: f32) -> Result<(), Refused> {
        let (at, bytes) = self.place(x, y);
        let bits = self.bits(depth).to_le_bytes();
        memory.render(at, &bits[..bytes as usize])
    }

    fn bits(&self, depth: f32) -> u32 {
        let whole = |most: u32| (f64::from(depth).clamp(0.0, 1.0) * f64::from(most)).round() as u32;
        match self.format {
            1 => depth.to_bits(),
            3 => whole(0xff_ffff),
            _ => whole(0xffff),
        }
    }

    /// The depth as the buffer can hold it.
    pub fn rounded(&self, depth: f32) -> f32 {
        match self.format {
            1 => depth,
            3 => (f64::from(self.bits(depth)) / f64::from(0xff_ffff)) as f32,
            _ => (f64::from(self.bits(depth)) / f64::from(0xffff)) as f32,
        }
    }
}

/// When depth is tested.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the thread: promoted.
    Early,
    /// With the last render target message.
    Late,
}

/// What depth and stencil make of a pixel thread's payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    pub when: When,
    pub source: bool,
    /// The source depth goes to the render target message.
    pub sent: bool,
    pub destination: bool,
    pub stencil: bool,
}

/// By kill (1), computed depth (2), depth write (4), depth test (8), stencil write (16), stencil test (32): the mode, and
/// 8 source present, 4 source sent, 2 destination present, 1 stencil present. isa/gen4.md 2.2.
const PRESENCE: [&str; 4] = [
    "P0P0P0P0P0NcN4N4P0P0C6C6P0NcC6C6",
    "P0P0P0P0P0NcN4N4P0P0C6C6P0NcC6C6",
    "P0P0P0P0P0NdN5N5P0P0C7C7P0NdC7C7",
    "P0C1P0C5P0CdC5C5P0CfC7C7P0CfC7C7",
];

impl Presence {
    /// The payload of a key.
    pub fn of(key: u32) -> Presence {
        let row = PRESENCE[(key >> 4 & 3) as usize].as_bytes();
        let at = 2 * (key & 15) as usize;
        let bits = char::from(row[at + 1]).to_digit(16).unwrap_or(0);
        Presence {
            when: if row[at] == b'P' { When::Early } else { When::Late },
            source: bits & 8 != 0,
            sent: bits & 4 != 0,
            destination: bits & 2 != 0,
            stencil: bits & 1 != 0,
        }
    }
}

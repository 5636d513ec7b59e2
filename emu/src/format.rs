//! Texel and vertex formats: how bits in memory become four components, and back.
//!
//! # Definitions
//! A texel is read as one little-endian integer; channel `c` is the bits `shift..shift + bits`.
//! Components that a format lacks read as 0, 0, 0 and 1 (1.0 or the integer 1).
//!
//! - unorm: `v / (2^bits - 1)`, one correctly rounded division. Back: NaN gives 0, clamp to 0..=1,
//!   multiply in f64, round to nearest even.
//! - snorm: `max(v / (2^(bits-1) - 1), -1)`; back likewise, clamped to -1..=1.
//! - srgb: the piecewise curve of the sRGB standard in f64, rounded once to f32; powers by the exact
//!   sequence of [`srgb_to_linear`], so every machine gives the same bits.
//! - float: f16 by round to nearest even, denormals kept; the unsigned 11- and 10-bit floats likewise,
//!   negative numbers give 0. rgb9e5 shares one exponent, as its defining extension describes.
//! - integers: sign- or zero-extended; back: clamped to the range of the channel. `r64uint` and `r64sint` are
//!   their two words of 32 bits, low first.

use half::f16;

/// How the bits of a channel are read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    /// 0 to 1 through the sRGB curve.
    Srgb,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// IEEE float of 16 or 32 bits.
    Float,
    /// Unsigned float of 10 or 11 bits: five bits of exponent.
    UFloat,
    /// Unsigned integer converted to float (vertex formats of some machines).
    Uscaled,
    /// Signed integer converted to float.
    Sscaled,
}

impl Kind {
    /// True when components are integers rather than floats.
    pub const fn is_integer(self) -> bool {
        matches!(self, Kind::Uint | Kind::Sint)
    }
}

/// One channel of a format.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Lowest bit within the texel.
    pub shift: u8,
    /// Width, 1..=32.
    pub bits: u8,
    /// Reading.
    pub kind: Kind,
    /// Component that it fills, 0..=3.
    pub component: u8,
}

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident $name:literal $bytes:literal $layout:expr;)*) => {
        /// A texel format by its WebGPU name.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format {
            $($(#[$doc])* #[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Format {
            /// Every format, in the order of WebGPU's list.
            pub const ALL: &'static [Format] = &[$(Format::$variant),*];

            /// The WebGPU name.
            pub const fn name(self) -> &'static str {
                match self { $(Format::$variant => $name),* }
            }

            /// Bytes of a texel.
            pub const fn bytes(self) -> u32 {
                match self { $(Format::$variant => $bytes),* }
            }

            const fn layout(self) -> Layout {
                match self { $(Format::$variant => $layout),* }
            }
        }
    };
}

/// The channels of a format before they are spelled out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Layout {
    /// `n` channels of equal width, component 0 lowest.
    Equal(u8, u8, Kind),
    /// Four 8-bit channels with blue lowest.
    Bgra(Kind),
    /// 10, 10, 10 and 2 bits, red lowest.
    Rgb10a2(Kind),
    /// 11, 11 and 10 bits of unsigned float, red lowest.
    Rg11b10,
    /// Three 9-bit mantissas and a shared exponent.
    Rgb9e5,
}

#[rustfmt::skip]
formats! {
    R8Unorm "r8unorm" 1 Layout::Equal(1, 8, Kind::Unorm);
    R8Snorm "r8snorm" 1 Layout::Equal(1, 8, Kind::Snorm);
    R8Uint "r8uint" 1 Layout::Equal(1, 8, Kind::Uint);
    R8Sint "r8sint" 1 Layout::Equal(1, 8, Kind::Sint);
    R16Unorm "r16unorm" 2 Layout::Equal(1, 16, Kind::Unorm);
    R16Snorm "r16snorm" 2 Layout::Equal(1, 16, Kind::Snorm);
    R16Uint "r16uint" 2 Layout::Equal(1, 16, Kind::Uint);
    R16Sint "r16sint" 2 Layout::Equal(1, 16, Kind::Sint);
    R16Float "r16float" 2 Layout::Equal(1, 16, Kind::Float);
    Rg8Unorm "rg8unorm" 2 Layout::Equal(2, 8, Kind::Unorm);
    Rg8Snorm "rg8snorm" 2 Layout::Equal(2, 8, Kind::Snorm);
    Rg8Uint "rg8uint" 2 Layout::Equal(2, 8, Kind::Uint);
    Rg8Sint "rg8sint" 2 Layout::Equal(2, 8, Kind::Sint);
    R32Uint "r32uint" 4 Layout::Equal(1, 32, Kind::Uint);
    R32Sint "r32sint" 4 Layout::Equal(1, 32, Kind::Sint);
    R32Float "r32float" 4 Layout::Equal(1, 32, Kind::Float);
    Rg16Unorm "rg16unorm" 4 Layout::Equal(2, 16, Kind::Unorm);
    Rg16Snorm "rg16snorm" 4 Layout::Equal(2, 16, Kind::Snorm);
    Rg16Uint "rg16uint" 4 Layout::Equal(2, 16, Kind::Uint);
    Rg16Sint "rg16sint" 4 Layout::Equal(2, 16, Kind::Sint);
    Rg16Float "rg16float" 4 Layout::Equal(2, 16, Kind::Float);
    Rgba8Unorm "rgba8unorm" 4 Layout::Equal(4, 8, Kind::Unorm);
    Rgba8UnormSrgb "rgba8unorm-srgb" 4 Layout::Equal(4, 8, Kind::Srgb);
    Rgba8Snorm "rgba8snorm" 4 Layout::Equal(4, 8, Kind::Snorm);
    Rgba8Uint "rgba8uint" 4 Layout::Equal(4, 8, Kind::Uint);
    Rgba8Sint "rgba8sint" 4 Layout::Equal(4, 8, Kind::Sint);
    Bgra8Unorm "bgra8unorm" 4 Layout::Bgra(Kind::Unorm);
    Bgra8UnormSrgb "bgra8unorm-srgb" 4 Layout::Bgra(Kind::Srgb);
    Rgb9e5Ufloat "rgb9e5ufloat" 4 Layout::Rgb9e5;
    Rgb10a2Uint "rgb10a2uint" 4 Layout::Rgb10a2(Kind::Uint);
    Rgb10a2Unorm "rgb10a2unorm" 4 Layout::Rgb10a2(Kind::Unorm);
    Rg11b10Ufloat "rg11b10ufloat" 4 Layout::Rg11b10;
    Rg32Uint "rg32uint" 8 Layout::Equal(2, 32, Kind::Uint);
    Rg32Sint "rg32sint" 8 Layout::Equal(2, 32, Kind::Sint);
    Rg32Float "rg32float" 8 Layout::Equal(2, 32, Kind::Float);
    Rgba16Unorm "rgba16unorm" 8 Layout::Equal(4, 16, Kind::Unorm);
    Rgba16Snorm "rgba16snorm" 8 Layout::Equal(4, 16, Kind::Snorm);
    Rgba16Uint "rgba16uint" 8 Layout::Equal(4, 16, Kind::Uint);
    Rgba16Sint "rgba16sint" 8 Layout::Equal(4, 16, Kind::Sint);
    Rgba16Float "rgba16float" 8 Layout::Equal(4, 16, Kind::Float);
    Rgba32Uint "rgba32uint" 16 Layout::Equal(4, 32, Kind::Uint);
    Rgba32Sint "rgba32sint" 16 Layout::Equal(4, 32, Kind::Sint);
    Rgba32Float "rgba32float" 16 Layout::Equal(4, 32, Kind::Float);
    Stencil8 "stencil8" 1 Layout::Equal(1, 8, Kind::Uint);
    Depth16Unorm "depth16unorm" 2 Layout::Equal(1, 16, Kind::Unorm);
    Depth24Plus "depth24plus" 4 Layout::Equal(1, 24, Kind::Unorm);
    Depth24PlusStencil8 "depth24plus-stencil8" 4 Layout::Equal(1, 24, Kind::Unorm);
    Depth32Float "depth32float" 4 Layout::Equal(1, 32, Kind::Float);
    Depth32FloatStencil8 "depth32float-stencil8" 8 Layout::Equal(1, 32, Kind::Float);
}

impl Format {
    /// The format of a WebGPU name. Machines have none with words of 64 bits: those are two of 32.
    pub fn from_name(name: &str) -> Option<Format> {
        let name = match name {
            "r64uint" => "rg32uint",
            "r64sint" => "rg32sint",
            name => name,
        };
        Format::ALL.iter().copied().find(|f| f.name() == name)
    }

    /// How component 0 is read.
    pub const fn kind(self) -> Kind {
        match self.layout() {
            Layout::Equal(_, _, kind) | Layout::Bgra(kind) | Layout::Rgb10a2(kind) => kind,
            Layout::Rg11b10 | Layout::Rgb9e5 => Kind::UFloat,
        }
    }

    /// Components present, 1..=4.
    pub const fn components(self) -> u32 {
        match self.layout() {
            Layout::Equal(n, ..) => n as u32,
            Layout::Bgra(_) | Layout::Rgb10a2(_) => 4,
            Layout::Rg11b10 | Layout::Rgb9e5 => 3,
        }
    }

    /// The smallest step between depths; none for floats.
    pub fn depth_step(self) -> Option<f32> {
        match self {
            Format::Depth16Unorm => Some(1.0 / 65535.0),
            Format::Depth24Plus | Format::Depth24PlusStencil8 => Some(1.0 / 16_777_215.0),
            _ => None,
        }
    }

    /// Whether a colour target may have it, with every feature of WebGPU. WebGPU 26.1.1, Plain color formats.
    pub const fn renders(self) -> bool {
        !self.is_depth() && !matches!(self, Format::Stencil8 | Format::Rgb9e5Ufloat)
    }

    /// Whether a colour target that has it may have several samples a pixel. WebGPU 26.1.1.
    pub const fn multisamples(self) -> bool {
        let wide = matches!(self, Format::R32Uint | Format::R32Sint) || self.bytes() == 16;
        let pairs = matches!(self, Format::Rg32Uint | Format::Rg32Sint | Format::Rg32Float);
        self.renders() && !wide && !pairs
    }

    /// True when it holds depth.
    pub const fn is_depth(self) -> bool {
        matches!(
            self,
            Format::Depth16Unorm
                | Format::Depth24Plus
                | Format::Depth24PlusStencil8
                | Format::Depth32Float
                | Format::Depth32FloatStencil8
        )
    }

    /// The texel's four components: f32 bits, or integers where [`Format::kind`] is one.
    /// `texel` holds at least [`Format::bytes`] bytes.
    pub fn decode(self, texel: &[u8]) -> [u32; 4] {
        let one = if self.kind().is_integer() { 1 } else { 1f32.to_bits() };
        let mut out = [0, 0, 0, one];
        match self.layout() {
            Layout::Equal(n, 32, _) => {
                for (c, out) in out.iter_mut().enumerate().take(n as usize) {
                    *out = word(texel, 4 * c, 4);
                }
            }
            Layout::Equal(n, 16, kind) => {
                for (c, out) in out.iter_mut().enumerate().take(n as usize) {
                    *out = decode_channel(word(texel, 2 * c, 2), 16, kind);
                }
            }
            Layout::Equal(n, bits, kind) => {
                let step = bits.div_ceil(8) as usize;
                for (c, out) in out.iter_mut().enumerate().take(n as usize) {
                    *out = decode_component(word(texel, step * c, step), bits, kind, c);
                }
            }
            Layout::Bgra(kind) => {
                for (c, place) in [2usize, 1, 0, 3].into_iter().enumerate() {
                    out[c] = decode_component(word(texel, place, 1), 8, kind, c);
                }
            }
            Layout::Rgb10a2(kind) => {
                let w = word(texel, 0, 4);
                for (c, out) in out.iter_mut().enumerate().take(3) {
                    *out = decode_channel(w >> (10 * c) & 0x3FF, 10, kind);
                }
                out[3] = decode_channel(w >> 30, 2, kind);
            }
            Layout::Rg11b10 => {
                let w = word(texel, 0, 4);
                out[0] = ufloat_decode(w & 0x7FF, 6);
                out[1] = ufloat_decode(w >> 11 & 0x7FF, 6);
                out[2] = ufloat_decode(w >> 22, 5);
            }
            Layout::Rgb9e5 => {
                let w = word(texel, 0, 4);
                let scale = power_of_two((w >> 27) as i32 - 15 - 9);
                for (c, out) in out.iter_mut().enumerate().take(3) {
                    *out = (((w >> (9 * c) & 0x1FF) as f64 * scale) as f32).to_bits();
                }
            }
        }
        out
    }

    /// Writes four components to `texel`, which holds at least [`Format::bytes`] bytes. A stencil
    /// part beside depth is left alone.
    pub fn encode(self, components: [u32; 4], texel: &mut [u8]) {
        match self.layout() {
            Layout::Equal(n, bits, kind) => {
                let step = bits.div_ceil(8) as usize;
                for (c, &value) in components.iter().enumerate().take(n as usize) {
                    put(texel, step * c, step, encode_component(value, bits, kind, c));
                }
            }
            Layout::Bgra(kind) => {
                for (c, place) in [2usize, 1, 0, 3].into_iter().enumerate() {
                    put(texel, place, 1, encode_component(components[c], 8, kind, c));
                }
            }
            Layout::Rgb10a2(kind) => {
                let mut w = encode_channel(components[3], 2, kind) << 30;
                for (c, &value) in components.iter().enumerate().take(3) {
                    w |= encode_channel(value, 10, kind) << (10 * c);
                }
                put(texel, 0, 4, w);
            }
            Layout::Rg11b10 => {
                let [r, g, b, _] = components;
                let w = ufloat_encode(r, 6) | ufloat_encode(g, 6) << 11 | ufloat_encode(b, 5) << 22;
                put(texel, 0, 4, w);
            }
            Layout::Rgb9e5 => put(texel, 0, 4, rgb9e5_encode(components)),
        }
    }
}

fn word(bytes: &[u8], at: usize, len: usize) -> u32 {
    let mut w = 0;
    for i in (0..len).rev() {
        w = w << 8 | u32::from(bytes[at + i]);
    }
    w
}

fn put(bytes: &mut [u8], at: usize, len: usize, value: u32) {
    bytes[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
}

/// Alpha of an sRGB format is linear.
fn decode_component(raw: u32, bits: u8, kind: Kind, component: usize) -> u32 {
    match kind {
        Kind::Srgb if component == 3 => decode_channel(raw, bits, Kind::Unorm),
        _ => decode_channel(raw, bits, kind),
    }
}

fn encode_component(value: u32, bits: u8, kind: Kind, component: usize) -> u32 {
    match kind {
        Kind::Srgb if component == 3 => encode_channel(value, bits, Kind::Unorm),
        _ => encode_channel(value, bits, kind),
    }
}

/// Reads the low `bits` of `raw` (higher ones are 0) as `kind`: f32 bits or an integer.
pub fn decode_channel(raw: u32, bits: u8, kind: Kind) -> u32 {
    let signed = || ((raw << (32 - bits)) as i32) >> (32 - bits);
    let mask = mask(bits);
    match kind {
        Kind::Uint => raw,
        Kind::Sint => signed() as u32,
        Kind::Uscaled => (raw as f32).to_bits(),
        Kind::Sscaled => (signed() as f32).to_bits(),
        Kind::Unorm => ((f64::from(raw) / f64::from(mask)) as f32).to_bits(),
        Kind::Snorm => ((f64::from(signed()) / f64::from(mask >> 1)).max(-1.0) as f32).to_bits(),
        Kind::Srgb => (srgb_to_linear(f64::from(raw) / f64::from(mask)) as f32).to_bits(),
        Kind::Float if bits == 16 => f16::from_bits(raw as u16).to_f32().to_bits(),
        Kind::Float => raw,
        Kind::UFloat => ufloat_decode(raw, u32::from(bits) - 5),
    }
}

/// The inverse of [`decode_channel`] under the rounding and clamping of the module's definitions.
pub fn encode_channel(value: u32, bits: u8, kind: Kind) -> u32 {
    let mask = mask(bits);
    let float = || f64::from(f32::from_bits(value));
    let top = f64::from(mask >> 1);
    match kind {
        Kind::Uint => value.min(mask),
        Kind::Sint => {
            let limit = (mask >> 1) as i32;
            (value as i32).clamp(-limit - 1, limit) as u32 & mask
        }
        // A float-to-integer cast saturates and sends NaN to 0.
        Kind::Uscaled => (float().clamp(0.0, f64::from(mask)).round_ties_even()) as u32,
        Kind::Sscaled => (float().clamp(-top - 1.0, top).round_ties_even()) as i32 as u32 & mask,
        Kind::Unorm => (float().clamp(0.0, 1.0) * f64::from(mask)).round_ties_even() as u32,
        Kind::Snorm => (float().clamp(-1.0, 1.0) * top).round_ties_even() as i32 as u32 & mask,
        Kind::Srgb => {
            let v = float();
            let v = if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) };
            (linear_to_srgb(v) * f64::from(mask)).round_ties_even() as u32
        }
        Kind::Float if bits == 16 => u32::from(f16::from_f32(f32::from_bits(value)).to_bits()),
        Kind::Float => value,
        Kind::UFloat => ufloat_encode(value, u32::from(bits) - 5),
    }
}

fn mask(bits: u8) -> u32 {
    u32::MAX >> (32 - bits)
}

/// 2^e for an `e` whose result is normal.
fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// The sRGB curve from encoded (0..=1) to linear. `x^2.4` is `x^2 * (x^2)^(1/5)`.
pub fn srgb_to_linear(x: f64) -> f64 {
    if x <= 0.04045 {
        return x / 12.92;
    }
    let base = (x + 0.055) / 1.055;
    let square = base * base;
    square * root(square, 5)
}

/// The sRGB curve from linear (0..=1) to encoded. `x^(1/2.4)` is the cube root of `sqrt(sqrt(x^5))`.
pub fn linear_to_srgb(x: f64) -> f64 {
    if x <= 0.003_130_8 {
        return x * 12.92;
    }
    let fifth = x * x * x * x * x;
    1.055 * root(fifth.sqrt().sqrt(), 3) - 0.055
}

/// The n-th root of a number in 0..=1 by Newton's method from above: 64 steps always suffice in
/// the range that the curves use.
fn root(x: f64, n: i32) -> f64 {
    let mut y = 1.0;
    for _ in 0..64 {
        let mut power = 1.0;
        for _ in 1..n {
            power *= y;
        }
        y = (f64::from(n - 1) * y + x / power) / f64::from(n);
    }
    y
}

/// An unsigned float of five exponent bits and `mantissa` mantissa bits.
fn ufloat_decode(raw: u32, mantissa: u32) -> u32 {
    let exponent = raw >> mantissa & 31;
    let fraction = raw & ((1 << mantissa) - 1);
    // The same bits as an f16 without its sign.
    let half = (exponent << 10 | fraction << (10 - mantissa)) as u16;
    f16::from_bits(half).to_f32().to_bits()
}

fn ufloat_encode(value: u32, mantissa: u32) -> u32 {
    let v = f32::from_bits(value);
    if v.is_nan() {
        return 31 << mantissa | 1;
    }
    if v <= 0.0 {
        return 0;
    }
    if v.is_infinite() {
        return 31 << mantissa;
    }
    // Scaled so that the last place of the result is 1, then rounded once.
    let exponent = ((value >> 23) as i32 - 127).max(-14);
    let scaled = f64::from(v) * power_of_two(mantissa as i32 - exponent);
    let units = scaled.round_ties_even() as u32;
    // Denormals have exponent field 0 and units below 2^mantissa; a carry moves into the exponent by itself.
    let bits = units as i64 + ((i64::from(exponent) + 14) << mantissa);
    bits.min(31 << mantissa) as u32
}

/// Clamps to the largest value, chooses the exponent of the largest component, rounds to nearest.
fn rgb9e5_encode(components: [u32; 4]) -> u32 {
    const LARGEST: f64 = 65408.0;
    let clamped = |c: usize| {
        let v = f64::from(f32::from_bits(components[c]));
        if v > 0.0 { v.min(LARGEST) } else { 0.0 }
    };
    let rgb = [clamped(0), clamped(1), clamped(2)];
    let top = rgb[0].max(rgb[1]).max(rgb[2]);
    let floor_log2 = ((top.to_bits() >> 52) as i32 - 1023).max(-16);
    let mut exponent = floor_log2 + 16;
    let units = |exponent: i32, v: f64| (v / power_of_two(exponent - 24) + 0.5).floor() as u32;
    if units(exponent, top) == 512 {
        exponent += 1;
    }
    (exponent as u32) << 27
        | units(exponent, rgb[2]) << 18
        | units(exponent, rgb[1]) << 9
        | units(exponent, rgb[0])
}

/// A vertex attribute format by its WebGPU name: up to four channels, lowest component first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct VertexFormat {
    name: &'static str,
    components: u8,
    bits: u8,
    kind: Kind,
}

macro_rules! vertex_formats {
    ($($name:literal $n:literal $bits:literal $kind:ident;)*) => {
        const VERTEX_FORMATS: &[VertexFormat] = &[$(VertexFormat {
            name: $name, components: $n, bits: $bits, kind: Kind::$kind,
        }),*];
    };
}

#[rustfmt::skip]
vertex_formats! {
    "uint8" 1 8 Uint; "uint8x2" 2 8 Uint; "uint8x4" 4 8 Uint;
    "sint8" 1 8 Sint; "sint8x2" 2 8 Sint; "sint8x4" 4 8 Sint;
    "unorm8" 1 8 Unorm; "unorm8x2" 2 8 Unorm; "unorm8x4" 4 8 Unorm;
    "snorm8" 1 8 Snorm; "snorm8x2" 2 8 Snorm; "snorm8x4" 4 8 Snorm;
    "uint16" 1 16 Uint; "uint16x2" 2 16 Uint; "uint16x4" 4 16 Uint;
    "sint16" 1 16 Sint; "sint16x2" 2 16 Sint; "sint16x4" 4 16 Sint;
    "unorm16" 1 16 Unorm; "unorm16x2" 2 16 Unorm; "unorm16x4" 4 16 Unorm;
    "snorm16" 1 16 Snorm; "snorm16x2" 2 16 Snorm; "snorm16x4" 4 16 Snorm;
    "float16" 1 16 Float; "float16x2" 2 16 Float; "float16x4" 4 16 Float;
    "float32" 1 32 Float; "float32x2" 2 32 Float; "float32x3" 3 32 Float; "float32x4" 4 32 Float;
    "uint32" 1 32 Uint; "uint32x2" 2 32 Uint; "uint32x3" 3 32 Uint; "uint32x4" 4 32 Uint;
    "sint32" 1 32 Sint; "sint32x2" 2 32 Sint; "sint32x3" 3 32 Sint; "sint32x4" 4 32 Sint;
    "unorm10-10-10-2" 4 10 Unorm; "unorm8x4-bgra" 4 8 Unorm;
}

impl VertexFormat {
    /// Every vertex format.
    pub const ALL: &'static [VertexFormat] = VERTEX_FORMATS;

    /// The format of a WebGPU name.
    pub fn from_name(name: &str) -> Option<VertexFormat> {
        VERTEX_FORMATS.iter().copied().find(|f| f.name == name)
    }

    /// The WebGPU name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Components present, 1..=4.
    pub const fn components(self) -> u32 {
        self.components as u32
    }

    /// Bits of a component; `unorm10-10-10-2` says 10.
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }

    /// How a component is read.
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Bytes of an attribute.
    pub const fn bytes(self) -> u32 {
        match self.bits {
            10 => 4,
            bits => self.components as u32 * bits as u32 / 8,
        }
    }

    /// Four components of an attribute (missing ones 0, 0, 0, 1) as f32 bits or integers. Bytes
    /// beyond the end of `bytes` read as 0.
    pub fn decode(self, bytes: &[u8]) -> [u32; 4] {
        let one = if self.kind.is_integer() { 1 } else { 1f32.to_bits() };
        let mut out = [0, 0, 0, one];
        let mut padded = [0u8; 16];
        let len = bytes.len().min(self.bytes() as usize);
        padded[..len].copy_from_slice(&bytes[..len]);
        if self.bits == 10 {
            return Format::Rgb10a2Unorm.decode(&padded);
        }
        if self.name == "unorm8x4-bgra" {
            return Format::Bgra8Unorm.decode(&padded);
        }
        let step = self.bits as usize / 8;
        for (c, out) in out.iter_mut().enumerate().take(self.components as usize) {
            *out = decode_channel(word(&padded, step * c, step), self.bits, self.kind);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(words: [u32; 4]) -> [f32; 4] {
        words.map(f32::from_bits)
    }

    #[test]
    fn every_name_finds_its_format() {
        for &f in Format::ALL {
            assert_eq!(Format::from_name(f.name()), Some(f));
        }
        assert_eq!(Format::from_name("rgba8"), None);
    }

    #[test]
    fn srgb_follows_its_curve_both_ways() {
        // IEC 61966-2-1.
        for n in 0..=10_000 {
            let x = f64::from(n) / 10_000.0;
            let encoded = match x {
                ..=0.003_130_8 => x * 12.92,
                _ => 1.055 * x.powf(1.0 / 2.4) - 0.055,
            };
            let decoded = match x {
                ..=0.040_45 => x / 12.92,
                _ => ((x + 0.055) / 1.055).powf(2.4),
            };
            assert!((linear_to_srgb(x) - encoded).abs() < 1e-12, "{x}");
            assert!((srgb_to_linear(x) - decoded).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn eight_bit_values_worked_out_by_hand() {
        assert_eq!(floats(Format::Rgba8Unorm.decode(&[0, 255, 51, 102])), [0.0, 1.0, 0.2, 0.4]);
        assert_eq!(floats(Format::Bgra8Unorm.decode(&[51, 0, 255, 0])), [1.0, 0.0, 0.2, 0.0]);
        assert_eq!(floats(Format::R8Snorm.decode(&[0x80])), [-1.0, 0.0, 0.0, 1.0]);
        assert_eq!(floats(Format::R8Snorm.decode(&[0x81])), [-1.0, 0.0, 0.0, 1.0]);
        assert_eq!(Format::R8Sint.decode(&[0xFE]), [-2i32 as u32, 0, 0, 1]);
        let srgb = floats(Format::Rgba8UnormSrgb.decode(&[188, 10, 255, 188]));
        assert!((srgb[0] - 0.502_886_5).abs() < 1e-6, "{}", srgb[0]);
        assert!((srgb[1] - 0.003_035_27).abs() < 1e-7);
        assert_eq!(srgb[2], 1.0);
        assert_eq!(srgb[3], 188.0 / 255.0);
    }

    #[test]
    fn packed_values_worked_out_by_hand() {
        // 1.0 is exponent 15: 0x3C0 in 11 bits, 0x1E0 in 10.
        let w: u32 = 0x3C0 | 0x3C0 << 11 | 0x1E0 << 22u32;
        assert_eq!(floats(Format::Rg11b10Ufloat.decode(&w.to_le_bytes())), [1.0; 4]);
        // Exponent 16, mantissa 256 of 512: 256 * 2^(16 - 24) = 1.
        let w: u32 = 256 | 128 << 9 | 16 << 27u32;
        assert_eq!(floats(Format::Rgb9e5Ufloat.decode(&w.to_le_bytes())), [1.0, 0.5, 0.0, 1.0]);
        let w: u32 = 1023 | 3 << 30u32;
        assert_eq!(Format::Rgb10a2Uint.decode(&w.to_le_bytes()), [1023, 0, 0, 3]);
    }

    #[test]
    fn encode_clamps_and_rounds_to_even() {
        let mut b = [0; 4];
        let bits = |v: [f32; 4]| v.map(f32::to_bits);
        Format::Rgba8Unorm.encode(bits([-1.0, 2.0, f32::NAN, 0.5]), &mut b);
        // 0.5 * 255 = 127.5, to even 128.
        assert_eq!(b, [0, 255, 0, 128]);
        Format::Rgba8Snorm.encode(bits([-2.0, 1.0, -0.5, 0.0]), &mut b);
        assert_eq!(b, [0x81, 0x7F, (-64i8) as u8, 0]);
        Format::Rgba8Sint.encode([-300i32 as u32, 300, 5, -5i32 as u32], &mut b);
        assert_eq!(b, [0x80, 0x7F, 5, 0xFB]);
        Format::R16Float.encode(bits([65519.0, 0.0, 0.0, 0.0]), &mut b);
        assert_eq!(&b[..2], &0x7BFFu16.to_le_bytes());
    }

    #[test]
    fn every_texel_value_survives_a_round_trip() {
        for &f in Format::ALL {
            let mut state = 12345u32;
            for n in 0..2000u32 {
                let mut texel = [0u8; 16];
                for b in &mut texel {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    *b = (state >> 24) as u8;
                }
                if f.bytes() <= 2 {
                    texel[..2].copy_from_slice(&(n * 37).to_le_bytes()[..2]);
                }
                let decoded = f.decode(&texel);
                let mut again = [0u8; 16];
                f.encode(decoded, &mut again);
                let back = f.decode(&again);
                for c in 0..4 {
                    let nan = !f.kind().is_integer()
                        && f32::from_bits(decoded[c]).is_nan()
                        && f32::from_bits(back[c]).is_nan();
                    assert!(nan || back[c] == decoded[c], "{} {:?}", f.name(), &texel);
                }
            }
        }
    }

    #[test]
    fn vertex_formats_fill_missing_components() {
        let f = VertexFormat::from_name("float32x3").expect("listed");
        let mut bytes = Vec::new();
        for v in [1.0f32, 2.0, 3.0] {
            bytes.extend(v.to_le_bytes());
        }
        assert_eq!(floats(f.decode(&bytes)), [1.0, 2.0, 3.0, 1.0]);
        assert_eq!(f.bytes(), 12);
        let f = VertexFormat::from_name("sint16x2").expect("listed");
        assert_eq!(f.decode(&[0xFF, 0xFF, 2, 0]), [u32::MAX, 2, 0, 1]);
    }
}

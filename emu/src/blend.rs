//! Fixed-function blending, in f32, each operation rounded by itself.

use crate::format::{Format, Kind};
pub use gpucc_ir::driver::{Blend, BlendComponent, BlendOp, Factor};
use gpucc_ir::driver::{ColorTarget, FragmentState};

/// The colour targets that are bound, by location, with their formats.
pub fn bound(state: &FragmentState) -> impl Iterator<Item = (u32, &ColorTarget, Format)> {
    (0u32..).zip(&state.targets).filter_map(|(number, target)| {
        let target = target.as_ref()?;
        Some((number, target, Format::from_name(&target.format)?))
    })
}

/// What becomes of the bits of a colour and of those that are stored. Vulkan 1.3, Logical Operations.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogicOp {
    /// Bit 2 s + d: the bit that is stored for a bit s of the colour where d was.
    table: u8,
}

/// Names, and the bits that are stored for both, for the colour's alone, for the stored one alone and for neither.
const LOGIC_OPS: [(&str, u8); 16] = [
    ("clear", 0b0000),
    ("and", 0b1000),
    ("and-reverse", 0b0100),
    ("copy", 0b1100),
    ("and-inverted", 0b0010),
    ("no-op", 0b1010),
    ("xor", 0b0110),
    ("or", 0b1110),
    ("nor", 0b0001),
    ("equivalent", 0b1001),
    ("invert", 0b0101),
    ("or-reverse", 0b1101),
    ("copy-inverted", 0b0011),
    ("or-inverted", 0b1011),
    ("nand", 0b0111),
    ("set", 0b1111),
];

impl LogicOp {
    /// The colour replaces what is stored.
    pub const COPY: LogicOp = LogicOp { table: 0b1100 };

    /// By a name like `and-reverse`.
    pub fn from_name(name: &str) -> Option<LogicOp> {
        let (_, table) = LOGIC_OPS.into_iter().find(|(known, _)| *known == name)?;
        Some(LogicOp { table })
    }

    /// Eight bits at once.
    pub fn apply(self, color: u8, stored: u8) -> u8 {
        let places = [!color & !stored, !color & stored, color & !stored, color & stored];
        let taken = places.into_iter().enumerate().filter(|(at, _)| self.table >> at & 1 == 1);
        taken.fold(0, |all, (_, bits)| all | bits)
    }

    /// Whether the bits of a format meet those of a colour: floats and sRGB are replaced.
    pub fn applies_to(format: Format) -> bool {
        matches!(format.kind(), Kind::Uint | Kind::Sint | Kind::Unorm | Kind::Snorm)
    }

    /// Writes a colour to a texel of bytes, of a format that operations apply to; components whose bit of `masked` is set are
    /// kept.
    pub fn store(self, format: Format, color: [u32; 4], masked: u8, texel: &mut [u8]) {
        let bytes = |components| {
            let mut texel = [0u8; 16];
            format.encode(components, &mut texel);
            texel
        };
        let (one, minus_one) = match format.kind() {
            Kind::Uint | Kind::Sint => (u32::MAX, u32::MAX),
            _ => (1f32.to_bits(), (-1f32).to_bits()),
        };
        let only = |value: u32| {
            bytes(
                [0, 1, 2, 3].map(|component| if masked >> component & 1 == 1 { 0 } else { value }),
            )
        };
        // The bits of the components that are written: a signed number has all of its bits in 1 and -1 together.
        let (ones, others) = (only(one), only(minus_one));
        let color = bytes(color);
        for (at, stored) in texel.iter_mut().take(format.bytes() as usize).enumerate() {
            let written = ones[at] | others[at];
            let new = self.apply(color[at], *stored);
            *stored = *stored & !written | new & written;
        }
    }
}

/// Blends four components given as f32 bits.
pub fn blend_texel(
    blend: &Blend,
    src: [u32; 4],
    src1: [u32; 4],
    dst: [u32; 4],
    constant: [f32; 4],
) -> [u32; 4] {
    let [src, src1, dst] = [src, src1, dst].map(|v| v.map(f32::from_bits));
    let mut out = [0; 4];
    for c in 0..4 {
        let part = if c == 3 { blend.alpha } else { blend.color };
        let factor = |f: Factor| match f {
            Factor::Zero => 0.0,
            Factor::One => 1.0,
            Factor::Src => src[c],
            Factor::OneMinusSrc => 1.0 - src[c],
            Factor::SrcAlpha => src[3],
            Factor::OneMinusSrcAlpha => 1.0 - src[3],
            Factor::Dst => dst[c],
            Factor::OneMinusDst => 1.0 - dst[c],
            Factor::DstAlpha => dst[3],
            Factor::OneMinusDstAlpha => 1.0 - dst[3],
            Factor::SrcAlphaSaturated if c == 3 => 1.0,
            Factor::SrcAlphaSaturated => src[3].min(1.0 - dst[3]),
            Factor::Constant => constant[c],
            Factor::OneMinusConstant => 1.0 - constant[c],
            Factor::Src1 => src1[c],
            Factor::OneMinusSrc1 => 1.0 - src1[c],
            Factor::Src1Alpha => src1[3],
            Factor::OneMinusSrc1Alpha => 1.0 - src1[3],
        };
        let (s, d) = (src[c], dst[c]);
        let value = match part.op {
            BlendOp::Add => s * factor(part.src) + d * factor(part.dst),
            BlendOp::Subtract => s * factor(part.src) - d * factor(part.dst),
            BlendOp::ReverseSubtract => d * factor(part.dst) - s * factor(part.src),
            BlendOp::Min => s.min(d),
            BlendOp::Max => s.max(d),
        };
        out[c] = value.to_bits();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_transparent_red_over_blue_is_purple() {
        let bits = |v: [f32; 4]| v.map(f32::to_bits);
        let out = blend_texel(
            &Blend::ALPHA,
            bits([1.0, 0.0, 0.0, 0.5]),
            [0; 4],
            bits([0.0, 0.0, 1.0, 1.0]),
            [0.0; 4],
        );
        assert_eq!(out.map(f32::from_bits), [0.5, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn logic_operations_are_those_of_vulkans_table() {
        type Bits = fn(u8, u8) -> u8;
        // Vulkan 1.3, Logical Operations, with s the colour and d what is stored.
        let all: [(&str, Bits); 16] = [
            ("clear", |_, _| 0),
            ("and", |s, d| s & d),
            ("and-reverse", |s, d| s & !d),
            ("copy", |s, _| s),
            ("and-inverted", |s, d| !s & d),
            ("no-op", |_, d| d),
            ("xor", |s, d| s ^ d),
            ("or", |s, d| s | d),
            ("nor", |s, d| !(s | d)),
            ("equivalent", |s, d| !(s ^ d)),
            ("invert", |_, d| !d),
            ("or-reverse", |s, d| s | !d),
            ("copy-inverted", |s, _| !s),
            ("or-inverted", |s, d| !s | d),
            ("nand", |s, d| !(s & d)),
            ("set", |_, _| 255),
        ];
        for (name, want) in all {
            let op = LogicOp::from_name(name).expect("a name");
            for pair in 0..=u16::MAX {
                let [s, d] = pair.to_le_bytes();
                assert_eq!(op.apply(s, d), want(s, d), "{name} {s} {d}");
            }
        }
        assert_eq!(LogicOp::from_name("copy_inverted"), None);
    }

    #[test]
    fn logic_operations_change_the_bits_of_components_that_are_written() {
        let stored = |name, format, color: [u32; 4], masked, mut texel: [u8; 4]| {
            LogicOp::from_name(name).expect("a name").store(format, color, masked, &mut texel);
            texel
        };
        let half = [0.5f32, 1.0, 0.0, 1.0].map(f32::to_bits);
        let old = [0x0f, 0xf0, 0x3c, 0x80];
        assert_eq!(stored("xor", Format::Rgba8Unorm, half, 0, old), [0x8f, 0x0f, 0x3c, 0x7f]);
        assert_eq!(stored("xor", Format::Rgba8Unorm, half, 0b1001, old), [0x0f, 0x0f, 0x3c, 0x80]);
        // All bits of a signed number, also of -128, which stands for the same as -127.
        assert_eq!(
            stored("invert", Format::Rgba8Snorm, half, 0b0001, old),
            [0x0f, 0x0f, 0xc3, 0x7f]
        );
        assert_eq!(stored("set", Format::Rgba8Sint, [0; 4], 0b1100, old), [0xff, 0xff, 0x3c, 0x80]);
        assert_eq!(
            stored("invert", Format::Rgb10a2Unorm, half, 0b0111, old),
            [0x0f, 0xf0, 0x3c, 0x40]
        );
        assert!(!LogicOp::applies_to(Format::R32Float));
        assert!(!LogicOp::applies_to(Format::Rgba8UnormSrgb));
    }

    #[test]
    fn every_operation_and_the_constant_take_part() {
        let one = |op, src, dst| {
            let part = BlendComponent { op, src, dst };
            let words = [0.25f32; 4].map(f32::to_bits);
            let stored = [0.5f32; 4].map(f32::to_bits);
            let blend = Blend { color: part, alpha: part };
            f32::from_bits(blend_texel(&blend, words, words, stored, [0.125; 4])[0])
        };
        assert_eq!(one(BlendOp::Add, Factor::One, Factor::One), 0.75);
        assert_eq!(one(BlendOp::Subtract, Factor::One, Factor::Constant), 0.1875);
        assert_eq!(one(BlendOp::ReverseSubtract, Factor::Dst, Factor::One), 0.375);
        assert_eq!(one(BlendOp::Min, Factor::Zero, Factor::Zero), 0.25);
        assert_eq!(one(BlendOp::Max, Factor::Zero, Factor::Zero), 0.5);
        assert_eq!(one(BlendOp::Add, Factor::SrcAlphaSaturated, Factor::Zero), 0.0625);
    }
}

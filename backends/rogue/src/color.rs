//! Colours as a program packs them for the formats of their targets, and what the pixel back end is told of them. The forms are
//! those of the public driver. isa/rogue-pipeline.md 2.3, 4.2, 4.6.

use gpucc_emu::blend::bound;
use gpucc_emu::format::{Format, Kind};
use gpucc_ir::driver::State;
use gpucc_ir::ssa::numerics::{half_bits, word_bits};
use gpucc_ir::ssa::{Func, Output, OutputKind, Scalar};

/// The format of packed halves. 2.3.
pub const F16F16: u32 = 14;

/// How the components of a texel become words.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Packed {
    /// By a pack of so many components a word: its format, and whether it normalises.
    Pack(u32, bool, usize),
    /// Integers of so many bits each, clamped to what those hold.
    Integers(&'static [u32], bool),
    /// A word each.
    Words(usize),
}

impl Packed {
    /// How texels of a format are packed as they lie in memory.
    pub fn of(format: Format) -> Option<Packed> {
        use Format::*;
        use Packed::{Integers, Pack, Words};
        Some(match format {
            Rgba8Unorm | Bgra8Unorm => Pack(0, true, 4),
            Rgba8Snorm => Pack(1, true, 4),
            Rg8Unorm => Pack(0, true, 2),
            Rg8Snorm => Pack(1, true, 2),
            R8Unorm => Pack(0, true, 1),
            R8Snorm => Pack(1, true, 1),
            Rgba16Unorm | Rg16Unorm => Pack(3, true, 2),
            Rgba16Snorm | Rg16Snorm => Pack(4, true, 2),
            R16Unorm => Pack(3, true, 1),
            R16Snorm => Pack(4, true, 1),
            Rgb10a2Unorm => Pack(8, true, 4),
            Rg11b10Ufloat => Pack(12, false, 3),
            Rgba16Float | Rg16Float => Pack(F16F16, false, 2),
            R16Float => Pack(F16F16, false, 1),
            Rgba8Uint => Integers(&[8; 4], false),
            Rgba8Sint => Integers(&[8; 4], true),
            Rg8Uint => Integers(&[8; 2], false),
            Rg8Sint => Integers(&[8; 2], true),
            R8Uint => Integers(&[8], false),
            R8Sint => Integers(&[8], true),
            Rgba16Uint | Rg16Uint => Integers(&[16; 2], false),
            Rgba16Sint | Rg16Sint => Integers(&[16; 2], true),
            R16Uint => Integers(&[16], false),
            R16Sint => Integers(&[16], true),
            Rgb10a2Uint => Integers(&[10, 10, 10, 2], false),
            R32Uint | R32Sint | R32Float => Words(1),
            Rg32Uint | Rg32Sint | Rg32Float => Words(2),
            Rgba32Uint | Rgba32Sint | Rgba32Float => Words(4),
            _ => return None,
        })
    }

    /// Components that a word holds.
    pub fn together(self) -> usize {
        match self {
            Packed::Pack(_, _, count) => count,
            Packed::Integers(bits, _) => bits.len(),
            Packed::Words(_) => 1,
        }
    }
}

/// What a target's format makes of a colour: its form in the output registers, and the pixel back end's words. 4.2, 4.6.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    pub packed: Packed,
    /// The pack mode.
    pub mode: u32,
    /// The source holds halves, or normalised integers of 16 bits; else bytes, or words as they are.
    pub halves: bool,
    /// The format is normalised.
    pub normal: bool,
    /// The pixel back end encodes sRGB. The program saturates.
    pub gamma: bool,
    /// Red and blue change places.
    pub swaps: bool,
}

impl Stored {
    /// Of a format that a target may have. The public driver's tables.
    pub fn of(format: Format) -> Option<Stored> {
        use Format::*;
        let mode = match format {
            Rgba8Unorm | Rgba8UnormSrgb | Rgba8Uint | Bgra8Unorm | Bgra8UnormSrgb => 0x00,
            Rgba8Snorm | Rgba8Sint => 0x01,
            Rgba16Unorm | Rgba16Uint => 0x08,
            Rgba16Snorm | Rgba16Sint => 0x09,
            Rgba16Float => 0x0a,
            Rgba32Uint => 0x0b,
            Rgba32Sint => 0x0c,
            Rgba32Float => 0x0d,
            Rgb10a2Unorm => 0x0e,
            Rg11b10Ufloat => 0x1d,
            Rg8Unorm | Rg8Uint => 0x23,
            Rg8Snorm | Rg8Sint => 0x24,
            Rg16Unorm | Rg16Uint => 0x25,
            Rg16Snorm | Rg16Sint => 0x26,
            Rg16Float => 0x27,
            Rg32Uint => 0x28,
            Rg32Sint => 0x29,
            Rg32Float => 0x2a,
            R8Unorm | R8Uint => 0x2f,
            R8Snorm | R8Sint => 0x30,
            R16Unorm | R16Uint => 0x31,
            R16Snorm | R16Sint => 0x32,
            R16Float => 0x33,
            // Nothing converts the fields of this one: they are a word.
            R32Uint | Rgb10a2Uint => 0x34,
            R32Sint => 0x35,
            R32Float => 0x36,
            _ => return None,
        };
        let gamma = format.kind() == Kind::Srgb;
        let converted = gamma || matches!(format, Rgb10a2Unorm | Rg11b10Ufloat);
        let packed = if converted { Packed::Pack(F16F16, false, 2) } else { Packed::of(format)? };
        // Packs of halves and of normalised integers of 16 bits. 2.3.
        let halves = matches!(packed, Packed::Pack(3 | 4 | F16F16, ..));
        let normal = matches!(format.kind(), Kind::Unorm | Kind::Snorm | Kind::Srgb);
        let swaps = matches!(format, Bgra8Unorm | Bgra8UnormSrgb);
        Some(Stored { packed, mode, halves, normal, gamma, swaps })
    }

    /// Words of a colour of so many components.
    pub fn words(self, components: u32) -> u16 {
        components.div_ceil(self.packed.together() as u32) as u16
    }
}

/// A colour that the program packs for its target.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Color {
    pub output: Output,
    pub location: u32,
    pub format: Format,
    pub stored: Stored,
}

impl Color {
    /// Output registers that it takes.
    pub fn words(&self) -> u16 {
        self.stored.words(self.format.components())
    }

    /// What a colour is behind its target: words of the output before and after.
    pub fn kept(&self, half: bool, words: [u32; 4]) -> [u32; 4] {
        let mut values = if half { words.map(word_bits) } else { words };
        if matches!(self.stored.packed, Packed::Pack(F16F16, ..)) {
            values = values.map(|value| word_bits(half_bits(value)));
        }
        let mut texel = [0; 16];
        self.format.encode(values, &mut texel);
        let kept = self.format.decode(&texel);
        if half { kept.map(half_bits) } else { kept }
    }
}

/// The colours that a program packs, by location. None of them where alpha makes coverage, a bound target blends, keeps some of its components or gets none,
/// or where they do not fit in so many output registers: then all colours are words.
pub fn colors(func: &Func, pipeline: &State, registers: u16) -> Vec<Color> {
    packed(func, pipeline, registers).unwrap_or_default()
}

fn packed(func: &Func, pipeline: &State, registers: u16) -> Option<Vec<Color>> {
    let fragment = pipeline.fragment.as_ref()?;
    // Coverage comes from the whole alpha, which a packed colour may lack.
    if fragment.alpha_to_coverage {
        return None;
    }
    let mut colors = Vec::new();
    for (location, target, format) in bound(fragment) {
        let stored = Stored::of(format)?;
        let all = (1 << format.components()) - 1;
        if target.blend.is_some() || target.write_mask & all != all {
            return None;
        }
        let (output, data) = func.outputs.iter().find(|(_, data)| {
            matches!(data.kind, OutputKind::Location { location: of, blend_src: 0, .. } if of == location)
        })?;
        let float = matches!(data.scalar, Scalar::F32 | Scalar::F16);
        if u32::from(data.components) < format.components() || float == format.kind().is_integer() {
            return None;
        }
        colors.push(Color { output, location, format, stored });
    }
    let words: u32 = func
        .outputs
        .iter()
        .map(|(output, data)| match data.kind {
            OutputKind::Location { .. } => u32::from(words_of(&colors, output, data.components)),
            OutputKind::Builtin(_) => 0,
        })
        .sum();
    (words <= registers.into()).then_some(colors)
}

/// Output registers of a colour that may be packed.
pub fn words_of(colors: &[Color], output: Output, components: u8) -> u16 {
    let color = colors.iter().find(|color| color.output == output);
    color.map_or(u16::from(components), Color::words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_of_a_target_has_a_form_of_its_own() {
        let mut seen = Vec::new();
        for &format in Format::ALL {
            let Some(stored) = Stored::of(format) else {
                assert!(!format.renders(), "{format:?}");
                continue;
            };
            assert!(format.renders(), "{format:?}");
            let Stored { mode, halves, normal, gamma, swaps, .. } = stored;
            seen.push((mode, halves, normal, gamma, swaps));
            // Halves of a converted format are not as wide as its texels.
            let words = stored.words(format.components());
            let converted = gamma || matches!(mode, 0x0e | 0x1d);
            let wanted = if converted { 2 } else { format.bytes().div_ceil(4) };
            assert_eq!(u32::from(words), wanted, "{format:?}");
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        // A word of integers of 10 and 2 bits is any word.
        assert_eq!(seen.len(), count - 1);
    }
}

//! Blend descriptors of a fragment program's colour targets, where the pipeline says what they are. XML, Blend; the codes of
//! the tile buffer's formats and what needs a blend shader are what public drivers take (docs/abi-valhall.md, Descriptors).

use super::{Descriptor, pixel_format, width};
use crate::limits;
use gpucc_emu::blend::bound;
use gpucc_emu::format::{Format, Kind};
use gpucc_ir::driver::{
    Blend, BlendComponent, BlendOp, ColorTarget, Factor, Failure, FragmentState,
};

/// How a colour goes into its target. XML, Blend Mode.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A program of the driver's blends.
    Shader = 0,
    /// The colour replaces what the tile holds.
    Opaque = 1,
    /// The unit blends.
    FixedFunction = 2,
    /// Nothing is written.
    Off = 3,
}

/// What the tile buffer holds in one of its own formats, which the unit blends; other formats lie there as they are.
const TILE_RGBA8: u32 = 237;
const TILE_RGB10A2: u32 = 238;

/// The conversion word of a target's colours.
fn conversion(format: Format) -> u32 {
    let srgb = u32::from(format.kind() == Kind::Srgb) << 20;
    match tile_format(format) {
        Some(code) => code << 12 | srgb,
        None => pixel_format(format).0,
    }
}

fn tile_format(format: Format) -> Option<u32> {
    match format {
        Format::R8Unorm
        | Format::Rg8Unorm
        | Format::Rgba8Unorm
        | Format::Rgba8UnormSrgb
        | Format::Bgra8Unorm
        | Format::Bgra8UnormSrgb => Some(TILE_RGBA8),
        Format::Rgb10a2Unorm => Some(TILE_RGB10A2),
        _ => None,
    }
}

/// The components that a format has and a mask writes.
fn written(format: Format, mask: u8) -> u32 {
    let all = ColorTarget::ALL >> (4 - format.components());
    if mask & all == all { u32::from(ColorTarget::ALL) } else { u32::from(mask & all) }
}

/// How the unit treats a target.
pub fn mode(target: &ColorTarget, format: Format) -> Mode {
    let mask = written(format, target.write_mask);
    let replaces = target.blend.is_none_or(|blend| blend == Blend::default());
    if mask == 0 {
        Mode::Off
    } else if replaces && mask == u32::from(ColorTarget::ALL) {
        Mode::Opaque
    } else if tile_format(format).is_some()
        && target
            .blend
            .is_none_or(|blend| equation(blend.color).is_some() && equation(blend.alpha).is_some())
    {
        Mode::FixedFunction
    } else {
        Mode::Shader
    }
}

/// Operand A: XML, Blend Operand A.
const A_ZERO: u32 = 1;
const A_SOURCE: u32 = 2;
const A_DESTINATION: u32 = 3;
/// Operand B. XML, Blend Operand B.
const B_SOURCE_MINUS_DESTINATION: u32 = 0;
const B_SOURCE_PLUS_DESTINATION: u32 = 1;
const B_SOURCE: u32 = 2;
const B_DESTINATION: u32 = 3;
/// Operand C. XML, Blend Operand C.
const C_ZERO: u32 = 1;
/// Source + source * 0.
const REPLACE: u32 = A_SOURCE | B_SOURCE << 4 | C_ZERO << 8;

/// `±a ± b * c` of the unit, as twelve bits: a in 1:0, its sign in 3, b in 5:4, its sign in 7, c in 10:8, 1 - c in 11.
/// `None` for what has no such form.
fn equation(part: BlendComponent) -> Option<u32> {
    const NEGATE_A: u32 = 1 << 3;
    const NEGATE_B: u32 = 1 << 7;
    let BlendComponent { op, src, dst } = part;
    let (minus_source, minus_destination) = match op {
        BlendOp::Add => (false, false),
        BlendOp::Subtract => (false, true),
        BlendOp::ReverseSubtract => (true, false),
        BlendOp::Min | BlendOp::Max => return None,
    };
    let signed = |negative: bool, bit: u32| if negative { bit } else { 0 };
    let source = |a: u32| a | signed(minus_source, NEGATE_A);
    let destination = |a: u32| a | signed(minus_destination, NEGATE_A);
    let scaled_source = B_SOURCE << 4 | signed(minus_source, NEGATE_B);
    let scaled_destination = B_DESTINATION << 4 | signed(minus_destination, NEGATE_B);
    Some(match (src, dst) {
        (Factor::Zero, _) => A_ZERO | scaled_destination | operand_c(dst)?,
        (_, Factor::Zero) => A_ZERO | scaled_source | operand_c(src)?,
        (Factor::One, _) => source(A_SOURCE) | scaled_destination | operand_c(dst)?,
        (_, Factor::One) => destination(A_DESTINATION) | scaled_source | operand_c(src)?,
        // One factor of both: (±s ± d) * c.
        _ if src == dst => {
            let (b, negative) = match op {
                BlendOp::Add => (B_SOURCE_PLUS_DESTINATION, false),
                BlendOp::Subtract => (B_SOURCE_MINUS_DESTINATION, false),
                _ => (B_SOURCE_MINUS_DESTINATION, true),
            };
            A_ZERO | b << 4 | signed(negative, NEGATE_B) | operand_c(src)?
        }
        // s * c ± d * (1 - c) is ±d + (s ∓ d) * c.
        _ if src.inverse() == Some(dst) => {
            let (b, negative) = match op {
                BlendOp::Add => (B_SOURCE_MINUS_DESTINATION, false),
                BlendOp::Subtract => (B_SOURCE_PLUS_DESTINATION, false),
                _ => (B_SOURCE_PLUS_DESTINATION, true),
            };
            destination(A_DESTINATION) | b << 4 | signed(negative, NEGATE_B) | operand_c(src)?
        }
        _ => return None,
    })
}

/// Operand C and whether it is taken from 1.
fn operand_c(factor: Factor) -> Option<u32> {
    let (plain, inverted) = match factor {
        Factor::One
        | Factor::OneMinusSrc
        | Factor::OneMinusDst
        | Factor::OneMinusSrcAlpha
        | Factor::OneMinusDstAlpha
        | Factor::OneMinusConstant => (factor.inverse()?, true),
        plain => (plain, false),
    };
    let code = match plain {
        Factor::Zero => C_ZERO,
        Factor::Src => 2,
        Factor::Dst => 3,
        Factor::SrcAlpha => 5,
        Factor::DstAlpha => 6,
        Factor::Constant => 7,
        _ => return None,
    };
    Some(code << 8 | u32::from(inverted) << 11)
}

/// What a mask or an equation keeps of the destination.
fn reads_destination(target: &ColorTarget, format: Format) -> bool {
    let part = |part: BlendComponent| {
        let reads = |factor| {
            use Factor::{Dst, DstAlpha, OneMinusDst, OneMinusDstAlpha, SrcAlphaSaturated};
            matches!(factor, Dst | OneMinusDst | DstAlpha | OneMinusDstAlpha | SrcAlphaSaturated)
        };
        matches!(part.op, BlendOp::Min | BlendOp::Max)
            || part.dst != Factor::Zero
            || reads(part.src)
    };
    let mask = written(format, target.write_mask);
    mask != u32::from(ColorTarget::ALL) && mask != 0
        || target.blend.is_some_and(|blend| part(blend.color) || part(blend.alpha))
}

/// The four words of a target's descriptor. The constant of w0 and a blend shader's address in w2 and w3 are the driver's.
pub fn blend(number: u32, target: &ColorTarget, format: Format) -> [u32; 4] {
    let mode = mode(target, format);
    if mode == Mode::Off {
        return [0, 0, Mode::Off as u32 | number << 16, 0];
    }
    let Blend { color, alpha } = target.blend.unwrap_or_default();
    let [color, alpha] = [color, alpha].map(|part| match mode {
        Mode::FixedFunction if part != BlendComponent::default() => {
            equation(part).unwrap_or(REPLACE)
        }
        _ => REPLACE,
    });
    let flags = u32::from(reads_destination(target, format))
        | 1 << 9
        | u32::from(format.kind() == Kind::Srgb) << 10
        // Round to the target's precision.
        | 1 << 11;
    let equation = color | alpha << 12 | written(format, target.write_mask) << 28;
    match mode {
        Mode::Shader => [flags, equation, Mode::Shader as u32, 0],
        // Conversions are right with four components alone.
        _ => [flags, equation, mode as u32 | 3 << 3 | number << 16, conversion(format)],
    }
}

/// Names of the descriptors in the state.
pub(crate) const NAMES: [&str; 8] =
    ["Blend 0", "Blend 1", "Blend 2", "Blend 3", "Blend 4", "Blend 5", "Blend 6", "Blend 7"];

/// The descriptor as the state has it.
pub(super) fn descriptor(number: u32, target: &ColorTarget, format: Format) -> Descriptor {
    let words = blend(number, target, format);
    let shader = words[2] & 3 == Mode::Shader as u32;
    let field = |name, word: usize, low: u32| (name, word, low, words[word] >> low);
    let mut fields = vec![
        field("Load Destination", 0, 0),
        field("Alpha To One", 0, 8),
        field("Enable", 0, 9),
        field("sRGB", 0, 10),
        field("Round to FB precision", 0, 11),
        field("RGB", 1, 0),
        field("Alpha", 1, 12),
        field("Color Mask", 1, 28),
        field("Mode", 2, 0),
    ];
    if !shader {
        fields.extend([field("Num Comps", 2, 3), field("RT", 2, 16), field("Memory Format", 3, 0)]);
    }
    for (name, _, _, value) in &mut fields {
        *value &= u32::MAX >> (32 - width(name));
    }
    super::descriptor(NAMES[number as usize & 7], 4, &fields)
}

/// Whether hidden pixels behind those of a draw need not be drawn: all components of every bound target are replaced.
/// errata 136.
pub fn replaces_all(state: &FragmentState, written: u32) -> bool {
    !state.alpha_to_coverage
        && bound(state).all(|(number, target, format)| {
            written >> number & 1 == 1 && mode(target, format) == Mode::Opaque
        })
}

/// Whether the machine draws to these targets.
///
/// # Errors
/// [`Failure::Limit`] for too many samples or targets.
pub fn admit(state: &FragmentState) -> Result<(), Failure> {
    limits::SAMPLES.admit(state.samples.unwrap_or(1))?;
    limits::COLOR_TARGETS.admit(state.targets.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(format: Format, write_mask: u8, blend: Option<Blend>) -> (ColorTarget, Format) {
        (ColorTarget { format: format.name().to_owned(), write_mask, blend }, format)
    }

    fn words(number: u32, (target, format): (ColorTarget, Format)) -> [u32; 4] {
        blend(number, &target, format)
    }

    #[test]
    fn targets_worked_out_by_hand() {
        // Enabled and rounded; source + source * 0; opaque, four components; RGBA8 of the tile.
        let opaque = words(0, target(Format::Rgba8Unorm, 15, None));
        assert_eq!(opaque, [0xa00, 0xf012_2122, 0x19, 237 << 12]);
        let srgb = words(3, target(Format::Bgra8UnormSrgb, 15, None));
        assert_eq!(srgb, [0xe00, 0xf012_2122, 0x3_0019, 1 << 20 | 237 << 12]);
        // What is masked is loaded, and the unit keeps it.
        assert_eq!(words(0, target(Format::Rg8Unorm, 1, None))[0..3], [0xa01, 0x1012_2122, 0x1a]);
        // A format that the tile has no form of its own for takes a blend shader where something is kept.
        assert_eq!(words(0, target(Format::Rgba16Float, 7, None))[2..], [0, 0]);
        assert_eq!(words(1, target(Format::Rgba16Float, 15, None))[2..], [0x1_0019, 223 << 12]);
        // One component is all that it has.
        assert_eq!(words(0, target(Format::R32Uint, 1, None))[1], 0xf012_2122);
        assert_eq!(words(2, target(Format::R32Uint, 0, None)), [0, 0, 0x2_0003, 0]);
    }

    #[test]
    fn the_unit_blends_what_the_equation_says() {
        use Factor::{
            Constant, Dst, DstAlpha, One, OneMinusConstant, OneMinusDst, OneMinusDstAlpha,
            OneMinusSrc, OneMinusSrcAlpha, Src, SrcAlpha, Zero,
        };
        // One component: source and destination, alphas and the constant are numbers apart.
        let (s, d, sa, da, k) = (0.25f64, 0.75, 0.5, 0.125, 0.0625);
        let value = |factor| match factor {
            Zero => 0.0,
            One => 1.0,
            Src => s,
            OneMinusSrc => 1.0 - s,
            Dst => d,
            OneMinusDst => 1.0 - d,
            SrcAlpha => sa,
            OneMinusSrcAlpha => 1.0 - sa,
            DstAlpha => da,
            OneMinusDstAlpha => 1.0 - da,
            Constant => k,
            _ => 1.0 - k,
        };
        let unit = |bits: u32| {
            let sign = |bit: u32| if bits >> bit & 1 == 1 { -1.0 } else { 1.0 };
            let a = [f64::NAN, 0.0, s, d][(bits & 3) as usize] * sign(3);
            let b = [s - d, s + d, s, d][(bits >> 4 & 3) as usize] * sign(7);
            let c = [f64::NAN, 0.0, s, d, 2.0 * s, sa, da, k][(bits >> 8 & 7) as usize];
            a + b * if bits >> 11 & 1 == 1 { 1.0 - c } else { c }
        };
        let factors = [
            Zero,
            One,
            Src,
            OneMinusSrc,
            Dst,
            OneMinusDst,
            SrcAlpha,
            OneMinusSrcAlpha,
            DstAlpha,
            OneMinusDstAlpha,
            Constant,
            OneMinusConstant,
        ];
        let mut forms = 0;
        for op in [BlendOp::Add, BlendOp::Subtract, BlendOp::ReverseSubtract] {
            for src in factors {
                for dst in factors {
                    let (left, right) = (s * value(src), d * value(dst));
                    let wanted = match op {
                        BlendOp::Add => left + right,
                        BlendOp::Subtract => left - right,
                        _ => right - left,
                    };
                    if let Some(bits) = equation(BlendComponent { op, src, dst }) {
                        assert_eq!(unit(bits), wanted, "{op:?} {src:?} {dst:?} {bits:#x}");
                        forms += 1;
                    }
                }
            }
        }
        // Of 144 pairs: 44 with a 0 or a 1, 10 of one factor, 10 of a factor and what it leaves of 1.
        assert_eq!(forms, 3 * 64);
        let part = BlendComponent { op: BlendOp::Add, src: SrcAlpha, dst: DstAlpha };
        assert_eq!(equation(part), None);
        assert_eq!(equation(BlendComponent { op: BlendOp::Min, src: One, dst: One }), None);
    }

    #[test]
    fn a_second_source_and_saturated_alpha_need_a_blend_shader() {
        for factor in [Factor::Src1, Factor::OneMinusSrc1Alpha, Factor::SrcAlphaSaturated] {
            let part = BlendComponent { op: BlendOp::Add, src: factor, dst: Factor::One };
            let blend = Some(Blend { color: part, alpha: part });
            let (target, format) = target(Format::Rgba8Unorm, 15, blend);
            assert_eq!(mode(&target, format), Mode::Shader);
        }
    }
}

//! Fixed-function state of a pixel program's targets, where the pipeline says what they are: formats, write masks, blending,
//! samples. Register guide 9, 10 and 15; DB_ALPHA_TO_MASK is not in the guide, and follows public drivers.

use super::{Field, register};
use crate::api::{Chip, Family, StateRegister};
use crate::limits;
use crate::refuse::{self, Refusal};
use gpucc_emu::blend::bound;
use gpucc_emu::format::{Format, Kind};
use gpucc_ir::driver::{Blend, BlendComponent, BlendOp, Factor, Failure, FragmentState};

/// What the rest of the state takes from the targets.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Whether every bound target takes exports of 16 bits a component; `None` where nobody says what is bound.
    pub short_exports: Option<bool>,
    /// Samples of a pixel, where somebody says so.
    pub samples: Option<u32>,
}

impl Facts {
    /// What the pipeline says.
    pub fn of(state: Option<&FragmentState>) -> Facts {
        let Some(state) = state else {
            return Facts::default();
        };
        let mut formats = bound(state).map(|(_, _, format)| format);
        let some = bound(state).next().is_some();
        Facts { short_exports: Some(some && formats.all(short_exports)), samples: state.samples }
    }
}

/// Whether the chip draws to these targets.
///
/// # Errors
/// [`Failure::Limit`] for too many samples or targets, [`Failure::Refused`] for what the chip draws wrongly or hangs on.
pub fn admit(state: &FragmentState, chip: Chip) -> Result<(), Failure> {
    let samples = state.samples.unwrap_or(1);
    limits::SAMPLES.admit(samples)?;
    limits::COLOR_TARGETS.admit(state.targets.len() as u64)?;
    let mut blends = bound(state).filter_map(|(_, target, _)| target.blend);
    if chip == Chip::R600
        && let Some(first) = blends.next()
        && blends.any(|blend| blend != first)
    {
        return Err(refuse::pipeline(Refusal::BlendOfTarget, chip.family()));
    }
    if samples > 1 {
        for (.., format) in bound(state) {
            if format.kind().is_integer() {
                return Err(refuse::pipeline(Refusal::IntegerSamples, chip.family()));
            }
            if chip.family() == Family::R600 && format == Format::Rg11b10Ufloat {
                return Err(refuse::pipeline(Refusal::PackedSamples, chip.family()));
            }
        }
    }
    Ok(())
}

/// The fields of CB_TARGET_MASK.
pub const ENABLES: [&str; 8] = [
    "TARGET0_ENABLE",
    "TARGET1_ENABLE",
    "TARGET2_ENABLE",
    "TARGET3_ENABLE",
    "TARGET4_ENABLE",
    "TARGET5_ENABLE",
    "TARGET6_ENABLE",
    "TARGET7_ENABLE",
];

/// The registers. `written` has the components that the program exports to each target.
pub fn registers(
    state: &FragmentState,
    chip: Chip,
    written: &[u32; 8],
    list: &mut Vec<StateRegister>,
) {
    let mut masks = [0; 8];
    let mut blended = 0;
    for (number, target, format) in bound(state) {
        // An enabled target whose export never comes may hang the chip (errata 38).
        if written[number as usize] != 0 {
            masks[number as usize] = u32::from(target.write_mask);
        }
        list.push(register(
            format!("CB_COLOR{number}_INFO"),
            0x280A0 + 4 * number,
            &color_info(format),
        ));
        if let Some(blend) = &target.blend {
            blended |= 1 << number;
            if chip == Chip::R600 {
                list.push(register("CB_BLEND_CONTROL", 0x28804, &blend_control(blend)));
            } else {
                let name = format!("CB_BLEND{number}_CONTROL");
                list.push(register(name, 0x28780 + 4 * number, &blend_control(blend)));
            }
        }
    }
    // The one equation of all targets is written once.
    list.dedup_by(|later, earlier| later.address == earlier.address);
    let enables: Vec<Field> =
        (0u32..).zip(ENABLES).map(|(n, name)| (name, 4 * n, masks[n as usize])).collect();
    list.push(register("CB_TARGET_MASK", 0x28238, &enables));
    let own = u32::from(chip != Chip::R600);
    list.push(register(
        "CB_COLOR_CONTROL",
        0x28808,
        &[
            ("FOG_ENABLE", 0, 0),
            ("MULTIWRITE_ENABLE", 1, 0),
            ("DITHER_ENABLE", 2, 0),
            ("DEGAMMA_ENABLE", 3, 0),
            ("SPECIAL_OP", 4, 0),
            ("PER_MRT_BLEND", 7, own),
            ("TARGET_BLEND_ENABLE", 8, blended),
            // The source as it is.
            ("ROP3", 16, 0xCC),
        ],
    ));
    let alpha = u32::from(state.alpha_to_coverage);
    list.push(register(
        "DB_ALPHA_TO_MASK",
        0x28D44,
        &[
            ("ALPHA_TO_MASK_ENABLE", 0, alpha),
            ("ALPHA_TO_MASK_OFFSET0", 8, 2),
            ("ALPHA_TO_MASK_OFFSET1", 10, 2),
            ("ALPHA_TO_MASK_OFFSET2", 12, 2),
            ("ALPHA_TO_MASK_OFFSET3", 14, 2),
        ],
    ));
    if let Some(samples) = state.samples {
        list.push(register(
            "PA_SC_AA_CONFIG",
            0x28C04,
            &[("MSAA_NUM_SAMPLES", 0, samples.trailing_zeros())],
        ));
    }
    let depth = state.depth_stencil.as_deref().map_or(0, depth_format);
    list.push(register("DB_DEPTH_INFO", 0x28010, &[("FORMAT", 0, depth)]));
}

/// DB_DEPTH_INFO.FORMAT. There is no stencil alone.
fn depth_format(name: &str) -> u32 {
    match name {
        "depth16unorm" => 1,
        "depth24plus" => 2,
        "depth32float" => 6,
        "depth32float-stencil8" => 7,
        // stencil8 and depth24plus-stencil8
        _ => 3,
    }
}

/// CB_COLORn_INFO.FORMAT.
fn color_format(format: Format) -> u32 {
    match format {
        Format::Rgb10a2Uint | Format::Rgb10a2Unorm => 25,
        Format::Rg11b10Ufloat => 22,
        Format::Bgra8Unorm | Format::Bgra8UnormSrgb => 26,
        _ => {
            let bits = 8 * format.bytes() / format.components();
            let float = u32::from(format.kind() == Kind::Float);
            match (format.components(), bits) {
                (1, 8) => 1,
                (2, 8) => 7,
                (4, 8) => 26,
                (1, 16) => 5 + float,
                (2, 16) => 15 + float,
                (4, 16) => 31 + float,
                (1, 32) => 13 + float,
                (2, 32) => 29 + float,
                (4, 32) => 34 + float,
                _ => 0,
            }
        }
    }
}

/// Bits of the widest component.
fn widest(format: Format) -> u32 {
    match format {
        Format::Rgb10a2Uint | Format::Rgb10a2Unorm => 10,
        Format::Rg11b10Ufloat => 11,
        _ => 8 * format.bytes() / format.components(),
    }
}

fn normalised(format: Format) -> bool {
    matches!(format.kind(), Kind::Unorm | Kind::Snorm | Kind::Srgb)
}

/// Exports of 16 bits a component hold what the format holds: normalised components of at most 11 bits. Public drivers
/// take 16-bit floats too on R700; those lose what lies below 2^-15 (guide, SOURCE_FORMAT).
fn short_exports(format: Format) -> bool {
    normalised(format) && widest(format) <= 11
}

/// The fields of CB_COLORn_INFO that a format decides. ARRAY_MODE and tiles are the surface's.
fn color_info(format: Format) -> Vec<Field> {
    let (kind, wide) = (format.kind(), widest(format));
    let number = match kind {
        Kind::Unorm => 0,
        Kind::Snorm => 1,
        Kind::Uscaled => 2,
        Kind::Sscaled => 3,
        Kind::Uint => 4,
        Kind::Sint => 5,
        Kind::Srgb => 6,
        Kind::Float | Kind::UFloat => 7,
    };
    let reversed = matches!(format, Format::Bgra8Unorm | Format::Bgra8UnormSrgb);
    let precise = !kind.is_integer() && wide > if normalised(format) { 12 } else { 16 };
    vec![
        ("ENDIAN", 0, 0),
        ("FORMAT", 2, color_format(format)),
        ("NUMBER_TYPE", 12, number),
        ("COMP_SWAP", 16, u32::from(reversed)),
        ("BLEND_CLAMP", 20, u32::from(normalised(format))),
        ("BLEND_BYPASS", 22, u32::from(kind.is_integer())),
        ("BLEND_FLOAT32", 23, u32::from(precise)),
        // Public drivers multiply so that 0 times anything is 0.
        ("SIMPLE_FLOAT", 24, 1),
        ("SOURCE_FORMAT", 27, u32::from(short_exports(format))),
    ]
}

fn blend_control(blend: &Blend) -> Vec<Field> {
    let [color, alpha] = [blend.color, blend.alpha].map(|part: BlendComponent| {
        let op = match part.op {
            BlendOp::Add => 0,
            BlendOp::Subtract => 1,
            BlendOp::Min => 2,
            BlendOp::Max => 3,
            BlendOp::ReverseSubtract => 4,
        };
        [factor(part.src), op, factor(part.dst)]
    });
    vec![
        ("COLOR_SRCBLEND", 0, color[0]),
        ("COLOR_COMB_FCN", 5, color[1]),
        ("COLOR_DESTBLEND", 8, color[2]),
        ("OPACITY_WEIGHT", 13, 0),
        ("ALPHA_SRCBLEND", 16, alpha[0]),
        ("ALPHA_COMB_FCN", 21, alpha[1]),
        ("ALPHA_DESTBLEND", 24, alpha[2]),
        ("SEPARATE_ALPHA_BLEND", 29, u32::from(color != alpha)),
    ]
}

fn factor(factor: Factor) -> u32 {
    match factor {
        Factor::Zero => 0,
        Factor::One => 1,
        Factor::Src => 2,
        Factor::OneMinusSrc => 3,
        Factor::SrcAlpha => 4,
        Factor::OneMinusSrcAlpha => 5,
        Factor::DstAlpha => 6,
        Factor::OneMinusDstAlpha => 7,
        Factor::Dst => 8,
        Factor::OneMinusDst => 9,
        Factor::SrcAlphaSaturated => 10,
        Factor::Constant => 13,
        Factor::OneMinusConstant => 14,
        Factor::Src1 => 15,
        Factor::OneMinusSrc1 => 16,
        Factor::Src1Alpha => 17,
        Factor::OneMinusSrc1Alpha => 18,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::driver::ColorTarget;

    fn info(format: Format) -> u32 {
        let register = register("CB_COLOR0_INFO", 0x280A0, &color_info(format));
        assert_eq!(register.mask, 0x09d3_70ff, "{format:?}");
        register.value
    }

    #[test]
    fn formats_worked_out_by_hand() {
        // COLOR_8_8_8_8, UNORM, clamped, short exports; blue first; sRGB; sint: bypassed.
        assert_eq!(info(Format::Rgba8Unorm), 0x0910_0068);
        assert_eq!(info(Format::Bgra8Unorm), 0x0911_0068);
        assert_eq!(info(Format::Rgba8UnormSrgb), 0x0910_6068);
        assert_eq!(info(Format::Rgba8Sint), 0x0140_5068);
        // COLOR_32_32_32_32_FLOAT blends in 32 bits, COLOR_16_16_16_16_FLOAT does not.
        assert_eq!(info(Format::Rgba32Float), 0x0180_708c);
        assert_eq!(info(Format::Rgba16Float), 0x0100_7080);
        assert_eq!(info(Format::R16Unorm), 0x0190_0014);
        assert_eq!(info(Format::Rgb10a2Unorm), 0x0910_0064);
    }

    #[test]
    fn every_format_of_a_target_has_a_code_of_its_own() {
        let formats = Format::ALL.iter().copied().filter(|format| format.renders());
        let codes: std::collections::BTreeSet<u32> = formats.clone().map(info).collect();
        assert_eq!(codes.len(), formats.count());
        assert!(!codes.iter().any(|info| info >> 2 & 63 == 0));
    }

    #[test]
    fn an_equation_worked_out_by_hand() {
        // SRC_ALPHA, ADD, ONE_MINUS_SRC_ALPHA; ONE, ADD, ONE_MINUS_SRC_ALPHA; separate.
        let fields = blend_control(&Blend::ALPHA);
        let control = register("CB_BLEND0_CONTROL", 0x28780, &fields);
        assert_eq!((control.value, control.mask), (0x2501_0504, 0x3fff_3fff));
    }

    #[test]
    fn every_field_is_as_wide_as_the_guide_has_it() {
        let target = ColorTarget {
            format: "rgba8unorm".to_owned(),
            write_mask: ColorTarget::ALL,
            blend: Some(Blend::ALPHA),
        };
        let state = FragmentState {
            targets: vec![Some(target); 8],
            depth_stencil: Some("depth32float-stencil8".to_owned()),
            samples: Some(8),
            alpha_to_coverage: true,
            ..FragmentState::default()
        };
        let mut list = Vec::new();
        registers(&state, Chip::Rv770, &[15; 8], &mut list);
        let mask = |name: &str| {
            let found = list.iter().find(|register| register.name == name).expect("programmed");
            assert_eq!(found.value & !found.mask, 0, "{name}");
            found.mask
        };
        assert_eq!(mask("CB_TARGET_MASK"), u32::MAX);
        assert_eq!(mask("CB_COLOR_CONTROL"), 0x00ff_ffff);
        assert_eq!(mask("DB_ALPHA_TO_MASK"), 0xff01);
        assert_eq!(mask("PA_SC_AA_CONFIG"), 3);
        assert_eq!(mask("DB_DEPTH_INFO"), 7);
    }
}

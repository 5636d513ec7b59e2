//! Colour and depth targets of a pipeline as the chip's words. isa/gen4-pipeline.md 1.2, 1.5.

use crate::describe::{COLOR, surface_state};
use crate::isa::Machine;
use crate::limits;
use crate::refuse::{self, Table};
use gpucc_emu::blend::bound;
use gpucc_emu::format::Format;
use gpucc_ir::driver::{Blend, BlendComponent, BlendOp, Factor, Failure, FragmentState};
use gpucc_machine::Named;
use gpucc_machine::described::Setting;

/// 3DSTATE_DEPTH_BUFFER. isa/gen4-pipeline.md 1.4.
pub const DEPTH_BUFFER: &str = "3DSTATE_DEPTH_BUFFER";
/// SURFTYPE_2D, at its place.
pub const PLANE: u32 = 1 << 29;
/// Rows of tiles go down (tile walk Y), and the surface has tiles.
pub const TILES: u32 = 3 << 26;

/// Whether a colour format is blended. isa/gen4-pipeline.md 1.5.
pub fn blends(format: Format, machine: Machine) -> bool {
    use Format::*;
    match format {
        Rgba32Float | Rgba16Float | Rg32Float | R32Float | Rg16Float | R16Float => true,
        Bgra8Unorm | Bgra8UnormSrgb | Rgba8Unorm | Rgba8UnormSrgb | Rgb10a2Unorm => true,
        Rg11b10Ufloat | Rg8Unorm | R8Unorm => true,
        Rgba16Unorm | Rg16Unorm | R16Unorm => machine == Machine::G45,
        _ => false,
    }
}

/// The code of a surface's format. isa/gen4-pipeline.md 1.5.
pub fn surface_code(format: Format) -> Option<u32> {
    use Format::*;
    Some(match format {
        Rgba32Float => 0x000,
        Rgba32Sint => 0x001,
        Rgba32Uint => 0x002,
        Rgba16Unorm => 0x080,
        Rgba16Snorm => 0x081,
        Rgba16Sint => 0x082,
        Rgba16Uint => 0x083,
        Rgba16Float => 0x084,
        Rg32Float => 0x085,
        Rg32Sint => 0x086,
        Rg32Uint => 0x087,
        Bgra8Unorm => 0x0c0,
        Bgra8UnormSrgb => 0x0c1,
        Rgb10a2Unorm => 0x0c2,
        Rgb10a2Uint => 0x0c4,
        Rgba8Unorm => 0x0c7,
        Rgba8UnormSrgb => 0x0c8,
        Rgba8Snorm => 0x0c9,
        Rgba8Sint => 0x0ca,
        Rgba8Uint => 0x0cb,
        Rg16Unorm => 0x0cc,
        Rg16Snorm => 0x0cd,
        Rg16Sint => 0x0ce,
        Rg16Uint => 0x0cf,
        Rg16Float => 0x0d0,
        Rg11b10Ufloat => 0x0d3,
        R32Sint => 0x0d6,
        R32Uint => 0x0d7,
        R32Float | Depth32Float => 0x0d8,
        Depth24Plus => 0x0d9,
        Rgb9e5Ufloat => 0x0ed,
        Rg8Unorm => 0x106,
        Rg8Snorm => 0x107,
        Rg8Sint => 0x108,
        Rg8Uint => 0x109,
        R16Unorm | Depth16Unorm => 0x10a,
        R16Snorm => 0x10b,
        R16Sint => 0x10c,
        R16Uint => 0x10d,
        R16Float => 0x10e,
        R8Unorm => 0x140,
        R8Snorm => 0x141,
        R8Sint => 0x142,
        R8Uint => 0x143,
        _ => return None,
    })
}

/// The code of a format that can be rendered to.
pub fn color_code(format: Format) -> Option<u32> {
    surface_code(format).filter(|_| format.renders())
}

/// The code of a depth buffer's format.
pub fn depth_code(format: Format) -> Option<u32> {
    match format {
        Format::Depth32FloatStencil8 => Some(0),
        Format::Depth32Float => Some(1),
        Format::Depth24PlusStencil8 | Format::Stencil8 => Some(2),
        Format::Depth24Plus => Some(3),
        Format::Depth16Unorm => Some(5),
        _ => None,
    }
}

/// d0 of a colour target's surface: its type and format, whether it is blended, and the components that are written (bit 0 red).
pub fn surface_word(code: u32, blended: bool, written: u8) -> u32 {
    let masked = |component: u8, bit: u32| u32::from(!written >> component & 1) << bit;
    let masks = masked(0, 16) | masked(1, 15) | masked(2, 14) | masked(3, 17);
    PLANE | code << 18 | u32::from(blended) << 13 | masks
}

/// d3, d5 and d6 of COLOR_CALC_STATE. What is blended is clamped to the range of its target's format before and behind, the
/// constant too.
pub fn equations(blend: Option<&Blend>) -> [u32; 3] {
    let Some(blend) = blend else { return [0; 3] };
    let part = |of: BlendComponent| (function(of.op), factor(of.src), factor(of.dst));
    let (op, src, dst) = part(blend.alpha);
    let alpha = op << 12 | src << 7 | dst << 2;
    let (op, src, dst) = part(blend.color);
    [3 << 12, alpha, op << 29 | src << 24 | dst << 19 | 2 << 2 | 3]
}

fn function(of: BlendOp) -> u32 {
    match of {
        BlendOp::Add => 0,
        BlendOp::Subtract => 1,
        BlendOp::ReverseSubtract => 2,
        BlendOp::Min => 3,
        BlendOp::Max => 4,
    }
}

fn factor(of: Factor) -> u32 {
    match of {
        Factor::One => 1,
        Factor::Src => 2,
        Factor::SrcAlpha => 3,
        Factor::DstAlpha => 4,
        Factor::Dst => 5,
        Factor::SrcAlphaSaturated => 6,
        Factor::Constant => 7,
        Factor::Src1 => 9,
        Factor::Src1Alpha => 10,
        Factor::Zero => 17,
        Factor::OneMinusSrc => 18,
        Factor::OneMinusSrcAlpha => 19,
        Factor::OneMinusDstAlpha => 20,
        Factor::OneMinusDst => 21,
        Factor::OneMinusConstant => 23,
        Factor::OneMinusSrc1 => 25,
        Factor::OneMinusSrc1Alpha => 26,
    }
}

/// Checks what a pipeline asks of the chip's targets.
///
/// # Errors
/// [`Failure::Refused`] for what the chip lacks; [`Failure::Limit`] for too many targets or samples.
pub fn admit(
    state: &FragmentState,
    machine: Machine,
    (name, table): (&'static str, Table),
) -> Result<(), Failure> {
    let refused = |feature| Err(refuse::pipeline(feature, name, table));
    limits::COLOR_TARGETS.admit(state.targets.len() as u64)?;
    if state.samples.unwrap_or(1) > 1 {
        return refused(refuse::SAMPLES);
    }
    let mut first = None;
    for (_, target, format) in bound(state) {
        let Some(blend) = &target.blend else { continue };
        if !blends(format, machine) {
            return refused(refuse::BLENDED_FORMAT);
        }
        if *first.get_or_insert(blend) != blend {
            return refused(refuse::EQUATIONS);
        }
    }
    Ok(())
}

/// What the pipeline says of the targets, and the program of depth and stencil where it computes depth: depth is tested and written,
/// so that the payload has the stored depth and target writes have both (isa/gen4.md 2.2, key 14).
pub fn described(state: Option<&FragmentState>, computes_depth: bool) -> Named<Setting> {
    let mut told: Named<Setting> = Named::default();
    let mut blend = None;
    for (number, target, format) in state.into_iter().flat_map(bound) {
        let Some(code) = color_code(format) else { continue };
        let blended = target.blend.is_some();
        let word = surface_word(code, blended, target.write_mask);
        blend = blend.or(target.blend.as_ref());
        let fields = [
            ("surface type", 1),
            ("surface format", code),
            ("color blend enable", blended.into()),
            ("write disables", word >> 14 & 15),
        ];
        told.set(surface_state(number), setting(vec![word], vec![0xe7ff_e000], &fields));
    }
    if let Some(color) = calculator(blend, state.is_some(), computes_depth) {
        told.set(COLOR, color);
    }
    let depth = state.and_then(|state| state.depth_stencil.as_deref());
    if let Some(code) = depth.and_then(Format::from_name).and_then(depth_code) {
        let fields = [("surface type", 1), ("surface format", code)];
        let words = vec![0, PLANE | TILES | code << 18];
        told.set(DEPTH_BUFFER, setting(words, vec![0, 0xec1c_0000], &fields));
    }
    told
}

/// The colour calculator, where anything is known of it.
fn calculator(blend: Option<&Blend>, of_pipeline: bool, computes_depth: bool) -> Option<Setting> {
    const TEST_AND_WRITE: u32 = 1 << 15 | 1 << 11;
    let (mut words, mut mask, mut fields) = ([0; 7], [0; 7], Vec::new());
    if computes_depth {
        (words[2], mask[0], mask[2]) = (TEST_AND_WRITE, 1 << 31, TEST_AND_WRITE);
        fields.extend([("depth test", 1), ("depth write", 1), ("stencil test", 0)]);
    }
    if of_pipeline {
        [words[3], words[5], words[6]] = equations(blend);
        mask[3] = 3 << 12;
        fields.push(("color blend enable", words[3] >> 12 & 1));
    }
    if blend.is_some() {
        (mask[5], mask[6]) = (0x7ffc, 0xfff8_000f);
        fields.extend([
            ("color function", words[6] >> 29),
            ("color source factor", words[6] >> 24 & 31),
            ("color destination factor", words[6] >> 19 & 31),
            ("alpha function", words[5] >> 12 & 7),
            ("alpha source factor", words[5] >> 7 & 31),
            ("alpha destination factor", words[5] >> 2 & 31),
        ]);
    }
    let known = mask.iter().rposition(|&mask| mask != 0)?;
    Some(setting(words[..=known].to_vec(), mask[..=known].to_vec(), &fields))
}

fn setting(words: Vec<u32>, mask: Vec<u32>, fields: &[(&'static str, u32)]) -> Setting {
    Setting::Descriptor { words, mask, fields: fields.iter().copied().collect() }
}

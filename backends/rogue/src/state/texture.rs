//! Textures and samplers: what of the words of their state follows from the program. isa/rogue-pipeline.md 4.4, 4.5.

use super::block::Block;
use crate::abi::{Abi, COMPARISON, GATHERER, LAYER_BYTES, STATE_WORDS, TEXTURE_WORDS};
use crate::words::texture::{image0, sampler0, sampler1};
use gpucc_emu::format::{Format, Kind};
use gpucc_ir::ssa::{Dim, Func, ResourceKind};
use gpucc_isa::FieldId;
use gpucc_machine::Named;
use gpucc_machine::described::Setting;

/// The descriptor of a texture or of a sampler, by its first shared register. Elements of an array have one each, all
/// alike.
pub const TEXTURE: &str = "TEXTURE_STATE";
pub const SAMPLER: &str = "SAMPLER_STATE";
/// The state of the sampler that takes texels by their numbers.
pub const TEXEL_SAMPLER_STATE: &str = "TEXEL_SAMPLER_STATE";

/// Sources of swizzles.
const ONE: u32 = 4;
const NONE: u32 = 5;
/// The type of textures whose rows follow each other.
const STRIDE: u32 = 4;
/// The mode of an address that takes borders' colours, the last level, and no bias.
const BORDER: u32 = 4;
const LAST_LEVEL: u32 = 959;
const NO_BIAS: u32 = 4095;
const LINEAR: u32 = 1;

/// The code of a format. 4.5.
pub fn code(format: Format) -> Option<u32> {
    use Format::*;
    Some(match format {
        R8Unorm | R8Uint | Stencil8 => 0,
        R8Snorm | R8Sint => 1,
        Rg8Unorm | Rg8Uint => 7,
        Rg8Snorm | Rg8Sint => 8,
        R16Unorm | R16Uint | Depth16Unorm => 9,
        R16Snorm | R16Sint => 10,
        R16Float => 11,
        Rgba8Unorm | Rgba8UnormSrgb | Rgba8Uint | Bgra8Unorm | Bgra8UnormSrgb => 12,
        Rgba8Snorm | Rgba8Sint => 13,
        Rgb10a2Unorm | Rgb10a2Uint => 14,
        Rg16Unorm | Rg16Uint => 15,
        Rg16Snorm | Rg16Sint => 16,
        Rg16Float => 17,
        R32Float | Depth32Float => 18,
        Depth24Plus => 21,
        Depth24PlusStencil8 => 22,
        R32Uint => 24,
        R32Sint => 25,
        Rgb9e5Ufloat => 26,
        Rgba16Float => 28,
        Rgba16Unorm | Rgba16Uint => 29,
        Rgba16Snorm | Rgba16Sint => 30,
        Rg32Float => 34,
        Rg32Uint => 35,
        Rg32Sint => 36,
        Rgba32Float => 61,
        Rgba32Uint => 62,
        Rgba32Sint => 63,
        Rg11b10Ufloat => 88,
        _ => return None,
    })
}

/// Where each component of a result comes from.
pub fn swizzle(format: Format) -> [u32; 4] {
    if matches!(format, Format::Bgra8Unorm | Format::Bgra8UnormSrgb) {
        return [2, 1, 0, 3];
    }
    let there = format.components();
    [0, 1, 2, 3].map(|at| match at {
        at if at < there => at,
        3 => ONE,
        _ => NONE,
    })
}

/// The type of a texture. 4.5.
pub fn texture_type(dim: Dim, rows: bool) -> u32 {
    match dim {
        _ if rows => STRIDE,
        Dim::D1 => 0,
        Dim::D2 => 1,
        Dim::D3 => 2,
        Dim::Cube => 3,
    }
}

/// Whether the texels of a storage texture are rows one after the other: planes with atomic operations.
pub fn is_rows(kind: &ResourceKind) -> bool {
    let ResourceKind::StorageTexture { dim, access, .. } = kind else { return false };
    access.atomic && *dim == Dim::D2
}

/// The words of every texture and sampler.
pub fn words(func: &Func, abi: &Abi, state: &mut Named<Setting>) {
    for (resource, data) in &func.resources {
        let Some(first) = abi.descriptors[resource] else { continue };
        match data.kind {
            ResourceKind::Texture { dim, .. } => {
                state.set(format!("{TEXTURE} {first}"), texture(dim, false, None));
            }
            ResourceKind::StorageTexture { dim, format, .. } => {
                let format = Format::from_name(format.0);
                let told = texture(dim, is_rows(&data.kind), format);
                state.set(format!("{TEXTURE} {first}"), told);
            }
            ResourceKind::Sampler { .. } => {
                state.set(format!("{SAMPLER} {first}"), sampler());
            }
            _ => {}
        }
    }
    if abi.texels.is_some() {
        state.set(TEXEL_SAMPLER_STATE, texel_sampler());
    }
}

/// The descriptor of a texture: its type, and of storage textures their format. 4.4.
fn texture(dim: Dim, rows: bool, format: Option<Format>) -> Setting {
    let mut word = image0::word().with(image0::TEXTYPE, texture_type(dim, rows));
    let mut theirs = vec![image0::SMPCNT, image0::HEIGHT, image0::WIDTH, image0::MINLOD];
    let known = format.and_then(|format| Some((format, code(format)?)));
    match known {
        Some((format, code)) => {
            let [red, green, blue, alpha] = swizzle(format);
            word = word
                .with(image0::FORMAT, code)
                .with(image0::SWIZ0, red)
                .with(image0::SWIZ1, green)
                .with(image0::SWIZ2, blue)
                .with(image0::SWIZ3, alpha)
                .with(image0::GAMMA, (format.kind() == Kind::Srgb).into());
        }
        None => theirs.extend([
            image0::FORMAT,
            image0::SWIZ0,
            image0::SWIZ1,
            image0::SWIZ2,
            image0::SWIZ3,
            image0::GAMMA,
        ]),
    }
    let mut block = Block::default();
    block.word("image", word, &theirs);
    // The second word depends on the texture alone; then the layers and the place.
    block.driver(usize::from(LAYER_BYTES) - 2 + usize::from(TEXTURE_WORDS - LAYER_BYTES));
    block.setting()
}

/// What a driver fills into a sampler.
const WRAPS: [FieldId; 4] =
    [sampler0::ADDRMODE_U, sampler0::ADDRMODE_V, sampler0::ADDRMODE_W, sampler0::BORDER_INDEX];

/// The descriptor of a sampler: comparisons are made behind the lookup, coordinates are normalised, texels are of one plane;
/// then the sampler that gathers, which filters on level 0. 4.4.
fn sampler() -> Setting {
    let mut theirs = WRAPS.to_vec();
    theirs.extend([
        sampler0::LUMAKEY_ALPHA,
        sampler0::LUMAKEY,
        sampler0::MIPFILTER,
        sampler0::MINFILTER,
        sampler0::MAGFILTER,
        sampler0::ANISOCTL,
        sampler0::MAXLOD,
        sampler0::MINLOD,
        sampler0::DADJUST,
    ]);
    let mut block = Block::default();
    block.word("sampler", sampler0::word(), &theirs);
    block.word("second", sampler1::word(), &[]);
    // What it compares by.
    block.driver(1);
    for _ in COMPARISON + 1..GATHERER {
        block.fixed(0);
    }
    let gatherer = sampler0::word()
        .with(sampler0::MINFILTER, LINEAR)
        .with(sampler0::MAGFILTER, LINEAR)
        .with(sampler0::DADJUST, NO_BIAS);
    block.word("gatherer", gatherer, &WRAPS);
    block.word("gatherer second", sampler1::word(), &[]);
    block.setting()
}

/// The sampler that takes texels by their numbers, all of it: what is beyond a texture has the colour 0 of borders, which is
/// zeros.
fn texel_sampler() -> Setting {
    let word = sampler0::word()
        .with(sampler0::ADDRMODE_U, BORDER)
        .with(sampler0::ADDRMODE_V, BORDER)
        .with(sampler0::ADDRMODE_W, BORDER)
        .with(sampler0::MAXLOD, LAST_LEVEL)
        .with(sampler0::DADJUST, NO_BIAS);
    let mut block = Block::default();
    block.word("sampler", word, &[]);
    block.word("second", sampler1::word(), &[]);
    debug_assert_eq!(block.len(), u32::from(STATE_WORDS));
    block.setting()
}

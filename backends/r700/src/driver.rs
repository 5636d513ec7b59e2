//! What a driver writes to draw with a pair of programs: the programs' own registers with their addresses in memory, constant
//! buffers, resource and sampler constants from descriptions of buffers, textures and samplers, and the fixed-function
//! registers of a draw. Register guide 1, 3, 6 to 9; isa/r700.md 4.
//!
//! Addresses are byte addresses in the machine's memory. Textures are linear; a row takes a multiple of 8 texels, the base
//! level stands at BASE_ADDRESS and the others one after the other at MIP_ADDRESS.

mod stream;

use crate::Compiled;
pub use crate::abi::SamplerUse;
use crate::api::StateRegister;
use gpucc_emu::draw::Topology;
use gpucc_emu::format::{Format, Kind};
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_ir::ssa::{Dim, Resource, Stage};
use gpucc_machine::described::{AttributePlace, Setting};
use std::collections::BTreeMap;
pub use stream::draw_stream;

/// Bytes at an address.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub size: u32,
}

/// A texture in memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Texel format.
    pub format: Format,
    /// Size and kind.
    pub extent: Extent,
    /// It is an array, whatever its number of layers.
    pub arrayed: bool,
    /// First byte of level 0: a multiple of 256.
    pub base: u64,
    /// First byte of level 1: a multiple of 256.
    pub mips: u64,
}

/// Where everything stands that a program uses.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The program: a multiple of 256.
    pub code: u64,
    /// The fetch program: a multiple of 256.
    pub fetch_code: u64,
    /// Uniform and storage buffers and immediates.
    pub buffers: BTreeMap<Resource, Range>,
    /// Textures.
    pub textures: BTreeMap<Resource, Texture>,
    /// Samplers.
    pub samplers: BTreeMap<Resource, Sampler>,
    /// Vertex buffers by the pipeline's numbers.
    pub vertex_buffers: Vec<Range>,
    /// The driver's constants.
    pub driver_constants: Range,
    /// The program's tables.
    pub tables: Range,
    /// A dword of zeros: what buffers without bytes show.
    pub zero: u64,
    /// The scatter aperture; storage buffers stand inside.
    pub aperture: Range,
}

/// Why a description has no words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undescribable {
    /// No DATA_FORMAT reads it.
    #[error("no texture format of the machine reads {0}")]
    Format(&'static str),
    /// A field is too narrow.
    #[error("{what} is {value}, the field holds {most} at most")]
    TooLarge {
        /// What.
        what: &'static str,
        /// Wanted.
        value: u64,
        /// Possible.
        most: u64,
    },
}

/// A field of a word: name, lowest bit, width, value.
type Part = (&'static str, u32, u32, u32);

fn word(name: String, address: u32, parts: &[Part]) -> Result<StateRegister, Undescribable> {
    let (mut value, mut mask) = (0, 0);
    let mut fields = Vec::with_capacity(parts.len());
    for &(field, low, width, part) in parts {
        let most = u64::from(u32::MAX >> (32 - width));
        if u64::from(part) > most {
            return Err(Undescribable::TooLarge { what: field, value: part.into(), most });
        }
        value |= part << low;
        mask |= (most as u32) << low;
        fields.push((field.into(), part));
    }
    Ok(StateRegister { name: name.into(), address, value, mask, fields })
}

/// DATA_FORMAT, NUM_FORMAT_ALL, FORMAT_COMP, FORCE_DEGAMMA and DST_SEL of a texture format. Guide 7, R700 ISA 10.3.
fn texture_format(format: Format) -> Option<(u32, u32, u32, u32, [u32; 4])> {
    let (data, components): (u32, usize) = match format {
        Format::R8Unorm | Format::R8Snorm | Format::R8Uint | Format::R8Sint | Format::Stencil8 => {
            (1, 1)
        }
        Format::R16Unorm
        | Format::R16Snorm
        | Format::R16Uint
        | Format::R16Sint
        | Format::Depth16Unorm => (5, 1),
        Format::R16Float => (6, 1),
        Format::Rg8Unorm | Format::Rg8Snorm | Format::Rg8Uint | Format::Rg8Sint => (7, 2),
        Format::R32Uint | Format::R32Sint => (13, 1),
        Format::R32Float | Format::Depth32Float => (14, 1),
        Format::Rg16Unorm | Format::Rg16Snorm | Format::Rg16Uint | Format::Rg16Sint => (15, 2),
        Format::Rg16Float => (16, 2),
        Format::Rg11b10Ufloat => (24, 3),
        Format::Rgb10a2Uint | Format::Rgb10a2Unorm => (25, 4),
        Format::Rgba8Unorm
        | Format::Rgba8UnormSrgb
        | Format::Rgba8Snorm
        | Format::Rgba8Uint
        | Format::Rgba8Sint
        | Format::Bgra8Unorm
        | Format::Bgra8UnormSrgb => (26, 4),
        Format::Rg32Uint | Format::Rg32Sint => (29, 2),
        Format::Rg32Float => (30, 2),
        Format::Rgba16Unorm | Format::Rgba16Snorm | Format::Rgba16Uint | Format::Rgba16Sint => {
            (31, 4)
        }
        Format::Rgba16Float => (32, 4),
        Format::Rgba32Uint | Format::Rgba32Sint => (34, 4),
        Format::Rgba32Float => (35, 4),
        Format::Rgb9e5Ufloat => (43, 3),
        Format::Depth24Plus | Format::Depth24PlusStencil8 | Format::Depth32FloatStencil8 => {
            return None;
        }
    };
    let (number, signed, degamma) = match format.kind() {
        Kind::Unorm | Kind::UFloat => (0, 0, 0),
        Kind::Snorm | Kind::Float => (0, 1, 0),
        Kind::Srgb => (0, 0, 1),
        Kind::Uint => (1, 0, 0),
        Kind::Sint => (1, 1, 0),
        Kind::Uscaled => (2, 0, 0),
        Kind::Sscaled => (2, 1, 0),
    };
    let mut select = [4, 4, 4, 5];
    for (component, select) in select.iter_mut().enumerate().take(components) {
        *select = component as u32;
    }
    if matches!(format, Format::Bgra8Unorm | Format::Bgra8UnormSrgb) {
        select = [2, 1, 0, 3];
    }
    Some((data, number, signed, degamma, select))
}

/// Texels from one row to the next.
pub fn pitch(width: u32) -> u32 {
    width.next_multiple_of(8)
}

/// Texels of a level: width, height, slices.
fn level(extent: &Extent, level: u32) -> [u32; 3] {
    let half = |n: u32| (n >> level).max(1);
    let slices =
        if extent.dim == Dim::D3 { half(extent.depth) } else { extent.layers * extent.samples };
    let height = if extent.dim == Dim::D1 { 1 } else { half(extent.height) };
    [half(extent.width), height, slices]
}

/// An image as it lies in memory: level 0, and the other levels.
pub fn texture_bytes(image: &Image) -> [Vec<u8>; 2] {
    let texel = image.format().bytes() as usize;
    let mut parts = [Vec::new(), Vec::new()];
    for number in 0..image.extent().levels {
        let [width, ..] = level(image.extent(), number);
        let out = &mut parts[usize::from(number > 0)];
        for row in image.level_bytes(number).chunks(width as usize * texel) {
            out.extend_from_slice(row);
            out.resize(out.len() + (pitch(width) - width) as usize * texel, 0);
        }
    }
    parts
}

/// The seven words of a texture's resource constant. Guide 7.
///
/// # Errors
/// A format that the machine does not read, a size that its field does not hold.
pub fn texture_words(t: &Texture, id: u32) -> Result<Vec<StateRegister>, Undescribable> {
    let Some((data, number, signed, degamma, select)) = texture_format(t.format) else {
        return Err(Undescribable::Format(t.format.name()));
    };
    let e = &t.extent;
    let dim = match (e.dim, t.arrayed, e.samples > 1) {
        (Dim::D1, false, _) => 0,
        (Dim::D1, true, _) => 4,
        (Dim::D2, false, false) => 1,
        (Dim::D2, true, false) => 5,
        (Dim::D2, false, true) => 6,
        (Dim::D2, true, true) => 7,
        (Dim::D3, ..) => 2,
        (Dim::Cube, ..) => 3,
    };
    let depth = match e.dim {
        Dim::D3 => e.depth,
        Dim::Cube => e.layers / 6,
        Dim::D1 | Dim::D2 => e.layers,
    };
    // The samples of a texture stand in LAST_LEVEL, as a power of two.
    let last_level = if e.samples > 1 { e.samples.trailing_zeros() } else { e.levels - 1 };
    let at = |n: u32| (format!("SQ_TEX_RESOURCE_WORD{n}_{id}"), 0x38000 + 28 * id + 4 * n);
    let [w0, w1, w2, w3, w4, w5, w6] = [0, 1, 2, 3, 4, 5, 6].map(at);
    let [x, y, z, w] = select;
    Ok(vec![
        word(
            w0.0,
            w0.1,
            &[
                ("DIM", 0, 3, dim),
                ("TILE_MODE", 3, 4, 0),
                ("PITCH", 8, 11, pitch(e.width) / 8 - 1),
                ("TEX_WIDTH", 19, 13, e.width - 1),
            ],
        )?,
        word(
            w1.0,
            w1.1,
            &[
                ("TEX_HEIGHT", 0, 13, e.height - 1),
                ("TEX_DEPTH", 13, 13, depth - 1),
                ("DATA_FORMAT", 26, 6, data),
            ],
        )?,
        word(w2.0, w2.1, &[("BASE_ADDRESS", 0, 32, (t.base >> 8) as u32)])?,
        word(w3.0, w3.1, &[("MIP_ADDRESS", 0, 32, (t.mips >> 8) as u32)])?,
        word(
            w4.0,
            w4.1,
            &[
                ("FORMAT_COMP_X", 0, 2, signed),
                ("FORMAT_COMP_Y", 2, 2, signed),
                ("FORMAT_COMP_Z", 4, 2, signed),
                ("FORMAT_COMP_W", 6, 2, signed),
                ("NUM_FORMAT_ALL", 8, 2, number),
                ("SRF_MODE_ALL", 10, 1, 0),
                ("FORCE_DEGAMMA", 11, 1, degamma),
                ("DST_SEL_X", 16, 3, x),
                ("DST_SEL_Y", 19, 3, y),
                ("DST_SEL_Z", 22, 3, z),
                ("DST_SEL_W", 25, 3, w),
                ("BASE_LEVEL", 28, 4, 0),
            ],
        )?,
        word(
            w5.0,
            w5.1,
            &[
                ("LAST_LEVEL", 0, 4, last_level),
                ("BASE_ARRAY", 4, 13, 0),
                ("LAST_ARRAY", 17, 13, depth - 1),
            ],
        )?,
        word(w6.0, w6.1, &[("TYPE", 30, 2, 2)])?,
    ])
}

/// The seven words of a buffer's resource constant; fetches bring their own format. Guide 6.
///
/// # Errors
/// A stride that its field does not hold.
pub fn buffer_words(
    range: Range,
    stride: u32,
    id: u32,
) -> Result<Vec<StateRegister>, Undescribable> {
    let at = |n: u32| (format!("SQ_VTX_CONSTANT_WORD{n}_{id}"), 0x38000 + 28 * id + 4 * n);
    let [w0, w1, w2, w3, w6] = [0, 1, 2, 3, 6].map(at);
    Ok(vec![
        word(w0.0, w0.1, &[("BASE_ADDRESS", 0, 32, range.address as u32)])?,
        word(
            w1.0,
            w1.1,
            // SIZE is the last byte, of a whole dword: a load of 16 bits reads the dword around them. No bytes at all
            // cannot be said.
            &[("SIZE", 0, 32, range.size.saturating_sub(1) | 3)],
        )?,
        word(
            w2.0,
            w2.1,
            &[
                ("BASE_ADDRESS_HI", 0, 8, (range.address >> 32) as u32),
                ("STRIDE", 8, 11, stride),
                ("CLAMP_X", 19, 1, 0),
            ],
        )?,
        word(w3.0, w3.1, &[("MEM_REQUEST_SIZE", 0, 2, 1)])?,
        // Of the four types kernels let textures and buffers through alone.
        word(w6.0, w6.1, &[("TYPE", 30, 2, 3)])?,
    ])
}

/// The three words of a sampler constant for one use of it, and its border colour. Guide 8. `borders` is the stage's first
/// border register.
///
/// # Errors
/// None today: levels and bias are clamped to what their fields hold.
pub fn sampler_words(
    s: &Sampler,
    id: u32,
    borders: u32,
    of: SamplerUse,
) -> Result<Vec<StateRegister>, Undescribable> {
    let s = if of.texels { &s.of_texels() } else { s };
    let clamp = |wrap: Wrap| match wrap {
        Wrap::Repeat => 0,
        Wrap::Mirror => 1,
        Wrap::Clamp => 2,
        Wrap::MirrorOnce => 3,
        Wrap::Border => 6,
        Wrap::MirrorOnceBorder => 7,
    };
    let filter = |filter: Filter| u32::from(filter == Filter::Linear);
    let mip = match s.mip {
        MipFilter::None => 0,
        MipFilter::Nearest => 1,
        MipFilter::Linear => 2,
    };
    let compare = match s.compare {
        None | Some(Compare::Never) => 0,
        Some(Compare::Less) => 1,
        Some(Compare::Equal) => 2,
        Some(Compare::LessEqual) => 3,
        Some(Compare::Greater) => 4,
        Some(Compare::NotEqual) => 5,
        Some(Compare::GreaterEqual) => 6,
        Some(Compare::Always) => 7,
    };
    // Levels have six bits of fraction, the bias a sign above that.
    let level = |v: f32| (v.clamp(0.0, 15.984_375) * 64.0).round() as u32;
    let bias = (s.lod_bias.clamp(-16.0, 15.98) * 64.0).round() as i32 as u32 & 0xFFF;
    let one = 1f32.to_bits();
    let border = match s.border {
        [0, 0, 0, 0] => 0,
        [0, 0, 0, w] if w == one => 1,
        all if all == [one; 4] => 2,
        _ => 3,
    };
    let name = |n: u32| format!("SQ_TEX_SAMPLER_WORD{n}_{id}");
    let at = 0x3C000 + 12 * id;
    let [x, y, z] = s.wrap.map(clamp);
    let mut words = vec![
        word(
            name(0),
            at,
            &[
                ("CLAMP_X", 0, 3, x),
                ("CLAMP_Y", 3, 3, y),
                ("CLAMP_Z", 6, 3, z),
                ("XY_MAG_FILTER", 9, 3, filter(s.mag)),
                ("XY_MIN_FILTER", 12, 3, filter(s.min)),
                // As x and y.
                ("Z_FILTER", 15, 2, 0),
                ("MIP_FILTER", 17, 2, mip),
                ("BORDER_COLOR_TYPE", 22, 2, border),
                // Layers are not filtered.
                ("TEX_ARRAY_OVERRIDE", 25, 1, of.layered.into()),
                ("DEPTH_COMPARE_FUNCTION", 26, 3, compare),
            ],
        )?,
        word(
            name(1),
            at + 4,
            &[
                ("MIN_LOD", 0, 10, level(s.lod_min)),
                ("MAX_LOD", 10, 10, level(s.lod_max)),
                ("LOD_BIAS", 20, 12, bias),
            ],
        )?,
        word(
            name(2),
            at + 8,
            &[("SAMPLE_IS_PCF", 27, 1, s.compare.is_some().into()), ("TYPE", 31, 1, 1)],
        )?,
    ];
    if border == 3 {
        let local = id % 18;
        let stage = if borders == 0xA400 { "PS" } else { "VS" };
        let channels = ["BORDER_RED", "BORDER_GREEN", "BORDER_BLUE", "BORDER_ALPHA"];
        for (n, (channel, value)) in channels.into_iter().zip(s.border).enumerate() {
            words.push(word(
                format!("TD_{stage}_SAMPLER{local}_{channel}"),
                borders + 16 * local + 4 * n as u32,
                &[(channel, 0, 32, value)],
            )?);
        }
    }
    Ok(words)
}

/// Everything that a driver writes for one program of a pair: its own registers with addresses, constant buffers,
/// resources, samplers and the scatter aperture.
///
/// # Errors
/// What a description cannot say.
pub fn program_block(
    compiled: &Compiled,
    placement: &Placement,
) -> Result<Vec<StateRegister>, Undescribable> {
    let pixel = compiled.expanded.stage == Stage::Fragment;
    let described = &compiled.described;
    let mut block = Vec::new();
    for (name, setting) in &described.state {
        let Setting::Register { address, value, mask, fields } = setting else {
            continue;
        };
        let mut register = StateRegister {
            name: name.clone(),
            address: *address,
            value: *value,
            mask: *mask,
            fields: fields.0.clone(),
        };
        let at = match &*register.name {
            "SQ_PGM_START_PS" | "SQ_PGM_START_VS" => Some(placement.code),
            "SQ_PGM_START_FS" => Some(placement.fetch_code),
            _ => None,
        };
        if let Some(at) = at {
            register.value = (at >> 8) as u32;
            register.fields = vec![("PGM_START".into(), register.value)];
        }
        block.push(register);
    }
    // Resources and samplers of a stage stand behind those of the stages before it: isa/r700.md 4.5.
    let (suffix, sizes, caches, resources, samplers, borders) = if pixel {
        ("PS", 0x28140, 0x28940, 0, 0, 0xA400)
    } else {
        ("VS", 0x28180, 0x28980, 160, 18, 0xA600)
    };
    let shown = |range: Range| match range.size {
        0 => Range { address: placement.zero, size: 4 },
        _ => range,
    };
    let mut buffers = [Range::default(); 16];
    buffers[15] = placement.driver_constants;
    for binding in &described.resources {
        let Some(resource) = binding.resource else {
            continue;
        };
        let range = placement.buffers.get(&resource).copied().unwrap_or_default();
        if let Some(buffer) = binding.place("kcache") {
            buffers[buffer as usize] = range;
        }
        if let Some(id) = binding.place("resource") {
            block.extend(match placement.textures.get(&resource) {
                Some(texture) => texture_words(texture, resources + id)?,
                // An index of a buffer counts dwords. abi-r700: Bindings.
                None => buffer_words(shown(range), 4, resources + id)?,
            });
        }
        for (of, place) in SamplerUse::ALL {
            if let (Some(id), Some(sampler)) =
                (binding.place(place), placement.samplers.get(&resource))
            {
                block.extend(sampler_words(sampler, samplers + id, borders, of)?);
            }
        }
    }
    if let Some(tables) = &described.tables {
        let words =
            buffer_words(shown(placement.tables), tables.stride, resources + tables.resource)?;
        block.extend(words);
    }
    for input in &described.inputs {
        if let Some(fetch) = &input.attribute
            && let AttributePlace::Resource { resource } = fetch.place
        {
            let buffer = (resource - 160) as usize;
            let range = placement.vertex_buffers.get(buffer).copied().unwrap_or_default();
            block.extend(buffer_words(shown(range), fetch.stride, resources + resource)?);
        }
    }
    // Unused sizes are 0, so that nothing is preloaded.
    for (n, range) in (0u32..).zip(buffers) {
        block.push(word(
            format!("SQ_ALU_CONST_BUFFER_SIZE_{suffix}_{n}"),
            sizes + 4 * n,
            &[("DATA", 0, 9, range.size.div_ceil(256))],
        )?);
        block.push(word(
            format!("SQ_ALU_CONST_CACHE_{suffix}_{n}"),
            caches + 4 * n,
            &[("DATA", 0, 32, (range.address >> 8) as u32)],
        )?);
    }
    let aperture = placement.aperture;
    block.push(word(
        "SX_MEMORY_EXPORT_BASE".into(),
        0x9010,
        &[("ADDRESS", 0, 32, (aperture.address >> 8) as u32)],
    )?);
    block.push(word("SX_MEMORY_EXPORT_SIZE".into(), 0x9014, &[("SIZE", 0, 32, aperture.size)])?);
    block.sort_by_key(|register| register.address);
    block.dedup_by_key(|register| register.address);
    Ok(block)
}

/// The fixed-function registers of a draw that what the programs mean depends on. Guide 1, 2.
pub fn draw_block(
    topology: Topology,
    width: u32,
    height: u32,
    depth: Option<Compare>,
) -> Vec<StateRegister> {
    let float = |field: &'static str, address: u32, value: f32| StateRegister {
        name: format!("PA_CL_{field}_0").into(),
        address,
        value: value.to_bits(),
        mask: u32::MAX,
        fields: vec![(field.into(), value.to_bits())],
    };
    let fields = |name: &str, address: u32, parts: &[Part]| {
        word(name.into(), address, parts).expect("constants fit their fields")
    };
    let (w, h) = (width as f32, height as f32);
    let zfunc = depth.map_or(7, |compare| compare as u32);
    vec![
        fields(
            "VGT_PRIMITIVE_TYPE",
            0x8958,
            &[(
                "PRIM_TYPE",
                0,
                6,
                match topology {
                    Topology::PointList => 1,
                    Topology::LineList => 2,
                    Topology::TriangleList => 4,
                    Topology::TriangleStrip => 6,
                    Topology::LineStrip => 3,
                    Topology::LineListAdjacency => 10,
                    Topology::LineStripAdjacency => 11,
                    Topology::TriangleListAdjacency => 12,
                    Topology::TriangleStripAdjacency => 13,
                },
            )],
        ),
        // Clip space has y up, the screen down.
        float("VPORT_XSCALE", 0x2843C, w / 2.0),
        float("VPORT_XOFFSET", 0x28440, w / 2.0),
        float("VPORT_YSCALE", 0x28444, -h / 2.0),
        float("VPORT_YOFFSET", 0x28448, h / 2.0),
        float("VPORT_ZSCALE", 0x2844C, 1.0),
        float("VPORT_ZOFFSET", 0x28450, 0.0),
        fields(
            "DB_DEPTH_CONTROL",
            0x28800,
            &[
                ("Z_ENABLE", 1, 1, depth.is_some().into()),
                ("Z_WRITE_ENABLE", 2, 1, depth.is_some().into()),
                ("ZFUNC", 4, 3, zfunc),
            ],
        ),
        fields("PA_CL_CLIP_CNTL", 0x28810, &[("DX_CLIP_SPACE_DEF", 19, 1, 1)]),
        fields(
            "PA_SU_SC_MODE_CNTL",
            0x28814,
            &[
                ("CULL_FRONT", 0, 1, 0),
                ("CULL_BACK", 1, 1, 0),
                ("FACE", 2, 1, 0),
                ("PROVOKING_VTX_LAST", 19, 1, 0),
            ],
        ),
        fields(
            "PA_CL_VTE_CNTL",
            0x28818,
            &[
                ("VPORT_X_SCALE_ENA", 0, 1, 1),
                ("VPORT_X_OFFSET_ENA", 1, 1, 1),
                ("VPORT_Y_SCALE_ENA", 2, 1, 1),
                ("VPORT_Y_OFFSET_ENA", 3, 1, 1),
                ("VPORT_Z_SCALE_ENA", 4, 1, 1),
                ("VPORT_Z_OFFSET_ENA", 5, 1, 1),
                ("VTX_W0_FMT", 10, 1, 1),
            ],
        ),
        // Vertices have their pixels' centres at halves, as the drawing engine does; to 1/256 of a pixel.
        fields(
            "PA_SU_VTX_CNTL",
            0x28C08,
            &[("PIX_CENTER", 0, 1, 1), ("ROUND_MODE", 1, 2, 2), ("QUANT_MODE", 3, 3, 5)],
        ),
        // Half of a pixel in sixteenths, for points of which the program says no size; those that it says have any.
        fields("PA_SU_POINT_SIZE", 0x28A00, &[("HEIGHT", 0, 16, 8), ("WIDTH", 16, 16, 8)]),
        fields(
            "PA_SU_POINT_MINMAX",
            0x28A04,
            &[("MIN_SIZE", 0, 16, 0), ("MAX_SIZE", 16, 16, 0xFFFF)],
        ),
        fields("CB_TARGET_MASK", 0x28238, &[("TARGET0_ENABLE", 0, 4, 15)]),
        // The source as it is: no fog, no copies to other targets, no blending, ROP3 0xCC.
        fields(
            "CB_COLOR_CONTROL",
            0x28808,
            &[
                ("FOG_ENABLE", 0, 1, 0),
                ("MULTIWRITE_ENABLE", 1, 1, 0),
                ("SPECIAL_OP", 4, 3, 0),
                ("TARGET_BLEND_ENABLE", 8, 8, 0),
                ("ROP3", 16, 8, 0xCC),
            ],
        ),
    ]
}

/// The registers of a colour target of RGBA bytes in rows of [`pitch`] texels. Guide 9.
///
/// # Errors
/// A size that its field does not hold.
pub fn color_block(
    target: u32,
    base: u64,
    width: u32,
    height: u32,
) -> Result<Vec<StateRegister>, Undescribable> {
    let pitch = pitch(width);
    // Texels of a slice in blocks of 64: whole blocks even where rows are few.
    let tiles = (pitch * height).div_ceil(64);
    let at = |first: u32| first + 4 * target;
    let address = |name: &str, first: u32| {
        word(
            format!("CB_COLOR{target}_{name}"),
            at(first),
            &[("BASE_256B", 0, 32, (base >> 8) as u32)],
        )
    };
    Ok(vec![
        address("BASE", 0x28040)?,
        word(
            format!("CB_COLOR{target}_SIZE"),
            at(0x28060),
            &[
                ("PITCH_TILE_MAX", 0, 10, pitch / 8 - 1),
                ("SLICE_TILE_MAX", 10, 20, tiles.saturating_sub(1)),
            ],
        )?,
        word(
            format!("CB_COLOR{target}_VIEW"),
            at(0x28080),
            &[("SLICE_START", 0, 11, 0), ("SLICE_MAX", 13, 11, 0)],
        )?,
        word(
            format!("CB_COLOR{target}_INFO"),
            at(0x280A0),
            // COLOR_8_8_8_8, ARRAY_LINEAR_ALIGNED, NUMBER_UNORM, components in their order.
            &[
                ("FORMAT", 2, 6, 0x1A),
                ("ARRAY_MODE", 8, 4, 1),
                ("NUMBER_TYPE", 12, 3, 0),
                ("COMP_SWAP", 16, 2, 0),
                ("BLEND_CLAMP", 20, 1, 1),
            ],
        )?,
        // No memory of tiles and fragments is used, but the kernel relocates its place.
        address("TILE", 0x280C0)?,
        address("FRAG", 0x280E0)?,
    ])
}

/// The registers of a depth target of f32 in tiles of 8 by 8. Guide 10.
///
/// # Errors
/// A size that its field does not hold.
pub fn depth_block(
    base: u64,
    width: u32,
    height: u32,
) -> Result<Vec<StateRegister>, Undescribable> {
    let pitch = pitch(width);
    let tiles = pitch / 8 * height.div_ceil(8);
    Ok(vec![
        word(
            "DB_DEPTH_SIZE".into(),
            0x28000,
            &[
                ("PITCH_TILE_MAX", 0, 10, pitch / 8 - 1),
                ("SLICE_TILE_MAX", 10, 20, tiles.saturating_sub(1)),
            ],
        )?,
        word(
            "DB_DEPTH_VIEW".into(),
            0x28004,
            &[("SLICE_START", 0, 11, 0), ("SLICE_MAX", 13, 11, 0)],
        )?,
        word("DB_DEPTH_BASE".into(), 0x2800C, &[("BASE_256B", 0, 32, (base >> 8) as u32)])?,
        // DEPTH_32_FLOAT, ARRAY_2D_TILED_THIN1.
        word("DB_DEPTH_INFO".into(), 0x28010, &[("FORMAT", 0, 3, 6), ("ARRAY_MODE", 15, 4, 4)])?,
    ])
}

//! A model of the machine's registers and memory: what a driver wrote, read back by the guide's fields into what the
//! emulator runs. It knows nothing of the compiler; positions of fields are read from the guide once more here.

use super::state::{Aperture, BufferResource, FetchResource, FetchSource, Stage, State, address};
use crate::api::Chip;
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_ir::ssa::{Dim, Interpolation, Sampling};
use std::collections::BTreeMap;

/// What SPI_PS_INPUT_CNTL_n says of the parameter that arrives in register n. Guide 4.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InputEntry {
    /// The semantic of the vertex program's parameter; 0 is none.
    pub semantic: u32,
    /// FLAT_SHADE and SEL_LINEAR.
    pub interpolation: Interpolation,
    /// SEL_CENTROID and SEL_SAMPLE.
    pub sampling: Sampling,
}

impl InputEntry {
    /// Reads the register's value.
    pub const fn of(word: u32) -> InputEntry {
        InputEntry {
            semantic: bits(word, 7, 0),
            interpolation: match (bits(word, 10, 10), bits(word, 12, 12)) {
                (1, _) => Interpolation::Flat,
                (_, 1) => Interpolation::Linear,
                _ => Interpolation::Perspective,
            },
            sampling: match (bits(word, 11, 11), bits(word, 18, 18)) {
                (1, _) => Sampling::Centroid,
                (_, 1) => Sampling::Sample,
                _ => Sampling::Center,
            },
        }
    }
}

/// The entries of a pixel program, as many as NUM_INTERP counts. Guide 4, SPI_PS_IN_CONTROL_0.
pub fn input_entries(registers: &BTreeMap<u32, u32>) -> Vec<InputEntry> {
    let read = |at: u32| registers.get(&at).copied().unwrap_or(0);
    let count = bits(read(address::SPI_PS_IN_CONTROL_0), 5, 0);
    let entry = |n| InputEntry::of(read(address::SPI_PS_INPUT_CNTL_0 + 4 * n));
    (0..count).map(entry).collect()
}

/// The parameter that a vertex program exports for a semantic: SPI_VS_OUT_CONFIG and SPI_VS_OUT_ID_*. Guide 4.
pub fn parameter_of(registers: &BTreeMap<u32, u32>, semantic: u32) -> Option<u32> {
    let read = |at: u32| registers.get(&at).copied().unwrap_or(0);
    let count = bits(read(address::SPI_VS_OUT_CONFIG), 5, 1) + 1;
    let id = |n: u32| read(address::SPI_VS_OUT_ID_0 + n / 4 * 4) >> (8 * (n % 4));
    (0..count).find(|&n| bits(id(n), 7, 0) == semantic)
}

/// Registers by byte address, and memory.
#[derive(Clone, Debug, Default)]
pub struct Model {
    registers: BTreeMap<u32, u32>,
    /// Memory from address 0 on.
    pub memory: Vec<u8>,
}

const fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    word >> lo & (u32::MAX >> (31 - (hi - lo)))
}

impl Model {
    /// Writes a register.
    pub fn write(&mut self, address: u32, value: u32) {
        self.registers.insert(address, value);
    }

    /// What a register holds; those that nobody wrote hold 0.
    pub fn read(&self, address: u32) -> u32 {
        self.registers.get(&address).copied().unwrap_or(0)
    }

    /// Puts bytes at the next multiple of 256; their address.
    pub fn place(&mut self, bytes: &[u8]) -> u64 {
        let at = self.memory.len().next_multiple_of(256);
        self.memory.resize(at, 0);
        self.memory.extend_from_slice(bytes);
        at as u64
    }

    fn bytes(&self, at: u64, size: usize) -> Result<Vec<u8>, String> {
        let at = at as usize;
        let slice = self.memory.get(at..at + size);
        slice.map(<[u8]>::to_vec).ok_or_else(|| format!("{size} bytes at {at:#x} are no memory"))
    }

    /// The program of a stage: from its start to the end of memory, since nothing says how long it is.
    ///
    /// # Errors
    /// A start beyond memory.
    pub fn code(&self, stage: Stage) -> Result<Vec<u8>, String> {
        let register = match stage {
            Stage::Pixel => 0x28840,
            Stage::Vertex | Stage::Compute => 0x28858,
            Stage::Geometry => 0x2886C,
            Stage::Export => 0x28880,
        };
        self.code_at(register)
    }

    fn code_at(&self, register: u32) -> Result<Vec<u8>, String> {
        let at = (u64::from(self.read(register)) << 8) as usize;
        let code = self.memory.get(at..).filter(|code| !code.is_empty());
        let code = code.ok_or_else(|| format!("a program at {at:#x} is no memory"))?;
        Ok(code[..code.len() / 8 * 8].to_vec())
    }

    /// The state of a stage as the registers have it.
    ///
    /// # Errors
    /// A descriptor that describes nothing.
    pub fn state(&self, chip: Chip, stage: Stage) -> Result<State, String> {
        let mut state = State::new(chip, stage, crate::numerics_of(chip.family()));
        state.registers.clone_from(&self.registers);
        let pixel = stage == Stage::Pixel;
        let (sizes, caches, first_resource, first_sampler, borders) = if pixel {
            (0x28140, 0x28940, 0, 0, 0xA400)
        } else {
            (0x28180, 0x28980, 160, 18, 0xA600)
        };
        for (n, constants) in (0u32..).zip(&mut state.constants) {
            let size = bits(self.read(sizes + 4 * n), 8, 0) as usize * 256;
            let at = u64::from(self.read(caches + 4 * n)) << 8;
            *constants = self.bytes(at, size)?;
        }
        let aperture = u64::from(self.read(0x9010)) << 8;
        let aperture_size = self.read(0x9014);
        let words = self.bytes(aperture, aperture_size as usize)?;
        state.aperture = Aperture {
            words: words
                .chunks_exact(4)
                .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect(),
        };
        // Pixel programs have 160, vertex programs with their fetch program 176.
        for id in 0..if pixel { 160 } else { 192 } {
            let at = 0x38000 + 28 * (first_resource + id);
            let w: [u32; 7] = std::array::from_fn(|n| self.read(at + 4 * n as u32));
            let resource = match bits(w[6], 31, 30) {
                2 => FetchResource::Texture(self.texture(&w)?),
                3 => {
                    let base = u64::from(w[0]) | u64::from(bits(w[2], 7, 0)) << 32;
                    let size = w[1].wrapping_add(1);
                    let inside = base >= aperture
                        && base + u64::from(size) <= aperture + u64::from(aperture_size);
                    let source = if inside && aperture_size > 0 {
                        FetchSource::Aperture { start: (base - aperture) as u32, size }
                    } else {
                        FetchSource::Bytes(self.bytes(base, size as usize)?)
                    };
                    FetchResource::Buffer(BufferResource {
                        source,
                        stride: bits(w[2], 18, 8),
                        format: None,
                    })
                }
                // Kernels let a command stream through only with the other two.
                kind if self.registers.contains_key(&(at + 24)) => {
                    return Err(format!("resource {id} has TYPE {kind}"));
                }
                _ => continue,
            };
            state.resources.insert(id, resource);
        }
        for id in 0..18 {
            let at = 0x3C000 + 12 * (first_sampler + id);
            let w: [u32; 3] = std::array::from_fn(|n| self.read(at + 4 * n as u32));
            if bits(w[2], 31, 31) == 1 {
                let border = [0, 4, 8, 12].map(|n| self.read(borders + 16 * id + n));
                state.samplers.insert(id, sampler(&w, border)?);
                if overrides_arrays(&w) {
                    state.array_samplers.insert(id);
                }
            }
        }
        if self.registers.contains_key(&0x28894) {
            state.fetch_program = Some(self.code_at(0x28894)?);
        }
        Ok(state)
    }

    /// Guide 7.
    fn texture(&self, w: &[u32; 7]) -> Result<Image, String> {
        let (format, extent) = described(w)?;
        let texel = format.bytes() as usize;
        let mut image = Image::new(format, extent).map_err(|error| error.to_string())?;
        let pitch = (bits(w[0], 18, 8) as usize + 1) * 8;
        let mut at = u64::from(w[2]) << 8;
        for level in 0..extent.levels {
            let [width, height, slices] = image.size(level);
            let pitch = if level == 0 { pitch } else { (width as usize).div_ceil(8) * 8 };
            if pitch < width as usize {
                return Err(format!("a pitch of {pitch} texels for a width of {width}"));
            }
            let rows = (height * slices * extent.layers * extent.samples) as usize;
            let bytes = self.bytes(at, rows * pitch * texel)?;
            let row = width as usize * texel;
            for (to, from) in
                image.level_bytes_mut(level).chunks_mut(row).zip(bytes.chunks(pitch * texel))
            {
                to.copy_from_slice(&from[..row]);
            }
            at = if level == 0 { u64::from(w[3]) << 8 } else { at + bytes.len() as u64 };
        }
        Ok(image)
    }
}

/// The texel format and the extent that the seven words of a texture's resource constant describe. Guide 7.
///
/// # Errors
/// What describes no texture: a tiled one, a format that nobody reads.
pub fn described(w: &[u32; 7]) -> Result<(Format, Extent), String> {
    let depth = bits(w[1], 25, 13) + 1;
    let (dim, arrayed, samples) = match bits(w[0], 2, 0) {
        0 => (Dim::D1, false, false),
        1 => (Dim::D2, false, false),
        2 => (Dim::D3, false, false),
        3 => (Dim::Cube, true, false),
        4 => (Dim::D1, true, false),
        5 => (Dim::D2, true, false),
        6 => (Dim::D2, false, true),
        _ => (Dim::D2, true, true),
    };
    if bits(w[0], 6, 3) != 0 {
        return Err("a tiled texture".into());
    }
    let last = bits(w[5], 3, 0);
    let extent = Extent {
        dim,
        width: bits(w[0], 31, 19) + 1,
        height: bits(w[1], 12, 0) + 1,
        depth: if dim == Dim::D3 { depth } else { 1 },
        layers: match dim {
            Dim::Cube => 6 * depth,
            _ if arrayed => depth,
            _ => 1,
        },
        levels: if samples { 1 } else { last + 1 },
        samples: if samples { 1 << last } else { 1 },
    };
    Ok((texel_format(w)?, extent))
}

/// The texel format whose bits the fields describe. Guide 7; DATA_FORMAT by R700 ISA 10.3.
fn texel_format(w: &[u32; 7]) -> Result<Format, String> {
    let data = bits(w[1], 31, 26);
    let signed = bits(w[4], 1, 0) == 1;
    let integer = bits(w[4], 9, 8) == 1;
    let select = [18, 21, 24, 27].map(|hi| bits(w[4], hi, hi - 2));
    let swapped = select == [2, 1, 0, 3];
    let name = match (data, integer, signed, bits(w[4], 11, 11) == 1) {
        (1, false, false, _) => "r8unorm",
        (1, false, true, _) => "r8snorm",
        (1, true, false, _) => "r8uint",
        (1, true, true, _) => "r8sint",
        (5, false, false, _) => "r16unorm",
        (5, false, true, _) => "r16snorm",
        (5, true, false, _) => "r16uint",
        (5, true, true, _) => "r16sint",
        (6, ..) => "r16float",
        (7, false, false, _) => "rg8unorm",
        (7, false, true, _) => "rg8snorm",
        (7, true, false, _) => "rg8uint",
        (7, true, true, _) => "rg8sint",
        (13, true, false, _) => "r32uint",
        (13, true, true, _) => "r32sint",
        (14, ..) => "r32float",
        (15, false, false, _) => "rg16unorm",
        (15, false, true, _) => "rg16snorm",
        (15, true, false, _) => "rg16uint",
        (15, true, true, _) => "rg16sint",
        (16, ..) => "rg16float",
        (24, ..) => "rg11b10ufloat",
        (25, true, ..) => "rgb10a2uint",
        (25, false, ..) => "rgb10a2unorm",
        (26, false, false, true) if swapped => "bgra8unorm-srgb",
        (26, false, false, false) if swapped => "bgra8unorm",
        (26, false, false, true) => "rgba8unorm-srgb",
        (26, false, false, false) => "rgba8unorm",
        (26, false, true, _) => "rgba8snorm",
        (26, true, false, _) => "rgba8uint",
        (26, true, true, _) => "rgba8sint",
        (29, true, false, _) => "rg32uint",
        (29, true, true, _) => "rg32sint",
        (30, ..) => "rg32float",
        (31, false, false, _) => "rgba16unorm",
        (31, false, true, _) => "rgba16snorm",
        (31, true, false, _) => "rgba16uint",
        (31, true, true, _) => "rgba16sint",
        (32, ..) => "rgba16float",
        (34, true, false, _) => "rgba32uint",
        (34, true, true, _) => "rgba32sint",
        (35, ..) => "rgba32float",
        (43, ..) => "rgb9e5ufloat",
        _ => return Err(format!("a texture of DATA_FORMAT {data}")),
    };
    Ok(Format::from_name(name).expect("the names are WebGPU's"))
}

/// TEX_ARRAY_OVERRIDE: the layers of 1D and 2D arrays are not filtered.
pub const fn overrides_arrays(w: &[u32; 3]) -> bool {
    bits(w[0], 25, 25) == 1
}

/// The sampler that its three words and its border registers describe. Guide 8.
///
/// # Errors
/// What describes no sampler that the emulator has.
pub fn sampler(w: &[u32; 3], border: [u32; 4]) -> Result<Sampler, String> {
    let wrap = |field: u32| {
        Ok(match field {
            0 => Wrap::Repeat,
            1 => Wrap::Mirror,
            2 => Wrap::Clamp,
            3 => Wrap::MirrorOnce,
            6 => Wrap::Border,
            7 => Wrap::MirrorOnceBorder,
            other => return Err(format!("CLAMP {other} blends half a border")),
        })
    };
    let filter = |field: u32| match field {
        0 => Ok(Filter::Nearest),
        1 => Ok(Filter::Linear),
        other => Err(format!("filter {other}")),
    };
    let compare = [
        Compare::Never,
        Compare::Less,
        Compare::Equal,
        Compare::LessEqual,
        Compare::Greater,
        Compare::NotEqual,
        Compare::GreaterEqual,
        Compare::Always,
    ];
    let one = 1f32.to_bits();
    let level = |field: u32| field as f32 / 64.0;
    Ok(Sampler {
        wrap: [wrap(bits(w[0], 2, 0))?, wrap(bits(w[0], 5, 3))?, wrap(bits(w[0], 8, 6))?],
        mag: filter(bits(w[0], 11, 9))?,
        min: filter(bits(w[0], 14, 12))?,
        mip: match bits(w[0], 18, 17) {
            0 => MipFilter::None,
            1 => MipFilter::Nearest,
            2 => MipFilter::Linear,
            other => return Err(format!("MIP_FILTER {other}")),
        },
        lod_min: level(bits(w[1], 9, 0)),
        lod_max: level(bits(w[1], 19, 10)),
        lod_bias: ((w[1] as i32) >> 20) as f32 / 64.0,
        compare: (bits(w[2], 27, 27) == 1).then(|| compare[bits(w[0], 28, 26) as usize]),
        border: match bits(w[0], 23, 22) {
            0 => [0; 4],
            1 => [0, 0, 0, one],
            2 => [one; 4],
            _ => border,
        },
    })
}

//! What surrounds a program: registers that a driver programs, bound resources, memory, and how hard to try
//! to break it.

use super::rule::{Rule, Trap};
use crate::Chip;
use gpucc_emu::image::Image;
use gpucc_emu::sampler::Sampler;
use gpucc_ir::ssa::Numerics;
use std::collections::BTreeMap;

/// Addresses of the registers that the emulator reads. Register guide chapters 3 and 4.
pub mod address {
    /// NUM_GPRS, STACK_SIZE, DX10_CLAMP of pixel programs.
    pub const SQ_PGM_RESOURCES_PS: u32 = 0x28850;
    /// The same of vertex (and compute) programs.
    pub const SQ_PGM_RESOURCES_VS: u32 = 0x28868;
    /// EXPORT_MODE of pixel programs.
    pub const SQ_PGM_EXPORTS_PS: u32 = 0x28854;
    /// Parameters that a vertex program exports.
    pub const SPI_VS_OUT_CONFIG: u32 = 0x286C4;
    /// Interpolated inputs, position.
    pub const SPI_PS_IN_CONTROL_0: u32 = 0x286CC;
    /// Front face and fixed-point position.
    pub const SPI_PS_IN_CONTROL_1: u32 = 0x286D0;
    /// Dwords of scratch of one pixel thread.
    pub const SQ_PSTMP_RING_ITEMSIZE: u32 = 0x288BC;
    /// Dwords of scratch of one vertex thread.
    pub const SQ_VSTMP_RING_ITEMSIZE: u32 = 0x288B8;
    /// First loop constant; 32 a stage: pixel, vertex, geometry.
    pub const SQ_LOOP_CONST: u32 = 0x3E200;
    /// Components of colours that a pixel program exports, four bits a target.
    pub const CB_SHADER_MASK: u32 = 0x2823C;
    /// Kills, depth exports.
    pub const DB_SHADER_CONTROL: u32 = 0x2880C;
    /// PREFER_VECTOR and DX9_CONSTS.
    pub const SQ_CONFIG: u32 = 0x8C00;
    /// NUM_CLAUSE_TEMP_GPRS.
    pub const SQ_GPR_RESOURCE_MGMT_1: u32 = 0x8C04;
}

/// Kind of program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A vertex-type program started by a dispatch: see the ABI.
    Compute,
    /// Vertices.
    Vertex,
    /// Pixels in quads.
    Pixel,
}

/// What a fetch resource shows.
#[derive(Clone, Debug, PartialEq)]
pub enum FetchSource {
    /// Bytes of its own.
    Bytes(Vec<u8>),
    /// Part of the scatter aperture.
    Aperture {
        /// First byte.
        start: u32,
        /// Bytes.
        size: u32,
    },
}

/// A vertex-fetch resource: SQ_VTX_CONSTANT, register guide 5.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferResource {
    /// What it shows; its length is WORD1's size.
    pub source: FetchSource,
    /// STRIDE in bytes.
    pub stride: u32,
    /// DATA_FORMAT, NUM_FORMAT_ALL, FORMAT_COMP_ALL, SRF_MODE_ALL for fetches that use them.
    pub format: Option<(u32, u32, bool, bool)>,
}

/// What stands behind a resource number.
#[derive(Clone, Debug, PartialEq)]
pub enum FetchResource {
    /// For vertex fetches.
    Buffer(BufferResource),
    /// For texture fetches.
    Texture(Image),
}

/// The memory that MEM_EXPORT writes: SX_MEMORY_EXPORT_BASE and SIZE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aperture {
    /// Dwords.
    pub words: Vec<u32>,
}

/// Everything outside of the program.
#[derive(Clone, Debug)]
pub struct State {
    /// The chip: wavefront size, stack entry size, what it lacks.
    pub chip: Chip,
    /// Kind of program.
    pub stage: Stage,
    /// Registers by byte address, as the report's `state` gives them.
    pub registers: BTreeMap<u32, u32>,
    /// Numeric model: the published functions of the approximated instructions, denormals.
    pub numerics: Numerics,
    /// Resources, stage-relative.
    pub resources: BTreeMap<u32, FetchResource>,
    /// Samplers, stage-relative.
    pub samplers: BTreeMap<u32, Sampler>,
    /// Constant buffers.
    pub constants: [Vec<u8>; 16],
    /// Boolean constants, one bit each (SQ_BOOL_CONST), where someone programs them.
    pub bool_constants: Option<u32>,
    /// The scatter aperture.
    pub aperture: Aperture,
    /// The fetch program that CALL_FS runs.
    pub fetch_program: Option<Vec<u8>>,
    /// Added to the index of vertex fetches of type VERTEX (SQ_VTX_BASE_VTX_LOC).
    pub first_vertex: u32,
    /// Added to the index of vertex fetches of type INSTANCE (SQ_VTX_START_INST_LOC).
    pub first_instance: u32,
    /// Control-flow instructions and groups that a launch may execute.
    pub steps: u64,
}

impl State {
    /// A state with nothing programmed and nothing bound.
    pub fn new(chip: Chip, stage: Stage, numerics: Numerics) -> State {
        State {
            chip,
            stage,
            registers: BTreeMap::new(),
            numerics,
            resources: BTreeMap::new(),
            samplers: BTreeMap::new(),
            constants: Default::default(),
            bool_constants: None,
            aperture: Aperture::default(),
            fetch_program: None,
            first_vertex: 0,
            first_instance: 0,
            steps: 50_000_000,
        }
    }

    pub(super) fn register(&self, at: u32) -> Option<u32> {
        self.registers.get(&at).copied()
    }

    /// NUM_GPRS, STACK_SIZE and DX10_CLAMP.
    pub(super) fn program_resources(&self) -> Result<(u32, u32, bool), Trap> {
        let (at, name) = match self.stage {
            Stage::Pixel => (address::SQ_PGM_RESOURCES_PS, "SQ_PGM_RESOURCES_PS"),
            Stage::Vertex | Stage::Compute => (address::SQ_PGM_RESOURCES_VS, "SQ_PGM_RESOURCES_VS"),
        };
        let Some(word) = self.register(at) else {
            return Err(Trap::new(
                Rule::State,
                0,
                format!("{name} is not programmed"),
            ));
        };
        let (gprs, stack) = (word & 0xFF, word >> 8 & 0xFF);
        if gprs > 128 - 2 * self.clause_temps() {
            let detail = format!("{name}.NUM_GPRS is {gprs}");
            return Err(Trap::new(Rule::State, 0, detail));
        }
        // R600 itself has DX10_CLAMP in SQ_CONFIG. Guide, SQ_CONFIG.
        let dx10_clamp = match self.chip {
            Chip::R600 => self.register(address::SQ_CONFIG).unwrap_or(0) >> 4 & 1 == 1,
            _ => word >> 21 & 1 == 1,
        };
        Ok((gprs, stack, dx10_clamp))
    }

    pub(super) fn clause_temps(&self) -> u32 {
        self.register(address::SQ_GPR_RESOURCE_MGMT_1)
            .map_or(4, |word| word >> 28)
    }

    pub(super) fn prefer_vector(&self) -> bool {
        self.register(address::SQ_CONFIG)
            .is_none_or(|word| word >> 3 & 1 == 1)
    }

    /// Vectors of scratch that each thread has.
    pub(super) fn scratch_vectors(&self) -> u32 {
        let at = match self.stage {
            Stage::Pixel => address::SQ_PSTMP_RING_ITEMSIZE,
            Stage::Vertex | Stage::Compute => address::SQ_VSTMP_RING_ITEMSIZE,
        };
        self.register(at).unwrap_or(0) / 4
    }

    /// A loop constant. Number 0 is what drivers preset when it is not programmed; the others have no
    /// value then.
    pub(super) fn loop_constant(&self, number: u32) -> Option<u32> {
        let stage = match self.stage {
            Stage::Pixel => 0,
            Stage::Vertex | Stage::Compute => 32,
        };
        self.register(address::SQ_LOOP_CONST + 4 * (stage + number))
            .or((number == 0).then_some(0x0100_0FFF))
    }
}

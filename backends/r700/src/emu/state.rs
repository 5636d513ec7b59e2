//! What surrounds a program: registers that a driver programs, bound resources, memory, and how hard to try
//! to break it.

use super::rule::{Rule, Trap};
use crate::Chip;
use gpucc_emu::image::Image;
use gpucc_emu::sampler::Sampler;
use gpucc_ir::ssa::Numerics;
use std::collections::{BTreeMap, BTreeSet};

/// Addresses of the registers that the emulator reads. Register guide chapters 3 and 4.
pub mod address {
    /// Names registers of 4 bytes each, and how many follow one another.
    macro_rules! registers {
        ($($(#[$doc:meta])* $name:ident = $at:literal, $count:literal;)*) => {
            $($(#[$doc])* pub const $name: u32 = $at;)*
            /// Whether a launch looks at the register: others change nothing.
            pub const fn is_read(at: u32) -> bool {
                $(($at <= at && at < $at + 4 * $count))||*
            }
        };
    }
    registers! {
        /// NUM_GPRS, STACK_SIZE, DX10_CLAMP of pixel programs.
        SQ_PGM_RESOURCES_PS = 0x28850, 1;
        /// The same of vertex (and compute) programs.
        SQ_PGM_RESOURCES_VS = 0x28868, 1;
        /// EXPORT_MODE of pixel programs.
        SQ_PGM_EXPORTS_PS = 0x28854, 1;
        /// Parameters that a vertex program exports.
        SPI_VS_OUT_CONFIG = 0x286C4, 1;
        /// First of 10 registers: the semantics of parameters, four a register.
        SPI_VS_OUT_ID_0 = 0x28614, 10;
        /// Interpolated inputs, position.
        SPI_PS_IN_CONTROL_0 = 0x286CC, 1;
        /// Front face and fixed-point position.
        SPI_PS_IN_CONTROL_1 = 0x286D0, 1;
        /// First of 32 entries: how a parameter is interpolated.
        SPI_PS_INPUT_CNTL_0 = 0x28644, 32;
        /// Flat shading and point sprites.
        SPI_INTERP_CONTROL_0 = 0x286D4, 1;
        /// Dwords of scratch of one pixel thread.
        SQ_PSTMP_RING_ITEMSIZE = 0x288BC, 1;
        /// Dwords of scratch of one vertex thread.
        SQ_VSTMP_RING_ITEMSIZE = 0x288B8, 1;
        /// NUM_GPRS and STACK_SIZE of geometry programs.
        SQ_PGM_RESOURCES_GS = 0x2887C, 1;
        /// The same of the vertex programs before them.
        SQ_PGM_RESOURCES_ES = 0x28890, 1;
        /// Dwords of scratch of one geometry thread.
        SQ_GSTMP_RING_ITEMSIZE = 0x288B4, 1;
        /// Dwords of scratch of one vertex thread before a geometry program.
        SQ_ESTMP_RING_ITEMSIZE = 0x288B0, 1;
        /// Dwords that a thread writes to the ES-GS ring.
        SQ_ESGS_RING_ITEMSIZE = 0x288A8, 1;
        /// Dwords that a thread writes to the GS-VS ring.
        SQ_GSVS_RING_ITEMSIZE = 0x288AC, 1;
        /// Dwords of the reduction buffer of one thread.
        SQ_REDUC_RING_ITEMSIZE = 0x288C4, 1;
        /// First of 32 semantic ids of vertex fetches.
        SQ_VTX_SEMANTIC_0 = 0x28380, 32;
        /// Turns stream-out on.
        VGT_STRMOUT_EN = 0x28AB0, 1;
        /// Which stream-out buffers are written.
        VGT_STRMOUT_BUFFER_EN = 0x28B20, 1;
        /// First loop constant; 32 a stage: pixel, vertex, geometry.
        SQ_LOOP_CONST = 0x3E200, 96;
        /// Components of colours that a pixel program exports, four bits a target.
        CB_SHADER_MASK = 0x2823C, 1;
        /// Components that targets take, four bits a target.
        CB_TARGET_MASK = 0x28238, 1;
        /// STENCIL_ENABLE and Z_ENABLE.
        DB_DEPTH_CONTROL = 0x28800, 1;
        /// Format of the first of eight targets.
        CB_COLOR0_INFO = 0x280A0, 8;
        /// Targets that a pixel program exports, a bit each.
        CB_SHADER_CONTROL = 0x287A0, 1;
        /// Kills, depth exports.
        DB_SHADER_CONTROL = 0x2880C, 1;
        /// MSAA_ENABLE, PS_ITER_SAMPLE.
        PA_SC_MODE_CNTL = 0x28A4C, 1;
        /// MSAA_NUM_SAMPLES.
        PA_SC_AA_CONFIG = 0x28C04, 1;
        /// What draws are made of.
        VGT_PRIMITIVE_TYPE = 0x8958, 1;
        /// How many primitives pass before a wavefront starts that is not full.
        VGT_VTX_VECT_EJECT_REG = 0x88B0, 1;
        /// Largest vertex number.
        VGT_MAX_VTX_INDX = 0x28400, 1;
        /// Smallest vertex number.
        VGT_MIN_VTX_INDX = 0x28404, 1;
        /// Added to vertex numbers.
        VGT_INDX_OFFSET = 0x28408, 1;
        /// An event: the count of vertices starts again. It arrives as a packet.
        VGT_EVENT_INITIATOR = 0x28A90, 1;
        /// Vertices are not shared by primitives.
        VGT_REUSE_OFF = 0x28AB4, 1;
        /// Vertices are counted.
        VGT_VTX_CNT_EN = 0x28AB8, 1;
        /// R7xx: kills all primitives, beside what clips them.
        PA_CL_CLIP_CNTL = 0x28810, 1;
        /// R6xx: kills all primitives.
        SX_MISC = 0x28350, 1;
        /// PREFER_VECTOR and DX9_CONSTS.
        SQ_CONFIG = 0x8C00, 1;
        /// NUM_CLAUSE_TEMP_GPRS.
        SQ_GPR_RESOURCE_MGMT_1 = 0x8C04, 1;
    }
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
    /// Vertices before a geometry program: they write the ES-GS ring.
    Export,
    /// Primitives: they write the GS-VS ring and emit vertices.
    Geometry,
}

/// A stream-out buffer: VGT_STRMOUT_BUFFER_*.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Dwords; writes beyond them are dropped.
    pub words: Vec<u32>,
    /// VGT_STRMOUT_VTX_STRIDE: dwords from one vertex to the next.
    pub stride: u32,
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
    /// Those that have TEX_ARRAY_OVERRIDE set.
    pub array_samplers: BTreeSet<u32>,
    /// Constant buffers.
    pub constants: [Vec<u8>; 16],
    /// Boolean constants, one bit each (SQ_BOOL_CONST), where someone programs them.
    pub bool_constants: Option<u32>,
    /// The scatter aperture.
    pub aperture: Aperture,
    /// Stream-out buffers.
    pub streams: [Option<Stream>; 4],
    /// What ALT_CONST reads: resources, samplers and constants of the other kind of program (pixel: vertex; vertex:
    /// geometry; geometry: vertex; export: geometry). Guide 5, CF_ALU_WORD1.
    pub alternate: Option<Box<State>>,
    /// The fetch program that CALL_FS runs.
    pub fetch_program: Option<Vec<u8>>,
    /// Added to the index of vertex fetches of type VERTEX (SQ_VTX_BASE_VTX_LOC).
    pub first_vertex: u32,
    /// Added to the index of vertex fetches of type INSTANCE (SQ_VTX_START_INST_LOC).
    pub first_instance: u32,
    /// Lanes of the first wavefront, where it does not begin with a whole one: the machine does not promise it.
    pub first_wave: Option<u32>,
    /// Chooses the order in which wavefronts run; ascending where it is 0.
    pub order: u64,
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
            array_samplers: BTreeSet::new(),
            constants: Default::default(),
            bool_constants: None,
            aperture: Aperture::default(),
            streams: Default::default(),
            alternate: None,
            fetch_program: None,
            first_vertex: 0,
            first_instance: 0,
            first_wave: None,
            order: 0,
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
            Stage::Export => (address::SQ_PGM_RESOURCES_ES, "SQ_PGM_RESOURCES_ES"),
            Stage::Geometry => (address::SQ_PGM_RESOURCES_GS, "SQ_PGM_RESOURCES_GS"),
        };
        let Some(word) = self.register(at) else {
            return Err(Trap::new(Rule::State, 0, format!("{name} is not programmed")));
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

    /// Whether the registers say that a pixel has one sample: MSAA_ENABLE is clear and nothing asks for more. Nobody says so
    /// where neither register is programmed.
    pub(super) fn single_sampled(&self) -> bool {
        let mode = self.register(address::PA_SC_MODE_CNTL);
        match self.register(address::PA_SC_AA_CONFIG) {
            Some(samples) => samples & 3 == 0 && mode.is_none_or(|mode| mode & 1 == 0),
            // PS_ITER_SAMPLE alone is of a program that runs once a sample: MSAA_ENABLE is somebody else's bit then.
            None => mode.is_some_and(|mode| mode & (1 << 17 | 1) == 0),
        }
    }

    pub(super) fn clause_temps(&self) -> u32 {
        self.register(address::SQ_GPR_RESOURCE_MGMT_1).map_or(4, |word| word >> 28)
    }

    pub(super) fn prefer_vector(&self) -> bool {
        self.register(address::SQ_CONFIG).is_none_or(|word| word >> 3 & 1 == 1)
    }

    /// Vectors of the reduction buffer that each thread has.
    pub(super) fn reduction_vectors(&self) -> u32 {
        self.register(address::SQ_REDUC_RING_ITEMSIZE).unwrap_or(0) / 4
    }

    /// Dwords of a thread's item in the ring that its kind writes.
    pub(super) fn ring_item(&self) -> u32 {
        let at = match self.stage {
            Stage::Export => address::SQ_ESGS_RING_ITEMSIZE,
            Stage::Geometry => address::SQ_GSVS_RING_ITEMSIZE,
            Stage::Pixel | Stage::Vertex | Stage::Compute => return 0,
        };
        self.register(at).unwrap_or(0) & 0x7FFF
    }

    /// The register that a semantic fetch writes: entry n of the table stands for R(n + 1), behind the indices in R0.
    pub(super) fn semantic_register(&self, id: u32) -> Option<u32> {
        (0..32)
            .find(|n| self.register(address::SQ_VTX_SEMANTIC_0 + 4 * n) == Some(id))
            .map(|n| n + 1)
    }

    /// Whether stream-out buffer `n` is written.
    pub(super) fn streams_to(&self, n: u32) -> bool {
        let on = |at: u32, bit: u32| self.register(at).is_some_and(|word| word >> bit & 1 == 1);
        on(address::VGT_STRMOUT_EN, 0) && on(address::VGT_STRMOUT_BUFFER_EN, n)
    }

    /// Vectors of scratch that each thread has.
    pub(super) fn scratch_vectors(&self) -> u32 {
        let at = match self.stage {
            Stage::Pixel => address::SQ_PSTMP_RING_ITEMSIZE,
            Stage::Vertex | Stage::Compute => address::SQ_VSTMP_RING_ITEMSIZE,
            Stage::Export => address::SQ_ESTMP_RING_ITEMSIZE,
            Stage::Geometry => address::SQ_GSTMP_RING_ITEMSIZE,
        };
        self.register(at).unwrap_or(0) / 4
    }

    /// A loop constant. Number 0 is what drivers preset when it is not programmed; the others have no
    /// value then.
    pub(super) fn loop_constant(&self, number: u32) -> Option<u32> {
        let stage = match self.stage {
            Stage::Pixel => 0,
            Stage::Vertex | Stage::Compute | Stage::Export => 32,
            Stage::Geometry => 64,
        };
        self.register(address::SQ_LOOP_CONST + 4 * (stage + number))
            .or((number == 0).then_some(0x0100_0FFF))
    }
}

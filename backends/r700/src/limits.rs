//! What a program can have too much of, and how much there is. Every limit is a row of `gpucc targets`.

use crate::abi::{ATTRIBUTES, POINT};
use crate::api::Chip;
use gpucc_ir::driver::Limit;
use gpucc_machine::about;

/// How many places there are for what is bound (abi-r700).
const fn places(what: &'static str, available: u64) -> Limit {
    Limit::new(what, available, "merge bindings or split the shader")
}

/// How many words of private arrays there may be, `what` says in what kind of memory.
const fn words(what: &'static str, available: u32) -> Limit {
    let hint = "make private arrays smaller, or keep them in a buffer";
    Limit::new(what, available as u64, hint)
}

/// Constant buffers 0 to 13.
pub const UNIFORM_BUFFERS: Limit = places("uniform buffers", 14);
/// Stored textures are among them.
pub const STORAGE_BUFFERS: Limit = Limit::new(
    "storage buffers",
    32,
    "merge bindings or split the shader; stored textures count too",
);
pub const TEXTURES: Limit = places("textures", 112);
pub const SAMPLERS: Limit = places("samplers", 18);
/// Vertex and fetch programs share 176 resources. R700 ISA 10.4, TEX_WORD0, RESOURCE_ID.
pub const VERTEX_BUFFERS: Limit = places("vertex buffers", 176 - ATTRIBUTES as u64);
/// STRIDE has 11 bits. Register guide, SQ_VTX_CONSTANT_WORD2_0.
pub const STRIDE: Limit = places("bytes from one vertex to the next", 2047);
/// ARRAY_BASE counts dwords in 13 bits. R700 ISA 8.1, CF_ALLOC_IMP_EXP.
pub const STREAMED: Limit = Limit::new(
    "bytes of a streamed vertex",
    4 << 13,
    "see `stream` in the pipeline's vertex state",
);
/// Locations of what a vertex program hands on: location n has semantic n + 1, semantic 0 matches nothing. Semantics
/// have 8 bits (register guide, SPI_VS_OUT_ID), and [`POINT`] is none of a location's.
pub const HANDED_ON: Limit = Limit::new(
    "locations between vertex and fragment stage",
    POINT as u64 - 1,
    "number the locations from 0 on",
);
pub const VERTEX_OUTPUTS: Limit = Limit::new("vertex outputs", 32, "pack scalars into vectors");
pub const FRAGMENT_INPUTS: Limit = Limit::new("fragment inputs", 32, "pack scalars into vectors");
pub const COLOR_TARGETS: Limit = Limit::new("color targets", 8, "write fewer targets");
pub const SAMPLES: Limit = Limit::new("samples of a pixel", 8, "PA_SC_AA_CONFIG counts to 8");
/// ADDR has 22 bits. R700 ISA 10.1, CF_WORD0.
pub const CODE: Limit =
    Limit::new("quadwords of code", (1 << 22) - 1, "split the shader, or unroll less");
pub const INVOCATIONS: Limit =
    Limit::new(about::INVOCATIONS, 1024, "use smaller workgroups, and more of them");
/// Largest variable in scratch memory that is indexed at run time, a vec4 of scratch for each of its dwords: ARRAY_SIZE
/// has 12 bits. R700 ISA 10.5, MEM_RD_WORD2.
pub const INDEXED_SCRATCH: Limit = words("words of an indexed private variable", 4095);
/// ARRAY_BASE has 13 bits. R700 ISA 8.1, CF_ALLOC_IMP_EXP.
pub const SCRATCH: Limit = words("words of private variables in memory", 8192);

/// The fetch program leaves location n in R(1 + n), below the last register, which scratch may need.
pub const fn fetched(chip: Chip) -> Limit {
    places("vertex attribute locations of a fetch program", chip.stage_registers() as u64 - 2)
}

/// SQ_PGM_RESOURCES_*.STACK_SIZE has 8 bits, and the chip's stack is shared (SQ_STACK_RESOURCE_MGMT).
pub const fn stack(chip: Chip) -> Limit {
    Limit::new("stack entries", chip.stage_stack() as u64, "nest fewer loops and branches")
}

/// All of them.
pub fn of(chip: Chip) -> Vec<(&'static str, u64)> {
    let limits = [
        stack(chip),
        UNIFORM_BUFFERS,
        STORAGE_BUFFERS,
        TEXTURES,
        SAMPLERS,
        VERTEX_BUFFERS,
        STRIDE,
        fetched(chip),
        STREAMED,
        HANDED_ON,
        VERTEX_OUTPUTS,
        FRAGMENT_INPUTS,
        COLOR_TARGETS,
        SAMPLES,
        CODE,
        INVOCATIONS,
        INDEXED_SCRATCH,
        SCRATCH,
    ];
    let registers = ("registers", chip.stage_registers().into());
    [registers].into_iter().chain(limits.map(Limit::row)).collect()
}

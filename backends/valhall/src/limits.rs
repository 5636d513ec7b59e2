//! What a program can have too much of, and how much there is. Every limit is a row of `gpucc targets`.

use crate::{abi, regs};
use gpucc_ir::driver::Limit;
use gpucc_machine::about;

/// An index of a resource has 16 bits beside its table's number. Arm's v9 instruction description, LD_ATTR and others.
pub const TABLE: Limit =
    Limit::new("entries of a resource table", 1 << 16, "use fewer or smaller arrays of bindings");
/// Attributes of vertices, and what they write as attributes, lie in a table.
pub const LOCATIONS: Limit =
    Limit::new("vertex attribute locations", 1 << 16, "number locations from 0");
pub const VARYINGS: Limit = Limit::new(
    "varying locations",
    abi::VARYINGS as u64,
    "pack scalars into vectors and number locations from 0",
);
pub const WORKGROUP: Limit =
    Limit::new("bytes of workgroup memory", 32768, "make the workgroup variables smaller");
pub const COLOR_TARGETS: Limit = Limit::new("color targets", 8, "write fewer targets");
pub const SAMPLES: Limit = Limit::new("samples of a pixel", 16, "take fewer samples");
pub const UNIFORMS: Limit =
    Limit::new("words of uniforms", 128, "load uniform buffers instead of pushing them");
pub const PRIVATE: Limit = Limit::new(
    "bytes of private memory beside spilled values",
    regs::REACH as u64,
    "private arrays and spilled values must lie within the reach of an offset",
);
pub const INVOCATIONS: Limit =
    Limit::new(about::INVOCATIONS, 1024, "use smaller workgroups, and more of them");

/// All of them.
pub fn all() -> Vec<(&'static str, u64)> {
    let limits = [
        TABLE,
        LOCATIONS,
        VARYINGS,
        WORKGROUP,
        COLOR_TARGETS,
        SAMPLES,
        UNIFORMS,
        PRIVATE,
        INVOCATIONS,
    ];
    [("registers", 64)].into_iter().chain(limits.map(Limit::row)).collect()
}

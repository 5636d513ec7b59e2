//! What a program can have too much of, and how much there is. Every limit is a row of `gpucc targets`.

use crate::chip::Chip;
use gpucc_ir::driver::Limit;
use gpucc_machine::about;

/// Bytes of memory of an invocation for arrays and spilled values: an assumption, for the hardware names no limit.
pub const PRIVATE: Limit =
    Limit::new("bytes of private memory", 1 << 16, "use smaller private arrays");
/// Shared registers of a program. 3.1.
pub const SHARED: Limit = Limit::new("shared registers", 1024, "use fewer bindings");
/// Coefficients that an operand names. 1.2.
pub const COEFFICIENTS: Limit =
    Limit::new("coefficients of a workgroup", 2048, "use smaller workgroup variables");
/// Sets of coefficients that an iterator names. 2.7.
pub const SETS: Limit = Limit::new("components of fragment inputs", 64, "use fewer varyings");
/// Vertex inputs of an instance. 3.1.
pub const ATTRIBUTES: Limit = Limit::new("words of attributes", 248, "use fewer attributes");
/// Words of a vertex. 5.4: OUTPUT_SEL has eight bits for them.
pub const VERTEX: Limit = Limit::new("words of a vertex", 255, "use fewer outputs");
/// Constants of a program of the data sequencer.
pub const SEQUENCER: Limit =
    Limit::new("constants of the data sequencer", 128, "use fewer attributes");

pub fn varyings(chip: Chip) -> Limit {
    Limit::new("components of varyings", chip.varying_components(), "use fewer outputs")
}

pub fn samples(chip: Chip) -> Limit {
    Limit::new("samples of a pixel", chip.samples(), "take fewer samples")
}

pub fn invocations(chip: Chip) -> Limit {
    Limit::new(about::INVOCATIONS, chip.invocations(), "use smaller workgroups, and more of them")
}

/// All of them.
pub fn of(chip: Chip) -> Vec<(&'static str, u64)> {
    let limits = [
        PRIVATE,
        SHARED,
        COEFFICIENTS,
        SETS,
        ATTRIBUTES,
        VERTEX,
        SEQUENCER,
        varyings(chip),
        samples(chip),
        invocations(chip),
    ];
    [("registers", chip.temps().into())].into_iter().chain(limits.map(Limit::row)).collect()
}

//! What the silicon cannot do, with the documents' section: the one source of exit code 3. Everything else that we do not
//! compile is our own gap.

use crate::chip::Chip;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Builtin, Func, Imm, Number, Op, OutputKind, Span, Type};

/// The machine in messages.
pub const SHORT: &str = "Rogue";

/// Features and the documents' sections.
pub type Table = &'static [(&'static str, &'static str)];

/// The table.
pub const TABLE: Table = &[
    (
        "double precision",
        "Rogue instruction set, main operations: no operation takes floats of 64 bits",
    ),
    (
        "stencil values as outputs",
        "Rogue instruction set, backend operations: programs give feedback of visibility and of depth alone",
    ),
    ("layers as outputs of vertices", "Rogue device features, gs_rta_support: AXE-1-16M lacks it"),
    // The front end knows what these need, and stops.
    (
        "cooperative matrices",
        "Rogue instruction set, main operations: no operation multiplies matrices",
    ),
    (
        "task and mesh shaders",
        "Rogue control streams: they start vertices, tessellation, pixels and compute",
    ),
    ("ray tracing", "Rogue instruction set: no operation meets rays"),
    ("sparse residency", "Rogue instruction set, SMP: no form tells which texels are there"),
    ("shading rates", "Rogue special registers: none holds a shading rate"),
];

fn refuse(at: usize, span: Span) -> Failure {
    let (feature, manual) = TABLE[at];
    Failure::Refused { machine: SHORT, feature, manual, span }
}

/// Checks what the function asks of the machine.
///
/// # Errors
/// [`Failure::Refused`] for the first feature in program order that the table names.
pub fn check(func: &Func, chip: Chip) -> Result<(), Failure> {
    let stencil = OutputKind::Builtin(Builtin::StencilRef);
    if func.outputs.values().any(|data| data.kind == stencil) {
        return Err(refuse(1, Span::NONE));
    }
    let layer = OutputKind::Builtin(Builtin::Layer);
    if !chip.renders_layers() && func.outputs.values().any(|data| data.kind == layer) {
        return Err(refuse(2, Span::NONE));
    }
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let wide = |values: &[gpucc_ir::ssa::Value]| {
                values.iter().any(|&value| func.ty(value) == Type::B64)
            };
            let combines = |op: Op| op.makes() == Number::Float;
            let float = matches!(data.imm, Imm::Reduce(_, op) if combines(op)) && wide(&data.args)
                || data.op.reads() == Number::Float && wide(&data.args)
                || data.op.makes() == Number::Float && wide(&data.results);
            if float && data.op != Op::Select {
                return Err(refuse(0, data.span));
            }
        }
    }
    Ok(())
}

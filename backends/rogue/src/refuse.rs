//! What the silicon cannot do, with the documents' section: the one source of exit code 3. Everything else that we do not
//! compile is our own gap.

use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Builtin, Func, Imm, Number, Op, OutputKind, Span, Type};

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

/// Checks what the function asks of the machine.
///
/// # Errors
/// [`Failure::Refused`] for the first feature in program order that the table names.
pub fn check(func: &Func, machine: &'static str) -> Result<(), Failure> {
    let refuse = |at: usize, span: Span| {
        let (feature, manual) = TABLE[at];
        Failure::Refused { machine, feature, manual, span }
    };
    let stencil = OutputKind::Builtin(Builtin::StencilRef);
    if func.outputs.values().any(|data| data.kind == stencil) {
        return Err(refuse(1, Span::NONE));
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

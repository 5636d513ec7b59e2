//! What the silicon cannot do, with the manual's section: the one source of exit code 3. Everything else
//! that we do not compile is our own gap.

use crate::api::Failure;
use gpucc_ir::ssa::{Func, Imm, Number, Span, Stage, TexKind, Type};

/// A feature that the machine lacks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Refusal {
    Doubles,
    QueryLevel,
    Geometry,
}

/// The first rows are [`Refusal`]'s. What no function in SSA can ask for follows: the front end reads it,
/// knows what it needs and stops.
const TABLE: &[(&str, &str)] = &[
    ("double precision", "Arm's v9 instruction description: no instruction takes 64-bit floats"),
    (
        "the level that a sampler would take",
        "Arm's v9 instruction description, TEX_GRADIENT: bit 12 (force_delta), with which later units give the level, is reserved",
    ),
    (
        "geometry shaders",
        "Arm's v9 Shader Program descriptor: stages are compute, fragment and vertex",
    ),
    (
        "task and mesh shaders",
        "Arm's v9 Shader Program descriptor: stages are compute, fragment and vertex",
    ),
    (
        "tessellation shaders",
        "Arm's v9 Shader Program descriptor: stages are compute, fragment and vertex",
    ),
    ("ray tracing", "Arm's v9 instruction description: no instruction meets rays"),
    (
        "cooperative matrices",
        "Arm's v9 instruction description: no instruction multiplies matrices",
    ),
    (
        "sparse residency",
        "Arm's v9 instruction description, TEX_FETCH and TEX_SINGLE: texels are all they give",
    ),
    (
        "fragment shader interlock",
        "Arm's v9 instruction description: waits order messages of the tile buffer, and none begins or ends a section",
    ),
    ("shading rates", "Arm's v9 fragment preloads: no register holds a shading rate"),
    (
        "viewports that shaders see or choose",
        "Arm's v9 position record: it holds a point size and a layer, and no viewport",
    ),
    (
        "values of a primitive's corners",
        "Arm's v9 instruction description, LD_VAR_BUF and LD_VAR_SPECIAL: varyings arrive interpolated or flat, and no register holds barycentric coordinates",
    ),
    (
        "whether a pixel is covered wholly",
        "Arm's v9 fragment preloads: r60 and r61 hold the samples that are covered, and nothing tells of the rest of the pixel",
    ),
];

/// The table: feature, manual's section.
pub fn refusals() -> &'static [(&'static str, &'static str)] {
    TABLE
}

fn refuse(what: Refusal, span: Span) -> Failure {
    let (feature, manual) = TABLE[what as usize];
    Failure::Refused { machine: "Valhall v9", feature, manual, span }
}

/// Checks what the function asks of the machine.
///
/// # Errors
/// [`Failure::Refused`] for the first feature in program order that the table names.
pub fn check(func: &Func) -> Result<(), Failure> {
    if func.stage == Stage::Geometry {
        return Err(refuse(Refusal::Geometry, Span::NONE));
    }
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let operand = data.args.first().map(|&value| func.ty(value));
            let result = data.results.first().map(|&value| func.ty(value));
            let op = match data.imm {
                Imm::Reduce(_, op) => op,
                _ => data.op,
            };
            let float = op.reads() == Number::Float && operand == Some(Type::B64)
                || op.makes() == Number::Float && result == Some(Type::B64);
            if float {
                return Err(refuse(Refusal::Doubles, data.span));
            }
            if matches!(data.imm, Imm::Tex(tex) if tex.kind == TexKind::QueryLevel) {
                return Err(refuse(Refusal::QueryLevel, data.span));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Builder, Op};

    #[test]
    fn sums_of_doubles_are_refused_and_sums_of_wide_integers_are_not() {
        let compiled = |op| {
            let mut func = Func::new("wide", Stage::Compute);
            let mut b = Builder::at_body(&mut func);
            let value = b.constant(Type::B64, 1);
            b.op2(op, value, value);
            check(&func)
        };
        assert!(matches!(compiled(Op::FAdd), Err(Failure::Refused { .. })));
        assert!(compiled(Op::IAdd).is_ok());
    }

    #[test]
    fn every_refusal_has_its_row() {
        assert_eq!(TABLE[Refusal::Doubles as usize].0, "double precision");
        let level = TABLE[Refusal::QueryLevel as usize].0;
        assert_eq!(level, "the level that a sampler would take");
        assert_eq!(TABLE[Refusal::Geometry as usize].0, "geometry shaders");
    }
}

//! What the silicon cannot do: one table of features and the manual's section that shows it, and the
//! check of a function against it. Everything else that we do not compile is our own gap.

use crate::api::{Chip, Failure};
use gpucc_ir::ssa::{Builtin, Func, Imm, InputKind, Inst, Op, ResourceKind, Span, Stage, Type};

/// A feature that the machine lacks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Refusal {
    Atomics,
    Half,
    Integers64,
    Doubles,
    Subgroups,
    Barrier,
    StorageTexture,
    BindingArray,
    PrimitiveIndex,
    SampleMaskInput,
}

const TABLE: &[(&str, &str)] = &[
    (
        "atomic operations",
        "R700 ISA 3.4.2, 9: memory instructions only read or write",
    ),
    (
        "16-bit floats and integers",
        "R700 ISA 4.8, 9.2: ALU operations are 32 or 64 bits wide",
    ),
    (
        "64-bit integers",
        "R700 ISA 9.2: 64-bit operations exist for floats alone",
    ),
    (
        "double precision",
        "R700 ISA 4.12: only some members of the family have it",
    ),
    (
        "subgroup operations",
        "R700 ISA 9: no instruction exchanges values across a wavefront",
    ),
    (
        "a barrier for more invocations than a wavefront",
        "R700 ISA 3.7, 9.1: no instruction waits for another wavefront",
    ),
    (
        "storage textures",
        "R700 ISA 3.4.2: memory exports write linear buffers, not tiled surfaces",
    ),
    (
        "arrays of bindings with a dynamic index",
        "R700 ISA 10.3, 10.4: resource and sampler ids are immediates",
    ),
    (
        "primitive index in a fragment shader",
        "register guide, SPI_PS_IN_CONTROL_0: no such input",
    ),
    (
        "sample mask as an input",
        "register guide, SPI_PS_IN_CONTROL_0 and 1: no such input",
    ),
];

/// The table: feature, manual's section.
pub fn refusals() -> &'static [(&'static str, &'static str)] {
    TABLE
}

fn refuse(what: Refusal, span: Span) -> Failure {
    let (feature, manual) = TABLE[what as usize];
    Failure::Refused {
        feature,
        manual,
        span,
    }
}

/// Checks what the function asks of the machine.
///
/// # Errors
/// [`Failure::Refused`] for the first feature in program order that the table names.
pub fn check(func: &Func, chip: Chip) -> Result<(), Failure> {
    let lanes: u64 = func.workgroup_size.iter().map(|&n| u64::from(n)).product();
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            instruction(func, inst, chip, lanes)?;
        }
    }
    Ok(())
}

fn instruction(func: &Func, inst: Inst, chip: Chip, lanes: u64) -> Result<(), Failure> {
    let data = &func.insts[inst];
    let span = data.span;
    match data.op {
        Op::BufferAtomic | Op::MemAtomic | Op::ImageAtomic => {
            return Err(refuse(Refusal::Atomics, span));
        }
        Op::ImageStore => return Err(refuse(Refusal::StorageTexture, span)),
        Op::Barrier if func.stage == Stage::Compute && lanes > u64::from(chip.wave()) => {
            return Err(refuse(Refusal::Barrier, span));
        }
        _ => {}
    }
    let resource = match data.imm {
        Imm::Resource(resource) | Imm::Query(resource, _) => Some(resource),
        Imm::Tex(tex) => Some(tex.texture),
        _ => None,
    };
    if let Some(resource) = resource {
        let data = &func.resources[resource];
        if data.count.is_some() {
            return Err(refuse(Refusal::BindingArray, span));
        }
        if matches!(data.kind, ResourceKind::StorageTexture { .. }) {
            return Err(refuse(Refusal::StorageTexture, span));
        }
    }
    if let Imm::Input(input, _) = data.imm
        && let InputKind::Builtin(builtin) = func.inputs[input].kind
    {
        let what = match builtin {
            Builtin::PrimitiveIndex => Some(Refusal::PrimitiveIndex),
            Builtin::SampleMask => Some(Refusal::SampleMaskInput),
            Builtin::SubgroupSize
            | Builtin::SubgroupInvocationId
            | Builtin::NumSubgroups
            | Builtin::SubgroupId => Some(Refusal::Subgroups),
            _ => None,
        };
        if let Some(what) = what {
            return Err(refuse(what, span));
        }
    }
    // The operands were results before.
    for &value in &data.results {
        match func.ty(value) {
            Type::B16 => return Err(refuse(Refusal::Half, span)),
            Type::B64 => {
                let integer = !matches!(
                    data.op,
                    Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FConvert | Op::SToF | Op::UToF
                );
                let what = if integer {
                    Refusal::Integers64
                } else {
                    Refusal::Doubles
                };
                return Err(refuse(what, span));
            }
            Type::B1 | Type::B32 => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_row() {
        assert_eq!(Refusal::SampleMaskInput as usize + 1, TABLE.len());
    }
}

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
        "double precision on this chip",
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
        "storage textures that are read, or whose format is not whole 32-bit components",
        "R700 ISA 3.4.2: memory exports write linear buffers of dwords, not tiled or packed surfaces",
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

/// What the machine could do and we have not built.
fn not_yet(feature: &str, span: Span) -> Failure {
    Failure::NotYet {
        feature: feature.into(),
        stage: "refuse",
        span,
    }
}

/// A storage texture that the program only writes, in whole dwords, could be a linear buffer.
fn storage_texture(kind: &ResourceKind, span: Span) -> Failure {
    match kind {
        ResourceKind::StorageTexture { format, access, .. }
            if !access.load
                && !access.atomic
                && ["r32", "rg32", "rgba32"]
                    .iter()
                    .any(|whole| format.0.strip_prefix(whole).is_some_and(is_component)) =>
        {
            not_yet("writing linear storage textures", span)
        }
        _ => refuse(Refusal::StorageTexture, span),
    }
}

/// The end of a WebGPU texel format's name: what its components are.
fn is_component(name: &str) -> bool {
    matches!(name, "float" | "uint" | "sint")
}

/// Checks what the function asks of the machine.
///
/// # Errors
/// [`Failure::Refused`] for the first feature in program order that the table names, and
/// [`Failure::NotYet`] for what stands beside it and is our own gap.
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
        let binding = &func.resources[resource];
        if binding.count.is_some() {
            let constant = data
                .args
                .first()
                .is_some_and(|&element| func.as_const(element).is_some());
            return Err(if constant {
                not_yet("arrays of bindings", span)
            } else {
                refuse(Refusal::BindingArray, span)
            });
        }
        if matches!(binding.kind, ResourceKind::StorageTexture { .. }) {
            return Err(storage_texture(&binding.kind, span));
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
                return Err(match chip {
                    _ if integer => refuse(Refusal::Integers64, span),
                    Chip::Rv770 | Chip::Rv790 => not_yet("double precision", span),
                    Chip::Rv740 | Chip::Rv730 | Chip::Rv710 => refuse(Refusal::Doubles, span),
                });
            }
            Type::B1 | Type::B32 => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Dim, ImageAccess, SampleType, TexelFormat};

    #[test]
    fn only_storage_textures_that_memory_exports_cannot_write_are_the_machines_fault() {
        let refused = |format, load| {
            let kind = ResourceKind::StorageTexture {
                dim: Dim::D2,
                arrayed: false,
                format: TexelFormat(format),
                sample: SampleType::Float,
                access: ImageAccess {
                    load,
                    store: true,
                    atomic: false,
                },
            };
            matches!(storage_texture(&kind, Span::NONE), Failure::Refused { .. })
        };
        assert!(refused("rgba8unorm", false) && refused("rgba16float", false));
        assert!(refused("r32float", true));
        assert!(!refused("r32float", false) && !refused("rgba32uint", false));
    }

    #[test]
    fn every_refusal_has_its_row() {
        assert_eq!(Refusal::SampleMaskInput as usize + 1, TABLE.len());
    }
}

//! Feature legality.
//!
//! What the silicon cannot do: one table of features and the manual's section that shows it, and the
//! check of a function against it. Everything else that we do not compile is our own gap.

use crate::api::{Chip, Failure, Family};
use gpucc_ir::ssa::{
    Builtin, Func, Imm, InputKind, Inst, MemSpace, Op, OutputKind, ResourceKind, Span, Stage, Type,
    Value,
};
use gpucc_passes::expand::image::dwords;

/// A feature that a machine lacks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Atomics,
    Half,
    Doubles,
    Subgroups,
    Barrier,
    StorageTexture,
    ShortStore,
    ViewIndex,
    Layer,
    PrimitiveIndex,
    SampleMaskInput,
    MemoryWrites,
    WorkgroupMemory,
    IntegerSamples,
    PackedSamples,
    BlendOfTarget,
    Clocks,
}

/// Feature, and the manual's section for R700 and for R6xx; a family without one has the feature.
type Row = (&'static str, Option<&'static str>, Option<&'static str>);

const TABLE: &[Row] = &[
    (
        "atomic operations",
        Some("R700 ISA 3.4.2, 9: memory instructions only read or write"),
        Some("register guide 4, SQ_CF_ALLOC_EXPORT: memory instructions only read or write"),
    ),
    (
        "16-bit floats",
        Some("R700 ISA 4.8, 9.2: ALU operations are 32 or 64 bits wide"),
        Some("register guide 4, SQ_ALU_WORD1_OP2: ALU operations are 32 bits wide"),
    ),
    (
        "double precision on this chip",
        Some("R700 ISA 4.12: only some members of the family have it"),
        Some("register guide 4, SQ_ALU_WORD1_OP2: no 64-bit operation"),
    ),
    (
        "subgroup operations",
        Some("R700 ISA 9: no instruction exchanges values across a wavefront"),
        Some("register guide 4: no instruction exchanges values across a wavefront"),
    ),
    (
        "a barrier for more invocations than a wavefront",
        Some("R700 ISA 3.7, 9.1: no instruction waits for another wavefront"),
        Some("register guide 4, SQ_CF_WORD1: no instruction waits for another wavefront"),
    ),
    (
        "storing texels of less than 32 bits",
        Some("R700 ISA 3.4.2: memory exports write linear buffers of whole dwords"),
        None,
    ),
    (
        "storing 16 bits to a buffer",
        Some(
            "R700 ISA 3.4.2: memory exports write whole dwords, and nothing changes one atomically",
        ),
        None,
    ),
    (
        "drawing several views at once",
        Some("register guide, VGT and SPI registers: nothing counts views"),
        Some("register guide, VGT and SPI registers: nothing counts views"),
    ),
    (
        "layers outside of geometry shaders",
        Some(
            "register guide, PA_CL_VS_OUT_CNTL and SPI_PS_IN_CONTROL_0: only a geometry shader's layer is used, and pixels do not see it",
        ),
        Some(
            "register guide, PA_CL_VS_OUT_CNTL and SPI_PS_IN_CONTROL_0: only a geometry shader's layer is used, and pixels do not see it",
        ),
    ),
    (
        "primitive index in a fragment shader",
        Some("register guide, SPI_PS_IN_CONTROL_0: no such input"),
        Some("register guide, SPI_PS_IN_CONTROL_0: no such input"),
    ),
    (
        "sample mask as an input",
        Some(
            "register guide, SPI_PS_IN_CONTROL_0 and 1: parameters, position, index and front face are all they load",
        ),
        Some(
            "register guide, SPI_PS_IN_CONTROL_0 and 1: parameters, position, index and front face are all they load",
        ),
    ),
    (
        "writes to storage buffers and storage textures",
        None,
        Some(
            "register guide 4, SQ_CF_ALLOC_EXPORT_WORD1: no instruction writes memory at an address of its own (MEM_EXPORT came with R700)",
        ),
    ),
    (
        "workgroup memory",
        None,
        Some("register guide 4, SQ_VTX_WORD0: no data share, and no memory that invocations share"),
    ),
    (
        "integer colour targets of several samples",
        Some("CB_COLOR0_INFO, NUMBER_TYPE; public drivers: such targets hang the chip"),
        Some("CB_COLOR0_INFO, NUMBER_TYPE; public drivers: such targets hang the chip"),
    ),
    (
        "rg11b10ufloat targets of several samples",
        None,
        Some("CB_COLOR0_INFO, FORMAT; public drivers: R6xx draws them wrongly"),
    ),
    (
        "blend equations that differ between targets, on the chip r600",
        None,
        Some("CB_BLEND_CONTROL: one equation for all targets; PER_MRT_BLEND came with later chips"),
    ),
    (
        "clocks",
        Some("R700 ISA 9.1: no ALU operation reads a clock"),
        Some("register guide 4, SQ_ALU_WORD1_OP2: no ALU operation reads a clock"),
    ),
];

/// Features that no function in SSA can ask for: the front end reads them, knows what they need and stops.
const UNREAD: &[Row] = &[
    (
        "storing texels of several samples",
        Some("R700 ISA 3.4.2: memory exports write linear buffers, and no samples lie in those"),
        Some(
            "register guide 4, SQ_CF_ALLOC_EXPORT_WORD1: no instruction writes memory at an address of its own (MEM_EXPORT came with R700)",
        ),
    ),
    (
        "task and mesh shaders",
        Some("R700 ISA 2.1: programs are VS, GS, DC, PS and FS"),
        Some("register guide, SQ_PGM_START_*: programs are VS, ES, GS, PS and FS"),
    ),
    (
        "tessellation shaders",
        Some("R700 ISA 2.1: programs are VS, GS, DC, PS and FS"),
        Some("register guide, SQ_PGM_START_*: programs are VS, ES, GS, PS and FS"),
    ),
    (
        "ray tracing",
        Some("R700 ISA 2.1, 9: no such program type, and no instruction meets rays"),
        Some("register guide 4, SQ_TEX_WORD0: no instruction meets rays"),
    ),
    (
        "cooperative matrices",
        Some("R700 ISA 9: no instruction exchanges values across a wavefront"),
        Some("register guide 4: no instruction exchanges values across a wavefront"),
    ),
    (
        "sparse residency",
        Some("R700 ISA 9, TEX_DWORD1: texels are all that fetches give"),
        Some("register guide 4, SQ_TEX_WORD1: texels are all that fetches give"),
    ),
    (
        "fragment shader interlock",
        Some("R700 ISA 3.7, 9.1: no instruction waits for another wavefront"),
        Some("register guide 4, SQ_CF_WORD1: no instruction waits for another wavefront"),
    ),
    (
        "shading rates",
        Some("register guide, SPI and PA registers: nothing holds a shading rate"),
        Some("register guide, SPI and PA registers: nothing holds a shading rate"),
    ),
    (
        "viewports that shaders see or choose",
        Some(
            "register guide, PA_CL_VS_OUT_CNTL and SPI_PS_IN_CONTROL_0: only a geometry shader's viewport is used, and pixels do not see it",
        ),
        Some(
            "register guide, PA_CL_VS_OUT_CNTL and SPI_PS_IN_CONTROL_0: only a geometry shader's viewport is used, and pixels do not see it",
        ),
    ),
    (
        "values of a primitive's corners",
        Some(
            "register guide, SPI_PS_INPUT_CNTL: parameters arrive interpolated or as the provoking vertex has them",
        ),
        Some(
            "register guide, SPI_PS_INPUT_CNTL: parameters arrive interpolated or as the provoking vertex has them",
        ),
    ),
    (
        "whether a pixel is covered wholly",
        Some(
            "register guide, SPI_PS_IN_CONTROL_0 and 1: parameters, position, index and front face are all they load",
        ),
        Some(
            "register guide, SPI_PS_IN_CONTROL_0 and 1: parameters, position, index and front face are all they load",
        ),
    ),
];

/// R700's table: feature, manual's section.
pub fn refusals() -> Vec<(&'static str, &'static str)> {
    refusals_of(Family::R700)
}

/// A family's table.
pub fn refusals_of(family: Family) -> Vec<(&'static str, &'static str)> {
    TABLE.iter().chain(UNREAD).filter_map(|row| Some((row.0, manual(row, family)?))).collect()
}

fn manual(row: &Row, family: Family) -> Option<&'static str> {
    match family {
        Family::R700 => row.1,
        Family::R600 => row.2,
    }
}

/// What the pipeline asks for and the machine lacks.
pub fn pipeline(what: Refusal, family: Family) -> Failure {
    refuse(what, family, Span::NONE)
}

fn refuse(what: Refusal, family: Family, span: Span) -> Failure {
    let row = &TABLE[what as usize];
    Failure::Refused {
        machine: family.machine(),
        feature: row.0,
        manual: manual(row, family).expect("a family refuses what it has a section for"),
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
    let family = chip.family();
    let refuse = |what, span| refuse(what, family, span);
    match data.op {
        Op::BufferAtomic | Op::MemAtomic | Op::ImageAtomic => {
            return Err(refuse(Refusal::Atomics, span));
        }
        Op::Ballot | Op::Shuffle | Op::Reduce => {
            return Err(refuse(Refusal::Subgroups, span));
        }
        Op::Clock | Op::DeviceClock => return Err(refuse(Refusal::Clocks, span)),
        Op::Barrier if func.stage == Stage::Compute && lanes > u64::from(chip.wave()) => {
            return Err(refuse(Refusal::Barrier, span));
        }
        Op::BufferStore | Op::ImageStore if family == Family::R600 => {
            return Err(refuse(Refusal::MemoryWrites, span));
        }
        Op::MemLoad | Op::MemStore if family == Family::R600 => {
            if let Imm::Mem(access) = data.imm
                && func.mems[access.mem].space == MemSpace::Workgroup
            {
                return Err(refuse(Refusal::WorkgroupMemory, span));
            }
        }
        _ => {}
    }
    if let Imm::Output(output, _) = data.imm
        && func.outputs[output].kind == OutputKind::Builtin(Builtin::Layer)
    {
        return Err(refuse(Refusal::Layer, span));
    }
    let resource = match data.imm {
        Imm::Resource(resource) | Imm::Query(resource, _) => Some(resource),
        Imm::Tex(tex) => Some(tex.texture),
        _ => None,
    };
    if let Some(resource) = resource {
        let binding = &func.resources[resource];
        if data.op == Op::ImageStore
            && let ResourceKind::StorageTexture { format, .. } = binding.kind
            && dwords(format).is_none()
        {
            return Err(refuse(Refusal::StorageTexture, span));
        }
    }
    if let Imm::Input(input, _) = data.imm
        && let InputKind::Builtin(builtin) = func.inputs[input].kind
    {
        let what = match builtin {
            Builtin::PrimitiveIndex => Some(Refusal::PrimitiveIndex),
            Builtin::ViewIndex => Some(Refusal::ViewIndex),
            Builtin::Layer => Some(Refusal::Layer),
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
    // Integers of 64 bits are pairs of words by now: what else is that wide computes with floats.
    let seam = matches!(data.op, Op::Join64 | Op::Lo64 | Op::Hi64);
    let wide = |&value: &Value| func.ty(value) == Type::B64;
    if !seam && !chip.has_doubles() && data.args.iter().chain(&data.results).any(wide) {
        return Err(refuse(Refusal::Doubles, span));
    }
    // So are those of 16 bits, but for conversions to what floats and stores take.
    let half = |&value: &Value| func.ty(value) == Type::B16;
    match data.op {
        Op::UConvert => Ok(()),
        Op::BufferStore if data.args.iter().any(half) => Err(refuse(Refusal::ShortStore, span)),
        _ if data.args.iter().chain(&data.results).any(half) => Err(refuse(Refusal::Half, span)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_row() {
        assert_eq!(Refusal::Clocks as usize + 1, TABLE.len());
    }
}

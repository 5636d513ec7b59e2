//! The fetch program that CALL_FS runs: what a driver makes of the vertex state, as a small program of its own. Location n goes to
//! R(1 + n); the index is R0.x by vertex and R0.w by instance (abi-r700: Vertex). R700 ISA 3.7.6, 5.

use crate::abi::Abi;
use crate::api::{Failure, Family, Fetch};
use crate::isa::{self, CfOp, FetchOp, f};
use crate::lower::vertex_format;
use gpucc_ir::ssa::Span;

/// Machine code of the fetch program, when the pipeline asks for a separate one.
///
/// # Errors
/// [`Failure::NotYet`] for a vertex format that we do not know.
pub fn program(abi: &Abi) -> Result<Option<Vec<u8>>, Failure> {
    if abi.pipeline.vertex.fetch != Fetch::Separate {
        return Ok(None);
    }
    let family = abi.chip.family();
    let isa = family.isa();
    let mut fetches = Vec::new();
    for slot in &abi.inputs {
        let (Some(attribute), Some(register)) = (&slot.attribute, slot.register) else {
            continue;
        };
        let Some((data, number, signed, count, bytes, order)) = vertex_format(&attribute.format)
        else {
            return Err(Failure::NotYet {
                feature: format!("the vertex format {}", attribute.format),
                stage: "fetch",
                span: Span::NONE,
            });
        };
        let mut inst = isa::Inst::new(isa.fetch_op(FetchOp::VFETCH))
            .with(f::FETCH_TYPE, attribute.per_instance.into())
            .with(f::BUFFER_ID, attribute.resource)
            .with(f::SRC_SEL_X, if attribute.per_instance { 3 } else { 0 })
            .with(f::MEGA_FETCH_COUNT, u32::from(bytes) - 1)
            .with(f::MEGA_FETCH, 1)
            .with(f::DST_GPR, register)
            .with(f::DATA_FORMAT, data.into())
            .with(f::NUM_FORMAT_ALL, number.into())
            .with(f::FORMAT_COMP_ALL, signed.into())
            .with(f::OFFSET, attribute.offset);
        // Missing components are 0, 0, 0, 1.0; the program takes an integer's 1 from elsewhere.
        for (component, field) in isa::fields::DST_SELS.into_iter().enumerate() {
            let select = match component {
                c if c < usize::from(count) => order[c].into(),
                3 => 5,
                _ => 4,
            };
            inst = inst.with(field, select);
        }
        fetches.push(inst);
    }
    let limit = match family {
        Family::R600 => 8,
        Family::R700 => 16,
    };
    let op = if abi.chip.has_vertex_cache() { CfOp::VTX } else { CfOp::VTX_TC };
    let clauses: Vec<&[isa::Inst]> = fetches.chunks(limit).collect();
    let mut program = isa::Program::default();
    // Fetch clauses start on 16 bytes. R700 ISA 3.3.
    let mut at = (clauses.len() as u32 + 1).next_multiple_of(2);
    for (number, fetches) in clauses.iter().enumerate() {
        program.cf.push(isa::Cf {
            at: number as u32,
            inst: isa::Inst::new(isa.cf_op(op))
                .with(f::ADDR, at)
                .with(f::COUNT, fetches.len() as u32 - 1)
                .with(f::BARRIER, 1),
            clause: Some(isa::ClauseId(number as u32)),
        });
        program.clauses.push(isa::Clause { at, body: isa::Body::Fetch(fetches.to_vec()) });
        at += 2 * fetches.len() as u32;
    }
    program.cf.push(isa::Cf {
        at: clauses.len() as u32,
        inst: isa::Inst::new(isa.cf_op(CfOp::RETURN)).with(f::BARRIER, 1),
        clause: None,
    });
    program.dwords = 2 * at;
    let words = isa::encode_program(&program)
        .map_err(|error| Failure::Internal { pass: "fetch", message: error.to_string() })?;
    Ok(Some(words.iter().flat_map(|w| w.to_le_bytes()).collect()))
}

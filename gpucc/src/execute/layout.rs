//! Where vertex attributes stand in buffers: the pipeline's layout, or the natural one.

use crate::pipeline::{Attribute, Step, VertexBuffer, VertexState};
use gpucc_emu::draw::VertexId;
use gpucc_emu::format::VertexFormat;
use gpucc_ir::ssa::{Func, Input, InputKind, Scalar};

/// The layout of every attribute that a vertex function reads: those of the pipeline, and for any
/// other a buffer of its own with the natural 32-bit format, in the order of locations.
pub fn complete(func: &Func, given: Option<&VertexState>) -> VertexState {
    let mut state = given.cloned().unwrap_or_default();
    let mut missing: Vec<(u32, Input)> = func
        .inputs
        .iter()
        .filter_map(|(input, data)| match data.kind {
            InputKind::Location { location, .. }
                if !state.attributes.iter().any(|attribute| attribute.location == location) =>
            {
                Some((location, input))
            }
            InputKind::Location { .. } | InputKind::Builtin(_) | InputKind::Corner { .. } => None,
        })
        .collect();
    missing.sort_unstable_by_key(|&(location, _)| location);
    missing.dedup_by_key(|&mut (location, _)| location);
    for (location, input) in missing {
        let data = &func.inputs[input];
        let format = natural_format(data.scalar, data.components);
        // Elements begin at words, which some fetchers ask.
        let bytes = VertexFormat::from_name(&format).map_or(16, VertexFormat::bytes);
        let stride = bytes.next_multiple_of(4);
        state.attributes.push(Attribute {
            location,
            format,
            buffer: state.buffers.len() as u32,
            offset: 0,
        });
        state.buffers.push(VertexBuffer { stride, step: Step::Vertex });
    }
    state
}

/// The 32-bit vertex format of a scalar and a number of components.
pub fn natural_format(scalar: Scalar, components: u8) -> String {
    let base = match scalar {
        Scalar::F32 => "float32",
        Scalar::F16 => "float16",
        Scalar::I32 => "sint32",
        Scalar::U32 | Scalar::Bool => "uint32",
    };
    match (scalar, components) {
        (_, 0 | 1) => base.to_owned(),
        // There is no three-component format of 16 bits.
        (Scalar::F16, 3) => format!("{base}x4"),
        (_, n) => format!("{base}x{n}"),
    }
}

/// Four words of an attribute for one vertex; `None` when the layout does not have it.
pub fn fetch(
    state: &VertexState,
    location: u32,
    buffers: &[Vec<u8>],
    id: VertexId,
    first_vertex: u32,
    first_instance: u32,
) -> Option<[u32; 4]> {
    let attribute = state.attributes.iter().find(|attribute| attribute.location == location)?;
    let buffer = state.buffers.get(attribute.buffer as usize)?;
    let bytes = buffers.get(attribute.buffer as usize)?;
    let format = VertexFormat::from_name(&attribute.format)?;
    let index = match buffer.step {
        Step::Vertex => u64::from(id.vertex) + u64::from(first_vertex),
        Step::Instance => u64::from(id.instance) + u64::from(first_instance),
    };
    let at = index * u64::from(buffer.stride) + u64::from(attribute.offset);
    let start = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
    Some(format.decode(&bytes[start..]))
}

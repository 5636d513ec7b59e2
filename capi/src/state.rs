//! The pipeline around a shader.

use crate::abi::{self, Reply, gpucc_text};
use gpucc::Failure;
use gpucc::pipeline::{
    Attribute, BindingSlot, Blend, BlendComponent, BlendOp, ColorTarget, Factor, Fetch,
    FragmentState, Pipeline, Step, Stream, StreamOutput, Uniforms, VertexBuffer, VertexForm,
    VertexState,
};

/// A vertex attribute.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_attribute {
    /// sizeof(gpucc_attribute).
    pub struct_size: u32,
    /// The shader's location.
    pub location: u32,
    /// WebGPU's name of the format: "float32x3", "unorm8x4".
    pub format: gpucc_text,
    /// Index into the buffers.
    pub buffer: u32,
    /// Bytes from the start of an element.
    pub offset: u32,
}

/// A vertex buffer.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_vertex_buffer {
    /// sizeof(gpucc_vertex_buffer).
    pub struct_size: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// A gpucc_step.
    pub step: u32,
    /// Zero.
    pub reserved: u32,
}

/// An output that transform feedback captures.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_stream_output {
    /// sizeof(gpucc_stream_output).
    pub struct_size: u32,
    /// 1: the position; `location` is zero then.
    pub is_position: u32,
    /// The location.
    pub location: u32,
    /// Buffer, 0 to 3.
    pub buffer: u32,
    /// Byte within a vertex of the buffer.
    pub offset: u32,
    /// Zero.
    pub reserved: u32,
}

/// The vertex stage.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_vertex_state {
    /// sizeof(gpucc_vertex_state).
    pub struct_size: u32,
    /// A gpucc_fetch.
    pub fetch: u32,
    /// A gpucc_vertex_form.
    pub form: u32,
    /// 1: no points are drawn, so no point size is written.
    pub without_points: u32,
    /// Attributes. What the shader reads and is not here gets a buffer of its own.
    pub attributes: *const gpucc_attribute,
    /// How many.
    pub attribute_count: usize,
    /// Buffers.
    pub buffers: *const gpucc_vertex_buffer,
    /// How many.
    pub buffer_count: usize,
    /// Locations that the fragment stage reads, where `has_outputs` is 1. gpucc_compile_pair finds them by itself.
    pub outputs: *const u32,
    /// How many.
    pub output_count: usize,
    /// Bytes of a vertex in each buffer of transform feedback, at most four.
    pub stream_strides: *const u32,
    /// How many.
    pub stream_stride_count: usize,
    /// What transform feedback captures.
    pub stream_outputs: *const gpucc_stream_output,
    /// How many.
    pub stream_output_count: usize,
    /// 1: the program writes no locations but `outputs`.
    pub has_outputs: u32,
    /// Zero.
    pub reserved: u32,
}

/// An equation of blending.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_blend_component {
    /// A gpucc_blend_op.
    pub operation: u32,
    /// A gpucc_factor.
    pub src_factor: u32,
    /// A gpucc_factor.
    pub dst_factor: u32,
}

/// A colour target.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_color_target {
    /// sizeof(gpucc_color_target).
    pub struct_size: u32,
    /// Bit 0: red is written, and so on; all are in 15.
    pub write_mask: u32,
    /// WebGPU's name of the format; empty where no target is bound.
    pub format: gpucc_text,
    /// 1: `color` and `alpha` blend. 0: the colour replaces what was there, and they are zero.
    pub blends: u32,
    /// Zero.
    pub reserved: u32,
    /// Red, green, blue.
    pub color: gpucc_blend_component,
    /// Alpha.
    pub alpha: gpucc_blend_component,
}

/// The fragment stage.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_fragment_state {
    /// sizeof(gpucc_fragment_state).
    pub struct_size: u32,
    /// Samples of a pixel; 0 where the driver decides later.
    pub samples: u32,
    /// 1: the alpha of target 0 covers samples.
    pub alpha_to_coverage: u32,
    /// Zero.
    pub reserved: u32,
    /// Colour targets by location.
    pub targets: *const gpucc_color_target,
    /// How many.
    pub target_count: usize,
    /// WebGPU's name of the format of depth and stencil; empty where none is bound.
    pub depth_stencil: gpucc_text,
}

/// Where a binding goes.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_binding_slot {
    /// sizeof(gpucc_binding_slot).
    pub struct_size: u32,
    /// Bind group, descriptor set.
    pub group: u32,
    /// Binding.
    pub binding: u32,
    /// Its number among the bindings of its kind.
    pub slot: u32,
}

/// The pipeline around a shader. What is absent is inferred.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_pipeline {
    /// sizeof(gpucc_pipeline).
    pub struct_size: u32,
    /// A gpucc_uniforms.
    pub uniforms: u32,
    /// 1: workgroup variables may live in the local data share.
    pub local_data_share: u32,
    /// Zero.
    pub reserved: u32,
    /// The vertex stage, or null.
    pub vertex: *const gpucc_vertex_state,
    /// The fragment stage, or null.
    pub fragment: *const gpucc_fragment_state,
    /// Bindings for which the driver has numbers of its own.
    pub bindings: *const gpucc_binding_slot,
    /// How many.
    pub binding_count: usize,
}

/// Reads a pipeline; null is the default.
///
/// # Safety
/// As [`abi::read`], and so for what its pointers lead to.
pub(crate) unsafe fn pipeline(from: *const gpucc_pipeline) -> Reply<Pipeline> {
    let mut pipeline = Pipeline::default();
    // SAFETY: the caller's, here and below.
    let Some(given) = (unsafe { abi::read_optional(from) })? else {
        return Ok(pipeline);
    };
    let uniforms = [Uniforms::Loaded, Uniforms::Pushed];
    pipeline.uniforms = abi::choice(given.uniforms, &uniforms, "gpucc_pipeline.uniforms")?;
    pipeline.local_data_share =
        abi::truth(given.local_data_share, "gpucc_pipeline.local_data_share")?;
    // SAFETY: the same.
    if let Some(state) = unsafe { abi::read_optional(given.vertex) }? {
        // SAFETY: the same.
        pipeline.vertex = Some(unsafe { vertex(&state) }?);
    }
    // SAFETY: the same.
    if let Some(state) = unsafe { abi::read_optional(given.fragment) }? {
        // SAFETY: the same.
        pipeline.fragment = Some(unsafe { fragment(&state) }?);
    }
    // SAFETY: the same.
    let bindings = unsafe { abi::read_all(given.bindings, given.binding_count) }?;
    let slot = |slot: gpucc_binding_slot| {
        let gpucc_binding_slot { group, binding, slot, .. } = slot;
        BindingSlot { group, binding, slot }
    };
    pipeline.bindings = bindings.into_iter().map(slot).collect();
    pipeline.check().map_err(Failure::usage)?;
    Ok(pipeline)
}

unsafe fn vertex(given: &gpucc_vertex_state) -> Reply<VertexState> {
    let mut state = VertexState::default();
    let fetch = [Fetch::Inline, Fetch::Separate];
    state.fetch = abi::choice(given.fetch, &fetch, "gpucc_vertex_state.fetch")?;
    let forms = [VertexForm::Idvs, VertexForm::Plain];
    state.form = abi::choice(given.form, &forms, "gpucc_vertex_state.form")?;
    state.without_points = abi::truth(given.without_points, "gpucc_vertex_state.without_points")?;
    // SAFETY: the caller's, as `pipeline` has them.
    let (attributes, buffers, outputs, strides, streamed) = unsafe {
        (
            abi::read_all(given.attributes, given.attribute_count)?,
            abi::read_all(given.buffers, given.buffer_count)?,
            abi::numbers(given.outputs, given.output_count, 64, "gpucc_vertex_state.outputs")?,
            abi::numbers(
                given.stream_strides,
                given.stream_stride_count,
                4,
                "gpucc_vertex_state.stream_strides",
            )?,
            abi::read_all(given.stream_outputs, given.stream_output_count)?,
        )
    };
    for attribute in attributes {
        let gpucc_attribute { location, format, buffer, offset, .. } = attribute;
        // SAFETY: the same.
        let format = unsafe { abi::text(format, "gpucc_attribute.format") }?;
        state.attributes.push(Attribute { location, format, buffer, offset });
    }
    for buffer in buffers {
        let steps = [Step::Vertex, Step::Instance];
        let step = abi::choice(buffer.step, &steps, "gpucc_vertex_buffer.step")?;
        state.buffers.push(VertexBuffer { stride: buffer.stride, step });
    }
    let has = abi::truth(given.has_outputs, "gpucc_vertex_state.has_outputs")?;
    if !has && !outputs.is_empty() {
        return Err(Failure::usage("gpucc_vertex_state.outputs: has_outputs is not 1"));
    }
    state.outputs = has.then_some(outputs);
    state.stream = Stream { strides, outputs: Vec::new() };
    for output in streamed {
        let is_position = abi::truth(output.is_position, "gpucc_stream_output.is_position")?;
        if is_position && output.location != 0 {
            return Err(Failure::usage("gpucc_stream_output.location: the position has none"));
        }
        let gpucc_stream_output { location, buffer, offset, .. } = output;
        let location = (!is_position).then_some(location);
        state.stream.outputs.push(StreamOutput { location, buffer, offset });
    }
    Ok(state)
}

unsafe fn fragment(given: &gpucc_fragment_state) -> Reply<FragmentState> {
    let coverage = abi::truth(given.alpha_to_coverage, "gpucc_fragment_state.alpha_to_coverage")?;
    let mut state = FragmentState {
        samples: Some(given.samples).filter(|&samples| samples != 0),
        alpha_to_coverage: coverage,
        ..FragmentState::default()
    };
    // SAFETY: the caller's, as `pipeline` has them.
    let (depth, targets) = unsafe {
        (
            abi::optional_text(given.depth_stencil, "gpucc_fragment_state.depth_stencil")?,
            abi::read_all(given.targets, given.target_count)?,
        )
    };
    state.depth_stencil = depth;
    for target in targets {
        // SAFETY: the same.
        let format = unsafe { abi::optional_text(target.format, "gpucc_color_target.format") }?;
        let blends = abi::truth(target.blends, "gpucc_color_target.blends")?;
        let parts = [target.color, target.alpha];
        let zero =
            |part: gpucc_blend_component| part.operation | part.src_factor | part.dst_factor == 0;
        if !blends && !parts.into_iter().all(zero) {
            return Err(Failure::usage("gpucc_color_target: there are equations, but blends is 0"));
        }
        let blend = match blends {
            true => Some(Blend { color: component(parts[0])?, alpha: component(parts[1])? }),
            false => None,
        };
        let write_mask = u8::try_from(target.write_mask).ok();
        let write_mask = write_mask.filter(|&mask| mask <= ColorTarget::ALL).ok_or_else(|| {
            Failure::usage("gpucc_color_target.write_mask: bits beyond the four components, 15")
        })?;
        if format.is_none() && (blends || write_mask != 0) {
            return Err(Failure::usage(
                "gpucc_color_target: a target without a format has no state",
            ));
        }
        state.targets.push(format.map(|format| ColorTarget { format, write_mask, blend }));
    }
    Ok(state)
}

/// Factors in the order of gpucc_factor.
const FACTORS: [Factor; 17] = [
    Factor::Zero,
    Factor::One,
    Factor::Src,
    Factor::OneMinusSrc,
    Factor::SrcAlpha,
    Factor::OneMinusSrcAlpha,
    Factor::Dst,
    Factor::OneMinusDst,
    Factor::DstAlpha,
    Factor::OneMinusDstAlpha,
    Factor::SrcAlphaSaturated,
    Factor::Constant,
    Factor::OneMinusConstant,
    Factor::Src1,
    Factor::OneMinusSrc1,
    Factor::Src1Alpha,
    Factor::OneMinusSrc1Alpha,
];

/// Operations in the order of gpucc_blend_op.
const OPERATIONS: [BlendOp; 5] =
    [BlendOp::Add, BlendOp::Subtract, BlendOp::ReverseSubtract, BlendOp::Min, BlendOp::Max];

fn component(given: gpucc_blend_component) -> Reply<BlendComponent> {
    Ok(BlendComponent {
        op: abi::choice(given.operation, &OPERATIONS, "gpucc_blend_component.operation")?,
        src: abi::choice(given.src_factor, &FACTORS, "gpucc_blend_component.src_factor")?,
        dst: abi::choice(given.dst_factor, &FACTORS, "gpucc_blend_component.dst_factor")?,
    })
}

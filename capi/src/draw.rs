//! A draw of the emulated machine.

use crate::abi::{self, Reply};
use crate::device::{compare, gpucc_device};
use crate::result::Made;
use gpucc::execute::Executor;
use gpucc::execute::shade::{self, Program};
use gpucc::pipeline::{ColorTarget, FragmentState, Step};
use gpucc::{Failure, Stage};
use gpucc_emu::draw::{self, Cull, DepthState, TargetState, Targets, Topology};
use gpucc_emu::format::{Format, VertexFormat};
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::raster::Viewport;
use std::sync::Arc;

/// How vertices make primitives.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_topology {
    /// Every three.
    GPUCC_TOPOLOGY_TRIANGLE_LIST = 0,
    /// Every one with the two before it.
    GPUCC_TOPOLOGY_TRIANGLE_STRIP = 1,
    /// Every two.
    GPUCC_TOPOLOGY_LINE_LIST = 2,
    /// Every one.
    GPUCC_TOPOLOGY_POINT_LIST = 3,
}

/// Which triangles are dropped.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_cull {
    /// None.
    GPUCC_CULL_NONE = 0,
    /// Front faces.
    GPUCC_CULL_FRONT = 1,
    /// Back faces.
    GPUCC_CULL_BACK = 2,
}

/// A draw. Blending, masks and formats are those of the fragment program's pipeline.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_draw {
    /// sizeof(gpucc_draw).
    pub struct_size: u32,
    /// A gpucc_topology.
    pub topology: u32,
    /// Vertices of an instance, where there are no indices.
    pub vertices: u32,
    /// Instances.
    pub instances: u32,
    /// Numbers of vertices, or null.
    pub indices: *const u32,
    /// How many.
    pub index_count: usize,
    /// A gpucc_cull.
    pub cull: u32,
    /// 1: clockwise triangles are front; 0: counter-clockwise ones (y down).
    pub front_clockwise: u32,
    /// A gpucc_compare of the depth test; GPUCC_COMPARE_NONE: no test.
    pub depth_compare: u32,
    /// 1: pixels that pass write their depth.
    pub depth_write: u32,
    /// x, y, width, height; zeros are the whole target.
    pub viewport: [f32; 4],
    /// Depths of z = 0 and z = w; both zero are 0 and 1.
    pub depth_range: [f32; 2],
    /// x, y, width, height; all zero: everything.
    pub scissor: [u32; 4],
    /// Constant colour of blending.
    pub blend_constant: [f32; 4],
}

/// Most vertices and instances of a draw.
pub(crate) const MOST: u64 = 1 << 22;

/// Draws.
pub(crate) fn draw(device: &mut gpucc_device, given: &gpucc_draw, indices: Vec<u32>) -> Reply<()> {
    let Some(fragment) = device.fragment.clone() else {
        return Err(Failure::usage("the device has a compute program"));
    };
    let vertex = Arc::clone(&device.first);
    let (mut targets, pipeline) = targets(device, &fragment)?;
    let [width, height] = size(&targets)?;
    let mut state = state(given, indices, width, height)?;
    reach(device, &vertex, &state)?;
    if state.depth.is_some() && targets.depth.is_none() {
        return Err(Failure::usage("gpucc_draw.depth_compare: no depth target is bound"));
    }
    for number in 0..targets.colors.len() {
        let target = pipeline.targets.get(number).and_then(Option::as_ref);
        state.targets.push(TargetState::of(target));
    }
    let executor = |made: &Made| -> Executor {
        made.compiler.executor(&made.compiled, &made.options, &made.source)
    };
    let (mut first, mut second) = (executor(&vertex), executor(&fragment));
    let [vs, fs] = device.bindings.clone();
    let divided =
        vertex.compiled.program.as_ref().is_some_and(|program| program.divides_positions());
    let mut pair = shade::Draw::new(
        Program { func: &vertex.compiled.ssa, executor: &mut first, bindings: vs, divided },
        Program {
            func: &fragment.compiled.ssa,
            executor: &mut second,
            bindings: fs,
            divided: false,
        },
        &device.buffers,
    )?;
    if let Some(steps) = device.steps {
        pair.steps = [steps; 2];
    }
    pair.shared.retain(|one| !device.apart.contains(one));
    state.varyings = pair.varyings();
    let drawer = match (&vertex.compiled.program, &fragment.compiled.program) {
        (Some(vs), Some(fs)) => fragment.compiler.drawer(vs, None, fs, &fragment.options)?,
        _ => None,
    };
    let drawn = pair.run(drawer, &state, &mut targets, device.steps);
    device.bindings = [pair.vertex.bindings, pair.fragment.bindings];
    let depth = targets.depth.take();
    device.depth = depth.or(device.depth.take());
    for (location, image) in (0..).zip(targets.colors) {
        if device.targets.contains_key(&location) {
            device.targets.insert(location, image);
        }
    }
    drawn
}

/// That the vertex buffers hold what the draw fetches: machines differ in what is read beyond them. WebGPU 23.5.
fn reach(device: &gpucc_device, vertex: &Made, draw: &draw::Draw) -> Reply<()> {
    let inferred = vertex.compiled.program.as_ref().map(gpucc::Program::pipeline);
    let pipeline = inferred.as_ref().unwrap_or(&vertex.options.pipeline);
    let (Some(state), 1..) = (&pipeline.vertex, draw.vertices.min(draw.instances)) else {
        return Ok(());
    };
    let last_vertex = match &draw.indices {
        Some(indices) => indices.iter().copied().max().unwrap_or(0),
        None => draw.vertices - 1,
    };
    for attribute in &state.attributes {
        let buffer = state.buffer(attribute);
        let last = match buffer.step {
            Step::Vertex => last_vertex,
            Step::Instance => draw.instances - 1,
        };
        let bytes = VertexFormat::from_name(&attribute.format).map_or(0, VertexFormat::bytes);
        let end = u64::from(attribute.offset) + u64::from(bytes);
        let needed = u64::from(buffer.stride) * u64::from(last) + end;
        let number = attribute.buffer;
        let given = device.buffers.get(number as usize).map_or(0, Vec::len);
        if (given as u64) < needed {
            let message =
                format!("vertex buffer {number} has {given} bytes, and {needed} are read");
            return Err(Failure::usage(message));
        }
    }
    Ok(())
}

/// The targets of a draw: those that are bound, in the formats of the pipeline.
fn targets(device: &gpucc_device, fragment: &Made) -> Reply<(Targets, FragmentState)> {
    debug_assert_eq!(fragment.compiled.stage, Stage::Fragment);
    let written = shade::color_targets(&fragment.compiled.ssa);
    let pipeline = fragment.options.pipeline.fragment.clone().unwrap_or_else(|| FragmentState {
        targets: (0..written.min(8) as u32)
            .map(|location| {
                let image = device.targets.get(&location)?;
                let format = image.format().name().to_owned();
                Some(ColorTarget { format, write_mask: ColorTarget::ALL, blend: None })
            })
            .collect(),
        ..FragmentState::default()
    });
    if pipeline.samples.is_some_and(|samples| samples > 1) || pipeline.alpha_to_coverage {
        return Err(Failure::not_yet("drawing several samples a pixel", "gpucc_draw"));
    }
    let mut targets = Targets { colors: Vec::new(), depth: device.depth.clone() };
    let any = device.targets.values().chain(&device.depth).next();
    let Some([width, height, _]) = any.map(|image| image.size(0)) else {
        return Err(Failure::usage("no target is bound"));
    };
    let last = device.targets.keys().next_back().map_or(0, |&location| location as usize + 1);
    for location in 0..last.max(written.min(8)).max(1) as u32 {
        let declared = pipeline.targets.get(location as usize).and_then(Option::as_ref);
        let format = declared.and_then(|target| Format::from_name(&target.format));
        targets.colors.push(match (device.targets.get(&location), format) {
            (Some(image), Some(format)) if image.format() != format => {
                let (is, wanted) = (image.format().name(), format.name());
                let message = format!("target {location} is {is}, and the pipeline's is {wanted}");
                return Err(Failure::usage(message));
            }
            (Some(image), _) => image.clone(),
            (None, Some(_)) => {
                let message = format!("the pipeline has target {location}, and none is bound");
                return Err(Failure::usage(message));
            }
            (None, None) => Image::new(Format::Rgba8Unorm, Extent::plane(width, height))
                .map_err(|error| Failure::usage(error.to_string()))?,
        });
    }
    Ok((targets, pipeline))
}

/// The size that all targets have.
fn size(targets: &Targets) -> Reply<[u32; 2]> {
    let mut sizes = targets.colors.iter().chain(&targets.depth).map(|image| image.size(0));
    let [width, height, _] = sizes.next().unwrap_or([1; 3]);
    match sizes.all(|size| size == [width, height, 1]) && width.max(height) <= 8192 {
        true => Ok([width, height]),
        false => Err(Failure::usage("targets differ in size, or are larger than 8192 pixels")),
    }
}

fn state(given: &gpucc_draw, indices: Vec<u32>, width: u32, height: u32) -> Reply<draw::Draw> {
    let topologies =
        [Topology::TriangleList, Topology::TriangleStrip, Topology::LineList, Topology::PointList];
    let culls = [Cull::None, Cull::Front, Cull::Back];
    if !indices.is_empty() && given.vertices != 0 {
        return Err(Failure::usage("gpucc_draw.vertices: must be 0 where there are indices"));
    }
    let count = match indices.len() {
        0 => given.vertices,
        count => count as u32,
    };
    if u64::from(count).saturating_mul(given.instances.into()) > MOST {
        let message = format!("gpucc_draw: more than {MOST} vertices of all instances");
        return Err(Failure::usage(message));
    }
    let mut state = draw::Draw::new(count, given.instances, width, height);
    state.topology = abi::choice(given.topology, &topologies, "gpucc_draw.topology")?;
    state.cull = abi::choice(given.cull, &culls, "gpucc_draw.cull")?;
    state.front_ccw = !abi::truth(given.front_clockwise, "gpucc_draw.front_clockwise")?;
    state.indices = Some(indices).filter(|indices| !indices.is_empty());
    let write = abi::truth(given.depth_write, "gpucc_draw.depth_write")?;
    let compare = compare(given.depth_compare, "gpucc_draw.depth_compare")?;
    state.depth = compare.map(|compare| DepthState { compare, write });
    let mut numbers = given.viewport.iter().chain(&given.depth_range).chain(&given.blend_constant);
    // WebGPU 17.2.1: twice the largest target on each side.
    if !numbers.all(|number| number.is_finite() && number.abs() <= 16384.0) {
        return Err(Failure::usage("gpucc_draw: a number of the viewport that no target has"));
    }
    if given.viewport != [0.0; 4] {
        let [x, y, width, height] = given.viewport;
        if width < 0.0 || height < 0.0 {
            return Err(Failure::usage("gpucc_draw.viewport: a negative size"));
        }
        state.viewport = Viewport { x, y, width, height, ..state.viewport };
    }
    if given.depth_range != [0.0; 2] {
        [state.viewport.near, state.viewport.far] = given.depth_range;
    }
    state.scissor = Some(given.scissor).filter(|scissor| *scissor != [0; 4]);
    state.blend_constant = given.blend_constant;
    Ok(state)
}

//! Draws of scripts: Vulkan's state around two shaders, on the emulated units.

use super::run::{Running, keep, missing};
use super::{Attribute, Pipeline, Primitives, Shape};
use gpucc::execute::shade::{Draw, Program};
use gpucc::pipeline::{ColorTarget, FragmentState, Step, VertexBuffer, VertexState};
use gpucc::{Failure, Options, Stage};
use gpucc_emu::draw::{self, TargetState, Targets, Topology};
use gpucc_emu::raster::Viewport;
use gpucc_emu::world::load_word;

/// Vertices of a draw, at most.
const MOST_VERTICES: u32 = 1 << 20;
/// Where the corners of rectangles go.
const CORNERS: &str = "corners of the rectangle";

impl<'s> Running<'s> {
    /// Draws with a pipeline.
    ///
    /// # Errors
    /// A shader that does not compile, what is missing, and what stops the machine.
    pub fn draw(&mut self, name: &'s str, shape: Shape) -> Result<(), Failure> {
        let pipeline = self.pipeline(name)?;
        let rectangle = matches!(shape, Shape::Rectangle(_));
        let corners =
            [Attribute { location: 0, buffer: CORNERS.to_owned(), format: "float32x2", stride: 8 }];
        let attributes = if rectangle { &corners[..] } else { &pipeline.attributes[..] };
        let mut targets = self.targets(pipeline)?;
        let mut options = options(pipeline, attributes, &targets);
        if let Some(fragment) = &mut options.pipeline.fragment {
            fragment.unrestricted_depth = self.script.unrestricted_depth;
        }
        self.ready(name, rectangle, &options)?;
        let buffers = attributes.iter().map(|attribute| match shape {
            Shape::Rectangle(area) => Ok(rectangle_bytes(area)),
            Shape::Elements { .. } => self.bytes(&attribute.buffer).map(<[u8]>::to_vec),
        });
        let buffers: Vec<Vec<u8>> = buffers.collect::<Result<_, _>>()?;
        let mut state = self.state(pipeline, shape, attributes, &buffers, &targets)?;

        let found = |stage| {
            let mut all = self.compiled[&(name, rectangle)].iter();
            all.find(|one| one.func.stage == stage)
        };
        let of = |stage| found(stage).ok_or_else(|| missing("shader", "of this stage"));
        let (vs, gs, fs) = (of(Stage::Vertex)?, found(Stage::Geometry), of(Stage::Fragment)?);
        let compiler = self.compiler;
        let [mut vertex, mut fragment] =
            [vs, fs].map(|one| compiler.executor(&one.compiled, &one.options, &one.source));
        let mut geometry =
            gs.map(|one| (one, compiler.executor(&one.compiled, &one.options, &one.source)));
        let between = match &mut geometry {
            Some((one, executor)) => {
                let bindings = self.bindings(&one.func, pipeline)?;
                Some(Program::new(&one.compiled, executor, bindings))
            }
            None => None,
        };
        let mut programs = Draw::through(
            Program::new(&vs.compiled, &mut vertex, self.bindings(&vs.func, pipeline)?),
            between,
            Program::new(&fs.compiled, &mut fragment, self.bindings(&fs.func, pipeline)?),
            &buffers,
        )?;
        state.varyings = programs.varyings();
        let between = gs.map(|one| one.compiled.program.as_ref());
        let drawer = match (&vs.compiled.program, between, &fs.compiled.program) {
            (Some(vs), None, Some(fs)) => compiler.drawer(vs, None, fs, &options)?,
            (Some(vs), Some(Some(gs)), Some(fs)) => compiler.drawer(vs, Some(gs), fs, &options)?,
            _ => None,
        };
        programs.run(drawer, &state, &mut targets, None)?;
        let between = programs.geometry.map(|geometry| geometry.bindings);
        let written = [
            (Some(vs), Some(programs.vertex.bindings)),
            (gs, between),
            (Some(fs), Some(programs.fragment.bindings)),
        ];
        for (one, bindings) in written {
            if let (Some(one), Some(bindings)) = (one, bindings) {
                keep(&mut self.held, &one.func, pipeline, &bindings);
            }
        }
        for color in &pipeline.colors {
            self.put_back(&color.image, color.level, &targets.colors[color.location]);
        }
        if pipeline.resolves.len() > pipeline.colors.len() {
            return Err(Failure::not_yet("resolves without a target", "scripts"));
        }
        for (image, color) in pipeline.resolves.iter().zip(&pipeline.colors) {
            self.resolve(image, &targets.colors[color.location])?;
        }
        if let (Some(image), Some(plane)) = (&pipeline.depth_stencil, &targets.depth) {
            self.put_back(image, 0, plane);
        }
        Ok(())
    }

    fn targets(&self, pipeline: &Pipeline) -> Result<Targets, Failure> {
        let mut targets = Targets::default();
        for location in 0..pipeline.colors.len() {
            let mut all = pipeline.colors.iter();
            let found = all.find(|color| color.location == location);
            let color = found.ok_or_else(|| Failure::not_yet("gaps between targets", "scripts"))?;
            targets.colors.push(self.plane(&color.image, color.level)?);
        }
        if let Some(image) = &pipeline.depth_stencil {
            targets.depth = Some(self.plane(image, 0)?);
        }
        let samples = targets.samples();
        let mut all = targets.colors.iter().chain(&targets.depth);
        if all.any(|image| image.extent().samples != samples) {
            return Err(Failure::not_yet("targets of unequal samples", "scripts"));
        }
        Ok(targets)
    }

    fn state(
        &self,
        pipeline: &Pipeline,
        shape: Shape,
        attributes: &[Attribute],
        buffers: &[Vec<u8>],
        targets: &Targets,
    ) -> Result<draw::Draw, Failure> {
        let plane = targets.colors.first().or(targets.depth.as_ref());
        let [width, height, _] = plane.map_or([1; 3], |plane| plane.size(0));
        let elements = attributes.iter().zip(buffers);
        let elements = elements.map(|(one, bytes)| bytes.len() as u32 / one.stride.max(1)).min();
        let (topology, indices, count) = match shape {
            Shape::Rectangle(_) => (Topology::TriangleStrip, None, 4),
            Shape::Elements { topology, first, count, indexed } => {
                let all: Vec<u32> = match (&pipeline.indices, indexed) {
                    (Some(name), true) => self.indices(name)?,
                    (None, true) => return Err(missing("indices", "of the pipeline")),
                    (_, false) => {
                        let end = first.checked_add(count.unwrap_or(0));
                        let end = end.filter(|end| *end <= MOST_VERTICES);
                        let end = end.ok_or_else(|| Failure::usage("too many vertices"))?;
                        (0..elements.unwrap_or(0).max(end)).collect()
                    }
                };
                let from = all.get(first as usize..).unwrap_or_default();
                let count = count.map_or(from.len(), |count| from.len().min(count as usize));
                let from = &from[..count];
                let (topology, indices) = match topology {
                    Primitives::As(topology) => (topology, from.to_vec()),
                    Primitives::Fan => (Topology::TriangleList, fan(from)),
                };
                let count = indices.len() as u32;
                (topology, Some(indices), count)
            }
        };
        let mut state = draw::Draw::new(count, 1, width, height);
        (state.topology, state.indices) = (topology, indices);
        // Vulkan's y points down.
        let whole = ([0.0, 0.0, width as f32, height as f32], [0.0, 1.0]);
        let ([x, y, width, height], [near, far]) = pipeline.viewport.unwrap_or(whole);
        state.viewport = Viewport { x, y: y + height, width, height: -height, near, far };
        state.front_ccw = !pipeline.clockwise;
        state.cull = pipeline.cull;
        state.depth = pipeline.depth;
        (state.polygon, state.bias) = (pipeline.polygon, pipeline.bias);
        state.clamp_depth = pipeline.clamp_depth;
        state.unrestricted_depth = self.script.unrestricted_depth;
        state.line_width = pipeline.line_width.unwrap_or(1.0);
        let (masked, logic) = (pipeline.masked, pipeline.logic);
        let target = TargetState { blend: None, masked, logic };
        state.targets = vec![target; targets.colors.len()];
        Ok(state)
    }

    fn indices(&self, name: &str) -> Result<Vec<u32>, Failure> {
        let Some(super::Buffer::Values { ty, .. }) = self.script.buffers.get(name) else {
            return Err(missing("buffer", name));
        };
        let chunks = self.bytes(name)?.chunks(ty.component.bytes());
        Ok(chunks.map(|chunk| load_word(chunk, 0)).collect())
    }
}

/// Triangles of a fan.
fn fan(all: &[u32]) -> Vec<u32> {
    match all {
        [first, rest @ ..] => rest.windows(2).flat_map(|pair| [pair[0], pair[1], *first]).collect(),
        [] => Vec::new(),
    }
}

/// The corners of a rectangle as a strip, in Amber's order: the lower left one is the first.
fn rectangle_bytes([x, y, width, height]: [f32; 4]) -> Vec<u8> {
    let (right, bottom) = (x + width, y + height);
    let corners = [x, bottom, x, y, right, bottom, right, y];
    corners.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// What a driver knows of the pipeline.
fn options(pipeline: &Pipeline, attributes: &[Attribute], targets: &Targets) -> Options {
    let mut options = Options::default();
    let mut vertex = VertexState::default();
    for (buffer, attribute) in (0..).zip(attributes) {
        vertex.buffers.push(VertexBuffer { stride: attribute.stride, step: Step::Vertex });
        vertex.attributes.push(gpucc::pipeline::Attribute {
            location: attribute.location,
            format: attribute.format.to_owned(),
            buffer,
            offset: 0,
        });
    }
    options.pipeline.vertex = Some(vertex);
    let colors = targets.colors.iter().map(|image| {
        let write_mask = ColorTarget::ALL & !pipeline.masked;
        Some(ColorTarget { format: image.format().name().to_owned(), write_mask, blend: None })
    });
    let samples = targets.samples();
    options.pipeline.fragment = Some(FragmentState {
        targets: colors.collect(),
        samples: (samples > 1).then_some(samples),
        depth_stencil: targets.depth.as_ref().map(|image| image.format().name().to_owned()),
        ..FragmentState::default()
    });
    options
}

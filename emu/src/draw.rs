//! A draw: vertices are assembled, clipped, rasterised in 2x2 quads, shaded, tested and blended.
//! Everything here is fixed function; the programs stand behind [`Shade`].

pub use crate::blend::LogicOp;
use crate::blend::{Blend, blend_texel};
use crate::format::{Format, Kind};
use crate::image::{Image, Texel};
use crate::raster::{self, Corner, Found, Piece, Raster, Viewport};
pub use crate::raster::{Bias, Polygon};
use crate::sampler::Compare;
use gpucc_ir::driver::ColorTarget;
use gpucc_ir::ssa::{Corners, Emits, Interpolation, Sampling};
use smallvec::SmallVec;

/// How vertices make primitives.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Topology {
    /// Every three.
    #[default]
    TriangleList,
    /// Every one with the two before it.
    TriangleStrip,
    /// Every two.
    LineList,
    /// Every one.
    PointList,
    /// Every one with the one before it.
    LineStrip,
    /// Every four: the inner two are the line's.
    LineListAdjacency,
    /// Every one with the three before it: the inner two are the line's.
    LineStripAdjacency,
    /// Every six: every second one is a corner.
    TriangleListAdjacency,
    /// As [`Topology::TriangleStrip`] of every second one. Vulkan 1.3, Triangle Strips With Adjacency.
    TriangleStripAdjacency,
}

impl Topology {
    /// The WebGPU name.
    pub fn from_name(name: &str) -> Option<Topology> {
        Some(match name {
            "triangle-list" => Topology::TriangleList,
            "triangle-strip" => Topology::TriangleStrip,
            "line-list" => Topology::LineList,
            "point-list" => Topology::PointList,
            _ => return None,
        })
    }

    /// The corners of a primitive alone.
    fn without_adjacency(self, vertices: Vec<Vertex>) -> Vec<Vertex> {
        let corners: &[usize] = match self.corners() {
            Corners::LinesAdjacency => &[1, 2],
            Corners::TrianglesAdjacency => &[0, 2, 4],
            Corners::Points | Corners::Lines | Corners::Triangles => return vertices,
        };
        corners.iter().map(|&at| vertices[at].clone()).collect()
    }

    /// What is drawn of its primitives: lists without adjacency.
    pub const fn drawn(self) -> Topology {
        match self {
            Topology::PointList => Topology::PointList,
            Topology::LineList
            | Topology::LineStrip
            | Topology::LineListAdjacency
            | Topology::LineStripAdjacency => Topology::LineList,
            Topology::TriangleList
            | Topology::TriangleStrip
            | Topology::TriangleListAdjacency
            | Topology::TriangleStripAdjacency => Topology::TriangleList,
        }
    }

    /// What a geometry program must take.
    pub const fn corners(self) -> Corners {
        match self {
            Topology::PointList => Corners::Points,
            Topology::LineList | Topology::LineStrip => Corners::Lines,
            Topology::TriangleList | Topology::TriangleStrip => Corners::Triangles,
            Topology::LineListAdjacency | Topology::LineStripAdjacency => Corners::LinesAdjacency,
            Topology::TriangleListAdjacency | Topology::TriangleStripAdjacency => {
                Corners::TrianglesAdjacency
            }
        }
    }

    /// How the vertices of a geometry program make primitives.
    pub const fn emitted(emits: Emits) -> Topology {
        match emits {
            Emits::Points => Topology::PointList,
            Emits::LineStrip => Topology::LineStrip,
            Emits::TriangleStrip => Topology::TriangleStrip,
        }
    }
}

/// Which triangles are dropped.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cull {
    /// None.
    #[default]
    None,
    /// Front faces.
    Front,
    /// Back faces.
    Back,
}

/// A vector of up to four words that goes from the vertex stage to the fragment stage.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Varying {
    /// How it varies over the primitive.
    pub interpolation: Interpolation,
    /// Where it is taken.
    pub sampling: Sampling,
}

/// What a vertex program gives, or a geometry program for a vertex that it emits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vertex {
    /// Clip space.
    pub position: [f32; 4],
    /// One for each of [`Draw::varyings`], in that order; missing words are 0. In front of a geometry program they are what it
    /// takes, in any order.
    pub varyings: Vec<[u32; 4]>,
    /// Width of a point in pixels.
    pub point_size: Option<f32>,
    /// Distances to user planes: outside where negative.
    pub clip_distances: Vec<f32>,
    /// A primitive goes whose corners all have a negative one of the same number.
    pub cull_distances: Vec<f32>,
    /// Geometry programs: the number of the primitive that the vertex is the first one of.
    pub primitive: Option<u32>,
}

/// A primitive for a geometry program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    /// Its vertices, those beyond its edges too.
    pub vertices: Vec<Vertex>,
    /// Number of the primitive within its instance.
    pub number: u32,
}

/// What a geometry program emits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Emitted {
    /// The vertex.
    pub vertex: Vertex,
    /// It begins a strip.
    pub begins: bool,
}

/// One invocation of the vertex program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct VertexId {
    /// Vertex number without `first_vertex`.
    pub vertex: u32,
    /// Instance number without `first_instance`.
    pub instance: u32,
}

/// Four pixels: upper left, upper right, lower left, lower right.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Quad {
    /// Column of the left pixels, even.
    pub x: u32,
    /// Row of the upper pixels, even.
    pub y: u32,
    /// Bit i: pixel i is covered; the others are helpers.
    pub covered: u8,
    /// The primitive faces the viewer.
    pub front: bool,
    /// Primitive number within the draw.
    pub primitive: u32,
    /// Of each pixel's centre, or of its sample that the quad runs for: x, y, depth, 1 / w.
    pub position: [[f32; 4]; 4],
    /// Of the same places: where they lie in a point, 0 to 1 from the upper left corner.
    pub point: [[f32; 2]; 4],
    /// Of pixels of several samples; pixels of one have none.
    pub several: Option<Samples>,
}

impl Quad {
    /// The samples of a pixel that are covered.
    pub fn mask(&self, pixel: usize) -> u32 {
        match &self.several {
            Some(samples) => samples.masks[pixel],
            None => u32::from(self.covered >> pixel & 1),
        }
    }

    /// The sample that the program runs for; 0 where it runs for whole pixels.
    pub fn sample(&self) -> u32 {
        self.several.map_or(0, |samples| samples.own)
    }

    /// Places of a pixel's samples in 256ths of it.
    pub fn places(&self) -> &'static [[u8; 2]] {
        raster::places(self.several.map_or(1, |samples| samples.count))
    }
}

/// What is known of the samples of a quad's pixels.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Samples {
    /// How many a pixel has.
    pub count: u32,
    /// The one that the program runs for; 0 where it runs for whole pixels.
    pub own: u32,
    /// Bit k of each pixel: sample k is covered.
    pub masks: [u32; 4],
    /// [`Quad::position`] at the centre of each pixel, where the quad runs for a sample too.
    pub centers: [[f32; 4]; 4],
    /// [`Quad::point`] there.
    pub points: [[f32; 2]; 4],
}

/// Quads to shade together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuadBatch {
    /// The quads.
    pub quads: Vec<Quad>,
    /// Number of varyings.
    pub varyings: usize,
    /// `[quad][pixel][varying]`, flattened: see [`QuadBatch::varying`].
    pub values: Vec<[u32; 4]>,
}

impl QuadBatch {
    /// The value of a varying at a pixel of a quad.
    pub fn varying(&self, quad: usize, pixel: usize, varying: usize) -> [u32; 4] {
        self.values[(quad * 4 + pixel) * self.varyings + varying]
    }
}

/// What a fragment program gives for one pixel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pixel {
    /// Nothing is written.
    pub discarded: bool,
    /// One for each colour target: four words by the target's kind, or `None` when not written.
    pub colors: Vec<Option<[u32; 4]>>,
    /// Second source of dual-source blending.
    pub second: Option<[u32; 4]>,
    /// Replaces the depth of the rasteriser.
    pub depth: Option<f32>,
    /// Coverage; samples whose bit is clear are dropped.
    pub mask: Option<u32>,
}

/// The programs of a draw.
pub trait Shade {
    /// What stops a draw.
    type Error;

    /// Runs the vertex program; one [`Vertex`] for each id, in order.
    ///
    /// # Errors
    /// Whatever stops the program.
    fn vertices(&mut self, ids: &[VertexId]) -> Result<Vec<Vertex>, Self::Error>;

    /// Runs the fragment program; four pixels for each quad, in order. What helpers give is ignored.
    ///
    /// # Errors
    /// Whatever stops the program.
    fn quads(&mut self, batch: &QuadBatch) -> Result<Vec<Pixel>, Self::Error>;

    /// How the vertices of the geometry program make primitives; `None` where there is no such program.
    fn geometry(&self) -> Option<Emits> {
        None
    }

    /// Runs the geometry program; what it emits for each primitive, in order.
    ///
    /// # Errors
    /// Whatever stops the program.
    fn primitives(&mut self, primitives: &[Primitive]) -> Result<Vec<Vec<Emitted>>, Self::Error> {
        Ok(vec![Vec::new(); primitives.len()])
    }

    /// What happens to pixels before the fragment program.
    fn early(&self) -> Early {
        Early::default()
    }

    /// The fragment program runs for each sample, not for each pixel.
    fn by_sample(&self) -> bool {
        false
    }
}

/// Depth test and write.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DepthState {
    /// `fragment OP stored`.
    pub compare: Compare,
    /// Passing fragments replace what is stored.
    pub write: bool,
}

/// What happens to pixels before the fragment program runs. By default nothing: all of them run, and are tested behind it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Early {
    /// A pixel that fails the depth test does not run.
    pub test: bool,
    /// A pixel that passes it writes its depth at once, whatever the program does, and is not tested again.
    pub write: bool,
}

/// State of one colour target.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct TargetState {
    /// None replaces.
    pub blend: Option<Blend>,
    /// Bit c: component c is kept.
    pub masked: u8,
    /// In place of blending.
    pub logic: Option<LogicOp>,
}

impl TargetState {
    /// What a pipeline says of a target. Nothing reaches one that is not bound.
    pub fn of(target: Option<&ColorTarget>) -> TargetState {
        TargetState {
            blend: target.and_then(|target| target.blend),
            masked: !target.map_or(0, |target| target.write_mask) & ColorTarget::ALL,
            logic: None,
        }
    }
}

/// Fixed-function state of a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// How vertices make primitives.
    pub topology: Topology,
    /// Vertices of an instance (indices when there are some).
    pub vertices: u32,
    /// Instances.
    pub instances: u32,
    /// Vertex numbers, in place of 0, 1, 2...
    pub indices: Option<Vec<u32>>,
    /// In the order of the values.
    pub varyings: Vec<Varying>,
    /// Where clip space goes.
    pub viewport: Viewport,
    /// Pixels outside of x, y, width, height are dropped.
    pub scissor: Option<[u32; 4]>,
    /// Counter-clockwise (on the screen, y down, as WebGPU counts) is front; else clockwise.
    pub front_ccw: bool,
    /// Which triangles are dropped.
    pub cull: Cull,
    /// Depth test, when there is a depth target.
    pub depth: Option<DepthState>,
    /// By colour target; missing ones are the default.
    pub targets: Vec<TargetState>,
    /// Constant colour of blending.
    pub blend_constant: [f32; 4],
    /// Width of lines in pixels.
    pub line_width: f32,
    /// How triangles are drawn.
    pub polygon: Polygon,
    /// Nothing is clipped by its depth: what is written lies between the viewport's depths.
    pub clamp_depth: bool,
    /// Depths that are not clamped so may lie beyond 0 and 1. Vulkan: VK_EXT_depth_range_unrestricted.
    pub unrestricted_depth: bool,
    /// What is added to the depths of triangles.
    pub bias: Bias,
}

impl Draw {
    /// A triangle list over a whole target of this size.
    pub fn new(vertices: u32, instances: u32, width: u32, height: u32) -> Draw {
        Draw {
            topology: Topology::TriangleList,
            vertices,
            instances,
            indices: None,
            varyings: Vec::new(),
            viewport: Viewport::whole(width, height),
            scissor: None,
            front_ccw: true,
            cull: Cull::None,
            depth: None,
            targets: Vec::new(),
            blend_constant: [0.0; 4],
            line_width: 1.0,
            polygon: Polygon::Fill,
            clamp_depth: false,
            unrestricted_depth: false,
            bias: Bias::default(),
        }
    }

    /// Whether WebGPU has all that the draw asks for. Emulated units that draw by themselves have no more.
    pub fn is_plain(&self) -> bool {
        self.polygon == Polygon::Fill
            && self.line_width == 1.0
            && self.targets.iter().all(|target| target.logic.is_none())
            && !(self.clamp_depth || self.unrestricted_depth)
            && self.bias == Bias::default()
    }
}

/// What a draw writes to: level 0 and layer 0 of each image. All have the same number of samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    /// Colour targets.
    pub colors: Vec<Image>,
    /// Depth target.
    pub depth: Option<Image>,
}

impl Targets {
    /// Samples of a pixel: those that every target has.
    pub fn samples(&self) -> u32 {
        let all = self.colors.iter().chain(&self.depth);
        all.map(|image| image.extent().samples).min().unwrap_or(1)
    }
}

/// What a draw did.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawStats {
    /// Invocations of the vertex program.
    pub vertices: u64,
    /// Primitives after assembly.
    pub primitives: u64,
    /// Quads shaded.
    pub quads: u64,
    /// Pixels written.
    pub pixels: u64,
}

/// Vertices that are shaded together.
const VERTEX_BATCH: usize = 64;
/// Quads that are shaded together: one wavefront of 64.
const QUAD_BATCH: usize = 16;

/// Runs a draw.
///
/// # Errors
/// What a program reports; the targets keep what was drawn before it.
pub fn draw<S: Shade>(
    draw: &Draw,
    shade: &mut S,
    targets: &mut Targets,
) -> Result<DrawStats, S::Error> {
    let mut stats = DrawStats::default();
    let size = target_size(targets);
    let early = shade.early();
    // Of another number those places are used that there are.
    let samples = raster::places(targets.samples()).len() as u32;
    let by_sample = samples > 1 && shade.by_sample();
    let batch = QuadBatch::default();
    let held = Vec::new();
    let stats = &mut stats;
    let mut pipe = Pipe { draw, shade, targets, early, samples, by_sample, stats, batch, held };
    pipe.batch.varyings = draw.varyings.len();
    let emits = pipe.shade.geometry();
    let drawn = emits.map_or(draw.topology, Topology::emitted).drawn();
    let mut primitive = 0;
    for instance in 0..draw.instances {
        let mut assembly = Assembly::new(draw.topology);
        let mut number = 0;
        let mut at = 0;
        while at < draw.vertices {
            let end = draw.vertices.min(at.saturating_add(VERTEX_BATCH as u32));
            let ids: Vec<VertexId> = (at..end)
                .map(|n| VertexId {
                    vertex: match &draw.indices {
                        Some(indices) => indices.get(n as usize).copied().unwrap_or(0),
                        None => n,
                    },
                    instance,
                })
                .collect();
            pipe.stats.vertices += ids.len() as u64;
            let mut whole = Vec::new();
            for vertex in pipe.shade.vertices(&ids)? {
                whole.extend(assembly.push(vertex));
            }
            at = end;
            if at == draw.vertices {
                whole.extend(assembly.finish());
            }
            let Some(emits) = emits else {
                for vertices in whole {
                    let corners = draw.topology.without_adjacency(vertices);
                    pipe.corners(drawn, corners, &mut primitive, size)?;
                }
                continue;
            };
            let numbered = whole.into_iter().zip(number..);
            let given: Vec<Primitive> =
                numbered.map(|(vertices, number)| Primitive { vertices, number }).collect();
            number += given.len() as u32;
            for emitted in pipe.shade.primitives(&given)? {
                let mut strip = Assembly::new(Topology::emitted(emits));
                for Emitted { vertex, begins } in emitted {
                    if begins {
                        strip = Assembly::new(Topology::emitted(emits));
                    }
                    if let Some(corners) = strip.push(vertex) {
                        pipe.corners(drawn, corners, &mut primitive, size)?;
                    }
                }
            }
        }
    }
    pipe.flush()?;
    Ok(*stats)
}

fn target_size(targets: &Targets) -> [u32; 2] {
    let mut size = [u32::MAX; 2];
    for image in targets.colors.iter().chain(&targets.depth) {
        let [w, h, _] = image.size(0);
        size = [size[0].min(w), size[1].min(h)];
    }
    if size[0] == u32::MAX { [0; 2] } else { size }
}

/// Collects the vertices of primitives.
struct Assembly {
    topology: Topology,
    held: Vec<Vertex>,
    /// Primitives that a strip has given.
    given: usize,
}

impl Assembly {
    fn new(topology: Topology) -> Assembly {
        Assembly { topology, held: Vec::with_capacity(8), given: 0 }
    }

    /// The vertices of the primitive that this vertex completes. In a strip the first corner is the
    /// provoking one, and every second triangle swaps the other two to keep its facing.
    fn push(&mut self, vertex: Vertex) -> Option<Vec<Vertex>> {
        self.held.push(vertex);
        let (needed, used) = match self.topology {
            Topology::PointList => (1, 1),
            Topology::LineList => (2, 2),
            Topology::LineStrip => (2, 1),
            Topology::TriangleList => (3, 3),
            Topology::TriangleStrip => (3, 1),
            Topology::LineListAdjacency => (4, 4),
            Topology::LineStripAdjacency => (4, 1),
            Topology::TriangleListAdjacency => (6, 6),
            // The vertex beyond the edge to the next triangle is the last one of that.
            Topology::TriangleStripAdjacency => return self.push_adjacent(),
        };
        if self.held.len() < needed {
            return None;
        }
        if used == needed {
            return Some(std::mem::take(&mut self.held));
        }
        let mut vertices = self.held.clone();
        self.held.drain(..used);
        if self.topology == Topology::TriangleStrip && self.given % 2 == 1 {
            vertices.swap(1, 2);
        }
        self.given += 1;
        Some(vertices)
    }

    /// [`Assembly::push`] of a strip with adjacency. All vertices from the last triangle's first one on are held, and the two
    /// before it.
    fn push_adjacent(&mut self) -> Option<Vec<Vertex>> {
        // The next triangle follows once its last vertex is there.
        let first = 2 * usize::from(self.given > 0);
        (self.held.len() > first + 7).then(|| self.adjacent(first, 6))
    }

    /// The last triangle of a strip with adjacency, where there is one.
    fn finish(&mut self) -> Option<Vec<Vertex>> {
        let first = 2 * usize::from(self.given > 0);
        let whole =
            self.topology == Topology::TriangleStripAdjacency && self.held.len() >= first + 6;
        whole.then(|| self.adjacent(first, 5))
    }

    /// The triangle of a strip with adjacency whose first corner is held at `first`. Behind the edge to the next triangle lies
    /// the vertex at `next` from there.
    fn adjacent(&mut self, first: usize, next: usize) -> Vec<Vertex> {
        let before = if self.given > 0 { first - 2 } else { first + 1 };
        let (side, next) = (first + 3, first + next);
        let order = match self.given % 2 {
            0 => [first, before, first + 2, next, first + 4, side],
            _ => [first, side, first + 4, next, first + 2, before],
        };
        let vertices = order.map(|at| self.held[at].clone()).to_vec();
        self.held.drain(..first);
        self.given += 1;
        vertices
    }
}

/// What primitives flow through.
struct Pipe<'a, S: Shade> {
    draw: &'a Draw,
    shade: &'a mut S,
    targets: &'a mut Targets,
    early: Early,
    /// Samples of a pixel.
    samples: u32,
    /// The fragment program runs for each of them.
    by_sample: bool,
    stats: &'a mut DrawStats,
    batch: QuadBatch,
    /// What the tests behind the program need of each quad of the batch.
    held: Vec<Held>,
}

/// What is left of a quad until its pixels are written.
struct Held {
    /// Samples of each pixel that are written.
    masks: [u32; 4],
    /// Their depths by sample from `first` on, by pixel; none where nothing is tested.
    depths: SmallVec<[[f32; 4]; 1]>,
    first: u32,
}

impl Held {
    fn depth(&self, sample: u32, pixel: usize) -> f32 {
        self.depths.get((sample - self.first) as usize).map_or(0.0, |depths| depths[pixel])
    }
}

impl<S: Shade> Pipe<'_, S> {
    /// Draws a primitive with the next number, or with the one that its first vertex has.
    fn corners(
        &mut self,
        drawn: Topology,
        mut corners: Vec<Vertex>,
        next: &mut u32,
        size: [u32; 2],
    ) -> Result<(), S::Error> {
        for corner in &mut corners {
            corner.varyings.resize(self.draw.varyings.len(), [0; 4]);
        }
        let number = corners.first().and_then(|first| first.primitive).unwrap_or(*next);
        self.stats.primitives += 1;
        *next += 1;
        self.primitive(drawn, &corners, number, size)
    }

    fn primitive(
        &mut self,
        drawn: Topology,
        corners: &[Vertex],
        primitive: u32,
        size: [u32; 2],
    ) -> Result<(), S::Error> {
        let distances = corners.iter().map(|v| v.cull_distances.len()).min();
        let outside = |k: usize| corners.iter().all(|v| v.cull_distances[k] < 0.0);
        if (0..distances.unwrap_or(0)).any(outside) {
            return Ok(());
        }
        let draw = self.draw;
        let scissor = draw.scissor.unwrap_or([0, 0, size[0], size[1]]);
        let bounds = [
            scissor[0].min(size[0]),
            scissor[1].min(size[1]),
            scissor[0].saturating_add(scissor[2]).min(size[0]),
            scissor[1].saturating_add(scissor[3]).min(size[1]),
        ];
        let depth = self.targets.depth.as_ref();
        let raster = Raster {
            keeps_depths: draw.clamp_depth,
            polygon: draw.polygon,
            line_width: draw.line_width,
            bias: draw.bias,
            depth_step: depth.and_then(|image| image.format().depth_step()),
            samples: self.samples,
            ..Raster::new(draw.viewport, bounds, draw.front_ccw)
        };
        let shape: Vec<Corner> = corners
            .iter()
            .map(|v| Corner {
                position: v.position.map(f64::from),
                clip: &v.clip_distances,
                size: v.point_size.unwrap_or(1.0),
            })
            .collect();
        // What an early test reads must be written, also where it is written behind the program. Pixels of one triangle do
        // not meet, but those of its edges and corners do.
        let waits = self.early.test && !self.early.write;
        if waits {
            self.flush()?;
        }
        for piece in raster.pieces(drawn, &shape) {
            if waits && draw.polygon != Polygon::Fill {
                self.flush()?;
            }
            let culled = match draw.cull {
                Cull::None => false,
                Cull::Front => piece.front() && corners.len() == 3,
                Cull::Back => !piece.front() && corners.len() == 3,
            };
            if culled {
                continue;
            }
            let mut cursor = piece.quads();
            while let Some(found) = cursor.next(&piece) {
                if !self.by_sample {
                    self.quad(&piece, &found, &found, (corners, primitive), 0)?;
                    continue;
                }
                for sample in 0..self.samples {
                    let own = piece.sampled(&found, sample as usize);
                    if own.covered != 0 {
                        self.quad(&piece, &found, &own, (corners, primitive), sample)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Collects a quad for the fragment program. `whole` is it as its pixels have it; `own` is the same, or as one sample of
    /// each pixel has it.
    fn quad(
        &mut self,
        piece: &Piece,
        whole: &Found,
        own: &Found,
        (corners, primitive): (&[Vertex], u32),
        sample: u32,
    ) -> Result<(), S::Error> {
        let held = self.before(piece, own, sample);
        let covered = raster::covered(held.masks);
        if covered == 0 {
            return Ok(());
        }
        // Tests hide no sample from the program: Vulkan 1.3, Sample Mask.
        let runs = |pixel: usize| held.masks[pixel] != 0;
        let masks = [0, 1, 2, 3].map(|pixel| if runs(pixel) { own.masks[pixel] } else { 0 });
        let count = self.samples;
        let samples = || Samples {
            count,
            own: sample,
            masks,
            centers: whole.position,
            points: piece.point_coords(whole),
        };
        let quad = Quad {
            x: own.x,
            y: own.y,
            covered,
            front: piece.front(),
            primitive,
            position: own.position,
            point: piece.point_coords(own),
            several: (count > 1).then(samples),
        };
        for pixel in 0..4 {
            for (k, varying) in self.draw.varyings.iter().enumerate() {
                let centroid = varying.sampling == Sampling::Centroid;
                let at = if varying.sampling == Sampling::Sample { own } else { whole };
                let weights = match varying.interpolation {
                    Interpolation::Flat => {
                        self.batch.values.push(corners[0].varyings[k]);
                        continue;
                    }
                    Interpolation::Perspective => piece.perspective(at, pixel, centroid),
                    Interpolation::Linear => piece.linear(at, pixel, centroid),
                };
                let mut value = [0u32; 4];
                for (c, word) in value.iter_mut().enumerate() {
                    let mut sum = 0.0;
                    for (corner, weight) in corners.iter().zip(weights) {
                        let v = f32::from_bits(corner.varyings[k][c]);
                        sum += weight * f64::from(v);
                    }
                    *word = (sum as f32).to_bits();
                }
                self.batch.values.push(value);
            }
        }
        self.batch.quads.push(quad);
        self.held.push(held);
        if self.batch.quads.len() == QUAD_BATCH {
            self.flush()?;
        }
        Ok(())
    }

    /// The samples of a quad that run: all that are covered, or of a quad by sample the one.
    fn before(&mut self, piece: &Piece, quad: &Found, sample: u32) -> Held {
        let own = |position: [[f32; 4]; 4]| position.map(|position| position[2]);
        let tests = self.draw.depth.is_some() && self.targets.depth.is_some();
        let depths = match (self.samples, self.by_sample) {
            _ if !tests => SmallVec::new(),
            (1, _) | (_, true) => SmallVec::from_buf([own(quad.position)]),
            (count, false) => {
                let at = |sample| own(piece.sampled(quad, sample).position);
                (0..count as usize).map(at).collect()
            }
        };
        let mut held = Held { masks: quad.masks, depths, first: sample };
        if self.early.test && tests {
            for pixel in 0..4 {
                let at = pixel_of([quad.x, quad.y], pixel);
                for sample in samples(held.masks[pixel]) {
                    let (at, depth) = (Texel { sample, ..at }, held.depth(sample, pixel));
                    if !depth_passes(self.draw, self.targets, at, depth, self.early.write) {
                        held.masks[pixel] &= !(1 << sample);
                    }
                }
            }
        }
        held
    }

    /// Shades and writes what was collected, in order.
    fn flush(&mut self) -> Result<(), S::Error> {
        if self.batch.quads.is_empty() {
            return Ok(());
        }
        let pixels = self.shade.quads(&self.batch)?;
        self.stats.quads += self.batch.quads.len() as u64;
        let quads = self.batch.quads.iter().zip(&self.held);
        for ((quad, held), four) in quads.zip(pixels.chunks(4)) {
            for (n, pixel) in four.iter().enumerate() {
                if pixel.discarded {
                    continue;
                }
                let at = pixel_of([quad.x, quad.y], n);
                let mut written = false;
                for sample in samples(held.masks[n] & pixel.mask.unwrap_or(u32::MAX)) {
                    let depth = (!self.early.write).then(|| held.depth(sample, n));
                    let at = Texel { sample, ..at };
                    written |= write_sample(self.draw, self.targets, at, depth, pixel);
                }
                self.stats.pixels += u64::from(written);
            }
        }
        self.batch.quads.clear();
        self.batch.values.clear();
        self.held.clear();
        Ok(())
    }
}

/// The texel of a pixel of a quad.
fn pixel_of([x, y]: [u32; 2], pixel: usize) -> Texel {
    Texel { x: x + (pixel as u32 & 1), y: y + (pixel as u32 >> 1), ..Texel::default() }
}

/// The bits of a mask that are set.
fn samples(mask: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS).filter(move |sample| mask >> sample & 1 == 1)
}

/// Tests the depth of a sample, and writes it where it passes and the draw writes depths.
fn depth_passes(draw: &Draw, targets: &mut Targets, at: Texel, depth: f32, write: bool) -> bool {
    let (Some(state), Some(image)) = (draw.depth, targets.depth.as_mut()) else {
        return true;
    };
    let Viewport { near, far, .. } = draw.viewport;
    let depth = match (draw.clamp_depth, draw.unrestricted_depth) {
        (true, _) => depth.clamp(near.min(far), near.max(far)),
        (false, true) => depth,
        (false, false) => depth.clamp(0.0, 1.0),
    };
    let Some(texel) = image.load(at) else {
        return false;
    };
    // Compared as the target would hold it.
    let held = round_through(image.format(), depth);
    let passes = state.compare.test(held, f32::from_bits(texel[0]));
    if passes && state.write && write {
        image.store(at, [depth.to_bits(), 0, 0, 0]);
    }
    passes
}

/// Tests, blends and writes one sample; false when a test drops it. Without a depth it was tested before.
fn write_sample(
    draw: &Draw,
    targets: &mut Targets,
    at: Texel,
    depth: Option<f32>,
    pixel: &Pixel,
) -> bool {
    if let Some(depth) = depth
        && !depth_passes(draw, targets, at, pixel.depth.unwrap_or(depth), true)
    {
        return false;
    }
    for (n, image) in targets.colors.iter_mut().enumerate() {
        let Some(Some(color)) = pixel.colors.get(n).copied() else {
            continue;
        };
        let state = draw.targets.get(n).copied().unwrap_or_default();
        let format = image.format();
        if let Some(logic) = state.logic.filter(|_| LogicOp::applies_to(format)) {
            if let Some(texel) = image.texel_bytes_mut(at) {
                logic.store(format, color, state.masked, texel);
            }
            continue;
        }
        let Some(old) = image.load(at) else {
            continue;
        };
        let mut new = match state.blend.filter(|_| state.logic.is_none()) {
            Some(blend) if !image.format().kind().is_integer() => {
                let [first, second] = [color, pixel.second.unwrap_or([0; 4])]
                    .map(|source| source.map(|word| representable(image.format(), word)));
                let constant = draw
                    .blend_constant
                    .map(|value| f32::from_bits(representable(image.format(), value.to_bits())));
                blend_texel(&blend, first, second, old, constant)
            }
            _ => color,
        };
        for c in 0..4 {
            if state.masked >> c & 1 == 1 {
                new[c] = old[c];
            }
        }
        image.store(at, new);
    }
    true
}

/// What blending takes, as bits of a float: normalised targets have sources and constants clamped to what they hold.
pub fn representable(format: Format, word: u32) -> u32 {
    let lowest = match format.kind() {
        Kind::Unorm | Kind::Srgb => 0.0,
        Kind::Snorm => -1.0,
        _ => return word,
    };
    // Not a number is 0, as the format stores it.
    let value = f32::from_bits(word);
    if value.is_nan() { 0 } else { value.clamp(lowest, 1.0).to_bits() }
}

/// A depth as its format would give it back.
fn round_through(format: Format, depth: f32) -> f32 {
    let mut texel = [0u8; 16];
    format.encode([depth.to_bits(), 0, 0, 0], &mut texel);
    f32::from_bits(format.decode(&texel)[0])
}

#[cfg(test)]
mod tests;

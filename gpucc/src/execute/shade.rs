//! A draw: two executors behind the rasteriser, varyings linked by location.

use super::{Executor, Stop, VertexRun};
use crate::Failure;
use crate::link;
use gpucc_emu::device::{DrawCall, Drawer};
use gpucc_emu::draw::{self, Early, Pixel, QuadBatch, Shade, Targets, Varying, Vertex, VertexId};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::numerics::{f16_to_f64, half_bits, word_bits};
use gpucc_ir::ssa::{
    Builtin, Func, InputKind, Interpolation, OutputKind, Resource, ResourceData, ResourceKind,
    Scalar, Stage,
};
use std::collections::BTreeMap;

/// One of the two programs with what it is bound to.
pub struct Program<'a> {
    /// The function as the executor knows it: its inputs and outputs.
    pub func: &'a Func,
    /// Runs it.
    pub executor: &'a mut Executor,
    /// Its bindings.
    pub bindings: Bindings,
    /// A vertex program whose positions are divided by w, with 1 / w in the place of w, and whose linear varyings are
    /// multiplied by w.
    pub divided: bool,
}

impl<'a> Program<'a> {
    /// A compiled program.
    pub fn new(
        compiled: &'a crate::Compiled,
        executor: &'a mut Executor,
        bindings: Bindings,
    ) -> Program<'a> {
        let divided = compiled.program.as_ref().is_some_and(|program| program.divides_positions());
        Program { func: &compiled.ssa, executor, bindings, divided }
    }
}

/// The two programs of a draw.
pub struct Draw<'a> {
    /// Vertex program.
    pub vertex: Program<'a>,
    /// Fragment program.
    pub fragment: Program<'a>,
    /// Vertex buffers by the pipeline's numbers.
    pub buffers: &'a [Vec<u8>],
    /// Steps that each batch of vertices and of pixels may take.
    pub steps: [u64; 2],
    /// Bindings that are one for both programs, by their numbers in each and their element: those of one group and binding. A
    /// caller removes what it binds apart.
    pub shared: Vec<([Resource; 2], u32)>,
    /// The program, 0 or 1, whose bindings have what is shared.
    holder: usize,
    /// For each varying of the fragment program, the vertex output that feeds it; zeros where neither program has it.
    links: Vec<Option<usize>>,
    /// Varyings that the rasteriser interpolates as f32 and the programs know as f16: leaving the
    /// vertex program, entering the fragment program.
    halves: Vec<[bool; 2]>,
}

impl<'a> Draw<'a> {
    /// Links the two programs.
    ///
    /// # Errors
    /// A fragment input that no vertex output feeds, or that is another type there.
    pub fn new(
        vertex: Program<'a>,
        fragment: Program<'a>,
        buffers: &'a [Vec<u8>],
    ) -> Result<Draw<'a>, Failure> {
        let steps = [&vertex, &fragment].map(|program| program.executor.steps());
        let mut links = Vec::new();
        let mut halves = Vec::new();
        for (input, output) in link::fed(vertex.func, fragment.func)? {
            let data = &fragment.func.inputs[input];
            let InputKind::Location { interpolation, .. } = data.kind else {
                continue;
            };
            links.push(output.map(|output| output.as_u32() as usize));
            let smooth = interpolation != Interpolation::Flat;
            let written = output.map_or(data.scalar, |output| vertex.func.outputs[output].scalar);
            halves.push([written, data.scalar].map(|scalar| smooth && scalar == Scalar::F16));
        }
        let shared = shared(vertex.func, fragment.func);
        Ok(Draw { vertex, fragment, buffers, steps, shared, holder: 0, links, halves })
    }

    /// Gives both programs what is shared.
    fn share(&mut self) {
        share([&mut self.vertex.bindings, &mut self.fragment.bindings], &self.shared);
        self.holder = 0;
    }

    /// A program may store to what is shared.
    fn stores(&self) -> bool {
        let stores = |func: &Func, resource: Resource| func.resources[resource].kind.is_stored();
        self.shared.iter().any(|&([vertex, fragment], _)| {
            stores(self.vertex.func, vertex) || stores(self.fragment.func, fragment)
        })
    }

    /// Hands what is shared to the program that runs next: it sees what the other one has stored.
    fn hand(&mut self, program: usize) {
        if self.holder == program {
            return;
        }
        self.holder = program;
        for &([vertex, fragment], element) in &self.shared {
            let (own, theirs) = ((vertex, element), (fragment, element));
            self.vertex.bindings.exchange(own, &mut self.fragment.bindings, theirs);
        }
    }

    /// Copies what is shared to the program that ran before the last one.
    fn settle(&mut self) {
        // Where nobody stores, both have the same.
        if !self.stores() {
            return;
        }
        let holder = self.holder;
        for &([vertex, fragment], element) in &self.shared {
            let [vs, fs] = [&mut self.vertex.bindings, &mut self.fragment.bindings];
            let (vertex, fragment) = ((vertex, element), (fragment, element));
            match holder {
                0 => fs.copy(fragment, vs, vertex),
                _ => vs.copy(vertex, fs, fragment),
            }
        }
    }

    /// Draws, by the machine's own units where its emulator has them (`drawer`, see [`crate::Compiler::drawer`]) and they
    /// lack nothing, by the rasteriser otherwise, and where a program stores to what is shared: the units have a copy for each
    /// program. `steps` are those that the units may take; a default where there are none.
    ///
    /// A binding of both programs is one: what one of them stores the other one loads. Vertices run in batches of 64, pixels
    /// when 16 quads are collected or the draw ends, in the order of the primitives. Machines leave this order open, but for
    /// pixels, which follow the vertices of their primitive.
    ///
    /// # Errors
    /// Why a program stopped. More samples a pixel than the emulated machine has are not built.
    pub fn run(
        &mut self,
        drawer: Option<Box<dyn Drawer>>,
        state: &draw::Draw,
        targets: &mut Targets,
        steps: Option<u64>,
    ) -> Result<(), Failure> {
        let samples = targets.samples();
        if samples > self.fragment.executor.most_samples() {
            return Err(Failure::not_yet(
                "drawing several samples a pixel",
                "the emulated machine",
            ));
        }
        self.share();
        if let Some(mut drawer) = drawer.filter(|_| samples == 1 && !self.stores()) {
            if let Some(steps) = steps {
                drawer.launcher().set_steps(steps);
            }
            let bindings = [&mut self.vertex.bindings, &mut self.fragment.bindings];
            let drawn = drawer.draw(DrawCall { state, buffers: self.buffers, bindings, targets });
            if drawn.map_err(|stop| Stop::from(stop).into_failure())? {
                return Ok(());
            }
        }
        let drawn = draw::draw(state, self, targets).map(drop).map_err(Stop::into_failure);
        self.settle();
        drawn
    }

    /// How each varying is interpolated.
    pub fn varyings(&self) -> Vec<Varying> {
        self.fragment
            .func
            .inputs
            .values()
            .filter_map(|data| match data.kind {
                InputKind::Location { interpolation, sampling, .. } => {
                    Some(Varying { interpolation, sampling })
                }
                InputKind::Builtin(_) => None,
            })
            .collect()
    }

    /// Colour targets that the fragment program writes: one past the highest location.
    pub fn color_targets(&self) -> usize {
        color_targets(self.fragment.func)
    }
}

/// Makes what is shared equal in both bindings: of two buffers the longer one is kept, of other things the vertex program's.
pub fn share(bindings: [&mut Bindings; 2], shared: &[([Resource; 2], u32)]) {
    let [vs, fs] = bindings;
    for &([vertex, fragment], element) in shared {
        vs.merge((vertex, element), fs, (fragment, element));
    }
}

/// Bindings that two functions declare alike at one group and binding, element by element: those that both have. Immediates are
/// not among them: nobody stores to them.
pub fn shared(vertex: &Func, fragment: &Func) -> Vec<([Resource; 2], u32)> {
    // A texture and a sampler may be one binding of SPIR-V.
    let place = |data: &ResourceData| {
        (data.group, data.binding, matches!(data.kind, ResourceKind::Sampler { .. }))
    };
    let of = |func: &Func| -> BTreeMap<(u32, u32, bool), Resource> {
        let all = func.resources.iter();
        let bound = all.filter(|(_, data)| !matches!(data.kind, ResourceKind::Immediate { .. }));
        bound.map(|(resource, data)| (place(data), resource)).collect()
    };
    let theirs = of(fragment);
    let both = of(vertex).into_iter().filter_map(|(place, own)| {
        let other = *theirs.get(&place)?;
        let [one, two] = [&vertex.resources[own], &fragment.resources[other]];
        let count = one.count.unwrap_or(1).min(two.count.unwrap_or(1));
        alike(one.kind, two.kind).then_some(([own, other], count))
    });
    both.flat_map(|(pair, count)| (0..count).map(move |element| (pair, element))).collect()
}

/// One thing can stand behind both.
fn alike(one: ResourceKind, other: ResourceKind) -> bool {
    use ResourceKind as K;
    match (one, other) {
        (K::Uniform { .. }, K::Uniform { .. }) | (K::Storage { .. }, K::Storage { .. }) => true,
        (
            K::StorageTexture { dim, arrayed, format, .. },
            K::StorageTexture {
                dim: other_dim, arrayed: other_arrayed, format: other_format, ..
            },
        ) => (dim, arrayed, format) == (other_dim, other_arrayed, other_format),
        _ => one == other,
    }
}

/// Clip space again, and linear varyings as the source has them: the rasteriser divides by itself.
fn multiply_back(func: &Func, out: &mut [[u32; 4]]) {
    let is_position = |kind: OutputKind| kind == OutputKind::Builtin(Builtin::Position);
    let Some(at) = func.outputs.values().position(|o| is_position(o.kind)) else {
        return;
    };
    let reciprocal = f32::from_bits(out[at][3]);
    for (output, words) in func.outputs.values().zip(out) {
        match output.kind {
            kind if is_position(kind) => {
                let [x, y, z, _] = words.map(|word| (f32::from_bits(word) / reciprocal).to_bits());
                *words = [x, y, z, (1.0 / reciprocal).to_bits()];
            }
            OutputKind::Location { interpolation: Interpolation::Linear, .. }
                if output.scalar == Scalar::F16 =>
            {
                *words = words.map(|word| {
                    let wide = f16_to_f64(word as u16) * f64::from(reciprocal);
                    half_bits((wide as f32).to_bits())
                });
            }
            OutputKind::Location { interpolation: Interpolation::Linear, .. } => {
                *words = words.map(|word| (f32::from_bits(word) * reciprocal).to_bits())
            }
            _ => {}
        }
    }
}

/// One past the highest location that a fragment function writes.
pub fn color_targets(func: &Func) -> usize {
    debug_assert_eq!(func.stage, Stage::Fragment);
    func.outputs
        .values()
        .filter_map(|output| match output.kind {
            OutputKind::Location { location, .. } => Some(location as usize + 1),
            OutputKind::Builtin(_) => None,
        })
        .max()
        .unwrap_or(0)
}

impl Shade for Draw<'_> {
    type Error = Stop;

    fn vertices(&mut self, ids: &[VertexId]) -> Result<Vec<Vertex>, Stop> {
        let run = VertexRun { ids, first_vertex: 0, first_instance: 0, buffers: self.buffers };
        self.hand(0);
        self.vertex.executor.set_steps(self.steps[0]);
        let outs = self.vertex.executor.vertices(&mut self.vertex.bindings, &run)?;
        let func = self.vertex.func;
        Ok(outs
            .into_iter()
            .map(|mut out| {
                if self.vertex.divided {
                    multiply_back(func, &mut out);
                }
                let varying = |(index, &[half, _]): (&Option<usize>, &[bool; 2])| {
                    let words = index.map_or([0; 4], |index| out[index]);
                    match half {
                        true => words.map(word_bits),
                        false => words,
                    }
                };
                let mut vertex = Vertex {
                    varyings: self.links.iter().zip(&self.halves).map(varying).collect(),
                    ..Vertex::default()
                };
                for (output, words) in func.outputs.values().zip(&out) {
                    match output.kind {
                        OutputKind::Builtin(Builtin::Position) => {
                            vertex.position = words.map(f32::from_bits);
                        }
                        OutputKind::Builtin(Builtin::PointSize) => {
                            vertex.point_size = Some(f32::from_bits(words[0]));
                        }
                        OutputKind::Builtin(Builtin::ClipDistance(_)) => {
                            let words = &words[..usize::from(output.components)];
                            vertex
                                .clip_distances
                                .extend(words.iter().map(|&word| f32::from_bits(word)));
                        }
                        OutputKind::Builtin(Builtin::CullDistance(_)) => {
                            let words = &words[..usize::from(output.components)];
                            vertex
                                .cull_distances
                                .extend(words.iter().map(|&word| f32::from_bits(word)));
                        }
                        OutputKind::Builtin(_) | OutputKind::Location { .. } => {}
                    }
                }
                vertex
            })
            .collect())
    }

    fn early(&self) -> Early {
        self.fragment.executor.early()
    }

    fn by_sample(&self) -> bool {
        self.fragment.executor.by_sample()
    }

    fn quads(&mut self, batch: &QuadBatch) -> Result<Vec<Pixel>, Stop> {
        let mut narrow;
        let mut batch = batch;
        if self.halves.iter().any(|&[_, half]| half) {
            narrow = batch.clone();
            for (n, words) in narrow.values.iter_mut().enumerate() {
                if self.halves[n % self.halves.len()][1] {
                    *words = words.map(half_bits);
                }
            }
            batch = &narrow;
        }
        self.hand(1);
        self.fragment.executor.set_steps(self.steps[1]);
        let outs = self.fragment.executor.quads(&mut self.fragment.bindings, batch)?;
        let func = self.fragment.func;
        let targets = color_targets(func);
        Ok(outs
            .into_iter()
            .map(|out| {
                let mut pixel = Pixel {
                    discarded: out.discarded,
                    colors: vec![None; targets],
                    ..Pixel::default()
                };
                for (output, words) in func.outputs.values().zip(&out.outputs) {
                    match output.kind {
                        OutputKind::Location { location, blend_src: 0, .. } => {
                            pixel.colors[location as usize] = Some(*words)
                        }
                        OutputKind::Location { .. } => pixel.second = Some(*words),
                        OutputKind::Builtin(Builtin::FragDepth) => {
                            pixel.depth = Some(f32::from_bits(words[0]));
                        }
                        OutputKind::Builtin(Builtin::SampleMask) => pixel.mask = Some(words[0]),
                        OutputKind::Builtin(_) => {}
                    }
                }
                pixel
            })
            .collect())
    }
}

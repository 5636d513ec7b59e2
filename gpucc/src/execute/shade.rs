//! A draw: executors of its programs behind the rasteriser, varyings linked by location.

use super::{Executor, Stop, VertexRun};
use crate::Failure;
use crate::link;
use gpucc_emu::device::{self, DrawCall, Drawer, PrimitiveIn};
use gpucc_emu::draw::{
    self, Early, Emitted, Pixel, Primitive, QuadBatch, Shade, Targets, Varying, Vertex, VertexId,
};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::numerics::{f16_to_f64, half_bits, word_bits};
use gpucc_ir::ssa::{
    Builtin, Emits, Func, Input, InputData, InputKind, Interpolation, OutputKind, Part, Resource,
    ResourceData, ResourceKind, Scalar, Stage,
};
use std::collections::BTreeMap;

/// One of the programs with what it is bound to.
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

/// The programs of a draw.
pub struct Draw<'a> {
    /// Vertex program.
    pub vertex: Program<'a>,
    /// Geometry program, where there is one.
    pub geometry: Option<Program<'a>>,
    /// Fragment program.
    pub fragment: Program<'a>,
    /// Vertex buffers by the pipeline's numbers.
    pub buffers: &'a [Vec<u8>],
    /// Steps that each batch of vertices and of pixels may take.
    pub steps: [u64; 2],
    /// Steps that each batch of primitives may take.
    pub geometry_steps: u64,
    /// Bindings that are one for the vertex and the fragment program, by their numbers in each and their element: those of one
    /// group and binding. A caller removes what it binds apart.
    pub shared: Vec<([Resource; 2], u32)>,
    /// The same with a geometry program between them, and who has what is bound.
    things: Vec<Thing>,
    /// For each varying of the fragment program, the output of the program before it that feeds it; zeros where neither has it.
    links: Vec<Option<usize>>,
    /// For each input of the geometry program, the vertex of the primitive and the vertex program's output; zeros where there
    /// is none.
    corners: Vec<Option<(usize, usize)>>,
    /// Varyings that the rasteriser interpolates as f32 and the programs know as f16: leaving the
    /// program before it, entering the fragment program.
    halves: Vec<[bool; 2]>,
}

/// Programs by their place in a draw.
const VERTEX: usize = 0;
const GEOMETRY: usize = 1;
const FRAGMENT: usize = 2;

/// What is bound once for several programs.
struct Thing {
    /// Its number in each program that has it.
    numbers: [Option<Resource>; 3],
    element: u32,
    /// The program whose bindings have it now.
    holder: usize,
}

impl<'a> Draw<'a> {
    /// Links two programs.
    ///
    /// # Errors
    /// A fragment input that no vertex output feeds, or that is another type there.
    pub fn new(
        vertex: Program<'a>,
        fragment: Program<'a>,
        buffers: &'a [Vec<u8>],
    ) -> Result<Draw<'a>, Failure> {
        Draw::through(vertex, None, fragment, buffers)
    }

    /// Links a vertex and a fragment program through a geometry program, where there is one.
    ///
    /// # Errors
    /// An input that no output of the program before feeds, or that is another type there.
    pub fn through(
        vertex: Program<'a>,
        geometry: Option<Program<'a>>,
        fragment: Program<'a>,
        buffers: &'a [Vec<u8>],
    ) -> Result<Draw<'a>, Failure> {
        let steps = [&vertex, &fragment].map(|program| program.executor.steps());
        let geometry_steps = geometry.as_ref().map_or(0, |program| program.executor.steps());
        let mut corners = Vec::new();
        if let Some(geometry) = &geometry {
            corners = links_of_corners(vertex.func, geometry.func)?;
        }
        let before = geometry.as_ref().map_or(vertex.func, |geometry| geometry.func);
        let mut links = Vec::new();
        let mut halves = Vec::new();
        for (input, output) in link::fed(before, fragment.func)? {
            let data = &fragment.func.inputs[input];
            let InputKind::Location { interpolation, .. } = data.kind else {
                continue;
            };
            links.push(output.map(|output| output.as_u32() as usize));
            let smooth = interpolation != Interpolation::Flat;
            let written = output.map_or(data.scalar, |output| before.outputs[output].scalar);
            halves.push([written, data.scalar].map(|scalar| smooth && scalar == Scalar::F16));
        }
        let shared = shared(vertex.func, fragment.func);
        Ok(Draw {
            vertex,
            geometry,
            fragment,
            buffers,
            steps,
            geometry_steps,
            shared,
            things: Vec::new(),
            links,
            corners,
            halves,
        })
    }

    fn bindings(&mut self) -> [Option<&mut Bindings>; 3] {
        [
            Some(&mut self.vertex.bindings),
            self.geometry.as_mut().map(|geometry| &mut geometry.bindings),
            Some(&mut self.fragment.bindings),
        ]
    }

    /// Gives all programs what is shared.
    fn share(&mut self) {
        let one = |&([vertex, fragment], element): &([Resource; 2], u32)| Thing {
            numbers: [Some(vertex), None, Some(fragment)],
            element,
            holder: VERTEX,
        };
        let mut things: Vec<Thing> = self.shared.iter().map(one).collect();
        if let Some(geometry) = &self.geometry {
            let front = shared(self.vertex.func, geometry.func);
            let behind = shared(geometry.func, self.fragment.func);
            let front =
                front.into_iter().map(|([other, own], element)| (VERTEX, other, own, element));
            let behind =
                behind.into_iter().map(|([own, other], element)| (FRAGMENT, other, own, element));
            for (program, other, own, element) in front.chain(behind) {
                let alike = |thing: &&mut Thing| {
                    thing.element == element
                        && (thing.numbers[program] == Some(other)
                            || thing.numbers[GEOMETRY] == Some(own))
                };
                let mut numbers = [None; 3];
                (numbers[program], numbers[GEOMETRY]) = (Some(other), Some(own));
                match things.iter_mut().find(alike) {
                    Some(thing) => {
                        for (known, number) in thing.numbers.iter_mut().zip(numbers) {
                            *known = known.or(number);
                        }
                    }
                    None => things.push(Thing { numbers, element, holder: program.min(GEOMETRY) }),
                }
            }
        }
        let mut all = self.bindings();
        for thing in &things {
            let having = (0..3).filter(|&at| thing.numbers[at].is_some());
            let others: Vec<usize> = having.filter(|&at| at != thing.holder).collect();
            // The second round hands on what the last program of the first one had more of.
            for &at in others.iter().chain(&others) {
                with_two(&mut all, [thing.holder, at], thing, |own, number, other, theirs| {
                    own.merge(number, other, theirs);
                });
            }
        }
        self.things = things;
    }

    /// A program may store to what is shared.
    fn stores(&self) -> bool {
        let funcs = [
            Some(self.vertex.func),
            self.geometry.as_ref().map(|geometry| geometry.func),
            Some(self.fragment.func),
        ];
        let stored = |func: Option<&Func>, resource: Option<Resource>| {
            let both = func.zip(resource);
            both.is_some_and(|(func, resource)| func.resources[resource].kind.is_stored())
        };
        let mut things = self.things.iter();
        things.any(|thing| {
            funcs.iter().zip(thing.numbers).any(|(&func, number)| stored(func, number))
        })
    }

    /// Hands what is shared to the program that runs next: it sees what the others have stored.
    fn hand(&mut self, program: usize) {
        let mut things = std::mem::take(&mut self.things);
        let mut all = self.bindings();
        for thing in &mut things {
            if thing.numbers[program].is_some() && thing.holder != program {
                with_two(&mut all, [program, thing.holder], thing, |own, number, other, theirs| {
                    own.exchange(number, other, theirs);
                });
                thing.holder = program;
            }
        }
        self.things = things;
    }

    /// Copies what is shared to the programs that do not have it.
    fn settle(&mut self) {
        // Where nobody stores, all have the same.
        if !self.stores() {
            return;
        }
        let things = std::mem::take(&mut self.things);
        let mut all = self.bindings();
        for thing in &things {
            for program in (0..3).filter(|&program| program != thing.holder) {
                with_two(&mut all, [program, thing.holder], thing, |own, number, other, theirs| {
                    own.copy(number, other, theirs);
                });
            }
        }
        self.things = things;
    }

    /// Draws, by the machine's own units where its emulator has them (`drawer`, see [`crate::Compiler::drawer`]) and they
    /// lack nothing, by the rasteriser otherwise, and where a program stores to what is shared: the units have a copy for each
    /// program. `steps` are those that the units may take; a default where there are none.
    ///
    /// A binding of several programs is one: what one of them stores the others load. Vertices run in batches of 64, the
    /// primitives that they complete behind them, and pixels when 16 quads are collected or the draw ends, in the order of the
    /// primitives. Machines leave this order open, but for what follows from the primitive before it.
    ///
    /// # Errors
    /// Why a program stopped. More samples a pixel than the emulated machine has are not built. A geometry program takes the
    /// primitives that the draw makes.
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
        let takes = self.geometry.as_ref().and_then(|program| program.func.geometry);
        if let Some(takes) = takes.map(|geometry| geometry.takes)
            && takes != state.topology.corners()
        {
            let made = state.topology.corners().word();
            let message =
                format!("the geometry shader takes {}, and the draw makes {made}", takes.word());
            return Err(Failure::invalid(message));
        }
        self.share();
        let units = samples == 1 && !self.stores();
        if let Some(mut drawer) = drawer.filter(|_| units) {
            if let Some(steps) = steps {
                drawer.launcher().set_steps(steps);
            }
            let bindings = [&mut self.vertex.bindings, &mut self.fragment.bindings];
            let between = self.geometry.as_mut().map(|program| &mut program.bindings);
            let call = DrawCall { state, buffers: self.buffers, bindings, between, targets };
            let drawn = drawer.draw(call);
            if drawn.map_err(|stop| Stop::from(stop).into_failure())? {
                return Ok(());
            }
        }
        let drawn = draw::draw(state, self, targets).map(drop).map_err(Stop::into_failure);
        self.settle();
        drawn
    }

    /// A vertex in front of the rasteriser, of the outputs of the program before it.
    fn vertex(&self, func: &Func, out: &[[u32; 4]]) -> Vertex {
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
        for (output, words) in func.outputs.values().zip(out) {
            let floats = words[..usize::from(output.components)].iter().map(|&w| f32::from_bits(w));
            match output.kind {
                OutputKind::Builtin(Builtin::Position) => {
                    vertex.position = words.map(f32::from_bits);
                }
                OutputKind::Builtin(Builtin::PointSize) => {
                    vertex.point_size = Some(f32::from_bits(words[0]));
                }
                OutputKind::Builtin(Builtin::ClipDistance(_)) => {
                    vertex.clip_distances.extend(floats);
                }
                OutputKind::Builtin(Builtin::CullDistance(_)) => {
                    vertex.cull_distances.extend(floats);
                }
                OutputKind::Builtin(Builtin::PrimitiveIndex) => vertex.primitive = Some(words[0]),
                OutputKind::Builtin(_) | OutputKind::Location { .. } => {}
            }
        }
        vertex
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
                InputKind::Builtin(_) | InputKind::Corner { .. } => None,
            })
            .collect()
    }

    /// Colour targets that the fragment program writes: one past the highest location.
    pub fn color_targets(&self) -> usize {
        color_targets(self.fragment.func)
    }
}

/// Does something with the bindings of two programs that both have a thing.
fn with_two(
    all: &mut [Option<&mut Bindings>; 3],
    programs: [usize; 2],
    thing: &Thing,
    work: impl FnOnce(&mut Bindings, (Resource, u32), &mut Bindings, (Resource, u32)),
) {
    let numbers = programs.map(|program| thing.numbers[program]);
    if let [Some(own), Some(theirs)] = numbers
        && let Ok([Some(one), Some(other)]) = all.get_disjoint_mut(programs)
    {
        work(one, (own, thing.element), other, (theirs, thing.element));
    }
}

/// Where the inputs of a geometry program come from: the vertex of the primitive, and the output of the vertex program.
///
/// # Errors
/// As [`link::fed`].
fn links_of_corners(
    vertex: &Func,
    geometry: &Func,
) -> Result<Vec<Option<(usize, usize)>>, Failure> {
    let fed = link::fed(vertex, geometry)?;
    let located = |input| fed.iter().find(|(own, _)| *own == input).and_then(|(_, output)| *output);
    let built = |wanted: Builtin| {
        let wanted = OutputKind::Builtin(wanted);
        vertex.outputs.iter().find(|(_, data)| data.kind == wanted).map(|(output, _)| output)
    };
    let corner = |(input, data): (Input, &InputData)| match data.kind {
        InputKind::Corner { vertex, part } => {
            let output = match part {
                Part::Location(_) => located(input),
                Part::Builtin(builtin) => built(builtin),
            };
            Some((usize::from(vertex), output?.as_u32() as usize))
        }
        InputKind::Builtin(_) | InputKind::Location { .. } => None,
    };
    Ok(geometry.inputs.iter().map(corner).collect())
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
        self.hand(VERTEX);
        self.vertex.executor.set_steps(self.steps[0]);
        let outs = self.vertex.executor.vertices(&mut self.vertex.bindings, &run)?;
        let func = self.vertex.func;
        let vertex = |mut out: Vec<[u32; 4]>| {
            if self.vertex.divided {
                multiply_back(func, &mut out);
            }
            match self.geometry {
                // What the geometry program takes of it, that program's inputs say.
                Some(_) => Vertex { varyings: out, ..Vertex::default() },
                None => self.vertex(func, &out),
            }
        };
        Ok(outs.into_iter().map(vertex).collect())
    }

    fn geometry(&self) -> Option<Emits> {
        self.geometry.as_ref()?.func.geometry.map(|geometry| geometry.emits)
    }

    fn primitives(&mut self, primitives: &[Primitive]) -> Result<Vec<Vec<Emitted>>, Stop> {
        self.hand(GEOMETRY);
        let given = primitives.iter().map(|primitive| {
            let word = |corner: &Option<(usize, usize)>| {
                let taken =
                    corner.map(|(vertex, output)| primitive.vertices[vertex].varyings[output]);
                taken.unwrap_or_default()
            };
            PrimitiveIn {
                number: primitive.number,
                inputs: self.corners.iter().map(word).collect(),
            }
        });
        let given: Vec<PrimitiveIn> = given.collect();
        let Some(geometry) = &mut self.geometry else {
            return Ok(vec![Vec::new(); primitives.len()]);
        };
        geometry.executor.set_steps(self.geometry_steps);
        let outs = geometry.executor.primitives(&mut geometry.bindings, &given)?;
        let (func, divided) = (geometry.func, geometry.divided);
        let vertex = |mut one: device::Emitted| {
            if divided {
                multiply_back(func, &mut one.outputs);
            }
            Emitted { vertex: self.vertex(func, &one.outputs), begins: one.begins }
        };
        Ok(outs.into_iter().map(|out| out.into_iter().map(vertex).collect()).collect())
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
        self.hand(FRAGMENT);
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

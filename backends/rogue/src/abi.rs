//! The calling convention: which registers hold what where a program starts. isa/rogue-pipeline.md 4.

use crate::attribute::{Kind, Packing};
use crate::chip::Chip;
use crate::color::{self, Color};
use crate::limits;
use cranelift_entity::SecondaryMap;
use gpucc_ir::driver::{Failure, State};
use gpucc_ir::ssa::{
    Builtin, Func, Imm, Input, InputKind, InstData, Interpolation, Mem, MemSpace, Op, Output,
    OutputKind, Resource, ResourceKind, Sampling, Scalar, Span, Stage, TexKind, interp::SUBGROUP,
};

/// The workgroup's number by axis: coefficients. 4.3.
pub const GROUP_ID: u16 = 0;
/// How many workgroups there are by axis: coefficients from an even one on. 4.3.
pub const GROUP_COUNT: u16 = 4;
/// How many tasks have come to the barrier: a coefficient, 0 at first.
pub const ARRIVED: u16 = 3;
/// How many barriers are behind the workgroup: a coefficient, 0 at first.
pub const MET: u16 = 7;
/// Coefficients of a workgroup before its memory.
pub const GROUP_COEFFICIENTS: u16 = 8;
/// Shared registers that fragment programs have before bindings: what the face bit means, and metadata. 4.2.
pub const FRAGMENT_SHARED: u16 = 4;
/// Shared registers with the places of samples, a byte each: those of two samples begin at byte 2, of four at 4, of eight at 8. The
/// low half of a byte counts sixteenths of a pixel to the right, the high one down. 4.2.
pub const PLACES: u16 = 4;
/// Instances of a task. 3.3.
const TASK: u32 = 32;
/// Words of a pixel in a tile buffer. 3.1: tiled_st_comp0 to 7.
pub const TILE_WORDS: u16 = 8;
/// Words of a buffer's descriptor: address, size, dynamic offset. 4.4.
pub const BUFFER_WORDS: u16 = 4;
/// Words of a texture's descriptor: four of state, then [`LAYER_BYTES`] to [`TEXELS`]. 4.4.
pub const TEXTURE_WORDS: u16 = 8;
/// Bytes from a layer to the next, of cubes from a cube to the next: a word of a texture's descriptor.
pub const LAYER_BYTES: u16 = 4;
/// The number of the last layer, or of the last cube: a word of a texture's descriptor.
pub const LAST_LAYER: u16 = 5;
/// The address of the texels in two words of a texture's descriptor. Where the public driver has the slices of 3D images and the format
/// that unknown formats are packed to, which nothing here reads.
pub const TEXELS: u16 = 6;
/// Words of a sampler's descriptor: four of state, then [`COMPARISON`], three that nobody reads, [`GATHERER`]. 4.4.
pub const SAMPLER_WORDS: u16 = 12;
/// What a sampler compares by: a word of its descriptor.
pub const COMPARISON: u16 = 4;
/// The four words of state of a sampler that gives the texels of a filter: it filters, on level 0.
pub const GATHERER: u16 = 8;
/// Words of a sampler's state.
pub const STATE_WORDS: u16 = 4;
/// Shared registers behind the descriptors that say where scratch memory is: address, bytes of an instance. 4.4.
pub const SCRATCH_WORDS: u16 = 3;
/// Words of the output registers, of cores with four more and of others. 3.1, 3.3.
const MOST_OUTPUTS: [u16; 2] = [8, 4];

/// A component of an output or input with its place, so many words from there on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Words<T> {
    pub what: T,
    pub first: u16,
    pub count: u8,
}

/// Registers in which instances of subgroups meet: coefficients of compute programs, shared registers of others.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// A word for each half of a task; a cell for each instance follows.
    pub first: u16,
    pub halves: u16,
}

impl Lanes {
    /// Of a program that looks at its subgroup.
    fn of(func: &Func, first: u16) -> Option<Lanes> {
        let tasks = match func.stage {
            Stage::Compute => func.workgroup_size.iter().product::<u32>().div_ceil(TASK),
            _ => 1,
        };
        meets(func).then_some(Lanes { first, halves: (TASK / SUBGROUP * tasks) as u16 })
    }

    /// Registers that they take together.
    pub fn registers(self) -> u16 {
        self.halves * (1 + SUBGROUP as u16)
    }
}

/// How a varying is computed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Varying {
    pub input: Input,
    pub location: u32,
    /// The first set of coefficients.
    pub set: u16,
    pub components: u8,
    pub interpolation: Interpolation,
    pub sampling: Sampling,
}

/// A calling convention.
#[derive(Clone, Debug)]
pub struct Abi {
    pub chip: Chip,
    pub stage: Stage,
    /// The first shared register of each binding's descriptors.
    pub descriptors: SecondaryMap<Resource, Option<u16>>,
    /// The first coefficient of each workgroup variable.
    pub variables: SecondaryMap<Mem, Option<u16>>,
    /// Where subgroups meet, where they do.
    pub lanes: Option<Lanes>,
    /// The first of four shared registers with the state of a sampler that takes texels by their numbers, where somebody does.
    pub texels: Option<u16>,
    /// Fragment: tile buffers, whose addresses are shared registers from [`FRAGMENT_SHARED`] on. 4.2.
    pub tiles: u16,
    /// Shared registers.
    pub shareds: u16,
    /// Coefficients.
    pub coefficients: u16,
    /// Vertex inputs.
    pub inputs: u16,
    /// Fragment: the sets of z and of the reciprocal of w.
    pub z: Option<u16>,
    pub w: Option<u16>,
    /// Fragment: the two sets of the place in a point, and the set whose constant is the number of the primitive.
    pub point: Option<u16>,
    pub primitive: Option<u16>,
    /// Fragment: the depth that is iterated goes back behind the program, for it stores and computes none. 4.2.
    pub returns_z: bool,
    /// Fragment: a depth that goes back may lie beyond 0 and 1. Else it is clamped. 4.2.
    pub unrestricted: bool,
    /// Fragment: samples of a pixel. Where there are several, the program runs for each of them.
    pub samples: u32,
    /// Fragment: the position, too, is that of the sample.
    pub sampled: bool,
    /// Fragment: the first of [`PLACES`] shared registers, where somebody asks for the place of a sample.
    pub places: Option<u16>,
    /// Fragment: the varyings.
    pub varyings: Vec<Varying>,
    /// Fragment: the first output register of each colour. Vertex: the first word of each output.
    pub outputs: Vec<Words<Output>>,
    /// Fragment: the colours that the program packs for their targets.
    pub colors: Vec<Color>,
    /// Vertex: system values and attributes by their first vertex input.
    pub attributes: Vec<Words<Input>>,
    /// Vertex: how the components of attributes lie in their words.
    pub packings: SecondaryMap<Input, Option<Packing>>,
    /// Vertex: words that are written.
    pub vertex_words: u16,
}

fn not_yet(feature: &str) -> Failure {
    Failure::NotYet {
        feature: feature.to_owned(),
        stage: "the calling convention",
        span: Span::NONE,
    }
}

/// Whether instances give each other values.
fn meets(func: &Func) -> bool {
    func.regions_in_order().into_iter().any(|(region, ..)| {
        let insts = &func.regions[region].insts;
        insts.iter().any(|&inst| matches!(func.insts[inst].op, Op::Ballot | Op::Shuffle))
    })
}

/// Whether a fragment program computes the depth of its pixel: tests before it have their own. 4.2.
pub fn computes_depth(func: &Func) -> bool {
    let depth = OutputKind::Builtin(Builtin::FragDepth);
    func.stage == Stage::Fragment
        && !func.early_fragment_tests
        && func.outputs.values().any(|data| data.kind == depth)
}

/// Whether somebody stores where others see it.
fn stores(func: &Func) -> bool {
    use Op::{BufferAtomic, BufferStore, ImageAtomic, ImageStore};
    func.regions_in_order().into_iter().any(|(region, ..)| {
        let insts = &func.regions[region].insts;
        insts.iter().any(|&inst| {
            matches!(func.insts[inst].op, BufferStore | BufferAtomic | ImageStore | ImageAtomic)
        })
    })
}

/// Whether somebody loads or stores texels by their numbers.
fn takes_texels(func: &Func) -> bool {
    let takes = |data: &InstData| match data.imm {
        Imm::Tex(tex) => tex.kind == TexKind::Load,
        _ => data.op == Op::ImageStore,
    };
    let regions = func.regions_in_order();
    let mut insts = regions.into_iter().flat_map(|(region, ..)| &func.regions[region].insts);
    insts.any(|&inst| takes(&func.insts[inst]))
}

/// Samples of a pixel that a pipeline has.
pub fn samples(pipeline: &State) -> u32 {
    pipeline.fragment.as_ref().and_then(|fragment| fragment.samples).unwrap_or(1)
}

/// Whether a depth that goes back may lie beyond 0 and 1 in a pipeline.
pub fn unrestricted(pipeline: &State) -> bool {
    pipeline.fragment.as_ref().is_some_and(|fragment| fragment.unrestricted_depth)
}

impl Abi {
    /// Fragment: whether the program gives a depth back. 4.2.
    pub fn gives_depth(&self, func: &Func) -> bool {
        self.returns_z || computes_depth(func)
    }

    /// Places everything of a function.
    ///
    /// # Errors
    /// [`Failure::Limit`] for too much of something, [`Failure::NotYet`] for what has no place yet.
    pub fn of(func: &Func, chip: Chip, pipeline: &State) -> Result<Abi, Failure> {
        let mut abi = Abi {
            chip,
            stage: func.stage,
            descriptors: SecondaryMap::new(),
            variables: SecondaryMap::new(),
            lanes: None,
            texels: None,
            tiles: 0,
            shareds: 0,
            coefficients: 0,
            inputs: 0,
            z: None,
            w: None,
            point: None,
            primitive: None,
            returns_z: false,
            unrestricted: false,
            samples: 1,
            sampled: false,
            places: None,
            varyings: Vec::new(),
            outputs: Vec::new(),
            colors: Vec::new(),
            attributes: Vec::new(),
            packings: SecondaryMap::new(),
            vertex_words: 0,
        };
        if func.stage == Stage::Fragment {
            abi.colors = color::colors(func, pipeline, abi.output_registers());
            abi.take_samples(func, pipeline)?;
        }
        abi.bind(func)?;
        match func.stage {
            Stage::Geometry => return Err(not_yet("geometry shaders")),
            Stage::Compute => {
                abi.place_variables(func)?;
                abi.inputs = 1;
            }
            Stage::Fragment => {
                abi.fragment(func)?;
                abi.unrestricted = unrestricted(pipeline);
            }
            Stage::Vertex => abi.vertex(func, pipeline)?,
        }
        Ok(abi)
    }

    /// Several samples of a pixel. The public driver runs every program for each of them.
    fn take_samples(&mut self, func: &Func, pipeline: &State) -> Result<(), Failure> {
        self.samples = samples(pipeline);
        if self.samples == 1 {
            return Ok(());
        }
        limits::samples(self.chip).admit(self.samples)?;
        self.sampled = func.runs_by_sample();
        let reads = |builtin| {
            let kind = InputKind::Builtin(builtin);
            func.inputs.values().any(|data| data.kind == kind)
        };
        if pipeline.fragment.as_ref().is_some_and(|fragment| fragment.alpha_to_coverage) {
            return Err(not_yet("alpha that covers samples"));
        }
        // A program that runs for each sample is told of this one alone.
        if reads(Builtin::SampleMask) && !self.sampled {
            return Err(not_yet("covered samples of whole pixels"));
        }
        Ok(())
    }

    /// Workgroup memory is coefficients behind the group's numbers. 4.3.
    fn place_variables(&mut self, func: &Func) -> Result<(), Failure> {
        let mut next = u64::from(GROUP_COEFFICIENTS);
        self.lanes = Lanes::of(func, GROUP_COEFFICIENTS);
        next += self.lanes.map_or(0, |lanes| u64::from(lanes.registers()));
        for (mem, data) in func.mems.iter().filter(|(_, data)| data.space == MemSpace::Workgroup) {
            self.variables[mem] = Some(next as u16);
            next += u64::from(data.size.div_ceil(4));
            limits::COEFFICIENTS.admit(next)?;
        }
        self.coefficients = next as u16;
        Ok(())
    }

    fn bind(&mut self, func: &Func) -> Result<(), Failure> {
        let mut next: u64 = match func.stage {
            Stage::Fragment => {
                let located = |kind| matches!(kind, OutputKind::Location { .. });
                let colors = func.outputs.iter().filter(|(_, data)| located(data.kind));
                let words: u16 = colors
                    .map(|(output, data)| color::words_of(&self.colors, output, data.components))
                    .sum();
                self.tiles = words.saturating_sub(self.output_registers()).div_ceil(TILE_WORDS);
                u64::from(FRAGMENT_SHARED) + 2 * u64::from(self.tiles)
            }
            _ => 0,
        };
        if func.stage != Stage::Compute {
            self.lanes = Lanes::of(func, next as u16);
            next += self.lanes.map_or(0, |lanes| u64::from(lanes.registers()));
        }
        for (resource, data) in &func.resources {
            let words = match data.kind {
                ResourceKind::Uniform { .. }
                | ResourceKind::Storage { .. }
                | ResourceKind::Immediate { .. } => BUFFER_WORDS,
                ResourceKind::Texture { .. } | ResourceKind::StorageTexture { .. } => TEXTURE_WORDS,
                ResourceKind::Sampler { .. } => SAMPLER_WORDS,
            };
            self.descriptors[resource] = Some(next as u16);
            next += u64::from(words) * u64::from(data.count.unwrap_or(1));
            limits::SHARED.admit(next + u64::from(SCRATCH_WORDS))?;
        }
        if takes_texels(func) {
            self.texels = Some(next as u16);
            next += u64::from(STATE_WORDS);
            limits::SHARED.admit(next + u64::from(SCRATCH_WORDS))?;
        }
        let placed = |kind| match kind {
            InputKind::Builtin(Builtin::SamplePosition) => self.samples > 1,
            InputKind::Builtin(Builtin::Position) => self.sampled,
            _ => false,
        };
        if func.inputs.values().any(|data| placed(data.kind)) {
            self.places = Some(next as u16);
            next += u64::from(PLACES);
            limits::SHARED.admit(next + u64::from(SCRATCH_WORDS))?;
        }
        self.shareds = next as u16;
        Ok(())
    }

    /// z, w, then varyings by location, a set for each component. 4.2.
    fn fragment(&mut self, func: &Func) -> Result<(), Failure> {
        let mut next: u64 = 0;
        let mut set = || {
            next += 1;
            next as u16 - 1
        };
        let mut varyings = Vec::new();
        let (mut asks_z, mut asks_w) = (false, false);
        let (mut asks_point, mut asks_primitive) = (false, false);
        for (input, data) in &func.inputs {
            match data.kind {
                InputKind::Corner { .. } => return Err(not_yet("geometry shaders")),
                InputKind::Location { location, interpolation, sampling } => {
                    asks_w |= interpolation == Interpolation::Perspective;
                    let components = data.components;
                    varyings.push(Varying {
                        input,
                        location,
                        set: 0,
                        components,
                        interpolation,
                        sampling,
                    });
                }
                InputKind::Builtin(Builtin::Position) => (asks_z, asks_w) = (true, true),
                InputKind::Builtin(Builtin::PointCoord) => asks_point = true,
                InputKind::Builtin(Builtin::PrimitiveIndex) => asks_primitive = true,
                InputKind::Builtin(
                    Builtin::FrontFacing
                    | Builtin::SampleIndex
                    | Builtin::SampleMask
                    | Builtin::SamplePosition
                    | Builtin::Layer
                    | Builtin::SubgroupSize
                    | Builtin::SubgroupInvocationId,
                ) => {}
                InputKind::Builtin(_) => return Err(not_yet("this built-in input of fragments")),
            }
        }
        self.returns_z = stores(func) && !func.early_fragment_tests && !computes_depth(func);
        self.z = (asks_z || self.returns_z).then(&mut set);
        self.w = asks_w.then(&mut set);
        self.point = asks_point.then(|| {
            let first = set();
            set();
            first
        });
        self.primitive = asks_primitive.then(&mut set);
        varyings.sort_by_key(|varying| varying.location);
        for varying in &mut varyings {
            varying.set = set();
            (1..varying.components).for_each(|_| _ = set());
        }
        self.varyings = varyings;
        limits::SETS.admit(next)?;
        self.coefficients = 4 * next as u16;
        // Nothing of fixed function blends: a second colour leaves beside the first, for the code that does.
        let mut colors: Vec<((u32, u8), Output, u8)> = Vec::new();
        for (output, data) in &func.outputs {
            match data.kind {
                OutputKind::Location { location, blend_src, .. } => {
                    colors.push(((location, blend_src), output, data.components));
                }
                OutputKind::Builtin(Builtin::FragDepth | Builtin::SampleMask) => {}
                OutputKind::Builtin(_) => return Err(not_yet("this built-in output of fragments")),
            }
        }
        colors.sort_by_key(|(place, ..)| *place);
        let mut first: u64 = 0;
        for (_, output, components) in colors {
            let count = color::words_of(&self.colors, output, components);
            self.outputs.push(Words { what: output, first: first as u16, count: count as u8 });
            first += u64::from(count);
        }
        Ok(())
    }

    /// Output registers of the core. What has a number from there on is a word of a tile buffer.
    pub fn output_registers(&self) -> u16 {
        let [most, fewer] = MOST_OUTPUTS;
        if self.chip.features().eight_outputs { most } else { fewer }
    }

    /// System values, then attributes. Outputs: position, smooth, flat and linear words, then the rest. 4.1.
    fn vertex(&mut self, func: &Func, pipeline: &State) -> Result<(), Failure> {
        let order = |which| match which {
            Builtin::VertexIndex => Some(0),
            Builtin::InstanceIndex => Some(1),
            Builtin::BaseInstance => Some(2),
            Builtin::BaseVertex => Some(3),
            Builtin::DrawIndex => Some(4),
            Builtin::ViewIndex => Some(5),
            _ => None,
        };
        let mut values = Vec::new();
        let mut attributes = Vec::new();
        for (input, data) in &func.inputs {
            match data.kind {
                InputKind::Corner { .. } => return Err(not_yet("geometry shaders")),
                // Every instance has its number in its task.
                InputKind::Builtin(Builtin::SubgroupSize | Builtin::SubgroupInvocationId) => {}
                InputKind::Builtin(which) => match order(which) {
                    Some(order) => values.push((order, input)),
                    None => return Err(not_yet("this built-in input of vertices")),
                },
                InputKind::Location { location, .. } => {
                    // What the sequencer brings are words as they lie in memory.
                    let told = pipeline.vertex.attribute(location);
                    let Some(packing) = told.and_then(|told| {
                        let stride = pipeline.vertex.buffer(told).stride;
                        Packing::of(&told.format)?.at(told.offset, stride)
                    }) else {
                        return Err(not_yet("attributes of this format, or that lie across words"));
                    };
                    if data.scalar == Scalar::F16 && packing.kind != Kind::Half {
                        return Err(not_yet("attributes of halves that lie otherwise in memory"));
                    }
                    self.packings[input] = Some(packing);
                    let count = packing.words(data.components.into()) as u8;
                    attributes.push((location, input, count));
                }
            }
        }
        values.sort_by_key(|(order, _)| *order);
        attributes.sort_by_key(|(location, ..)| *location);
        let mut next: u64 = 0;
        let all = values.into_iter().map(|(_, input)| (input, 1));
        let all = all.chain(attributes.into_iter().map(|(_, input, count)| (input, count)));
        for (input, count) in all {
            self.attributes.push(Words { what: input, first: next as u16, count });
            next += u64::from(count);
        }
        limits::ATTRIBUTES.admit(next)?;
        self.inputs = next as u16;
        self.vertex_outputs(func)
    }

    fn vertex_outputs(&mut self, func: &Func) -> Result<(), Failure> {
        let mut placed = Vec::new();
        for (output, data) in &func.outputs {
            let class = match data.kind {
                OutputKind::Builtin(Builtin::Position) => continue,
                OutputKind::Location { interpolation, location, .. } => match interpolation {
                    Interpolation::Perspective => (0, location),
                    Interpolation::Flat => (1, location),
                    Interpolation::Linear => (2, location),
                },
                OutputKind::Builtin(Builtin::PointSize) => (3, 0),
                OutputKind::Builtin(Builtin::Layer) => (4, 0),
                OutputKind::Builtin(Builtin::ClipDistance(first)) => (5, first.into()),
                OutputKind::Builtin(Builtin::CullDistance(first)) => (6, first.into()),
                OutputKind::Builtin(_) => return Err(not_yet("this built-in output of vertices")),
            };
            placed.push((class, output, data.components));
        }
        placed.sort_by_key(|(class, output, _)| (*class, *output));
        let varying = placed.iter().filter(|((class, _), ..)| *class < 3);
        let varying: u64 = varying.map(|(.., count)| u64::from(*count)).sum();
        limits::varyings(self.chip).admit(varying)?;
        let mut next: u64 = 4;
        for (_, output, count) in placed {
            self.outputs.push(Words { what: output, first: next as u16, count });
            next += u64::from(count);
        }
        limits::VERTEX.admit(next)?;
        self.vertex_words = next as u16;
        Ok(())
    }
}

//! Valhall's strict emulator as a device: memory with resource tables, descriptors and buffers as a
//! driver lays them out (docs/abi-valhall.md), from the compiled program's report and from nothing else.

mod fill;
mod pixel;
#[cfg(test)]
mod planted;
mod vertex;

use crate::api::VertexForm;
use crate::emu::{self, State};
use crate::limits;
use crate::state as descriptors;
use crate::state::{CONSTANTS, INFO, PADDING, THREAD, WORKGROUP};
use fill::{FIRST, Filler, about_image};
use gpucc_emu::device::{
    self, Device, FragmentOut, GARBAGE, Launcher, Stop, VertexOut, VertexRun, bytes_of,
};
use gpucc_emu::draw::{Early, Quad, QuadBatch};
use gpucc_emu::format::Format;
use gpucc_emu::raster;
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::driver::ColorTarget;
use gpucc_ir::ssa::numerics::Perturbation;
use gpucc_ir::ssa::{Func, Input, InputKind, Output, Resource, ResourceKind, Scalar};
use gpucc_machine::Compiled;
use gpucc_machine::described::{
    Binding, BindingName, Driven, DriverWord, ImageWord, OutputPlace, ProgramState, Setting,
    StageOutput,
};
use std::collections::BTreeMap;
use vertex::{stream_address, vertex_count};

/// Instructions of warps that the runs of a device may take together unless told otherwise.
const STEPS: u64 = 2_000_000;
/// What a byte of memory holds that nobody filled, so that nobody mistakes it for zeros.
const UNFILLED: u8 = 0xDB;
/// Operations of the draw descriptor on depth: before the program, and behind it. Two weaker ones lie between.
const FORCE_EARLY: u32 = 0;
const FORCE_LATE: u32 = 3;
/// Depth source of the depth descriptor: the program.
const OWN_DEPTH: u32 = 3;
/// Tables by what they hold. abi-valhall: Resource tables.
mod table {
    pub const UNIFORM: u32 = 0;
    pub const ATTRIBUTE: u32 = 1;
    pub const VERTEX_BUFFER: u32 = 2;
    pub const SAMPLER: u32 = 3;
    pub const TEXTURE: u32 = 4;
    pub const IMAGE: u32 = 5;
    pub const STORAGE: u32 = 6;
    pub const IDVS: u32 = 61;
}
/// Bytes of a record of the info buffer; a buffer's size stands in its first word. abi-valhall: FAU.
const INFO_RECORD: usize = 48;
/// Words of an image's record. abi-valhall: FAU.
const INFO_WORDS: [ImageWord; 10] = [
    ImageWord::Width,
    ImageWord::Height,
    ImageWord::Depth,
    ImageWord::Layers,
    ImageWord::Levels,
    ImageWord::Samples,
    ImageWord::EdgeLowX,
    ImageWord::EdgeLowY,
    ImageWord::EdgeHighX,
    ImageWord::EdgeHighY,
];
/// Bytes of a location in a varying record. abi-valhall: Vertex, IDVS.
const LOCATION: u32 = 16;

/// A program and its machine.
pub(crate) struct Machine {
    compiled: Compiled,
    launcher: Launcher,
    /// Chooses what the machine leaves open; another one for each launch.
    seed: u64,
    errors: Option<Perturbation>,
}

/// A binding of a described program, with its entry of its table.
struct Slot<'a> {
    resource: Resource,
    index: u32,
    count: u32,
    /// Byte offset of its first record in the info buffer.
    info: Option<u32>,
    kind: &'a ResourceKind,
}

/// An output of a described program.
#[derive(Clone)]
struct Out {
    output: Output,
    components: u8,
    place: OutputPlace,
}

impl Machine {
    /// A word of a descriptor of the program's state; 0 where there is none.
    fn state_word(&self, name: &str, at: usize) -> u32 {
        match self.compiled.described.state.get(name) {
            Some(Setting::Descriptor { words, .. }) => words.get(at).copied().unwrap_or_default(),
            _ => 0,
        }
    }

    /// The emulated machine for a program.
    pub(crate) fn new(compiled: &Compiled) -> Machine {
        Machine {
            compiled: compiled.clone(),
            launcher: Launcher::new(&compiled.code, &compiled.lines, STEPS),
            seed: 0x5EED,
            errors: None,
        }
    }

    fn func(&self) -> &Func {
        &self.compiled.expanded
    }

    fn slots(&self) -> impl Iterator<Item = Slot<'_>> {
        let of = |binding: &Binding| {
            let resource = binding.resource?;
            let data = &self.func().resources[resource];
            Some(Slot {
                resource,
                index: binding.place("index")?,
                count: data.count.unwrap_or(1),
                info: binding.place("info"),
                kind: &data.kind,
            })
        };
        self.compiled.described.resources.iter().filter_map(of)
    }

    fn outs(&self) -> impl Iterator<Item = Out> {
        let of = |told: &StageOutput| {
            Some(Out { output: told.output?, components: told.components as u8, place: told.place })
        };
        self.compiled.described.outputs.iter().filter_map(of)
    }

    /// A number of the state.
    fn number(&self, name: &str) -> Option<u32> {
        match self.compiled.described.state.get(name) {
            Some(Setting::Number(number)) => Some(*number),
            _ => None,
        }
    }

    fn programs(&self) -> &[ProgramState] {
        match self.compiled.described.state.get("programs") {
            Some(Setting::Programs(programs)) => programs,
            _ => &[],
        }
    }

    /// The words of a target's descriptor that a program reads: what the state says, or, where the driver knows more
    /// (the target, a blend shader), one that takes colours as they are.
    fn blend(&self, output: Output, target: u32) -> u64 {
        let name = descriptors::targets::NAMES[target as usize & 7];
        let words = match self.compiled.described.state.get(name) {
            Some(Setting::Descriptor { words, .. }) if words[2] & 3 != 0 => [words[2], words[3]],
            _ => {
                let format = match self.compiled.expanded.outputs[output].scalar {
                    Scalar::I32 => Format::Rgba32Sint,
                    Scalar::U32 => Format::Rgba32Uint,
                    _ => Format::Rgba32Float,
                };
                let raw = ColorTarget {
                    format: format.name().to_owned(),
                    write_mask: ColorTarget::ALL,
                    blend: None,
                };
                let words = descriptors::targets::blend(target, &raw, format);
                [words[2], words[3]]
            }
        };
        u64::from(words[0]) | u64::from(words[1]) << 32
    }

    /// One of the programs; an empty one where the report has none.
    fn program(&self, number: usize) -> ProgramState {
        let program = self.programs().get(number);
        program.copied().unwrap_or(ProgramState {
            offset: 0,
            bytes: 0,
            preload: 0,
            registers: 0,
            work_registers: 32,
        })
    }

    /// The first word of the descriptor of a program.
    fn program_word(&self, number: usize) -> Option<u32> {
        let mut descriptors = self.compiled.described.state.iter();
        match &descriptors.nth(number)?.1 {
            Setting::Descriptor { words, .. } => words.first().copied(),
            _ => None,
        }
    }

    /// Workgroups may share a warp: a bit of the payload.
    fn merges(&self) -> bool {
        match self.compiled.described.state.get("Compute Payload") {
            Some(Setting::Descriptor { words, .. }) => words[0] >> 31 == 1,
            _ => false,
        }
    }

    /// Everything around the program but what its stage adds.
    fn fill(
        &mut self,
        bindings: &Bindings,
        stage: emu::Stage,
        groups: [u32; 3],
        run: Option<&VertexRun<'_>>,
    ) -> Filler {
        let mut state = State::new(stage);
        state.steps = self.launcher.steps;
        let given = self.programs().iter().map(|program| program.work_registers);
        state.work_registers = given.max().unwrap_or(32);
        state.thread_bytes = self.number(THREAD).unwrap_or(0);
        state.workgroup_bytes = self.number(WORKGROUP).unwrap_or(0);
        self.seed = self.seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        state.seed = self.seed;
        state.errors = self.errors;
        let words = self.compiled.described.driver_constants.iter();
        let word = |word: DriverWord| self.uniform(bindings, groups, run, word);
        state.fau = words.map(|constant| word(constant.word)).collect();
        let mut filler = Filler { state, next: FIRST, tables: BTreeMap::new(), places: Vec::new() };
        filler.code(&self.compiled.code, self.number(PADDING).unwrap_or(0));
        for slot in self.slots() {
            for element in 0..slot.count {
                Machine::bind(&mut filler, bindings, &slot, element);
            }
        }
        if let Some(index) = self.number(INFO) {
            let bytes = self.info(bindings);
            let size = bytes.len() as u32;
            let at = filler.map(bytes, false);
            filler.set(table::UNIFORM, index, descriptors::buffer(at, size));
        }
        let constants = match self.compiled.described.state.get(CONSTANTS) {
            Some(Setting::ConstantBuffers(constants)) => constants.as_slice(),
            _ => &[],
        };
        for table in constants {
            let bytes = bytes_of(&table.words);
            let size = bytes.len() as u32;
            let at = filler.map(bytes, false);
            filler.set(table::UNIFORM, table.index, descriptors::buffer(at, size));
        }
        filler
    }

    fn bind(filler: &mut Filler, bindings: &Bindings, slot: &Slot<'_>, element: u32) {
        let index = slot.index + element;
        let table = match slot.kind {
            ResourceKind::Sampler { .. } => table::SAMPLER,
            ResourceKind::Texture { .. } => table::TEXTURE,
            ResourceKind::StorageTexture { .. } => table::IMAGE,
            ResourceKind::Storage { .. } => table::STORAGE,
            _ => table::UNIFORM,
        };
        let bound = bindings.get(slot.resource, element);
        let writable =
            matches!(slot.kind, ResourceKind::Storage { .. } | ResourceKind::StorageTexture { .. });
        match bound {
            Bound::Nothing => {}
            Bound::Buffer(bytes) => {
                let size = bytes.len() as u32;
                let at = filler.map(bytes.clone(), writable);
                filler.set(table, index, descriptors::buffer(at, size));
                if writable {
                    filler.places.push((slot.resource, element, at));
                }
            }
            Bound::Image(image) => {
                let (descriptor, at) = filler.image(image, writable);
                filler.set(table, index, descriptor);
                if writable {
                    filler.places.push((slot.resource, element, at));
                }
            }
            Bound::Sampler(sampler) => filler.set(table, index, descriptors::sampler(sampler)),
        }
    }

    /// The info buffer: a record for each element that the program may ask about by number.
    fn info(&self, bindings: &Bindings) -> Vec<u8> {
        let record = INFO_RECORD;
        let mut bytes = Vec::new();
        for slot in self.slots() {
            let Some(first) = slot.info else {
                continue;
            };
            let end = first as usize + record * slot.count as usize;
            if bytes.len() < end {
                bytes.resize(end, UNFILLED);
            }
            for element in 0..slot.count {
                let at = first as usize + record * element as usize;
                let bound = bindings.get(slot.resource, element);
                let mut put = |offset: u32, word: u32| {
                    let at = at + offset as usize;
                    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
                };
                if let Bound::Buffer(buffer) = bound {
                    put(0, buffer.len() as u32);
                } else {
                    for (offset, word) in (0..).step_by(4).zip(INFO_WORDS) {
                        put(offset, about_image(bound, word));
                    }
                }
            }
        }
        bytes
    }

    /// One uniform word. abi-valhall: FAU.
    fn uniform(
        &self,
        bindings: &Bindings,
        groups: [u32; 3],
        run: Option<&VertexRun<'_>>,
        word: DriverWord,
    ) -> u32 {
        let bound = |binding: BindingName, element: u32| match binding.resource {
            Some(resource) => bindings.get(resource, element),
            None => &Bound::Nothing,
        };
        let word = match word {
            DriverWord::OfImage { what, binding, element } => {
                return about_image(bound(binding, element), what);
            }
            DriverWord::Other(word) => word,
        };
        match word {
            Driven::Constant { bits } => bits,
            Driven::Uniform { binding, offset } => {
                gpucc_emu::world::load_word(bound(binding, 0).bytes(), offset)
            }
            Driven::NumWorkgroups { axis } => groups[usize::from(axis.unwrap_or(0).min(2))],
            Driven::FirstVertex => run.map_or(0, |run| run.first_vertex),
            Driven::FirstInstance => run.map_or(0, |run| run.first_instance),
            Driven::VertexCount => run.map_or(0, vertex_count),
            Driven::StreamAddress { buffer, high } => {
                (stream_address(buffer.into()) >> if high { 32 } else { 0 }) as u32
            }
            // Screen space is device space: nothing changes. abi-valhall: Vertex.
            Driven::ViewportScale { .. } => 1f32.to_bits(),
            Driven::ViewportOffset { .. } => (-0f32).to_bits(),
            Driven::BufferSize { binding, element } => bound(binding, element).bytes().len() as u32,
            // Nothing that this machine's programs read.
            Driven::Unused
            | Driven::Draw
            | Driven::StorageBuffer { .. }
            | Driven::WorkgroupMemory
            | Driven::Image { .. }
            | Driven::Pitch { .. }
            | Driven::Rows { .. }
            | Driven::Sampler { .. }
            | Driven::DrawIndex
            | Driven::ViewIndex => GARBAGE,
        }
    }

    /// Copies what the program may have changed back.
    fn read_back(state: &State, places: &[(Resource, u32, u64)], bindings: &mut Bindings) {
        for &(resource, element, at) in places {
            match bindings.get_mut(resource, element) {
                Some(Bound::Buffer(bytes)) => {
                    if let Some(segment) = state.memory.segment(at) {
                        bytes.copy_from_slice(segment);
                    }
                }
                Some(Bound::Image(image)) => {
                    if let Some(changed) = state.memory.image(at) {
                        *image = changed.clone();
                    }
                }
                _ => {}
            }
        }
    }

    /// Location inputs in the order of a batch's varyings.
    fn varying_of(&self, input: Input) -> Option<usize> {
        self.func()
            .inputs
            .iter()
            .filter(|(_, data)| matches!(data.kind, InputKind::Location { .. }))
            .position(|(other, _)| other == input)
    }
}

impl Device for Machine {
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        let dispatch = emu::Dispatch {
            size: self.func().workgroup_size,
            groups,
            preload: self.program(0).preload,
            merge: self.merges(),
        };
        let size = dispatch.size.iter();
        device::invocations(groups, size.fold(1u32, |all, &n| all.saturating_mul(n)))?;
        let filler = self.fill(bindings, emu::Stage::Compute, groups, None);
        let (mut state, places) = filler.finish();
        let result =
            self.launcher.run(|code, trace| emu::run_compute(code, &mut state, &dispatch, trace));
        self.launcher.steps = state.steps;
        Machine::read_back(&state, &places, bindings);
        result.map(drop)
    }

    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        if self.compiled.pipeline.vertex.form == VertexForm::Plain {
            return self.plain(bindings, run);
        }
        self.idvs(bindings, run)
    }

    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        let pixels = self.pixels(batch);
        let mut filler = self.fill(bindings, emu::Stage::Fragment, [1; 3], None);
        for slot in self.outs() {
            if let OutputPlace::Blend { index: target, .. } = slot.place {
                filler.state.blend[target as usize & 7] = self.blend(slot.output, target);
            }
        }
        // The places of samples: two halves each, in 256ths of the pixel.
        let places = batch.quads.first().map_or(raster::places(1), Quad::places);
        let places = places.iter().flat_map(|&[x, y]| [x, 0, y, 0]).collect();
        let samples = filler.map(places, false);
        filler.state.samples = samples;
        let (mut state, places) = filler.finish();
        let result =
            self.launcher.run(|code, trace| emu::run_pixels(code, &mut state, &pixels, trace));
        self.launcher.steps = state.steps;
        Machine::read_back(&state, &places, bindings);
        let outs = result?;
        Ok(outs
            .iter()
            .enumerate()
            .map(|(n, pixel)| self.pixel_out(pixel, batch.quads[n / 4].covered >> (n % 4) & 1 == 1))
            .collect())
    }

    fn most_samples(&self) -> u32 {
        limits::SAMPLES.row().1 as u32
    }

    fn by_sample(&self) -> bool {
        self.state_word("Draw", 0) >> 11 & 1 == 1
    }

    fn early(&self) -> Early {
        let word = |name: &str, at: usize| self.state_word(name, at);
        let draw = word("Draw", 0);
        let (kill, update, modifies) = (draw >> 2 & 3, draw >> 4 & 3, draw >> 20 & 1 == 1);
        let own_stencil = word("Depth/stencil", 0) >> 30 & 1 == 1;
        let own_depth = word("Depth/stencil", 4) >> 25 & 3 == OWN_DEPTH || own_stencil;
        // In between the two, what the program does to the pixel decides.
        let early = |operation: u32| match operation {
            FORCE_EARLY => true,
            FORCE_LATE => false,
            _ => !modifies && !own_depth,
        };
        Early { test: early(kill), write: early(kill) && early(update) }
    }

    fn launcher(&mut self) -> &mut Launcher {
        &mut self.launcher
    }

    fn set_order(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn set_errors(&mut self, errors: Option<Perturbation>) {
        self.errors = errors;
    }

    fn steps(&self) -> u64 {
        self.launcher.steps
    }
}

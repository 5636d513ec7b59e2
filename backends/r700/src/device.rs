//! R700's strict emulator as a device: set up by the program ABI from the report's state, inputs,
//! outputs and resources, and from nothing else. What registers say is read from their words by the emulator's model:
//! which parameter is which location, how it is interpolated, what a texture or a sampler is.

mod link;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod tests;
mod words;

use crate::api::Chip;
use crate::driver::SamplerUse;
use crate::emu::{
    self, Aperture, BufferResource, FetchResource, FetchSource, Launched, State, address,
};
use crate::limits;
use gpucc_emu::device::{self, Device, FragmentOut, GARBAGE, Launcher, Stop, VertexOut, VertexRun};
use gpucc_emu::draw::{Early, QuadBatch};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::numerics::{Numerics, Perturbation};
use gpucc_ir::ssa::{
    Builtin, Dim, Func, Input, MemSpace, Op, OutputKind, Resource, ResourceKind, Span,
};
use gpucc_machine::Compiled;
use gpucc_machine::described::{
    AttributePlace, Binding, BindingName, Driven, DriverConstant, DriverWord, StageInput, Takes,
};
use link::{Slot, kind, slot_of};
use std::collections::BTreeMap;
use words::differs;

/// Control-flow instructions, fetches and groups that the runs of a device may take together unless told otherwise.
const STEPS: u64 = 24_000_000;
/// Constant buffer of immediates. abi-r700: Bindings.
const IMMEDIATES: usize = 14;
/// Constant buffer of the driver. abi-r700: Driver constants.
const DRIVER: usize = 15;
/// The table of storage buffers and stored textures. abi-r700: Bindings.
const APERTURE: &str = "aperture_index";
/// Lanes of the first wavefront of a dispatch whose invocations have nothing to do with each other: no divisor of anything.
const FIRST_WAVE: u32 = 5;
/// Bytes of a constant-cache line: buffers are sized in these. Register guide, SQ_ALU_CONST_BUFFER_SIZE.
const LINE: usize = 256;
/// A program and its machine.
pub(crate) struct Machine {
    chip: Chip,
    compiled: Compiled,
    launcher: Launcher,
    /// Kept between calls of a draw while nothing in it can change.
    state: Option<State>,
    /// A store of the last call that missed every buffer.
    stray: Option<String>,
    /// Chooses the order of wavefronts, and where the first begins; 0 where nobody asked.
    order: u64,
    errors: Option<Perturbation>,
}

/// Where storage buffers, stored textures and workgroup memory stand in the scatter aperture.
#[derive(Default)]
struct Places {
    words: Vec<u32>,
    /// By aperture index.
    storage: BTreeMap<u32, Place>,
    /// First dword of workgroup memory.
    workgroup: u32,
}

/// One buffer or texture in the scatter aperture.
#[derive(Copy, Clone, Default)]
struct Place {
    /// First dword.
    start: u32,
    bytes: u32,
    /// A texture's texels a row.
    pitch: u32,
    /// A texture's rows a slice.
    rows: u32,
}

impl Machine {
    /// The emulated machine for a program.
    pub(crate) fn new(chip: Chip, compiled: &Compiled) -> Machine {
        Machine {
            chip,
            compiled: compiled.clone(),
            launcher: Launcher::new(&compiled.code, &compiled.lines, STEPS),
            state: None,
            stray: None,
            order: 0,
            errors: None,
        }
    }

    fn func(&self) -> &Func {
        &self.compiled.expanded
    }

    fn resources(&self) -> impl Iterator<Item = (Resource, &Binding)> {
        let resources = self.compiled.described.resources.iter();
        resources.filter_map(|binding| Some((binding.resource?, binding)))
    }

    fn inputs(&self) -> impl Iterator<Item = (Input, &StageInput)> {
        let inputs = self.compiled.described.inputs.iter();
        inputs.filter_map(|slot| Some((slot.input?, slot)))
    }

    /// The exports of the outputs.
    fn slots(&self) -> impl Iterator<Item = Slot> {
        self.compiled.described.outputs.iter().filter_map(slot_of)
    }

    /// Threads and dwords of a workgroup.
    fn workgroup(&self) -> Option<[u32; 2]> {
        match self.compiled.described.dispatch?.takes {
            Takes::Threads { threads_per_workgroup, workgroup_dwords } => {
                Some([threads_per_workgroup, workgroup_dwords])
            }
            Takes::Memory { .. } => None,
        }
    }

    /// Elements of a binding: more than one where it is an array.
    fn elements(&self, resource: Resource) -> u32 {
        self.func().resources[resource].count.unwrap_or(1).max(1)
    }

    /// Invocations of a workgroup share memory or meet.
    fn cooperates(&self) -> bool {
        let func = self.func();
        let shares = func.mems.values().any(|mem| mem.space == MemSpace::Workgroup);
        shares || func.insts.values().any(|inst| inst.op == Op::Barrier)
    }

    fn writes_memory(&self) -> bool {
        self.resources().any(|(_, slot)| slot.place(APERTURE).is_some())
    }

    /// Puts storage buffers, and workgroup memory behind them, into the aperture.
    fn places(&self, bindings: &Bindings, workgroups: u32) -> Places {
        let mut places = Places::default();
        for (resource, slot) in self.resources() {
            let Some(first) = slot.place(APERTURE) else {
                continue;
            };
            for element in 0..self.elements(resource) {
                let bound = bindings.get(resource, element);
                let mut place = Place { start: places.words.len() as u32, ..Place::default() };
                if let Bound::Image(image) = bound {
                    let [width, height, _] = image.size(0);
                    (place.pitch, place.rows) = (width, height);
                }
                let bytes = device::memory_of(bound);
                place.bytes = bytes.len() as u32;
                places.storage.insert(first + element, place);
                places.words.extend(device::words_of(bytes));
                // Buffers start at cache lines; what is between them belongs to nobody.
                let aligned = places.words.len().next_multiple_of(LINE / 4);
                places.words.resize(aligned, GARBAGE);
            }
        }
        places.workgroup = places.words.len() as u32;
        if let Some([_, dwords]) = self.workgroup() {
            let dwords = dwords as usize * workgroups as usize;
            let end = places.words.len() + dwords;
            places.words.resize(end, GARBAGE);
        }
        // A driver binds memory whatever its size: what is read of an empty buffer is read before it is dropped.
        if places.words.is_empty() && self.writes_memory() {
            places.words.push(GARBAGE);
        }
        places
    }

    /// Everything around the program.
    fn build(
        &self,
        bindings: &Bindings,
        stage: emu::Stage,
        groups: [u32; 3],
        vertex: Option<&VertexRun<'_>>,
    ) -> Result<(State, Places), Stop> {
        let numerics = crate::numerics_of(self.chip.family());
        let numerics = Numerics { perturbation: self.errors, ..numerics };
        let mut state = State::new(self.chip, stage, numerics);
        state.order = self.order;
        state.registers.extend(self.registers());
        state.fetch_program = self.compiled.apart("fetch").map(<[u8]>::to_vec);
        let mut places = self.places(bindings, groups.iter().product());
        for (resource, slot) in self.resources() {
            self.bind(&mut state, bindings, (resource, slot), &places)?;
        }
        if let Some(tables) = &self.compiled.described.tables {
            let memory = BufferResource {
                source: FetchSource::Bytes(tables.memory.to_bytes()),
                stride: tables.stride,
                format: None,
            };
            state.resources.insert(tables.resource, FetchResource::Buffer(memory));
        }
        if let Some(run) = vertex {
            (state.first_vertex, state.first_instance) = (run.first_vertex, run.first_instance);
            for (_, input) in self.inputs() {
                if let Some(fetch) = &input.attribute
                    && let AttributePlace::Resource { resource: number } = fetch.place
                {
                    let buffer = number.saturating_sub(160) as usize;
                    let bytes = run.buffers.get(buffer).cloned().unwrap_or_default();
                    let resource = BufferResource {
                        source: FetchSource::Bytes(bytes),
                        stride: fetch.stride,
                        format: None,
                    };
                    state.resources.insert(number, FetchResource::Buffer(resource));
                }
            }
        }
        state.constants[DRIVER] = self.driver_constants(bindings, &places, groups, vertex);
        state.aperture = Aperture { words: std::mem::take(&mut places.words) };
        Ok((state, places))
    }

    fn bind(
        &self,
        state: &mut State,
        bindings: &Bindings,
        (resource, slot): (Resource, &Binding),
        places: &Places,
    ) -> Result<(), Stop> {
        let data = &self.func().resources[resource];
        let arrayed = match data.kind {
            ResourceKind::Texture { arrayed, .. }
            | ResourceKind::StorageTexture { arrayed, .. } => arrayed,
            _ => false,
        };
        for element in 0..self.elements(resource) {
            let bound = bindings.get(resource, element);
            let bytes = bound.bytes();
            if let Some(kcache) = slot.place("kcache") {
                let mut line = bytes.to_vec();
                line.resize(line.len().next_multiple_of(LINE), 0);
                let number = match data.kind {
                    ResourceKind::Immediate { .. } => IMMEDIATES,
                    _ => (kcache + element) as usize,
                };
                if let Some(place) = state.constants.get_mut(number) {
                    *place = line;
                }
            }
            if let Some(number) = slot.place("resource") {
                let resource = match bound {
                    Bound::Image(image) => words::texture(image, arrayed)?,
                    _ => {
                        let source = match slot.place(APERTURE) {
                            Some(first) => {
                                let place = places.storage.get(&(first + element));
                                let place = place.copied().unwrap_or_default();
                                FetchSource::Aperture {
                                    start: place.start * 4,
                                    size: place.bytes.next_multiple_of(4),
                                }
                            }
                            None => {
                                let mut whole = bytes.to_vec();
                                whole.resize(bytes.len().next_multiple_of(4), 0);
                                FetchSource::Bytes(whole)
                            }
                        };
                        // An index of a buffer counts dwords, and whole ones can be read. abi-r700: Bindings.
                        FetchResource::Buffer(BufferResource { source, stride: 4, format: None })
                    }
                };
                state.resources.insert(number + element, resource);
            }
            if let Bound::Sampler(sampler) = bound {
                for (of, place) in SamplerUse::ALL {
                    let Some(number) = slot.place(place) else { continue };
                    let (sampler, overrides) = words::sampler(sampler, of)?;
                    state.samplers.insert(number + element, sampler);
                    if overrides {
                        state.array_samplers.insert(number + element);
                    }
                }
            }
        }
        Ok(())
    }

    fn driver_constants(
        &self,
        bindings: &Bindings,
        places: &Places,
        groups: [u32; 3],
        vertex: Option<&VertexRun<'_>>,
    ) -> Vec<u8> {
        let mut words: Vec<[u32; 4]> = Vec::new();
        for (at, constant) in self.compiled.described.driver_constants.iter().enumerate() {
            let &DriverConstant { constant, word } = constant;
            let DriverWord::Other(word) = word else {
                continue;
            };
            let value = match word {
                Driven::NumWorkgroups { .. } => [groups[0], groups[1], groups[2], 0],
                Driven::Draw => {
                    vertex.map_or([0; 4], |run| [run.first_vertex, run.first_instance, 0, 0])
                }
                Driven::StorageBuffer { aperture_index } => {
                    let place = places.storage.get(&aperture_index);
                    let place = place.copied().unwrap_or_default();
                    [place.start, place.bytes, place.pitch, place.rows]
                }
                Driven::WorkgroupMemory => {
                    let [_, dwords] = self.workgroup().unwrap_or_default();
                    [places.workgroup, dwords, 0, 0]
                }
                Driven::Image { binding } => image(bindings, binding),
                _ => continue,
            };
            let at = constant.map_or(at, |constant| constant as usize);
            if words.len() <= at {
                words.resize(at + 1, [GARBAGE; 4]);
            }
            words[at] = value;
        }
        let mut bytes = device::bytes_of(words.as_flattened());
        bytes.resize(bytes.len().next_multiple_of(LINE), 0);
        bytes
    }

    /// Copies storage buffers back out of the aperture.
    fn read_back(&self, state: &State, places: &Places, bindings: &mut Bindings) {
        for (resource, slot) in self.resources() {
            let Some(first) = slot.place(APERTURE) else {
                continue;
            };
            for element in 0..self.elements(resource) {
                let Some(place) = places.storage.get(&(first + element)) else {
                    continue;
                };
                let words = &state.aperture.words[place.start as usize..];
                let bound = bindings.get_mut(resource, element);
                if let Some(bytes) = bound.and_then(device::memory_of_mut) {
                    debug_assert_eq!(bytes.len(), place.bytes as usize);
                    device::write_words(bytes, words);
                }
            }
        }
    }

    /// What lies between the buffers belongs to nobody, so nobody may write there: the part of a last word that its
    /// buffer does not have, and the rest of the line.
    fn stray(state: &State, places: &Places) -> Option<String> {
        for (index, place) in &places.storage {
            let end = place.start + place.bytes.div_ceil(4);
            let next = (end as usize).next_multiple_of(LINE / 4);
            let words = &state.aperture.words;
            let whole = (end as usize..next).find(|&at| words[at] != GARBAGE);
            let part = place.bytes % 4 != 0 && {
                let bits = 8 * (place.bytes % 4);
                words[end as usize - 1] >> bits != GARBAGE >> bits
            };
            if part || whole.is_some() {
                let at = whole.map_or(place.bytes, |at| (at as u32 - place.start) * 4);
                return Some(format!(
                    "byte {at} of storage {index}, which has {}, was written",
                    place.bytes
                ));
            }
        }
        None
    }
}

/// Width, height, layers (cubes of a cube array, depth in three dimensions) and levels of an image.
fn image(bindings: &Bindings, binding: BindingName) -> [u32; 4] {
    let Some(resource) = binding.resource else {
        return [0; 4];
    };
    match bindings.get(resource, binding.element.unwrap_or(0)) {
        Bound::Image(image) => {
            let extent = image.extent();
            let third = match extent.dim {
                Dim::D3 => extent.depth,
                Dim::Cube => extent.layers / 6,
                Dim::D1 | Dim::D2 => extent.layers,
            };
            [extent.width, extent.height, third, extent.levels]
        }
        _ => [0; 4],
    }
}

impl Machine {
    /// What was streamed is what was exported.
    fn check_streams(
        &self,
        streams: &[Option<emu::Stream>; 4],
        launched: &Launched,
        threads: usize,
    ) -> Result<(), Stop> {
        for stream in &self.compiled.pipeline.vertex.stream.outputs {
            let Some(buffer) = &streams[stream.buffer as usize] else {
                continue;
            };
            let found = self.slots().find(|slot| match self.func().outputs[slot.output].kind {
                OutputKind::Location { location, .. } => stream.location == Some(location),
                OutputKind::Builtin(builtin) => {
                    stream.location.is_none() && builtin == Builtin::Position
                }
            });
            let Some(slot) = found else { continue };
            let Some(export) = launched.export(kind(slot.export), slot.index) else {
                continue;
            };
            for thread in 0..threads {
                for component in 0..slot.components.min(4) as usize {
                    let at =
                        thread * buffer.stride as usize + stream.offset as usize / 4 + component;
                    let exported = export.values[thread][component];
                    if buffer.words.get(at) != Some(&exported) {
                        return Err(Stop::Illegal {
                            rule: "stream-out".into(),
                            message: format!(
                                "vertex {thread} streams something else than it exports"
                            ),
                            span: Span::NONE,
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

impl Device for Machine {
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        let [threads, _] = self
            .workgroup()
            .ok_or_else(|| differs("report", "a compute program without a dispatch".into()))?;
        let threads = device::invocations(groups, threads)?;
        let (mut state, places) = self.build(bindings, emu::Stage::Compute, groups, None)?;
        // Where wavefronts begin is promised to nobody but those that work together.
        if !self.cooperates() {
            let drawn = 1 + (self.order >> 32) as u32 % 64;
            state.first_wave = Some(if self.order == 0 { FIRST_WAVE } else { drawn });
        }
        state.steps = self.launcher.steps;
        let result =
            self.launcher.run(|code, trace| emu::run_compute(code, &mut state, threads, trace));
        self.launcher.steps = state.steps;
        self.stray = Machine::stray(&state, &places);
        self.read_back(&state, &places, bindings);
        result.map(drop)
    }

    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let ids: Vec<(u32, u32)> = run.ids.iter().map(|id| (id.vertex, id.instance)).collect();
        let exports = self.exports()?;
        let (mut state, places) = match self.state.take() {
            Some(state) => (state, Places::default()),
            None => self.build(bindings, emu::Stage::Vertex, [1; 3], Some(run))?,
        };
        let stream_out = &self.compiled.pipeline.vertex.stream;
        for stream in &stream_out.outputs {
            let stride = stream_out.stride(stream.buffer) / 4;
            state.streams[stream.buffer as usize] =
                Some(emu::Stream { words: vec![GARBAGE; ids.len() * stride as usize], stride });
        }
        state.steps = self.launcher.steps;
        let result =
            self.launcher.run(|code, trace| emu::run_vertices(code, &mut state, &ids, trace));
        self.launcher.steps = state.steps;
        let streams = std::mem::take(&mut state.streams);
        self.keep(state, &places, bindings);
        let launched = result?;
        self.check_streams(&streams, &launched, ids.len())?;
        Ok((0..ids.len()).map(|thread| self.outputs(&launched, &exports, thread)).collect())
    }

    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        let pixels = self.pixels(batch)?;
        let exports = self.exports()?;
        let (mut state, places) = match self.state.take() {
            Some(state) => (state, Places::default()),
            None => self.build(bindings, emu::Stage::Pixel, [1; 3], None)?,
        };
        state.steps = self.launcher.steps;
        let result =
            self.launcher.run(|code, trace| emu::run_pixels(code, &mut state, &pixels, trace));
        self.launcher.steps = state.steps;
        self.keep(state, &places, bindings);
        let launched = result?;
        Ok((0..batch.quads.len() * 4)
            .map(|thread| FragmentOut {
                discarded: batch.quads[thread / 4].covered >> (thread % 4) & 1 == 1
                    && !launched.valid[thread],
                outputs: self.outputs(&launched, &exports, thread),
            })
            .collect())
    }

    fn most_samples(&self) -> u32 {
        limits::SAMPLES.row().1 as u32
    }

    fn by_sample(&self) -> bool {
        // Register guide 3, PA_SC_MODE_CNTL.PS_ITER_SAMPLE.
        self.registers().get(&address::PA_SC_MODE_CNTL).is_some_and(|mode| mode >> 17 & 1 == 1)
    }

    fn early(&self) -> Early {
        // Register guide 3, DB_SHADER_CONTROL.
        let registers = self.registers();
        let control = registers.get(&address::DB_SHADER_CONTROL).copied().unwrap_or_default();
        let bit = |at: u32| control >> at & 1 == 1;
        let (z_export, kill, mask_export) = (bit(0), bit(6), bit(8));
        match control >> 4 & 3 {
            // Whole tiles that fail are left out unless the program runs for them too.
            0 => Early { test: !bit(10) && !z_export, write: false },
            // What may still remove the pixel has its depth written behind the program.
            _ => Early { test: true, write: !(z_export || kill || mask_export) },
        }
    }

    fn launcher(&mut self) -> &mut Launcher {
        &mut self.launcher
    }

    fn steps(&self) -> u64 {
        self.launcher.steps
    }

    fn set_order(&mut self, seed: u64) {
        self.order = seed;
    }

    fn set_errors(&mut self, errors: Option<Perturbation>) {
        self.errors = errors;
        self.state = None;
    }

    fn stray(&self) -> Option<&str> {
        self.stray.as_deref()
    }
}

impl Machine {
    /// Reads memory back, or keeps the state for the next call when nothing in it can change.
    fn keep(&mut self, state: State, places: &Places, bindings: &mut Bindings) {
        if self.writes_memory() {
            self.stray = Machine::stray(&state, places);
            self.read_back(&state, places, bindings);
        } else {
            self.state = Some(state);
        }
    }
}

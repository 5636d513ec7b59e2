//! R700's strict emulator as an executor: set up by the program ABI from the report's state, inputs,
//! outputs and resources, and from nothing else.

use super::launch::Launcher;
use super::{Executor, FragmentOut, Stop, VertexOut, VertexRun};
use crate::{Failure, SourceText};
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Builtin, Dim, Func, Input, InputKind, OutputKind, ResourceKind, Span};
use gpucc_r700 as r700;
use gpucc_r700::emu::{
    self, Aperture, BufferResource, FetchResource, FetchSource, Launched, PixelBatch, State,
};
use std::collections::BTreeMap;

/// Control-flow instructions and groups that one launch may execute.
const STEPS: u64 = 50_000_000;
/// Constant buffer of immediates. abi-r700: Bindings.
const IMMEDIATES: usize = 14;
/// Constant buffer of the driver. abi-r700: Driver constants.
const DRIVER: usize = 15;
/// Bytes of a constant-cache line: buffers are sized in these. Register guide, SQ_ALU_CONST_BUFFER_SIZE.
const LINE: usize = 256;
/// What fresh memory holds, so that nobody mistakes it for zeros.
const GARBAGE: u32 = 0xDEAD_BEEF;

/// The emulated machine for a program.
pub fn executor(
    chip: r700::Chip,
    compiled: &r700::Compiled,
    source: &SourceText,
) -> Result<Box<dyn Executor>, Failure> {
    Ok(Box::new(Machine {
        chip,
        compiled: compiled.clone(),
        launcher: Launcher::new(&compiled.code, &compiled.lines, source),
        state: None,
    }))
}

/// A program and its machine.
struct Machine {
    chip: r700::Chip,
    compiled: r700::Compiled,
    launcher: Launcher,
    /// Kept between calls of a draw while nothing in it can change.
    state: Option<State>,
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
    fn func(&self) -> &Func {
        &self.compiled.expanded
    }

    /// Elements of a binding: more than one where it is an array.
    fn elements(&self, slot: &r700::ResourceSlot) -> u32 {
        self.func().resources[slot.resource]
            .count
            .unwrap_or(1)
            .max(1)
    }

    fn writes_memory(&self) -> bool {
        self.compiled
            .resources
            .iter()
            .any(|slot| slot.slot.aperture_index.is_some())
    }

    /// Puts storage buffers, and workgroup memory behind them, into the aperture.
    fn places(&self, bindings: &Bindings, workgroups: u32) -> Places {
        let mut places = Places::default();
        for slot in &self.compiled.resources {
            let Some(first) = slot.slot.aperture_index else {
                continue;
            };
            for element in 0..self.elements(slot) {
                let bound = bindings.get(slot.resource, element);
                let mut place = Place {
                    start: places.words.len() as u32,
                    ..Place::default()
                };
                let bytes = match bound {
                    Bound::Image(image) => {
                        let [width, height, _] = image.size(0);
                        (place.pitch, place.rows) = (width, height);
                        image.level_bytes(0)
                    }
                    _ => bound.bytes(),
                };
                place.bytes = bytes.len() as u32;
                places.storage.insert(first + element, place);
                places.words.extend(bytes.chunks(4).map(|chunk| {
                    let mut word = [0; 4];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u32::from_le_bytes(word)
                }));
                // Buffers start at cache lines; what is between them belongs to nobody.
                let aligned = places.words.len().next_multiple_of(LINE / 4);
                places.words.resize(aligned, GARBAGE);
            }
        }
        places.workgroup = places.words.len() as u32;
        if let Some(layout) = self.compiled.compute {
            let dwords = layout.workgroup_dwords as usize * workgroups as usize;
            let end = places.words.len() + dwords;
            places.words.resize(end, GARBAGE);
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
    ) -> (State, Places) {
        let mut state = State::new(self.chip, stage, r700::numerics_of(self.chip.family()));
        state.steps = STEPS;
        for register in &self.compiled.state {
            state.registers.insert(register.address, register.value);
        }
        state.fetch_program = self.compiled.fetch_program.clone();
        let mut places = self.places(bindings, groups.iter().product());
        for slot in &self.compiled.resources {
            self.bind(&mut state, bindings, slot, &places);
        }
        if !self.compiled.tables.is_empty() {
            let tables = BufferResource {
                source: FetchSource::Bytes(self.compiled.tables.clone()),
                stride: r700::TABLE_STRIDE,
                format: None,
            };
            state
                .resources
                .insert(r700::TABLES, FetchResource::Buffer(tables));
        }
        if let Some(run) = vertex {
            (state.first_vertex, state.first_instance) = (run.first_vertex, run.first_instance);
            for input in &self.compiled.inputs {
                if let Some(fetch) = &input.attribute {
                    let buffer = fetch.resource.saturating_sub(160) as usize;
                    let bytes = run.buffers.get(buffer).cloned().unwrap_or_default();
                    let resource = BufferResource {
                        source: FetchSource::Bytes(bytes),
                        stride: fetch.stride,
                        format: None,
                    };
                    state
                        .resources
                        .insert(fetch.resource, FetchResource::Buffer(resource));
                }
            }
        }
        state.constants[DRIVER] = self.driver_constants(bindings, &places, groups, vertex);
        state.aperture = Aperture {
            words: std::mem::take(&mut places.words),
        };
        (state, places)
    }

    fn bind(
        &self,
        state: &mut State,
        bindings: &Bindings,
        slot: &r700::ResourceSlot,
        places: &Places,
    ) {
        let data = &self.func().resources[slot.resource];
        for element in 0..self.elements(slot) {
            let bound = bindings.get(slot.resource, element);
            let bytes = bound.bytes();
            if let Some(kcache) = slot.slot.kcache {
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
            if let Some(number) = slot.slot.resource {
                let resource = match bound {
                    Bound::Image(image) => FetchResource::Texture(image.clone()),
                    _ => {
                        let source = match slot.slot.aperture_index {
                            Some(first) => {
                                let place = places.storage.get(&(first + element));
                                let place = place.copied().unwrap_or_default();
                                FetchSource::Aperture {
                                    start: place.start * 4,
                                    size: place.bytes,
                                }
                            }
                            None => FetchSource::Bytes(bytes.to_vec()),
                        };
                        // An index of a buffer counts dwords. abi-r700: Bindings.
                        FetchResource::Buffer(BufferResource {
                            source,
                            stride: 4,
                            format: None,
                        })
                    }
                };
                state.resources.insert(number + element, resource);
            }
            if let (Some(number), Bound::Sampler(sampler)) = (slot.slot.sampler, bound) {
                state.samplers.insert(number + element, *sampler);
            }
        }
    }

    fn driver_constants(
        &self,
        bindings: &Bindings,
        places: &Places,
        groups: [u32; 3],
        vertex: Option<&VertexRun<'_>>,
    ) -> Vec<u8> {
        let mut words: Vec<[u32; 4]> = Vec::new();
        for constant in &self.compiled.driver_constants {
            let value = match *constant {
                r700::DriverConstant::NumWorkgroups => [groups[0], groups[1], groups[2], 0],
                r700::DriverConstant::Draw => {
                    vertex.map_or([0; 4], |run| [run.first_vertex, run.first_instance, 0, 0])
                }
                r700::DriverConstant::Storage { index } => {
                    let place = places.storage.get(&index).copied().unwrap_or_default();
                    [place.start, place.bytes, place.pitch, place.rows]
                }
                r700::DriverConstant::Workgroup { .. } => [
                    places.workgroup,
                    self.compiled
                        .compute
                        .map_or(0, |layout| layout.workgroup_dwords),
                    0,
                    0,
                ],
                r700::DriverConstant::Image {
                    resource, element, ..
                } => match bindings.get(resource, element) {
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
                },
            };
            let at = constant.constant() as usize;
            if words.len() <= at {
                words.resize(at + 1, [GARBAGE; 4]);
            }
            words[at] = value;
        }
        let mut bytes: Vec<u8> = words
            .iter()
            .flatten()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        bytes.resize(bytes.len().next_multiple_of(LINE), 0);
        bytes
    }

    /// Copies storage buffers back out of the aperture.
    fn read_back(&self, state: &State, places: &Places, bindings: &mut Bindings) {
        for slot in &self.compiled.resources {
            let Some(first) = slot.slot.aperture_index else {
                continue;
            };
            for element in 0..self.elements(slot) {
                let Some(place) = places.storage.get(&(first + element)) else {
                    continue;
                };
                let words = &state.aperture.words[place.start as usize..];
                let bytes: &mut [u8] = match bindings.get_mut(slot.resource, element) {
                    Some(Bound::Buffer(bytes)) => bytes,
                    Some(Bound::Image(image)) => image.level_bytes_mut(0),
                    _ => continue,
                };
                debug_assert_eq!(bytes.len(), place.bytes as usize);
                for (place, word) in bytes.chunks_mut(4).zip(words) {
                    let len = place.len();
                    place.copy_from_slice(&word.to_le_bytes()[..len]);
                }
            }
        }
    }
}

/// Number of an export kind. See [`emu::Export`].
const fn kind(export: r700::ExportKind) -> u32 {
    match export {
        r700::ExportKind::Pixel | r700::ExportKind::Depth => 0,
        r700::ExportKind::Position => 1,
        r700::ExportKind::Parameter => 2,
    }
}

impl Machine {
    /// What a thread exported, by the function's outputs.
    fn outputs(&self, launched: &Launched, thread: usize) -> Vec<[u32; 4]> {
        let mut outputs = vec![[0; 4]; self.func().outputs.len()];
        for slot in &self.compiled.outputs {
            let Some(export) = launched.export(kind(slot.export), slot.index) else {
                continue;
            };
            let words = &mut outputs[slot.output.as_u32() as usize];
            let components = slot.components.min(4) as usize;
            for (component, word) in words.iter_mut().enumerate().take(components) {
                let channel = slot.channel as usize + component;
                let written = channel < 4 && export.written[thread] >> channel & 1 == 1;
                // What the program owes and does not export is anything.
                *word = if written {
                    export.values[thread][channel]
                } else {
                    GARBAGE
                };
            }
        }
        outputs
    }

    /// The batch as registers see it.
    fn pixels(&self, batch: &QuadBatch) -> PixelBatch {
        let mut pixels = PixelBatch::default();
        let order: Vec<Input> = self
            .func()
            .inputs
            .iter()
            .filter(|(_, data)| matches!(data.kind, InputKind::Location { .. }))
            .map(|(input, _)| input)
            .collect();
        // `(varying, register, channel, components)` of each input that the program reads.
        let mut reads = Vec::new();
        for slot in &self.compiled.inputs {
            let varying = order.iter().position(|&input| input == slot.input);
            if let (Some(varying), Some(register)) = (varying, slot.register) {
                let components = usize::from(self.func().inputs[slot.input].components);
                reads.push((
                    varying,
                    register as usize,
                    slot.channel as usize,
                    components,
                ));
            }
        }
        let count = reads.iter().map(|read| read.1 + 1).max().unwrap_or(0);
        pixels.components = vec![0; count];
        for &(_, register, channel, components) in &reads {
            let end = (channel + components).min(4) as u8;
            pixels.components[register] = pixels.components[register].max(end);
        }
        for (index, quad) in batch.quads.iter().enumerate() {
            pixels.covered.push(quad.covered);
            pixels.front.push(quad.front);
            for pixel in 0..4 {
                let [x, y, z, reciprocal] = quad.position[pixel];
                // The unit gives w, the language 1/w. isa/r700.md 2.1.
                pixels.position.push([x, y, z, 1.0 / reciprocal]);
                pixels.point.push(quad.point[pixel]);
                let mut words = vec![[0; 4]; count];
                for &(varying, register, channel, components) in &reads {
                    let value = batch.varying(index, pixel, varying);
                    let count = components.min(4 - channel);
                    words[register][channel..channel + count].copy_from_slice(&value[..count]);
                }
                pixels.parameters.extend(words);
            }
        }
        pixels
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
            let found = self.compiled.outputs.iter().find(|slot| {
                match self.func().outputs[slot.output].kind {
                    OutputKind::Location { location, .. } => stream.location == Some(location),
                    OutputKind::Builtin(builtin) => {
                        stream.location.is_none() && builtin == Builtin::Position
                    }
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

impl Executor for Machine {
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        let layout = self.compiled.compute.ok_or_else(|| {
            Stop::Cannot(Failure::internal(
                "r700: report",
                "a compute program without a dispatch",
            ))
        })?;
        let threads = super::invocations(groups, layout.threads_per_workgroup)?;
        let (mut state, places) = self.build(bindings, emu::Stage::Compute, groups, None);
        let result = self
            .launcher
            .run(|code, trace| emu::run_compute(code, &mut state, threads, trace));
        self.read_back(&state, &places, bindings);
        result.map(drop)
    }

    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let ids: Vec<(u32, u32)> = run.ids.iter().map(|id| (id.vertex, id.instance)).collect();
        let (mut state, places) = match self.state.take() {
            Some(state) => (state, Places::default()),
            None => self.build(bindings, emu::Stage::Vertex, [1; 3], Some(run)),
        };
        let stream_out = &self.compiled.pipeline.vertex.stream;
        for stream in &stream_out.outputs {
            let stride = stream_out.stride(stream.buffer) / 4;
            state.streams[stream.buffer as usize] = Some(emu::Stream {
                words: vec![GARBAGE; ids.len() * stride as usize],
                stride,
            });
        }
        let result = self
            .launcher
            .run(|code, trace| emu::run_vertices(code, &mut state, &ids, trace));
        let streams = std::mem::take(&mut state.streams);
        self.keep(state, &places, bindings);
        let launched = result?;
        self.check_streams(&streams, &launched, ids.len())?;
        Ok((0..ids.len())
            .map(|thread| self.outputs(&launched, thread))
            .collect())
    }

    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        let pixels = self.pixels(batch);
        let (mut state, places) = match self.state.take() {
            Some(state) => (state, Places::default()),
            None => self.build(bindings, emu::Stage::Pixel, [1; 3], None),
        };
        let result = self
            .launcher
            .run(|code, trace| emu::run_pixels(code, &mut state, &pixels, trace));
        self.keep(state, &places, bindings);
        let launched = result?;
        Ok((0..batch.quads.len() * 4)
            .map(|thread| FragmentOut {
                discarded: batch.quads[thread / 4].covered >> (thread % 4) & 1 == 1
                    && !launched.valid[thread],
                outputs: self.outputs(&launched, thread),
            })
            .collect())
    }

    fn take_trace(&mut self) -> String {
        self.launcher.take_trace()
    }

    fn set_trace(&mut self, on: bool) {
        self.launcher.set_trace(on);
    }
}

impl Machine {
    /// Reads memory back, or keeps the state for the next call when nothing in it can change.
    fn keep(&mut self, state: State, places: &Places, bindings: &mut Bindings) {
        if self.writes_memory() {
            self.read_back(&state, places, bindings);
        } else {
            self.state = Some(state);
        }
    }
}

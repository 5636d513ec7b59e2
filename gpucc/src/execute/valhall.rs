//! Valhall's strict emulator as an executor: memory with resource tables, descriptors and buffers as a
//! driver lays them out (docs/abi-valhall.md), from the compiled program's report and from nothing else.

use super::launch::Launcher;
use super::{Executor, FragmentOut, Stop, VertexOut, VertexRun};
use crate::{Failure, SourceText};
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::format::{Format, VertexFormat};
use gpucc_emu::image::Image;
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::numerics::{f16_to_f64, f64_to_f16};
use gpucc_ir::ssa::{
    Dim, Func, Input, InputKind, Interpolation, Resource, ResourceKind, Sampling, Scalar,
};
use gpucc_valhall as valhall;
use gpucc_valhall::emu::{
    self, Dispatch, PixelVarying, Pixels, QuadStart, Sampled, State, Vertices,
};
use gpucc_valhall::state as descriptors;
use std::collections::BTreeMap;

/// Instructions that one launch may execute.
const STEPS: u64 = 50_000_000;
/// What memory holds that nobody filled, so that nobody mistakes it for zeros.
const GARBAGE: u8 = 0xDB;
/// The first address that is given away.
const FIRST: u64 = 0x2_0000_0000;
/// Resource tables: up to number 61. abi-valhall: Resource tables.
const TABLES: usize = 62;
/// Bytes of a descriptor.
const DESCRIPTOR: u32 = 32;

/// The emulated machine for a program; `seed` chooses what the machine leaves open.
pub fn executor(compiled: &valhall::Compiled, source: &SourceText) -> Box<dyn Executor> {
    Box::new(Machine {
        compiled: compiled.clone(),
        launcher: Launcher::new(&compiled.code, &compiled.lines, source),
        seed: 0x5EED,
    })
}

/// A program and its machine.
struct Machine {
    compiled: valhall::Compiled,
    launcher: Launcher,
    /// Another one for each launch.
    seed: u64,
}

/// Memory while it is filled.
struct Filler {
    state: State,
    next: u64,
    /// Descriptors by table and entry.
    tables: BTreeMap<u32, BTreeMap<u32, [u32; 8]>>,
    /// Where each binding's element lies, when the program may change it.
    places: Vec<(Resource, u32, u64)>,
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl Filler {
    /// An address for `size` bytes, with unmapped ones behind them.
    fn place(&mut self, size: usize) -> u64 {
        let at = self.next;
        self.next = (at + size as u64 + 256).next_multiple_of(256);
        at
    }

    fn map(&mut self, bytes: Vec<u8>, writable: bool) -> u64 {
        let at = self.place(bytes.len());
        self.state.memory.map(at, bytes, writable);
        at
    }

    fn set(&mut self, table: u32, index: u32, descriptor: [u32; 8]) {
        self.tables
            .entry(table)
            .or_default()
            .insert(index, descriptor);
    }

    fn image(&mut self, image: &Image, writable: bool) -> ([u32; 8], u64) {
        let extent = *image.extent();
        let base = self.place(image.bytes().len());
        self.state.memory.map_image(base, image.clone(), writable);
        let texel = image.format().bytes() * extent.samples;
        let mut planes = Vec::new();
        for layer in 0..extent.layers {
            for level in 0..extent.levels {
                let [w, h, d] = image.size(level);
                for sample in 0..extent.samples {
                    let at = gpucc_emu::image::Texel {
                        layer,
                        level,
                        sample,
                        ..Default::default()
                    };
                    let offset = image.offset(at).expect("a surface has a first texel");
                    let (row, slice) = (w * texel, w * h * texel);
                    planes.extend(descriptors::plane(
                        base + offset as u64,
                        image.format(),
                        slice * d,
                        row,
                        slice,
                    ));
                }
            }
        }
        let surfaces = self.map(bytes_of(&planes), false);
        let cubes = if extent.dim == Dim::Cube { 6 } else { 1 };
        let descriptor = descriptors::texture(&descriptors::Texture {
            dim: extent.dim,
            format: image.format(),
            size: [extent.width, extent.height, extent.depth],
            layers: extent.layers / cubes,
            levels: extent.levels,
            samples: extent.samples,
            surfaces,
        });
        (descriptor, base)
    }

    /// Lays the tables out and points the machine at them.
    fn finish(mut self) -> (State, Vec<(Resource, u32, u64)>) {
        let mut entries = [[0; 4]; TABLES];
        for (table, descriptors) in std::mem::take(&mut self.tables) {
            let count = descriptors
                .last_key_value()
                .map_or(0, |(&index, _)| index + 1);
            let mut words = vec![0; (count * DESCRIPTOR / 4) as usize];
            for (index, descriptor) in descriptors {
                let at = (index * DESCRIPTOR / 4) as usize;
                words[at..at + 8].copy_from_slice(&descriptor);
            }
            let address = self.map(bytes_of(&words), false);
            entries[table as usize] = descriptors::resource_table(address, count);
        }
        let tables = self.map(bytes_of(entries.as_flattened()), false);
        self.state.tables = tables | TABLES as u64;
        (self.state, self.places)
    }
}

/// Bytes of the ten words about an image. abi-valhall: System values.
fn image_word(bound: &Bound, word: valhall::ImageWord) -> u32 {
    let Bound::Image(image) = bound else {
        return 0;
    };
    let extent = image.extent();
    let size = |axis: u8| [extent.width, extent.height, extent.depth][usize::from(axis.min(2))];
    let low = |axis: u8| 0.5 / size(axis) as f32;
    match word {
        valhall::ImageWord::Size(axis) => size(axis),
        valhall::ImageWord::Layers if extent.dim == Dim::Cube => extent.layers / 6,
        valhall::ImageWord::Layers => extent.layers,
        valhall::ImageWord::Levels => extent.levels,
        valhall::ImageWord::Samples => extent.samples,
        valhall::ImageWord::EdgeLow(axis) => low(axis).to_bits(),
        valhall::ImageWord::EdgeHigh(axis) => (1.0 - low(axis)).to_bits(),
    }
}

impl Machine {
    fn func(&self) -> &Func {
        &self.compiled.expanded
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
        state.steps = STEPS;
        state.work_registers = self.compiled.work_registers();
        state.thread_bytes = self.compiled.tls_bytes;
        state.workgroup_bytes = self.compiled.wls_bytes;
        self.seed = self
            .seed
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(1);
        state.seed = self.seed;
        let word = |word: &valhall::FauWord| self.uniform(bindings, groups, run, word);
        state.fau = self.compiled.fau.iter().map(word).collect();
        let mut filler = Filler {
            state,
            next: FIRST,
            tables: BTreeMap::new(),
            places: Vec::new(),
        };
        for slot in &self.compiled.resources {
            for element in 0..slot.slot.count {
                self.bind(&mut filler, bindings, slot, element);
            }
        }
        if let Some(index) = self.compiled.info_buffer {
            let bytes = self.info(bindings);
            let size = bytes.len() as u32;
            let at = filler.map(bytes, false);
            filler.set(
                valhall::abi::table::UNIFORM,
                index,
                descriptors::buffer(at, size),
            );
        }
        for table in &self.compiled.constants {
            let bytes = bytes_of(&table.words);
            let size = bytes.len() as u32;
            let at = filler.map(bytes, false);
            filler.set(
                valhall::abi::table::UNIFORM,
                table.index,
                descriptors::buffer(at, size),
            );
        }
        filler
    }

    fn bind(
        &self,
        filler: &mut Filler,
        bindings: &Bindings,
        slot: &valhall::ResourceSlot,
        element: u32,
    ) {
        let data = &self.func().resources[slot.resource];
        let (table, index) = (slot.slot.table, slot.slot.index + element);
        let bound = bindings.get(slot.resource, element);
        let writable = matches!(
            data.kind,
            ResourceKind::Storage { .. } | ResourceKind::StorageTexture { .. }
        );
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
        let record = valhall::abi::INFO_RECORD as usize;
        let mut bytes = Vec::new();
        for slot in &self.compiled.resources {
            let Some(first) = slot.info else {
                continue;
            };
            let end = first as usize + record * slot.slot.count as usize;
            if bytes.len() < end {
                bytes.resize(end, GARBAGE);
            }
            for element in 0..slot.slot.count {
                let at = first as usize + record * element as usize;
                let bound = bindings.get(slot.resource, element);
                let mut put = |offset: u32, word: u32| {
                    let at = at + offset as usize;
                    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
                };
                if let Bound::Buffer(buffer) = bound {
                    put(valhall::abi::INFO_BUFFER_SIZE, buffer.len() as u32);
                } else {
                    for word in valhall::ImageWord::ALL {
                        put(word.offset(), image_word(bound, word));
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
        word: &valhall::FauWord,
    ) -> u32 {
        use valhall::FauWord;
        match *word {
            FauWord::Constant(value) => value,
            FauWord::Uniform { resource, offset } => {
                gpucc_emu::world::load_word(bindings.get(resource, 0).bytes(), offset)
            }
            FauWord::NumWorkgroups(axis) => groups[usize::from(axis.min(2))],
            FauWord::FirstVertex => run.map_or(0, |run| run.first_vertex),
            FauWord::FirstInstance => run.map_or(0, |run| run.first_instance),
            FauWord::VertexCount => run.map_or(0, vertex_count),
            FauWord::StreamAddress { buffer, high } => {
                (stream_address(buffer) >> if high { 32 } else { 0 }) as u32
            }
            // Screen space is device space: nothing changes. abi-valhall: Vertex.
            FauWord::ViewportScale(_) => 1f32.to_bits(),
            FauWord::ViewportOffset(_) => (-0f32).to_bits(),
            FauWord::BufferSize { resource, element } => {
                bindings.get(resource, element).bytes().len() as u32
            }
            FauWord::Image {
                resource,
                element,
                word,
            } => image_word(bindings.get(resource, element), word),
            FauWord::Unused => 0xDEAD_BEEF,
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

/// Bytes of the packet slot of a vertex. abi-valhall: IDVS.
const POSITION: u32 = 16;

/// Linear ids: with point sizes four slots follow every four vertices.
fn linear_id(n: u32, point_size: bool) -> u32 {
    if point_size { 8 * (n / 4) + n % 4 } else { n }
}

/// Vertices of an instance.
fn vertex_count(run: &VertexRun<'_>) -> u32 {
    run.ids.iter().map(|id| id.vertex + 1).max().unwrap_or(0)
}

/// Where a transform feedback buffer lies: soon the high word changes.
fn stream_address(buffer: u8) -> u64 {
    (u64::from(buffer) + 0x11) << 32 | 0xFFFF_FF84
}

impl Machine {
    /// Vertex attributes and their buffers.
    fn attributes(&self, filler: &mut Filler, run: &VertexRun<'_>) {
        use valhall::abi::table;
        for (index, bytes) in run.buffers.iter().enumerate() {
            let at = filler.map(bytes.clone(), false);
            let descriptor = descriptors::buffer(at, bytes.len() as u32);
            filler.set(table::VERTEX_BUFFER, index as u32, descriptor);
        }
        for input in &self.compiled.inputs {
            if let valhall::InputPlace::Attribute(fetch) = &input.place {
                let format =
                    VertexFormat::from_name(&fetch.format).map_or(0, descriptors::vertex_format);
                let descriptor = descriptors::attribute(
                    format,
                    fetch.per_instance,
                    fetch.offset,
                    fetch.buffer,
                    fetch.stride,
                );
                filler.set(table::ATTRIBUTE, fetch.index, descriptor);
            }
        }
    }

    /// The plain form: each output has an attribute of its own, whose elements are the vertices of one
    /// instance, so instances run one after the other.
    fn plain(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        use valhall::abi::table;
        let mut outs = vec![vec![[0; 4]; self.func().outputs.len()]; run.ids.len()];
        let mut instances: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (n, id) in run.ids.iter().enumerate() {
            instances.entry(id.instance).or_default().push(n);
        }
        for (instance, members) in instances {
            let vertex = |n: usize| run.ids[n].vertex.wrapping_add(run.first_vertex);
            let last = members.iter().map(|&n| vertex(n)).max().unwrap_or(0);
            if last >= 1 << 20 {
                let failure = Failure::usage("so many vertices cannot be emulated");
                return Err(Stop::Cannot(failure));
            }
            let mut filler = self.fill(bindings, emu::Stage::Vertex, [1; 3], Some(run));
            self.attributes(&mut filler, run);
            let mut stores = Vec::new();
            for (k, slot) in self.compiled.outputs.iter().enumerate() {
                let valhall::OutputPlace::Attribute(index) = slot.place else {
                    continue;
                };
                let scalar = self.func().outputs[slot.output].scalar;
                let format = match scalar {
                    Scalar::F32 => "float32x4",
                    Scalar::F16 => "float16x4",
                    Scalar::I32 => "sint32x4",
                    Scalar::U32 | Scalar::Bool => "uint32x4",
                };
                let format = VertexFormat::from_name(format).expect("a format of WebGPU");
                let stride = format.bytes();
                let size = stride * (last + 1);
                let at = filler.place(size as usize);
                filler.state.memory.map_undefined(at, size as usize);
                let buffer = (run.buffers.len() + k) as u32;
                let pixel = descriptors::vertex_format(format);
                let descriptor = descriptors::attribute(pixel, false, 0, buffer, stride);
                filler.set(table::VERTEX_BUFFER, buffer, descriptors::buffer(at, size));
                filler.set(table::ATTRIBUTE, index, descriptor);
                stores.push((slot.clone(), scalar, at, stride));
            }
            let count = vertex_count(run);
            let stream = self.compiled.pipeline.vertex.stream.clone();
            let captured: Vec<valhall::OutputSlot> = self
                .compiled
                .outputs
                .iter()
                .filter(|slot| matches!(slot.place, valhall::OutputPlace::Stream { .. }))
                .cloned()
                .collect();
            for buffer in 0..4 {
                let vertices = u64::from(count) * (u64::from(instance) + 1);
                let bytes = vertices * u64::from(stream.stride(buffer));
                if captured.is_empty() || bytes == 0 {
                    continue;
                }
                if bytes >= 1 << 28 {
                    let failure = Failure::usage("so many vertices cannot be emulated");
                    return Err(Stop::Cannot(failure));
                }
                let at = stream_address(buffer as u8);
                filler.state.memory.map_undefined(at, bytes as usize);
            }
            let (mut state, places) = filler.finish();
            let info = self.compiled.programs[0];
            let vertices = Vertices {
                entry: info.offset,
                preload: info.preload,
                half: self.half_warps(0),
                ids: members
                    .iter()
                    .enumerate()
                    .map(|(n, &member)| {
                        let instance = instance.wrapping_add(run.first_instance);
                        [n as u32, vertex(member), instance]
                    })
                    .collect(),
            };
            let result = self
                .launcher
                .run(|code, trace| emu::run_vertices(code, &mut state, &vertices, trace));
            Machine::read_back(&state, &places, bindings);
            result?;
            for &n in &members {
                for (slot, scalar, at, stride) in &stores {
                    let at = at + u64::from(vertex(n)) * u64::from(*stride);
                    outs[n][slot.output.as_u32() as usize] =
                        self.stored(&state, at, *scalar, slot.components);
                }
                for slot in &captured {
                    let valhall::OutputPlace::Stream { buffer, offset } = slot.place else {
                        continue;
                    };
                    let before = u64::from(instance) * u64::from(count);
                    let vertex = before + u64::from(run.ids[n].vertex);
                    let stride = stream.stride(buffer.into());
                    let at = stream_address(buffer) + vertex * u64::from(stride);
                    let scalar = self.func().outputs[slot.output].scalar;
                    outs[n][slot.output.as_u32() as usize] =
                        self.stored(&state, at + u64::from(offset), scalar, slot.components);
                }
            }
        }
        Ok(outs)
    }

    /// One of the two programs of a vertex shader: runs it and gives the packets or records.
    fn vertex_program(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
        program: usize,
        stride: u32,
        slots: u32,
    ) -> Result<(State, u64), Stop> {
        let mut filler = self.fill(bindings, emu::Stage::Vertex, [1; 3], Some(run));
        self.attributes(&mut filler, run);
        let size = stride * slots;
        let packets = filler.place(size as usize);
        filler.state.memory.map_undefined(packets, size as usize);
        let descriptor = descriptors::structured_buffer(packets, size, stride);
        filler.set(valhall::abi::table::IDVS, 0, descriptor);
        let (mut state, places) = filler.finish();
        let point_size = self.writes_point_size();
        let info = self.compiled.programs[program];
        let vertices = Vertices {
            entry: info.offset,
            preload: info.preload,
            half: self.half_warps(program),
            ids: run
                .ids
                .iter()
                .enumerate()
                .map(|(n, id)| {
                    [
                        linear_id(n as u32, point_size),
                        id.vertex.wrapping_add(run.first_vertex),
                        id.instance.wrapping_add(run.first_instance),
                    ]
                })
                .collect(),
        };
        let result = self
            .launcher
            .run(|code, trace| emu::run_vertices(code, &mut state, &vertices, trace));
        Machine::read_back(&state, &places, bindings);
        result?;
        Ok((state, packets))
    }

    /// Whether a program's descriptor halves its warps. abi-valhall: State.
    fn half_warps(&self, program: usize) -> bool {
        let descriptor = self.compiled.state.get(program);
        let word = descriptor.and_then(|descriptor| descriptor.words.first());
        word.is_some_and(|word| word >> 8 & 1 == 1)
    }

    fn writes_point_size(&self) -> bool {
        self.compiled
            .outputs
            .iter()
            .any(|output| output.place == valhall::OutputPlace::PointSize)
    }

    /// Whole words or halves of an output that lies in memory; 0 where nobody wrote.
    fn stored(&self, state: &State, at: u64, scalar: Scalar, components: u8) -> [u32; 4] {
        let size = if scalar == Scalar::F16 { 2 } else { 4 };
        std::array::from_fn(|k| {
            let mut bytes = [0; 4];
            let at = at + k as u64 * size;
            if k >= usize::from(components) || !state.memory.is_defined(at) {
                return 0;
            }
            match state.memory.read(at, &mut bytes[..size as usize]) {
                Ok(0) => u32::from_le_bytes(bytes),
                _ => 0,
            }
        })
    }

    fn idvs(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let point_size = self.writes_point_size();
        let count = run.ids.len() as u32;
        let last = count.checked_sub(1).map_or(0, |n| linear_id(n, point_size));
        let slots = last + if point_size { 5 } else { 1 };
        let (positions, packets) = self.vertex_program(bindings, run, 0, POSITION, slots)?;
        let varyings = match self.compiled.secondary_offset {
            Some(_) => {
                let stride = self.compiled.varying_stride;
                Some(self.vertex_program(bindings, run, 1, stride, slots)?)
            }
            None => None,
        };
        let mut outs = vec![vec![[0; 4]; self.func().outputs.len()]; run.ids.len()];
        for (n, out) in outs.iter_mut().enumerate() {
            let id = u64::from(linear_id(n as u32, point_size));
            for slot in &self.compiled.outputs {
                let data = &self.func().outputs[slot.output];
                let words = &mut out[slot.output.as_u32() as usize];
                match slot.place {
                    valhall::OutputPlace::Position => {
                        let at = packets + id * u64::from(POSITION);
                        *words = self.stored(&positions, at, Scalar::F32, 4);
                    }
                    valhall::OutputPlace::PointSize => {
                        let at = packets + (id + 4) * u64::from(POSITION);
                        let half = self.stored(&positions, at, Scalar::F16, 1)[0] as u16;
                        words[0] = (f16_to_f64(half) as f32).to_bits();
                    }
                    valhall::OutputPlace::Varying(offset) => {
                        if let Some((state, records)) = &varyings {
                            let stride = u64::from(self.compiled.varying_stride);
                            let at = records + id * stride + u64::from(offset);
                            *words = self.stored(state, at, data.scalar, slot.components);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(outs)
    }

    /// The batch as the interpolator has it.
    fn pixels(&self, batch: &QuadBatch) -> Pixels {
        let mut pixels = Pixels {
            preload: self.compiled.programs[0].preload,
            ..Pixels::default()
        };
        // abi-valhall: State. A program that needs no neighbours gets none.
        pixels.helpers = self
            .compiled
            .state
            .first()
            .and_then(|descriptor| descriptor.words.first())
            .is_none_or(|word| word >> 28 & 1 == 1);
        for quad in &batch.quads {
            pixels.quads.push(QuadStart {
                covered: quad.covered,
                front: quad.front,
                at: [quad.x, quad.y],
                primitive: quad.primitive,
                depth_w: quad.position.map(|p| [p[2], p[3]]),
                point: quad.point,
            });
        }
        for slot in &self.compiled.inputs {
            let valhall::InputPlace::Varying(offset) = slot.place else {
                continue;
            };
            let Some(varying) = self.varying_of(slot.input) else {
                continue;
            };
            let data = &self.func().inputs[slot.input];
            let half = data.scalar == Scalar::F16;
            let first = (offset & 15) as usize / if half { 2 } else { 4 };
            let linear = slot.interpolation == Some(Interpolation::Linear);
            let place = match pixels
                .varyings
                .iter()
                .position(|v| v.offset == offset & !15)
            {
                Some(place) => place,
                None => {
                    pixels.varyings.push(PixelVarying {
                        offset: offset & !15,
                        half,
                        flat: slot.interpolation == Some(Interpolation::Flat),
                        sampled: match slot.sampling {
                            Some(Sampling::Centroid) => Sampled::Centroid,
                            Some(Sampling::Sample) => Sampled::Sample,
                            _ => Sampled::Center,
                        },
                        values: vec![[0; 4]; 4 * batch.quads.len()],
                    });
                    pixels.varyings.len() - 1
                }
            };
            let values = &mut pixels.varyings[place].values;
            for (n, value) in values.iter_mut().enumerate() {
                let words = batch.varying(n / 4, n % 4, varying);
                // v9 interpolates with perspective: the plane times w. abi-valhall: Vertex.
                let w = 1.0 / batch.quads[n / 4].position[n % 4][3];
                for k in 0..usize::from(data.components).min(4 - first) {
                    value[first + k] = match (half, linear) {
                        (false, false) => words[k],
                        (false, true) => (f32::from_bits(words[k]) * w).to_bits(),
                        (true, false) => words[k] & 0xFFFF,
                        (true, true) => {
                            let wide = f16_to_f64(words[k] as u16) * f64::from(w);
                            u32::from(f64_to_f16(wide))
                        }
                    };
                }
            }
        }
        for slot in &self.compiled.outputs {
            if let valhall::OutputPlace::Blend { target, source } = slot.place {
                let needed = &mut pixels.needed[usize::from(target & 7)];
                if source == 0 {
                    *needed = slot.components;
                }
                pixels.dual |= source == 1;
            }
        }
        pixels
    }

    fn pixel_out(&self, pixel: &emu::PixelOut, covered: bool) -> FragmentOut {
        let mut outputs = vec![[0; 4]; self.func().outputs.len()];
        for slot in &self.compiled.outputs {
            let data = &self.func().outputs[slot.output];
            let words = &mut outputs[slot.output.as_u32() as usize];
            match slot.place {
                valhall::OutputPlace::Blend { target, source } => {
                    if let Some(colour) = pixel.colors.get(&(target, source)) {
                        *words = *colour;
                        if data.scalar == Scalar::F16 {
                            for word in words.iter_mut() {
                                let value = f64::from(f32::from_bits(*word));
                                *word = u32::from(f64_to_f16(value));
                            }
                        }
                    }
                }
                valhall::OutputPlace::Depth => words[0] = pixel.depth.unwrap_or(0),
                valhall::OutputPlace::Coverage => words[0] = pixel.coverage.unwrap_or(0),
                _ => {}
            }
        }
        // A mask of nothing and a discard leave the same coverage, and the same nothing.
        FragmentOut {
            discarded: covered && (pixel.killed || pixel.coverage == Some(0)),
            outputs,
        }
    }
}

impl Executor for Machine {
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        let dispatch = Dispatch {
            size: self.func().workgroup_size,
            groups,
            preload: self.compiled.programs[0].preload,
        };
        let size = dispatch.size.iter();
        super::invocations(groups, size.fold(1u32, |all, &n| all.saturating_mul(n)))?;
        let filler = self.fill(bindings, emu::Stage::Compute, groups, None);
        let (mut state, places) = filler.finish();
        let result = self
            .launcher
            .run(|code, trace| emu::run_compute(code, &mut state, &dispatch, trace));
        Machine::read_back(&state, &places, bindings);
        result.map(drop)
    }

    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        if self.compiled.pipeline.vertex.form == valhall::VertexForm::Plain {
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
        for slot in &self.compiled.outputs {
            if let valhall::OutputPlace::Blend { target, .. } = slot.place {
                let blend = descriptors::blend_opaque(target.into(), Format::Rgba32Float, 15);
                filler.state.blend[usize::from(target & 7)] =
                    u64::from(blend[2]) | u64::from(blend[3]) << 32;
            }
        }
        let (mut state, places) = filler.finish();
        let result = self
            .launcher
            .run(|code, trace| emu::run_pixels(code, &mut state, &pixels, trace));
        Machine::read_back(&state, &places, bindings);
        let outs = result?;
        Ok(outs
            .iter()
            .enumerate()
            .map(|(n, pixel)| self.pixel_out(pixel, batch.quads[n / 4].covered >> (n % 4) & 1 == 1))
            .collect())
    }

    fn take_trace(&mut self) -> String {
        self.launcher.take_trace()
    }

    fn set_trace(&mut self, on: bool) {
        self.launcher.set_trace(on);
    }
}

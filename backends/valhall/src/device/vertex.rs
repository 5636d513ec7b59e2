//! Vertices: one program, or one for the position and one for the rest.

use super::fill::Filler;
use super::{LOCATION, Machine, Out, table};
use crate::emu::{self, State, Vertices};
use crate::state as descriptors;
use crate::state::{SECONDARY, STRIDE};
use gpucc_emu::device::{Stop, VertexOut, VertexRun};
use gpucc_emu::format::VertexFormat;
use gpucc_emu::world::Bindings;
use gpucc_ir::driver::Step;
use gpucc_ir::ssa::numerics::f16_to_f64;
use gpucc_ir::ssa::{Builtin, InputKind, OutputKind, Scalar};
use gpucc_machine::described::{AttributePlace, Memory, OutputPlace};
use std::collections::BTreeMap;

/// Bytes of the packet slot of a vertex. abi-valhall: IDVS.
const POSITION: u32 = 16;

/// Linear ids: with point sizes or layers four slots follow every four vertices.
fn linear_id(n: u32, second: bool) -> u32 {
    if second { 8 * (n / 4) + n % 4 } else { n }
}

/// Vertices of an instance.
pub(super) fn vertex_count(run: &VertexRun<'_>) -> u32 {
    run.ids.iter().map(|id| id.vertex + 1).max().unwrap_or(0)
}

/// Where a transform feedback buffer lies: soon the high word changes.
pub(super) fn stream_address(buffer: u32) -> u64 {
    (u64::from(buffer) + 0x11) << 32 | 0xFFFF_FF84
}

/// Where an output stands in a varying record. abi-valhall: Vertex, IDVS and clip distances.
const fn record_byte(kind: &OutputKind) -> Option<u32> {
    match *kind {
        OutputKind::Location { location, .. } => Some(LOCATION * location),
        OutputKind::Builtin(Builtin::ClipDistance(first)) => Some(512 + 4 * first as u32),
        OutputKind::Builtin(_) => None,
    }
}

impl Machine {
    /// Vertex attributes and their buffers.
    fn attributes(&self, filler: &mut Filler, run: &VertexRun<'_>) {
        for (index, bytes) in run.buffers.iter().enumerate() {
            let at = filler.map(bytes.clone(), false);
            let descriptor = descriptors::buffer(at, bytes.len() as u32);
            filler.set(table::VERTEX_BUFFER, index as u32, descriptor);
        }
        for told in &self.compiled.described.inputs {
            if let (Some(fetch), Some(input)) = (&told.attribute, told.input)
                && let AttributePlace::Descriptors { buffer, .. } = fetch.place
            {
                let format =
                    VertexFormat::from_name(&fetch.format).map_or(0, descriptors::vertex_format);
                let descriptor = descriptors::attribute(
                    format,
                    fetch.step == Step::Instance,
                    fetch.offset,
                    buffer,
                    fetch.stride,
                );
                // abi-valhall: entry n is location n.
                if let InputKind::Location { location, .. } = self.func().inputs[input].kind {
                    filler.set(table::ATTRIBUTE, location, descriptor);
                }
            }
        }
    }

    /// The plain form: each output has an attribute of its own, whose elements are the vertices of one
    /// instance, so instances run one after the other.
    pub(super) fn plain(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let mut outs = vec![vec![[0; 4]; self.func().outputs.len()]; run.ids.len()];
        let mut instances: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (n, id) in run.ids.iter().enumerate() {
            instances.entry(id.instance).or_default().push(n);
        }
        for (instance, members) in instances {
            let vertex = |n: usize| run.ids[n].vertex.wrapping_add(run.first_vertex);
            let last = members.iter().map(|&n| vertex(n)).max().unwrap_or(0);
            if last >= 1 << 20 {
                return Err(Stop::TooLarge("so many vertices cannot be emulated".into()));
            }
            let mut filler = self.fill(bindings, emu::Stage::Vertex, [1; 3], Some(run));
            self.attributes(&mut filler, run);
            let mut stores = Vec::new();
            for (k, slot) in self.outs().enumerate() {
                let OutputPlace::Indexed { place: Memory::Attribute, index } = slot.place else {
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
                stores.push((slot, scalar, at, stride));
            }
            let count = vertex_count(run);
            let stream = self.compiled.pipeline.vertex.stream.clone();
            let captured: Vec<Out> = self
                .outs()
                .filter(|slot| matches!(slot.place, OutputPlace::Stream { .. }))
                .collect();
            for buffer in 0..4 {
                let vertices = u64::from(count) * (u64::from(instance) + 1);
                let bytes = vertices * u64::from(stream.stride(buffer));
                if captured.is_empty() || bytes == 0 {
                    continue;
                }
                if bytes >= 1 << 28 {
                    return Err(Stop::TooLarge("so many vertices cannot be emulated".into()));
                }
                let at = stream_address(buffer);
                filler.state.memory.map_undefined(at, bytes as usize);
            }
            let (mut state, places) = filler.finish();
            let info = self.program(0);
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
            self.launcher.steps = state.steps;
            Machine::read_back(&state, &places, bindings);
            result?;
            for &n in &members {
                for (slot, scalar, at, stride) in &stores {
                    let at = at + u64::from(vertex(n)) * u64::from(*stride);
                    outs[n][slot.output.as_u32() as usize] =
                        self.stored(&state, at, *scalar, slot.components);
                }
                for slot in &captured {
                    let OutputPlace::Stream { buffer, index: offset, .. } = slot.place else {
                        continue;
                    };
                    let before = u64::from(instance) * u64::from(count);
                    let vertex = before + u64::from(run.ids[n].vertex);
                    let stride = stream.stride(buffer);
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
        filler.set(table::IDVS, 0, descriptor);
        let (mut state, places) = filler.finish();
        let second = self.writes_second_packet();
        let info = self.program(program);
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
                        linear_id(n as u32, second),
                        id.vertex.wrapping_add(run.first_vertex),
                        id.instance.wrapping_add(run.first_instance),
                    ]
                })
                .collect(),
        };
        let result =
            self.launcher.run(|code, trace| emu::run_vertices(code, &mut state, &vertices, trace));
        self.launcher.steps = state.steps;
        Machine::read_back(&state, &places, bindings);
        result?;
        Ok((state, packets))
    }

    /// Whether a program's descriptor halves its warps. abi-valhall: State.
    fn half_warps(&self, program: usize) -> bool {
        self.program_word(program).is_some_and(|word| word >> 8 & 1 == 1)
    }

    /// Whether vertices have a second packet: for a point size or a layer.
    fn writes_second_packet(&self) -> bool {
        let wanted = [Memory::PointSize, Memory::Layer].map(|place| OutputPlace::Single { place });
        self.outs().any(|output| wanted.contains(&output.place))
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

    pub(super) fn idvs(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let second = self.writes_second_packet();
        let count = run.ids.len() as u32;
        let last = count.checked_sub(1).map_or(0, |n| linear_id(n, second));
        let slots = last + if second { 5 } else { 1 };
        let (positions, packets) = self.vertex_program(bindings, run, 0, POSITION, slots)?;
        let record = self.number(STRIDE).unwrap_or(0);
        let varyings = match self.number(SECONDARY) {
            Some(_) => {
                let stride = record;
                Some(self.vertex_program(bindings, run, 1, stride, slots)?)
            }
            None => None,
        };
        let mut outs = vec![vec![[0; 4]; self.func().outputs.len()]; run.ids.len()];
        for (n, out) in outs.iter_mut().enumerate() {
            let id = u64::from(linear_id(n as u32, second));
            for slot in self.outs() {
                let data = &self.func().outputs[slot.output];
                let words = &mut out[slot.output.as_u32() as usize];
                let (OutputPlace::Single { place } | OutputPlace::Indexed { place, .. }) =
                    slot.place
                else {
                    continue;
                };
                match place {
                    Memory::Position => {
                        let at = packets + id * u64::from(POSITION);
                        *words = self.stored(&positions, at, Scalar::F32, 4);
                    }
                    Memory::PointSize => {
                        let at = packets + (id + 4) * u64::from(POSITION);
                        let half = self.stored(&positions, at, Scalar::F16, 1)[0] as u16;
                        words[0] = (f16_to_f64(half) as f32).to_bits();
                    }
                    Memory::Layer => {
                        let at = packets + (id + 4) * u64::from(POSITION) + 2;
                        let mut byte = [0];
                        if positions.memory.is_defined(at)
                            && positions.memory.read(at, &mut byte) == Ok(0)
                        {
                            words[0] = byte[0].into();
                        }
                    }
                    Memory::Varying => {
                        if let Some((state, records)) = &varyings
                            && let Some(offset) = record_byte(&data.kind)
                        {
                            let stride = u64::from(record);
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
}

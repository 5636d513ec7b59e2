//! Vertices by a control stream of draws: the sequencer brings system values and attributes into vertex inputs.
//! isa/rogue-pipeline.md 4.1, 5.1, 5.3.

use super::Machine;
use super::heap::{DOUTU, DOUTW, HALT, HIGH, Heap, LOW, PERSISTENT_PAIR, TEMP_PAIR};
use super::heap::{dout, start, transfer};
use crate::attribute::Packing;
use crate::describe::{INPUTS, TEMPS, VERTEX_WORDS};
use crate::lower::iterated_output as iterated_half;
use gpucc_emu::device::{Stop, VertexOut, VertexRun};
use gpucc_emu::draw::VertexId;
use gpucc_emu::world::Bindings;
use gpucc_ir::driver::Step;
use gpucc_ir::ssa::{Builtin, InputKind, Numerics};
use gpucc_machine::described::{InputPlace, OutputPlace};

/// Blocks of the stream. 5.3.
const PDS_STATE: u32 = 1 << 29;
const VDM_STATE: u32 = 2 << 29 | 1 << 27 | 1 << 26;
const TERMINATE: u32 = 6 << 29;
/// Indices of 32 bits, with everything that a list may have; points. 5.3.
const LIST: u32 = 3 << 29 | 1 << 28 | 1 << 27 | 1 << 26 | 1 << 25 | 1 << 24 | 2 << 17;

/// Constants of a program of the sequencer, and its instructions.
#[derive(Default)]
struct Fetch {
    constants: Vec<u32>,
    code: Vec<u32>,
}

impl Fetch {
    /// A word: its number.
    fn word(&mut self, word: u32) -> u32 {
        self.constants.push(word);
        self.constants.len() as u32 - 1
    }

    /// Two words: their number among registers of 64 bits.
    fn pair(&mut self, words: [u32; 2]) -> u32 {
        if self.constants.len() % 2 == 1 {
            self.constants.push(0);
        }
        self.constants.extend(words);
        self.constants.len() as u32 / 2 - 1
    }
}

impl Machine {
    /// Runs vertices.
    ///
    /// # Errors
    /// [`Stop`].
    pub(super) fn points(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let mut heap = Heap::new(self)?;
        let shared = heap.bind(self, bindings)?;
        let mut stream = Vec::new();
        if !shared.is_empty() {
            let [data, code, constants] = heap.upload(&shared)?;
            let common = (shared.len() as u32).div_ceil(16);
            stream.extend([PDS_STATE | common << 16 | 1 << 6 | constants.div_ceil(4), data, code]);
        }
        let fetch = self.fetch(&mut heap, run)?;
        let count = fetch.constants.len() as u32;
        let data = heap.put_pds(&fetch.constants)?;
        let code = heap.put_pds(&fetch.code)?;
        let inputs = self.number(INPUTS).div_ceil(4);
        let size = self.number(VERTEX_WORDS);
        stream.extend([VDM_STATE, data, code, size, inputs << 10 | 1 << 6 | count.div_ceil(4)]);
        for ids in run.ids.chunk_by(|a, b| a.instance == b.instance) {
            let indices: Vec<u32> = ids.iter().map(|id| id.vertex).collect();
            let at = heap.put(&gpucc_emu::device::bytes_of(&indices))?;
            let instance = ids.first().map_or(0, |id: &VertexId| id.instance);
            let list = LIST | (at >> 32) as u32;
            let instance = instance.wrapping_add(run.first_instance);
            stream.extend([list, at as u32, ids.len() as u32, 1, run.first_vertex, 0, instance]);
        }
        stream.push(TERMINATE);
        let at = heap.put_stream(&stream)?;
        let ran = self.run(|run| heap.gpu.vertices(at, run));
        heap.read_back(bindings)?;
        let drawn = ran?;
        let vertices = drawn.iter().flat_map(|draw| &draw.vertices);
        Ok(vertices.map(|words| self.vertex(words)).collect())
    }

    /// The program that fills the vertex inputs and starts the program.
    fn fetch(&self, heap: &mut Heap, run: &VertexRun<'_>) -> Result<Fetch, Stop> {
        let mut fetch = Fetch::default();
        let kick = fetch.pair(start(0, self.number(TEMPS)));
        let func = &self.compiled.expanded;
        let told = self.compiled.described.inputs.iter();
        let placed: Vec<_> = told
            .filter_map(|told| match (told.input, &told.place) {
                (Some(input), InputPlace::Register { register }) => Some((input, *register)),
                _ => None,
            })
            .collect();
        let count = placed.len();
        for (at, (input, register)) in placed.into_iter().enumerate() {
            let last = at + 1 == count;
            let data = &func.inputs[input];
            match data.kind {
                InputKind::Builtin(which) => {
                    let (pair, half) = match which {
                        // One draw of one view.
                        Builtin::DrawIndex | Builtin::ViewIndex => (fetch.pair([0, 0]), LOW),
                        Builtin::VertexIndex => (TEMP_PAIR, LOW),
                        Builtin::InstanceIndex => (TEMP_PAIR, HIGH),
                        // Each instance is a draw of its own here, so that what the sequencer adds is another number.
                        Builtin::BaseInstance => (fetch.pair([run.first_instance, 0]), LOW),
                        _ => (PERSISTENT_PAIR, LOW),
                    };
                    let control = fetch.word(transfer(half, register, false, last));
                    fetch.code.push(dout(0, 0, control, pair, DOUTW));
                }
                InputKind::Location { location, .. } => {
                    let words = self.attribute(heap, run, location, data.components.into())?;
                    let [stride, low, high, count, index] = words;
                    let stride = fetch.word(stride);
                    let base = fetch.pair([low, high]);
                    let control = fetch.pair([transfer(count, register, false, last), 0]);
                    fetch.code.push(0xe000_0000 | stride << 18 | index << 13 | base << 6 | control);
                }
            }
        }
        fetch.code.extend([dout(1, 1, 0, kick, DOUTU), HALT]);
        let whole = fetch.constants.len().next_multiple_of(4);
        fetch.constants.resize(whole, 0);
        Ok(fetch)
    }

    /// Stride, address, words and the sequencer's temporary of an attribute. What lies behind the end of its buffer is 0.
    fn attribute(
        &self,
        heap: &mut Heap,
        run: &VertexRun<'_>,
        location: u32,
        components: u32,
    ) -> Result<[u32; 5], Stop> {
        let state = &self.compiled.pipeline.vertex;
        let missing = || Stop::TooLarge(format!("attribute {location} has no layout"));
        let attribute = state.attribute(location).ok_or_else(missing)?;
        let buffer = state.buffers.get(attribute.buffer as usize).ok_or_else(missing)?;
        let packing = Packing::of(&attribute.format)
            .and_then(|packing| packing.at(attribute.offset, buffer.stride))
            .ok_or_else(missing)?;
        let count = packing.words(components);
        let (index, numbers): (u32, Vec<u32>) = match buffer.step {
            Step::Vertex => {
                (0, run.ids.iter().map(|id| id.vertex.wrapping_add(run.first_vertex)).collect())
            }
            Step::Instance => {
                (1, run.ids.iter().map(|id| id.instance.wrapping_add(run.first_instance)).collect())
            }
        };
        let most = numbers.into_iter().max().unwrap_or(0);
        let end = u64::from(most) * u64::from(buffer.stride) + u64::from(attribute.offset & !3);
        let end = end + 4 * u64::from(count);
        let mut bytes = run.buffers.get(attribute.buffer as usize).cloned().unwrap_or_default();
        if end > 1 << 28 {
            return Err(Stop::TooLarge(format!("attribute {location} reaches {end} bytes")));
        }
        if bytes.len() < end as usize {
            bytes.resize(end as usize, 0);
        }
        let at = heap.put(&bytes)? + u64::from(attribute.offset & !3);
        Ok([buffer.stride, at as u32, (at >> 32) as u32, count, index])
    }

    /// What a vertex gave, by the places that the outputs are told to have.
    fn vertex(&self, words: &[Option<u32>]) -> VertexOut {
        let outputs = self.compiled.described.outputs.iter().map(|told| {
            let first = match told.place {
                OutputPlace::Register { register } => register as usize,
                _ => 0,
            };
            let mut out = [0; 4];
            let taken = words.iter().skip(first).take(told.components as usize);
            for (word, value) in out.iter_mut().zip(taken) {
                *word = value.unwrap_or(0);
            }
            let func = &self.compiled.expanded;
            if told.output.is_some_and(|output| iterated_half(&func.outputs[output])) {
                let half = |word: u32| Numerics::REFERENCE.out16(f32::from_bits(word).into());
                out = out.map(|word| half(word).into());
            }
            out
        });
        outputs.collect()
    }
}

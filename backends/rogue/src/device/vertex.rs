//! Vertices by a control stream of draws: the sequencer brings system values and attributes into vertex inputs.
//! isa/rogue-pipeline.md 4.1, 5.1, 5.3.

use super::heap::Heap;
use super::{Machine, fill, untold};
use crate::attribute::{self, Packing};
use crate::lower::iterated_output as iterated_half;
use crate::state::{FETCH_CODE, FETCH_DATA, VDM_PDS, VDM_STATE};
use gpucc_emu::device::{Stop, VertexOut, VertexRun};
use gpucc_emu::draw::VertexId;
use gpucc_emu::world::Bindings;
use gpucc_ir::driver::Step;
use gpucc_ir::ssa::Numerics;
use gpucc_machine::described::{Attribute, AttributePlace, OutputPlace, Which};

/// The end of the stream. 5.3.
const TERMINATE: u32 = 6 << 29;
/// Indices of 32 bits, with everything that a list may have; points. 5.3.
const LIST: u32 = 3 << 29 | 1 << 28 | 1 << 27 | 1 << 26 | 1 << 25 | 1 << 24 | 2 << 17;
/// The words of a block with the places of a program's data and code.
const DATA: usize = 1;
const CODE: usize = 2;
/// The word of the fetch program's data with the number of the first instance.
const FIRST_INSTANCE: usize = 2;

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
            let [data, code] = heap.upload(self, &shared)?;
            let mut block = self.words(VDM_PDS)?;
            fill(&mut block, DATA, data)?;
            fill(&mut block, CODE, code)?;
            stream.extend_from_slice(block.words());
        }
        let [data, code] = self.fetch(&mut heap, run)?;
        let mut block = self.words(VDM_STATE)?;
        fill(&mut block, DATA, data)?;
        fill(&mut block, CODE, code)?;
        stream.extend_from_slice(block.words());
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

    /// The program that fills the vertex inputs and starts the program: the places of its data and code. There is one draw
    /// of one view; each instance is a draw of its own, so that the first instance of the whole is told apart.
    fn fetch(&self, heap: &mut Heap, run: &VertexRun<'_>) -> Result<[u32; 2], Stop> {
        let mut data = self.words(FETCH_DATA)?;
        fill(&mut data, FIRST_INSTANCE, run.first_instance)?;
        for told in &self.compiled.described.inputs {
            let (Which::Location(location), Some(attribute)) = (&told.which, &told.attribute)
            else {
                continue;
            };
            let AttributePlace::Resource { resource } = attribute.place else {
                return Err(untold(format!("attribute {location} has no place")));
            };
            let at = self.attribute(heap, run, attribute, (*location, told.components))?;
            fill(&mut data, resource as usize, at as u32)?;
            fill(&mut data, resource as usize + 1, (at >> 32) as u32)?;
        }
        let data = heap.put_pds(data.words())?;
        Ok([data, heap.put_pds(self.words(FETCH_CODE)?.words())?])
    }

    /// The address of an attribute in memory. What lies behind the end of its buffer is 0.
    fn attribute(
        &self,
        heap: &mut Heap,
        run: &VertexRun<'_>,
        told: &Attribute,
        (location, components): (u32, u32),
    ) -> Result<u64, Stop> {
        let missing = || untold(format!("attribute {location} has no layout"));
        let state = &self.compiled.pipeline.vertex;
        let buffer = state.attribute(location).ok_or_else(missing)?.buffer;
        let packing = Packing::of(&told.format)
            .and_then(|packing| packing.at(told.offset, told.stride))
            .ok_or_else(missing)?;
        let count = packing.words(components);
        let numbers: Vec<u32> = match told.step {
            Step::Vertex => {
                run.ids.iter().map(|id| id.vertex.wrapping_add(run.first_vertex)).collect()
            }
            Step::Instance => {
                run.ids.iter().map(|id| id.instance.wrapping_add(run.first_instance)).collect()
            }
        };
        let most = numbers.into_iter().max().unwrap_or(0);
        let start = u64::from(attribute::start(told.offset, told.stride));
        let end = u64::from(most) * u64::from(told.stride) + start;
        let end = end + 4 * u64::from(count);
        let mut bytes = run.buffers.get(buffer as usize).cloned().unwrap_or_default();
        if end > 1 << 28 {
            return Err(Stop::TooLarge(format!("attribute {location} reaches {end} bytes")));
        }
        if bytes.len() < end as usize {
            bytes.resize(end as usize, 0);
        }
        Ok(heap.put(&bytes)? + start)
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

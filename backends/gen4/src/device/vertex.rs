//! Vertices by the fetcher and the vertex unit's threads. isa/gen4-pipeline.md 1.4, 2, 3; docs/abi-gen4.md, Vertex.

use super::chip::Chip;
use super::surfaces::{self, Tables};
use super::{Machine, entry, scratch};
use crate::describe::{ELEMENTS, VS};
use crate::emu::Model;
use crate::vue;
use gpucc_emu::device::{Stop, VertexOut, VertexRun, bytes_of, words_of};
use gpucc_emu::world::Bindings;
use gpucc_ir::driver::Step;
use gpucc_ir::ssa::{Builtin, OutputKind};
use gpucc_machine::described::{Attribute, AttributePlace, Memory, OutputPlace, Setting};
use std::collections::BTreeMap;

/// Units of the vertex unit's entries.
pub const UNITS: u32 = 160;
/// Vertices of one call that are emulated.
const MOST: usize = 1 << 20;
/// 3DPRIMITIVE of points by indices.
const INDEXED_POINTS: u32 = 0x7b00_0004 | 1 << 15 | 1 << 10;
/// Bytes of scratch of all threads that are in flight together, as far as there is more than one.
const SCRATCH: u32 = 1 << 19;

/// What the driver has of the entries of the vertex unit.
pub struct Entries {
    pub count: u32,
    /// Units of 64 bytes.
    pub size: u32,
}

impl Machine {
    /// The state of the vertex unit in memory, and its entries, for which there is room for so many units of 64 bytes.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub(super) fn vertex_unit(
        &self,
        chip: &mut Chip,
        tables: &Tables,
        room: u32,
    ) -> Result<(u32, Entries), Stop> {
        let program = chip.put_program(&self.compiled.code)?;
        let (most, entries) = match chip.model {
            Model::I965 | Model::Gm965 => (16, 32),
            Model::G45 => (32, 64),
        };
        let bytes = scratch(self.word(VS, 2));
        let threads = (SCRATCH / bytes).clamp(1, most);
        let memory = chip.map(threads * bytes, 1024)?;
        let mut state = [0, 1, 2, 3, 4, 5, 6].map(|at| self.word(VS, at));
        let size = (state[4] >> 19 & 31) + 1;
        // Where entries are large, there are fewer.
        let count = entries.min(room / size).max(16);
        state[0] |= program;
        state[2] |= memory;
        state[4] |= (threads.min(count / 2) - 1) << 25 | count << 11;
        state[5] |= tables.samplers;
        Ok((chip.put_words(&state)?, Entries { count, size }))
    }

    /// Vertex buffers and elements: memory, and the commands that name it.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub(super) fn attributes(&self, chip: &mut Chip, run: &VertexRun<'_>) -> Result<(), Stop> {
        let told = self.compiled.described.inputs.iter().filter_map(|told| told.attribute.as_ref());
        let mut buffers: BTreeMap<u32, &Attribute> = BTreeMap::new();
        for attribute in told {
            if let AttributePlace::Descriptors { buffer, .. } = attribute.place {
                buffers.insert(buffer, attribute);
            }
        }
        for (buffer, told) in buffers {
            let bytes = run.buffers.get(buffer as usize).map_or(&[][..], Vec::as_slice);
            let at = chip.put(bytes)?;
            let instances = told.step == Step::Instance;
            // There is no first instance: the buffer begins there. isa/gen4-pipeline.md 7.20.
            let skipped = if instances { run.first_instance.wrapping_mul(told.stride) } else { 0 };
            let count = (bytes.len() as u32).div_ceil(told.stride.max(1));
            let last = if told.stride == 0 { 0 } else { count.saturating_sub(1) };
            let word = buffer << 27 | u32::from(instances) << 26 | told.stride;
            let last = if instances { 0 } else { last };
            chip.command(&[0x7808_0003, word, at.wrapping_add(skipped), last, instances.into()]);
        }
        if let Some(Setting::Descriptor { words, .. }) = self.compiled.described.state.get(ELEMENTS)
        {
            chip.command(&[0x7809_0000 | (words.len() as u32 - 1)]);
            chip.command(words);
        }
        Ok(())
    }

    /// Runs vertices: those of an instance are one draw of points, whose entries are read behind the vertex unit.
    ///
    /// # Errors
    /// [`Stop`].
    pub(super) fn points(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        if run.ids.len() > MOST {
            return Err(Stop::TooLarge("so many vertices cannot be emulated".into()));
        }
        let mut instances: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, id) in run.ids.iter().enumerate() {
            instances.entry(id.instance).or_default().push(number);
        }
        let mut chip = self.chip();
        let described = (&self.compiled.expanded, &self.compiled.described);
        let tables = surfaces::bind(&mut chip, described, bindings, &[])?;
        let (state, entries) = self.vertex_unit(&mut chip, &tables, UNITS)?;
        let mut constants = self.constants(bindings, [0; 3], Some(run));
        // A row that nobody needs is read all the same.
        constants.resize(constants.len().next_multiple_of(8).max(8), 0);
        let units = Chip::constant_units(constants.len());
        let vertices = entries.count * entries.size;
        chip.begin(false);
        chip.command(&[0x7801_0004, tables.surfaces, 0, 0, 0, 0]);
        chip.command(&[0x7800_0005, state, 0, 0, 0, 0, 0]);
        chip.fence([
            Some(vertices),
            Some(vertices),
            Some(vertices),
            Some(vertices),
            None,
            Some(vertices + units),
        ]);
        chip.constants(&constants)?;
        self.attributes(&mut chip, run)?;
        let mut outs = vec![Vec::new(); run.ids.len()];
        for (instance, members) in instances {
            let indices: Vec<u32> = members.iter().map(|&number| run.ids[number].vertex).collect();
            let at = chip.put(&bytes_of(&indices))?;
            chip.command(&[0x780a_0001 | 2 << 8, at, at + 4 * indices.len() as u32 - 1]);
            let words = [indices.len() as u32, 0, 1, 0, run.first_vertex];
            let written = self.run(|run| {
                chip.submit(run)?;
                let fetched = chip.gpu.fetched(INDEXED_POINTS, &words, instance)?;
                chip.gpu.vertex_threads(&fetched, run)
            })?;
            for (number, entry) in members.into_iter().zip(written) {
                let words: Vec<u32> = words_of(&entry).collect();
                outs[number] = self.vertex(&words);
                self.fixed(chip.model, &words, &outs[number])?;
            }
        }
        self.run(|run| chip.submit(run))?;
        tables.read_back(&mut chip, bindings)?;
        Ok(outs)
    }

    /// Looks at what no output says of an entry.
    pub(super) fn fixed(&self, model: Model, words: &[u32], out: &VertexOut) -> Result<(), Stop> {
        let mut distances = BTreeMap::new();
        let mut placed = false;
        for (output, data) in &self.compiled.expanded.outputs {
            let values = out[output.as_u32() as usize];
            match data.kind {
                OutputKind::Builtin(Builtin::Position) => placed = true,
                OutputKind::Builtin(
                    which @ (Builtin::ClipDistance(first) | Builtin::CullDistance(first)),
                ) => {
                    let rejects = matches!(which, Builtin::CullDistance(_));
                    let numbers = (first..first + data.components).map(|number| (rejects, number));
                    distances.extend(numbers.zip(values));
                }
                _ => {}
            }
        }
        let distances: Vec<u32> = distances.into_values().collect();
        if placed { entry::check(model, words, &distances) } else { Ok(()) }
    }

    /// What an entry has for each output.
    pub(super) fn vertex(&self, entry: &[u32]) -> VertexOut {
        let mut out = vec![[0; 4]; self.compiled.expanded.outputs.len()];
        for told in &self.compiled.described.outputs {
            let Some(output) = told.output else { continue };
            let to = &mut out[output.as_u32() as usize];
            let first = match told.place {
                OutputPlace::Single { place: Memory::PointSize } => {
                    // Eighths of a pixel from bit 8 of the header's last word on.
                    let width = entry.get(3).map_or(0, |word| word >> 8 & 0x7ff);
                    to[0] = (width as f32 / 8.0).to_bits();
                    continue;
                }
                OutputPlace::Single { .. } => 4 * vue::POSITION,
                OutputPlace::Indexed { index, .. } => index as usize / 4,
                _ => continue,
            };
            let words = entry.iter().skip(first).take(told.components as usize);
            for (to, word) in to.iter_mut().zip(words) {
                *to = *word;
            }
        }
        out
    }
}

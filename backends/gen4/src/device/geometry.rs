//! Primitives by the geometry unit's threads. isa/gen4-pipeline.md 1.2, 3.2, 4.4; docs/abi-gen4.md, Geometry.

use super::chip::Chip;
use super::surfaces::{self, Tables};
use super::{Machine, scratch};
use crate::describe::GS;
use crate::emu::{Given, Left};
use crate::vue::{WIDTH_BITS, WIDTH_STEP, WIDTH_WORD};
use gpucc_emu::device::{Emitted, GARBAGE, PrimitiveIn, PrimitiveOut, Stop, bytes_of, words_of};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::Corners;
use gpucc_machine::described::InputPlace;

/// Primitives of one call that are emulated.
const MOST: usize = 1 << 20;
/// Entries of the unit, half of them for each of its threads.
const ENTRIES: u32 = 8;
const THREADS: u32 = 2;

/// The code of a primitive. isa/gen4-pipeline.md 1.4.
fn topology(takes: Corners) -> u32 {
    match takes {
        Corners::Points => 1,
        Corners::Lines => 2,
        Corners::Triangles => 4,
        Corners::LinesAdjacency => 9,
        Corners::TrianglesAdjacency => 11,
    }
}

impl Machine {
    /// Runs primitives, a thread each.
    ///
    /// # Errors
    /// [`Stop`].
    pub(super) fn objects(
        &mut self,
        bindings: &mut Bindings,
        primitives: &[PrimitiveIn],
    ) -> Result<Vec<PrimitiveOut>, Stop> {
        if primitives.len() > MOST {
            return Err(Stop::TooLarge("so many primitives cannot be emulated".into()));
        }
        let Some(geometry) = self.compiled.expanded.geometry else {
            return Err(Stop::TooLarge("the program is for another stage".into()));
        };
        let mut chip = self.chip();
        let described = (&self.compiled.expanded, &self.compiled.described);
        let tables = surfaces::bind(&mut chip, described, bindings, &[])?;
        let (state, end) = self.geometry_unit(&mut chip, &tables, 0)?;
        // The vertex unit is off.
        let vertex = chip.put_words(&[0; 7])?;
        let mut constants = self.constants(bindings, [0; 3], None);
        constants.resize(constants.len().next_multiple_of(8), 0);
        let units = Chip::constant_units(constants.len());
        chip.begin(false);
        chip.command(&[0x7801_0004, 0, tables.surfaces, 0, 0, 0]);
        chip.command(&[0x7800_0005, vertex, state | 1, 0, 0, 0, 0]);
        chip.fence([Some(0), Some(end), Some(end), Some(end), None, Some(end + units)]);
        chip.constants(&constants)?;
        let corners = usize::from(geometry.takes.count());
        let given: Vec<Given> = primitives
            .iter()
            .map(|primitive| Given {
                topology: topology(geometry.takes),
                vertices: self.entries_of(primitive, corners),
            })
            .collect();
        let made = self.run(|run| {
            chip.submit(run)?;
            chip.gpu.geometry_threads(&given, run)
        })?;
        self.run(|run| chip.submit(run))?;
        let mut outs = Vec::with_capacity(made.len());
        for vertices in made {
            let mut out = PrimitiveOut::new();
            for vertex in vertices {
                let words: Vec<u32> = words_of(&vertex.entry.into_bytes()).collect();
                let outputs = self.vertex(&words);
                self.fixed(chip.model, &words, &outputs)?;
                out.push(Emitted { outputs, begins: vertex.begins });
            }
            outs.push(out);
        }
        tables.read_back(&mut chip, bindings)?;
        Ok(outs)
    }

    /// The state of the geometry unit, and the units of its entries. `constants`: the row of the constants where its own begin.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub(super) fn geometry_unit(
        &self,
        chip: &mut Chip,
        tables: &Tables,
        constants: u32,
    ) -> Result<(u32, u32), Stop> {
        let program = chip.put_program(&self.compiled.code)?;
        let mut state = [0, 1, 2, 3, 4, 5, 6].map(|at| self.word(GS, at));
        let memory = chip.map(THREADS * scratch(state[2]), 1024)?;
        let size = (state[4] >> 19 & 31) + 1;
        state[0] |= program;
        state[2] |= memory;
        if self.constant_rows(GS) != 0 {
            state[3] |= constants << 18;
        }
        state[4] |= (THREADS - 1) << 25 | ENTRIES << 11;
        state[5] |= tables.samplers;
        Ok((chip.put_words(&state)?, ENTRIES * size))
    }

    /// The entries of a primitive's vertices, as a vertex program leaves them: what the program does not read is garbage.
    fn entries_of(&self, primitive: &PrimitiveIn, corners: usize) -> Vec<Left> {
        let read = self.word(GS, 3);
        let rows = (read >> 4 & 63) + (read >> 11 & 63);
        let mut entries = vec![vec![GARBAGE; 8 * rows as usize]; corners];
        for told in &self.compiled.described.inputs {
            let (Some(input), Some(vertex), InputPlace::Record { varying }) =
                (told.input, told.vertex, &told.place)
            else {
                continue;
            };
            let mut words =
                primitive.inputs.get(input.as_u32() as usize).copied().unwrap_or_default();
            if *varying as usize == 4 * WIDTH_WORD {
                let eighths = (f32::from_bits(words[0]) / (256.0 * WIDTH_STEP)) as u32;
                words[0] = GARBAGE & !WIDTH_BITS | eighths << 8 & WIDTH_BITS;
            }
            let components = told.components as usize;
            let place = entries
                .get_mut(usize::from(vertex))
                .and_then(|entry| entry.get_mut(*varying as usize / 4..));
            for (to, word) in place.into_iter().flatten().zip(words).take(components) {
                *to = word;
            }
        }
        entries.iter().map(|words| bytes_of(words).into()).collect()
    }
}

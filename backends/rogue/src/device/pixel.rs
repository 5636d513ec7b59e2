//! Quads of pixels by the state words of a draw. isa/rogue-pipeline.md 4.2, 5.1, 5.4.

use super::Machine;
use super::heap::{DOUTI, DOUTU, Heap, TILE_BYTES, dout, start};
use crate::abi::TILE_WORDS;
use crate::describe::{COEFFICIENTS, FEEDBACK, OUTPUT_REGISTERS, TEMPS};
use crate::emu::{Quad, Shaded};
use gpucc_emu::device::{FragmentOut, Stop};
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::{Interpolation, Numerics, Scalar};
use gpucc_machine::described::{InputPlace, Memory, OutputPlace, Which};

/// Words of a vertex before its varyings: the position.
const POSITION: u32 = 4;
/// Shade models of DOUTI: the first vertex, and all of them. 5.1.
const FLAT: u32 = 0;
const GOURAUD: u32 = 3;
/// DOUTI: a place in a point, and the number of the primitive. 5.1.
const POINT: u32 = 1 << 23;
const PRIMITIVE: u32 = 1 << 26;
/// Pass types. 5.4.
const OPAQUE: u32 = 0;
const PUNCH_THROUGH: u32 = 2;
const DEPTH_FEEDBACK: u32 = 5;
/// A comparison that always holds.
const ALWAYS: u32 = 7;

/// Which words of the pixel's state the update has. 5.4.
const HEADER: u32 = 1 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 9 | 1 << 11 | 1 << 17 | 1 << 18;

/// A varying as the state says it.
struct Told {
    /// Among the function's location inputs.
    number: usize,
    set: u32,
    components: u32,
    flat: bool,
    perspective: bool,
    /// Of halves.
    half: bool,
}

impl Machine {
    fn told(&self) -> Vec<Told> {
        let inputs = self.compiled.described.inputs.iter();
        let located = inputs.filter(|input| matches!(input.which, Which::Location(_)));
        located
            .enumerate()
            .filter_map(|(number, input)| {
                let InputPlace::Register { register } = input.place else { return None };
                Some(Told {
                    number,
                    set: register / 4,
                    components: input.components,
                    flat: input.interpolation == Some(Interpolation::Flat),
                    perspective: input.interpolation == Some(Interpolation::Perspective),
                    half: input.input.is_some_and(|input| {
                        self.compiled.expanded.inputs[input].scalar == Scalar::F16
                    }),
                })
            })
            .collect()
    }

    /// Sets of z and of the reciprocal of w: those before the varyings. A position has both, perspective the second.
    fn places(&self, told: &[Told]) -> (bool, bool) {
        let position = self
            .compiled
            .described
            .inputs
            .iter()
            .any(|input| matches!(&input.which, Which::Builtin(name) if *name == "position"));
        (position, position || told.iter().any(|varying| varying.perspective))
    }

    /// The first set of a built-in input that is iterated.
    fn set_of(&self, name: &str) -> Option<u32> {
        self.compiled.described.inputs.iter().find_map(|input| match (&input.which, &input.place) {
            (Which::Builtin(known), InputPlace::Register { register }) if *known == name => {
                Some(register / 4)
            }
            _ => None,
        })
    }

    /// Sets of places in points and of numbers of primitives.
    fn others(&self) -> u32 {
        let there = |name| u32::from(self.set_of(name).is_some());
        2 * there("point_coord") + there("primitive_index")
    }

    /// Runs quads.
    ///
    /// # Errors
    /// [`Stop`].
    pub(super) fn pixels(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        let mut heap = Heap::new(self)?;
        let shared = heap.bind(self, bindings)?;
        let told = self.told();
        let (has_z, has_w) = self.places(&told);
        let state = self.pixel_state(&mut heap, &shared, &told, (has_z, has_w))?;
        let address = heap.put_stream(&state)?;
        // Sets that no word of a vertex stands behind come before the varyings'.
        let before = u32::from(has_z) + u32::from(has_w) + self.others();
        let quads: Vec<Quad> =
            (0..batch.quads.len()).map(|at| quad(batch, at, &told, before)).collect();
        let ran = self.run(|run| {
            let state = heap
                .gpu
                .pixel_state(address, state.len() as u32)
                .map_err(|(rule, detail)| crate::emu::Trap::new(rule, 0, detail))?;
            heap.gpu.quads(&state, &quads, run)
        });
        heap.read_back(bindings)?;
        let shaded = ran?;
        Ok(shaded.iter().flatten().map(|pixel| self.pixel(pixel, &heap.tiles)).collect())
    }

    /// The state words, with the programs of the sequencer that they name.
    fn pixel_state(
        &self,
        heap: &mut Heap,
        shared: &[u32],
        told: &[Told],
        (has_z, has_w): (bool, bool),
    ) -> Result<Vec<u32>, Stop> {
        let [entry, temps] = start(0, self.number(TEMPS));
        let kick = [entry, temps, 0, 0, 0, 0, 0, 0, dout(0, 1, 0, 0, DOUTU)];
        let shader = heap.put_pds(&kick)?;
        let [uniforms, uniform_code, constants] = match shared.is_empty() {
            true => [0; 3],
            false => heap.upload(shared)?,
        };
        let others = self.others();
        let mut pairs = Vec::new();
        let set = |number: u32| number << 22;
        let mut iterate = |first: u32, count: u32, flags: u32, number: u32| {
            pairs.push([flags | (count - 1) << 18 | (2 * first) << 8, set(number)]);
        };
        // z is the first set where it is there, and the second word behind w.
        if has_z {
            iterate(u32::from(has_w), 1, GOURAUD << 24, 0);
        }
        if has_w {
            iterate(0, 1, GOURAUD << 24, u32::from(has_z));
        }
        if let Some(set) = self.set_of("point_coord") {
            iterate(0, 2, GOURAUD << 24 | POINT, set);
        }
        if let Some(set) = self.set_of("primitive_index") {
            iterate(0, 1, PRIMITIVE, set);
        }
        for varying in told {
            let shade = if varying.flat { FLAT } else { GOURAUD };
            let flags = shade << 24 | u32::from(varying.perspective) << 16;
            iterate(varying.set - others, varying.components, flags, varying.set);
        }
        let mut words: Vec<u32> = pairs.iter().flatten().copied().collect();
        if let Some(last) = words.last_mut() {
            *last |= 1 << 31;
        }
        words.resize(words.len().next_multiple_of(4), 0);
        let varying_words = words.len() as u32;
        let count = pairs.len() as u32;
        words.extend((0..count).map(|at| dout(0, u32::from(at + 1 == count), 0, at, DOUTI)));
        let varyings = heap.put_pds(&words)?;
        let depth =
            self.compiled.described.outputs.iter().any(
                |output| matches!(&output.which, Which::Builtin(name) if *name == "frag_depth"),
            );
        let pass = match (depth, self.number(FEEDBACK) != 0) {
            (true, _) => DEPTH_FEEDBACK,
            (false, true) => PUNCH_THROUGH,
            (false, false) => OPAQUE,
        };
        let first = constants.div_ceil(4) << 23
            | varying_words.div_ceil(4) << 10
            | self.number(COEFFICIENTS).div_ceil(16) << 4
            | 1;
        let second = (shared.len() as u32).div_ceil(16) << 23;
        let viewport = [8.0f32, 8.0, 8.0, 8.0, 0.0, 1.0].map(f32::to_bits);
        let mut state = vec![HEADER, 0, pass << 24 | ALWAYS << 17, ALWAYS << 25];
        state.extend([shader, uniform_code, first, second, varyings, uniforms]);
        state.extend(viewport);
        state.extend([u32::from(has_w) << 16 | u32::from(has_z) << 21, 0]);
        Ok(state)
    }

    /// What a pixel gave, by the places that the outputs are told to have.
    fn pixel(&self, shaded: &Shaded, tiles: &[u64]) -> FragmentOut {
        let registers = self.number(OUTPUT_REGISTERS);
        let word = |at: u32| match at.checked_sub(registers) {
            None => shaded.outputs.get(at as usize).copied().flatten(),
            Some(behind) => in_tile(shaded, tiles, behind),
        };
        let outputs = self.compiled.described.outputs.iter().map(|told| {
            let mut words = [0; 4];
            match told.place {
                OutputPlace::Register { register } => {
                    for (at, to) in (0..told.components).zip(&mut words) {
                        *to = word(register + at).unwrap_or(0);
                    }
                }
                // A pixel without its one sample does not live.
                OutputPlace::Single { place: Memory::Coverage } => words[0] = 1,
                _ => words[0] = shaded.depth.unwrap_or(0),
            }
            words
        });
        let discarded = self.number(FEEDBACK) != 0 && !shaded.survives;
        FragmentOut { discarded, outputs: outputs.collect() }
    }
}

/// A quad with the words of its vertex: varyings by the order of their sets behind the position.
fn quad(batch: &QuadBatch, at: usize, told: &[Told], before: u32) -> Quad {
    let quad = &batch.quads[at];
    let count = told.iter().map(|varying| varying.set + varying.components).max().unwrap_or(0);
    let mut words = vec![[0; 4]; (POSITION + count.saturating_sub(before)) as usize];
    for varying in told {
        for component in 0..varying.components {
            let word = (POSITION + varying.set + component - before) as usize;
            words[word] = [0, 1, 2, 3].map(|pixel| {
                let word = batch.varying(at, pixel, varying.number)[component as usize];
                match (varying.half, varying.flat) {
                    (false, _) => word,
                    (true, true) => word & 0xffff,
                    // The vertex program hands over floats of 32 bits.
                    (true, false) => (Numerics::REFERENCE.in16(word as u16) as f32).to_bits(),
                }
            });
        }
    }
    Quad {
        x: quad.x,
        y: quad.y,
        covered: quad.covered & 15,
        back: !quad.front,
        places: quad.position.map(|position| [position[2], position[3]]),
        point: quad.point,
        primitive: quad.primitive,
        words,
    }
}

/// The word of a tile buffer that a pixel has stored: its number behind the output registers.
fn in_tile(shaded: &Shaded, tiles: &[u64], behind: u32) -> Option<u32> {
    let words = u32::from(TILE_WORDS);
    let base = *tiles.get((behind / words) as usize)?;
    let stored = shaded.tiled.iter().rev().find(|(at, _)| {
        let inside = at.checked_sub(base).filter(|inside| *inside < TILE_BYTES as u64);
        inside.is_some_and(|inside| inside / 4 % u64::from(words) == u64::from(behind % words))
    });
    stored.map(|(_, word)| *word)
}

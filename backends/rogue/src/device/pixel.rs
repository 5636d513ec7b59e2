//! Quads of pixels by the state words of a draw. isa/rogue-pipeline.md 4.2, 5.1, 5.4.

use super::heap::{Heap, TILE_BYTES, place};
use super::{Machine, fill};
use crate::abi::{PLACES, TILE_WORDS};
use crate::describe::{FEEDBACK, OUTPUT_REGISTERS, SAMPLE_PLACES};
use crate::emu::{Mode, Pass, Quad, Sampled, Shaded};
use crate::state::{ISPA, OUTPUTS, PIXEL_SHADER, PIXEL_STATE, VARYINGS};
use gpucc_emu::device::{FragmentOut, Stop};
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::raster;
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::{Interpolation, Numerics, Sampling, Scalar};
use gpucc_machine::described::{InputPlace, Memory, OutputPlace, Which};

/// Words of a vertex before its varyings: the position.
const POSITION: u32 = 4;
/// A comparison that always holds, of depths and of stencils.
const ALWAYS: u32 = 7;

/// Which words of the pixel's state the update has: ISPCTL, A and B of the front, programs, varyings, uniforms, the viewport,
/// outputs and their counts. 5.4.
const HEADER: u32 = 1 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 9 | 1 << 11 | 1 << 17 | 1 << 18;

/// The words of [`PIXEL_STATE`].
const SHADER: usize = 0;
const UNIFORM_CODE: usize = 1;
const VARYING_BASE: usize = 4;
const UNIFORM_DATA: usize = 5;
/// The lowest bit of the place of a varying's words in a vertex, which counts halves. 5.1.
const PLACE: u32 = 8;

/// Bits of OUTPUT_SEL: z is iterated, and so is the reciprocal of w. 5.4.
const UNCLAMPED_Z: u32 = 21;
const RHW: u32 = 16;

/// Inputs of fixed function that are iterated: of two sets, and of one.
const BUILT: [&str; 2] = ["point_coord", "primitive_index"];

/// A varying as the state says it.
struct Told {
    /// Among the function's location inputs.
    number: usize,
    set: u32,
    components: u32,
    flat: bool,
    /// Of halves.
    half: bool,
    /// Where it is interpolated.
    mode: Mode,
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
                    mode: match input.sampling {
                        Some(Sampling::Sample) => Mode::Sample,
                        Some(Sampling::Centroid) => Mode::Centroid,
                        _ => Mode::Pixel,
                    },
                    half: input.input.is_some_and(|input| {
                        self.compiled.expanded.inputs[input].scalar == Scalar::F16
                    }),
                })
            })
            .collect()
    }

    /// Whether there are sets of z and of the reciprocal of w before the varyings: the state says which are iterated.
    ///
    /// # Errors
    /// [`Stop`].
    fn places(&self) -> Result<(bool, bool), Stop> {
        let words = self.words(OUTPUTS)?;
        let bits = words.words().first().copied().unwrap_or(0);
        Ok((bits >> UNCLAMPED_Z & 1 == 1, bits >> RHW & 1 == 1))
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
        let [point, primitive] = BUILT.map(|name| u32::from(self.set_of(name).is_some()));
        2 * point + primitive
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
        let mut shared = heap.bind(self, bindings)?;
        if let Some(first) = self.place(SAMPLE_PLACES) {
            place(&mut shared, Some(first as usize), &sample_places(batch))?;
        }
        let told = self.told();
        let (has_z, has_w) = self.places()?;
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
        let keeps = self.pass() == Some(Pass::Translucent);
        let pixels = shaded.iter().zip(&batch.quads).flat_map(|(four, quad)| {
            let covered = (0..4).map(|pixel| quad.covered >> pixel & 1 == 1);
            four.iter().zip(covered)
        });
        let pixels: Vec<(&Shaded, bool)> = pixels
            .map(|(pixel, covered)| (pixel, covered && self.survives(pixel, keeps)))
            .collect();
        let targets = self.targets(&mut heap, &pixels)?;
        let mut out = Vec::with_capacity(pixels.len());
        for (at, (pixel, _)) in pixels.into_iter().enumerate() {
            let depth = batch.quads[at / 4].position[at % 4][2];
            let survives = self.survives(pixel, keeps);
            let sample = batch.quads[at / 4].sample();
            let mut pixel = self.pixel(pixel, depth, sample, (&heap.tiles, survives));
            for (output, texels) in &targets {
                pixel.outputs[*output] = texels[at];
            }
            out.push(pixel);
        }
        Ok(out)
    }

    /// The state words, with the programs of the sequencer that they name.
    fn pixel_state(
        &self,
        heap: &mut Heap,
        shared: &[u32],
        told: &[Told],
        (has_z, has_w): (bool, bool),
    ) -> Result<Vec<u32>, Stop> {
        let mut state = self.words(PIXEL_STATE)?;
        let shader = heap.put_pds(self.words(PIXEL_SHADER)?.words())?;
        fill(&mut state, SHADER, shader)?;
        let [data, code] = heap.upload(self, shared)?;
        fill(&mut state, UNIFORM_CODE, code)?;
        fill(&mut state, UNIFORM_DATA, data)?;
        // Each has one word of two in the program, of any number of sets.
        let others = BUILT.map(|name| usize::from(self.set_of(name).is_some()));
        let before = usize::from(has_z) + usize::from(has_w) + others[0] + others[1];
        if before + told.len() > 0 {
            let mut varyings = self.words(VARYINGS)?;
            // Varyings lie in the vertex as their sets do, and the program has them in that order.
            let mut sets: Vec<u32> = told.iter().map(|varying| varying.set).collect();
            sets.sort_unstable();
            for (at, set) in sets.into_iter().enumerate() {
                fill(&mut varyings, 2 * (before + at), (2 * (set - self.others())) << PLACE)?;
            }
            fill(&mut state, VARYING_BASE, heap.put_pds(varyings.words())?)?;
        }
        let mut faces = self.words(ISPA)?;
        fill(&mut faces, 0, ALWAYS << 17)?;
        let viewport = [8.0f32, 8.0, 8.0, 8.0, 0.0, 1.0].map(f32::to_bits);
        let mut words = vec![HEADER, 0];
        words.extend_from_slice(faces.words());
        words.push(ALWAYS << 25);
        words.extend_from_slice(state.words());
        words.extend(viewport);
        words.extend_from_slice(self.words(OUTPUTS)?.words());
        words.push(0);
        Ok(words)
    }

    /// Whether colours of a pixel reach their targets. Where what is behind is seen (`keeps`) nothing goes back: a pixel that is
    /// gone writes no colour.
    fn survives(&self, pixel: &Shaded, keeps: bool) -> bool {
        match (self.number(FEEDBACK) != 0, keeps) {
            (true, _) => pixel.survives,
            (false, true) => pixel.outputs.iter().any(Option::is_some) || !pixel.tiled.is_empty(),
            (false, false) => true,
        }
    }

    /// What a pixel gave, by the places that the outputs are told to have. One that gave no depth keeps that of its place.
    fn pixel(
        &self,
        shaded: &Shaded,
        depth: f32,
        sample: u32,
        (tiles, survives): (&[u64], bool),
    ) -> FragmentOut {
        let registers = self.number(OUTPUT_REGISTERS);
        let word = |at: u32| match at.checked_sub(registers) {
            None => shaded.outputs.get(at as usize).copied().flatten(),
            Some(behind) => in_tile(shaded, (tiles, self.samples()), behind),
        };
        let outputs = self.compiled.described.outputs.iter().map(|told| {
            let mut words = [0; 4];
            match told.place {
                OutputPlace::Register { register } => {
                    for (at, to) in (0..told.components).zip(&mut words) {
                        *to = word(register + at).unwrap_or(0);
                    }
                }
                // A pixel without its own sample does not live.
                OutputPlace::Single { place: Memory::Coverage } => words[0] = 1 << sample,
                _ => words[0] = shaded.depth.unwrap_or(depth.to_bits()),
            }
            words
        });
        FragmentOut { discarded: !survives, outputs: outputs.collect() }
    }
}

/// A quad with the words of its vertex: varyings by the order of their sets behind the position.
fn quad(batch: &QuadBatch, at: usize, told: &[Told], before: u32) -> Quad {
    let quad = &batch.quads[at];
    let count = told.iter().map(|varying| varying.set + varying.components).max().unwrap_or(0);
    let mut words = vec![[0; 4]; (POSITION + count.saturating_sub(before)) as usize];
    let mut modes = vec![Mode::Pixel; words.len()];
    for varying in told {
        for component in 0..varying.components {
            let word = (POSITION + varying.set + component - before) as usize;
            modes[word] = varying.mode;
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
    let places = |at: [[f32; 4]; 4]| at.map(|position| [position[2], position[3]]);
    let several = quad.several.map(|several| Sampled {
        count: several.count,
        own: several.own,
        places: places(several.centers),
        point: several.points,
        modes,
    });
    Quad {
        x: quad.x,
        y: quad.y,
        covered: quad.covered & 15,
        back: !quad.front,
        places: places(quad.position),
        point: quad.point,
        several,
        primitive: quad.primitive,
        words,
    }
}

/// The words with the places of samples, as a driver fills them for a draw. Where pixels have one sample, it is that of each number.
fn sample_places(batch: &QuadBatch) -> [u32; PLACES as usize] {
    let places = batch.quads.first().map_or(raster::places(1), |quad| quad.places());
    let count = places.len() as u32;
    std::array::from_fn(|word| {
        let bytes = std::array::from_fn(|byte| {
            let at = 4 * word as u32 + byte as u32;
            // Those of so many samples begin at this number of bytes.
            let place = match count {
                1 => places.first(),
                _ => at.checked_sub(count).and_then(|sample| places.get(sample as usize)),
            };
            // 256ths become sixteenths.
            place.map_or(0, |[x, y]| x >> 4 | y & 0xf0)
        });
        u32::from_le_bytes(bytes)
    })
}

/// The word of a tile buffer that a pixel has stored: its number behind the output registers.
fn in_tile(shaded: &Shaded, (tiles, samples): (&[u64], u32), behind: u32) -> Option<u32> {
    let words = u32::from(TILE_WORDS);
    let base = *tiles.get((behind / words) as usize)?;
    let stored = shaded.tiled.iter().rev().find(|(at, _)| {
        let inside =
            at.checked_sub(base).filter(|inside| *inside < TILE_BYTES as u64 * u64::from(samples));
        inside.is_some_and(|inside| inside / 4 % u64::from(words) == u64::from(behind % words))
    });
    stored.map(|(_, word)| *word)
}

//! Quads of pixels by the windower: each a primitive of its own, whose setup entry is made from the quad's values.
//! isa/gen4-pipeline.md 3.2; docs/abi-gen4.md, Fragment.

use super::chip::Chip;
use super::depth::DepthBuffer;
use super::surfaces::{self, Surface, Tables};
use super::{Machine, scratch};
use crate::describe::{COLOR, WM};
use crate::emu::{Model, Subspan};
use gpucc_emu::device::{FragmentOut, Stop, bytes_of, words_of};
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::{Builtin, Func, Input, InputKind, Interpolation};
use gpucc_machine::described::{Handed, InputPlace, Memory, OutputPlace};

/// Columns and rows of the largest target. isa/gen4-pipeline.md 1.3.
const MOST: u32 = 8192;
/// Bytes of a pixel of a target: four words, as the program hands them over.
const PIXEL: u32 = 16;
/// Bytes of scratch of all threads that are in flight together, as far as there is more than one.
const SCRATCH: u32 = 1 << 19;
/// Formats of four words: floats, signed and unsigned integers.
const FLOATS: u32 = 0;
const SIGNED: u32 = 1;
const UNSIGNED: u32 = 2;

/// The colour targets that quads are drawn to: of each only the pixels of the quad at hand are mapped.
struct Plane {
    /// Where target 0 begins, and bytes from one to the next.
    base: u32,
    bytes: u32,
    size: [u32; 2],
    pitch: u32,
}

impl Plane {
    fn of(chip: &mut Chip, batch: &QuadBatch, targets: u32) -> Result<Plane, Stop> {
        let (mut width, mut height) = (2, 2);
        for quad in &batch.quads {
            (width, height) =
                (width.max(quad.x.saturating_add(2)), height.max(quad.y.saturating_add(2)));
        }
        if width > MOST || height > MOST {
            return Err(Stop::TooLarge(format!("a target of more than {MOST} columns and rows")));
        }
        let pitch = (PIXEL * width).next_multiple_of(64);
        let bytes = u64::from(pitch) * u64::from(height);
        let base = chip.reserve(bytes * u64::from(targets), 4096)?;
        Ok(Plane { base, bytes: bytes as u32, size: [width, height], pitch })
    }

    /// Where a pixel of a target is.
    fn address(&self, target: u32, x: u32, y: u32) -> u32 {
        self.base + target * self.bytes + y * self.pitch + x * PIXEL
    }
}

/// Whether an input is the place in a point.
fn is_point(func: &Func, input: Option<Input>) -> bool {
    let kind = input.map(|input| func.inputs[input].kind);
    kind == Some(InputKind::Builtin(Builtin::PointCoord))
}

impl Machine {
    /// Runs quads, one after the other.
    ///
    /// # Errors
    /// [`Stop`].
    pub(super) fn pixels(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        let mut chip = self.chip();
        let targets = self.targets();
        let plane = Plane::of(&mut chip, batch, targets)?;
        let surfaces: Vec<Surface> = (0..targets)
            .map(|number| {
                let at = plane.address(number, 0, 0);
                surfaces::target(at, self.format(number), plane.size, plane.pitch)
            })
            .collect();
        let described = (&self.compiled.expanded, &self.compiled.described);
        let tables = surfaces::bind(&mut chip, described, bindings, &surfaces)?;
        let depths = match self.word(WM, 5) >> 21 & 1 {
            0 => None,
            _ => Some(DepthBuffer::of(&mut chip, plane.size)?),
        };
        self.windower(&mut chip, &tables, bindings, depths.as_ref())?;
        let mut pixels = Vec::new();
        for (number, quad) in batch.quads.iter().enumerate() {
            let setup = self.setup(batch, number);
            let rows = [0, 1].map(|row| (quad.x, quad.y + row));
            let rows =
                (0..targets).flat_map(|target| rows.map(|(x, y)| plane.address(target, x, y)));
            let rows: Vec<u32> = rows.collect();
            for &row in &rows {
                chip.map_at(row, 2 * PIXEL)?;
            }
            if let Some(depths) = &depths {
                depths.map(&mut chip, [quad.x, quad.y])?;
            }
            let span = Subspan {
                at: [quad.x as u16, quad.y as u16],
                covered: quad.covered & 15,
                depth: quad.position.map(|position| position[2]),
                origin: [quad.x as f32, quad.y as f32],
                back: !quad.front,
            };
            self.run(|run| {
                // Each place of a thread has its turn.
                chip.gpu.pixel_threads(&setup, &[span], number, run)?;
                chip.submit(run)
            })?;
            let computed = match &depths {
                Some(depths) => depths.take(&mut chip, [quad.x, quad.y])?,
                None => [0; 4],
            };
            for (pixel, depth) in computed.into_iter().enumerate() {
                let covered = quad.covered >> pixel & 1 == 1;
                pixels.push(self.pixel(&mut chip, &rows, (pixel, depth), covered)?);
            }
            for row in rows {
                chip.gpu.memory().unmap(row);
            }
        }
        tables.read_back(&mut chip, bindings)?;
        Ok(pixels)
    }

    /// Colour targets of the program: one at least, since the last message writes one.
    pub(super) fn targets(&self) -> u32 {
        let resources = self.compiled.described.resources.iter();
        let first = resources.filter_map(|binding| binding.place("surface")).min();
        let told = self.word(WM, 1) >> 18 & 0xff;
        first.unwrap_or(told).max(1)
    }

    /// The format of a target: the words that the program hands over, as they are.
    fn format(&self, target: u32) -> u32 {
        let mut outputs = self.compiled.described.outputs.iter();
        let handed = outputs.find_map(|told| match told.place {
            OutputPlace::Blend { index, format, .. } if index == target => Some(format),
            _ => None,
        });
        match handed {
            Some(Handed::S32) => SIGNED,
            Some(Handed::U32) => UNSIGNED,
            _ => FLOATS,
        }
    }

    /// The state of the windower in memory; constants begin at a row.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub(super) fn pixel_unit(
        &self,
        chip: &mut Chip,
        tables: &Tables,
        constants: u32,
    ) -> Result<u32, Stop> {
        let program = chip.put_program(&self.compiled.code)?;
        let most = match chip.model {
            Model::I965 | Model::Gm965 => 32,
            Model::G45 => 50,
        };
        let bytes = scratch(self.word(WM, 2));
        let threads = (SCRATCH / bytes).clamp(1, most);
        let memory = chip.map(threads * bytes, 1024)?;
        let mut state = [0, 1, 2, 3, 4, 5, 6, 7].map(|at| self.word(WM, at));
        state[0] |= program;
        state[2] |= memory;
        if state[3] >> 25 & 63 != 0 {
            state[3] |= constants << 18;
        }
        state[4] |= tables.samplers;
        state[5] |= (threads - 1) << 25;
        chip.put_words(&state)
    }

    /// The state of the windower and of what stands behind it, and the commands that send it.
    fn windower(
        &mut self,
        chip: &mut Chip,
        tables: &Tables,
        bindings: &Bindings,
        depths: Option<&DepthBuffer>,
    ) -> Result<(), Stop> {
        let state = self.pixel_unit(chip, tables, 0)?;
        let mut color = [0; 8];
        for (at, word) in color.iter_mut().enumerate() {
            *word = self.word(COLOR, at);
        }
        let color = chip.put_words(&color)?;
        chip.begin(false);
        if let Some(depths) = depths {
            depths.send(chip);
        }
        let constants = self.constants(bindings, [0; 3], None);
        let units = Chip::constant_units(constants.len());
        chip.command(&[0x7801_0004, 0, 0, 0, 0, tables.surfaces]);
        chip.command(&[0x7800_0005, 0, 0, 0, 0, state, color]);
        chip.fence([Some(0), Some(0), Some(0), Some(0), None, Some(units)]);
        chip.constants(&constants)?;
        self.run(|run| chip.submit(run))
    }

    /// What a pixel has in the targets.
    fn pixel(
        &self,
        chip: &mut Chip,
        rows: &[u32],
        (pixel, depth): (usize, u32),
        covered: bool,
    ) -> Result<FragmentOut, Stop> {
        let place = |target: usize| {
            rows.get(2 * target + pixel / 2).map(|row| row + PIXEL * (pixel as u32 % 2))
        };
        let mut out = vec![[0; 4]; self.compiled.expanded.outputs.len()];
        // Every pixel that lives writes target 0.
        let lives = match place(0) {
            Some(at) => chip.is_written(at, PIXEL as usize)?,
            None => false,
        };
        for told in self.compiled.described.outputs.iter().filter(|_| lives) {
            let Some(output) = told.output else { continue };
            let index = match told.place {
                OutputPlace::Blend { index, .. } => index,
                // A pixel without its one sample does not live.
                OutputPlace::Single { place: Memory::Coverage } => {
                    out[output.as_u32() as usize][0] = 1;
                    continue;
                }
                _ => {
                    out[output.as_u32() as usize][0] = depth;
                    continue;
                }
            };
            let Some(at) = place(index as usize) else { continue };
            let bytes = chip.read(at, PIXEL as usize)?;
            let words = words_of(&bytes).take(told.components as usize);
            for (to, word) in out[output.as_u32() as usize].iter_mut().zip(words) {
                *to = word;
            }
        }
        Ok(FragmentOut { discarded: covered && !lives, outputs: out })
    }

    /// The setup entry of a quad as a primitive of its own, whose first vertex is the upper left pixel: of each component the
    /// slopes, 0 and the value there.
    fn setup(&self, batch: &QuadBatch, quad: usize) -> Vec<u8> {
        let slots = (self.word(WM, 3) >> 11 & 63) as usize / 2;
        let position = batch.quads[quad].position;
        // Of a slot and component the value of each pixel.
        let mut planes = vec![[[0u32; 4]; 4]; slots.max(1)];
        for (component, plane) in planes[0].iter_mut().enumerate() {
            *plane = position.map(|position| position[component].to_bits());
        }
        let mut flat = vec![false; slots.max(1)];
        let first = self.first_setup();
        let locations = self.compiled.described.inputs.iter().filter_map(|told| {
            let InputPlace::Register { register } = told.place else { return None };
            Some((register.checked_sub(first)? as usize / 2, told))
        });
        let mut varying = 0;
        for (slot, told) in locations {
            let Some(planes) = planes.get_mut(slot) else { continue };
            if is_point(&self.compiled.expanded, told.input) {
                let places = batch.quads[quad].point;
                for (component, plane) in planes.iter_mut().enumerate().take(2) {
                    *plane = places.map(|place| place[component].to_bits());
                }
                continue;
            }
            flat[slot] = told.interpolation == Some(Interpolation::Flat);
            let smooth = told.interpolation == Some(Interpolation::Perspective);
            for (component, plane) in planes.iter_mut().enumerate() {
                for (pixel, value) in plane.iter_mut().enumerate() {
                    *value = batch.varying(quad, pixel, varying)[component];
                    if smooth {
                        let over_w = f32::from_bits(*value) * position[pixel][3];
                        *value = over_w.to_bits();
                    }
                }
            }
            varying += 1;
        }
        let of = |slot: usize, component: usize| {
            let [first, right, below, _] = planes[slot][component];
            if flat[slot] {
                return [0, 0, 0, first];
            }
            let slope = |other| f32::from_bits(other) - f32::from_bits(first);
            [slope(right).to_bits(), slope(below).to_bits(), 0, first]
        };
        let parts = (0..4 * slots).flat_map(|part| of(part / 4, part % 4));
        bytes_of(&parts.collect::<Vec<u32>>())
    }

    /// The register of the first slot: setup data stand behind constants.
    fn first_setup(&self) -> u32 {
        (self.word(WM, 3) & 15) + (self.word(WM, 3) >> 25 & 63)
    }
}

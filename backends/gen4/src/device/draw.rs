//! A draw by 3DPRIMITIVE: fetcher, vertex threads, clip test and clipper, setup, rasteriser, pixel threads, tests and blending are
//! the chip's. isa/gen4-pipeline.md 1, 9; docs/abi-gen4.md, A draw.

use super::chip::Chip;
use super::surfaces::{self, Surface};
use super::vertex::UNITS;
use super::{Machine, STEPS, run_with};
use crate::describe::{GS, VS, WM};
use crate::emu::Model;
use crate::isa;
use crate::kernels::{CLIP, CLIPPER, Class, SETUP};
use crate::legal;
use crate::targets::{self, color_code, depth_code};
use gpucc_emu::device::{DrawCall, Drawer, Launcher, Stop, VertexRun};
use gpucc_emu::draw::{Cull, Draw, Targets, Topology};
use gpucc_emu::format::Format;
use gpucc_emu::sampler::Compare;
use gpucc_ir::driver::{Blend, Factor};
use gpucc_ir::ssa::Emits;
use gpucc_machine::Compiled;
use gpucc_machine::described::OutputPlace;

/// Vertices and columns that the chip draws.
const VERTICES: u32 = 1 << 20;
const COLUMNS: u32 = 8192;
/// Rows of constants of all programs together. isa/gen4-pipeline.md 1.4.
const CONSTANT_ROWS: u32 = 64;
/// Entries of the clipper, which has one thread, and of setup. isa/gen4-pipeline.md 1.3.
const CLIP_ENTRIES: u32 = 5;
const SETUP_ENTRIES: u32 = 2;
/// Units of the vertex unit's entries where the geometry unit has entries, too: both machines have room for those of all units
/// and for constants. isa/gen4-pipeline.md 1.3.
const SHARED_UNITS: u32 = 112;
/// Columns and rows from the middle of the view that setup can place. isa/gen4-pipeline.md 2.
const GUARD: f32 = 8192.0;
/// Of each image where it is in memory, and bytes from row to row.
type Rows = Vec<(u32, u32)>;

/// A surface that takes no write.
const NULL: Surface = [7 << 29, 0, 0, 0, 0, 0];

/// Whether a factor is of a second colour.
fn second(factor: Factor) -> bool {
    use Factor::*;
    matches!(factor, Src1 | OneMinusSrc1 | Src1Alpha | OneMinusSrc1Alpha)
}

/// The code of a topology that the emulated units take, before a geometry program or without one. isa/gen4-pipeline.md 1.4.
fn topology(of: Topology, geometry: bool) -> Option<u32> {
    Some(match (of, geometry) {
        (Topology::TriangleList, _) => 4,
        (Topology::TriangleStrip, false) => 5,
        (Topology::PointList, true) => 1,
        (Topology::LineList, true) => 2,
        (Topology::LineStrip, true) => 3,
        (Topology::LineListAdjacency, true) => 9,
        (Topology::TriangleListAdjacency, true) => 0xb,
        _ => return None,
    })
}

/// The machine with the programs of a pair, and a geometry program between them.
pub struct Drawing {
    vertex: Machine,
    geometry: Option<Machine>,
    fragment: Machine,
    setup: Machine,
    clipper: Machine,
    launcher: Launcher,
    table: isa::Machine,
}

impl Drawing {
    /// The machine for two programs, a geometry program between them, and those of fixed function; none where one is missing.
    pub fn new(
        vertex: &Compiled,
        geometry: Option<&Compiled>,
        fragment: &Compiled,
        kernels: &[Compiled],
        chip: legal::Chip,
    ) -> Option<Drawing> {
        let named = |name: &str| {
            let found = kernels.iter().find(|made| made.programs.iter().any(|p| p.name == name));
            found.map(|made| Machine::new(made, chip))
        };
        Some(Drawing {
            vertex: Machine::new(vertex, chip),
            geometry: geometry.map(|geometry| Machine::new(geometry, chip)),
            fragment: Machine::new(fragment, chip),
            setup: named(Class::Triangles.setup())?,
            clipper: named(CLIPPER)?,
            launcher: Launcher::new(&vertex.code, &[], STEPS),
            table: chip.machine(),
        })
    }

    /// Rows of constants before those of the geometry program, before those of the fragment program, and of all.
    fn rows(&self) -> [u32; 3] {
        let second = self.vertex.constant_rows(VS).next_multiple_of(2);
        let middle = self.geometry.as_ref().map_or(0, |geometry| geometry.constant_rows(GS));
        let first = (second + middle).next_multiple_of(2);
        [second, first, first + self.fragment.constant_rows(WM)]
    }

    /// Whether the chip's units, as they are emulated, do all that is asked.
    fn takes(&self, draw: &Draw, targets: &Targets) -> bool {
        let blends: Vec<Blend> = draw.targets.iter().filter_map(|target| target.blend).collect();
        let color = targets.colors.iter().all(|image| {
            let extent = image.extent();
            color_code(image.format()).is_some()
                && extent.width <= COLUMNS
                && extent.height <= COLUMNS
        });
        let blended = targets.colors.iter().zip(&draw.targets);
        let blended = blended
            .filter(|(_, state)| state.blend.is_some())
            .all(|(image, _)| targets::blends(image.format(), self.table));
        let own = self.fragment.word(WM, 5);
        let (computes, kills) = (own >> 21 & 1 == 1, own >> 22 & 1 == 1);
        let depth = match (&targets.depth, draw.depth) {
            (None, _) | (_, None) => true,
            (Some(image), Some(state)) => {
                image.format() != Format::Depth32FloatStencil8
                    && image.format() != Format::Depth24PlusStencil8
                    && depth_code(image.format()).is_some()
                    && !(kills && state.write)
            }
        };
        let triangles = self.geometry.as_ref().is_none_or(|geometry| {
            let emits = geometry.compiled.expanded.geometry.map(|of| of.emits);
            emits == Some(Emits::TriangleStrip)
        });
        let lists = topology(draw.topology, self.geometry.is_some()).is_some();
        // One equation for all targets: isa/gen4-pipeline.md 1.2.
        let same = blends.windows(2).all(|pair| pair[0] == pair[1]);
        let known = blends.iter().all(|blend| {
            let parts = [blend.color, blend.alpha];
            parts.iter().flat_map(|part| [part.src, part.dst]).all(|factor| !second(factor))
        });
        let [_, _, constants] = self.rows();
        lists
            && triangles
            && draw.is_plain()
            && constants <= CONSTANT_ROWS
            && draw.vertices <= VERTICES
            && color
            && blended
            && depth
            && same
            && known
            && !computes
    }

    /// The colour targets as surfaces: image by image where they are, and bytes from row to row.
    fn colors(
        &self,
        chip: &mut Chip,
        draw: &Draw,
        targets: &Targets,
    ) -> Result<(Vec<Surface>, Rows), Stop> {
        let mut places = Vec::new();
        for image in &targets.colors {
            let extent = image.extent();
            let bytes = image.format().bytes() * extent.width;
            let pitch = bytes.next_multiple_of(64);
            let mut rows = Vec::new();
            for row in image.level_bytes(0).chunks(bytes as usize) {
                rows.extend(row);
                rows.resize(rows.len().next_multiple_of(pitch as usize), 0);
            }
            places.push((chip.put(&rows)?, pitch));
        }
        let written = |number: u32| {
            let mut outputs = self.fragment.compiled.described.outputs.iter();
            outputs.any(
                |told| matches!(told.place, OutputPlace::Blend { index, .. } if index == number),
            )
        };
        let surface = |number: u32| {
            let at = number as usize;
            let (Some(image), Some(&(address, pitch))) = (targets.colors.get(at), places.get(at))
            else {
                return NULL;
            };
            let Some(code) = color_code(image.format()).filter(|_| written(number)) else {
                return NULL;
            };
            let extent = image.extent();
            let size = [extent.width, extent.height];
            let mut surface = surfaces::target(address, code, size, pitch);
            if let Some(state) = draw.targets.get(at) {
                surface[0] = targets::surface_word(code, state.blend.is_some(), !state.masked);
            }
            surface
        };
        let all = (0..self.fragment.targets()).map(surface).collect();
        Ok((all, places))
    }

    /// Sends the draw.
    fn send(&mut self, call: DrawCall<'_>) -> Result<(), Stop> {
        let DrawCall { state: draw, buffers, bindings: [own, others], between, targets } = call;
        let mut chip = self.vertex.chip();
        let (surfaces, places) = self.colors(&mut chip, draw, targets)?;
        let bound = |machine: &Machine| {
            let compiled = &machine.compiled;
            (compiled.expanded.clone(), compiled.described.clone())
        };
        let (func, told) = bound(&self.vertex);
        let vertex_tables = surfaces::bind(&mut chip, (&func, &told), own, &[])?;
        let (func, told) = bound(&self.fragment);
        let pixel_tables = surfaces::bind(&mut chip, (&func, &told), others, &surfaces)?;
        let run = VertexRun { ids: &[], first_vertex: 0, first_instance: 0, buffers };
        let room = if self.geometry.is_some() { SHARED_UNITS } else { UNITS };
        let (vertex, entries) = self.vertex.vertex_unit(&mut chip, &vertex_tables, room)?;
        // Constants of the vertex program, then from whole units on those of the others.
        let mut constants = self.vertex.constants(own, [0; 3], Some(&run));
        let [second, first, _] = self.rows();
        constants.resize(8 * second as usize, 0);
        let mut middle = None;
        if let Some((machine, bindings)) = self.geometry.as_ref().zip(between) {
            let (func, told) = bound(machine);
            let tables = surfaces::bind(&mut chip, (&func, &told), bindings, &[])?;
            let unit = machine.geometry_unit(&mut chip, &tables, second)?;
            constants.extend(machine.constants(bindings, [0; 3], None));
            middle = Some((tables, unit, bindings));
        }
        constants.resize(8 * first as usize, 0);
        constants.extend(self.fragment.constants(others, [0; 3], None));
        let (geometry, geometry_units) = middle.as_ref().map_or((0, 0), |(_, unit, _)| *unit);
        let geometry_surfaces = middle.as_ref().map_or(0, |(tables, ..)| tables.surfaces);
        let enabled = u32::from(middle.is_some());
        let pixel = self.fragment.pixel_unit(&mut chip, &pixel_tables, first)?;
        let (setup, setup_units) = self.setup_unit(&mut chip, draw)?;
        let (clip, clip_units) = self.clip_unit(&mut chip, draw)?;
        let color = self.color(&mut chip, draw, targets)?;
        chip.begin(false);
        let depth = self.depth(&mut chip, targets)?;
        let size = targets.colors.first().or(targets.depth.as_ref());
        let size = size.map_or([1, 1], |image| [image.extent().width, image.extent().height]);
        chip.command(&[0x7900_0002, 0, (size[0] - 1) | (size[1] - 1) << 16, 0]);
        chip.command(&[0x7901_0003]);
        chip.command(&draw.blend_constant.map(f32::to_bits));
        chip.command(&[
            0x7801_0004,
            vertex_tables.surfaces,
            geometry_surfaces,
            0,
            0,
            pixel_tables.surfaces,
        ]);
        chip.command(&[0x7800_0005, vertex, geometry | enabled, clip | 1, setup, pixel, color]);
        let vertices = entries.count * entries.size;
        let primitives = vertices + geometry_units;
        let clips = primitives + clip_units;
        let setups = clips + setup_units;
        let units = Chip::constant_units(constants.len());
        chip.fence([
            Some(vertices),
            Some(primitives),
            Some(clips),
            Some(setups),
            None,
            Some(setups + units),
        ]);
        chip.constants(&constants)?;
        // The 965 hangs without a state that is not pipelined here. isa/gen4-pipeline.md 7.1.
        chip.command(&[0x7909_0000, 0]);
        self.vertex.attributes(&mut chip, &run)?;
        let code = topology(draw.topology, self.geometry.is_some()).unwrap_or(0);
        let mut primitive = 0x7b00_0004 | code << 10;
        if let Some(indices) = &draw.indices {
            primitive |= 1 << 15;
            let count = draw.vertices as usize;
            let indices: Vec<u32> =
                (0..count).map(|at| indices.get(at).copied().unwrap_or(0)).collect();
            let at = chip.put_words(&indices)?;
            chip.command(&[0x780a_0001 | 2 << 8, at, (at + 4 * count as u32).wrapping_sub(1)]);
        }
        if draw.vertices > 0 && draw.instances > 0 {
            chip.command(&[primitive, draw.vertices, 0, draw.instances, 0, 0]);
        }
        let pixels = u64::from(size[0]) * u64::from(size[1]);
        let parts = 1 + pixels / 64 + u64::from(draw.vertices) / 64 * u64::from(draw.instances);
        let steps = self.launcher.steps;
        self.launcher.steps = steps.saturating_mul(parts);
        let ran = run_with(&mut self.launcher, |run| chip.submit(run));
        self.launcher.steps = steps;
        ran?;
        vertex_tables.read_back(&mut chip, own)?;
        if let Some((tables, _, bindings)) = middle {
            tables.read_back(&mut chip, bindings)?;
        }
        pixel_tables.read_back(&mut chip, others)?;
        for (image, (at, pitch)) in targets.colors.iter_mut().zip(places) {
            let bytes = (image.format().bytes() * image.extent().width) as usize;
            for (row, to) in (0..).zip(image.level_bytes_mut(0).chunks_mut(bytes)) {
                to.copy_from_slice(&chip.read(at + row * pitch, bytes)?);
            }
        }
        if let (Some(image), Some((at, pitch))) = (&mut targets.depth, depth) {
            let (texel, width) = (image.format().bytes(), image.extent().width);
            for (number, to) in (0..).zip(image.level_bytes_mut(0).chunks_mut(texel as usize)) {
                let place = tiled(pitch, number % width * texel, number / width);
                to.copy_from_slice(&chip.read(at + place, texel as usize)?);
            }
        }
        Ok(())
    }

    /// The state of setup, and the units of its entries.
    fn setup_unit(&self, chip: &mut Chip, draw: &Draw) -> Result<(u32, u32), Stop> {
        let program = chip.put_program(&self.setup.compiled.code)?;
        let view = &draw.viewport;
        let matrix = [
            view.width / 2.0,
            -view.height / 2.0,
            view.far - view.near,
            view.x + view.width / 2.0,
            view.y + view.height / 2.0,
            view.near,
        ];
        let mut viewport: Vec<u32> = matrix.map(f32::to_bits).to_vec();
        let [x, y, width, height] = draw.scissor.unwrap_or([0, 0, COLUMNS, COLUMNS]);
        let last =
            |from: u32, count: u32| (from.saturating_add(count).min(COLUMNS)).wrapping_sub(1);
        viewport.extend([x | y << 16, last(x, width) & 0xffff | last(y, height) << 16]);
        let viewport = chip.put_words(&viewport)?;
        let mut state: [u32; 8] = std::array::from_fn(|at| self.setup.word(SETUP, at));
        let size = (state[4] >> 19 & 31) + 1;
        state[0] |= program;
        state[4] |= (SETUP_ENTRIES - 1) << 25 | SETUP_ENTRIES << 11;
        state[5] |= viewport | u32::from(draw.front_ccw);
        let cull = match draw.cull {
            Cull::None => 1,
            Cull::Front => 2,
            Cull::Back => 3,
        };
        state[6] |= cull << 29 | u32::from(draw.scissor.is_some()) << 17;
        Ok((chip.put_words(&state)?, SETUP_ENTRIES * size))
    }

    /// The state of the clipper, and the units of its entries.
    fn clip_unit(&self, chip: &mut Chip, draw: &Draw) -> Result<(u32, u32), Stop> {
        let program = chip.put_program(&self.clipper.compiled.code)?;
        let view = &draw.viewport;
        let limit = |extent: f32, sign: f32| sign * GUARD / (extent / 2.0).max(1.0);
        let guard = [
            limit(view.width, -1.0),
            limit(view.width, 1.0),
            limit(view.height, -1.0),
            limit(view.height, 1.0),
        ];
        let guard = chip.put_words(&guard.map(f32::to_bits))?;
        let mut state: [u32; 11] = std::array::from_fn(|at| self.clipper.word(CLIP, at));
        let size = (state[4] >> 19 & 31) + 1;
        state[0] |= program;
        state[4] |= CLIP_ENTRIES << 11;
        state[6] |= guard;
        Ok((chip.put_words(&state)?, CLIP_ENTRIES * size))
    }

    /// The state of the colour calculator. isa/gen4-pipeline.md 1.2.
    fn color(&self, chip: &mut Chip, draw: &Draw, targets: &Targets) -> Result<u32, Stop> {
        let depths = [draw.viewport.near, draw.viewport.far].map(f32::to_bits);
        let depths = chip.put_words(&depths)?;
        let mut state = [0u32; 8];
        if let Some(depth) = draw.depth.filter(|_| targets.depth.is_some()) {
            state[2] = 1 << 15 | compare(depth.compare) << 12 | u32::from(depth.write) << 11;
        }
        state[4] = depths;
        let blend = draw.targets.iter().find_map(|target| target.blend);
        [state[3], state[5], state[6]] = targets::equations(blend.as_ref());
        chip.put_words(&state)
    }

    /// The depth buffer, or none: where it is and bytes from row to row of tiles.
    fn depth(&self, chip: &mut Chip, targets: &Targets) -> Result<Option<(u32, u32)>, Stop> {
        let more = u32::from(chip.model == Model::G45);
        let mut words = vec![0x7905_0003 + more, 7 << 29, 0, 0, 0];
        words.resize(5 + more as usize, 0);
        let image = targets.depth.as_ref();
        let found = image.and_then(|image| Some((image, depth_code(image.format())?)));
        let Some((image, code)) = found else {
            chip.command(&words);
            return Ok(None);
        };
        let ([width, height], texel) =
            ([image.extent().width, image.extent().height], image.format().bytes());
        let pitch = (width * texel).next_multiple_of(128);
        let mut bytes = vec![0; (pitch * height.next_multiple_of(32)) as usize];
        for (number, from) in (0..).zip(image.level_bytes(0).chunks(texel as usize)) {
            let place = tiled(pitch, number % width * texel, number / width) as usize;
            bytes[place..place + texel as usize].copy_from_slice(from);
        }
        let at = chip.map(bytes.len() as u32, 4096)?;
        chip.write(at, &bytes)?;
        words[1] = targets::PLANE | targets::TILES | code << 18 | (pitch - 1);
        words[2] = at;
        words[3] = (height - 1) << 19 | (width - 1) << 6;
        chip.command(&words);
        Ok(Some((at, pitch)))
    }
}

/// A byte of a column and row of Y tiles: 128 bytes by 32 rows, in columns of 16 bytes.
pub fn tiled(pitch: u32, x: u32, y: u32) -> u32 {
    let tile = y / 32 * (pitch / 128) + x / 128;
    4096 * tile + x % 128 / 16 * 512 + y % 32 * 16 + x % 16
}

fn compare(of: Compare) -> u32 {
    match of {
        Compare::Always => 0,
        Compare::Never => 1,
        Compare::Less => 2,
        Compare::Equal => 3,
        Compare::LessEqual => 4,
        Compare::Greater => 5,
        Compare::NotEqual => 6,
        Compare::GreaterEqual => 7,
    }
}

impl Drawer for Drawing {
    fn draw(&mut self, call: DrawCall<'_>) -> Result<bool, Stop> {
        let whole = self.geometry.is_some() == call.between.is_some();
        if !whole || !self.takes(call.state, call.targets) {
            return Ok(false);
        }
        self.send(call)?;
        Ok(true)
    }

    fn launcher(&mut self) -> &mut Launcher {
        &mut self.launcher
    }
}

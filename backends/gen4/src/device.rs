//! The emulated machine with a program, set up from what is described of it: memory, constants, inline or setup data, and a
//! thread for each workgroup or quad.
//!
//! Threads are `emu`'s. What answers their messages is `functions`, until `emu` has the shared functions.

mod functions;
#[cfg(test)]
mod tests;

use crate::describe::{INTERFACE, VFE, WM};
use crate::emu::{Model, Register, Run, Sender, Start, Status, Thread, Trap, Unit};
use crate::isa;
use functions::{Functions, PROGRAM};
use gpucc_emu::device::{Device, FragmentOut, Launcher, Stop, VertexOut, VertexRun, invocations};
use gpucc_emu::draw::{Quad, QuadBatch};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::numerics::Perturbation;
use gpucc_ir::ssa::{Interpolation, Numerics, Resource};
use gpucc_machine::Compiled;
use gpucc_machine::described::{Driven, DriverWord, InputPlace, OutputPlace, Setting};

/// Instructions that the runs of a device may take together unless told otherwise: about four seconds.
const STEPS: u64 = 20_000_000;

/// A program and its machine.
pub struct Machine {
    compiled: Compiled,
    model: Model,
    launcher: Launcher,
    numerics: Numerics,
}

impl Machine {
    /// The emulated machine for a program.
    pub fn new(compiled: &Compiled, table: isa::Machine, numerics: Numerics) -> Machine {
        Machine {
            compiled: compiled.clone(),
            model: match table {
                isa::Machine::Gen4 => Model::I965,
                isa::Machine::G45 => Model::G45,
            },
            launcher: Launcher::new(&compiled.code, &compiled.lines, STEPS),
            numerics,
        }
    }

    /// A word of a descriptor.
    fn word(&self, name: &str, at: usize) -> u32 {
        match self.compiled.described.state.get(name) {
            Some(Setting::Descriptor { words, .. }) => words.get(at).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Bindings by their entries of the binding table.
    fn surfaces(&self) -> impl Iterator<Item = (u8, Resource)> {
        let resources = self.compiled.described.resources.iter();
        resources.filter_map(|binding| {
            Some((u8::try_from(binding.place("surface")?).ok()?, binding.resource?))
        })
    }

    /// Memory and units with what is bound.
    fn functions(&mut self, bindings: &Bindings, scratch: u32) -> Functions {
        let mut functions = Functions::new(self.numerics, scratch);
        for (entry, resource) in self.surfaces() {
            functions.bind(entry, bindings.get(resource, 0).bytes());
        }
        functions
    }

    /// Copies what the program may have changed back.
    fn read_back(&self, functions: &Functions, bindings: &mut Bindings) {
        for (entry, resource) in self.surfaces() {
            let bound = bindings.get_mut(resource, 0);
            if let Some(bytes) = bound.and_then(gpucc_emu::device::memory_of_mut)
                && let Some(memory) = functions.memory(entry)
            {
                let count = bytes.len().min(memory.len());
                bytes[..count].copy_from_slice(&memory[..count]);
            }
        }
    }

    /// The setup entry of a quad as a primitive of its own, whose first vertex is the upper left pixel: of each component the
    /// slopes, 0 and the value there. docs/abi-gen4.md, Fragment.
    fn setup(&self, batch: &QuadBatch, quad: usize, slots: usize) -> Vec<Register> {
        let position = batch.quads[quad].position;
        // Of a slot and component the value of each pixel.
        let mut planes = vec![[[0u32; 4]; 4]; slots];
        for (component, plane) in planes[0].iter_mut().enumerate() {
            *plane = position.map(|position| position[component].to_bits());
        }
        let mut flat = vec![false; slots];
        let first = self.first_setup();
        let locations = self.compiled.described.inputs.iter().filter_map(|told| {
            let InputPlace::Register { register } = told.place else { return None };
            Some((register.checked_sub(first)? as usize / 2, told))
        });
        for (varying, (slot, told)) in locations.enumerate() {
            let Some(planes) = planes.get_mut(slot) else { continue };
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
        }
        let of = |slot: usize, component: usize| {
            let [first, right, below, _] = planes[slot][component];
            if flat[slot] {
                return [0, 0, 0, first];
            }
            let slope = |other| f32::from_bits(other) - f32::from_bits(first);
            [slope(right).to_bits(), slope(below).to_bits(), 0, first]
        };
        (0..2 * slots)
            .map(|row| {
                let [a, b, c, d] = of(row / 2, row % 2 * 2);
                let [e, f, g, h] = of(row / 2, row % 2 * 2 + 1);
                Register::new([a, b, c, d, e, f, g, h])
            })
            .collect()
    }

    /// The register of the first slot: setup data stand behind constants.
    fn first_setup(&self) -> u32 {
        (self.word(WM, 3) & 15) + (self.word(WM, 3) >> 25 & 63)
    }

    /// The rows of constants.
    fn constants(&self, bindings: &Bindings) -> Vec<Register> {
        let words = self.compiled.described.driver_constants.iter().map(|constant| {
            match constant.word {
                DriverWord::Other(Driven::BufferSize { binding, element }) => {
                    let size = |resource| bindings.get(resource, element).bytes().len() as u32;
                    binding.resource.map_or(0, size)
                }
                // No other is described.
                _ => 0,
            }
        });
        let words: Vec<u32> = words.collect();
        let row = |row: &[u32]| {
            Register::new(std::array::from_fn(|at| row.get(at).copied().unwrap_or(0)))
        };
        words.chunks(8).map(row).collect()
    }
}

/// r1 of a thread of pixels: the first vertex, which is the quad's upper left pixel, the quads' places, and the face.
fn corner(quad: &Quad) -> Register {
    let mut register = Register::UNDEFINED;
    let face = if quad.front { 0 } else { 1 << 31 };
    let (x, y) = (quad.x as f32, quad.y as f32);
    let words =
        [(0, x.to_bits()), (1, y.to_bits()), (2, quad.x & 0xffff | quad.y << 16), (6, face)];
    for (at, word) in words {
        register.words[at] = word;
        register.undefined &= !(15 << (4 * at));
    }
    register
}

/// All groups in the order in which threads start.
fn groups_of([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |c| (0..y).flat_map(move |b| (0..x).map(move |a| [a, b, c])))
}

impl Device for Machine {
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        let size = self.compiled.described.dispatch.map_or([1; 3], |told| told.workgroup_size);
        invocations(groups, size.iter().fold(1u32, |all, &n| all.saturating_mul(n)))?;
        let mut functions = self.functions(bindings, 1024 << (self.word(VFE, 0) & 15));
        let constants = self.constants(bindings);
        let rows = (self.word(INTERFACE, 1) >> 26) as usize;
        let registers = 8 * ((self.word(INTERFACE, 0) & 15) + 1);
        let (model, mut steps) = (self.model, self.launcher.steps);
        let result = self.launcher.run(|code, mut trace| {
            functions.code = code.to_vec();
            for (thread, group) in (0u32..).zip(groups_of(groups)) {
                let inline =
                    [group[0], group[1], group[2], thread, groups[0], groups[1], groups[2], 0];
                functions.begin_thread();
                let mut payload = vec![functions.header(thread)];
                payload.extend(
                    (0..rows).map(|row| constants.get(row).copied().unwrap_or(Register::UNDEFINED)),
                );
                payload.push(Register::new(inline));
                let mut started = Thread::start(
                    model,
                    Start {
                        payload: &payload,
                        program: PROGRAM,
                        dispatched: 0xffff,
                        single_program_flow: false,
                        alternate_floats: false,
                        registers,
                        sender: Sender {
                            thread: thread % 32,
                            dispatched: 0xffff,
                            ..Sender::default()
                        },
                    },
                );
                let mut run = Run {
                    steps: &mut steps,
                    trace: match &mut trace {
                        Some(write) => Some(&mut **write),
                        None => None,
                    },
                };
                while started.step(&mut functions, &mut run)? != Status::Done {}
            }
            Ok::<(), Trap>(())
        });
        self.launcher.steps = steps;
        self.read_back(&functions, bindings);
        result
    }

    fn vertices(&mut self, _: &mut Bindings, _: &VertexRun<'_>) -> Result<Vec<VertexOut>, Stop> {
        Err(Stop::TooLarge("no vertex shader is compiled for this machine yet".into()))
    }

    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        let mut functions = self.functions(bindings, 1024 << (self.word(WM, 2) & 15));
        let constants = self.constants(bindings);
        let rows = (self.word(WM, 3) >> 25 & 63) as usize;
        let slots = (self.word(WM, 3) >> 11 & 63) as usize / 2;
        let registers = 16 * ((self.word(WM, 0) >> 1 & 7) + 1);
        let (model, mut steps) = (self.model, self.launcher.steps);
        let setups: Vec<Vec<Register>> =
            (0..batch.quads.len()).map(|quad| self.setup(batch, quad, slots)).collect();
        let result = self.launcher.run(|code, mut trace| {
            functions.code = code.to_vec();
            let mut written = Vec::new();
            for ((thread, quad), setup) in (0u32..).zip(&batch.quads).zip(&setups) {
                functions.begin_thread();
                let mut payload = vec![functions.pixels(thread, quad), corner(quad)];
                let row = |row| constants.get(row).copied().unwrap_or(Register::UNDEFINED);
                payload.extend((0..rows).map(row));
                payload.extend(setup);
                let start = Start {
                    payload: &payload,
                    program: PROGRAM,
                    dispatched: 0xf,
                    single_program_flow: false,
                    alternate_floats: false,
                    registers,
                    sender: Sender { unit: Unit::Pixel, thread: thread % 32, dispatched: 0xf },
                };
                let mut run = Run {
                    steps: &mut steps,
                    trace: match &mut trace {
                        Some(write) => Some(&mut **write),
                        None => None,
                    },
                };
                let mut started = Thread::start(model, start);
                while started.step(&mut functions, &mut run)? != Status::Done {}
                written.push(std::mem::take(&mut functions.written));
            }
            Ok::<_, Trap>(written)
        });
        self.launcher.steps = steps;
        self.read_back(&functions, bindings);
        let outputs = &self.compiled.described.outputs;
        let count = self.compiled.expanded.outputs.len();
        let written = result?;
        let pixels = batch.quads.iter().zip(&written).flat_map(|(quad, written)| {
            (0..4).map(move |pixel| {
                let covered = quad.covered >> pixel & 1 == 1;
                let mut out = vec![[0; 4]; count];
                let mut lives = false;
                for told in outputs {
                    let (Some(output), OutputPlace::Blend { index, .. }) =
                        (told.output, told.place)
                    else {
                        continue;
                    };
                    let Some(target) = written.iter().find(|target| target.target == index) else {
                        continue;
                    };
                    let words = &mut out[output.as_u32() as usize];
                    for (component, word) in
                        words.iter_mut().enumerate().take(told.components as usize)
                    {
                        *word = target.values[component][pixel];
                    }
                }
                for target in written {
                    lives |= target.living >> pixel & 1 == 1;
                }
                FragmentOut { discarded: covered && !lives, outputs: out }
            })
        });
        Ok(pixels.collect())
    }

    fn launcher(&mut self) -> &mut Launcher {
        &mut self.launcher
    }

    fn set_errors(&mut self, errors: Option<Perturbation>) {
        self.numerics.perturbation = errors;
    }

    fn steps(&self) -> u64 {
        self.launcher.steps
    }
}

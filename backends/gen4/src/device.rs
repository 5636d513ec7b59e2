//! The emulated machine with a program, set up as a driver sets it up: from what is described of the program and what is bound,
//! and from nothing else. Memory, states and commands are `chip`'s and `surfaces`'; threads and units are `emu`'s.

mod chip;
mod compute;
mod depth;
mod draw;
mod entry;
mod geometry;
mod pixel;
mod stored;
mod surfaces;
#[cfg(test)]
mod tests;
mod textures;
mod vertex;

use crate::emu::{Model, Run, Trap};
use crate::legal;
use chip::Chip;
pub use draw::Drawing;
use gpucc_emu::device::{
    Device, FragmentOut, GARBAGE, Launcher, PrimitiveIn, PrimitiveOut, Stop, VertexOut, VertexRun,
};
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::world::{Bindings, Bound, load_word};
use gpucc_ir::ssa::numerics::Perturbation;
use gpucc_machine::Compiled;
use gpucc_machine::described::{BindingName, Driven, DriverWord, Setting};

/// Instructions that the runs of a device may take together unless told otherwise: about four seconds.
const STEPS: u64 = 20_000_000;

/// A program and its machine.
pub struct Machine {
    compiled: Compiled,
    model: Model,
    launcher: Launcher,
    /// The order in which threads have their turns.
    order: u64,
    errors: Option<Perturbation>,
}

impl Machine {
    /// The emulated machine for a program.
    pub fn new(compiled: &Compiled, chip: legal::Chip) -> Machine {
        Machine {
            compiled: compiled.clone(),
            model: match chip {
                legal::Chip::I965 => Model::I965,
                legal::Chip::Gm965 => Model::Gm965,
                legal::Chip::G45 => Model::G45,
            },
            launcher: Launcher::new(&compiled.code, &compiled.lines, STEPS),
            order: 0,
            errors: None,
        }
    }

    /// A chip with empty memory.
    fn chip(&self) -> Chip {
        Chip::new(self.model, self.order, self.errors)
    }

    /// A word of a descriptor.
    fn word(&self, name: &str, at: usize) -> u32 {
        match self.compiled.described.state.get(name) {
            Some(Setting::Descriptor { words, .. }) => words.get(at).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Rows of constants that threads of a state get. isa/gen4-pipeline.md 1.1.
    fn constant_rows(&self, state: &str) -> u32 {
        self.word(state, 3) >> 25 & 63
    }

    /// Runs something with the steps that are left.
    fn run<T>(&mut self, what: impl FnOnce(&mut Run<'_>) -> Result<T, Trap>) -> Result<T, Stop> {
        run_with(&mut self.launcher, what)
    }

    /// What the program reads of the driver's constants.
    fn constants(
        &self,
        bindings: &Bindings,
        groups: [u32; 3],
        run: Option<&VertexRun<'_>>,
    ) -> Vec<u32> {
        let bound = |binding: BindingName, element: u32| match binding.resource {
            Some(resource) => bindings.get(resource, element),
            None => &Bound::Nothing,
        };
        let step = |binding, element, which: usize| match bound(binding, element) {
            Bound::Image(image) => stored::steps(image)[which],
            _ => GARBAGE,
        };
        let word = |word: DriverWord| match word {
            DriverWord::Other(Driven::BufferSize { binding, element }) => {
                bound(binding, element).bytes().len() as u32
            }
            DriverWord::Other(Driven::Uniform { binding, offset }) => {
                load_word(bound(binding, 0).bytes(), offset)
            }
            DriverWord::OfImage { what, binding, element } => match bound(binding, element) {
                Bound::Image(image) => stored::size(image, what).unwrap_or(GARBAGE),
                _ => GARBAGE,
            },
            DriverWord::Other(Driven::Pitch { binding, element }) => step(binding, element, 0),
            DriverWord::Other(Driven::Rows { binding, element }) => step(binding, element, 1),
            DriverWord::Other(Driven::Sampler { binding, element, number }) => {
                match bound(binding, element) {
                    Bound::Sampler(sampler) => sampler.word(number.into()),
                    _ => GARBAGE,
                }
            }
            DriverWord::Other(Driven::Constant { bits }) => bits,
            DriverWord::Other(Driven::NumWorkgroups { axis }) => {
                groups[usize::from(axis.unwrap_or(0).min(2))]
            }
            DriverWord::Other(Driven::FirstVertex) => run.map_or(0, |run| run.first_vertex),
            // One draw of one view.
            DriverWord::Other(Driven::DrawIndex | Driven::ViewIndex) => 0,
            DriverWord::Other(Driven::FirstInstance) => run.map_or(0, |run| run.first_instance),
            // Nothing that this machine's programs read.
            _ => GARBAGE,
        };
        self.compiled.described.driver_constants.iter().map(|told| word(told.word)).collect()
    }
}

/// Runs something with the steps that a launcher has left.
fn run_with<T>(
    launcher: &mut Launcher,
    what: impl FnOnce(&mut Run<'_>) -> Result<T, Trap>,
) -> Result<T, Stop> {
    let mut steps = launcher.steps;
    let result = launcher.run(|_, mut trace| {
        what(&mut Run {
            steps: &mut steps,
            trace: match &mut trace {
                Some(write) => Some(&mut **write),
                None => None,
            },
        })
    });
    launcher.steps = steps;
    result
}

/// Bytes of a thread's scratch, from the word of a state that has their logarithm less 10. isa/gen4-pipeline.md 1.1.
fn scratch(word: u32) -> u32 {
    1024 << (word & 15).min(11)
}

impl Device for Machine {
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        self.workgroups(bindings, groups)
    }

    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        self.points(bindings, run)
    }

    fn primitives(
        &mut self,
        bindings: &mut Bindings,
        primitives: &[PrimitiveIn],
    ) -> Result<Vec<PrimitiveOut>, Stop> {
        self.objects(bindings, primitives)
    }

    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        self.pixels(bindings, batch)
    }

    fn launcher(&mut self) -> &mut Launcher {
        &mut self.launcher
    }

    fn set_order(&mut self, seed: u64) {
        self.order = seed;
    }

    fn set_errors(&mut self, errors: Option<Perturbation>) {
        self.errors = errors;
    }

    fn steps(&self) -> u64 {
        self.launcher.steps
    }
}

//! The emulated machine with a program, set up as a driver sets it up: from what is described of the program and what is
//! bound, and from nothing else. Programs of the data sequencer, control streams and state words lie in memory.
//! isa/rogue-pipeline.md 4, 5.

mod compute;
mod heap;
mod pixel;
mod target;
mod texture;
mod vertex;

use crate::abi::samples;
use crate::chip::Chip;
use crate::emu::{Pass, Run, Trap};
use crate::numerics::numerics;
use crate::state::{Filled, ISPA, PIXEL_SHADER};
use gpucc_emu::device::{Device, FragmentOut, Launcher, Stop, VertexOut, VertexRun};
use gpucc_emu::draw::{Early, QuadBatch};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::numerics::Perturbation;
use gpucc_ir::ssa::{Numerics, Span};
use gpucc_machine::Compiled;
use gpucc_machine::described::Setting;

/// Groups that the runs of a device may take together unless told otherwise: about four seconds.
const STEPS: u64 = 4_000_000;

/// A program and its machine.
pub struct Machine {
    compiled: Compiled,
    chip: Chip,
    launcher: Launcher,
    order: u64,
    errors: Option<Perturbation>,
}

impl Machine {
    /// The emulated machine for a program.
    pub fn new(compiled: &Compiled, chip: Chip) -> Machine {
        Machine {
            compiled: compiled.clone(),
            chip,
            launcher: Launcher::new(&compiled.code, &compiled.lines, STEPS),
            order: 0,
            errors: None,
        }
    }

    /// A number of the described state.
    fn number(&self, name: &str) -> u32 {
        self.place(name).unwrap_or(0)
    }

    /// A number of the described state that not every program has.
    fn place(&self, name: &str) -> Option<u32> {
        match self.compiled.described.state.get(name) {
            Some(Setting::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// Words of the described state, which a driver fills up.
    ///
    /// # Errors
    /// [`Stop::Illegal`] where the state lacks them.
    fn words(&self, name: &str) -> Result<Filled, Stop> {
        let setting = self.compiled.described.state.get(name);
        let words = setting.and_then(Filled::of);
        words.ok_or_else(|| untold(format!("the state of the program has no {name}")))
    }

    fn model(&self) -> Numerics {
        Numerics { perturbation: self.errors, ..numerics(self.chip) }
    }

    /// Runs something with the steps that are left.
    fn run<T>(&mut self, what: impl FnOnce(&mut Run<'_>) -> Result<T, Trap>) -> Result<T, Stop> {
        let mut steps = self.launcher.steps;
        let result = self.launcher.run(|_, mut trace| {
            what(&mut Run {
                steps: &mut steps,
                trace: match &mut trace {
                    Some(write) => Some(&mut **write),
                    None => None,
                },
            })
        });
        self.launcher.steps = steps;
        result
    }
}

/// The report does not hold.
fn untold(message: String) -> Stop {
    Stop::Illegal { rule: "the report".into(), message, span: Span::NONE }
}

/// Writes bits of a word that are a driver's.
///
/// # Errors
/// [`Stop::Illegal`] where the program decides some of them.
fn fill(words: &mut Filled, at: usize, bits: u32) -> Result<(), Stop> {
    match words.fill(at, bits) {
        true => Ok(()),
        false => Err(untold(format!("the program decides bits of {bits:#x} in word {at}"))),
    }
}

impl Machine {
    /// The pass that the words of a fragment program name, where it is one.
    fn pass(&self) -> Option<Pass> {
        let words = self.words(ISPA).ok()?;
        Pass::of(words.words().first().copied()?).ok()
    }

    /// Samples of a pixel that a driver draws with.
    fn samples(&self) -> u32 {
        samples(&self.compiled.pipeline)
    }
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

    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        self.pixels(bindings, batch)
    }

    fn most_samples(&self) -> u32 {
        self.chip.samples() as u32
    }

    fn by_sample(&self) -> bool {
        // DOUTU's rate. isa/rogue-pipeline.md 5.1.
        let words = self.words(PIXEL_SHADER).ok();
        words.is_some_and(|words| words.words().get(1).is_some_and(|high| high >> 1 & 3 == 2))
    }

    fn early(&self) -> Early {
        match self.pass() {
            Some(pass) => Early { test: pass.tests_before(), write: pass.writes_before() },
            // The draw says what is wrong.
            None => Early::default(),
        }
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

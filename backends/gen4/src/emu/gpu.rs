//! One emulated chip: memory, the state that commands set, and the units.

mod clip;
mod commands;
mod draw;
mod fetch;
mod geometry;
mod media;
mod pixel;
mod setup;
mod unit;
mod vertex;

pub use geometry::{Emitted, Given};
pub use pixel::Subspan;
pub use setup::{Object, Placed};
pub use vertex::Left;

use super::Model;
use super::dispatch::{Job, Limits, Order};
use super::functions::{Context, Functions, Textures};
use super::memory::{Memory, Refused};
use super::rule::{Rule, Trap};
use super::run::Run;
use super::state::{Bases, State};
use gpucc_ir::ssa::Numerics;
use gpucc_ir::ssa::numerics::{Denormals, Perturbation, Rounding};

/// One emulated chip.
#[derive(Clone, Debug)]
pub struct Gpu {
    model: Model,
    memory: Memory,
    state: State,
    order: Order,
    errors: Option<Perturbation>,
    /// What the sampler's cache holds since the last flush.
    textures: Textures,
    /// Vertex buffers, elements and indices.
    fetcher: fetch::Fetcher,
    /// Media objects that no flush has waited for.
    objects: Vec<super::dispatch::Job>,
}

/// What extended math computes with: functions rounded once toward zero, denormals flushed.
fn numerics(errors: Option<Perturbation>) -> Numerics {
    Numerics {
        name: "Gen4's extended math",
        rounding: Rounding::TowardZeroOverflowing,
        f32_denormals: Denormals::FLUSH,
        functions: gpucc_ir::ssa::numerics::Functions::TRUNCATED,
        perturbation: errors,
        ..Numerics::REFERENCE
    }
}

impl Gpu {
    /// A chip with nothing mapped and nothing set.
    pub fn new(model: Model) -> Gpu {
        Gpu {
            model,
            memory: Memory::default(),
            state: State::default(),
            order: Order::default(),
            errors: None,
            textures: Textures::default(),
            fetcher: fetch::Fetcher::default(),
            objects: Vec::new(),
        }
    }

    /// Its memory, as the processor sees it.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Selects the order in which threads have their turns.
    pub fn set_order(&mut self, seed: u64) {
        self.order = Order(seed);
    }

    /// Lets extended math be off.
    pub fn set_errors(&mut self, errors: Option<Perturbation>) {
        self.errors = errors;
    }

    /// Executes the commands of a batch buffer.
    ///
    /// # Errors
    /// The rule that a command or a thread breaks. The offset of a command's trap is its byte within the batch.
    pub fn batch(&mut self, address: u32, bytes: u32, run: &mut Run<'_>) -> Result<(), Trap> {
        commands::batch(self, address, bytes, run)
    }

    /// Base addresses, which a command must have set.
    fn bases(&self) -> Result<Bases, Refused> {
        self.state.bases.ok_or_else(|| (Rule::Bases, "no STATE_BASE_ADDRESS was sent".into()))
    }

    /// Runs threads on the shared functions; what each of them left, in order.
    ///
    /// # Errors
    /// The rule that a thread breaks, or that no bases were sent.
    fn threads(
        &mut self,
        jobs: Vec<Job>,
        limits: Limits,
        run: &mut Run<'_>,
    ) -> Result<Vec<Context>, Trap> {
        let bases = self.bases().map_err(|(rule, detail)| Trap::new(rule, 0, detail))?;
        let model = self.model;
        let mut functions = Functions::new(
            model,
            (&mut self.memory, &mut self.textures),
            &bases,
            numerics(self.errors),
        );
        super::dispatch::run(model, &mut functions, jobs, limits, &mut self.order, run)
    }

    /// Runs the media objects that are waiting.
    fn finish_objects(&mut self, run: &mut Run<'_>) -> Result<(), Trap> {
        let jobs = std::mem::take(&mut self.objects);
        if jobs.is_empty() {
            return Ok(());
        }
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        let limits = media::limits(self).map_err(trap)?;
        self.threads(jobs, limits, run)?;
        Ok(())
    }
}

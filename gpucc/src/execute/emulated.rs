//! A machine's device as an executor: what it says of a run, in the facade's words.

use super::{Executor, FragmentOut, Stop, VertexOut, VertexRun};
use crate::{Failure, SourceText};
use gpucc_emu::device::{self, Device};
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::world::Bindings;

/// A device, and the source that its program was made from.
pub(crate) struct Emulated {
    device: Box<dyn Device>,
    source: SourceText,
}

impl Emulated {
    pub(crate) fn new(device: Box<dyn Device>, source: &SourceText) -> Emulated {
        Emulated { device, source: source.clone() }
    }

    /// A stop with its place in the source.
    fn placed<T>(&self, result: Result<T, device::Stop>) -> Result<T, Stop> {
        result.map_err(|stop| match Stop::from(stop) {
            Stop::Illegal { rule, message, span } if !span.is_none() => Stop::Illegal {
                rule,
                message: format!("{message} (from {})", self.source.place(span.start)),
                span,
            },
            stop => stop,
        })
    }
}

impl From<device::Stop> for Stop {
    fn from(stop: device::Stop) -> Stop {
        match stop {
            device::Stop::OutOfSteps(steps) => Stop::OutOfSteps(steps),
            device::Stop::Illegal { rule, message, span } => Stop::Illegal { rule, message, span },
            device::Stop::TooLarge(what) => Stop::Cannot(Failure::usage(what)),
        }
    }
}

impl Executor for Emulated {
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        let result = self.device.dispatch(bindings, groups);
        self.placed(result)
    }

    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let result = self.device.vertices(bindings, run);
        self.placed(result)
    }

    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        let result = self.device.quads(bindings, batch);
        self.placed(result)
    }

    fn set_steps(&mut self, steps: u64) {
        self.device.launcher().set_steps(steps);
    }

    fn steps(&self) -> u64 {
        self.device.steps()
    }

    fn stray(&self) -> Option<&str> {
        self.device.stray()
    }

    fn take_trace(&mut self) -> String {
        self.device.launcher().take_trace()
    }

    fn set_trace(&mut self, on: bool) {
        self.device.launcher().set_trace(on);
    }
}

//! A program without bounds on a machine: where the shader breaks its promise to stay in range, what the machine does
//! is not our bug.

use super::interp::Interp;
use super::{Executor, FragmentOut, Stop, VertexOut, VertexRun};
use crate::compiler::{Compiled, Compiler, Options};
use crate::pipeline::Robust;
use crate::{Diagnostic, Failure, FailureKind};
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::Span;

/// A machine, and the reference that says whether an illegal run is the shader's fault.
struct Unchecked {
    machine: Box<dyn Executor>,
    reference: Interp,
}

/// The executor of a program; under [`Robust::Off`] an illegal run of a shader that leaves its memory is told as the
/// user's error, with the access's place.
pub fn unchecked(
    machine: Box<dyn Executor>,
    compiler: &Compiler,
    compiled: &Compiled,
    options: &Options,
) -> Box<dyn Executor> {
    match options.robust {
        Robust::Restrict | Robust::Zero => machine,
        Robust::Off => Box::new(Unchecked {
            machine,
            reference: Interp::new(
                &compiled.ssa,
                compiler.numerics(),
                options.pipeline.vertex.as_ref(),
            ),
        }),
    }
}

/// The failure of a shader that leaves its memory where nothing keeps it within.
pub fn out_of_bounds(at: Span, machine: &str) -> Failure {
    Failure::new(
        FailureKind::Mismatch,
        Diagnostic::error(
            "the shader accesses memory beyond its end, which --robust off leaves undefined",
        )
        .at(at, "this access")
        .note(format!("the machine stopped: {machine}"))
        .note("keep the access in range, or compile with --robust restrict or zero"),
    )
}

impl Unchecked {
    /// What a stop of the machine means, when the reference has run the same: `run` does that.
    fn judge<T>(
        &mut self,
        result: Result<T, Stop>,
        run: impl FnOnce(&mut Interp) -> Result<(), Stop>,
    ) -> Result<T, Stop> {
        let Err(Stop::Illegal { message, .. }) = &result else {
            return result;
        };
        // Where the reference itself stops does not matter: it has seen the access before.
        let _ = run(&mut self.reference);
        match self.reference.beyond() {
            Some(at) => Err(Stop::Cannot(out_of_bounds(at, message))),
            None => result,
        }
    }
}

impl Executor for Unchecked {
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        let mut before = bindings.clone();
        let result = self.machine.dispatch(bindings, groups);
        self.judge(result, |reference| reference.dispatch(&mut before, groups))
    }

    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let mut before = bindings.clone();
        let result = self.machine.vertices(bindings, run);
        self.judge(result, |reference| reference.vertices(&mut before, run).map(|_| ()))
    }

    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        let mut before = bindings.clone();
        let result = self.machine.quads(bindings, batch);
        self.judge(result, |reference| reference.quads(&mut before, batch).map(|_| ()))
    }

    fn set_steps(&mut self, steps: u64) {
        self.machine.set_steps(steps);
        self.reference.set_steps(steps);
    }

    fn steps(&self) -> u64 {
        self.machine.steps()
    }

    fn stray(&self) -> Option<&str> {
        self.machine.stray()
    }

    fn take_trace(&mut self) -> String {
        self.machine.take_trace()
    }

    fn set_trace(&mut self, on: bool) {
        self.machine.set_trace(on);
    }
}

//! Running programs: the interpreter and every emulated machine behind one verb for each stage.

mod emulated;
pub mod interp;
pub mod layout;
pub mod shade;
mod unchecked;

pub(crate) use emulated::Emulated;
pub use gpucc_emu::device::{FragmentOut, MOST_INVOCATIONS, VertexOut, VertexRun};
pub use unchecked::{out_of_bounds, unchecked};

use crate::Failure;
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::Span;

/// Why a run stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// More steps than allowed, which is how many: neither right nor wrong.
    OutOfSteps(u64),
    /// The machine's manual forbids what the code did: our bug.
    Illegal {
        /// The rule's name.
        rule: String,
        /// What happened, and where in the code.
        message: String,
        /// Source position, when known.
        span: Span,
    },
    /// What the shader asks cannot be run here.
    Cannot(Failure),
}

impl Stop {
    /// As a failure of a command that wanted the run to end.
    pub fn into_failure(self) -> Failure {
        match self {
            Stop::OutOfSteps(steps) => Failure::new(
                crate::FailureKind::Limit {
                    what: "steps".into(),
                    needed: steps.saturating_add(1),
                    available: steps,
                },
                crate::Diagnostic::error(format!(
                    "the shader does not end within {steps} steps"
                ))
                .note(
                    "a step is one instruction of a wavefront or a warp; on the interpreter, of 64 \
                     invocations",
                )
                .note("is there a loop without an end? --max-steps N allows more"),
            ),
            Stop::Illegal {
                rule,
                message,
                span,
            } => Failure::internal(rule, message).at(span),
            Stop::Cannot(failure) => failure,
        }
    }
}

/// A program ready to run. Inputs and outputs are those of the function it was made from. Between
/// the calls of one draw bindings stay the same, but for what the program itself stores.
pub trait Executor {
    /// Runs workgroups of a compute program.
    ///
    /// # Errors
    /// [`Stop`].
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop>;
    /// Runs vertices.
    ///
    /// # Errors
    /// [`Stop`].
    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop>;
    /// Runs quads; the batch's varyings are the function's location inputs in their order. Gives
    /// four pixels a quad.
    ///
    /// # Errors
    /// [`Stop`].
    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop>;
    /// Sets how many steps all calls from here on may take together. A step is one instruction of a wavefront
    /// (a group, a fetch or one of control flow) or of a warp, or of 64 invocations on the interpreter. At
    /// the start each machine has as many as it executes in about four seconds.
    fn set_steps(&mut self, steps: u64);
    /// Steps that are left.
    fn steps(&self) -> u64;
    /// What the last call stored where nothing is bound, on machines whose memory has no fences there.
    fn stray(&self) -> Option<&str> {
        None
    }
    /// Text of what was executed since the last call, when tracing is on.
    fn take_trace(&mut self) -> String {
        String::new()
    }
    /// Turns tracing on.
    fn set_trace(&mut self, on: bool) {
        let _ = on;
    }
}

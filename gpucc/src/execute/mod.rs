//! Running programs: the interpreter and every emulated machine behind one verb for each stage.

pub mod interp;
mod launch;
pub mod layout;
pub mod r700;
pub mod shade;
pub mod valhall;

use crate::Failure;
use gpucc_emu::draw::{QuadBatch, VertexId};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::Span;

/// Why a run stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// More steps than allowed: neither right nor wrong.
    OutOfSteps,
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
            Stop::OutOfSteps => Failure::new(
                crate::FailureKind::Limit {
                    what: "steps".into(),
                    needed: 0,
                    available: 0,
                },
                crate::Diagnostic::error(
                    "the shader does not end within the steps that a run may take",
                )
                .note("is there a loop without an end?"),
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

/// Invocations of one dispatch, or vertices of one draw, that are emulated: a few minutes of them.
pub const MOST_INVOCATIONS: u64 = 1 << 26;

/// How many invocations a dispatch has.
///
/// # Errors
/// Usage, for more than [`MOST_INVOCATIONS`].
fn invocations(groups: [u32; 3], group: u32) -> Result<u32, Stop> {
    let count = groups
        .iter()
        .fold(u64::from(group), |count, &n| count.saturating_mul(n.into()));
    match u32::try_from(count) {
        Ok(count) if u64::from(count) <= MOST_INVOCATIONS => Ok(count),
        _ => Err(Stop::Cannot(Failure::usage(format!(
            "{count} invocations are too many to be emulated: at most {MOST_INVOCATIONS}"
        )))),
    }
}

/// One draw's vertices.
#[derive(Clone, Debug)]
pub struct VertexRun<'a> {
    /// Which, without the first vertex and instance.
    pub ids: &'a [VertexId],
    /// Added to vertex numbers.
    pub first_vertex: u32,
    /// Added to instance numbers.
    pub first_instance: u32,
    /// Bytes of the vertex buffers, by the numbers of the pipeline's layout.
    pub buffers: &'a [Vec<u8>],
}

/// What one vertex gives: four words for each output of the function, in the outputs' order; 0
/// where nothing was written.
pub type VertexOut = Vec<[u32; 4]>;

/// What one pixel gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FragmentOut {
    /// Demoted.
    pub discarded: bool,
    /// For each output of the function, in the outputs' order, four words.
    pub outputs: Vec<[u32; 4]>,
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
    /// Text of what was executed since the last call, when tracing is on.
    fn take_trace(&mut self) -> String {
        String::new()
    }
    /// Turns tracing on.
    fn set_trace(&mut self, on: bool) {
        let _ = on;
    }
}

//! A program ready to run: its device, and what makes a stop of it the user's or ours.

use super::interp::Interp;
use super::{FragmentOut, PrimitiveIn, PrimitiveOut, VertexOut, VertexRun};
use crate::compiler::{Compiled, Compiler, Options};
use crate::pipeline::Robust;
use crate::{Diagnostic, Failure, FailureKind, SourceText};
use gpucc_emu::device::{self, Device};
use gpucc_emu::draw::{Early, QuadBatch};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::Span;
use gpucc_ir::ssa::numerics::Perturbation;

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
                FailureKind::Limit {
                    what: "steps".into(),
                    needed: steps.saturating_add(1),
                    available: steps,
                },
                Diagnostic::error(format!("the shader does not end within {steps} steps"))
                    .note(
                        "a step is one instruction of a wavefront, a warp or a thread; on the interpreter, of 64 \
                         invocations",
                    )
                    .note("is there a loop without an end? --max-steps N allows more"),
            ),
            Stop::Illegal { rule, message, span } => Failure::internal(rule, message).at(span),
            Stop::Cannot(failure) => failure,
        }
    }
}

impl From<device::Stop> for Stop {
    fn from(stop: device::Stop) -> Stop {
        match stop {
            device::Stop::OutOfSteps(steps) => Stop::OutOfSteps(steps),
            device::Stop::Illegal { rule, message, span } => Stop::Illegal { rule, message, span },
            device::Stop::TooLarge(what) => Stop::Cannot(Failure::usage(what)),
            device::Stop::Invalid { message, span } => {
                Stop::Cannot(Failure::invalid(message).at(span))
            }
        }
    }
}

/// A program ready to run. Inputs and outputs are those of the function it was made from. Between the calls of one draw
/// bindings stay the same, but for what the program itself stores.
pub struct Executor {
    device: Box<dyn Device>,
    /// Stops of an emulated machine name their place in it.
    source: Option<SourceText>,
    /// Says whether a shader without bounds leaves its memory: what the machine does then is not our bug.
    reference: Option<Interp>,
    /// The shader has no bounds, and its SSA is gone: nobody can say whether it left its memory.
    unjudged: bool,
}

impl Compiler {
    /// What runs a program that these options made of this source: the emulated machine, or the interpreter where there is
    /// none. Under [`Robust::Off`] an illegal run of a shader that leaves its memory is the user's error.
    pub fn executor(
        &self,
        compiled: &Compiled,
        options: &Options,
        source: &SourceText,
    ) -> Executor {
        let vertex = options.pipeline.vertex.as_ref();
        let interp = || Interp::new(&compiled.ssa, self.numerics(), vertex);
        let Some(program) = &compiled.program else {
            return Executor {
                device: Box::new(interp()),
                source: None,
                reference: None,
                unjudged: false,
            };
        };
        let unchecked = options.robust == Robust::Off;
        let unjudged = unchecked && compiled.ssa_is_bare;
        let reference = (unchecked && !unjudged).then(interp);
        Executor { reference, unjudged, ..program.executor(source) }
    }
}

impl Executor {
    pub(crate) fn emulated(device: Box<dyn Device>, source: &SourceText) -> Executor {
        Executor { device, source: Some(source.clone()), reference: None, unjudged: false }
    }

    fn run<T>(
        &mut self,
        bindings: &mut Bindings,
        verb: impl Fn(&mut dyn Device, &mut Bindings) -> Result<T, device::Stop>,
    ) -> Result<T, Stop> {
        let before = self.reference.as_ref().map(|_| bindings.clone());
        let mut stop = match verb(&mut *self.device, bindings) {
            Ok(done) => return Ok(done),
            Err(stop) => stop,
        };
        if let device::Stop::Illegal { message, span, .. } = &mut stop {
            if let Some(source) = self.source.as_ref().filter(|_| !span.is_none()) {
                *message = format!("{message} (from {})", source.place(span.start));
            }
            if self.unjudged {
                return Err(Stop::Cannot(unjudged(message)));
            }
            if let (Some(reference), Some(mut before)) = (&mut self.reference, before) {
                // Where the reference itself stops does not matter: it has seen the access before.
                let _ = verb(reference, &mut before);
                if let Some(at) = reference.beyond() {
                    return Err(Stop::Cannot(out_of_bounds(at, message)));
                }
            }
        }
        Err(stop.into())
    }

    /// Runs workgroups of a compute program.
    ///
    /// # Errors
    /// [`Stop`].
    pub fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        self.run(bindings, |device, bindings| device.dispatch(bindings, groups))
    }

    /// Runs vertices.
    ///
    /// # Errors
    /// [`Stop`].
    pub fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        self.run(bindings, |device, bindings| device.vertices(bindings, run))
    }

    /// Runs a geometry program; what each primitive becomes, in order.
    ///
    /// # Errors
    /// [`Stop`].
    pub fn primitives(
        &mut self,
        bindings: &mut Bindings,
        primitives: &[PrimitiveIn],
    ) -> Result<Vec<PrimitiveOut>, Stop> {
        self.run(bindings, |device, bindings| device.primitives(bindings, primitives))
    }

    /// Runs quads; the batch's varyings are the function's location inputs in their order. Gives four pixels a quad.
    ///
    /// # Errors
    /// [`Stop`].
    pub fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        self.run(bindings, |device, bindings| device.quads(bindings, batch))
    }

    /// Sets how many steps all calls from here on may take together. A step is one instruction of a wavefront
    /// (a group, a fetch or one of control flow) or of a warp, or of 64 invocations on the interpreter. At
    /// the start each machine has as many as it executes in about four seconds.
    pub fn set_steps(&mut self, steps: u64) {
        self.device.launcher().set_steps(steps);
        if let Some(reference) = &mut self.reference {
            reference.launcher().set_steps(steps);
        }
    }

    /// Steps that are left.
    pub fn steps(&self) -> u64 {
        self.device.steps()
    }

    /// What happens to pixels before the program runs.
    pub fn early(&self) -> Early {
        self.device.early()
    }

    /// The fragment program runs for each sample.
    pub fn by_sample(&self) -> bool {
        self.device.by_sample()
    }

    /// A pixel of the quads that the machine runs has at most so many samples.
    pub fn most_samples(&self) -> u32 {
        self.device.most_samples()
    }

    /// Chooses by a seed what the machine leaves open.
    pub fn set_order(&mut self, seed: u64) {
        self.device.set_order(seed);
    }

    /// Makes the functions that the machine approximates err; see [`Device::set_errors`].
    pub fn set_errors(&mut self, errors: Option<Perturbation>) {
        self.device.set_errors(errors);
    }

    /// What the last call stored where nothing is bound, on machines whose memory has no fences there.
    pub fn stray(&self) -> Option<&str> {
        self.device.stray()
    }

    /// Text of what was executed since the last call, when tracing is on.
    pub fn take_trace(&mut self) -> String {
        self.device.launcher().take_trace()
    }

    /// Turns tracing on.
    pub fn set_trace(&mut self, on: bool) {
        self.device.launcher().set_trace(on);
    }
}

/// The failure of a loaded program without bounds that was stopped: the shader's fault or ours.
fn unjudged(machine: &str) -> Failure {
    Failure::usage("the machine stopped a program that was loaded and has no bounds")
        .note(format!("it says: {machine}"))
        .note("what was loaded has no SSA, which says whether the shader left its memory")
        .note("compile it and run that, or compile with robust restrict or zero")
}

/// The failure of a shader that leaves its memory where nothing keeps it within.
fn out_of_bounds(at: Span, machine: &str) -> Failure {
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

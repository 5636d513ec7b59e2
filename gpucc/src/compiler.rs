//! The pipeline: a source becomes structured SSA, the shared passes improve it, the back end makes code.

use crate::binary::Binary;
use crate::guard::guarded;
use crate::pipeline::{Pipeline, Robust};
use crate::program::{self, Program};
use crate::{Diagnostic, Failure, FailureKind, Target};
#[cfg(feature = "emulator")]
use gpucc_emu::device::Drawer;
pub use gpucc_frontend::{Include, IncludedText, Includes};
use gpucc_ir::budget::Budget;
pub use gpucc_ir::cancel::Cancel;
use gpucc_ir::cancel::watched;
pub use gpucc_ir::driver::Effort;
use gpucc_ir::ssa::{Func, Stage};
use gpucc_ir::stack;
use gpucc_machine::described::EvidenceClass;
use gpucc_machine::{Machine, Request};
use gpucc_passes::mach::Control;
use gpucc_passes::pass::{Gate, Listed};
use gpucc_passes::{
    Ctx, Level, Neutral, Observer, Pass, Plan, Proof, Robustness, RunError, Runner,
};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

/// What is compiled.
#[derive(Copy, Clone, Debug)]
#[non_exhaustive]
pub enum Source<'a> {
    /// WGSL text.
    Wgsl(&'a str),
    /// SPIR-V bytes, either byte order.
    SpirV(&'a [u8]),
    /// GLSL text of one stage.
    Glsl(&'a str, Stage),
    /// Our own text.
    Ir(&'a str),
}

/// Everything that steers one compilation; two equal requests give the same bytes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// How hard to try.
    pub effort: Effort,
    /// Accesses out of bounds.
    pub robust: Robust,
    /// End every loop.
    pub bound_loops: bool,
    /// Leave workgroup memory as it is instead of zeroing it.
    pub keep_workgroup: bool,
    /// Passes to leave out: shared ones, and those of the machine.
    pub skip: Vec<String>,
    /// No optional pass after this one.
    pub stop_after: Option<String>,
    /// Rewrites that may happen.
    pub fuel: Option<u64>,
    /// Memory and work that one entry point may take.
    pub budget: Budget,
    /// The weakest class of evidence that code may rest on; `None` takes any.
    pub evidence: Option<EvidenceClass>,
    /// Asked now and then whether the result is still wanted; the call ends with [`FailureKind::Cancelled`] if not. Has
    /// no part in what the result is.
    pub cancel: Option<Cancel>,
    /// Check the IR before the first pass and after every pass. Debug builds always do.
    pub verify_each: bool,
    /// State that a driver knows.
    pub pipeline: Pipeline,
    /// Values of overrides by name or id.
    pub overrides: BTreeMap<String, f64>,
    /// Value of every override that has none.
    pub overrides_default: Option<f64>,
    /// Macros of GLSL with what they stand for; parameters stand behind the name: `("f(x)", "x * 2")`.
    pub defines: Vec<(String, String)>,
    /// Who gives the texts that GLSL includes; without it `#include` is an error. The library itself reads no files.
    pub includes: Option<Includes>,
    /// Keep the text of the IR after these passes (`all` for every one).
    pub dump_after: Vec<String>,
    /// Keep the text of the machine IR as it was last.
    pub keep_machine_ir: bool,
    /// Keep the SSA before the first and after each pass that changed it: for verification.
    pub keep_steps: bool,
}

impl Options {
    /// Values of overrides: those of the pipeline, then those given here.
    pub(crate) fn all_overrides(&self) -> BTreeMap<String, f64> {
        let mut all = self.pipeline.overrides.clone();
        all.extend(self.overrides.iter().map(|(k, v)| (k.clone(), *v)));
        all
    }
}

/// Which entry points to read; all by default.
#[derive(Copy, Clone, Debug, Default)]
pub struct Choice<'a> {
    /// By name.
    pub entry: Option<&'a str>,
    /// By stage.
    pub stage: Option<Stage>,
}

/// One entry point of a source.
#[derive(Debug)]
pub struct Entry {
    /// Name.
    pub name: String,
    /// Stage; `None` when the entry point could not be read.
    pub stage: Option<Stage>,
    /// Its structured SSA, or why there is none.
    pub func: Result<Func, Failure>,
}

/// A source that has been read.
#[derive(Debug)]
pub struct Parsed {
    /// Entry points in source order.
    pub entries: Vec<Entry>,
    /// What to know about it.
    pub warnings: Vec<Diagnostic>,
    /// Time that reading took.
    pub frontend_time: Duration,
}

/// A source whose specialization constants and overrides have no values yet: [`Compiler::read`] makes it. Threads may share
/// it.
pub struct Reading(gpucc_frontend::Reading);

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}

/// One run of a pass, or one stage of a back end.
#[derive(Clone, Debug)]
pub struct PassTime {
    /// Its name.
    pub name: &'static str,
    /// How long it took.
    pub time: Duration,
    /// It changed something.
    pub changed: bool,
}

/// A compiled entry point: the [`Binary`], and the SSA that it was made of, which proofs and pictures of the IR need.
#[derive(Clone)]
pub struct Compiled {
    /// What a driver keeps.
    pub binary: Binary,
    /// Structured SSA after the shared passes.
    pub ssa: Func,
    /// `(pass, text)` as asked for by [`Options::dump_after`].
    pub dumps: Vec<(String, String)>,
    /// The SSA of the front end, then after each step that changed it, as asked for by [`Options::keep_steps`].
    pub steps: Vec<Kept>,
    /// Times of the passes, then of the back end's stages.
    pub times: Vec<PassTime>,
    /// From the end of the front end to the encoded bytes.
    pub compile_time: Duration,
    /// `ssa` has declarations alone, as that of a program that was loaded: it runs nothing and judges nothing.
    pub ssa_is_bare: bool,
}

impl Deref for Compiled {
    type Target = Binary;
    fn deref(&self) -> &Binary {
        &self.binary
    }
}

impl DerefMut for Compiled {
    fn deref_mut(&mut self) -> &mut Binary {
        &mut self.binary
    }
}

/// Runs the front end, and notes the time that it takes.
fn timed(
    options: &Options,
    work: impl FnOnce() -> Result<Parsed, Failure>,
) -> Result<Parsed, Failure> {
    let start = Instant::now();
    let (parsed, cancelled) = watched(options.cancel.as_ref(), || guarded("the front end", work));
    if cancelled {
        return Err(Failure::cancelled());
    }
    let mut parsed = parsed?;
    parsed.frontend_time = start.elapsed();
    Ok(parsed)
}

/// A compiler for one machine. Immutable: share it between threads as you like.
#[derive(Clone)]
pub struct Compiler {
    target: Target,
    chip: Option<&'static str>,
    machine: Option<&'static dyn Machine>,
}

impl Compiler {
    /// A compiler for a target, and for a chip of it (the default chip when `None`).
    ///
    /// # Errors
    /// A target that is not built, a chip that the target does not have.
    pub fn new(target: Target, chip: Option<&str>) -> Result<Compiler, Failure> {
        let chip = match chip {
            None => target.chips().first().copied(),
            Some(name) => {
                Some(target.chips().iter().copied().find(|chip| *chip == name).ok_or_else(
                    || Failure::usage(format!("target {} has no chip '{name}'", target.name())),
                )?)
            }
        };
        if let Target::Planned(planned) = target {
            let (about, stage) = (
                &planned.about,
                match planned.assembler {
                    Some(_) => "the lowering",
                    None => "the back end",
                },
            );
            return Err(Failure::not_yet(
                format!("target {} ({})", about.name, about.machine),
                stage,
            ));
        }
        Ok(Compiler { target, chip, machine: target.built() })
    }

    /// What a machine is asked.
    fn request(&self, options: &Options, passes: Control) -> Request {
        Request {
            chip: self.chip.unwrap_or_default(),
            effort: options.effort,
            pipeline: options.pipeline.state(),
            trusts_indices: options.robust == Robust::Off,
            budget: options.budget,
            passes,
        }
    }

    /// The machine's own steps over SSA.
    fn plan(&self, options: &Options) -> Option<Plan> {
        let machine = self.machine?;
        Some(machine.plan(&self.request(options, Control::default())))
    }

    /// The target.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The chip.
    pub fn chip(&self) -> Option<&'static str> {
        self.chip
    }

    /// How floats behave on this machine.
    pub fn numerics(&self) -> gpucc_ir::ssa::Numerics {
        match self.machine {
            Some(machine) => machine.numerics(self.chip.unwrap_or_default()),
            None => gpucc_ir::ssa::Numerics::REFERENCE,
        }
    }

    /// Reads a source: every entry point becomes structured SSA or says why not.
    ///
    /// # Errors
    /// A source that is wrong as a whole.
    pub fn parse(
        &self,
        source: Source<'_>,
        choice: Choice<'_>,
        options: &Options,
    ) -> Result<Parsed, Failure> {
        timed(options, || crate::front::parse(source, choice, options, self.target, false).1)
    }

    /// As [`Compiler::parse`] of all entry points. It also gives what the source is without values of constants, for
    /// [`Compiler::specialize`]. There is no such reading where other values require that the source is read again:
    ///
    /// - reading failed;
    /// - the source has no constants that the caller may set;
    /// - what the reader of WGSL takes depends on values of overrides.
    ///
    /// A reading is kept where the values in these options alone are wrong.
    pub fn read(
        &self,
        source: Source<'_>,
        options: &Options,
    ) -> (Option<Reading>, Result<Parsed, Failure>) {
        let mut kept = None;
        let parsed = timed(options, || {
            let choice = Choice::default();
            let (reading, parsed) = crate::front::parse(source, choice, options, self.target, true);
            kept = reading.map(Reading);
            parsed
        });
        let cancelled = matches!(&parsed, Err(failure) if failure.kind == FailureKind::Cancelled);
        (kept.filter(|_| !cancelled), parsed)
    }

    /// What [`Compiler::parse`] gives of the source with these options, without reading it again. Macros and included texts are
    /// those that it was read with.
    ///
    /// # Errors
    /// A source that is wrong as a whole with these values of constants.
    pub fn specialize(
        &self,
        reading: &Reading,
        choice: Choice<'_>,
        options: &Options,
    ) -> Result<Parsed, Failure> {
        timed(options, || crate::front::specialize(&reading.0, choice, options, self.target))
    }

    /// GLSL as its reader gets it: macros expanded, conditions decided, included texts in their places.
    ///
    /// # Errors
    /// Wrong directives, includes that are not found, and texts beyond the limits.
    pub fn preprocess(&self, text: &str, options: &Options) -> Result<String, Failure> {
        guarded("the front end", || crate::front::preprocessed(text, options, self.target))
    }

    /// Compiles one entry point. The same function and options give the same bytes. The function comes from a reader, or
    /// [`fn@gpucc_ir::ssa::verify`] has admitted it: release builds do not ask again ([`Options::verify_each`]).
    ///
    /// # Errors
    /// [`Failure`] says whose fault it is.
    pub fn compile(&self, func: &Func, options: &Options) -> Result<Compiled, Failure> {
        let work = || stack::for_passes(func, || self.compile_here(func, options));
        match watched(options.cancel.as_ref(), work) {
            (_, true) => Err(Failure::cancelled()),
            (compiled, false) => compiled,
        }
    }

    fn compile_here(&self, func: &Func, options: &Options) -> Result<Compiled, Failure> {
        let start = Instant::now();
        options.pipeline.check().map_err(Failure::usage)?;
        options.pipeline.check_outputs(func).map_err(Failure::usage)?;
        let mut ssa = func.with_room();
        let mut watch = Watch {
            start,
            current: "",
            dump_after: &options.dump_after,
            dumps: Vec::new(),
            keep: options.keep_steps,
            steps: Vec::new(),
            kept: 0,
            times: Vec::new(),
        };
        if options.keep_steps {
            watch.keep("frontend", Proof::Expansion, func);
        }
        self.check_names(options)?;
        let state = options.pipeline.state();
        let shared = Plan::for_options(&pass_options(options));
        let own = self.plan(options);
        let mut runner = Runner { gate: gate(options), verify_each: options.verify_each };
        let target: &dyn gpucc_passes::TargetInfo = match self.machine {
            Some(machine) => machine.info(),
            None => &Neutral,
        };
        let mut ctx = Ctx::new(pass_options(options), self.numerics(), target);
        ctx.fuel = options.fuel;
        ctx.budget = options.budget;
        ctx.pipeline = Some(&state);
        guarded_passes(func, &mut watch, |watch| runner.run(&shared, &mut ssa, &mut ctx, watch))?;
        let mut notes = Vec::new();
        let mut program = None;
        if let (Some(machine), Some(own)) = (self.machine, &own) {
            let name = format!("the {} back end", self.target.name());
            let chip = self.chip.unwrap_or_default();
            let say = |failure| program::failure(failure, self.target.name());
            let admit = || {
                program::admit_stage(self.target, ssa.stage, func.place)?;
                program::admit_workgroup(machine, chip, &ssa)?;
                machine.admit(&ssa, chip)
            };
            let place = |failure: Failure| match &*failure.diagnostics {
                [first, ..] if first.labels.is_empty() => failure.at(func.place),
                _ => failure,
            };
            let say = |failure| place(say(failure));
            guarded(&name, || admit().map_err(say)).map_err(|failure| attach_ir(failure, &ssa))?;
            let mut expanded = guarded(&name, || Ok(ssa.compacted()))
                .map_err(|failure| attach_ir(failure, &ssa))?;
            ctx.renumbered();
            ctx.target = machine.expansion_info(&self.request(options, Control::default()));
            guarded_passes(&ssa, &mut watch, |watch| {
                runner.go_on(own, &mut expanded, &mut ctx, watch)
            })?;
            let passes = Control {
                gate: runner.gate,
                fuel: ctx.fuel,
                verify_each: options.verify_each,
                dump: !options.dump_after.is_empty() || options.keep_machine_ir,
                clock: Some(program::clock),
            };
            let request = self.request(options, passes);
            let compiled = guarded(&name, || machine.finish(expanded, &request).map_err(say))
                .map_err(|failure| attach_ir(failure, &ssa))?;
            if let Some(most) = options.evidence {
                program::admit_evidence(&compiled, most, self.target.name())?;
            }
            let made = Program { machine, chip, compiled };
            notes = made.notes();
            watch.times.extend(made.compiled.times.iter().map(|&(name, time)| PassTime {
                name,
                time,
                changed: true,
            }));
            let all = options.dump_after.iter().any(|pass| pass == "all");
            let dumps = made.compiled.dumps.iter();
            watch.dumps.extend(
                dumps
                    .filter(|dump| all || options.dump_after.iter().any(|pass| pass == dump.pass))
                    .map(|dump| (dump.pass.to_owned(), dump.text.clone())),
            );
            program = Some(made);
        }
        let Watch { dumps, steps, times, .. } = watch;
        Ok(Compiled {
            binary: Binary { entry: ssa.name.clone(), stage: ssa.stage, program, notes },
            ssa,
            dumps,
            steps,
            times,
            compile_time: start.elapsed(),
            ssa_is_bare: false,
        })
    }

    /// Refuses names of passes that do not exist, and to skip a pass that the machine cannot do without.
    fn check_names(&self, options: &Options) -> Result<(), Failure> {
        let dumps = options.dump_after.iter().filter(|name| *name != "all");
        let mut named = dumps.chain(&options.skip).chain(&options.stop_after).peekable();
        if named.peek().is_none() {
            return Ok(());
        }
        let passes = self.every_pass();
        let known = |name: &str| passes.iter().any(|pass| pass.name == name);
        if let Some(name) = named.find(|name| !known(name)) {
            let name = name.clone();
            return Err(run_error(RunError::UnknownPass { name }));
        }
        match gate(options).required(&passes) {
            Some(name) => Err(run_error(RunError::Required { name: name.to_owned() })),
            None => Ok(()),
        }
    }

    /// The programs that fixed function needs around a vertex and a fragment program of this machine's, and that no
    /// shader asks for; most machines have none. Where a geometry program stands between them, it is the one in front of the
    /// fragment program, in place of the vertex program.
    ///
    /// # Errors
    /// [`Failure`] says whose fault it is.
    pub fn kernels(
        &self,
        vertex: &Program,
        fragment: &Program,
        options: &Options,
    ) -> Result<Vec<Program>, Failure> {
        let Some(machine) = self.machine else {
            return Ok(Vec::new());
        };
        let request = self.request(options, Control::default());
        let made = machine.kernels(&vertex.compiled, &fragment.compiled, &request);
        let made = made.map_err(|failure| program::failure(failure, self.target.name()))?;
        let program = |compiled| Program { compiled, ..vertex.clone() };
        Ok(made.into_iter().map(program).collect())
    }

    /// The emulated machine that draws with a vertex and a fragment program of this machine's, a geometry program between them
    /// where there is one, and with what fixed function needs around them; none where the machine's emulator does not draw by itself.
    ///
    /// # Errors
    /// As [`Compiler::kernels`].
    #[cfg(feature = "emulator")]
    pub fn drawer(
        &self,
        vertex: &Program,
        geometry: Option<&Program>,
        fragment: &Program,
        options: &Options,
    ) -> Result<Option<Box<dyn Drawer>>, Failure> {
        let Some(machine) = self.machine else {
            return Ok(None);
        };
        let request = self.request(options, Control::default());
        let between = geometry.map(|program| &program.compiled);
        let made = machine.drawer(&vertex.compiled, between, &fragment.compiled, &request);
        made.map_err(|failure| program::failure(failure, self.target.name()))
    }

    /// Every step from the front end to the code, in the order of an effort: the shared ones, those of this machine over SSA,
    /// then those over machine IR.
    pub fn passes(&self, options: &Options) -> Vec<Listed> {
        let shared = Plan::for_options(&pass_options(options));
        let own = self.plan(options);
        let plans = std::iter::once(shared).chain(own);
        let steps = |plan: Plan| {
            let names = plan.names().into_iter();
            names.filter_map(move |name| plan.pass(name)).map(Pass::listed)
        };
        plans.flat_map(steps).chain(self.machine_passes()).collect()
    }

    /// The passes over machine IR, the lowering first; none for the interpreter.
    fn machine_passes(&self) -> Vec<Listed> {
        self.machine.map_or_else(Vec::new, Machine::machine_passes)
    }

    /// The passes that [`Options::skip`], [`Options::stop_after`] and [`Options::dump_after`] may name.
    pub fn every_pass(&self) -> Vec<Listed> {
        let plan = self.plan(&Options::default());
        let own = plan.iter().flat_map(|plan| plan.own);
        let ssa = gpucc_passes::PASSES.iter().chain(own).map(Pass::listed);
        ssa.chain(self.machine_passes()).collect()
    }
}

fn gate(options: &Options) -> Gate {
    let Options { skip, stop_after, .. } = options;
    Gate { skip: skip.clone(), stop_after: stop_after.clone(), stopped: false }
}

fn pass_options(options: &Options) -> gpucc_passes::Options {
    gpucc_passes::Options {
        level: match options.effort {
            Effort::None => Level::O0,
            Effort::Some => Level::O1,
            Effort::Full => Level::O2,
            Effort::Max => Level::Omax,
        },
        robustness: match options.robust {
            Robust::Restrict => Robustness::Restrict,
            Robust::Zero => Robustness::Zero,
            Robust::Off => Robustness::Off,
        },
        zero_workgroup: !options.keep_workgroup,
        bound_loops: options.bound_loops,
        ..gpucc_passes::Options::default()
    }
}

/// Runs passes; a panic of one becomes an internal error that names it.
fn guarded_passes(
    before: &Func,
    watch: &mut Watch<'_>,
    run: impl FnOnce(&mut Watch<'_>) -> Result<gpucc_passes::Report, RunError>,
) -> Result<(), Failure> {
    let result = {
        let watch = &mut *watch;
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || run(watch)))
    };
    let failure = match result {
        Ok(Ok(report)) => {
            let timed = |ran: &gpucc_passes::Timing| PassTime {
                name: ran.name,
                time: ran.time,
                changed: ran.changed,
            };
            watch.times.extend(report.timings.iter().map(timed));
            return Ok(());
        }
        Ok(Err(error)) => run_error(error),
        Err(payload) => Failure::internal(
            format!("pass {}", watch.current),
            crate::guard::panic_message(payload.as_ref()),
        ),
    };
    Err(attach_ir(failure, before))
}

fn attach_ir(mut failure: Failure, func: &Func) -> Failure {
    if matches!(failure.kind, FailureKind::Internal { .. }) && failure.ir.is_none() {
        failure.ir = Some(crate::front::print(func));
    }
    failure
}

fn run_error(error: RunError) -> Failure {
    match &error {
        RunError::UnknownPass { .. } | RunError::Required { .. } => {
            Failure::usage(error.to_string())
        }
        RunError::Exceeded(exceeded) => (*exceeded).into(),
        RunError::TooDeep { needed, available } => Failure::new(
            FailureKind::Limit {
                what: "nesting of control flow".into(),
                needed: u64::from(*needed),
                available: u64::from(*available),
            },
            Diagnostic::error(error.to_string()),
        ),
        RunError::Broken { pass, message } => Failure::internal(
            if pass.is_empty() { "the front end" } else { pass.as_str() },
            message,
        ),
    }
}

/// SSA after a step.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The step; the first is the `frontend`.
    pub name: &'static str,
    /// What shows that the step is right: whether it may be compared with the one before it.
    pub proof: Proof,
    /// The SSA after it.
    pub func: Func,
}

/// Watches the runner: clock, dumps and kept steps.
struct Watch<'a> {
    start: Instant,
    current: &'static str,
    dump_after: &'a [String],
    dumps: Vec<(String, String)>,
    keep: bool,
    steps: Vec<Kept>,
    /// Instructions of all steps so far.
    kept: usize,
    times: Vec<PassTime>,
}

/// Instructions of kept steps from which on only the last of the exact steps that follow each other is kept.
const MOST_KEPT: usize = 400_000;

impl Watch<'_> {
    fn keep(&mut self, name: &'static str, proof: Proof, func: &Func) {
        self.kept += func.insts.len();
        if self.kept > MOST_KEPT && self.steps.len() > 1 {
            // What follows a step that is left out has nothing to be compared with.
            self.keep &= proof == Proof::Exact;
            if !self.keep {
                return;
            }
            let last = self.steps.pop();
            self.steps.extend(last.filter(|last| last.proof != Proof::Exact));
        }
        self.steps.push(Kept { name, proof, func: func.clone() });
    }
}

impl Observer for Watch<'_> {
    fn before(&mut self, pass: &Pass) {
        self.current = pass.name;
    }
    fn now(&mut self) -> Option<Duration> {
        Some(self.start.elapsed())
    }
    fn after(&mut self, pass: &Pass, func: &Func, changed: bool) {
        if self.dump_after.iter().any(|want| want == pass.name || want == "all") {
            self.dumps.push((pass.name.to_owned(), crate::front::print(func)));
        }
        if self.keep && changed {
            self.keep(pass.name, pass.proof, func);
        }
    }
}

//! The pipeline: a source becomes structured SSA, the shared passes improve it, the back end makes code.

use crate::backend::{Backend, Program};
use crate::guard::guarded;
use crate::pipeline::{Pipeline, Robust};
use crate::{Diagnostic, Failure, FailureKind, Target};
pub use gpucc_ir::driver::Effort;
use gpucc_ir::ssa::{Func, Stage};
use gpucc_passes::{Ctx, Level, Neutral, Observer, Pass, Plan, Robustness, RunError, Runner};
use std::collections::BTreeMap;
use std::sync::Arc;
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
    /// Shared passes to leave out.
    pub skip: Vec<String>,
    /// No optional shared pass after this one.
    pub stop_after: Option<String>,
    /// Rewrites that may happen.
    pub fuel: Option<u64>,
    /// Check the IR after every pass.
    pub verify_each: bool,
    /// State that a driver knows.
    pub pipeline: Pipeline,
    /// Values of overrides by name or id.
    pub overrides: BTreeMap<String, f64>,
    /// Value of every override that has none.
    pub overrides_default: Option<f64>,
    /// Keep the text of the IR after these passes (`all` for every one).
    pub dump_after: Vec<String>,
    /// Keep the text of the machine IR as it was last.
    pub keep_machine_ir: bool,
    /// Keep the SSA before the first and after each shared pass that changed it: for verification.
    pub keep_steps: bool,
}

impl Options {
    /// Values of overrides: those of the pipeline, then those given here.
    fn all_overrides(&self) -> BTreeMap<String, f64> {
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

/// A compiled entry point.
pub struct Compiled {
    /// Entry point.
    pub entry: String,
    /// Stage.
    pub stage: Stage,
    /// Structured SSA after the shared passes.
    pub ssa: Func,
    /// Machine code and all that runs and describes it; `None` for the interpreter.
    pub program: Option<Box<dyn Program>>,
    /// `(pass, text)` as asked for by [`Options::dump_after`].
    pub dumps: Vec<(String, String)>,
    /// `(pass, SSA after it)`, the first with the name `frontend`, as asked for by
    /// [`Options::keep_steps`].
    pub steps: Vec<(&'static str, Func)>,
    /// What was inferred, one note each.
    pub notes: Vec<Diagnostic>,
    /// Times of the shared passes, then of the back end's stages.
    pub times: Vec<PassTime>,
    /// From the end of the front end to the encoded bytes.
    pub compile_time: Duration,
}

/// A compiler for one machine. Immutable: share it between threads as you like.
#[derive(Clone)]
pub struct Compiler {
    target: Target,
    chip: Option<&'static str>,
    backend: Option<Arc<dyn Backend>>,
}

impl Compiler {
    /// A compiler for a target, and for a chip of it (the default chip when `None`).
    ///
    /// # Errors
    /// A target that is not built, a chip that the target does not have.
    pub fn new(target: Target, chip: Option<&str>) -> Result<Compiler, Failure> {
        let chip = match chip {
            None => target.chips().first().copied(),
            Some(name) => Some(
                target
                    .chips()
                    .iter()
                    .copied()
                    .find(|chip| *chip == name)
                    .ok_or_else(|| {
                        Failure::usage(format!("target {} has no chip '{name}'", target.name()))
                    })?,
            ),
        };
        let backend: Option<Arc<dyn Backend>> = match target {
            Target::Interp => None,
            Target::R700 => Some(Arc::new(crate::backend::r700::R700::new(
                gpucc_r700::Family::R700,
                chip.expect("r700 has chips"),
            ))),
            Target::R600 => Some(Arc::new(crate::backend::r700::R700::new(
                gpucc_r700::Family::R600,
                chip.expect("r600 has chips"),
            ))),
            Target::Valhall => Some(Arc::new(crate::backend::valhall::Valhall::new(
                chip.expect("valhall has chips"),
            ))),
            Target::Gen4 | Target::G45 | Target::Rogue => {
                return Err(Failure::not_yet(
                    format!("target {} ({})", target.name(), target.machine()),
                    "the back end",
                ));
            }
        };
        Ok(Compiler {
            target,
            chip,
            backend,
        })
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
        match &self.backend {
            Some(backend) => backend.numerics(),
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
        let start = Instant::now();
        let mut parsed = guarded("the front end", || {
            let overrides = options.all_overrides();
            crate::front::parse(
                source,
                choice,
                &overrides,
                options.overrides_default,
                self.target,
            )
        })?;
        parsed.frontend_time = start.elapsed();
        Ok(parsed)
    }

    /// Compiles one entry point. The same function and options give the same bytes.
    ///
    /// # Errors
    /// [`Failure`] says whose fault it is.
    pub fn compile(&self, func: &Func, options: &Options) -> Result<Compiled, Failure> {
        let start = Instant::now();
        options.pipeline.check().map_err(Failure::usage)?;
        let mut ssa = func.clone();
        let mut watch = Watch {
            start,
            last: "the front end",
            dump_after: &options.dump_after,
            dumps: Vec::new(),
            keep: options.keep_steps,
            steps: Vec::new(),
        };
        if options.keep_steps {
            watch.steps.push(("frontend", func.clone()));
        }
        let mut times = self.optimise(func, &mut ssa, options, &mut watch)?;
        let Watch {
            mut dumps, steps, ..
        } = watch;
        let mut notes = Vec::new();
        let mut program = None;
        if let Some(backend) = &self.backend {
            let name = format!("the {} back end", self.target.name());
            let made = guarded(&name, || backend.compile(&ssa, options))
                .map_err(|failure| attach_ir(failure, &ssa))?;
            notes = made.notes();
            times.extend(made.times().iter().map(|&(name, time)| PassTime {
                name,
                time,
                changed: true,
            }));
            let all = options.dump_after.iter().any(|pass| pass == "all");
            dumps.extend(
                made.dumps()
                    .into_iter()
                    .filter(|(pass, _)| all || options.dump_after.iter().any(|want| want == pass)),
            );
            program = Some(made);
        }
        Ok(Compiled {
            entry: ssa.name.clone(),
            stage: ssa.stage,
            ssa,
            program,
            dumps,
            steps,
            notes,
            times,
            compile_time: start.elapsed(),
        })
    }

    /// Runs the shared passes over `ssa`, a copy of `before`.
    fn optimise(
        &self,
        before: &Func,
        ssa: &mut Func,
        options: &Options,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<PassTime>, Failure> {
        let pass_options = gpucc_passes::Options {
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
        };
        let neutral = Neutral;
        let target: &dyn gpucc_passes::TargetInfo = match &self.backend {
            Some(backend) => backend.info(),
            None => &neutral,
        };
        let mut ctx = Ctx::new(pass_options, self.numerics(), target);
        ctx.fuel = options.fuel;
        let runner = Runner {
            plan: Plan::for_options(&pass_options),
            skip: options.skip.clone(),
            stop_after: options.stop_after.clone(),
            verify_each: options.verify_each,
        };
        let result = {
            let watch = &mut *watch;
            let ssa = &mut *ssa;
            let ctx = &mut ctx;
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
                runner.run(ssa, ctx, watch)
            }))
        };
        match result {
            Ok(Ok(report)) => Ok(report
                .timings
                .iter()
                .map(|timing| PassTime {
                    name: timing.name,
                    time: timing.time,
                    changed: timing.changed,
                })
                .collect()),
            Ok(Err(error)) => Err(attach_ir(run_error(error), before)),
            Err(payload) => Err(attach_ir(
                Failure::internal(
                    format!("the shared pass after {}", watch.last),
                    crate::guard::panic_message(payload.as_ref()),
                ),
                before,
            )),
        }
    }
}

/// Names of the shared passes with what each makes better, in the order of an effort.
pub fn passes(effort: Effort) -> Vec<(&'static str, &'static str)> {
    let level = match effort {
        Effort::None => Level::O0,
        Effort::Some => Level::O1,
        Effort::Full => Level::O2,
        Effort::Max => Level::Omax,
    };
    Plan::for_options(&gpucc_passes::Options {
        level,
        ..gpucc_passes::Options::default()
    })
    .names
    .into_iter()
    .filter_map(|name| gpucc_passes::runner::pass(name))
    .map(|pass| (pass.name, pass.doc))
    .collect()
}

/// Names of every shared pass.
pub fn pass_names() -> Vec<&'static str> {
    gpucc_passes::PASSES.iter().map(|pass| pass.name).collect()
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
        RunError::TooDeep { needed, available } => Failure::new(
            FailureKind::Limit {
                what: "nesting of control flow".into(),
                needed: u64::from(*needed),
                available: u64::from(*available),
            },
            Diagnostic::error(error.to_string()),
        ),
        RunError::Broken { pass, message } => Failure::internal(
            if pass.is_empty() {
                "the front end"
            } else {
                pass.as_str()
            },
            message,
        ),
    }
}

/// Watches the runner: clock, dumps and kept steps.
struct Watch<'a> {
    start: Instant,
    last: &'static str,
    dump_after: &'a [String],
    dumps: Vec<(String, String)>,
    keep: bool,
    steps: Vec<(&'static str, Func)>,
}

impl Observer for Watch<'_> {
    fn after(&mut self, pass: &Pass, func: &Func, changed: bool) {
        self.last = pass.name;
        if self
            .dump_after
            .iter()
            .any(|want| want == pass.name || want == "all")
        {
            self.dumps
                .push((pass.name.to_owned(), crate::front::print(func)));
        }
        if self.keep && changed {
            self.steps.push((pass.name, func.clone()));
        }
    }
    fn now(&mut self) -> Option<Duration> {
        Some(self.start.elapsed())
    }
}

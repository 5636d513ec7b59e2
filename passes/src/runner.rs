//! The one place that runs passes: pipelines as lists of names, and dumping, skipping, stopping,
//! fuel, timing and verification for each of them.

use crate::ctx::{Ctx, Level, Options};
use gpucc_ir::ssa::Func;
use std::time::Duration;

/// A pass by name.
pub struct Pass {
    /// Name on the command line.
    pub name: &'static str,
    /// What it makes better, in one line.
    pub doc: &'static str,
    /// Later stages rely on it: it runs without fuel and cannot be skipped.
    pub required: bool,
    /// Rewrites the function and says whether anything changed.
    pub run: fn(&mut Func, &mut Ctx) -> bool,
}

macro_rules! passes {
    ($( $name:ident, $required:literal, $doc:literal; )+) => {
        /// Every pass, in no particular order.
        pub const PASSES: &[Pass] = &[
            $( Pass {
                name: stringify!($name),
                doc: $doc,
                required: $required,
                run: crate::$name::run,
            }, )+
        ];
    };
}

passes! {
    mem2reg, false, "private variables become values";
    zero_workgroup, true, "workgroup variables start as zeros, and are private where nobody meets";
    bound_loops, true, "no loop runs for ever";
    robust, true, "out-of-range indices become harmless";
    fold, false, "computes at compile time what can be";
    gvn, false, "computes nothing twice";
    dce, false, "removes what nobody needs";
    copy_prop, false, "results and parameters that can only be one value become that value";
    simplify, false, "simpler control flow: constant branches, blocks nobody leaves, loops of one trip";
    demoted, false, "what a demoted invocation would still compute goes, where nobody sees it";
    prune, false, "arms that end nowhere are never taken, for loops end";
    unroll, false, "small loops of a constant number of trips become straight code";
    tables, false, "private arrays that only hold constants become tables in the program";
    scalar_replace, false, "small private arrays indexed at run time become chains of selects";
    join, false, "branches by one condition become one, and what only an arm loads is loaded there";
    forward, false, "loads give what was stored, and stores that nobody reads go";
    licm, false, "what a loop computes afresh each trip is computed once before it";
    strength, false, "division and multiplication by constants become products, shifts and masks";
    algebra, false, "a product and a sum become one fma where that is allowed and cheaper";
    hoist, false, "what both arms compute is computed before them";
    if_convert, false, "small pure arms become selects";
    words, true, "values of 64 and 16 bits become words on machines that hold none";
    exits_to_guards, true, "early leaving becomes guarded code on mask-stack machines";
}

/// What later stages need, and memory promoted so that they need not be slow.
const O0: &[&str] = &[
    "zero_workgroup",
    "bound_loops",
    "robust",
    "mem2reg",
    "exits_to_guards",
    "words",
    "dce",
];

/// Cheap cleaning.
const O1: &[&str] = &[
    "zero_workgroup",
    "fold",
    "mem2reg",
    "copy_prop",
    "fold",
    "simplify",
    "bound_loops",
    "robust",
    "gvn",
    "exits_to_guards",
    "words",
    "copy_prop",
    "fold",
    "dce",
];

/// Everything that pays for itself.
const O2: &[&str] = &[
    "zero_workgroup",
    // Memory and indices become values and constants.
    "fold",
    "simplify",
    "mem2reg",
    "dce",
    "copy_prop",
    "fold",
    "gvn",
    "copy_prop",
    "demoted",
    "simplify",
    "dce",
    "unroll",
    "fold",
    "prune",
    "simplify",
    "mem2reg",
    "bound_loops",
    "robust",
    // What a variable holds is known where it is read.
    "join",
    "forward",
    "tables",
    "scalar_replace",
    "mem2reg",
    "copy_prop",
    "forward",
    "fold",
    "gvn",
    "dce",
    // The tree takes the form that the machine runs.
    "exits_to_guards",
    "copy_prop",
    "fold",
    "simplify",
    "hoist",
    "copy_prop",
    "if_convert",
    "dce",
    "algebra",
    "fold",
    "strength",
    "words",
    "gvn",
    "licm",
    "copy_prop",
    "dce",
];

/// Which passes run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Names out of [`PASSES`]; a pass may stand there several times.
    pub names: Vec<&'static str>,
}

impl Plan {
    /// The pipeline of an optimisation level.
    pub fn for_options(options: &Options) -> Plan {
        let names = match options.level {
            Level::O0 => O0,
            Level::O1 => O1,
            Level::O2 | Level::Omax => O2,
        };
        Plan {
            names: names.to_vec(),
        }
    }
}

/// Finds a pass by name.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}

/// Hears what the runner does. Every method does nothing unless overridden.
pub trait Observer {
    /// A pass has run; this is the function after it. Called for every pass that ran, so the
    /// observer chooses what to dump.
    fn after(&mut self, pass: &Pass, func: &Func, changed: bool) {
        let _ = (pass, func, changed);
    }
    /// The time, from any origin: given, each pass is timed. The library itself reads no clock.
    fn now(&mut self) -> Option<Duration> {
        None
    }
}

/// Hears nothing.
#[derive(Copy, Clone, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}

/// Why the runner stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// A name that no pass has: the caller's error.
    #[error("there is no pass named '{name}'; --passes lists them")]
    UnknownPass {
        /// The name.
        name: String,
    },
    /// A pass that later stages rely on was to be skipped: the caller's error.
    #[error("pass '{name}' cannot be skipped: later stages rely on it")]
    Required {
        /// The name.
        name: String,
    },
    /// The function nests deeper than the passes walk.
    #[error(
        "control flow nests {needed} deep, at most {available} is supported; split the function or flatten its control flow"
    )]
    TooDeep {
        /// Depth of the function.
        needed: u32,
        /// Depth allowed.
        available: u32,
    },
    /// The function was broken before the first pass (`pass` is empty) or by a pass: our bug.
    #[error("the function is broken {}: {message}", if pass.is_empty() { "before the first pass".to_string() } else { format!("after pass '{pass}'") })]
    Broken {
        /// The pass that broke it.
        pass: String,
        /// The verifier's words.
        message: String,
    },
}

/// Regions may nest this deep.
pub use gpucc_ir::ssa::verify::MAX_NESTING;

/// One pass's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The pass.
    pub name: &'static str,
    /// How long it took; zero without a clock.
    pub time: Duration,
    /// It changed something.
    pub changed: bool,
    /// Instruction visits.
    pub steps: u64,
}

/// What happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Passes in the order in which they ran.
    pub timings: Vec<Timing>,
    /// Rewrites drawn from the fuel.
    pub rewrites: u64,
}

/// Runs a plan.
#[derive(Clone, Debug, Default)]
pub struct Runner {
    /// What to run.
    pub plan: Plan,
    /// Passes to leave out.
    pub skip: Vec<String>,
    /// Stop after the first run of this pass. Required passes that stand later still run.
    pub stop_after: Option<String>,
    /// Verify after every pass; debug builds always do.
    pub verify_each: bool,
}

impl Runner {
    /// Runs the plan over one function. A pass that changed nothing does not run again until another has changed
    /// something.
    ///
    /// # Errors
    /// [`RunError`]: unknown names, nesting beyond [`MAX_NESTING`], or a broken function.
    pub fn run(
        &self,
        func: &mut Func,
        ctx: &mut Ctx,
        observer: &mut dyn Observer,
    ) -> Result<Report, RunError> {
        let find = |name: &str| {
            pass(name).ok_or_else(|| RunError::UnknownPass {
                name: name.to_string(),
            })
        };
        for name in &self.skip {
            if find(name)?.required {
                return Err(RunError::Required { name: name.clone() });
            }
        }
        if let Some(name) = &self.stop_after {
            find(name)?;
        }
        let needed = func
            .regions_in_order()
            .iter()
            .map(|&(.., depth)| depth)
            .max()
            .unwrap_or(0);
        if needed > MAX_NESTING {
            return Err(RunError::TooDeep {
                needed,
                available: MAX_NESTING,
            });
        }
        let verify = self.verify_each || cfg!(debug_assertions);
        if verify {
            check(func, "")?;
        }
        let mut report = Report::default();
        ctx.guarded = false;
        ctx.bounded = false;
        let before = ctx.rewrites;
        let mut stopped = false;
        // Passes that found nothing to do in the function as it is now: they would find nothing again.
        let mut idle: Vec<&'static str> = Vec::new();
        for &name in &self.plan.names {
            let pass = find(name)?;
            let optional_off =
                stopped || ctx.out_of_fuel() || self.skip.iter().any(|skip| skip == name);
            if optional_off && !pass.required {
                continue;
            }
            if idle.contains(&name) {
                stopped |= self.stop_after.as_deref() == Some(name);
                continue;
            }
            let (start, steps) = (observer.now(), ctx.steps);
            let changed = (pass.run)(func, ctx);
            let time = match (start, observer.now()) {
                (Some(start), Some(end)) => end.saturating_sub(start),
                _ => Duration::ZERO,
            };
            report.timings.push(Timing {
                name: pass.name,
                time,
                changed,
                steps: ctx.steps - steps,
            });
            match changed {
                true => idle.clear(),
                false => idle.push(name),
            }
            observer.after(pass, func, changed);
            if verify && changed {
                check(func, name)?;
            }
            stopped |= self.stop_after.as_deref() == Some(name);
        }
        report.rewrites = ctx.rewrites - before;
        Ok(report)
    }
}

fn check(func: &Func, pass: &str) -> Result<(), RunError> {
    gpucc_ir::ssa::verify::verify(func).map_err(|broken| RunError::Broken {
        pass: pass.to_string(),
        message: broken.to_string(),
    })
}

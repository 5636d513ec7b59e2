//! The one place that runs passes: pipelines as lists of names, and dumping, skipping, stopping,
//! fuel, timing and verification for each of them.

use crate::ctx::{Ctx, Level, Options};
pub use crate::pass::{Gate, Proof};
use gpucc_ir::budget::{ENTRY, Exceeded};
use gpucc_ir::ssa::verify::{Broken, bounds, verify};
use gpucc_ir::ssa::{Bounds, Func};
use std::time::Duration;

/// What runs a pass over SSA: it rewrites the function and says whether anything changed.
pub type Run = fn(&mut Func, &mut Ctx) -> bool;
/// A pass over SSA.
pub type Pass = crate::pass::Pass<Run>;

/// A pass that may be skipped.
pub const fn optional(name: &'static str, proof: Proof, doc: &'static str, run: Run) -> Pass {
    Pass { name, doc, required: false, proof, run }
}

/// A pass that later stages rely on.
pub const fn required(name: &'static str, proof: Proof, doc: &'static str, run: Run) -> Pass {
    Pass { required: true, ..optional(name, proof, doc, run) }
}

macro_rules! passes {
    ($( $name:ident, $required:literal, $proof:expr, $doc:literal; )+) => {
        /// Every shared pass, in no particular order.
        pub const PASSES: &[Pass] = &[
            $( Pass {
                name: stringify!($name),
                doc: $doc,
                required: $required,
                proof: $proof,
                run: crate::$name::run,
            }, )+
        ];
    };
}

passes! {
    mem2reg, false, Proof::Exact, "private variables become values";
    interface, false, Proof::Licence("WebGPU 10.3, pipeline interfaces: what nothing behind a stage takes is dropped"),
        "outputs that no colour target and no later stage of the pipeline takes are not computed";
    zero_workgroup, true, Proof::Exact, "workgroup variables start as zeros, and are private where nobody meets";
    bound_loops, true, Proof::Exact, "no loop runs for ever";
    robust, true, Proof::Exact, "out-of-range indices become harmless";
    fold, false, Proof::Exact, "computes at compile time what can be";
    relaxed_fold, false, Proof::Licence("WGSL, differences from IEEE-754, reassociation and fusion: no NaN, no sign of zero, regrouped constants"),
        "computes at compile time what the language's freedoms let be";
    gvn, false, Proof::Exact, "computes nothing twice";
    dce, false, Proof::Exact, "removes what nobody needs";
    copy_prop, false, Proof::Exact, "results and parameters that can only be one value become that value";
    simplify, false, Proof::Exact, "simpler control flow: constant branches, blocks nobody leaves, loops of one trip";
    demoted, false, Proof::Exact, "what a demoted invocation would still compute goes, where nobody sees it";
    prune, false, Proof::Exact, "arms that end nowhere are never taken, for loops end";
    unroll, false, Proof::Exact, "small loops of a constant number of trips become straight code";
    tables, false, Proof::Exact, "private arrays that only hold constants become tables in the program";
    scalar_replace, false, Proof::Exact, "small private arrays indexed at run time become chains of selects";
    join, false, Proof::Exact, "branches by one condition become one, and what only an arm loads is loaded there";
    forward, false, Proof::Exact, "loads give what was stored, and stores that nobody reads go";
    licm, false, Proof::Exact, "what a loop computes afresh each trip is computed once before it";
    settle_loops, false, Proof::Licence("WGSL: a loop ends"),
        "loops without effects leave with what is known before them";
    join_exits, false, Proof::Exact, "exits near the end of a loop that leave with the same values leave together";
    signs, false, Proof::Exact, "what is never negative is divided as unsigned";
    strength, false, Proof::Exact, "division and multiplication by constants become products, shifts and masks";
    algebra, false, Proof::Exact, "a product and a sum become one fma where that is allowed and cheaper";
    hoist, false, Proof::Exact, "what both arms compute is computed before them";
    if_convert, false, Proof::Exact, "small pure arms become selects";
    words, true, Proof::Exact, "values of 64 and 16 bits become words on machines that hold none";
    exits_to_guards, true, Proof::Exact, "early leaving becomes guarded code on mask-stack machines";
}

/// What later stages need, and memory promoted so that they need not be slow.
const O0: &[Step] = &sequence([
    "zero_workgroup",
    "bound_loops",
    "robust",
    "mem2reg",
    "exits_to_guards",
    "words",
    "dce",
]);

/// Cheap cleaning.
const O1: &[Step] = &sequence([
    "interface",
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
]);

/// Everything that pays for itself.
const O2: &[Step] = &sequence([
    "interface",
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
    "settle_loops",
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
    // Loops that stood in one that is gone may have constant counters now.
    "unroll",
    "forward",
    "fold",
    "gvn",
    "dce",
    // The tree takes the form that the machine runs.
    "exits_to_guards",
    "copy_prop",
    "fold",
    "simplify",
    // Arms that were decided since are not in the way any more.
    "forward",
    "hoist",
    "copy_prop",
    "if_convert",
    "dce",
    "algebra",
    "fold",
    "signs",
    "strength",
    "words",
    "gvn",
    "licm",
    "join_exits",
    "copy_prop",
    "dce",
]);

/// Passes that a change leaves without work: where those after the name found nothing to do, they find nothing behind a
/// change by it either, or so little that looking does not pay.
const LEAVES_IDLE: &[(&str, &[&str])] = &[
    // Copies are found in one walk, so a second one finds none.
    ("copy_prop", &["copy_prop", "mem2reg", "bound_loops", "words"]),
    // What goes was needed by nobody, so no other value is known better.
    ("dce", &["dce", "copy_prop", "gvn", "mem2reg", "bound_loops", "strength", "signs", "words"]),
    ("gvn", &["gvn", "mem2reg", "bound_loops", "words"]),
    ("mem2reg", &["mem2reg", "bound_loops", "words"]),
];

/// Passes that look at constructs alone: a body without any gives them nothing to do.
const OF_CONSTRUCTS: u64 = bits(&[
    "copy_prop",
    "hoist",
    "if_convert",
    "join",
    "join_exits",
    "licm",
    "settle_loops",
    "simplify",
    "unroll",
]);

/// By number of a pass: those that its changes leave idle, a bit each.
const STAY: [u64; PASSES.len()] = {
    let mut stay = [0; PASSES.len()];
    let mut at = 0;
    while at < LEAVES_IDLE.len() {
        stay[number(LEAVES_IDLE[at].0)] = bits(LEAVES_IDLE[at].1);
        at += 1;
    }
    stay
};

/// Shared passes, a bit each by number.
const fn bits(names: &[&str]) -> u64 {
    let mut bits = 0;
    let mut at = 0;
    while at < names.len() {
        assert!(number(names[at]) < PASSES.len());
        bits |= 1 << number(names[at]);
        at += 1;
    }
    bits
}

/// The number of a shared pass, or how many there are for a pass of a machine's own.
const fn number(name: &str) -> usize {
    let mut number = 0;
    while number < PASSES.len() {
        let (a, b) = (PASSES[number].name.as_bytes(), name.as_bytes());
        let mut same = 0;
        while same < a.len() && same < b.len() && a[same] == b[same] {
            same += 1;
        }
        if same == a.len() && same == b.len() {
            break;
        }
        number += 1;
    }
    number
}

/// One entry of a plan.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Name of a pass.
    pub name: &'static str,
    /// Its number among [`PASSES`], or how many these are.
    number: usize,
    /// It cleans up after the last step that is not such a one, and runs only where that changed something.
    pub cleans: bool,
}

/// A step that always runs. The pass is looked up here: plans are best written as constants.
pub const fn step(name: &'static str) -> Step {
    Step { name, number: number(name), cleans: false }
}

/// Such steps.
pub const fn sequence<const N: usize>(names: [&'static str; N]) -> [Step; N] {
    let mut steps = [Step { name: "", number: PASSES.len(), cleans: false }; N];
    let mut at = 0;
    while at < N {
        steps[at] = step(names[at]);
        at += 1;
    }
    steps
}

/// A step that runs only after a change by the last [`step`].
pub const fn cleans(name: &'static str) -> Step {
    Step { cleans: true, ..step(name) }
}

/// What a machine's plan does behind its expansions to use up the source language's freedoms. `decide_ranges` is a pass
/// of the machine's own.
pub const FREEDOMS: [Step; 5] = [
    step("gvn"),
    step("relaxed_fold"),
    step("decide_ranges"),
    cleans("relaxed_fold"),
    step("simplify"),
];

/// Which passes run, in order.
#[derive(Clone, Default)]
pub struct Plan {
    /// Steps; a pass may stand there several times.
    pub steps: Vec<Step>,
    /// Passes that the steps may name beside [`PASSES`]: a machine's own.
    pub own: &'static [Pass],
}

impl Plan {
    /// The pipeline of an optimisation level.
    pub fn for_options(options: &Options) -> Plan {
        let steps = match options.level {
            Level::O0 => O0,
            Level::O1 => O1,
            Level::O2 | Level::Omax => O2,
        };
        Plan { steps: steps.to_vec(), own: &[] }
    }

    /// Shared passes by name.
    pub fn of(names: &[&'static str]) -> Plan {
        Plan { steps: names.iter().map(|&name| step(name)).collect(), own: &[] }
    }

    /// Names in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.steps.iter().map(|step| step.name).collect()
    }

    /// Finds a pass by name: a machine's own, or a shared one.
    pub fn pass(&self, name: &str) -> Option<&'static Pass> {
        self.own.iter().chain(PASSES).find(|pass| pass.name == name)
    }

    /// The pass of a step, and its number: those of a machine's own come behind the shared ones.
    fn find(&self, step: &Step) -> Option<(usize, &'static Pass)> {
        if let Some(pass) = PASSES.get(step.number) {
            return Some((step.number, pass));
        }
        let own = self.own.iter().position(|pass| pass.name == step.name)?;
        Some((PASSES.len() + own, &self.own[own]))
    }
}

/// Finds a shared pass by name.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}

/// Hears what the runner does. Every method does nothing unless overridden.
pub trait Observer {
    /// A pass begins.
    fn before(&mut self, pass: &Pass) {
        let _ = pass;
    }
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
    #[error("there is no pass '{name}'; --passes lists them")]
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
    /// The function grew, or took more work, than the budget has.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
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
    /// From the end of the pass before to its own; zero without a clock.
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

/// Runs plans: the shared one, then what a machine adds.
#[derive(Clone, Debug, Default)]
pub struct Runner {
    /// Passes to leave out, and the last one; required passes that stand later still run.
    pub gate: Gate,
    /// Verify before the first pass and after every pass; debug builds always do. Before `robust` every build checks that
    /// each access is in range or marked.
    pub verify_each: bool,
}

impl Runner {
    fn checks(&self) -> bool {
        self.verify_each || cfg!(debug_assertions)
    }

    /// Runs the first plan over one function, which must be sound. A pass that changed nothing does not run again
    /// until another has changed something that may matter to it.
    ///
    /// # Errors
    /// [`RunError`]: nesting beyond [`MAX_NESTING`], or a broken function.
    pub fn run(
        &mut self,
        plan: &Plan,
        func: &mut Func,
        ctx: &mut Ctx,
        observer: &mut dyn Observer,
    ) -> Result<Report, RunError> {
        let needed = func.regions_in_order().iter().map(|&(.., depth)| depth).max().unwrap_or(0);
        if needed > MAX_NESTING {
            return Err(RunError::TooDeep { needed, available: MAX_NESTING });
        }
        if self.checks() {
            check(func, "")?;
        }
        self.gate.stopped = false;
        ctx.guarded = false;
        ctx.bounded = false;
        ctx.unrolled = false;
        ctx.settled = Default::default();
        ctx.idle = 0;
        self.go_on(plan, func, ctx, observer)
    }

    /// Runs a further plan over a function that [`Runner::run`] has taken, with what is left of the fuel.
    ///
    /// # Errors
    /// As of [`Runner::run`].
    pub fn go_on(
        &mut self,
        plan: &Plan,
        func: &mut Func,
        ctx: &mut Ctx,
        observer: &mut dyn Observer,
    ) -> Result<Report, RunError> {
        let verify = self.checks();
        let mut report = Report::default();
        let before = ctx.rewrites;
        // The pass that changed something last.
        let mut last = "";
        // Passes of the machine's own, from the number of shared ones on; see `Ctx::idle`.
        ctx.idle &= u64::MAX >> (u64::BITS as usize - PASSES.len());
        report.timings.reserve(plan.steps.len());
        let mut clock = observer.now();
        let mut to_clean = false;
        // The body has no construct, where that was asked since the last change.
        let mut straight: Option<bool> = None;
        for step in &plan.steps {
            let Step { name, cleans, .. } = *step;
            let (number, pass) =
                plan.find(step).ok_or_else(|| RunError::UnknownPass { name: name.to_string() })?;
            if cleans && !to_clean {
                continue;
            }
            // A pass beyond the last bit always runs.
            let bit = 1u64.checked_shl(number as u32).unwrap_or(0);
            let optional_off = ctx.out_of_fuel() || !self.gate.admits(name);
            let mut changed = false;
            if !optional_off || pass.required {
                let nothing = ctx.idle & bit != 0
                    || OF_CONSTRUCTS & bit != 0
                        && *straight.get_or_insert_with(|| func.is_straight());
                if !nothing {
                    if name == "robust" && func.bounds == Bounds::Marked {
                        // From here on nothing says any more which accesses were in range.
                        bounds::check(func).map_err(|broken| broken_after(last, &broken))?;
                    }
                    changed = one(pass, func, ctx, observer, &mut report, &mut clock);
                    charge(func, ctx, changed)?;
                    if changed {
                        let stay = STAY.get(number).copied().unwrap_or(0);
                        ctx.idle = (ctx.idle | bit) & stay;
                        last = name;
                        straight = None;
                    } else {
                        ctx.idle |= bit;
                    }
                    if verify && changed {
                        check(func, name)?;
                    }
                }
                self.gate.ran(name);
            }
            if !cleans {
                to_clean = changed;
            }
        }
        report.rewrites = ctx.rewrites - before;
        Ok(report)
    }
}

/// Asks the budget for what the passes have made and done.
fn charge(func: &Func, ctx: &Ctx, changed: bool) -> Result<(), RunError> {
    let budget = ctx.budget;
    if changed {
        budget.hold("instructions", func.insts.len() as u64, ENTRY)?;
    }
    budget.work("instructions visited by passes", ctx.steps)?;
    Ok(())
}

/// Runs one pass, from what the observer's clock showed last to what it shows then.
fn one(
    pass: &Pass,
    func: &mut Func,
    ctx: &mut Ctx,
    observer: &mut dyn Observer,
    report: &mut Report,
    clock: &mut Option<Duration>,
) -> bool {
    observer.before(pass);
    let steps = ctx.steps;
    let changed = (pass.run)(func, ctx);
    let now = observer.now();
    let time = match (std::mem::replace(clock, now), now) {
        (Some(start), Some(end)) => end.saturating_sub(start),
        _ => Duration::ZERO,
    };
    report.timings.push(Timing { name: pass.name, time, changed, steps: ctx.steps - steps });
    observer.after(pass, func, changed);
    changed
}

fn check(func: &Func, pass: &str) -> Result<(), RunError> {
    verify(func).map_err(|broken| broken_after(pass, &broken))
}

fn broken_after(pass: &str, broken: &Broken) -> RunError {
    RunError::Broken { pass: pass.to_string(), message: broken.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctx::Neutral;
    use gpucc_ir::ssa::{Numerics, parse};

    #[test]
    fn what_looks_at_constructs_finds_nothing_in_a_straight_body() {
        let text = "func \"main\" fragment { in0 = \"x\" f32 x 4 location 0 perspective center } body {\n\
             %0: b32 = input in0.0 %1: b32 = input in0.1 %2: b1 = flt %0, %1\n\
             %3: b32 = const 0x3f800000 %4: b32 = fadd %0, %3 %5: b32 = fadd %0, %3\n\
             %6: b32 = select %2, %4, %5 demote yield }";
        let mut func = parse(text).expect("it parses").funcs.remove(0);
        let before = func.to_string();
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        assert!(func.is_straight());
        for (number, pass) in PASSES.iter().enumerate() {
            if OF_CONSTRUCTS >> number & 1 != 0 {
                assert!(!(pass.run)(&mut func, &mut ctx), "{}", pass.name);
            }
        }
        assert_eq!(func.to_string(), before);
    }
}

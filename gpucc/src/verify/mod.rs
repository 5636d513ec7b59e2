//! Verification: the encoded bytes, run on the strict emulator, against the reference interpreter.
//!
//! # What is proved
//! 1. **Bits.** The interpreter runs the SSA after the machine's expansions under its numeric model;
//!    the emulator runs the bytes. Every compared word is equal, and NaN equals NaN.
//! 2. **Passes.** The interpreter runs the SSA before and after each exact step, of the shared passes and of the
//!    machine's, under one model, and every compared word is equal. Steps that use a freedom of the language, and
//!    expansions, may change what is computed of floats ([`gpucc_passes::Proof`]). What is not computed of floats is compared
//!    between the SSA that came in and the SSA after the machine's expansions.
//! 3. **Freedoms of the machine** ([`Plan::orders`], [`Plan::errors`]). The bytes run again in other orders, and on a machine whose
//!    approximated functions err within their bounds. Words that depend on no such function in the source stay what they
//!    are. All words are what the interpreter gives whose functions err alike, instruction by instruction.
//! 4. **Whole colours** ([`Plan::whole`]). Of colours that a program packs for its targets, the bits are what the formats hold.
//!    The same entry point compiled without targets is proved besides: it leaves whole words, which are equal. Those are other
//!    bytes. This proof is judged by itself ([`Summary::whole`]), and a machine may have no room for it.
//!
//! # What is left out
//! Words whose value depends on the order of invocations, as the interpreter's marks say; helper
//! pixels; runs that take more than a million steps. Where workgroups write the same words, so that too few can be
//! compared, one workgroup runs alone besides.
//!
//! # What is no proof
//! A verification proves nothing, and fails with exit code 5, where
//! - fewer than half of its inputs could be compared to the end,
//! - it compared none of the words that the reference wrote,
//! - it compared fewer than [`SHARE`] percent of them, or
//! - one of these holds for the proof of whole colours by itself.
//!
//! The words that the reference wrote are those of storage buffers and storage textures that it stored to,
//! all components of outputs, the discard bit of every covered pixel, and of each primitive of a geometry program how many
//! vertices it emits and where strips begin.
//!
//! # How long it takes
//! All runs of one verification together take at most [`Plan::steps`] steps, and each input at most its
//! share of what is left. An input that needs more is out of steps. The proof of whole colours has what the first one left.

mod compare;
pub mod inputs;
mod locate;
pub mod random;
mod resources;
mod summary;
mod whole;

use crate::compiler::{Compiled, Compiler, Options};
use crate::execute::{
    Executor, FragmentOut, PrimitiveOut, Stop, VertexOut, VertexRun, interp as run,
};
use crate::pipeline::Robust;
use crate::{Failure, SourceText};
use compare::{Comparison, Recorded, WordId, Written};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::interp::{self, Excluded, Inexact, Lanes, Outcome};
use gpucc_ir::ssa::numerics::Perturbation;
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{Builtin, Func, Imm, Inst, Numerics, OutputKind, Span, Stage, World};
use gpucc_machine::Errors;
use inputs::{Case, GROUPS, SIZES, Sizes, StageCase};
pub use summary::{Difference, SHARE, Summary, Whole};

/// Interpreted instructions, counted once for all invocations, after which an input is given up.
const LONGEST_RUN: u64 = 1_000_000;
/// Steps that the proof of one entry point may take unless told otherwise: at most about ten seconds of them. See
/// [`Executor::set_steps`].
pub const STEPS: u64 = 6_000_000;
/// Inputs on which every single pass is compared unless told otherwise; on the others the first is
/// compared with the last.
const PASS_INPUTS: u32 = 4;
/// A machine may take so many steps for each that the reference took, and [`START`] besides.
const SLOWER: u64 = 256;
/// See [`SLOWER`].
const START: u64 = 100_000;

/// What a verification tries.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Inputs.
    pub inputs: u32,
    /// Number of the first: it decides what kind of input each is ([`inputs::kind`]).
    pub first: u32,
    /// Seed.
    pub seed: u64,
    /// Sizes.
    pub sizes: Sizes,
    /// Steps that interpreter and machine may take together.
    pub steps: u64,
    /// Inputs on which every single pass is compared.
    pub pass_inputs: u32,
    /// Times that the bytes run again on each input, in other orders of what the machine leaves open.
    pub orders: u32,
    /// Times that the bytes run again on each input where approximated functions err.
    pub errors: u32,
    /// Where the program leaves less of its colours than their words, the same entry point compiled without targets is
    /// proved besides, which leaves their words.
    pub whole: bool,
}

impl Plan {
    /// So many inputs of a seed, everything else as usual.
    pub const fn new(inputs: u32, seed: u64) -> Plan {
        Plan {
            inputs,
            first: 0,
            seed,
            sizes: SIZES,
            steps: STEPS,
            pass_inputs: PASS_INPUTS,
            orders: 0,
            errors: 0,
            whole: false,
        }
    }
}

/// Everything that a run may change and that is compared.
struct Results {
    bindings: Bindings,
    written: Written,
    vertices: Vec<VertexOut>,
    primitives: Vec<PrimitiveOut>,
    pixels: Vec<FragmentOut>,
}

/// The reference's results and what of them must not be compared.
struct Reference {
    results: Results,
    excluded: Excluded,
    atomics: bool,
    beyond: Option<Inst>,
    steps: u64,
}

/// Verifies a compiled entry point on `inputs` inputs.
///
/// # Errors
/// A shader that cannot be run, or code that breaks a rule of the machine (our bug). Mismatches are
/// no error: they stand in the summary.
pub fn verify(
    compiler: &Compiler,
    compiled: &Compiled,
    source: &SourceText,
    options: &Options,
    count: u32,
    seed: u64,
) -> Result<Summary, Failure> {
    let plan = Plan { whole: true, ..Plan::new(count, seed) };
    verify_plan(compiler, compiled, source, options, &plan)
}

/// [`verify`] by a plan.
///
/// # Errors
/// As of [`verify`].
pub fn verify_plan(
    compiler: &Compiler,
    compiled: &Compiled,
    source: &SourceText,
    options: &Options,
    asked: &Plan,
) -> Result<Summary, Failure> {
    let mut summary = plan(compiler, compiled, source, options, asked)?;
    if asked.whole {
        whole::prove(compiler, compiled, source, options, asked, &mut summary)?;
    }
    Ok(summary)
}

/// The SSA that came in, or what the shared passes made of it where the steps were not kept.
fn original(compiled: &Compiled) -> &Func {
    compiled.steps.first().map_or(&compiled.ssa, |step| &step.func)
}

/// The proof of one program.
fn plan(
    compiler: &Compiler,
    compiled: &Compiled,
    source: &SourceText,
    options: &Options,
    plan: &Plan,
) -> Result<Summary, Failure> {
    let original = original(compiled);
    let mut proof = Proof {
        compiler,
        compiled,
        source,
        options,
        numerics: compiler.numerics(),
        left: 0,
        plan: *plan,
        summary: Summary {
            entry: crate::printable(&compiled.entry),
            invocations: inputs::invocations(original),
            inputs: plan.inputs,
            steps: plan.steps,
            ..Summary::default()
        },
    };
    let mut left = plan.steps;
    for index in 0..plan.inputs {
        let vertex = options.pipeline.vertex.as_ref();
        let number = plan.first.wrapping_add(index);
        let mut case = Case::new(original, vertex, plan.seed, number, &plan.sizes)?;
        if compiled.program.as_ref().is_some_and(|program| program.interpolates()) {
            case = case.on_planes(original);
        }
        if let Some(program) = &compiled.program {
            case.restrict(original, |sampler, words| program.restrict(sampler, words));
        }
        let share = left / u64::from(plan.inputs - index);
        proof.left = share;
        let found = proof.input(&case, number, index < plan.pass_inputs);
        let asks = matches!(found, Ok(Some(_)) | Err(Stop::Illegal { .. }))
            && options.robust == Robust::Off;
        let leaves_at = asks.then(|| proof.leads_beyond(&case)).flatten();
        left -= share - proof.left;
        let summary = &mut proof.summary;
        summary.taken = plan.steps - left;
        if let Some(at) = leaves_at {
            summary.undefined += 1;
            summary.leaves_at.get_or_insert(at);
            continue;
        }
        match found {
            Ok(None) => summary.counted += 1,
            Ok(Some(difference)) => {
                summary.counted += 1;
                summary.mismatches += 1;
                summary.first.get_or_insert(difference);
            }
            Err(Stop::OutOfSteps(_)) => summary.out_of_steps += 1,
            Err(stop) => return Err(stop.into_failure()),
        }
    }
    Ok(proof.summary)
}

/// SSA that the reference interpreter runs.
#[derive(Copy, Clone)]
struct Step<'a> {
    name: &'static str,
    /// It gives what the step before it gives, to the bit.
    exact: bool,
    func: &'a Func,
}

/// A verification under way.
struct Proof<'a> {
    compiler: &'a Compiler,
    compiled: &'a Compiled,
    source: &'a SourceText,
    options: &'a Options,
    numerics: Numerics,
    /// Steps that the input may still take.
    left: u64,
    plan: Plan,
    summary: Summary,
}

impl Proof<'_> {
    /// One input: the first difference, if there is one.
    fn input(
        &mut self,
        case: &Case,
        number: u32,
        every_pass: bool,
    ) -> Result<Option<Difference>, Stop> {
        let steps = self.steps();
        let (owed, proved) = (self.summary.owed, self.summary.proved);
        let alone = steps.len() == 1 && self.compiled.program.is_some();
        // The first, and the last that must equal it.
        let exact = steps[1..].iter().take_while(|step| step.exact).count();
        let ends = match exact {
            0 => steps[..1].to_vec(),
            _ => vec![steps[0], steps[exact]],
        };
        // One that is alone has nothing to differ from.
        if !alone && let Some(difference) = self.chain(&ends, case, number)? {
            // Which pass it was is worth knowing, but not owed.
            let single = self.chain(&steps, case, number);
            return Ok(Some(single.ok().flatten().unwrap_or(difference)));
        }
        if let Some(difference) = self.bits(case, number, every_pass)? {
            return Ok(Some(difference));
        }
        let (owed, proved) = (self.summary.owed - owed, self.summary.proved - proved);
        if proved * 100 < owed * SHARE
            && let StageCase::Compute(groups) = case.stage
            && groups != [1; 3]
        {
            // Workgroups that write the same words: what one of them writes is known.
            let one = Case { stage: StageCase::Compute([1; 3]), ..case.clone() };
            let found = match self.chain(if alone { &[] } else { &ends }, &one, number) {
                Ok(None) => self.bits(&one, number, every_pass),
                found => found,
            };
            match found {
                Ok(Some(mut difference)) => {
                    difference.place += " (one workgroup)";
                    return Ok(Some(difference));
                }
                // All of them are compared as far as can be.
                Ok(None) | Err(Stop::OutOfSteps(_)) => {}
                Err(stop) => return Err(stop),
            }
        }
        if every_pass && steps.len() > 2 {
            match self.chain(&steps, case, number) {
                // First, last and bytes are compared.
                Err(Stop::OutOfSteps(_)) => self.summary.passes_cut += 1,
                found => return found,
            }
        }
        Ok(None)
    }

    /// Each of these that is exact against the one before it; the interpreter's own against itself.
    fn chain(
        &mut self,
        steps: &[Step<'_>],
        case: &Case,
        number: u32,
    ) -> Result<Option<Difference>, Stop> {
        let mut before: Option<Reference> = None;
        for &Step { name, exact, func } in steps {
            let viewed = case.viewed_by(func);
            let after = self.reference(func, &viewed)?;
            if let Some(before) = &before {
                let mut comparison = Comparison::new(func, number, format!("after pass {name}"));
                if exact {
                    comparison.results(&before.results, &after.results, &before.excluded, &viewed);
                }
                if let Some(found) = self.located(comparison, func, &viewed) {
                    return Ok(Some(found));
                }
            } else if after.atomics
                && let Some(difference) = self.one_invocation(steps, case, number)?
            {
                return Ok(Some(difference));
            }
            before = Some(after);
        }
        if let (None, Some(reference), [.., last]) = (&self.compiled.program, &before, steps)
            && steps.len() <= 2
        {
            let mut comparison = Comparison::new(last.func, number, String::new());
            let results = &reference.results;
            comparison.results(results, results, &reference.excluded, case);
            self.count(&comparison, &reference.excluded);
        }
        Ok(None)
    }

    /// What the expansions made of the source, where no float is computed: integers, memory, texels and choices between them
    /// stay what they are, whatever a machine makes them of.
    fn expansions(
        &mut self,
        reference: &Reference,
        case: &Case,
        number: u32,
    ) -> Result<Option<Difference>, Stop> {
        let Some(program) = &self.compiled.program else {
            return Ok(None);
        };
        let (source, expanded) = (original(self.compiled), program.expanded());
        let case = case.viewed_by(source);
        let Reference { results, mut excluded, .. } =
            self.reference_without(source, &case, Inexact::Floats)?;
        excluded.join(&reference.excluded);
        let stored = stored(expanded);
        for (at, lanes) in excluded.outputs.iter_mut().enumerate() {
            // Targets and later stages leave some of them out.
            if stored.get(at) != Some(&true) {
                lanes.fill(true);
            }
        }
        // Points have widths that the machine draws.
        let width = OutputKind::Builtin(Builtin::PointSize);
        for (lanes, data) in excluded.outputs.chunks_mut(4).zip(expanded.outputs.values()) {
            if data.kind == width {
                lanes.iter_mut().for_each(|lanes| lanes.fill(true));
            }
        }
        let mut comparison = Comparison::new(expanded, number, "after the expansions".into());
        let fragment = self.options.pipeline.fragment.as_ref();
        if fragment.and_then(|fragment| fragment.samples).unwrap_or(1) == 1 {
            comparison.samples = 1;
        }
        comparison.results(&results, &reference.results, &excluded, &case);
        Ok(self.located(comparison, expanded, &case))
    }

    /// The bytes against the SSA after the machine's expansions; and that against the source.
    fn bits(
        &mut self,
        case: &Case,
        number: u32,
        from_source: bool,
    ) -> Result<Option<Difference>, Stop> {
        let Some(program) = &self.compiled.program else {
            return Ok(None);
        };
        let expanded = program.expanded();
        let viewed = case.viewed_by(expanded);
        let given = case;
        let case = &viewed;
        let reference = self.reference(expanded, case)?;
        // Other rules than clamping let an access out of bounds give anything.
        if from_source && self.options.robust == Robust::Restrict {
            match self.expansions(&reference, given, number) {
                Ok(None) | Err(Stop::OutOfSteps(_)) => {}
                found => return found,
            }
        }
        let name = self.compiler.target().name();
        for order in 0..=self.plan.orders {
            let mut executor = program.executor(self.source);
            let mut who = format!("on {name}");
            if order > 0 {
                executor.set_order(self.drawn(order));
                who += &format!(" in order {order}");
            }
            let found = self.run(&mut executor, &reference, who, case, number)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let Some(errors) = program.errors().filter(|_| self.plan.errors > 0) else {
            return Ok(None);
        };
        let exact = self.without_approximated(reference, case)?;
        let (owed, proved, racy) =
            (self.summary.owed, self.summary.proved, self.summary.racy_words);
        for draw in 1..=self.plan.errors {
            let found = self.erring(errors, self.drawn(draw), &exact, case, number)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        // What cannot be compared here was compared above.
        (self.summary.owed, self.summary.proved, self.summary.racy_words) = (owed, proved, racy);
        Ok(None)
    }

    /// What an adversarial run draws.
    fn drawn(&self, number: u32) -> u64 {
        Rng::new(self.plan.seed ^ u64::from(number)).bits() | 1
    }

    /// One run of the bytes on a machine whose approximated functions err, against the interpreter that errs alike. What depends
    /// on none of them must be what it was.
    fn erring(
        &mut self,
        errors: Errors,
        seed: u64,
        exact: &Reference,
        case: &Case,
        number: u32,
    ) -> Result<Option<Difference>, Stop> {
        let Some(program) = &self.compiled.program else {
            return Ok(None);
        };
        let expanded = program.expanded();
        let perturbation = Perturbation { seed, ..errors.bounds };
        let mut executor = program.executor(self.source);
        executor.set_errors(Some(perturbation));
        let who = format!("on {} where functions err", self.compiler.target().name());
        let numerics = self.numerics;
        self.numerics = numerics.perturbed(perturbation);
        let mut erring = case.clone();
        if errors.reciprocal_w
            && let StageCase::Fragment(batch) = &mut erring.stage
        {
            for w in batch.quads.iter_mut().flat_map(|quad| &mut quad.position).map(|p| &mut p[3]) {
                *w = f32::from_bits(self.numerics.rcp((1.0 / *w).to_bits()));
            }
        }
        let alike = self.reference(expanded, &erring);
        self.numerics = numerics;
        let alike = alike?;
        let mut comparison = Comparison::new(expanded, number, "where functions err".into());
        comparison.results(&exact.results, &alike.results, &exact.excluded, case);
        match self.located(comparison, expanded, case) {
            None => self.run(&mut executor, &alike, who, case, number),
            found => Ok(found),
        }
    }

    /// The reference without what depends on approximated functions, as the source has it: a back end may compute a quotient
    /// of integers by way of a reciprocal, which must not show.
    fn without_approximated(
        &mut self,
        reference: Reference,
        case: &Case,
    ) -> Result<Reference, Stop> {
        let source = original(self.compiled);
        let case = case.viewed_by(source);
        let Reference { excluded, .. } =
            self.reference_without(source, &case, Inexact::Functions)?;
        Ok(Reference { excluded, ..reference })
    }

    /// One run of the bytes against the reference.
    fn run(
        &mut self,
        executor: &mut Executor,
        reference: &Reference,
        who: String,
        case: &Case,
        number: u32,
    ) -> Result<Option<Difference>, Stop> {
        let Some(program) = &self.compiled.program else {
            return Ok(None);
        };
        let expanded = program.expanded();
        let enough = reference.steps.saturating_mul(SLOWER).saturating_add(START);
        let limit = enough.min(self.left);
        executor.set_steps(limit);
        let mut comparison = Comparison::new(expanded, number, who.clone());
        comparison.kept = program.kept();
        if executor.by_sample() {
            // All quads here are of the first sample.
            comparison.samples = 1;
        }
        let ran = machine(executor, case);
        self.left -= limit - executor.steps();
        if let Some(stray) = executor.stray() {
            return Err(Stop::Illegal {
                rule: "the emulated machine".into(),
                message: format!("a store lies outside of every buffer: {stray}"),
                span: Span::NONE,
            });
        }
        match ran {
            Ok(results) => {
                comparison.results(&reference.results, &results, &reference.excluded, case);
            }
            // The order of invocations says whether there is an end, so nothing can be compared.
            Err(Stop::OutOfSteps(_))
                if limit == enough && (reference.excluded.all || reference.excluded.endless) =>
            {
                let results = &reference.results;
                comparison.results(results, results, &reference.excluded, case);
            }
            Err(Stop::OutOfSteps(_)) if limit == enough => {
                // The reference ended long ago, so the machine must have.
                return Ok(Some(Difference {
                    input: number,
                    place: "the run".into(),
                    expected: "finished".into(),
                    who,
                    got: "without an end".into(),
                    span: Span::NONE,
                }));
            }
            Err(stop) => return Err(stop),
        }
        self.count(&comparison, &reference.excluded);
        Ok(self.located(comparison, expanded, case))
    }

    fn count(&mut self, comparison: &Comparison<'_>, excluded: &Excluded) {
        self.summary.racy_words += racy_words(excluded);
        self.summary.words += comparison.compared;
        self.summary.owed += comparison.owed;
        self.summary.proved += comparison.proved;
    }

    /// The first difference of a comparison; that of the whole verification with its place in the source.
    fn located(&self, comparison: Comparison<'_>, func: &Func, case: &Case) -> Option<Difference> {
        let mut difference = comparison.first?;
        if self.summary.first.is_none() {
            difference.span = locate::span(func, &self.numerics, case, &comparison.word);
        }
        Some(difference)
    }

    /// The input makes the shader access what lies beyond an array or a buffer, once nothing keeps it within.
    fn leads_beyond(&mut self, case: &Case) -> Option<Span> {
        let program = self.compiled.program.as_ref();
        let expanded = program.map(|program| program.expanded());
        let steps = self.steps();
        let mut funcs = steps.into_iter().map(|step| step.func).chain(expanded);
        funcs.find_map(|func| {
            let reference = self.reference(func, &case.viewed_by(func)).ok()?;
            reference.beyond.map(|inst| func.insts[inst].span)
        })
    }

    /// Words that hold what an atomic returned are compared with one invocation alone.
    fn one_invocation(
        &mut self,
        steps: &[Step<'_>],
        case: &Case,
        number: u32,
    ) -> Result<Option<Difference>, Stop> {
        let mut before: Option<Results> = None;
        for &Step { name, exact, func } in steps {
            let case = &case.viewed_by(func);
            if func.stage != Stage::Compute {
                return Ok(None);
            }
            let mut lanes = Lanes::compute(func, GROUPS, 0, 1);
            lanes.count = 1;
            lanes.workgroup.truncate(1);
            lanes.helper.truncate(1);
            for input in &mut lanes.inputs {
                input.truncate(1);
            }
            let mut world = Recorded::new(&case.bindings);
            let outcome = self.interpret(func, &lanes, &mut world, None);
            if outcome.is_err() {
                // A barrier that waits for the others, or too long a run: nothing to compare.
                return Ok(None);
            }
            let after = Results {
                bindings: world.bindings,
                written: world.written,
                vertices: Vec::new(),
                primitives: Vec::new(),
                pixels: Vec::new(),
            };
            if let Some(before) = before.as_ref().filter(|_| exact) {
                let mut comparison =
                    Comparison::new(func, number, format!("after pass {name}, run alone"));
                comparison.results(before, &after, &Excluded::default(), case);
                if comparison.first.is_some() {
                    return Ok(comparison.first);
                }
            }
            before = Some(after);
        }
        Ok(None)
    }

    fn interpret(
        &mut self,
        func: &Func,
        lanes: &Lanes,
        world: &mut (dyn World + Send),
        follow: Option<(&interp::Marks, Inexact)>,
    ) -> Result<Outcome, Stop> {
        let (numerics, left) = (&self.numerics, &mut self.left);
        gpucc_ir::stack::for_regions(func, || {
            let mut options = interp::Options::new(numerics);
            options.steps = LONGEST_RUN;
            options.work = Some(left);
            options.marks = follow.map(|(marks, _)| marks);
            options.inexact = follow.map_or(Inexact::Nothing, |(_, inexact)| inexact);
            interp::run(func, lanes, world, options).map_err(|stop| run::stopped(func, stop).into())
        })
    }

    fn reference(&mut self, func: &Func, case: &Case) -> Result<Reference, Stop> {
        self.reference_without(func, case, Inexact::Nothing)
    }

    /// The reference of which what another form may give in other bits must not be compared either.
    fn reference_without(
        &mut self,
        func: &Func,
        case: &Case,
        inexact: Inexact,
    ) -> Result<Reference, Stop> {
        let lanes = lanes(func, case);
        let start = self.left;
        let mut world = Recorded::new(&case.bindings);
        let mut outcome = self.interpret(func, &lanes, &mut world, None)?;
        let atomics = outcome.marks.atomic_results;
        let steps = start - self.left;
        if !outcome.marks.is_empty() || inexact != Inexact::Nothing {
            let marks = std::mem::take(&mut outcome.marks);
            world = Recorded::new(&case.bindings);
            outcome = self.interpret(func, &lanes, &mut world, Some((&marks, inexact)))?;
        }
        let divides = self.compiled.program.as_ref().is_some_and(|p| p.divides_positions());
        if inexact != Inexact::Nothing && func.stage == Stage::Vertex && divides {
            outcome.excluded.outputs.iter_mut().for_each(|lanes| lanes.fill(true));
        }
        Ok(Reference {
            results: results(world, func, &outcome, case),
            excluded: outcome.excluded,
            atomics,
            beyond: outcome.beyond,
            steps,
        })
    }
}

impl<'a> Proof<'a> {
    /// The SSA that came in, and after each step that changed it.
    fn steps(&self) -> Vec<Step<'a>> {
        let compiled = self.compiled;
        let kept = compiled.steps.iter();
        let mut steps: Vec<Step<'a>> = kept
            .map(|kept| Step {
                name: kept.name,
                exact: kept.proof == gpucc_passes::Proof::Exact,
                func: &kept.func,
            })
            .collect();
        if self.options.robust != Robust::Restrict {
            // Other rules than clamping are made by the pass: what comes before it has no rule.
            if let Some(at) = steps.iter().position(|step| step.name == "robust") {
                steps.drain(..at);
            }
        }
        if steps.is_empty() {
            steps.push(Step { name: "frontend", exact: false, func: &compiled.ssa });
        }
        steps
    }
}

fn racy_words(excluded: &Excluded) -> u64 {
    let outputs: usize =
        excluded.outputs.iter().map(|lanes| lanes.iter().filter(|&&out| out).count()).sum();
    excluded.words.len() as u64 + outputs as u64
}

/// Lanes of a case.
/// Which components of outputs a function stores anywhere: output times 4, plus component.
fn stored(func: &Func) -> Vec<bool> {
    let mut stored = vec![false; 4 * func.outputs.len()];
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            if let Imm::Output(output, component) = func.insts[inst].imm {
                stored[4 * output.as_u32() as usize + usize::from(component)] = true;
            }
        }
    }
    stored
}

fn lanes(func: &Func, case: &Case) -> Lanes {
    match &case.stage {
        StageCase::Compute(groups) => Lanes::compute(func, *groups, 0, groups.iter().product()),
        StageCase::Vertex { ids, first_vertex, first_instance, buffers, layout } => {
            run::vertex_lanes(
                func,
                layout,
                &VertexRun {
                    ids,
                    first_vertex: *first_vertex,
                    first_instance: *first_instance,
                    buffers,
                },
            )
        }
        StageCase::Fragment(batch) => run::quad_lanes(func, batch),
        StageCase::Geometry(primitives) => run::primitive_lanes(func, primitives),
    }
}

fn results(world: Recorded, func: &Func, outcome: &Outcome, case: &Case) -> Results {
    let mut results = Results {
        bindings: world.bindings,
        written: world.written,
        vertices: Vec::new(),
        primitives: Vec::new(),
        pixels: Vec::new(),
    };
    match &case.stage {
        StageCase::Compute(_) => {}
        StageCase::Vertex { ids, .. } => results.vertices = run::vertex_outs(outcome, ids.len()),
        StageCase::Fragment(batch) => results.pixels = run::pixel_outs(outcome, batch),
        StageCase::Geometry(_) => results.primitives = run::primitive_outs(func, outcome),
    }
    results
}

fn machine(executor: &mut Executor, case: &Case) -> Result<Results, Stop> {
    let mut results = Results {
        bindings: case.bindings.clone(),
        written: Written::default(),
        vertices: Vec::new(),
        primitives: Vec::new(),
        pixels: Vec::new(),
    };
    match &case.stage {
        StageCase::Compute(groups) => executor.dispatch(&mut results.bindings, *groups)?,
        StageCase::Vertex { ids, first_vertex, first_instance, buffers, .. } => {
            results.vertices = executor.vertices(
                &mut results.bindings,
                &VertexRun {
                    ids,
                    first_vertex: *first_vertex,
                    first_instance: *first_instance,
                    buffers,
                },
            )?;
        }
        StageCase::Geometry(primitives) => {
            results.primitives = executor.primitives(&mut results.bindings, primitives)?;
        }
        StageCase::Fragment(batch) => {
            results.pixels = executor.quads(&mut results.bindings, batch)?;
        }
    }
    Ok(results)
}

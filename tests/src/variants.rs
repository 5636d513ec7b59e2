//! Mutated shaders of the corpus, verified: most are valid, and none was written by anyone, so they reach
//! combinations that no shader of the corpus has.

mod mutate;

use crate::corpus::Module;
use gpucc::verify::{Plan, Summary, Whole, verify_plan};
use gpucc::{Choice, Compiled, Compiler, Failure, Options, Source, SourceText};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{Func, Op, Stage};
pub use mutate::mutated;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Steps of the proof of one shader: many mutants have loops without an end.
const STEPS: u64 = 400_000;
/// Why a proof compares nothing.
const IDLE: &str = "nothing is written";
/// Bytes of the longest module that is mutated.
const LONGEST: usize = 64 << 10;
/// Mutants for each that must be verified, at most: a corpus that gives fewer ends the run.
const TRIES: u64 = 20;

/// What to mutate, and how often.
#[derive(Clone, Debug)]
pub struct Request {
    /// Entry points to verify with words compared.
    pub count: u64,
    /// Seed.
    pub seed: u64,
    /// Inputs of each.
    pub inputs: u32,
}

/// What became of the mutants.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Mutants made.
    pub mutants: u64,
    /// Of these, the text is that of the module.
    pub same: u64,
    /// Refused, by exit code.
    pub refused: BTreeMap<u8, u64>,
    /// Verified with words compared.
    pub verified: u64,
    /// Of these, with fewer words than a proof needs.
    pub thin: u64,
    /// Verified, but no word that was written could be compared: by reason.
    pub nothing: BTreeMap<String, u64>,
    /// Words that the reference wrote, and those of them that were compared.
    pub words: (u64, u64),
    /// Proofs of whole colours of those that pack them: tried, and left out because the machine has no room.
    pub whole: (u64, u64),
    /// Mismatches: number of the mutant, module and entry, first difference.
    pub mismatches: Vec<(u64, String, String)>,
    /// Internal errors: number of the mutant, module and entry, message.
    pub failures: Vec<(u64, String, String)>,
}

/// The modules of a corpus that can be mutated, with their text.
///
/// # Errors
/// A file that cannot be read.
pub fn modules(corpus: &Path, index: &[Module]) -> std::io::Result<Vec<(String, String)>> {
    let mut modules = Vec::new();
    for module in index.iter().filter(|module| module.is_valid) {
        let text = std::fs::read_to_string(corpus.join(&module.path))?;
        if text.len() <= LONGEST {
            modules.push((module.path.clone(), text));
        }
    }
    Ok(modules)
}

/// One mutated module.
#[derive(Clone, Debug)]
pub struct Mutant<'m> {
    /// Path of the module.
    pub path: &'m str,
    /// The text.
    pub text: String,
    /// The text is that of the module.
    pub same: bool,
    /// Goes on to decide about the mutant.
    rng: Rng,
}

/// The mutant of a number; there is at least one module.
pub fn mutant(modules: &[(String, String)], seed: u64, number: u64) -> Mutant<'_> {
    let mut rng = Rng::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number);
    rng.bits();
    let (path, text) = &modules[rng.below(modules.len())];
    let mutant = mutated(&mut rng, text);
    Mutant { path, same: mutant == *text, text: mutant, rng }
}

/// Mutates and verifies until enough entry points have been compared; `found` is told of each mutant that goes
/// wrong, with its text.
pub fn run(
    compiler: &Compiler,
    modules: &[(String, String)],
    request: &Request,
    mut found: impl FnMut(u64, &str),
) -> Tally {
    let mut tally = Tally::default();
    let most = request.count.saturating_mul(TRIES);
    while tally.verified < request.count && tally.mutants < most && !modules.is_empty() {
        let number = tally.mutants;
        tally.mutants += 1;
        let mutant = mutant(modules, request.seed, number);
        if mutant.same {
            tally.same += 1;
            continue;
        }
        let wrong = (tally.mismatches.len(), tally.failures.len());
        one(compiler, &mutant, number, request, &mut tally);
        if wrong != (tally.mismatches.len(), tally.failures.len()) {
            found(number, &mutant.text);
        }
    }
    tally
}

/// Compiles and verifies one entry point of a mutant.
fn one(
    compiler: &Compiler,
    mutant: &Mutant<'_>,
    number: u64,
    request: &Request,
    tally: &mut Tally,
) {
    let Mutant { path, text, .. } = mutant;
    let mut rng = mutant.rng.clone();
    let mut options = Options::default();
    options.overrides_default = Some(1.0);
    options.keep_steps = true;
    options.verify_each = true;
    let refuse = |tally: &mut Tally, entry: &str, failure: &Failure| {
        *tally.refused.entry(failure.exit_code()).or_default() += 1;
        if failure.exit_code() == 101 {
            let place = format!("{path} {entry}");
            let message = failure.summary().to_owned();
            tally.failures.push((number, place, message));
        }
    };
    let mut entries = match compiler.parse(Source::Wgsl(text), Choice::default(), &options) {
        Ok(parsed) if parsed.entries.is_empty() => {
            *tally.refused.entry(0).or_default() += 1;
            return;
        }
        Ok(parsed) => parsed.entries,
        Err(failure) => return refuse(tally, "", &failure),
    };
    let entry = entries.swap_remove(rng.below(entries.len()));
    if let Ok(func) = &entry.func
        && !writes(func)
    {
        *tally.nothing.entry(IDLE.to_owned()).or_default() += 1;
        return;
    }
    let compiled = entry.func.and_then(|func| compiler.compile(&func, &options));
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(failure) => return refuse(tally, &entry.name, &failure),
    };
    let source = SourceText::new(*path, Some(text.clone()));
    let plan = Plan {
        first: rng.below(8) as u32,
        steps: STEPS,
        pass_inputs: 0,
        orders: 1,
        errors: 1,
        whole: true,
        ..Plan::new(request.inputs, rng.bits())
    };
    match proved(compiler, &compiled, &source, &options, &plan) {
        Ok(summary) => tally.verified(number, &format!("{path} {}", entry.name), &summary),
        Err(failure) => refuse(tally, &entry.name, &failure),
    }
}

/// An entry point without a store and without an output leaves nothing to compare, whatever its input.
fn writes(func: &Func) -> bool {
    let stores =
        |op| matches!(op, Op::BufferStore | Op::BufferAtomic | Op::ImageStore | Op::ImageAtomic);
    func.stage != Stage::Compute || func.insts.values().any(|data| stores(data.op))
}

/// Verifies; a panic of the emulator is an internal error.
fn proved(
    compiler: &Compiler,
    compiled: &Compiled,
    source: &SourceText,
    options: &Options,
    plan: &Plan,
) -> Result<Summary, Failure> {
    catch_unwind(AssertUnwindSafe(|| verify_plan(compiler, compiled, source, options, plan)))
        .unwrap_or_else(|_| Err(Failure::internal("verification", "a panic")))
}

impl Tally {
    fn verified(&mut self, number: u64, place: &str, summary: &Summary) {
        if let Some(first) = &summary.first {
            self.mismatches.push((number, place.to_owned(), first.to_string()));
        }
        if summary.proved == 0 && summary.first.is_none() {
            let why = if summary.out_of_steps > 0 {
                "out of steps"
            } else if summary.owed == 0 {
                IDLE
            } else {
                "all that is written depends on the order of invocations"
            };
            *self.nothing.entry(why.to_owned()).or_default() += 1;
            return;
        }
        self.verified += 1;
        self.thin += u64::from(summary.lack().is_some());
        self.words.0 += summary.owed;
        self.words.1 += summary.proved;
        match &summary.whole {
            Whole::NotOwed => {}
            Whole::Skipped(_) => self.whole.1 += 1,
            Whole::Tried(_) => self.whole.0 += 1,
        }
    }

    /// Nothing went wrong, and as many were verified as were asked for.
    pub fn holds(&self, request: &Request) -> bool {
        self.mismatches.is_empty() && self.failures.is_empty() && self.verified >= request.count
    }

    /// The table that the runner prints.
    pub fn table(&self, target: &str) -> String {
        let mut out = String::new();
        for (number, place, what) in self.mismatches.iter().chain(&self.failures) {
            let _ = writeln!(out, "mutant {number} of {place}: {what}");
        }
        let nothing: u64 = self.nothing.values().sum();
        let _ = writeln!(
            out,
            "mutants on {target}: {}, verified with words compared {}, mismatches {}, internal errors {}",
            self.mutants,
            self.verified,
            self.mismatches.len(),
            self.failures.len()
        );
        let _ = writeln!(
            out,
            "words written {}, of these compared {}; {} proofs compared less than their share",
            self.words.0, self.words.1, self.thin
        );
        if self.whole != (0, 0) {
            let (tried, skipped) = self.whole;
            let _ =
                writeln!(out, "proved without targets besides {tried}, no room for it {skipped}");
        }
        let _ = write!(out, "compared nothing: {nothing}");
        for (why, count) in &self.nothing {
            let _ = write!(out, ", {why} {count}");
        }
        let refused: u64 = self.refused.values().sum();
        let _ = write!(out, "\nunchanged {}, not run: {refused}", self.same);
        for (code, count) in &self.refused {
            let _ = match code {
                0 => write!(out, ", no entry point {count}"),
                code => write!(out, ", exit {code} {count}"),
            };
        }
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc::Target;

    fn samples() -> Vec<(String, String)> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples");
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .expect("samples are there")
            .map(|entry| entry.expect("readable").path())
            .filter(|path| path.extension().is_some_and(|e| e == "wgsl"))
            .collect();
        paths.sort();
        paths
            .into_iter()
            .map(|path| {
                let text = std::fs::read_to_string(&path).expect("readable");
                (path.to_string_lossy().into_owned(), text)
            })
            .collect()
    }

    #[test]
    fn mutants_of_the_samples_do_on_every_machine_what_the_interpreter_does() {
        let modules = samples();
        for target in Target::machines() {
            let compiler = Compiler::new(target, None).expect("built");
            let request = Request { count: 20, seed: 3, inputs: 2 };
            let tally = run(&compiler, &modules, &request, |_, _| {});
            let text = tally.table(target.name());
            assert!(tally.holds(&request), "{text}");
            // What is refused is told by its code, and each mutant is counted once.
            let counted = tally.same
                + tally.verified
                + tally.nothing.values().sum::<u64>()
                + tally.refused.values().sum::<u64>();
            assert_eq!(counted, tally.mutants, "{text}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_mutants() {
        let modules = samples();
        for number in 0..50 {
            let [a, b] = [0, 0].map(|seed| mutant(&modules, seed, number).text);
            assert_eq!(a, b);
        }
        let other = mutant(&modules, 1, 0).text;
        assert_ne!(mutant(&modules, 0, 0).text, other);
    }
}

//! One input on every machine: what became of it, and what of that is our bug.

use super::{Input, Language, usage};
use gpucc::pipeline::Robust;
use gpucc::{
    Choice, Compiled, Compiler, Effort, Failure, FailureKind, Options, Source, SourceText, Target,
    assembler,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

/// The machines that inputs are compiled for: the interpreter, then all that are built.
pub fn targets() -> impl Iterator<Item = Target> {
    std::iter::once(Target::Interp).chain(Target::machines())
}

/// What became of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Exit codes by the place where they arose: `source` for the reader, else the machine.
    pub codes: Vec<(&'static str, u8)>,
    /// Our bug, if there was one: what was said, without the numbers, so that one bug has one name.
    pub bug: Option<String>,
    /// Milliseconds of processor time that all machines but the slowest took.
    pub others: u64,
}

/// Options that a number stands for: 0 is the default, others vary what steers a compilation.
pub fn options(variant: u32) -> Options {
    let mut options = Options::default();
    // Everything has the default twice, so that most variants are close to it.
    options.robust =
        [Robust::Restrict, Robust::Restrict, Robust::Off, Robust::Zero][(variant & 3) as usize];
    options.effort = match variant >> 2 & 7 {
        1 => Effort::None,
        2 => Effort::Some,
        3 => Effort::Max,
        _ => Effort::Full,
    };
    options.bound_loops = variant >> 5 & 3 == 1;
    options.verify_each = variant >> 7 & 7 == 1;
    options.keep_workgroup = variant >> 10 & 3 == 1;
    options.overrides_default = (variant >> 12 & 1 == 1).then_some(1.0);
    options
}

static PLACE: Mutex<String> = Mutex::new(String::new());

/// Panics are told by their outcome, and not on stderr; their place is kept for it.
pub fn quiet() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
        if let (Ok(mut last), Some(place)) = (PLACE.lock(), place) {
            *last = place;
        }
    }));
}

/// Runs an input. Nothing that it does ends the process, but for aborts.
pub fn run(input: &Input) -> Outcome {
    watch(|outcome| match input.language {
        Language::Assembly => assembly(input, outcome),
        _ => shader(input, outcome),
    })
}

/// Runs anything; a panic is a bug.
pub fn watch(run: impl FnOnce(&mut Outcome)) -> Outcome {
    if let Ok(mut place) = PLACE.lock() {
        place.clear();
    }
    let mut outcome = Outcome::default();
    let done = catch_unwind(AssertUnwindSafe(|| run(&mut outcome)));
    if let Err(payload) = done {
        outcome.codes.push(("panic", 101));
        bug(&mut outcome, &format!("panic: {}", gpucc::panic_message(payload.as_ref())));
    }
    outcome
}

fn bug(outcome: &mut Outcome, message: &str) {
    if outcome.bug.is_none() {
        let place = PLACE.lock().map(|mut place| std::mem::take(&mut *place));
        let place = place.unwrap_or_default();
        outcome.bug = Some(name(&format!("{message} {place}")));
    }
}

/// A message without what differs from input to input: numbers, names in quotes, and what is behind the first line.
pub fn name(message: &str) -> String {
    let mut name = String::new();
    let mut quoted = false;
    for c in message.lines().next().unwrap_or_default().chars().take(400) {
        match c {
            '\'' | '`' | '"' => {
                quoted = !quoted && message.matches(c).count() > 1;
                name.push(c);
            }
            _ if quoted => {}
            '0'..='9' if name.ends_with('#') => {}
            '0'..='9' => name.push('#'),
            '\t' => name.push(' '),
            _ => name.push(c),
        }
    }
    name.trim().to_owned()
}

fn note(outcome: &mut Outcome, place: &'static str, result: Result<(), &Failure>) {
    let Err(failure) = result else {
        outcome.codes.push((place, 0));
        return;
    };
    outcome.codes.push((place, failure.exit_code()));
    if matches!(failure.kind, FailureKind::Internal { .. }) {
        bug(outcome, &format!("{place}: {}", failure.summary()));
    }
}

fn shader(input: &Input, outcome: &mut Outcome) {
    let options = options(input.variant);
    let text = String::from_utf8_lossy(&input.bytes);
    let source = match input.language {
        Language::SpirV => Source::SpirV(&input.bytes),
        Language::Glsl => Source::Glsl(&text, input.stage),
        Language::Ir => Source::Ir(&text),
        Language::Wgsl | Language::Assembly => Source::Wgsl(&text),
    };
    let compilers: Vec<Compiler> =
        targets().map(|target| Compiler::new(target, None).expect("the target is built")).collect();
    // A source is read once; whose reader it is decides nothing but whose lack a refusal names.
    let reader = &compilers[(input.variant >> 13) as usize % compilers.len()];
    let parsed = match reader.parse(source, Choice::default(), &options) {
        Ok(parsed) => parsed,
        Err(failure) => return note(outcome, "source", Err(&failure)),
    };
    note(outcome, "source", Ok(()));
    for entry in &parsed.entries {
        let func = match &entry.func {
            Ok(func) => func,
            Err(failure) => {
                note(outcome, "entry", Err(failure));
                continue;
            }
        };
        let mut times = Vec::new();
        for compiler in &compilers {
            let name = compiler.target().name();
            let start = usage::cpu().unwrap_or(0);
            let compiled = compiler.compile(func, &options);
            times.push(usage::cpu().unwrap_or(0) - start);
            note(outcome, name, compiled.as_ref().map(|_| ()));
            if let Ok(compiled) = compiled
                && input.variant >> 15 & 3 == 0
            {
                told(outcome, name, &compiled);
            }
        }
        outcome.others += times.iter().sum::<u64>() - times.iter().max().unwrap_or(&0);
    }
}

/// What is told of a compiled program besides its code.
fn told(outcome: &mut Outcome, place: &'static str, compiled: &Compiled) {
    let source = SourceText::new("input", None);
    let _ = gpucc::shader_report(compiled, &source, Duration::ZERO);
    if let Some(program) = &compiled.program
        && let Err(failure) = program.assembly()
    {
        bug(outcome, &format!("{place}: no text of our own code: {}", failure.summary()));
    }
}

/// Text that assembles has bytes whose text assembles to the same bytes, or has no text.
fn assembly(input: &Input, outcome: &mut Outcome) {
    let text = String::from_utf8_lossy(&input.bytes);
    // The text's own machine, and one of the others in turn.
    let others: Vec<Target> = Target::assembled().collect();
    let other = others[(input.variant >> 13) as usize % others.len()];
    let targets = [Some(input.target), (other != input.target).then_some(other)];
    for target in targets.into_iter().flatten() {
        let assembler = assembler(target).expect("it has an assembler");
        for unit in assembler.units() {
            let Ok(code) = assembler.assemble(unit, &text) else {
                outcome.codes.push((target.name(), 1));
                continue;
            };
            outcome.codes.push((target.name(), 0));
            let Ok(back) = assembler.disassemble(unit, &code) else {
                continue;
            };
            if assembler.assemble(unit, &back).as_deref() != Ok(&code) {
                outcome.codes.push((target.name(), 5));
                bug(outcome, &format!("{}: {unit}: other bytes come back", target.name()));
            }
        }
    }
}

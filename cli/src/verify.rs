//! `gpucc verify`: the encoded bytes against the reference.

use super::args::{TargetArgs, VerifyArgs};
use super::console::Console;
use super::files::Outputs;
use super::input::{self, Choice, Input};
use super::{bundle, compile};
use gpucc::verify::{Plan, Summary, Whole};
use gpucc::{Compiled, Compiler, Entry, Failure, Options, SourceText, Stage, Target};
use serde::Serialize;

/// Verifies every chosen entry point; gives the exit code.
pub fn run(args: &VerifyArgs, console: &mut Console) -> Result<u8, Failure> {
    let mut options = input::options(&args.source, &args.code)?;
    options.keep_steps = true;
    options.verify_each = true;
    let targets = targets(&args.target)?;
    let input = Input::read(&args.file, args.source.lang)?;
    let stage = args.entry.stage.map(Stage::from);
    let choice = Choice { entry: args.entry.entry.as_deref(), stage };
    let mut outputs = Outputs::default();
    let mut failures = Vec::new();
    let mut proofs = Vec::new();
    for (target, chip) in targets {
        let compiler = Compiler::new(target, chip)?;
        let mut parsed = input::parse(&compiler, &input, choice, &options, console)?;
        input::choose(&mut parsed, choice.entry, stage)?;
        for entry in &parsed.entries {
            match one(&compiler, entry, &input.text, &options, args) {
                Ok(summary) => {
                    let failure = summary.failure(target.name());
                    proofs.push(Proof::of(target, chip, &summary, failure.as_ref()));
                    match failure {
                        None if args.json => {}
                        None => outputs.print(&format!("{}\n", summary.line(target.name()))),
                        Some(failure) => failures.push(failure),
                    }
                }
                Err(failure) => {
                    proofs.push(Proof::none(target, chip, &entry.name, &failure));
                    failures.push(failure);
                }
            }
        }
    }
    if args.json {
        outputs.print(&(serde_json::to_string_pretty(&proofs).expect("plain data") + "\n"));
    }
    outputs.commit()?;
    for failure in &mut failures {
        bundle::attach(failure, &input.text);
        console.failure(failure);
    }
    Ok(compile::worst(failures.iter()))
}

/// The result for one entry point on one target, for `--json`.
#[derive(Debug, Default, Serialize)]
struct Proof {
    target: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chip: Option<&'static str>,
    entry: String,
    /// Bytes and reference are equal, and enough was compared.
    verified: bool,
    exit_code: u8,
    invocations: u64,
    inputs: u32,
    /// Inputs that were compared to the end.
    compared: u32,
    mismatches: u32,
    racy_words: u64,
    out_of_steps: u32,
    /// Words that the reference wrote, and those of them that were compared.
    words_written: u64,
    words_proved: u64,
    /// Of the same entry point without targets, where the program packs its colours.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_targets: Option<Besides>,
    /// Why it is no proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// The proof of whole colours, for `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Besides {
    /// The machine has no room for it, as the message says.
    Skipped(String),
    /// Words that the reference wrote, and those of them that were compared.
    Tried { words_written: u64, words_proved: u64 },
}

impl Besides {
    fn of(whole: &Whole) -> Option<Besides> {
        match whole {
            Whole::NotOwed => None,
            Whole::Skipped(why) => Some(Besides::Skipped(why.clone())),
            Whole::Tried(found) => {
                Some(Besides::Tried { words_written: found.owed, words_proved: found.proved })
            }
        }
    }
}

impl Proof {
    fn of(
        target: Target,
        chip: Option<&'static str>,
        summary: &Summary,
        failure: Option<&Failure>,
    ) -> Proof {
        Proof {
            target: target.name(),
            chip,
            entry: summary.entry.clone(),
            verified: failure.is_none(),
            exit_code: failure.map_or(0, Failure::exit_code),
            invocations: summary.invocations,
            inputs: summary.inputs,
            compared: summary.counted,
            mismatches: summary.mismatches,
            racy_words: summary.racy_words,
            out_of_steps: summary.out_of_steps,
            words_written: summary.owed,
            words_proved: summary.proved,
            without_targets: Besides::of(&summary.whole),
            failure: failure.map(|failure| failure.summary().to_owned()),
        }
    }

    fn none(target: Target, chip: Option<&'static str>, entry: &str, failure: &Failure) -> Proof {
        Proof {
            target: target.name(),
            chip,
            entry: entry.to_owned(),
            exit_code: failure.exit_code(),
            failure: Some(failure.summary().to_owned()),
            ..Proof::default()
        }
    }
}

/// The targets that the arguments name; `all` is every one that is built.
fn targets(args: &TargetArgs) -> Result<Vec<(Target, Option<&'static str>)>, Failure> {
    if args.target.as_deref() == Some("all") {
        if let Some(chip) = &args.chip {
            return Err(Failure::usage(format!(
                "--chip {chip} belongs to one target: name it in place of all"
            )));
        }
        return Ok(Target::ALL
            .iter()
            .copied()
            .filter(|target| target.is_built())
            .map(|target| (target, target.chips().first().copied()))
            .collect());
    }
    super::target(args).map(|target| vec![target])
}

fn one(
    compiler: &Compiler,
    entry: &Entry,
    source: &SourceText,
    options: &Options,
    args: &VerifyArgs,
) -> Result<Summary, Failure> {
    let compiled = compile::entry_point(compiler, entry, options)?;
    let plan = Plan {
        steps: args.max_steps,
        orders: args.adversarial,
        errors: args.adversarial,
        whole: true,
        ..Plan::new(args.inputs, args.seed)
    };
    gpucc::verify::verify_plan(compiler, &compiled, source, options, &plan)
}

/// `--verify`: an error unless the bytes are proved.
pub fn prove(
    compiler: &Compiler,
    compiled: &Compiled,
    source: &SourceText,
    options: &Options,
    inputs: u32,
    seed: u64,
) -> Result<(), Failure> {
    let summary = gpucc::verify::verify(compiler, compiled, source, options, inputs, seed)?;
    match summary.failure(compiler.target().name()) {
        None => Ok(()),
        Some(failure) => Err(failure),
    }
}

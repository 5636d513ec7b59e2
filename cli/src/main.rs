#![forbid(unsafe_code)]
//! The `gpucc` command: arguments in, files and messages out, one exit code.

mod args;
mod assembly;
mod batch;
mod bundle;
mod cache;
mod compare;
mod compile;
mod console;
mod data;
mod docs;
mod emit;
mod figures;
mod files;
mod folders;
mod input;
mod names;
mod parallel;
mod render;
mod report;
mod response;
mod run;
mod targets;
mod verify;

use args::{Cli, Command, Form};
use clap::{CommandFactory, Parser, ValueEnum};
use console::Console;
use gpucc::{Failure, Target};
use gpucc_ir::nearest::nearest;
use gpucc_ir::stack;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    bundle::install_hook();
    let run = || {
        // The first thread's stack is the system's choice.
        stack::roomy(|| match response::expand(std::env::args_os()) {
            Ok(args) => parse(args),
            Err(failure) => {
                Console::plain(wanted_form(&std::env::args_os().collect::<Vec<_>>()))
                    .failure(&failure);
                failure.exit_code()
            }
        })
    };
    ExitCode::from(std::panic::catch_unwind(run).unwrap_or(101))
}

fn parse(args: Vec<OsString>) -> u8 {
    match Cli::try_parse_from(&args) {
        Ok(cli) => dispatch(&cli),
        Err(error) if error.use_stderr() => {
            let text = error.render().to_string();
            match wanted_form(&args) {
                Form::Human => files::write_stderr(&text),
                form => Console::plain(form).failure(&wrong_usage(&text)),
            }
            2
        }
        // --help and --version are answers, not errors.
        Err(error) => match files::write_stdout(error.render().to_string().as_bytes()) {
            Ok(()) => 0,
            Err(failure) => failure.exit_code(),
        },
    }
}

/// The form of messages that the arguments ask for, even if they are wrong otherwise.
fn wanted_form(args: &[OsString]) -> Form {
    let mut form = Form::Human;
    for (index, arg) in args.iter().enumerate() {
        let value = match arg.to_str() {
            Some("--diagnostics") => args.get(index + 1).and_then(|next| next.to_str()),
            Some(text) => text.strip_prefix("--diagnostics="),
            None => None,
        };
        if let Some(Ok(wanted)) = value.map(|value| Form::from_str(value, false)) {
            form = wanted;
        }
    }
    form
}

/// What clap says in several lines, as one message with notes.
fn wrong_usage(text: &str) -> Failure {
    let mut parts = text.split("\n\n").map(str::trim);
    let message = parts.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let failure = Failure::usage(message.split_whitespace().collect::<Vec<_>>().join(" "));
    parts.fold(failure, Failure::note)
}

fn dispatch(cli: &Cli) -> u8 {
    let messages = match &cli.command {
        None => &cli.compile.messages,
        Some(Command::Asm(args)) => &args.messages,
        Some(Command::Disasm(args)) => &args.messages,
        Some(Command::Run(args)) => &args.messages,
        Some(Command::Render(args)) => &args.messages,
        Some(Command::Verify(args)) => &args.messages,
        Some(Command::Batch(args)) => &args.messages,
        Some(Command::Compare(args)) => &args.messages,
        Some(Command::Report(args)) => &args.messages,
        Some(Command::Targets(args)) => &args.messages,
        Some(Command::Completions(args)) => &args.messages,
        Some(Command::Man(args)) => &args.messages,
    };
    let mut console = Console::new(messages);
    let run = || match &cli.command {
        None => compile::run(&cli.compile, &mut console),
        Some(Command::Asm(args)) => assembly::asm(args),
        Some(Command::Disasm(args)) => assembly::disasm(args),
        Some(Command::Run(args)) => run::run(args, &mut console).map(|()| 0),
        Some(Command::Render(args)) => render::run(args, &mut console).map(|()| 0),
        Some(Command::Verify(args)) => verify::run(args, &mut console),
        Some(Command::Batch(args)) => batch::run(args, &mut console),
        Some(Command::Compare(args)) => compare::run(args, &mut console),
        Some(Command::Report(args)) => report::run(args),
        Some(Command::Targets(args)) => targets::run(args).map(|()| 0),
        Some(Command::Completions(args)) => docs::completions(args.shell).map(|()| 0),
        Some(Command::Man(args)) => docs::pages(args.output.as_deref()).map(|()| 0),
    };
    // A panic that the pipeline does not catch is a bug of gpucc and is reported as one.
    let result =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|payload| {
            Err(Failure::internal("the command", gpucc::panic_message(payload.as_ref())))
        });
    match result {
        Ok(code) => code,
        Err(failure) => {
            console.failure(&failure);
            failure.exit_code()
        }
    }
}

/// The target and chip that the arguments name.
fn target(args: &args::TargetArgs) -> Result<(Target, Option<&'static str>), Failure> {
    let Some(name) = &args.target else {
        return Err(Failure::usage("--target is missing").note(target_names()));
    };
    named_target(name, args.chip.as_deref())
}

/// A message about a name that does not exist, with a similar one if there is any.
fn unknown_name<'n>(
    message: String,
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Failure {
    let failure = Failure::usage(message);
    match nearest(name, known) {
        Some(meant) => failure.note(format!("did you mean `{meant}`?")),
        None => failure,
    }
}

fn target_names() -> String {
    let names: Vec<&str> = Target::ALL.iter().map(|target| target.name()).collect();
    format!("targets are {}", names.join(", "))
}

/// A target and its chip by their names.
fn named_target(name: &str, chip: Option<&str>) -> Result<(Target, Option<&'static str>), Failure> {
    let target = Target::by_name(name).ok_or_else(|| no_target(name))?;
    let chip = match chip {
        None => target.chips().first().copied(),
        Some(chip) => {
            Some(target.chips().iter().copied().find(|known| *known == chip).ok_or_else(|| {
                let message = format!("target {} has no chip '{chip}'", target.name());
                let failure = unknown_name(message, chip, target.chips().iter().copied());
                if target.chips().is_empty() {
                    failure.note("it has no chips")
                } else {
                    failure.note(format!("chips are {}", target.chips().join(", ")))
                }
            })?)
        }
    };
    Ok((target, chip))
}

/// A message that a target does not exist, with a suggestion: another target, or the target of a chip.
fn no_target(name: &str) -> Failure {
    let message = format!("there is no target '{name}'");
    let is_chip = |target: &Target| target.chips().contains(&name);
    let failure = match Target::ALL.iter().copied().find(is_chip) {
        Some(family) => {
            let family = family.name();
            Failure::usage(message)
                .note(format!("{name} is a chip of {family}: --target {family} --chip {name}"))
        }
        None => unknown_name(message, name, Target::ALL.iter().copied().map(Target::name)),
    };
    failure.note(target_names())
}

/// The usage line, for a call without an input.
fn usage() -> String {
    Cli::command().render_usage().to_string()
}

fn command_names() -> Vec<String> {
    let cli = Cli::command();
    cli.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

//! `gpucc-mutants`: judges hundreds of cargo-mutants' mutants with one build.
//!
//! cargo-mutants builds the workspace anew for every mutant, minutes each. Here all drawn mutants stand in one copy of the tree, each
//! behind a switch that an environment variable turns on: the copy is built once, every test says which switches it
//! reaches, and a mutant is tried by the tests that reach it alone, the quickest first.
#![forbid(unsafe_code)]

mod judge;
mod list;
mod tests;
mod weave;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// cargo-mutants' mutants, woven into one build.
#[derive(Parser)]
struct Arguments {
    /// Where the drawn list, the woven tree and the verdicts lie.
    #[arg(long, default_value = "target/mutants")]
    work: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Draws mutants from `cargo mutants --list --json` (standard input), so many of each place.
    Draw {
        /// Seed of the draw.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Mutants of a place: `passes/src=120`; a mutant belongs to the first place that its file begins with.
        #[arg(required = true)]
        places: Vec<String>,
    },
    /// Copies the tree, weaves the drawn mutants into it and takes out those that do not compile.
    Weave,
    /// Builds the woven tree's tests and records which switches each reaches.
    Cover {
        /// Processes at once.
        #[arg(long, default_value_t = 2)]
        jobs: usize,
        /// Leave out what takes longer, in seconds.
        #[arg(long, default_value_t = 600.0)]
        most: f64,
    },
    /// Tries every mutant that has no verdict yet.
    Judge {
        /// Processes at once.
        #[arg(long, default_value_t = 2)]
        jobs: usize,
        /// Try again what was missed (after new tests).
        #[arg(long)]
        missed: bool,
        /// Tests that take longer alone than this many seconds are left out, and so is the verdict of what they would decide.
        #[arg(long, default_value_t = f64::INFINITY)]
        most: f64,
        /// Only mutants of files whose path begins so.
        #[arg(long, default_value = "")]
        place: String,
    },
    /// Prints the verdicts by place, and what was missed.
    Table,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let work = &arguments.work;
    let done = std::fs::create_dir_all(work).map_err(|error| error.to_string()).and_then(|()| {
        match &arguments.what {
            What::Draw { seed, places } => list::draw(work, *seed, places),
            What::Weave => weave::weave(work),
            What::Cover { jobs, most } => tests::cover(work, *jobs, *most),
            What::Judge { jobs, missed, most, place } => {
                judge::judge(work, *jobs, *missed, *most, place)
            }
            What::Table => judge::table(work),
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

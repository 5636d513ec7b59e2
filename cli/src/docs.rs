//! `gpucc completions` and `gpucc man`: completions and manual pages, made from the arguments.

use super::args::Cli;
use super::files::{self, Outputs};
use clap::CommandFactory;
use clap_complete::Shell;
use gpucc::Failure;
use std::path::Path;

/// Prints a shell's completions.
pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gpucc", &mut text);
    let mut outputs = Outputs::default();
    outputs.put(None, text, false);
    outputs.commit()
}

/// Writes a page for gpucc and one for each command into a folder, or the first to stdout.
pub fn pages(folder: Option<&Path>) -> Result<(), Failure> {
    let command = Cli::command();
    let problem = |error: std::io::Error| {
        Failure::usage(format!("cannot write a manual page: {}", files::reason(&error)))
    };
    let Some(folder) = folder else {
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text).map_err(problem)?;
        let mut outputs = Outputs::default();
        outputs.put(None, text, false);
        return outputs.commit();
    };
    files::make_folder(folder)?;
    clap_mangen::generate_to(command, folder).map_err(problem)
}

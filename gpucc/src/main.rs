#![forbid(unsafe_code)]
//! The `gpucc` command.

mod command;

fn main() -> std::process::ExitCode {
    command::main()
}

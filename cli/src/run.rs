//! `gpucc run`: a compute entry point on the emulated machine.

use super::args::RunArgs;
use super::bundle;
use super::console::Console;
use super::data::{self, Dump, Setting};
use super::files::{self, Outputs};
use super::input::{self, Input};
use gpucc::{Compiler, Failure, Func, Stage};
use std::path::Path;

/// Runs and dumps.
pub fn run(args: &RunArgs, console: &mut Console) -> Result<(), Failure> {
    let options = input::options(&args.source, &args.code)?;
    let (target, chip) = super::target(&args.target)?;
    let settings =
        args.set.iter().map(|text| Setting::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let dumps = args.dump.iter().map(|text| Dump::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let compiler = Compiler::new(target, chip)?;
    let input = Input::read(&args.file, args.source.lang)?;
    let parsed = input::parse(
        &compiler,
        &input,
        input::Choice { entry: args.entry.as_deref(), stage: Some(Stage::Compute) },
        &options,
        console,
    )?;
    let func = input::one(&parsed, args.entry.as_deref(), Stage::Compute)?;
    // Bindings are those of the source: what an optimisation dropped may still be set and dumped.
    let bindings = data::bind(&func, &settings)?;
    for dump in &dumps {
        dump.place.find(&func)?;
    }
    let result = execute(args, &compiler, &func, bindings, &options, &input)
        .and_then(|bindings| print(&dumps, &func, &bindings, &args.file));
    result.map_err(|mut failure| {
        bundle::attach(&mut failure, &input.text);
        failure
    })
}

fn execute(
    args: &RunArgs,
    compiler: &Compiler,
    func: &Func,
    bindings: gpucc_emu::world::Bindings,
    options: &gpucc::Options,
    input: &Input,
) -> Result<gpucc_emu::world::Bindings, Failure> {
    let compiled = compiler.compile(func, options)?;
    let mut executor = compiler.executor(&compiled, options, &input.text);
    if let Some(steps) = args.max_steps {
        executor.set_steps(steps);
    }
    executor.set_trace(args.trace);
    // Resource numbers are the same before and after the passes.
    let mut bindings = bindings;
    let result = executor.dispatch(&mut bindings, args.groups.0);
    files::write_stderr(&executor.take_trace());
    result.map_err(gpucc::execute::Stop::into_failure)?;
    Ok(bindings)
}

fn print(
    dumps: &[Dump],
    func: &Func,
    bindings: &gpucc_emu::world::Bindings,
    source: &Path,
) -> Result<(), Failure> {
    let mut outputs = Outputs::default();
    outputs.keep(source);
    for dump in dumps {
        match &dump.path {
            Some(path) => {
                outputs.put(Some(path), dump.bytes(func, bindings)?.to_vec(), true);
            }
            None => {
                let mut line = dump.line(func, bindings)?;
                line.push('\n');
                outputs.print(&line);
            }
        }
    }
    outputs.commit()
}

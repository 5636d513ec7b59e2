//! `gpucc [OPTIONS] <INPUT>`: compiles.

use super::args::CompileArgs;
use super::console::Console;
use super::emit::{self, Kind, Made};
use super::files::{self, Outputs};
use super::input::{self, Input};
use super::names::{Side, in_rule, printable, shown};
use super::{bundle, parallel, verify};
use gpucc::named::Figure;
use gpucc::report::Paths;
use gpucc::{Compiled, Compiler, Entry, Failure, Options, Parsed, Stage, Target};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs the compilation; gives the exit code.
pub fn run(args: &CompileArgs, console: &mut Console) -> Result<u8, Failure> {
    let included = input::Included::default();
    let mut options = input::options_that_note(&args.source, &args.code, &included)?;
    for pass in args.dump_after.iter().filter(|pass| *pass != "all") {
        input::known_pass(pass)?;
    }
    options.dump_after.clone_from(&args.dump_after);
    if args.passes {
        return list_passes(args, &options).map(|()| 0);
    }
    if let Some(first) = args.input.first() {
        is_file_like(first)?;
    }
    let path = match &args.input[..] {
        [path] => path,
        [] => return Err(Failure::usage("an input is missing").note(super::usage())),
        [first, second, ..] => {
            return Err(Failure::usage(format!(
                "one input at a time: {} and {} are two",
                shown(first),
                shown(second)
            ))
            .note("`gpucc batch` compiles many; an option's value that stands alone counts as an input"));
        }
    };
    let emits = emit::parse_all(&args.emit)?;
    if args.output.is_some() && !emits.is_empty() && emits.iter().all(|emit| emit.path.is_some()) {
        return Err(Failure::usage("nothing is left for -o: every --emit names its file")
            .note("leave out -o, or the file of one --emit"));
    }
    let macros = !emits.is_empty() && emits.iter().all(|emit| emit.kind == Kind::Pre);
    let (target, chip) = match args.target.target {
        // Macros are the same for every machine.
        None if macros => (Target::Interp, None),
        _ => super::target(&args.target)?,
    };
    let emits = emit::or_usual(emits, target);
    options.keep_machine_ir = emits.iter().any(|emit| matches!(emit.kind, Kind::Mach | Kind::Html));
    let compiler = Compiler::new(target, chip)?;
    let input = Input::read(path, args.source.lang)?;
    let stage = args.entry.stage.map(Stage::from);
    let choice = input::Choice { entry: args.entry.entry.as_deref(), stage };
    console.set_source(input.text.clone());
    let preprocessed = input.preprocessed(&compiler, &options, &emits)?;
    let mut result = emit::Outcome {
        compiler: &compiler,
        source: &input.text,
        preprocessed: preprocessed.as_deref(),
        made: Made::Now(&[]),
        stem: emit::stem(&input.text),
        frontend_time: Duration::ZERO,
        warnings: &[],
        errors: &[],
    };
    let mut outputs = Outputs::default();
    outputs.keep(path);
    // A text whose macros are sought may be wrong behind them.
    if macros {
        included.paths().iter().for_each(|path| outputs.keep(path));
        emit::emit(&result, &emits, args.output.as_deref(), &mut outputs)?;
        return outputs.commit().map(|()| 0);
    }
    let mut parsed = input::parse(&compiler, &input, choice, &options, console)?;
    input::choose(&mut parsed, args.entry.entry.as_deref(), stage)?;

    let jobs = args.jobs.unwrap_or(1) as usize;
    let verification = args.verify.map(|inputs| (inputs, 0));
    if verification.is_some() {
        options.keep_steps = true;
    }
    let pair = args.link.as_deref().map(|names| link(&compiler, &parsed, names, &options));
    let pair = pair.transpose()?;
    let numbered: Vec<(usize, &Entry)> = parsed.entries.iter().enumerate().collect();
    let results = parallel::map(jobs, &numbered, |&(number, entry)| {
        let pair = pair.as_ref();
        let (options, done) = match pair {
            Some(pair) if pair.vertex == number => (&pair.options, None),
            Some(pair) if pair.fragment == number => (&options, Some(&pair.compiled)),
            _ => (&options, None),
        };
        let compiled = match done {
            Some(compiled) => compiled.clone(),
            None => entry_point(&compiler, entry, options)?,
        };
        if let Some((inputs, seed)) = verification {
            verify::prove(&compiler, &compiled, &input.text, options, inputs, seed)?;
        }
        Ok(compiled)
    });
    let mut compiled = Vec::new();
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(one) => compiled.push(one),
            Err(failure) => failures.push(failure),
        }
    }
    for failure in &mut failures {
        bundle::attach(failure, &input.text);
        console.failure(failure);
    }
    let code = worst(failures.iter());
    if !failures.is_empty() && (!args.keep_going || compiled.is_empty()) {
        return Ok(code);
    }

    let included = included.paths();
    for path in included.iter().chain(&args.source.pipeline) {
        outputs.keep(path);
    }
    for one in &compiled {
        for (pass, text) in &one.dumps {
            outputs.print(&format!("; after {pass}\n{text}"));
        }
        for note in &one.notes {
            console.show(note, None);
        }
    }
    let errors: Vec<_> = failures.iter().flat_map(|failure| failure.diagnostics.clone()).collect();
    result.made = Made::Now(&compiled);
    result.frontend_time = parsed.frontend_time;
    result.warnings = &parsed.warnings;
    result.errors = &errors;
    emit::emit(&result, &emits, args.output.as_deref(), &mut outputs)?;
    if let Some(path) = &args.write_pipeline {
        let pipelines: Vec<_> = compiled
            .iter()
            .filter_map(|one| one.program.as_ref())
            .map(|program| program.pipeline())
            .collect();
        let text = gpucc::merge_pipelines(&options.pipeline, &pipelines).to_json();
        outputs.put(Some(path), text.into_bytes(), false);
    }
    if let Some(depfile) = &args.depfile {
        let others = args.source.pipeline.iter().chain(&included);
        let read: Vec<&Path> = std::iter::once(path).chain(others).map(PathBuf::as_path).collect();
        let rule = depfile_rule(&outputs, &read)?;
        outputs.put(Some(depfile), rule, false);
    }
    outputs.commit()?;
    if args.time_passes {
        files::write_stderr(&times(&compiled, &result));
    }
    if args.stats {
        files::write_stderr(&stats(&compiled, &result)?);
    }
    Ok(code)
}

/// Two entry points that are the stages of one pipeline, by their numbers.
struct Pair {
    vertex: usize,
    fragment: usize,
    /// The fragment stage's code.
    compiled: Compiled,
    /// How the vertex stage is compiled.
    options: Options,
}

/// Finds the pair and compiles its fragment stage. The result says what that stage reads.
fn link(
    compiler: &Compiler,
    parsed: &Parsed,
    names: &str,
    options: &Options,
) -> Result<Pair, Failure> {
    let names: Vec<&str> = names.split(',').filter(|name| !name.is_empty()).collect();
    let [vertex, fragment] = match names[..] {
        [] => [None, None],
        [vertex, fragment] => [Some(vertex), Some(fragment)],
        _ => return Err(Failure::usage("--link takes two names, as in --link=vs,fs")),
    };
    let [vertex, fragment] = [(vertex, Stage::Vertex), (fragment, Stage::Fragment)]
        .map(|(name, stage)| the_one(parsed, name, stage));
    let (vertex, fragment) = (vertex?, fragment?);
    let func = |number: usize| parsed.entries[number].func.as_ref().map_err(Clone::clone);
    let (vertex_func, fragment_func) = (func(vertex)?, func(fragment)?);
    gpucc::link::links(vertex_func, fragment_func)?;
    let compiled = compiler.compile(fragment_func, options)?;
    let mut options = options.clone();
    let state = options.pipeline.vertex.get_or_insert_default();
    state.outputs = Some(gpucc::link::read_locations(&compiled.ssa));
    Ok(Pair { vertex, fragment, compiled, options })
}

/// The number of the entry point of a stage and, where one is given, a name.
fn the_one(parsed: &Parsed, name: Option<&str>, stage: Stage) -> Result<usize, Failure> {
    let entries = parsed.entries.iter().enumerate();
    let of_stage: Vec<(usize, &Entry)> =
        entries.filter(|(_, entry)| entry.stage.is_none_or(|own| own == stage)).collect();
    let known: Vec<&str> = of_stage.iter().map(|(_, entry)| entry.name.as_str()).collect();
    let what = stage.name();
    match (name, &of_stage[..]) {
        (None, [(one, _)]) => Ok(*one),
        (None, []) => Err(Failure::usage(format!("--link: there is no {what} entry point"))),
        (None, _) => Err(Failure::usage(format!("--link: there are several {what} entry points"))
            .note(format!("choose with --link=VS,FS; there are {}", known.join(", ")))),
        (Some(name), _) => match of_stage.iter().find(|(_, entry)| entry.name == name) {
            Some((one, _)) => Ok(*one),
            None => {
                let message = format!("--link: there is no {what} entry point '{name}'");
                Err(super::unknown_name(message, name, known))
            }
        },
    }
}

/// Refuses an input that was probably meant as a command: it is no file and has no extension.
fn is_file_like(path: &Path) -> Result<(), Failure> {
    if path.extension().is_some() || path == Path::new("-") || path.exists() {
        return Ok(());
    }
    let commands = super::command_names();
    let known = commands.iter().map(String::as_str);
    let message = format!("{} is neither a file nor a command", shown(path));
    if matches!(path.to_str(), Some("compile" | "build")) {
        return Err(Failure::usage(message)
            .note("compiling takes no command")
            .note(super::usage()));
    }
    let failure = super::unknown_name(message, &path.to_string_lossy(), known);
    Err(failure.note(super::usage()).note(format!("commands are {}", commands.join(", "))))
}

/// Compiles one entry point that the front end gave.
pub fn entry_point(
    compiler: &Compiler,
    entry: &Entry,
    options: &Options,
) -> Result<Compiled, Failure> {
    match &entry.func {
        Ok(func) => compiler.compile(func, options),
        Err(failure) => Err(failure.clone()),
    }
}

/// The exit code of several failures: the first of 101, 6, 5, 4, 3, 1 that occurred.
pub fn worst<'a>(failures: impl Iterator<Item = &'a Failure>) -> u8 {
    const ORDER: [u8; 7] = [101, 6, 5, 4, 3, 1, 2];
    failures
        .map(Failure::exit_code)
        .min_by_key(|code| ORDER.iter().position(|known| known == code))
        .unwrap_or(0)
}

/// The steps of an effort; those of a machine too where one is named.
fn list_passes(args: &CompileArgs, options: &Options) -> Result<(), Failure> {
    let mut outputs = Outputs::default();
    let (target, chip) = match &args.target.target {
        Some(_) => super::target(&args.target)?,
        None => (Target::Interp, None),
    };
    let compiler = Compiler::new(target, chip)?;
    for pass in compiler.passes(options) {
        let freedom = match pass.proof {
            gpucc::Proof::Licence(which) => format!(" ({which})"),
            gpucc::Proof::Exact | gpucc::Proof::Expansion => String::new(),
        };
        outputs.print(&format!("{:<20} {}{freedom}\n", pass.name, pass.doc));
    }
    outputs.commit()
}

/// A make rule: what was written depends on what was read.
fn depfile_rule(outputs: &Outputs, read: &[&Path]) -> Result<Vec<u8>, Failure> {
    let mut rule = Vec::new();
    for path in outputs.paths() {
        rule.extend(in_rule(path, Side::Target)?);
        rule.push(b' ');
    }
    match rule.pop() {
        Some(_) => {}
        None => rule.push(b'-'),
    }
    rule.push(b':');
    for path in read {
        rule.push(b' ');
        rule.extend(in_rule(path, Side::Source)?);
    }
    rule.push(b'\n');
    Ok(rule)
}

fn times(compiled: &[Compiled], result: &emit::Outcome<'_>) -> String {
    let mut text = format!("{:>10}  front end\n", micros(result.frontend_time.as_secs_f64()));
    for one in compiled {
        let _ = writeln!(text, "entry point '{}'", printable(&one.entry));
        let mut named = 0.0;
        for pass in &one.times {
            let seconds = pass.time.as_secs_f64();
            named += seconds;
            let changed = if pass.changed { "" } else { "  (no change)" };
            let _ = writeln!(text, "{:>10}  {}{changed}", micros(seconds), pass.name);
        }
        let total = one.compile_time.as_secs_f64();
        let _ = writeln!(text, "{:>10}  the rest", micros(total - named));
        let _ = writeln!(text, "{:>10}  total", micros(total));
    }
    text
}

fn micros(seconds: f64) -> String {
    format!("{:.0} us", seconds.max(0.0) * 1e6)
}

fn stats(compiled: &[Compiled], result: &emit::Outcome<'_>) -> Result<String, Failure> {
    let mut rows = vec![vec![
        "entry".to_owned(),
        "stage".into(),
        "instr".into(),
        "bytes".into(),
        "regs".into(),
        "live".into(),
        "spills".into(),
        "scratch".into(),
        "loops".into(),
        "branches".into(),
        "cycles".into(),
        "shortest".into(),
        "longest".into(),
        "bound by".into(),
        "us".into(),
    ]];
    for one in compiled {
        let shader = gpucc::shader_report(one, result.source, result.frontend_time);
        let stats = &shader.stats;
        let flow = one.program.as_ref().map_or(Ok(Vec::new()), gpucc::Program::flow)?;
        // Programs of an entry point run one after the other.
        let path = |of: fn(&Paths) -> f64| flow.iter().map(|one| of(&one.paths)).sum::<f64>();
        rows.push(vec![
            printable(&shader.entry),
            shader.stage.to_string(),
            stats.instructions.to_string(),
            stats.code_bytes.to_string(),
            stats.registers.to_string(),
            flow.iter().map(|one| one.pressure.live).max().unwrap_or(0).to_string(),
            stats.spills.to_string(),
            stats.scratch_bytes.to_string(),
            stats.loops.to_string(),
            stats.branches.to_string(),
            Figure(stats.cycles).to_string(),
            Figure(path(|paths| paths.shortest)).to_string(),
            Figure(path(|paths| paths.longest)).to_string(),
            stats.bound_unit.clone(),
            stats.compile_microseconds.to_string(),
        ]);
    }
    Ok(table(&rows))
}

/// Aligns columns: the first two to the left, numbers to the right.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            if column > 0 {
                line.push_str("  ");
            }
            if column < 2 {
                let _ = write!(line, "{cell:<width$}");
            } else {
                let _ = write!(line, "{cell:>width$}");
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

//! `gpucc batch`: folders and lists of shaders.

use super::args::{BatchArgs, StatsForm};
use super::cache::Cache;
use super::console::Console;
use super::emit::{self, Emit, Kind, Made};
use super::figures::{self, Record};
use super::files::{self, Outputs};
use super::folders::{self, File};
use super::input::{self, Choice, Input};
use super::names::{printable, shown};
use super::{bundle, compile, parallel};
use gpucc::{Compiler, Failure, Options, Stage, Stored, Target};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Compiles all; gives the exit code.
pub fn run(args: &BatchArgs, console: &mut Console) -> Result<u8, Failure> {
    let mut options = input::options(&args.source, &args.code)?;
    let (target, chip) = super::target(&args.target)?;
    let emits = emit::or_usual(emit::parse_all(&args.emit)?, target);
    if let Some(emit) = emits.iter().find(|emit| emit.path.is_some()) {
        return Err(Failure::usage(format!(
            "batch writes into the folder of -o: leave out `={}`",
            shown(emit.path.as_deref().unwrap_or(Path::new("")))
        )));
    }
    options.keep_machine_ir = emits.iter().any(|emit| emit.kind == Kind::Mach);
    let compiler = Compiler::new(target, chip)?;
    let cache = args.cache.as_deref().map(Cache::open).transpose()?;
    if cache.is_some() {
        if target == Target::Interp {
            return Err(Failure::usage("--cache keeps machine code, and target interp has none"));
        }
        emits.iter().try_for_each(|emit| emit.kind.kept())?;
    }
    let work = Work { args, options: &options, compiler: &compiler, emits: &emits, target, cache };
    let found = folders::collect(&args.paths)?;
    let files = found.files;
    for note in &found.notes {
        console.show(note, None);
    }
    if let Some(folder) = &args.output {
        files::make_folder(folder)?;
    }
    let jobs = args.jobs.map_or_else(parallel::processors, |jobs| jobs as usize);
    let progress = Progress::new(files.len());
    let results = parallel::map(jobs, &files, |file| {
        let result = work.file(file, console);
        progress.step();
        result
    });
    progress.clear();
    let mut outputs = Outputs::default();
    let (mut passed, mut failures) = (0, Vec::new());
    let mut records = Vec::new();
    let mut summary = String::new();
    for (path, failure) in found.failures {
        summary += &failed(&path, &failure);
        console.failure(&failure);
        failures.push(failure);
    }
    for (file, result) in files.iter().zip(results) {
        match result {
            Ok((line, figures)) => {
                passed += 1;
                records.extend(figures);
                // Figures say more.
                if args.stats.is_none() {
                    summary += &format!("ok    {}: {line}\n", shown(&file.path));
                }
            }
            Err(both) => {
                let (failure, message) = *both;
                summary += &failed(&file.path, &failure);
                files::write_stderr(&message);
                failures.push(failure);
            }
        }
    }
    let all = passed + failures.len();
    let plural = if all == 1 { "" } else { "s" };
    let failed = failures.len();
    summary += &format!("{all} file{plural}: {passed} compiled, {failed} failed\n");
    if let Some(cache) = &work.cache {
        summary += &cache.summary();
        if let Some(warning) = cache.warning() {
            console.show(&warning, None);
        }
    }
    match args.stats {
        None => outputs.print(&summary),
        Some(form) => {
            outputs.print(&match form {
                _ if args.json => figures::json_lines(&records),
                StatsForm::Table => figures::table(&records),
                StatsForm::Csv => figures::csv(&records),
            });
            files::write_stderr(&summary);
        }
    }
    outputs.commit()?;
    Ok(compile::worst(failures.iter()))
}

/// The line of a failure: where, exit code, what.
fn failed(path: &Path, failure: &Failure) -> String {
    let summary = failure.summary();
    let line = summary.lines().next().unwrap_or("");
    let line: String = printable(line).chars().take(160).collect();
    let code = failure.exit_code();
    format!("fail  {}: exit {code}: {line}\n", shown(path))
}

/// The summary of a file and the figures of its entry points.
type Done = (String, Vec<Record>);

struct Work<'a> {
    args: &'a BatchArgs,
    options: &'a Options,
    compiler: &'a Compiler,
    emits: &'a [Emit],
    target: Target,
    cache: Option<Cache>,
}

impl Work<'_> {
    /// Compiles one file: its summary and figures, or the failure with its message.
    fn file(&self, file: &File, console: &Console) -> Result<Done, Box<(Failure, String)>> {
        let mut console = console.clone();
        self.compile(file, &mut console).map_err(|mut failure| {
            if let Ok(input) = Input::read(&file.path, self.args.source.lang) {
                bundle::attach(&mut failure, &input.text);
            }
            let message = failure
                .diagnostics
                .iter()
                .map(|diagnostic| console.render(diagnostic, Some(failure.exit_code())))
                .collect();
            Box::new((failure, message))
        })
    }

    fn compile(&self, file: &File, console: &mut Console) -> Result<Done, Failure> {
        let input = Input::read(&file.path, self.args.source.lang)?;
        let stage = self.args.entry.stage.map(Stage::from);
        let choice = Choice { entry: self.args.entry.entry.as_deref(), stage };
        console.set_source(input.text.clone());
        let preprocessed = input.preprocessed(self.compiler, self.options, self.emits)?;
        let (source, options) = (input.source(stage)?, input.options(self.options));
        let cached = match &self.cache {
            Some(cache) => Some((cache, self.compiler.key(source, choice, &options)?)),
            None => None,
        };
        let mut result = emit::Outcome {
            compiler: self.compiler,
            source: &input.text,
            preprocessed: preprocessed.as_deref(),
            made: Made::Now(&[]),
            stem: file.stem.clone(),
            frontend_time: Duration::ZERO,
            warnings: &[],
            errors: &[],
        };
        if let Some(stored) = cached.and_then(|(cache, key)| cache.get(self.compiler, &key)) {
            result.made = Made::Before(&stored);
            result.warnings = &stored.warnings;
            return self.write(file, &result);
        }
        let mut parsed = self.compiler.parse(source, choice, &options)?;
        input::choose(&mut parsed, choice.entry, stage)?;
        let mut compiled = Vec::new();
        for entry in &parsed.entries {
            compiled.push(compile::entry_point(self.compiler, entry, self.options)?);
        }
        if let Some((cache, key)) = cached {
            cache.put(&key, &Stored::of(&parsed.warnings, &compiled).to_blob(&key)?);
        }
        result.made = Made::Now(&compiled);
        result.frontend_time = parsed.frontend_time;
        result.warnings = &parsed.warnings;
        self.write(file, &result)
    }

    /// Writes what is asked for; gives the summary and the figures.
    fn write(&self, file: &File, result: &emit::Outcome<'_>) -> Result<Done, Failure> {
        if let Some(folder) = &self.args.output {
            let folder = folder.join(&file.inner);
            files::make_folder(&folder)?;
            let mut outputs = Outputs::default();
            emit::emit(result, self.emits, Some(&folder), &mut outputs)?;
            outputs.commit()?;
        }
        let records = match self.args.stats {
            None => Vec::new(),
            Some(_) => {
                let (target, chip) = (self.compiler.target().name(), self.compiler.chip());
                let name = file.path.to_string_lossy();
                let shaders = emit::shaders(result).into_iter();
                let record =
                    |shader| Record::of(&name, target.into(), chip.map(Into::into), shader);
                shaders.map(record).collect()
            }
        };
        let binaries = result.made.binaries();
        let bytes: usize = binaries
            .iter()
            .filter_map(|one| one.program.as_ref())
            .map(|program| program.code().len())
            .sum();
        let points = binaries.len();
        let s = if points == 1 { "" } else { "s" };
        let line = match self.target {
            Target::Interp => format!("{points} entry point{s}"),
            _ => format!("{points} entry point{s}, {bytes} bytes"),
        };
        Ok((line, records))
    }
}

/// A counter on a terminal; nothing elsewhere.
struct Progress {
    on: bool,
    done: AtomicUsize,
    all: usize,
}

impl Progress {
    fn new(all: usize) -> Progress {
        Progress { on: std::io::stderr().is_terminal(), done: AtomicUsize::new(0), all }
    }

    fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.on {
            const WIDTH: usize = 40;
            let filled = done * WIDTH / self.all.max(1);
            let bar = "#".repeat(filled) + &".".repeat(WIDTH - filled);
            files::write_stderr(&format!("\r[{bar}] {done}/{}", self.all));
        }
    }

    fn clear(&self) {
        if self.on {
            files::write_stderr("\r\x1b[K");
        }
    }
}

//! `gpucc batch`: folders and lists of shaders.

use super::args::BatchArgs;
use super::console::Console;
use super::emit::{self, Emit, Kind};
use super::files::{self, Outputs};
use super::input::{self, Choice, Input};
use super::{bundle, compile, parallel};
use gpucc::{Compiler, Failure, Options, Stage, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Suffixes of files that folders are searched for.
const SHADERS: [&str; 7] = ["wgsl", "spv", "vert", "frag", "comp", "glsl", "ir"];

/// Compiles all; gives the exit code.
pub fn run(args: &BatchArgs, console: &mut Console) -> Result<u8, Failure> {
    let mut options = input::options(&args.source, &args.code)?;
    let (target, chip) = super::target(&args.target)?;
    let emits = compile::emits(&args.emit, target)?;
    if let Some(emit) = emits.iter().find(|emit| emit.path.is_some()) {
        return Err(Failure::usage(format!(
            "batch writes into the folder of -o: leave out `={}`",
            emit.path.as_deref().unwrap_or(Path::new("")).display()
        )));
    }
    options.keep_machine_ir = emits.iter().any(|emit| emit.kind == Kind::Mach);
    let compiler = Compiler::new(target, chip)?;
    let work = Work {
        args,
        options: &options,
        compiler: &compiler,
        emits: &emits,
        target,
    };
    let files = collect(&args.paths)?;
    std::fs::create_dir_all(&args.output).map_err(|error| {
        Failure::usage(format!(
            "cannot make the folder {}: {}",
            args.output.display(),
            files::reason(&error)
        ))
    })?;
    let jobs = args
        .jobs
        .map_or_else(parallel::processors, |jobs| jobs as usize);
    let progress = Progress::new(files.len());
    let results = parallel::map(jobs, &files, |file| {
        let result = work.file(file, console);
        progress.step();
        result
    });
    progress.clear();
    let mut outputs = Outputs::default();
    let (mut passed, mut failures) = (0, Vec::new());
    for (file, result) in files.iter().zip(results) {
        match result {
            Ok(line) => {
                passed += 1;
                outputs.print(&format!("ok    {}: {line}\n", file.path.display()));
            }
            Err(both) => {
                let (failure, message) = *both;
                let code = failure.exit_code();
                outputs.print(&format!(
                    "fail  {}: exit {code}: {}\n",
                    file.path.display(),
                    one_line(failure.summary())
                ));
                files::write_stderr(&message);
                failures.push(failure);
            }
        }
    }
    outputs.print(&format!(
        "{} file{}: {passed} compiled, {} failed\n",
        files.len(),
        if files.len() == 1 { "" } else { "s" },
        failures.len()
    ));
    outputs.commit()?;
    Ok(compile::worst(failures.iter()))
}

fn one_line(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or("")
        .chars()
        .take(160)
        .collect()
}

/// A shader and where its outputs go within the folder.
struct File {
    path: PathBuf,
    inner: PathBuf,
    /// What its outputs are called by.
    stem: String,
}

impl File {
    fn new(path: PathBuf, inner: PathBuf) -> File {
        let stem = path.file_stem().unwrap_or_default();
        File {
            stem: stem.to_string_lossy().into_owned(),
            path,
            inner,
        }
    }
}

/// Files whose outputs would have the same names keep their extensions in them (`a.vert`, `a.frag`).
fn tell_apart(files: &mut [File]) -> Result<(), Failure> {
    let mut owners: BTreeMap<(PathBuf, String), usize> = BTreeMap::new();
    for file in files.iter() {
        *owners
            .entry((file.inner.clone(), file.stem.clone()))
            .or_default() += 1;
    }
    let mut known: BTreeMap<(PathBuf, String), PathBuf> = BTreeMap::new();
    for file in files {
        if owners[&(file.inner.clone(), file.stem.clone())] > 1 {
            let name = file.path.file_name().unwrap_or_default();
            file.stem = name.to_string_lossy().into_owned();
        }
        let place = (file.inner.clone(), file.stem.clone());
        if let Some(other) = known.insert(place, file.path.clone())
            && other != file.path
        {
            return Err(Failure::usage(format!(
                "{} and {} would write the same files",
                other.display(),
                file.path.display()
            ))
            .note("name their folder instead: its folders are kept apart"));
        }
    }
    Ok(())
}

/// Every shader that the paths name, each once, in a stable order.
fn collect(paths: &[PathBuf]) -> Result<Vec<File>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            folder(path, path, 0, &mut found)?;
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            let base = path.parent().unwrap_or(Path::new(""));
            for line in files::read_text(path)?.lines() {
                let line = line.trim();
                if !line.is_empty() && !line.starts_with('#') {
                    found.push(File::new(base.join(line), PathBuf::new()));
                }
            }
        } else {
            found.push(File::new(path.clone(), PathBuf::new()));
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|file| seen.insert(file.path.clone()));
    tell_apart(&mut found)?;
    Ok(found)
}

fn folder(root: &Path, path: &Path, depth: u32, found: &mut Vec<File>) -> Result<(), Failure> {
    if depth > 64 {
        return Err(Failure::usage(format!(
            "{}: folders nest more than 64 deep",
            path.display()
        )));
    }
    let fail = |error: std::io::Error| {
        Failure::usage(format!(
            "cannot read {}: {}",
            path.display(),
            files::reason(&error)
        ))
    };
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(fail)? {
        entries.push(entry.map_err(fail)?.path());
    }
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            folder(root, &entry, depth + 1, found)?;
        } else if entry
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|extension| SHADERS.contains(&extension))
        {
            let inner = entry
                .parent()
                .and_then(|parent| parent.strip_prefix(root).ok())
                .unwrap_or(Path::new(""))
                .to_owned();
            found.push(File::new(entry, inner));
        }
    }
    Ok(())
}

struct Work<'a> {
    args: &'a BatchArgs,
    options: &'a Options,
    compiler: &'a Compiler,
    emits: &'a [Emit],
    target: Target,
}

impl Work<'_> {
    /// Compiles one file: its summary, or the failure with its message.
    fn file(&self, file: &File, console: &Console) -> Result<String, Box<(Failure, String)>> {
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

    fn compile(&self, file: &File, console: &mut Console) -> Result<String, Failure> {
        let input = Input::read(&file.path, self.args.source.lang)?;
        let stage = self.args.entry.stage.map(Stage::from);
        let choice = Choice {
            entry: self.args.entry.entry.as_deref(),
            stage,
        };
        console.set_source(input.text.clone());
        let mut parsed = self
            .compiler
            .parse(input.source(stage)?, choice, self.options)?;
        input::choose(&mut parsed, choice.entry, stage)?;
        let mut compiled = Vec::new();
        for entry in &parsed.entries {
            compiled.push(compile::entry_point(self.compiler, entry, self.options)?);
        }
        let result = emit::Outcome {
            compiler: self.compiler,
            source: &input.text,
            compiled: &compiled,
            stem: file.stem.clone(),
            frontend_time: parsed.frontend_time,
            warnings: &parsed.warnings,
            errors: &[],
        };
        let folder = self.args.output.join(&file.inner);
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::usage(format!(
                "cannot make the folder {}: {}",
                folder.display(),
                files::reason(&error)
            ))
        })?;
        let mut outputs = Outputs::default();
        emit::emit(&result, self.emits, Some(&folder), &mut outputs)?;
        outputs.commit()?;
        let bytes: usize = compiled
            .iter()
            .filter_map(|one| one.program.as_deref())
            .map(|program| program.code().len())
            .sum();
        let points = compiled.len();
        let s = if points == 1 { "" } else { "s" };
        Ok(match self.target {
            Target::Interp => format!("{points} entry point{s}"),
            _ => format!("{points} entry point{s}, {bytes} bytes"),
        })
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
        Progress {
            on: std::io::stderr().is_terminal(),
            done: AtomicUsize::new(0),
            all,
        }
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

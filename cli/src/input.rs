//! From arguments to a source and to options of the compiler.

use super::args::{CodeArgs, Evidence, Lang, Opt, Robust, SourceArgs, Switch};
use super::console::Console;
use super::emit::{Emit, Kind};
use super::files;
use super::names::{printable, shown};
pub use gpucc::Choice;
use gpucc::{
    Effort, Entry, EvidenceClass, Failure, IncludedText, Includes, Options, Parsed, Pipeline,
    Source, SourceText, Stage, Target,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A source file in memory.
pub struct Input {
    bytes: Vec<u8>,
    lang: Lang,
    stage: Option<Stage>,
    /// For messages and line tables.
    pub text: SourceText,
}

impl Input {
    /// Reads a source and finds its language by name, or by `--lang`.
    pub fn read(path: &Path, lang: Option<Lang>) -> Result<Input, Failure> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        let named = match extension {
            "wgsl" => Some((Lang::Wgsl, None)),
            "spv" => Some((Lang::Spirv, None)),
            "ir" => Some((Lang::Ir, None)),
            "glsl" => Some((Lang::Glsl, None)),
            "vert" => Some((Lang::Glsl, Some(Stage::Vertex))),
            "geom" => Some((Lang::Glsl, Some(Stage::Geometry))),
            "frag" => Some((Lang::Glsl, Some(Stage::Fragment))),
            "comp" => Some((Lang::Glsl, Some(Stage::Compute))),
            _ => None,
        };
        let (lang, stage) = match (lang, named) {
            (Some(lang), Some((same, stage))) if lang == same => (lang, stage),
            (Some(lang), _) => (lang, None),
            (None, Some(named)) => named,
            (None, None) if path == Path::new("-") => {
                return Err(Failure::usage(
                    "stdin has no name to tell its language by: add --lang wgsl, spirv, glsl or ir",
                ));
            }
            (None, None) if path.is_dir() => {
                return Err(Failure::usage(format!("{} is a folder", shown(path)))
                    .note("`gpucc batch` compiles folders"));
            }
            (None, None) => {
                files::read(path)?;
                return Err(Failure::usage(format!("cannot tell the language of {}", shown(path)))
                    .note(
                        "known are .wgsl .spv .vert .geom .frag .comp .glsl .ir; or say --lang",
                    ));
            }
        };
        let bytes = files::read(path)?;
        let name = if path == Path::new("-") {
            "<stdin>".to_owned()
        } else {
            path.to_string_lossy().replace('\\', "/")
        };
        let (bytes, text) = match lang {
            Lang::Spirv => {
                let text = SourceText::spirv(name, &bytes);
                (bytes, text)
            }
            Lang::Wgsl | Lang::Glsl | Lang::Ir => {
                (Vec::new(), SourceText::new(name, Some(files::text(path, bytes)?)))
            }
        };
        Ok(Input { bytes, lang, stage, text })
    }

    /// The options for this source. Its includes are searched beside it.
    pub fn options(&self, options: &Options) -> Options {
        let mut own = options.clone();
        own.includes = options.includes.as_ref().map(|all| all.for_source(&self.text.name));
        own
    }

    /// The text behind GLSL's preprocessor, if one of these forms asks for it.
    pub fn preprocessed(
        &self,
        compiler: &gpucc::Compiler,
        options: &Options,
        emits: &[Emit],
    ) -> Result<Option<String>, Failure> {
        if emits.iter().all(|emit| emit.kind != Kind::Pre) {
            return Ok(None);
        }
        match (self.lang, &self.text.text) {
            (Lang::Glsl, Some(text)) => compiler.preprocess(text, &self.options(options)).map(Some),
            _ => Err(Failure::usage("--emit pre is for GLSL: no other language has macros")),
        }
    }

    /// What the compiler reads.
    pub fn source(&self, stage: Option<Stage>) -> Result<Source<'_>, Failure> {
        let text = self.text.text.as_deref().unwrap_or("");
        Ok(match self.lang {
            Lang::Wgsl => Source::Wgsl(text),
            Lang::Ir => Source::Ir(text),
            Lang::Spirv => Source::SpirV(&self.bytes),
            Lang::Glsl => match stage.or(self.stage).or_else(|| pragma(text)) {
                Some(stage) => Source::Glsl(text, stage),
                None => {
                    return Err(Failure::usage(format!(
                        "{}: GLSL does not say its stage",
                        printable(&self.text.name)
                    ))
                    .note(
                        "add --stage, name the file .vert, .geom, .frag or .comp, or write \
                         `#pragma shader_stage(compute)` in it",
                    ));
                }
            },
        })
    }
}

/// The stage that `#pragma shader_stage(...)` names, as glslc reads it.
fn pragma(text: &str) -> Option<Stage> {
    let line =
        text.lines().map(str::trim).find_map(|line| line.strip_prefix("#pragma shader_stage("))?;
    match line.trim_end_matches(')').trim() {
        "vertex" => Some(Stage::Vertex),
        "geometry" => Some(Stage::Geometry),
        "fragment" => Some(Stage::Fragment),
        "compute" => Some(Stage::Compute),
        _ => None,
    }
}

/// Options of the compiler from the arguments.
pub fn options(source: &SourceArgs, code: &CodeArgs) -> Result<Options, Failure> {
    options_that_note(source, code, &Included::default())
}

/// Files that `#include` read, in the order of their names.
#[derive(Clone, Debug, Default)]
pub struct Included(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Included {
    /// The files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Options from the arguments; `read` comes to know what is included.
pub fn options_that_note(
    source: &SourceArgs,
    code: &CodeArgs,
    read: &Included,
) -> Result<Options, Failure> {
    let mut options = Options::default();
    if let Some(path) = &source.pipeline {
        options.pipeline = Pipeline::parse(&files::read_text(path)?)
            .map_err(|problem| Failure::usage(format!("{}: {problem}", shown(path))))?;
    }
    for text in &source.overrides {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--override {text}: write NAME=VALUE or ID=VALUE"))
        })?;
        let value = match value.trim() {
            "true" => 1.0,
            "false" => 0.0,
            number => number.parse::<f64>().map_err(|_| {
                Failure::usage(format!("--override {name}: `{number}` is not a number"))
            })?,
        };
        options.overrides.insert(name.trim().to_owned(), value);
    }
    options.overrides_default = source.overrides_default;
    options.defines = source
        .defines
        .iter()
        .map(|text| text.split_once('=').unwrap_or((text, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    options.includes = Some(includes(source.include_dirs.clone(), read.clone()));
    options.effort = match code.opt {
        Opt::None => Effort::None,
        Opt::Some => Effort::Some,
        Opt::Full => Effort::Full,
        Opt::Max => Effort::Max,
    };
    options.robust = match (code.robust, options.pipeline.robust) {
        (Some(Robust::Restrict), _) => gpucc::Robust::Restrict,
        (Some(Robust::Zero), _) => gpucc::Robust::Zero,
        (Some(Robust::Off), _) => gpucc::Robust::Off,
        (None, inner) => inner.unwrap_or_default(),
    };
    for pass in code.skip.iter().chain(&code.stop_after) {
        known_pass(pass)?;
    }
    options.bound_loops = code.bound_loops == Some(Switch::On);
    options.evidence = match code.evidence {
        Some(Evidence::Proven) => Some(EvidenceClass::Proven),
        Some(Evidence::Manual) => Some(EvidenceClass::Manual),
        Some(Evidence::Any) | None => None,
    };
    options.keep_workgroup = code.zero_workgroup == Some(Switch::Off);
    options.skip.clone_from(&code.skip);
    options.stop_after.clone_from(&code.stop_after);
    options.fuel = code.fuel;
    if let Some(mebibytes) = code.memory {
        options.budget.memory = u64::from(mebibytes) << 20;
    }
    if let Some(millions) = code.steps {
        options.budget.steps = u64::from(millions) * 1_000_000;
    }
    options.verify_each = code.verify_each;
    Ok(options)
}

/// Texts for `#include`. Names in quotes are searched beside the including file first, then in these folders.
fn includes(dirs: Vec<PathBuf>, read: Included) -> Includes {
    Includes::new(move |include| {
        let beside = Path::new(include.from).parent().filter(|_| !include.angled);
        let mut tried = Vec::new();
        for dir in beside.into_iter().chain(dirs.iter().map(PathBuf::as_path)) {
            let path = dir.join(include.name);
            if path.is_file() {
                let text =
                    files::read_text(&path).map_err(|failure| failure.summary().to_owned())?;
                let mut all = read.0.lock().unwrap_or_else(PoisonError::into_inner);
                all.insert(path.clone());
                return Ok(IncludedText { name: path.to_string_lossy().replace('\\', "/"), text });
            }
            tried.push(if dir.as_os_str().is_empty() { ".".to_owned() } else { shown(dir) });
        }
        Err(match tried.is_empty() {
            true => "no folder is given: add `-I DIR`".to_owned(),
            false => {
                format!("there is no such file in {}; `-I DIR` adds a folder", tried.join(", "))
            }
        })
    })
}

/// An error for a name that is no pass of any machine.
pub fn known_pass(name: &str) -> Result<(), Failure> {
    let mut known = Vec::new();
    for target in Target::ALL.iter().copied().filter(|target| target.is_built()) {
        known.extend(gpucc::Compiler::new(target, None)?.every_pass().iter().map(|pass| pass.name));
    }
    if known.contains(&name) {
        return Ok(());
    }
    let message = format!("there is no pass '{name}'");
    Err(super::unknown_name(message, name, known).note("--passes lists them"))
}

/// Reads a source with its entry points, and lets messages point into it from now on.
pub fn parse(
    compiler: &gpucc::Compiler,
    input: &Input,
    choice: Choice<'_>,
    options: &Options,
    console: &mut Console,
) -> Result<Parsed, Failure> {
    console.set_source(input.text.clone());
    let parsed = compiler.parse(input.source(choice.stage)?, choice, &input.options(options))?;
    for warning in &parsed.warnings {
        console.show(warning, None);
    }
    Ok(parsed)
}

/// Keeps the entry points that `--entry` and `--stage` choose.
pub fn choose(
    parsed: &mut Parsed,
    entry: Option<&str>,
    stage: Option<Stage>,
) -> Result<(), Failure> {
    let refusal = nothing_of(parsed, entry, stage);
    parsed.entries.retain(|candidate| is_chosen(candidate, entry, stage));
    match parsed.entries.is_empty() {
        true => Err(refusal),
        false => Ok(()),
    }
}

fn is_chosen(candidate: &Entry, entry: Option<&str>, stage: Option<Stage>) -> bool {
    entry.is_none_or(|name| candidate.name == name)
        && stage.is_none_or(|stage| candidate.stage.is_none_or(|own| own == stage))
}

/// An error that no entry point is chosen, with those that exist.
fn nothing_of(parsed: &Parsed, entry: Option<&str>, stage: Option<Stage>) -> Failure {
    if parsed.entries.is_empty() {
        return Failure::invalid("the shader has no entry point")
            .note("mark a function with @vertex, @fragment or @compute");
    }
    let wanted = match (entry, stage) {
        (Some(name), Some(stage)) => format!("{} entry point '{name}'", stage.name()),
        (Some(name), None) => format!("entry point '{name}'"),
        (None, Some(stage)) => format!("{} entry point", stage.name()),
        (None, None) => "entry point".to_owned(),
    };
    let all: Vec<String> = parsed
        .entries
        .iter()
        .map(|entry| match entry.stage {
            Some(stage) => format!("{} ({})", printable(&entry.name), stage.name()),
            None => printable(&entry.name),
        })
        .collect();
    Failure::usage(format!("there is no {wanted}"))
        .note(format!("entry points are {}", all.join(", ")))
}

/// The one entry point of a stage.
pub fn one(parsed: &Parsed, entry: Option<&str>, stage: Stage) -> Result<gpucc::Func, Failure> {
    let chosen: Vec<&Entry> = parsed
        .entries
        .iter()
        .filter(|candidate| is_chosen(candidate, entry, Some(stage)))
        .collect();
    // An entry point that could not be read has no known stage. Its failure counts if there is no other entry point.
    let readable: Vec<&Entry> = chosen.iter().copied().filter(|one| one.func.is_ok()).collect();
    match (&readable[..], &chosen[..]) {
        ([one], _) | ([], [one, ..]) => one.func.clone(),
        ([], []) => Err(nothing_of(parsed, entry, Some(stage))),
        (several, _) => {
            let names: Vec<&str> = several.iter().map(|one| one.name.as_str()).collect();
            Err(Failure::usage(format!(
                "there are several {} entry points: choose one",
                stage.name()
            ))
            .note(format!("they are {}", names.join(", "))))
        }
    }
}

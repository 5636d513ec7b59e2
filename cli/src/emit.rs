//! What `--emit` asks for, and how each kind is made.

use super::files::Outputs;
use gpucc::{Binary, Compiled, Compiler, Failure, Func, SourceText, Stored, Target};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A form of the result.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Asm,
    Bin,
    Hex,
    Json,
    Ir,
    Mach,
    Cfg,
    MachineCfg,
    Elf,
    Html,
    Pre,
}

impl Kind {
    const ALL: [(&'static str, Kind, &'static str); 11] = [
        ("asm", Kind::Asm, "s"),
        ("bin", Kind::Bin, "bin"),
        ("hex", Kind::Hex, "hex"),
        ("json", Kind::Json, "json"),
        ("ir", Kind::Ir, "ir"),
        ("mach", Kind::Mach, "mach"),
        ("cfg", Kind::Cfg, "dot"),
        ("cfg=mach", Kind::MachineCfg, "mach.dot"),
        ("elf", Kind::Elf, "elf"),
        ("html", Kind::Html, "html"),
        ("pre", Kind::Pre, "pre.glsl"),
    ];

    fn name(self) -> &'static str {
        Kind::ALL.iter().find(|row| row.1 == self).map_or("?", |row| row.0)
    }

    fn extension(self) -> &'static str {
        Kind::ALL.iter().find(|row| row.1 == self).map_or("out", |row| row.2)
    }

    /// A cache keeps what it shows.
    ///
    /// # Errors
    /// That none does.
    pub fn kept(self) -> Result<(), Failure> {
        match self {
            Kind::Ir | Kind::Mach | Kind::Cfg | Kind::Html => Err(not_kept(self)),
            Kind::Asm
            | Kind::Bin
            | Kind::Hex
            | Kind::Json
            | Kind::MachineCfg
            | Kind::Elf
            | Kind::Pre => Ok(()),
        }
    }

    fn is_binary(self) -> bool {
        matches!(self, Kind::Bin | Kind::Elf)
    }
}

/// One `--emit`.
#[derive(Clone, Debug)]
pub struct Emit {
    /// What.
    pub kind: Kind,
    /// Where; `-o` when absent.
    pub path: Option<PathBuf>,
}

impl Emit {
    /// Parses `KIND[=PATH]`. One kind has a `=` in its name.
    pub fn parse(text: &str) -> Result<Emit, Failure> {
        let machine = "cfg=mach";
        let rest =
            text.strip_prefix(machine).filter(|rest| rest.is_empty() || rest.starts_with('='));
        let (name, path) = match rest {
            Some(rest) => (machine, rest.strip_prefix('=').map(PathBuf::from)),
            None => match text.split_once('=') {
                Some((name, path)) => (name, Some(PathBuf::from(path))),
                None => (text, None),
            },
        };
        let kind =
            Kind::ALL.iter().find(|row| row.0 == name).map(|row| row.1).ok_or_else(|| {
                let names: Vec<&str> = Kind::ALL.iter().map(|row| row.0).collect();
                super::unknown_name(
                    format!("--emit knows no '{name}'"),
                    name,
                    names.iter().copied(),
                )
                .note(format!("kinds are {}", names.join(", ")))
            })?;
        Ok(Emit { kind, path })
    }
}

/// The `--emit` arguments.
pub fn parse_all(texts: &[String]) -> Result<Vec<Emit>, Failure> {
    texts.iter().map(|text| Emit::parse(text)).collect()
}

/// These; assembly where there are none (SSA for the interpreter).
pub fn or_usual(mut emits: Vec<Emit>, target: Target) -> Vec<Emit> {
    if emits.is_empty() {
        let kind = if target == Target::Interp { Kind::Ir } else { Kind::Asm };
        emits.push(Emit { kind, path: None });
    }
    emits
}

/// Where entry points come from.
#[derive(Copy, Clone)]
pub enum Made<'a> {
    /// They were compiled.
    Now(&'a [Compiled]),
    /// A cache had them: there is no SSA.
    Before(&'a Stored),
}

/// An entry point, with its SSA where it was compiled now.
type One<'a> = (&'a Binary, Option<&'a Func>);

impl<'a> Made<'a> {
    /// The entry points in source order.
    fn all(self) -> Vec<One<'a>> {
        match self {
            Made::Now(compiled) => {
                compiled.iter().map(|one| (&one.binary, Some(&one.ssa))).collect()
            }
            Made::Before(stored) => {
                stored.entries.iter().map(|entry| (&entry.binary, None)).collect()
            }
        }
    }

    /// The same without SSA.
    pub fn binaries(self) -> Vec<&'a Binary> {
        self.all().into_iter().map(|(binary, _)| binary).collect()
    }
}

/// What was compiled, with what is needed to write it.
pub struct Outcome<'a> {
    /// The compiler.
    pub compiler: &'a Compiler,
    /// The source.
    pub source: &'a SourceText,
    /// The source behind GLSL's preprocessor, where a form asks for it.
    pub preprocessed: Option<&'a str>,
    /// Entry points that compiled, in source order.
    pub made: Made<'a>,
    /// What files in a folder are called by.
    pub stem: String,
    /// Time of the front end.
    pub frontend_time: Duration,
    /// Warnings of the front end.
    pub warnings: &'a [gpucc::Diagnostic],
    /// Errors of entry points that did not compile, under `--keep-going`.
    pub errors: &'a [gpucc::Diagnostic],
}

/// Puts every `--emit` into the outputs. `output` is `-o`.
pub fn emit(
    result: &Outcome<'_>,
    emits: &[Emit],
    output: Option<&Path>,
    outputs: &mut Outputs,
) -> Result<(), Failure> {
    for emit in emits {
        let path = emit.path.as_deref().or(output);
        let folder = path.filter(|path| is_folder(path));
        match emit.kind {
            Kind::Json | Kind::Elf | Kind::Html | Kind::Pre => {
                let whole = format!("{}.{}", result.stem, emit.kind.extension());
                let path = folder.map(|folder| folder.join(whole));
                let path = path.as_deref().or(emit.path.as_deref()).or(output);
                let bytes = whole_file(result, emit.kind)?;
                outputs.put(path, bytes, emit.kind.is_binary());
            }
            _ if folder.is_some() => {
                let folder = folder.expect("just tested");
                let names = gpucc::unique_names(&result.made.binaries());
                for (one, name) in result.made.all().into_iter().zip(names) {
                    let name =
                        format!("{}.{}.{}", result.stem, file_name(&name), emit.kind.extension());
                    let bytes = bytes(one, emit.kind)?;
                    outputs.put(Some(&folder.join(name)), bytes, emit.kind.is_binary());
                }
            }
            Kind::Bin if result.made.all().len() > 1 => {
                let binaries = result.made.binaries();
                let names: Vec<&str> = binaries.iter().map(|one| one.entry.as_str()).collect();
                return Err(Failure::usage(format!(
                    "one file cannot hold the machine code of several entry points: {}",
                    names.join(", ")
                ))
                .note("choose one with --entry, or name a folder with -o"));
            }
            _ => {
                let mut all = Vec::new();
                let entries = result.made.all();
                let several = entries.len() > 1;
                for one in entries {
                    if several && emit.kind == Kind::Asm {
                        if !all.is_empty() {
                            all.push(b'\n');
                        }
                        let head =
                            format!("; {} entry point '{}'\n", one.0.stage.name(), one.0.entry);
                        all.extend_from_slice(head.as_bytes());
                    }
                    all.extend(bytes(one, emit.kind)?);
                }
                outputs.put(path, all, emit.kind.is_binary());
            }
        }
    }
    Ok(())
}

/// True for a path that is a folder or is written as one.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with(['/', '\\'])
}

/// The file's name without its folder and extension.
pub fn stem(source: &SourceText) -> String {
    Path::new(&source.name)
        .file_stem()
        .map_or_else(|| "shader".into(), |stem| stem.to_string_lossy().into_owned())
        .replace(['<', '>'], "")
}

/// An entry point's name as part of a file's name.
fn file_name(entry: &str) -> String {
    entry
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' })
        .collect()
}

fn bytes((binary, ssa): One<'_>, kind: Kind) -> Result<Vec<u8>, Failure> {
    let ssa = || ssa.ok_or_else(|| not_kept(kind));
    let program = || binary.program.as_ref().ok_or_else(|| no_machine(kind));
    Ok(match kind {
        Kind::Asm => program()?.assembly()?.into_bytes(),
        Kind::Bin => program()?.code().to_vec(),
        Kind::Hex => program()?.hex().into_bytes(),
        Kind::Ir => gpucc::print_ir(ssa()?).into_bytes(),
        Kind::Mach => ssa().and_then(|_| program())?.machine_ir().as_bytes().to_vec(),
        Kind::Cfg => gpucc::cfg(ssa()?).into_bytes(),
        Kind::MachineCfg => gpucc::machine_cfg(program()?, &binary.entry)?.into_bytes(),
        Kind::Json | Kind::Elf | Kind::Html | Kind::Pre => {
            unreachable!("made once for all entry points")
        }
    })
}

/// The kinds that hold all entry points at once.
fn whole_file(result: &Outcome<'_>, kind: Kind) -> Result<Vec<u8>, Failure> {
    let compiler = result.compiler;
    if kind == Kind::Pre {
        return Ok(result.preprocessed.unwrap_or_default().into());
    }
    let report = if kind == Kind::Elf { report(result) } else { whole_report(result)? };
    Ok(match kind {
        Kind::Elf if compiler.target() == Target::Interp => return Err(no_machine(kind)),
        Kind::Elf => {
            gpucc::elf(compiler.target(), compiler.chip(), &result.made.binaries(), &report)
        }
        Kind::Html => {
            let Made::Now(compiled) = result.made else {
                return Err(not_kept(kind));
            };
            let column = gpucc::Column { compiled, report: &report };
            gpucc::explorer(result.source, &[column])?.into_bytes()
        }
        _ => {
            let mut text = serde_json::to_string_pretty(&report).expect("plain data");
            text.push('\n');
            text.into_bytes()
        }
    })
}

fn not_kept(kind: Kind) -> Failure {
    Failure::usage(format!("--emit {} shows what no cache keeps: leave out --cache", kind.name()))
}

fn no_machine(kind: Kind) -> Failure {
    Failure::usage(format!(
        "--emit {} needs a machine: target interp has no machine code",
        kind.name()
    ))
}

/// The report with what is computed on demand: live registers, paths through the code, properties.
pub fn whole_report(result: &Outcome<'_>) -> Result<gpucc::report::Report, Failure> {
    let mut report = report(result);
    for (number, shader) in report.shaders.iter_mut().enumerate() {
        let (binary, properties) = match result.made {
            Made::Now(compiled) => {
                (&compiled[number].binary, gpucc::Properties::of(&compiled[number].ssa))
            }
            Made::Before(stored) => {
                let entry = &stored.entries[number];
                (&entry.binary, entry.properties.clone())
            }
        };
        shader.properties = Some(properties);
        shader.flow = binary.program.as_ref().map_or(Ok(Vec::new()), gpucc::Program::flow)?;
    }
    Ok(report)
}

/// The reports of all entry points, without what is computed on demand.
pub fn shaders(result: &Outcome<'_>) -> Vec<gpucc::report::Shader> {
    match result.made {
        Made::Now(compiled) => compiled
            .iter()
            .map(|one| gpucc::shader_report(one, result.source, result.frontend_time))
            .collect(),
        Made::Before(stored) => {
            let entries = stored.entries.iter();
            entries.map(|entry| gpucc::binary_report(&entry.binary, result.source)).collect()
        }
    }
}

fn report(result: &Outcome<'_>) -> gpucc::report::Report {
    let mut warnings: Vec<_> = result
        .warnings
        .iter()
        .map(|warning| gpucc::message(warning, Some(result.source)))
        .collect();
    warnings.extend(
        result
            .made
            .binaries()
            .into_iter()
            .flat_map(|binary| &binary.notes)
            .map(|note| gpucc::message(note, Some(result.source))),
    );
    gpucc::report::Report {
        schema: gpucc::report::Schema::CURRENT,
        producer: gpucc::PRODUCER.into(),
        target: result.compiler.target().name().into(),
        chip: result.compiler.chip().map(Into::into),
        shaders: shaders(result),
        warnings,
        errors: result
            .errors
            .iter()
            .map(|error| gpucc::message(error, Some(result.source)))
            .collect(),
    }
}

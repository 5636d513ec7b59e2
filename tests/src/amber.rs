//! Amber scripts of Vulkan's conformance tests that dispatch over buffers: shaders in GLSL or in the text of SPIR-V,
//! buffers with what is in them, dispatches, and what buffers must hold then.
//!
//! The text of SPIR-V is assembled by `spirv-as`: where it is absent, such scripts are left out.

use crate::cts::{FileResult, resource_at};
use gpucc::execute::Stop;
use gpucc::{Choice, Compiler, Failure, Func, Options, Robust, Source, SourceText, Stage};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Resource, ResourceKind};
use half::f16;
use indexmap::IndexMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod script;
mod values;

use script::{Binding, Check, Script, Shader, Step};

/// Where a pipeline's buffers come from, and how its shader is compiled.
struct Compiled {
    func: Func,
    compiled: gpucc::Compiled,
    options: Options,
    source: SourceText,
}

/// Runs every script that dispatches over buffers alone and whose name contains `filter`.
///
/// # Errors
/// A folder that cannot be read.
pub fn run(compiler: &Compiler, corpus: &Path, filter: &str) -> std::io::Result<Vec<FileResult>> {
    let folder = corpus.join("exec/amber-vk-gl-cts");
    let index = std::fs::read_to_string(corpus.join("index.jsonl"))?;
    let rows = index.lines().filter_map(|line| serde_json::from_str(line).ok());
    let scripts = rows.filter(|row: &serde_json::Value| {
        row["origin"] == "amber-vk-gl-cts" && row["cls"] == "compute-buffers"
    });
    let mut paths: Vec<PathBuf> = scripts
        .filter_map(|row| Some(folder.join(Path::new(row["path"].as_str()?).file_name()?)))
        .filter(|path| path.to_string_lossy().contains(filter))
        .collect();
    paths.sort();
    Ok(paths.iter().map(|path| file(compiler, path)).collect())
}

/// True where the text of SPIR-V can be assembled.
pub fn can_assemble() -> bool {
    let version = Command::new("spirv-as").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

fn file(compiler: &Compiler, path: &Path) -> FileResult {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut result = FileResult { name, ..FileResult::default() };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            result.refused = Some((2, error.to_string()));
            return result;
        }
    };
    match script::parse(&text) {
        Ok(script) => execute(compiler, &script, &mut result),
        Err(message) => result.refused = Some((2, message)),
    }
    result
}

/// Runs the steps in order. A pipeline that does not compile ends the script.
fn execute(compiler: &Compiler, script: &Script, result: &mut FileResult) {
    let checks = script.steps.iter().filter(|step| matches!(step, Step::Expect(_)));
    result.cases = checks.count();
    let mut buffers: IndexMap<&str, Vec<u8>> =
        script.buffers.iter().map(|(name, buffer)| (name.as_str(), buffer.bytes.clone())).collect();
    let mut compiled: IndexMap<&str, Compiled> = IndexMap::new();
    for step in &script.steps {
        match step {
            Step::Run { pipeline, groups } => {
                let done = run_pipeline(
                    compiler,
                    script,
                    (pipeline, *groups),
                    &mut buffers,
                    &mut compiled,
                );
                if let Err(failure) = done {
                    result.refused = Some((failure.exit_code(), failure.summary().to_owned()));
                    return;
                }
            }
            Step::Expect(check) => match wrong(script, &buffers, check) {
                None => result.right += 1,
                Some(why) => {
                    result.first_wrong.get_or_insert(why);
                }
            },
        }
    }
}

fn run_pipeline<'s>(
    compiler: &Compiler,
    script: &'s Script,
    (name, groups): (&'s str, [u32; 3]),
    buffers: &mut IndexMap<&'s str, Vec<u8>>,
    all: &mut IndexMap<&'s str, Compiled>,
) -> Result<(), Failure> {
    let missing = |what: &str, name: &str| Failure::usage(format!("no {what} `{name}`"));
    let pipeline = script.pipelines.get(name).ok_or_else(|| missing("pipeline", name))?;
    if !all.contains_key(name) {
        let shader = script.shaders.get(&pipeline.shader);
        let shader = shader.ok_or_else(|| missing("shader", &pipeline.shader))?;
        all.insert(name, compile(compiler, shader, pipeline)?);
    }
    let one = &all[name];
    let mut bindings = Bindings::new(&one.func);
    for binding in &pipeline.bindings {
        let Some(resource) = find(&one.func, binding) else { continue };
        for (element, buffer) in (0..).zip(&binding.buffers) {
            let bytes = buffers.get(buffer.as_str()).ok_or_else(|| missing("buffer", buffer))?;
            let bytes = bytes.get(binding.offset..).unwrap_or_default();
            bindings.set_element(resource, element, Bound::Buffer(bytes.to_vec()));
        }
    }
    let mut executor = compiler.executor(&one.compiled, &one.options, &one.source);
    executor.dispatch(&mut bindings, groups).map_err(Stop::into_failure)?;
    for binding in &pipeline.bindings {
        let Some(resource) = find(&one.func, binding) else { continue };
        for (element, buffer) in (0..).zip(&binding.buffers) {
            let written = bindings.get(resource, element).bytes();
            if let Some(bytes) = buffers.get_mut(buffer.as_str())
                && let Some(place) = bytes.get_mut(binding.offset..)
            {
                let count = place.len().min(written.len());
                place[..count].copy_from_slice(&written[..count]);
            }
        }
    }
    Ok(())
}

fn compile(
    compiler: &Compiler,
    shader: &Shader,
    pipeline: &script::Pipeline,
) -> Result<Compiled, Failure> {
    let mut options = Options::default();
    // Some scripts go beyond a vector that lies in a buffer, as devices without robustness let them.
    options.robust = Robust::Off;
    options.overrides = pipeline.constants.clone();
    let choice = Choice { entry: pipeline.entry.as_deref(), stage: Some(Stage::Compute) };
    let words;
    let (source, text) = match shader {
        Shader::Glsl(text) => (Source::Glsl(text, Stage::Compute), Some(text.clone())),
        Shader::SpirV { text, environment } => {
            words = assembled(text, environment.as_deref())?;
            (Source::SpirV(&words), None)
        }
    };
    let source_text = SourceText::new("shader", text);
    let mut parsed = compiler.parse(source, choice, &options)?;
    let entry = parsed.entries.pop().ok_or_else(|| Failure::usage("no entry point"))?;
    let func = entry.func?;
    let compiled = compiler.compile(&func, &options)?;
    Ok(Compiled { func, compiled, options, source: source_text })
}

/// What `spirv-as` makes of a text.
fn assembled(text: &str, environment: Option<&str>) -> Result<Vec<u8>, Failure> {
    let wrong = |error: std::io::Error| Failure::usage(format!("spirv-as: {error}"));
    let mut command = Command::new("spirv-as");
    // The text names its version; a later environment takes all of an earlier one.
    let environment = environment.unwrap_or("spv1.0");
    command.args(["--target-env", environment, "--preserve-numeric-ids", "-o", "-", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(wrong)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).map_err(wrong)?;
    }
    let output = child.wait_with_output().map_err(wrong)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            let message = String::from_utf8_lossy(&output.stderr);
            Err(Failure::usage(format!("spirv-as: {}", message.trim())))
        }
    }
}

/// The resource of a binding: by descriptor set and number, or the immediates.
fn find(func: &Func, binding: &Binding) -> Option<Resource> {
    let Some(place) = binding.place else {
        let mut all = func.resources.iter();
        let found = all.find(|(_, data)| matches!(data.kind, ResourceKind::Immediate { .. }));
        return found.map(|(resource, _)| resource);
    };
    resource_at(func, place)
}

/// Why a check does not hold.
fn wrong(script: &Script, buffers: &IndexMap<&str, Vec<u8>>, check: &Check) -> Option<String> {
    let bytes = |name: &str| buffers.get(name).map(Vec::as_slice).unwrap_or_default();
    match check {
        Check::Same(first, second) => {
            let (a, b) = (bytes(first), bytes(second));
            let place = a.iter().zip(b).position(|(a, b)| a != b);
            let place = place.or_else(|| (a.len() != b.len()).then(|| a.len().min(b.len())))?;
            Some(format!("`{first}` and `{second}` differ at byte {place}"))
        }
        Check::Values { buffer, at, tolerances, values } => {
            let ty = script.buffers.get(buffer)?.ty;
            let got = bytes(buffer);
            let places = ty.places().map(|place| at + place);
            for (number, (want, place)) in values.iter().zip(places).enumerate() {
                let tolerance = match tolerances[..] {
                    [] => None,
                    [one] => Some(one),
                    _ => tolerances.get(number).copied(),
                };
                if !ty.component.holds(want, tolerance, got.get(place..).unwrap_or_default()) {
                    let end = (place + ty.component.bytes()).min(got.len());
                    let got = got.get(place..end).unwrap_or_default();
                    return Some(format!(
                        "`{buffer}` at byte {place}: {want}, got {}",
                        gpucc::hex(got)
                    ));
                }
            }
            None
        }
    }
}

/// Half floats as Amber makes them of its texts: towards zero, where the nearest one is farther from it.
fn half(value: f64) -> [u8; 2] {
    let nearest = f16::from_f64(value);
    let away = nearest.to_f64().abs() > value.abs();
    f16::from_bits(nearest.to_bits() - u16::from(away)).to_le_bytes()
}

//! Foreign programs with expected results: WebGPU CTS expression cases and Khronos shader-library
//! cases, run on any target and judged by what the files say.

use crate::expectation::{ResultType, bytes_from_hex, meets};
use gpucc::execute::Stop;
use gpucc::{Choice, Compiler, Failure, Func, Options, Source, SourceText};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Resource, ResourceKind};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which family of files a folder holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Family {
    /// `gpuweb-cts-expr`: WGSL, expectations per case.
    Expressions,
    /// `vk-gl-cts-shaderlib`: SPIR-V, floats within 5 % + 0.05.
    ShaderLibrary,
}

impl Family {
    /// The folder's name in the corpus.
    pub const fn folder(self) -> &'static str {
        match self {
            Family::Expressions => "gpuweb-cts-expr",
            Family::ShaderLibrary => "vk-gl-cts-shaderlib",
        }
    }
}

/// What became of one file.
#[derive(Clone, Debug, Default)]
pub struct FileResult {
    /// File name without its ending.
    pub name: String,
    /// Cases that the file states.
    pub cases: usize,
    /// Cases that met their expectation.
    pub right: usize,
    /// Exit code of a file that did not run, and why.
    pub refused: Option<(u8, String)>,
    /// The first case that was wrong, in words.
    pub first_wrong: Option<String>,
}

impl FileResult {
    /// Cases that ran and did not meet their expectation.
    pub fn wrong(&self) -> usize {
        match self.refused {
            Some(_) => 0,
            None => self.cases - self.right,
        }
    }
}

/// Totals over files.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// One row a file, by name.
    pub files: Vec<FileResult>,
}

impl Table {
    /// Cases that met their expectation.
    pub fn right(&self) -> usize {
        self.files.iter().map(|file| file.right).sum()
    }
    /// Cases that ran and did not.
    pub fn wrong(&self) -> usize {
        self.files.iter().map(FileResult::wrong).sum()
    }
    /// Files that did not run with this exit code.
    pub fn refused(&self, code: u8) -> usize {
        let with = |file: &&FileResult| file.refused.as_ref().is_some_and(|(c, _)| *c == code);
        self.files.iter().filter(with).count()
    }
    /// Names of the files that did not run, by exit code and reason.
    pub fn refusals(&self) -> BTreeMap<(u8, &str), Vec<&str>> {
        let mut reasons: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for file in &self.files {
            if let Some((code, why)) = &file.refused {
                reasons.entry((*code, why.as_str())).or_default().push(&file.name);
            }
        }
        reasons
    }
    /// The line that the runner prints.
    pub fn line(&self, target: &str, folder: &str) -> String {
        let codes: Vec<String> = [1u8, 2, 3, 4, 5, 6, 101]
            .into_iter()
            .filter(|&code| self.refused(code) > 0)
            .map(|code| format!("exit {code}: {}", self.refused(code)))
            .collect();
        let cases: usize = self.files.iter().map(|file| file.cases).sum();
        format!(
            "{folder} on {target}: files {}, cases {cases}, right {}, wrong {}, refused files {} ({})",
            self.files.len(),
            self.right(),
            self.wrong(),
            self.files.iter().filter(|file| file.refused.is_some()).count(),
            codes.join(", "),
        )
    }
}

/// Runs every file of a family whose name contains `filter`, without the passes to `skip`.
///
/// # Errors
/// A folder that cannot be read.
pub fn run(
    compiler: &Compiler,
    corpus: &Path,
    family: Family,
    filter: &str,
    skip: &[String],
) -> std::io::Result<Table> {
    let folder = corpus.join("exec").join(family.folder());
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .filter(|path| path.to_string_lossy().contains(filter))
        .collect();
    paths.sort();
    let files = paths.iter().map(|path| file(compiler, path, family, skip)).collect();
    Ok(Table { files })
}

fn file(compiler: &Compiler, path: &Path, family: Family, skip: &[String]) -> FileResult {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut result = FileResult { name: name.into_owned(), ..FileResult::default() };
    let Some(json) = std::fs::read_to_string(path)
        .ok()
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
    else {
        result.refused = Some((2, "the description cannot be read".into()));
        return result;
    };
    result.cases = number(&json["cases"]);
    match execute(compiler, path, (family, skip), &json) {
        Ok(output) => judge(&mut result, family, &json, &output),
        Err(failure) => result.refused = Some((failure.exit_code(), failure.summary().to_owned())),
    }
    result
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or(0) as usize
}

/// Compiles and dispatches; gives the output buffer.
fn execute(
    compiler: &Compiler,
    path: &Path,
    (family, skip): (Family, &[String]),
    json: &Value,
) -> Result<Vec<u8>, Failure> {
    let mut options = Options::default();
    options.skip = skip.to_vec();
    let choice = Choice { entry: json["entry"].as_str(), ..Choice::default() };
    let unreadable = |error: std::io::Error| Failure::usage(error.to_string());
    let (wgsl, spirv);
    let (source, text) = match family {
        Family::Expressions => {
            wgsl = std::fs::read_to_string(path.with_extension("wgsl")).map_err(unreadable)?;
            (Source::Wgsl(&wgsl), Some(wgsl.clone()))
        }
        Family::ShaderLibrary => {
            spirv = std::fs::read(path.with_extension("spv")).map_err(unreadable)?;
            (Source::SpirV(&spirv), None)
        }
    };
    let source_text = SourceText::new(path.to_string_lossy(), text);
    let mut parsed = compiler.parse(source, choice, &options)?;
    let Some(entry) = parsed.entries.pop() else {
        return Err(Failure::usage("no entry point"));
    };
    let func = entry.func?;
    let compiled = compiler.compile(&func, &options)?;
    let mut executor = compiler.executor(&compiled, &options, &source_text);
    let mut bindings = Bindings::new(&func);
    let bind = |bindings: &mut Bindings, at: &Value, bytes: Vec<u8>| {
        if let Some(resource) = find(&func, at) {
            bindings.set(resource, Bound::Buffer(bytes));
        }
    };
    let input = json["input_hex"].as_str().and_then(bytes_from_hex).unwrap_or_default();
    bind(&mut bindings, &json["input_binding"], input);
    let size = number(&json["output_size"]);
    bind(&mut bindings, &json["output_binding"], vec![0; size]);
    let groups = std::array::from_fn(|axis| number(&json["workgroups"][axis]).max(1) as u32);
    executor.dispatch(&mut bindings, groups).map_err(Stop::into_failure)?;
    Ok(find(&func, &json["output_binding"])
        .map(|resource| bindings.get(resource, 0).bytes().to_vec())
        .unwrap_or_default())
}

fn find(func: &Func, at: &Value) -> Option<Resource> {
    let number = |at: &Value| u32::try_from(at.as_u64()?).ok();
    resource_at(func, (number(at.get(0)?)?, number(at.get(1)?)?))
}

/// The resource of a group and a binding; immediates have none.
pub fn resource_at(func: &Func, place: (u32, u32)) -> Option<Resource> {
    let mut all = func.resources.iter();
    let found = all.find(|(_, data)| {
        (data.group, data.binding) == place && !matches!(data.kind, ResourceKind::Immediate { .. })
    });
    found.map(|(resource, _)| resource)
}

fn judge(result: &mut FileResult, family: Family, json: &Value, output: &[u8]) {
    let stride = number(&json["output_stride"]);
    let met: Vec<bool> = match family {
        Family::Expressions => {
            let ty = ResultType::parse(json["result_type"].as_str().unwrap_or(""));
            let expected = json["expected"].as_array().cloned().unwrap_or_default();
            (0..result.cases)
                .map(|case| {
                    expected.get(case).is_some_and(|expected| {
                        meets(expected, ty, output.get(case * stride..).unwrap_or(&[]))
                    })
                })
                .collect()
        }
        Family::ShaderLibrary => {
            let expected =
                json["expected_hex"].as_str().and_then(bytes_from_hex).unwrap_or_default();
            (0..result.cases)
                .map(|case| library_case(json, case * stride, &expected, output))
                .collect()
        }
    };
    result.right = met.iter().filter(|&&met| met).count();
    if let Some(case) = met.iter().position(|&met| !met) {
        let got = output.get(case * stride..(case + 1) * stride).unwrap_or(&[]);
        result.first_wrong = Some(format!(
            "case {case}: {} but got {}",
            match family {
                Family::Expressions => json["expected"][case].to_string(),
                Family::ShaderLibrary => json["expected_hex"].to_string(),
            },
            gpucc::hex(got)
        ));
    }
}

/// One case of the shader library: every member of the output's layout, `[name, type, offset]`.
fn library_case(json: &Value, base: usize, expected: &[u8], output: &[u8]) -> bool {
    let members = json["output_layout"].as_array().cloned().unwrap_or_default();
    let word = |bytes: &[u8], at: usize| -> Option<u32> {
        let bytes = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    members.iter().all(|member| {
        let ty = member[1].as_str().unwrap_or("");
        let float = !(ty.starts_with('i') || ty.starts_with('u') || ty.starts_with('b'));
        places(ty).into_iter().all(|offset| {
            let at = base + number(&member[2]) + offset;
            match (word(expected, at), word(output, at)) {
                (Some(want), Some(got)) if float => {
                    let (want, got) = (f32::from_bits(want), f32::from_bits(got));
                    want == got
                        || want.is_nan() && got.is_nan()
                        || (got - want).abs() <= 0.05 * want.abs() + 0.05
                }
                (want, got) => want.is_some() && want == got,
            }
        })
    })
}

/// Byte offsets of the components of a GLSL type in std140 and std430 blocks alike.
fn places(ty: &str) -> Vec<usize> {
    let digits: Vec<usize> =
        ty.chars().filter_map(|c| c.to_digit(10)).map(|digit| digit as usize).collect();
    let vector = |rows: usize| (0..rows).map(|row| row * 4);
    if ty.contains("mat") {
        let columns = digits.first().copied().unwrap_or(2);
        let rows = digits.get(1).copied().unwrap_or(columns);
        return (0..columns)
            .flat_map(|column| vector(rows).map(move |at| column * 16 + at))
            .collect();
    }
    if ty.contains("vec") {
        return vector(digits.first().copied().unwrap_or(4)).collect();
    }
    vec![0]
}

//! Foreign programs with known results run on the interpreter straight after lowering.

#[path = "../../tests/src/expectation.rs"]
mod expectation;

use crate::common::buffers::Buffers;
use crate::common::{File, corpus_or_skip, say};
use expectation::{ResultType, bytes_from_hex, meets};
use gpucc_frontend::{Options, Source, parse, silence_quarantined_panics};
use gpucc_ir::ssa;
use serde_json::Value;
use std::path::Path;

/// Why a file has no output.
enum No {
    /// The reader or the lowering refuses it.
    Refused(String),
    /// It broke.
    Broken(String),
}

/// Compiles and runs one file; gives the output buffer.
fn execute(source: Source<'_>, name: &str, json: &Value) -> Result<Vec<u8>, No> {
    let options =
        Options { entry: json["entry"].as_str().map(str::to_owned), ..Options::default() };
    let parsed = parse(source, name, &options).map_err(|failure| No::Refused(failure.render()))?;
    let func = &parsed.module.funcs[0];
    ssa::verify(func).map_err(|broken| No::Broken(broken.to_string()))?;
    let mut world = Buffers::new(func, 0);
    let find = |at: &Value| Buffers::find(func, at[0].as_u64()?, at[1].as_u64()?);
    if let Some(input) = find(&json["input_binding"]) {
        let bytes = json["input_hex"].as_str().and_then(bytes_from_hex);
        world.bytes.insert(input, bytes.unwrap_or_default());
    }
    let output = find(&json["output_binding"]).ok_or(No::Broken("no output buffer".into()))?;
    world.bytes.insert(output, vec![0; number(&json["output_size"])]);
    let groups = std::array::from_fn(|axis| number(&json["workgroups"][axis]).max(1) as u32);
    world.dispatch(func, groups).map_err(No::Broken)?;
    Ok(world.bytes[&output].clone())
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or(0) as usize
}

/// Runs a folder; `judge` says how many cases are right.
fn folder(
    name: &str,
    ending: &str,
    may_refuse: bool,
    judge: impl Fn(&Value, &[u8]) -> (usize, String),
) -> Option<()> {
    silence_quarantined_panics();
    let root = corpus_or_skip()?;
    let only = std::env::var("GPUCC_ONLY").unwrap_or_default();
    let mut names: Vec<String> = std::fs::read_dir(root.join("exec").join(name))
        .expect("the corpus has this folder")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|stem| stem.contains(&only))
        .collect();
    names.sort();
    let (mut cases, mut right, mut refused, mut wrong) = (0, 0, 0, Vec::new());
    for stem in &names {
        let base = format!("exec/{name}/{stem}");
        let text = std::fs::read_to_string(root.join(format!("{base}.json"))).expect("text");
        let json: Value = serde_json::from_str(&text).expect("JSON");
        let path = format!("{base}.{ending}");
        if !Path::new(&root.join(&path)).is_file() {
            continue;
        }
        let file = File::open(&root, &path);
        let count = number(&json["cases"]);
        cases += count;
        match execute(file.source(), &path, &json) {
            Ok(output) => {
                let (met, first) = judge(&json, &output);
                right += met;
                if met != count {
                    wrong.push(format!("{stem}: {met} of {count}; {first}"));
                }
            }
            Err(No::Refused(_)) if may_refuse => refused += 1,
            Err(No::Refused(text) | No::Broken(text)) => {
                wrong.push(format!("{stem}: {}", text.trim()));
            }
        }
    }
    for line in &wrong {
        say(&format!("  {line}"));
    }
    say(&format!(
        "{name} .{ending}: {} files, {refused} refused, {right} of {cases} cases",
        names.len()
    ));
    assert!(wrong.is_empty(), "{} files are wrong", wrong.len());
    Some(())
}

fn expressions(json: &Value, output: &[u8]) -> (usize, String) {
    let stride = number(&json["output_stride"]);
    let ty = ResultType::parse(json["result_type"].as_str().unwrap_or(""));
    let empty = Vec::new();
    let expected = json["expected"].as_array().unwrap_or(&empty);
    let mut first = String::new();
    let mut met = 0;
    for (case, want) in expected.iter().enumerate() {
        let got = output.get(case * stride..).unwrap_or(&[]);
        if meets(want, ty, got) {
            met += 1;
        } else if first.is_empty() {
            let got = &got[..stride.min(got.len())];
            let floats: Vec<f32> = got
                .chunks_exact(4)
                .map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect();
            first = format!("case {case}: wants {want}, got {got:02x?} {floats:?}");
        }
    }
    (met, first)
}

#[test]
fn every_webgpu_expression_case_is_as_the_cts_expects() {
    folder("gpuweb-cts-expr", "wgsl", false, expressions);
}

/// Every word of the shader library's outputs: floats within its tolerance, others exactly.
fn library(json: &Value, output: &[u8]) -> (usize, String) {
    let stride = number(&json["output_stride"]);
    let expected = json["expected_hex"].as_str().and_then(bytes_from_hex);
    let expected = expected.unwrap_or_default();
    let mut met = 0;
    let mut first = String::new();
    for case in 0..number(&json["cases"]) {
        let members = json["output_layout"].as_array().cloned().unwrap_or_default();
        let fine = members.iter().all(|member| {
            let ty = member[1].as_str().unwrap_or("");
            let at = case * stride + number(&member[2]);
            words(ty).into_iter().all(|offset| {
                let word = |bytes: &[u8]| -> Option<u32> {
                    let bytes = bytes.get(at + offset..at + offset + 4)?;
                    Some(u32::from_le_bytes(bytes.try_into().ok()?))
                };
                let (Some(want), Some(got)) = (word(&expected), word(output)) else {
                    return false;
                };
                if ty.starts_with(['i', 'u', 'b']) {
                    return want == got;
                }
                let (want, got) = (f32::from_bits(want), f32::from_bits(got));
                want == got || (got - want).abs() <= 0.05 * want.abs() + 0.05
            })
        });
        met += usize::from(fine);
        if !fine && first.is_empty() {
            let some = |bytes: &[u8]| {
                let bytes = bytes.get(case * stride..).unwrap_or(&[]);
                bytes[..stride.min(bytes.len())].to_vec()
            };
            first =
                format!("case {case}: wants {:02x?}, got {:02x?}", some(&expected), some(output));
        }
    }
    (met, first)
}

/// Byte offsets of the components of a GLSL type; columns stand 16 bytes apart.
fn words(ty: &str) -> Vec<usize> {
    let sizes: Vec<usize> = ty.chars().filter_map(|c| c.to_digit(10)).map(|d| d as usize).collect();
    match (ty.contains("mat"), ty.contains("vec"), &sizes[..]) {
        (true, _, [columns, rest @ ..]) => (0..*columns)
            .flat_map(|column| {
                (0..*rest.first().unwrap_or(columns)).map(move |row| column * 16 + row * 4)
            })
            .collect(),
        (_, true, [size, ..]) => (0..*size).map(|lane| lane * 4).collect(),
        _ => vec![0],
    }
}

#[test]
fn every_shader_library_case_in_glsl_is_as_khronos_expects() {
    folder("vk-gl-cts-shaderlib", "comp", true, library);
}

#[test]
fn every_shader_library_case_in_spirv_is_as_khronos_expects() {
    folder("vk-gl-cts-shaderlib", "spv", true, library);
}

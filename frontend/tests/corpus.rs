//! Every public shader that naga accepts lowers to SSA that verifies, or is refused honestly.

use crate::common::{File, corpus_or_skip, say};
use gpucc_frontend::{FailureKind, Options, parse, silence_quarantined_panics};
use gpucc_ir::ssa;
use std::collections::BTreeMap;

/// What came of the entry points of one file.
#[derive(Default)]
struct Tally {
    files: u32,
    funcs: u32,
    insts: u64,
    microseconds: u64,
    failures: BTreeMap<String, Vec<String>>,
}

fn walk(language: &str, want_valid: bool) -> Option<Tally> {
    silence_quarantined_panics();
    let root = corpus_or_skip()?;
    let index = std::fs::read_to_string(root.join("index.jsonl")).expect("the index is text");
    let only = std::env::var("GPUCC_ONLY").ok();
    let mut tally = Tally::default();
    let mut by_origin: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for line in index.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
        let path = row["path"].as_str().expect("each row has a path");
        let own = row["language"].as_str() == Some(language) && !path.starts_with("exec/");
        let stages = ["vertex", "fragment", "compute"];
        let in_stages = row["stages"].as_array().is_none_or(|list| {
            list.iter().all(|stage| stages.contains(&stage["stage"].as_str().unwrap_or("")))
        });
        let valid = row["naga_valid"].as_bool() == Some(true);
        if !own
            || !in_stages
            || valid != want_valid
            || !only.as_ref().is_none_or(|only| path.contains(only))
        {
            continue;
        }
        let file = File::open(&root, path);
        let options =
            Options { overrides_default: Some(1.0), keep_going: true, ..Options::default() };
        tally.files += 1;
        let origin = row["origin"].as_str().unwrap_or("?").to_owned();
        let counts = by_origin.entry(origin).or_default();
        counts.0 += 1;
        let mut fine = true;
        let mut fail = |what: String| {
            fine = false;
            tally.failures.entry(what).or_default().push(path.to_owned());
        };
        match parse(file.source(), path, &options) {
            Ok(parsed) => {
                tally.microseconds += parsed.microseconds.lowering;
                for func in &parsed.module.funcs {
                    tally.funcs += 1;
                    tally.insts += func.live_insts() as u64;
                    if let Err(broken) = ssa::verify(func) {
                        fail(format!("broken SSA: {broken}"));
                    }
                }
                for failed in &parsed.failed {
                    fail(describe(&failed.failure));
                }
            }
            Err(failure) => fail(describe(&failure)),
        }
        counts.1 += u32::from(fine);
    }
    for (origin, (files, fine)) in by_origin {
        say(&format!("{language:6} {origin:28} files {files:5} lowered {fine:5}"));
    }
    for (what, paths) in &tally.failures {
        say(&format!("  {:4}  {what}  [{}]", paths.len(), paths[0]));
    }
    say(&format!(
        "{language}: {} files, {} entry points, {} instructions, {:.3} us each",
        tally.files,
        tally.funcs,
        tally.insts,
        tally.microseconds as f64 / tally.insts.max(1) as f64
    ));
    Some(tally)
}

fn describe(failure: &gpucc_frontend::Failure) -> String {
    let first = failure.render();
    let message = first.split_once("error: ").map_or("", |(_, text)| text).trim();
    match &failure.kind {
        FailureKind::Invalid => format!("invalid: {message}"),
        FailureKind::Unsupported { feature, .. } => format!("unsupported: {feature}"),
        FailureKind::Limit { .. } => format!("limit: {message}"),
        FailureKind::Internal => format!("internal: {message}"),
    }
}

fn only(tally: &Tally, allowed: &[&str]) {
    let wrong: Vec<_> = tally
        .failures
        .iter()
        .filter(|(what, _)| !allowed.iter().any(|prefix| what.starts_with(prefix)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_valid_wgsl_module_lowers_or_is_refused_honestly() {
    if let Some(tally) = walk("wgsl", true) {
        only(&tally, &["unsupported: "]);
    }
}

#[test]
fn every_valid_spirv_module_lowers_or_is_refused_honestly() {
    if let Some(tally) = walk("spirv", true) {
        // Some modules are libraries.
        only(&tally, &["unsupported: ", "invalid: the source has no entry point"]);
    }
}

#[test]
fn every_valid_glsl_shader_lowers_or_is_refused_honestly() {
    if let Some(tally) = walk("glsl", true) {
        only(&tally, &["unsupported: "]);
    }
}

#[test]
fn what_naga_refuses_is_never_our_bug() {
    for language in ["wgsl", "spirv", "glsl"] {
        if let Some(tally) = walk(language, false) {
            only(&tally, &["unsupported: ", "invalid: ", "limit: "]);
        }
    }
}

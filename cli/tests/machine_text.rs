//! The text of machine IR says all of it: read back behind any pass, the rest of the passes make the same assembly. Where a
//! binary has several programs, each reads back alone.

use crate::common::shared;
use gpucc::machine::{Excerpt, Request, TextError};
use gpucc::{Choice, Compiler, FailureKind, Options, Source, Target};
use gpucc_ir::driver;
use gpucc_passes::pass::Listed;
use std::path::{Path, PathBuf};

/// Shaders of the corpus that are asked.
const CORPUS: usize = 60;

fn shaders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "wgsl"))
        .collect();
    paths.sort();
    paths
}

/// The programs of a binary: passes over text take one.
fn programs(text: &str) -> Vec<&str> {
    let starts = text.match_indices("mach \"").map(|(at, _)| at);
    let starts: Vec<usize> = starts.filter(|&at| at == 0 || text[..at].ends_with('\n')).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&at, end)| &text[at..end]).collect()
}

/// The lines of a text without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with(';') && !line.is_empty())
}

/// How many texts of a shader were read back on a machine; none where the machine has no such texts.
fn read_back(target: Target, path: &Path) -> Result<usize, String> {
    let source = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let compiler = Compiler::new(target, None).map_err(|e| e.summary().to_owned())?;
    let mut options = Options::default();
    options.dump_after = vec!["all".into()];
    let machine = target.built().ok_or("no machine")?;
    let passes = machine.machine_passes();
    let request = Request { chip: target.chips()[0], ..Request::default() };
    let Ok(parsed) = compiler.parse(Source::Wgsl(&source), Choice::default(), &options) else {
        return Ok(0);
    };
    let mut count = 0;
    for entry in parsed.entries {
        let compiled = match entry.func.and_then(|func| compiler.compile(&func, &options)) {
            Ok(compiled) => compiled,
            Err(failure) if matches!(failure.kind, FailureKind::Internal { .. }) => {
                return Err(failure.summary().to_owned());
            }
            // What the machine cannot do has no machine IR.
            Err(_) => continue,
        };
        let program = compiled.program.as_ref().ok_or("no program")?;
        let assembly = program.assembly().map_err(|e| e.summary().to_owned())?;
        for (at, pass) in passes.iter().enumerate() {
            let mut dumps = compiled.dumps.iter().rev();
            let dump = dumps.find(|(name, text)| name == pass.name && text.starts_with("mach "));
            let Some((_, text)) = dump else { continue };
            let mut rest: Vec<&str> = passes[at + 1..].iter().map(|pass| pass.name).collect();
            rest.push(gpucc_passes::mach::runner::EMIT);
            let stage = compiled.stage;
            let programs = programs(text);
            if programs.len() > 1 {
                for &text in &programs {
                    let again = machine.run_passes(Excerpt { text, stage }, &[], &request);
                    let again = again.map_err(|error| format!("{}: {error}", pass.name))?;
                    if !code(&again).eq(code(text)) {
                        return Err(format!("other text behind {}:\n{text}", pass.name));
                    }
                }
                count += 1;
                continue;
            }
            match machine.run_passes(Excerpt { text, stage }, &rest, &request) {
                Ok(again) if again == assembly => count += 1,
                Ok(_) => return Err(format!("other code behind {}:\n{text}", pass.name)),
                Err(TextError::Failure(driver::Failure::NotYet { .. })) => return Ok(0),
                Err(error) => return Err(format!("behind {}: {error}\n{text}", pass.name)),
            }
        }
    }
    Ok(count)
}

/// Every shader on every machine; the texts that were read back on each.
fn read_all_back(paths: &[PathBuf]) -> Vec<(Target, usize)> {
    let mut counts = Vec::new();
    // A machine that lists no allocation of registers does not read machine IR back.
    let is_allocation = |pass: &Listed| pass.name == gpucc_passes::mach::runner::REGISTERS;
    let has_passes = |target: &Target| {
        target.built().is_some_and(|machine| machine.machine_passes().iter().any(is_allocation))
    };
    for target in Target::machines().filter(has_passes) {
        let mut all = 0;
        for path in paths {
            match read_back(target, path) {
                Ok(count) => all += count,
                Err(error) => panic!("{} on {}: {error}", path.display(), target.name()),
            }
        }
        counts.push((target, all));
    }
    counts
}

#[test]
fn the_machine_ir_of_samples_and_of_file_tests_reads_back_behind_every_pass() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = shaders(&own.join("../samples"));
    paths.extend(shaders(&own.join("tests/code")));
    for (target, count) in read_all_back(&paths) {
        assert!(count > 150, "{target:?}: {count}");
    }
}

#[test]
fn the_machine_ir_of_foreign_shaders_reads_back_behind_every_pass() {
    let Some(corpus) = shared::corpus_or_skip() else {
        return;
    };
    let index = std::fs::read_to_string(corpus.join("index.jsonl")).expect("the index is there");
    let row = |line: &str| -> serde_json::Value { serde_json::from_str(line).expect("JSON") };
    let rows: Vec<serde_json::Value> = index.lines().map(row).collect();
    let wgsl = rows.iter().filter(|row| row["language"] == "wgsl" && row["naga_valid"] == true);
    let all: Vec<PathBuf> =
        wgsl.filter_map(|row| Some(corpus.join(row["path"].as_str()?))).collect();
    let step = all.len().div_ceil(CORPUS).max(1);
    let paths: Vec<PathBuf> = all.into_iter().step_by(step).collect();
    let count: usize = read_all_back(&paths).into_iter().map(|(_, count)| count).sum();
    assert!(count > 100, "{count}");
}

//! File tests: each `files/*.ir` runs the passes that its first line names and must become the text
//! after `; ---`. `BLESS=1` rewrites what is expected. The file's name is the claim.

use crate::common;
use gpucc_ir::ssa::{self, Func, Numerics, Op, Type};
use gpucc_passes::{Ctx, Neutral, Options, Plan, Quiet, Robustness, Runner, TargetInfo};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A machine with masks only, like R700.
struct Masks;

impl TargetInfo for Masks {
    fn holds_64_bits(&self) -> bool {
        false
    }
    fn holds_16_bits(&self) -> bool {
        false
    }
    fn has_branches(&self) -> bool {
        false
    }
    fn has_continue(&self) -> bool {
        false
    }
    fn has_fma(&self, ty: Type) -> bool {
        ty == Type::B32
    }
    fn native(&self, op: Op, ty: Type) -> bool {
        ty != Type::B64 && !matches!(op, Op::UDiv | Op::URem | Op::SDiv | Op::SRem)
    }
}

/// A machine whose programs come with tables of four to eight words.
struct Tabled;

impl TargetInfo for Tabled {
    fn table_words(&self) -> Option<(u32, u32)> {
        Some((4, 8))
    }
}

/// A machine that keeps private variables of up to four words in registers.
struct Registers;

impl TargetInfo for Registers {
    fn private_in_registers(&self) -> u32 {
        16
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder stands beside this file")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "ir"))
        .collect();
    files.sort();
    files
}

/// The text that the passes named in the first line make of a source.
fn after_passes(source: &str) -> Result<String, String> {
    let first = source.lines().next().unwrap_or_default();
    let words = first.strip_prefix("; passes:").ok_or("the first line names no passes")?;
    let mut options = Options::default();
    let mut target: &dyn TargetInfo = &Neutral;
    let mut names = Vec::new();
    for word in words.split_whitespace() {
        match word {
            "masks" => target = &Masks,
            "tabled" => target = &Tabled,
            "registers" => target = &Registers,
            "zero" => options.robustness = Robustness::Zero,
            "off" => options.robustness = Robustness::Off,
            "bounded" => options.bound_loops = true,
            "all" => names.extend(Plan::for_options(&options).names()),
            _ => names.push(
                gpucc_passes::runner::pass(word).ok_or_else(|| format!("no pass '{word}'"))?.name,
            ),
        }
    }
    let mut module = ssa::parse(source).map_err(|error| format!("{error:?}"))?;
    let mut out = String::new();
    for func in &mut module.funcs {
        let before = func.clone();
        let mut ctx = Ctx::new(options, Numerics::REFERENCE, target);
        let plan = Plan::of(&names);
        let mut runner = Runner { verify_each: true, ..Runner::default() };
        runner.run(&plan, func, &mut ctx, &mut Quiet).map_err(|error| error.to_string())?;
        write!(out, "{func}").expect("writing to a string");
        // Invocations race for what that pass makes their own.
        if !names.contains(&"zero_workgroup") {
            same_results(&before, func)?;
        }
    }
    Ok(out)
}

/// The function still computes what it did, where that ends and is the same with any bounds.
fn same_results(before: &Func, after: &Func) -> Result<(), String> {
    for seed in 1..4 {
        let numerics = Numerics::REFERENCE;
        let Ok(expected) = common::run_for(before, seed, &numerics, 20_000) else {
            continue;
        };
        let got = common::run(after, seed, &numerics).map_err(|stop| format!("{stop:?}"))?;
        if let Some(difference) = common::difference(&expected, &got) {
            return Err(format!("computes something else: {difference}"));
        }
    }
    Ok(())
}

#[test]
fn every_file_becomes_what_it_claims() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let (source, expected) = text.split_once("; ---\n").unwrap_or((&text, ""));
        match after_passes(source) {
            Err(error) => wrong.push(format!("{}: {error}", path.display())),
            Ok(actual) if actual == expected => {}
            Ok(actual) if bless => {
                let text = format!("{}\n; ---\n{actual}", source.trim_end());
                std::fs::write(&path, text).expect("a writable file");
            }
            Ok(actual) => wrong.push(format!("{}: became\n{actual}", path.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! What code costs: the cost report's bound is a bound, search never loses, and no program becomes dearer unnoticed.
//!
//! `BLESS=1 cargo test -p gpucc-cli --test integration cost` notes anew what programs cost, in the folder `cost`.

use gpucc::{
    Choice, Compiled, Compiler, Effort, Options, Source, SourceText, Target, shader_report,
};
use gpucc_ir::ssa::Op;
use gpucc_ir::ssa::random::{Config, program};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Groups, cycles and their bound of every entry point of the samples that R700 can do.
fn costs(effort: Effort) -> Vec<(String, f64, f64, f64)> {
    let compiler = Compiler::new(Target::R700, None).expect("r700 is built");
    let mut options = Options::default();
    options.effort = effort;
    let mut costs = Vec::new();
    for file in crate::common::samples() {
        let text = std::fs::read_to_string(&file).expect("a sample can be read");
        let parsed = compiler
            .parse(Source::Wgsl(&text), Choice::default(), &options)
            .expect("a sample parses");
        for entry in parsed.entries {
            let func = entry.func.expect("a sample lowers");
            let Ok(compiled) = compiler.compile(&func, &options) else {
                continue;
            };
            let source = SourceText::new(file.display().to_string(), Some(text.clone()));
            let report = shader_report(&compiled, &source, parsed.frontend_time);
            let groups = report.machine.get("alu_groups").expect("a figure").0;
            costs.push((
                format!("{} {}", file.display(), entry.name),
                groups,
                report.stats.cycles,
                report.stats.cycles_lower_bound,
            ));
        }
    }
    assert!(costs.len() >= 25, "only {} entry points", costs.len());
    costs
}

#[test]
fn no_program_is_faster_than_its_lower_bound_and_some_meet_it() {
    let costs = costs(Effort::Full);
    for (name, _, cycles, bound) in &costs {
        assert!(bound <= cycles, "{name}: {cycles} cycles below {bound}");
        assert!(*bound > 0.0, "{name}: a bound of nothing");
    }
    assert!(costs.iter().any(|(_, _, cycles, bound)| bound == cycles));
    assert!(costs.iter().any(|(_, _, cycles, bound)| bound < cycles));
}

#[test]
fn searching_never_makes_a_schedule_longer() {
    for (full, max) in costs(Effort::Full).iter().zip(costs(Effort::Max)) {
        assert_eq!(full.0, max.0);
        assert!(max.1 <= full.1, "{}: {} groups, then {}", max.0, full.1, max.1);
    }
}

/// What one program costs: bytes of code, registers, spills and fills, cycles.
type Cost = [f64; 4];

fn cost(compiled: &Compiled) -> Cost {
    let source = SourceText::new("cost", None);
    let report = shader_report(compiled, &source, Duration::ZERO);
    let stats = &report.stats;
    let moved = stats.spills + stats.fills;
    let whole = [stats.code_bytes, stats.registers, moved].map(|number| number as f64);
    [whole[0], whole[1], whole[2], (stats.cycles * 100.0).round() / 100.0]
}

/// The samples, and the shaders of other tests, which hold what no sample does.
fn sources() -> Vec<std::path::PathBuf> {
    let mut files = crate::common::samples();
    for folder in ["tests/code", "tests/valhall", "../tests/run"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let entries = std::fs::read_dir(path).expect("the folder is there");
        let paths = entries.map(|entry| entry.expect("readable").path());
        files.extend(
            paths.filter(|path| path.extension().is_some_and(|end| end == "wgsl" || end == "ir")),
        );
    }
    files.sort();
    files
}

/// The cost of these and of random programs, which need more registers and more of every operation.
fn all_costs(target: Target) -> BTreeMap<String, Cost> {
    let compiler = Compiler::new(target, None).expect("the target is built");
    let mut options = Options::default();
    options.overrides_default = Some(2.0);
    let mut costs = BTreeMap::new();
    for file in sources() {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let source = match file.extension().and_then(|end| end.to_str()) {
            Some("wgsl") => Source::Wgsl(&text),
            _ => Source::Ir(&text),
        };
        let parsed = compiler
            .parse(source, Choice::default(), &options)
            .expect("a file that other tests use");
        let name = file.file_stem().unwrap_or_default().display().to_string();
        for entry in parsed.entries {
            let Ok(compiled) = entry.func.and_then(|func| compiler.compile(&func, &options)) else {
                continue;
            };
            let name = format!("{name} {}", entry.name);
            costs.insert(name, cost(&compiled));
        }
    }
    for seed in 0..128 {
        let base = match seed % 4 {
            3 => Config::FRAGMENT,
            _ => Config::COMPUTE,
        };
        let config = Config {
            allow: |op| {
                !matches!(
                    op,
                    Op::BufferAtomic
                        | Op::MemAtomic
                        | Op::ImageAtomic
                        | Op::Ballot
                        | Op::Shuffle
                        | Op::Reduce
                )
            },
            workgroup: seed % 5 == 0,
            textures: seed % 2 == 0,
            halves: target == Target::VALHALL,
            workgroup_size: 32,
            ..base
        };
        if let Ok(compiled) = compiler.compile(&program(seed, &config), &options) {
            let name = format!("random {seed:02}");
            costs.insert(name, cost(&compiled));
        }
    }
    costs
}

/// Compares what programs cost on a machine with the notes of it.
fn compare(target: Target) {
    let path = format!("{}/tests/cost/{}.txt", env!("CARGO_MANIFEST_DIR"), target.name());
    let costs = all_costs(target);
    assert!(costs.len() > 80, "only {}", costs.len());
    if std::env::var_os("BLESS").is_some() {
        let mut text = String::from("# bytes of code, registers, spills and fills, cycles\n");
        for (name, [bytes, registers, moved, cycles]) in &costs {
            writeln!(text, "{name}: {bytes} {registers} {moved} {cycles}").expect("a string");
        }
        std::fs::write(path, text).expect("writable");
        return;
    }
    let noted = std::fs::read_to_string(path).expect("the notes stand beside this file");
    let mut dearer = Vec::new();
    for line in noted.lines().filter(|line| !line.starts_with('#')) {
        let (name, numbers) = line.split_once(": ").expect("a name and its numbers");
        let before: Vec<f64> =
            numbers.split(' ').map(|number| number.parse().expect("a number")).collect();
        match costs.get(name) {
            None => dearer.push(format!("{name} does not compile any more")),
            Some(now) if now.iter().zip(&before).any(|(now, before)| now > before) => {
                dearer.push(format!("{name}: {before:?} became {now:?}"));
            }
            Some(_) => {}
        }
    }
    assert!(dearer.is_empty(), "{}", dearer.join("\n"));
}

#[test]
fn no_program_costs_more_on_r700_than_was_noted() {
    compare(Target::R700);
}

#[test]
fn no_program_costs_more_on_valhall_than_was_noted() {
    compare(Target::VALHALL);
}

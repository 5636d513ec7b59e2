//! Shaders that none of us wrote: what each entry point becomes, how long it takes, whether its
//! bytes do what the reference does.

use crate::peers::geometric_mean;
use gpucc::verify::{Plan, verify_plan};
use gpucc::{Choice, Compiler, Failure, Options, PassTime, Source, SourceText, Stage};
use gpucc_machine::described::Described;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Features of a module that a machine without them is not asked for. Corpus README.
pub const BEYOND: &[&str] = &[
    "f16",
    "f64",
    "i64",
    "i16",
    "atomics",
    "atomic-types",
    "image-atomics",
    "subgroups",
    "barrier",
    "workgroup",
    "workgroup-uniform-load",
    "storage-textures",
    "image-store",
    "multisampled",
    "external-texture",
    "tex-cube-array",
    "binding-arrays",
];

/// One module of the corpus index.
#[derive(Clone, Debug)]
pub struct Module {
    /// Path within the corpus.
    pub path: String,
    /// `wgsl`, `spirv` or `glsl`.
    pub language: String,
    /// Features.
    pub features: Vec<String>,
    /// naga accepts it; of SPIR-V what spirv-val does, of GLSL what glslang does.
    pub is_valid: bool,
}

impl Module {
    /// True when the module asks for nothing of [`BEYOND`].
    pub fn is_plain(&self) -> bool {
        !self.features.iter().any(|f| BEYOND.contains(&f.as_str()))
    }
}

/// Reads the index; `language` as in [`Module::language`].
///
/// # Errors
/// An index that cannot be read.
pub fn index(corpus: &Path, language: &str) -> std::io::Result<Vec<Module>> {
    let text = std::fs::read_to_string(corpus.join("index.jsonl"))?;
    let mut modules = Vec::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).map_err(std::io::Error::other)?;
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let path = text("path");
        if !path.starts_with(&format!("{language}/")) {
            continue;
        }
        modules.push(Module {
            path,
            language: language.to_owned(),
            features: row["features"]
                .as_array()
                .map(|list| list.iter().filter_map(|f| f.as_str().map(str::to_owned)).collect())
                .unwrap_or_default(),
            is_valid: match language {
                "glsl" => row["glslang"].is_string(),
                "spirv" => row["spirv_val"].is_string() && has_our_stage(&row),
                _ => row["naga_valid"].as_bool().unwrap_or(false),
            },
        });
    }
    modules.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(modules)
}

/// Has an entry point of a stage that we compile.
fn has_our_stage(row: &Value) -> bool {
    let stages = row["stages"].as_array();
    let ours =
        |stage: &Value| matches!(stage["stage"].as_str(), Some("vertex" | "fragment" | "compute"));
    stages.is_some_and(|stages| stages.iter().any(ours))
}

/// Who made a module of SPIR-V, by its header's third word (the registry of generators); empty for what is no module.
pub fn producer(bytes: &[u8]) -> &'static str {
    let word = |at: usize| bytes.get(4 * at..4 * at + 4).and_then(|word| word.try_into().ok());
    let (Some(magic), Some(generator)) = (word(0), word(2)) else {
        return "";
    };
    if u32::from_le_bytes(magic) != 0x0723_0203 {
        return "";
    }
    match u32::from_le_bytes(generator) >> 16 {
        6 => "Khronos, of LLVM",
        7 => "SPIR-V Tools, by hand",
        8 => "glslang",
        13 => "shaderc",
        14 => "DXC",
        15 => "rspirv",
        17 => "SPIR-V Tools, linked",
        21 => "clspv",
        23 => "tint",
        24 => "ANGLE",
        27 => "rust-gpu",
        28 => "naga",
        40 => "Slang",
        _ => "others",
    }
}

/// What became of one entry point.
#[derive(Clone, Debug)]
pub struct Row {
    /// Path within the corpus.
    pub path: String,
    /// Entry point; empty when the module as a whole failed.
    pub entry: String,
    /// Its module asks for nothing that the machine lacks.
    pub plain: bool,
    /// Features of its module.
    pub features: Vec<String>,
    /// Who made its module, where it is SPIR-V.
    pub producer: &'static str,
    /// Exit code.
    pub code: u8,
    /// What was said.
    pub message: String,
    /// SSA instructions when the front end was done.
    pub instructions: usize,
    /// From the end of the front end to the bytes; the best of the runs.
    pub time: Duration,
    /// Of each pass and each stage of the back end, in order, in the best run.
    pub times: Vec<PassTime>,
    /// Figures that have a bound which no order of the same operations passes: the name, the figure, the bound.
    pub bounded: Vec<(String, f64, f64)>,
    /// A number made of every byte of the code, to tell whether two compilers made the same.
    pub hash: u64,
    /// What `verify` found, when asked for.
    pub verified: Option<Verified>,
}

/// What `verify` found of one entry point.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The first mismatch, or why there was no comparison.
    pub wrong: Option<String>,
    /// Why what was compared is no proof, without a mismatch; `None` for a proof.
    pub lack: Option<String>,
    /// Inputs, and those that took too many steps.
    pub inputs: (u64, u64),
    /// Words compared, words that the reference wrote, and of these the compared ones.
    pub words: [u64; 3],
}

/// Compiles every entry point of the modules, `runs` times for the best time; verifies each on `inputs` inputs
/// when not 0. Passes to `skip` are left out.
pub fn run(
    compiler: &Compiler,
    corpus: &Path,
    modules: &[Module],
    (inputs, runs): (u32, u32),
    skip: &[String],
) -> Vec<Row> {
    let mut rows = Vec::new();
    for module in modules {
        one(compiler, corpus, module, (inputs, runs, skip), &mut rows);
    }
    rows
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn one(
    compiler: &Compiler,
    corpus: &Path,
    module: &Module,
    (inputs, runs, skip): (u32, u32, &[String]),
    rows: &mut Vec<Row>,
) {
    let path = corpus.join(&module.path);
    let mut options = Options::default();
    options.overrides_default = Some(1.0);
    options.skip = skip.to_vec();
    options.keep_steps = inputs > 0;
    options.verify_each = inputs > 0;
    let bytes = std::fs::read(&path);
    let producer = match (&bytes, module.language.as_str()) {
        (Ok(bytes), "spirv") => producer(bytes),
        _ => "",
    };
    let row = |entry: &str, failure: Option<&Failure>| Row {
        producer,
        path: module.path.clone(),
        entry: entry.to_owned(),
        plain: module.is_plain(),
        features: module.features.clone(),
        code: failure.map_or(0, Failure::exit_code),
        message: failure.map_or(String::new(), |f| f.summary().to_owned()),
        instructions: 0,
        time: Duration::ZERO,
        times: Vec::new(),
        bounded: Vec::new(),
        hash: 0,
        verified: None,
    };
    let Ok(bytes) = bytes else {
        rows.push(row("", Some(&Failure::usage("cannot be read"))));
        return;
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let source = match module.language.as_str() {
        "wgsl" => Source::Wgsl(&text),
        "spirv" => Source::SpirV(&bytes),
        _ => Source::Glsl(&text, glsl_stage(&module.path)),
    };
    let parsed = match compiler.parse(source, Choice::default(), &options) {
        Ok(parsed) => parsed,
        Err(failure) => {
            rows.push(row("", Some(&failure)));
            return;
        }
    };
    let source_text = SourceText::new(&module.path, Some(text.clone()));
    for entry in parsed.entries {
        let func = match entry.func {
            Ok(func) => func,
            Err(failure) => {
                rows.push(row(&entry.name, Some(&failure)));
                continue;
            }
        };
        match compiler.compile(&func, &options) {
            Err(failure) => rows.push(row(&entry.name, Some(&failure))),
            Ok(mut compiled) => {
                for _ in 1..runs {
                    if let Ok(again) = compiler.compile(&func, &options)
                        && again.compile_time < compiled.compile_time
                    {
                        compiled = again;
                    }
                }
                let mut done = row(&entry.name, None);
                done.instructions = func.live_insts();
                done.time = compiled.compile_time;
                done.times = compiled.times.clone();
                if let Some(program) = &compiled.program {
                    done.hash = hash(program.code());
                    done.bounded = bounded(&program.compiled().described);
                }
                if inputs > 0 {
                    let plan = Plan { orders: 1, errors: 1, whole: true, ..Plan::new(inputs, 1) };
                    let found = verify_plan(compiler, &compiled, &source_text, &options, &plan);
                    done.verified = Some(match found {
                        Ok(summary) => Verified {
                            wrong: summary.first.as_ref().map(|first| format!("MISMATCH {first}")),
                            lack: summary.lack().filter(|_| summary.first.is_none()),
                            inputs: (summary.inputs.into(), summary.out_of_steps.into()),
                            words: [summary.words, summary.owed, summary.proved],
                        },
                        Err(failure) => Verified {
                            wrong: Some(format!("FAILED {}", failure.summary())),
                            lack: None,
                            inputs: (0, 0),
                            words: [0; 3],
                        },
                    });
                }
                rows.push(done);
            }
        }
    }
}

fn glsl_stage(path: &str) -> Stage {
    if path.contains(".vert") {
        Stage::Vertex
    } else if path.contains(".frag") {
        Stage::Fragment
    } else {
        Stage::Compute
    }
}

/// Entry points by exit code, the plain ones apart; then what was said most often for each code.
pub fn table(rows: &[Row]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for (title, plain) in [("plain", Some(true)), ("others", Some(false)), ("all", None)] {
        let mut codes: BTreeMap<u8, usize> = BTreeMap::new();
        for row in rows.iter().filter(|row| plain.is_none_or(|p| p == row.plain)) {
            *codes.entry(row.code).or_default() += 1;
        }
        let total: usize = codes.values().sum();
        let _ = write!(out, "{title:>7}: {total} entry points");
        for (code, count) in codes {
            let share = 100.0 * count as f64 / total.max(1) as f64;
            let _ = write!(out, ", exit {code}: {count} ({share:.1} %)");
        }
        out.push('\n');
    }
    let mut messages: BTreeMap<(u8, &str), usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.code != 0) {
        *messages.entry((row.code, &row.message)).or_default() += 1;
    }
    let mut messages: Vec<_> = messages.into_iter().collect();
    messages.sort_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
    for ((code, message), count) in messages.into_iter().take(40) {
        let _ = writeln!(out, "{count:>6} exit {code}: {message}");
    }
    out
}

/// Entry points of each producer by exit code, where the modules say who made them.
pub fn producers(rows: &[Row]) -> String {
    use std::fmt::Write;
    let mut counts: BTreeMap<&str, BTreeMap<u8, usize>> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.producer.is_empty()) {
        *counts.entry(row.producer).or_default().entry(row.code).or_default() += 1;
    }
    let mut out = String::new();
    for (name, codes) in counts {
        let total: usize = codes.values().sum();
        let _ = write!(out, "{name:>22}: {total} entry points");
        for (code, count) in codes {
            let _ = write!(out, ", exit {code}: {count}");
        }
        out.push('\n');
    }
    out
}

/// Entry points of modules with each feature by exit code, the most frequent features first.
pub fn features(rows: &[Row]) -> String {
    use std::fmt::Write;
    let mut counts: BTreeMap<String, BTreeMap<u8, usize>> = BTreeMap::new();
    for row in rows {
        // A feature may carry its details: `math-builtins:abs,max`.
        let name = |feature: &String| feature.split(':').next().map(str::to_owned);
        let names: BTreeSet<String> = row.features.iter().filter_map(name).collect();
        for name in names {
            let codes = counts.entry(name).or_default();
            *codes.entry(row.code).or_default() += 1;
        }
    }
    let mut list: Vec<_> = counts.into_iter().collect();
    list.sort_by_key(|(name, codes)| {
        (std::cmp::Reverse(codes.values().sum::<usize>()), name.clone())
    });
    let mut out = String::new();
    for (name, codes) in list {
        let beyond = if BEYOND.contains(&name.as_str()) { "*" } else { " " };
        let _ = write!(out, "{name:>24}{beyond}");
        for (code, count) in codes {
            let _ = write!(out, "  exit {code}: {count}");
        }
        out.push('\n');
    }
    out.push_str("(* beyond what a machine of that generation is asked for)\n");
    out
}

/// `verify` over the rows that compiled: each that did not hold and the totals; true when none differed.
pub fn verified(rows: &[Row]) -> (String, bool) {
    use std::fmt::Write;
    let mut out = String::new();
    let (mut count, mut wrong, mut few, mut nothing) = (0, 0, 0, 0);
    let (mut inputs, mut words) = ((0, 0), [0; 3]);
    for row in rows {
        let Some(found) = &row.verified else { continue };
        count += 1;
        inputs = (inputs.0 + found.inputs.0, inputs.1 + found.inputs.1);
        words = std::array::from_fn(|k| words[k] + found.words[k]);
        if let Some(lack) = &found.lack {
            few += 1;
            nothing += u64::from(found.words[2] == 0);
            let _ = writeln!(out, "{} {}: no proof: {lack}", row.path, row.entry);
        }
        if let Some(line) = &found.wrong {
            wrong += 1;
            let _ = writeln!(out, "{} {}: {line}", row.path, row.entry);
        }
    }
    let _ = writeln!(
        out,
        "verified {count} entry points, {wrong} wrong, {few} without proof, of which {nothing} compared nothing that is written; inputs {}, out of steps {}; words compared {}, written {}, of these compared {}",
        inputs.0, inputs.1, words[0], words[1], words[2]
    );
    (out, wrong == 0)
}

/// The figures of a report that come with a bound.
fn bounded(report: &Described) -> Vec<(String, f64, f64)> {
    let stats = &report.stats;
    let cycles = ("cycles".to_owned(), stats.cycles, stats.cycles_lower_bound);
    let machine = report.machine.iter().filter_map(|(name, bound)| {
        let of = name.strip_suffix("_lower_bound")?;
        Some((of.to_owned(), report.machine.get(of)?.0, bound.0))
    });
    let all = std::iter::once(cycles).chain(machine);
    all.filter(|&(_, figure, bound)| figure > 0.0 && bound > 0.0).collect()
}

/// How far figures are from their bounds over all entry points: the geometric mean, and the sums.
pub fn distances(rows: &[Row]) -> String {
    use std::fmt::Write;
    let mut found: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (name, figure, bound) in rows.iter().flat_map(|row| &row.bounded) {
        found.entry(name).or_default().push((*figure, *bound));
    }
    let mut out = String::new();
    for (name, list) in found {
        let mean = geometric_mean(list.iter().map(|(figure, bound)| figure / bound));
        let sums = list.iter().fold((0.0, 0.0), |sums, one| (sums.0 + one.0, sums.1 + one.1));
        let _ = writeln!(
            out,
            "{name} over their bound, {} entry points: geometric mean {mean:.4}, sums {:.4}",
            list.len(),
            sums.0 / sums.1
        );
    }
    out
}

/// Percentiles of compile time, and of its ratio to the budget of 150 us + 6 us per instruction.
pub fn speed(rows: &[Row]) -> String {
    let mut times = Vec::new();
    let mut ratios = Vec::new();
    for row in rows.iter().filter(|row| row.code == 0) {
        let micros = row.time.as_secs_f64() * 1e6;
        times.push(micros);
        ratios.push(micros / (150.0 + 6.0 * row.instructions as f64));
    }
    times.sort_by(f64::total_cmp);
    ratios.sort_by(f64::total_cmp);
    let at = |list: &[f64], percent: usize| {
        list.get((list.len() * percent / 100).min(list.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0.0)
    };
    format!(
        "compile time over {} entry points: p50 {:.0} us, p95 {:.0} us, p99 {:.0} us; \
         share of 150 us + 6 us per SSA instruction: p50 {:.2}, p95 {:.2}, p99 {:.2}\n",
        times.len(),
        at(&times, 50),
        at(&times, 95),
        at(&times, 99),
        at(&ratios, 50),
        at(&ratios, 95),
        at(&ratios, 99),
    )
}

/// Time of each pass and stage over all entry points, the most expensive first, with its share of all.
pub fn stages(rows: &[Row]) -> String {
    use std::fmt::Write;
    /// Runs of a pass, and those that found nothing to change.
    #[derive(Default)]
    struct Total {
        time: Duration,
        runs: u32,
        idle: Duration,
        idle_runs: u32,
    }
    let mut totals: BTreeMap<&str, Total> = BTreeMap::new();
    let mut named = Duration::ZERO;
    for ran in rows.iter().flat_map(|row| &row.times) {
        let total = totals.entry(ran.name).or_default();
        total.time += ran.time;
        total.runs += 1;
        if !ran.changed {
            total.idle += ran.time;
            total.idle_runs += 1;
        }
        named += ran.time;
    }
    let all: Duration = rows.iter().map(|row| row.time).sum();
    totals.insert("the rest", Total { time: all.saturating_sub(named), ..Total::default() });
    let mut list: Vec<_> = totals.into_iter().collect();
    list.sort_by_key(|(name, total)| (std::cmp::Reverse(total.time), *name));
    let mut out = String::new();
    for (name, Total { time, runs, idle, idle_runs }) in list {
        let share = 100.0 * time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        let _ = write!(out, "{:>10} us {share:>5.1} %  {name}", time.as_micros());
        let _ = match (runs, idle_runs) {
            (0, _) => writeln!(out),
            (_, 0) => writeln!(out, " ({runs} runs)"),
            _ => {
                let idle = idle.as_micros();
                writeln!(out, " ({runs} runs; {idle_runs} changed nothing, {idle} us)")
            }
        };
    }
    let _ = writeln!(out, "{:>10} us in all", all.as_micros());
    out
}

//! `gpucc-tests fuzz`: its arguments, and the hidden command of its processes.

use super::campaign::{self, Plan};
use super::seeds::Seeds;
use super::worker::Fault;
use super::{Input, Language, child, minimise, mutate, worker};
use clap::Args;
use gpucc::{Stage, Target};
use gpucc_ir::ssa::random::Rng;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn language(name: &str) -> Result<Language, String> {
    Language::by_name(name).ok_or_else(|| "wgsl, spirv, glsl, ir or asm".to_owned())
}

/// What `fuzz` is asked.
#[derive(Args, Debug)]
pub struct Arguments {
    /// wgsl, spirv, glsl, ir or asm; all five in turn when absent.
    #[arg(long, value_parser = language)]
    language: Option<Language>,
    /// Inputs of each language.
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// Seed: the same one gives the same inputs, as long as the sources that they are made of are the same.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first input.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Hours in place of a count, in equal parts for each language; another seed gives another night's inputs.
    #[arg(long)]
    hours: Option<f64>,
    /// Processes at a time; one for each processor when absent.
    #[arg(long)]
    jobs: Option<usize>,
    /// Folder for inputs that find something, made smaller.
    #[arg(long, default_value = "target/fuzz-findings")]
    findings: PathBuf,
    /// Run this one file instead, as default options have it.
    #[arg(long)]
    file: Option<PathBuf>,
    /// Options that the file is run with: the number that a finding tells.
    #[arg(long, default_value_t = 0)]
    variant: u32,
    /// Stage of a file of GLSL; its name says it when absent.
    #[arg(long)]
    stage: Option<String>,
    /// Machine of a file of assembly.
    #[arg(long, default_value = Target::USUAL.name())]
    machine: String,
    /// Make the file smaller while it finds what it finds.
    #[arg(long)]
    minimise: bool,
    /// Have input 7 do this instead, for a test of the runner.
    #[arg(long, hide = true)]
    fault: Option<Fault>,
}

fn stage(name: &str) -> Result<Stage, String> {
    let all = [Stage::Vertex, Stage::Fragment, Stage::Compute];
    let found = all.into_iter().find(|stage| stage.name() == name);
    found.ok_or_else(|| format!("no stage '{name}'"))
}

/// Runs inputs; true when nothing was found.
///
/// # Errors
/// Wrong usage.
pub fn run(arguments: &Arguments, out: &mut impl Write) -> Result<bool, String> {
    let languages: Vec<Language> = match arguments.language {
        Some(language) => vec![language],
        None => Language::ALL.to_vec(),
    };
    if let (Some(file), [language]) = (&arguments.file, &languages[..]) {
        let stage = arguments.stage.as_deref().map_or(Ok(super::seeds::stage(file)), stage)?;
        let target = Target::by_name(&arguments.machine).ok_or("no such machine")?;
        let input = Input {
            language: *language,
            bytes: Vec::new(),
            stage,
            target,
            variant: arguments.variant,
        };
        let answer =
            child::file(*language, file, &child::how(&input)).map_err(|e| e.to_string())?;
        writeln!(out, "{answer:?}").map_err(|e| e.to_string())?;
        if let (true, Some(bug)) = (arguments.minimise, &answer.bug) {
            let how = minimise::file(*language, file, &child::how(&input), bug);
            let how = how.map_err(|e| e.to_string())?.join(" ");
            writeln!(out, "smaller: {} {how}", file.display()).map_err(|e| e.to_string())?;
        }
        return Ok(answer.bug.is_none());
    }
    if arguments.file.is_some() {
        return Err("--file needs --language".into());
    }
    let part = 3600.0 / languages.len() as f64;
    let time = |hours: f64| Duration::from_secs_f64(hours.clamp(0.0, 1e6) * part);
    let mut holds = true;
    for language in languages {
        let shared = crate::shared::shared();
        let seeds = Seeds::find(language, shared.as_deref()).len();
        let plan = Plan {
            language,
            seed: arguments.seed,
            first: arguments.first,
            count: arguments.hours.map_or(arguments.count, |_| u64::MAX),
            time: arguments.hours.map(time),
            jobs: match arguments.jobs {
                Some(jobs) => jobs,
                None => std::thread::available_parallelism().map_or(1, usize::from),
            },
            findings: arguments.findings.clone(),
            fault: arguments.fault,
        };
        let start = Instant::now();
        let tally = campaign::run(&plan, |line| {
            let _ = writeln!(std::io::stderr(), "{}: {line}", language.name());
        });
        let table = tally.table(&plan, seeds, start.elapsed());
        out.write_all(table.as_bytes()).map_err(|e| e.to_string())?;
        out.flush().map_err(|e| e.to_string())?;
        holds &= tally.holds();
    }
    Ok(holds)
}

/// What a process of `fuzz` is asked.
#[derive(Args, Debug)]
pub struct Worker {
    #[arg(long, value_parser = language)]
    language: Language,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[arg(long, default_value_t = 0)]
    first: u64,
    #[arg(long, default_value_t = 0)]
    end: u64,
    /// Write the first input here and say how it is run.
    #[arg(long)]
    write: Option<PathBuf>,
    /// Run this file.
    #[arg(long)]
    file: Option<PathBuf>,
    #[arg(long, default_value_t = 0)]
    variant: u32,
    #[arg(long, default_value = "fragment")]
    stage: String,
    #[arg(long, default_value = Target::USUAL.name())]
    machine: String,
    #[arg(long)]
    fault: Option<Fault>,
}

/// Runs a stretch of inputs, or one file, in this process.
///
/// # Errors
/// What cannot be read or written.
pub fn work(arguments: &Worker, out: &mut impl Write) -> Result<bool, String> {
    let text = |error: std::io::Error| error.to_string();
    let language = arguments.language;
    if let Some(file) = &arguments.file {
        let input = Input {
            language,
            bytes: std::fs::read(file).map_err(text)?,
            stage: stage(&arguments.stage)?,
            target: Target::by_name(&arguments.machine).ok_or("no such machine")?,
            variant: arguments.variant,
        };
        worker::single(&input, out).map_err(text)?;
        return Ok(true);
    }
    let shared = crate::shared::shared();
    let mut seeds = Seeds::find(language, shared.as_deref());
    if let Some(file) = &arguments.write {
        let input = worker::input(language, arguments.seed, arguments.first, &mut seeds);
        std::fs::write(file, &input.bytes).map_err(text)?;
        writeln!(out, "{}", child::how(&input).join(" ")).map_err(text)?;
        return Ok(true);
    }
    let numbers = arguments.first..arguments.end;
    worker::range(language, arguments.seed, numbers, &mut seeds, arguments.fault, out)
        .map_err(text)?;
    Ok(true)
}

/// What `seeds` is asked.
#[derive(Args, Debug)]
pub struct SeedFiles {
    /// wgsl, spirv, glsl, ir or asm.
    #[arg(long, value_parser = language)]
    language: Language,
    /// Files.
    #[arg(long, default_value_t = 120)]
    count: usize,
    /// Larger sources are left out.
    #[arg(long, default_value_t = 2000)]
    most_bytes: usize,
    /// Where to write them.
    folder: PathBuf,
}

/// Writes small sources, for fuzzers that keep files: the same ones every time.
///
/// # Errors
/// What cannot be written.
pub fn seed_files(arguments: &SeedFiles, out: &mut impl Write) -> Result<bool, String> {
    let text = |error: std::io::Error| error.to_string();
    let shared = crate::shared::shared();
    let mut seeds = Seeds::find(arguments.language, shared.as_deref());
    std::fs::create_dir_all(&arguments.folder).map_err(text)?;
    let mut rng = Rng::new(1);
    let mut written = 0;
    for _ in 0..arguments.count * 20 {
        if written == arguments.count {
            break;
        }
        let number = rng.below(seeds.len());
        let Some(seed) = seeds.get(number) else {
            continue;
        };
        // The targets of `fuzz/` read GLSL as fragment shaders.
        let fits = seed.stage == Stage::Fragment || arguments.language != Language::Glsl;
        if !fits || seed.bytes.len() > arguments.most_bytes.min(mutate::MOST_BYTES) {
            continue;
        }
        let name = format!("{number}.{}", arguments.language.endings()[0]);
        std::fs::write(arguments.folder.join(name), &seed.bytes).map_err(text)?;
        written += 1;
    }
    writeln!(out, "{written} files of {} sources", seeds.len()).map_err(text)?;
    Ok(written > 0)
}

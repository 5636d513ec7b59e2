//! `gpucc-tests`: the runners that measure the compiler on what others wrote and on what chance made.
#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use gpucc::{Compiler, Robust, Target};
use gpucc_tests::{
    amber, corpus, cts, flow, fuzz, mutate, peers, programs, readers, repro, shared, state, sweep,
    variants,
};
use std::io::Write;
use std::process::ExitCode;

/// Runners over foreign corpora and random programs.
#[derive(Parser)]
struct Arguments {
    /// Machine.
    #[arg(long, global = true, default_value = Target::USUAL.name())]
    target: String,
    /// Member of its family; the first when absent.
    #[arg(long, global = true)]
    chip: Option<String>,
    /// Leave this pass out (cts, shader-library, corpus).
    #[arg(long, global = true)]
    skip: Vec<String>,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// WebGPU CTS expression cases: files, cases, right, wrong, refused.
    Cts {
        /// Only files whose name contains this.
        #[arg(default_value = "")]
        filter: String,
    },
    /// Khronos shader-library cases (SPIR-V).
    ShaderLibrary {
        /// Only files whose name contains this.
        #[arg(default_value = "")]
        filter: String,
    },
    /// Scripts of Amber and VkRunner that dispatch and draw (GLSL, and SPIR-V through spirv-as).
    Amber {
        /// Only files whose name contains this.
        #[arg(default_value = "")]
        filter: String,
    },
    /// Random structured programs: emulator against interpreter.
    Programs {
        /// How many.
        #[arg(long, default_value_t = 1000)]
        count: u64,
        /// First seed.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Inputs of each.
        #[arg(long, default_value_t = 1)]
        inputs: u32,
        /// Print the text of the first program instead.
        #[arg(long)]
        text: bool,
    },
    /// Random control flow in WGSL: emulator against interpreter.
    Flow {
        /// How many.
        #[arg(long, default_value_t = 1000)]
        count: u64,
        /// First seed.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Inputs of each.
        #[arg(long, default_value_t = 2)]
        inputs: u32,
        /// Print the text of the first program instead.
        #[arg(long)]
        text: bool,
    },
    /// Broken encodings: one field of one instruction of the samples flipped, again and again.
    Mutate {
        /// Flips.
        #[arg(long, default_value_t = 2000)]
        count: usize,
        /// Seed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Folder of shaders.
        #[arg(long, default_value = "samples")]
        samples: std::path::PathBuf,
    },
    /// Compile time at doubling sizes, from IR text, or of programs that are large in one way, from WGSL.
    Sweep {
        /// Programs whose name contains this, in place of the usual one: straight, alive, nests, loops, ...
        #[arg(long)]
        shape: Option<String>,
        /// Runs of each size; the best counts.
        #[arg(long, default_value_t = 3)]
        runs: usize,
        /// Largest size in instructions.
        #[arg(long, default_value_t = 100_000)]
        most: usize,
        /// Wrong where a doubling costs more than this in time or memory (with --shape; `--shape ""` is every one).
        #[arg(long)]
        judge: Option<f64>,
        /// One size of one kind, as a line of JSON: what the runner starts for itself, to measure memory.
        #[arg(long, hide = true)]
        point: Option<usize>,
    },
    /// The corpus: entry points by exit code, compile times, and `verify` on N inputs.
    Corpus {
        /// wgsl, spirv or glsl.
        #[arg(long, default_value = "wgsl")]
        language: String,
        /// Only paths that contain this.
        #[arg(long, default_value = "")]
        filter: String,
        /// Verify on this many inputs.
        #[arg(long, default_value_t = 0)]
        verify: u32,
        /// Compile each entry point this often; the best time counts.
        #[arg(long, default_value_t = 1)]
        runs: u32,
        /// Print a line an entry point, with a hash of its code.
        #[arg(long)]
        rows: bool,
        /// Print how long each pass and each stage of the back end takes over all entry points.
        #[arg(long)]
        stages: bool,
        /// Print a line a feature of the modules: entry points by exit code.
        #[arg(long)]
        by_feature: bool,
    },
    /// The corpus's SPIR-V by our reader and by naga's: equal words on the interpreter, and how long reading takes.
    Readers {
        /// spirv, beside naga's reader; or glsl, beside glslang, where that is installed.
        #[arg(long, default_value = "spirv")]
        language: String,
        /// Only paths that contain this.
        #[arg(long, default_value = "")]
        filter: String,
        /// Inputs of each entry point.
        #[arg(long, default_value_t = 16)]
        inputs: u32,
    },
    /// Mutated shaders of the WGSL corpus, verified on the machine.
    Variants {
        /// How many to verify with words compared.
        #[arg(long, default_value_t = 1000)]
        count: u64,
        /// Seed.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Inputs of each.
        #[arg(long, default_value_t = 2)]
        inputs: u32,
        /// Only paths that contain this.
        #[arg(long, default_value = "")]
        filter: String,
        /// Print the text of the mutant of this number instead.
        #[arg(long, value_name = "N")]
        text: Option<u64>,
        /// Folder for the texts of mutants that go wrong.
        #[arg(long, value_name = "DIR")]
        keep: Option<std::path::PathBuf>,
    },
    /// What other compilers make of the same shaders, against ours, with geometric means.
    Peers {
        /// Only paths that contain this.
        #[arg(long, default_value = "")]
        filter: String,
        /// The folder of foreign material; `../shared` beside the workspace by default.
        #[arg(long)]
        shared: Option<std::path::PathBuf>,
        /// Bounds of our programs: restrict, zero or off. Peers have none.
        #[arg(long, default_value = "off", value_parser = robust)]
        robust: Robust,
    },
    /// What other drivers program for the same shaders, word by word against ours
    State {
        /// Only shaders whose path contains this.
        #[arg(default_value = "")]
        filter: String,
    },
    /// Very many mutations of sources on every machine, each in bounded time and memory.
    Fuzz(fuzz::command::Arguments),
    /// Small sources as files, for the fuzzers of `fuzz/`.
    Seeds(fuzz::command::SeedFiles),
    /// Inputs that once broke the compiler, on every machine, each within 10 s and 512 MiB.
    Repro {
        /// The command; the one beside this program when absent.
        #[arg(long)]
        gpucc: Option<std::path::PathBuf>,
        /// The folder; `repro` within the folder of foreign material when absent.
        #[arg(long)]
        folder: Option<std::path::PathBuf>,
    },
    /// One stretch of `fuzz`, in a process of its own.
    #[command(hide = true)]
    FuzzWorker(fuzz::command::Worker),
}

fn robust(word: &str) -> Result<Robust, String> {
    match word {
        "restrict" => Ok(Robust::Restrict),
        "zero" => Ok(Robust::Zero),
        "off" => Ok(Robust::Off),
        _ => Err("write restrict, zero or off".into()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // With room for all: else each compilation starts a thread of its own.
    let ran = gpucc_ir::stack::roomy(|| run(&arguments, &mut std::io::stdout().lock()));
    match ran {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(5),
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Prints what went wrong and the table; true when nothing did.
fn tell(
    tally: &programs::Tally,
    target: &str,
    say: &mut impl FnMut(&str) -> Result<(), String>,
) -> Result<bool, String> {
    let failures = tally.failures.iter().take(40);
    for (seed, what) in failures.chain(tally.mismatches.iter().take(40)) {
        say(&format!("seed {seed}: {what}\n"))?;
    }
    say(&tally.table(target))?;
    Ok(tally.mismatches.is_empty() && tally.failures.is_empty())
}

/// Prints what was wrong or refused and the totals; true when nothing was wrong.
fn tell_files(
    table: &cts::Table,
    target: &str,
    folder: &str,
    say: &mut impl FnMut(&str) -> Result<(), String>,
) -> Result<bool, String> {
    for file in &table.files {
        if let Some(first) = &file.first_wrong {
            say(&format!("{}: {} wrong; {first}\n", file.name, file.wrong()))?;
        }
    }
    for ((code, why), names) in table.refusals() {
        let (count, first) = (names.len(), names[0]);
        say(&format!("exit {code}: {why}: {count} files, {first} first\n"))?;
    }
    say(&format!("{}\n", table.line(target, folder)))?;
    Ok(table.wrong() == 0)
}

/// True when nothing was wrong.
fn run(arguments: &Arguments, out: &mut impl Write) -> Result<bool, String> {
    let name = arguments.target.as_str();
    let target = Target::by_name(name).ok_or_else(|| format!("no target '{name}'"))?;
    let compiler = Compiler::new(target, arguments.chip.as_deref())
        .map_err(|failure| failure.summary().to_owned())?;
    let corpus_folder =
        || shared::corpus().ok_or("the corpus is absent (set GPUCC_SHARED)".to_owned());
    let mut say = |text: &str| out.write_all(text.as_bytes()).map_err(|e| e.to_string());
    match &arguments.what {
        What::Cts { filter } | What::ShaderLibrary { filter } => {
            let family = match arguments.what {
                What::Cts { .. } => cts::Family::Expressions,
                _ => cts::Family::ShaderLibrary,
            };
            let table = cts::run(&compiler, &corpus_folder()?, family, filter, &arguments.skip)
                .map_err(|error| error.to_string())?;
            tell_files(&table, name, family.folder(), &mut say)
        }
        What::Amber { filter } => {
            if !amber::can_assemble() {
                shared::skip("spirv-as");
                return Ok(true);
            }
            let files = amber::run(&compiler, &corpus_folder()?, filter);
            let table = cts::Table { files: files.map_err(|error| error.to_string())? };
            tell_files(&table, name, "scripts of Amber and VkRunner", &mut say)
        }
        What::Programs { count, seed, inputs, text } => {
            if *text {
                say(&programs::program_of(target, *seed).to_string())?;
                return Ok(true);
            }
            tell(&programs::run(&compiler, *seed..seed + count, *inputs), name, &mut say)
        }
        What::Flow { count, seed, inputs, text } => {
            if *text {
                let fragment = !programs::writes_memory(target) || !seed.is_multiple_of(2);
                say(&flow::source(*seed, fragment))?;
                return Ok(true);
            }
            tell(&flow::run(&compiler, *seed..seed + count, *inputs), name, &mut say)
        }
        What::Mutate { count, seed, samples } => {
            let tally = mutate::run(&compiler, samples, *count, *seed)?;
            say(&tally.table())?;
            let least = target.about().noticed as usize;
            Ok(tally.caught() * 100 >= tally.flips * least)
        }
        What::Sweep { shape: Some(shape), runs, point: Some(size), .. } => {
            say(&sweep::line(&compiler, shape, *size, *runs)?)?;
            Ok(true)
        }
        What::Sweep { shape, runs, most, judge, .. } => {
            let sizes: Vec<usize> = std::iter::successors(Some(1000), |size| Some(size * 2))
                .take_while(|size| size < most)
                .chain([*most])
                .collect();
            let Some(part) = shape else {
                say(&sweep::table(&sweep::run(&compiler, &sizes, *runs)?))?;
                return Ok(true);
            };
            let mut right = true;
            for shape in sweep::SHAPES.iter().filter(|shape| shape.name.contains(part.as_str())) {
                say(&format!("{}: {}\n", shape.name, shape.about))?;
                let points = sweep::measure(name, shape, &sizes, *runs)?;
                say(&sweep::table(&points))?;
                if let Some(growth) = sweep::growth(&points) {
                    let fits = judge.is_none_or(|most| growth.within(most));
                    let word = if fits { "" } else { ": too much" };
                    say(&format!("a doubling costs {growth}{word}\n"))?;
                    right &= fits;
                }
            }
            Ok(right)
        }
        What::Corpus { language, filter, verify, runs, rows: each, stages, by_feature } => {
            let folder = corpus_folder()?;
            let mut modules =
                corpus::index(&folder, language).map_err(|error| error.to_string())?;
            modules.retain(|module| module.is_valid && module.path.contains(filter));
            let rows = corpus::run(&compiler, &folder, &modules, (*verify, *runs), &arguments.skip);
            if *each {
                for row in &rows {
                    say(&format!(
                        "{} {} exit {} {} instructions {} us {:016x} {}\n",
                        row.path,
                        row.entry,
                        row.code,
                        row.instructions,
                        row.time.as_micros(),
                        row.hash,
                        row.message
                    ))?;
                }
            }
            say(&corpus::table(&rows))?;
            say(&corpus::producers(&rows))?;
            if *by_feature {
                say(&corpus::features(&rows))?;
            }
            if *stages {
                say(&corpus::stages(&rows))?;
            }
            say(&corpus::distances(&rows))?;
            say(&corpus::speed(&rows))?;
            let (checked, holds) = corpus::verified(&rows);
            if *verify > 0 {
                say(&checked)?;
            }
            Ok(holds)
        }
        What::Readers { language, filter, inputs } => {
            let folder = corpus_folder()?;
            let mut modules =
                corpus::index(&folder, language).map_err(|error| error.to_string())?;
            modules.retain(|module| module.path.contains(filter));
            let interpreter = Compiler::new(Target::Interp, None)
                .map_err(|failure| failure.summary().to_owned())?;
            if language == "glsl" {
                if !readers::glsl::is_there() {
                    shared::skip("glslang");
                    return Ok(true);
                }
                let paths: Vec<String> = modules.into_iter().map(|module| module.path).collect();
                let tally = readers::glsl::run(&interpreter, &folder, &paths, *inputs);
                say(&tally.table())?;
                return Ok(tally.holds());
            }
            modules.retain(|module| module.is_valid);
            let tally = readers::run(&interpreter, &folder, &modules, *inputs);
            say(&tally.table())?;
            Ok(tally.holds())
        }
        What::State { filter } => {
            let Some(shared) = shared::shared() else {
                shared::skip("peers");
                return Ok(true);
            };
            let tally = state::run(target, &shared, filter)?;
            say(&tally.table())?;
            Ok(tally.holds())
        }
        What::Fuzz(arguments) => fuzz::command::run(arguments, out),
        What::Seeds(arguments) => fuzz::command::seed_files(arguments, out),
        What::Repro { gpucc, folder } => {
            let beside = std::env::current_exe().map(|own| own.with_file_name("gpucc"));
            let gpucc = gpucc.clone().or(beside.ok()).ok_or("no command gpucc")?;
            let folder = folder.clone().or_else(|| Some(shared::shared()?.join("repro")));
            let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
                shared::skip("repro");
                return Ok(true);
            };
            let tally = repro::run(&gpucc, &folder).map_err(|error| error.to_string())?;
            say(&tally.table())?;
            Ok(tally.wrong.is_empty())
        }
        What::FuzzWorker(arguments) => fuzz::command::work(arguments, out),
        What::Variants { count, seed, inputs, filter, text, keep } => {
            let folder = corpus_folder()?;
            let mut index = corpus::index(&folder, "wgsl").map_err(|error| error.to_string())?;
            index.retain(|module| module.path.contains(filter));
            let modules = variants::modules(&folder, &index).map_err(|error| error.to_string())?;
            if modules.is_empty() {
                return Err(format!("no module of the corpus contains '{filter}'"));
            }
            if let Some(number) = text {
                say(&variants::mutant(&modules, *seed, *number).text)?;
                return Ok(true);
            }
            let request = variants::Request { count: *count, seed: *seed, inputs: *inputs };
            let mut unwritten = None;
            let tally = variants::run(&compiler, &modules, &request, |number, text| {
                if let Some(folder) = keep {
                    let path = folder.join(format!("{name}-{seed}-{number}.wgsl"));
                    let written =
                        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
                    if let Err(error) = written {
                        unwritten = Some(format!("{}: {error}", path.display()));
                    }
                }
            });
            say(&tally.table(name))?;
            match unwritten {
                Some(error) => Err(error),
                None => Ok(tally.holds(&request)),
            }
        }
        What::Peers { filter, shared, robust } => {
            let folder = shared.clone().or_else(shared::shared);
            let Some(folder) = folder.filter(|f| f.join("peers/peers.jsonl").is_file()) else {
                shared::skip("peers/peers.jsonl");
                return Ok(true);
            };
            for table in peers::run(&compiler, &folder, filter, *robust)? {
                say(&peers::text(&table))?;
            }
            say(&peers::around(&compiler, &folder, filter)?)?;
            Ok(true)
        }
    }
}

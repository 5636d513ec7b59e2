//! Our reader of GLSL beside glslang: what glslang turns into SPIR-V gives equal words on the interpreter, read as GLSL
//! and as that SPIR-V.

use super::{compare, interface};
use gpucc::{Compiler, Options, Stage};
use gpucc_frontend::{Failure, FailureKind, Parsed, Source, parse};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The command that turns GLSL into SPIR-V.
const GLSLANG: &str = "glslangValidator";

/// What was found.
#[derive(Debug, Default)]
pub struct Tally {
    /// Files.
    files: usize,
    /// Files that glslang turns into SPIR-V.
    modules: usize,
    /// Of these those whose SPIR-V our reader of SPIR-V refuses.
    lacking: usize,
    /// Of these those whose reason is one that no machine here has silicon for.
    no_silicon: usize,
    /// Of these those that are no valid SPIR-V: glslang makes such of some old texts.
    invalid: usize,
    /// Why, and how many files each.
    reasons: BTreeMap<String, usize>,
    /// Files with equal words.
    equal: usize,
    /// Of these without a word to compare on any input.
    silent: usize,
    /// Files whose words differ, or that our reader refuses.
    wrong: Vec<String>,
    /// Files whose bindings, inputs or outputs differ, so that their words are not the same words.
    apart: Vec<String>,
    /// How long reading took.
    times: Vec<Duration>,
}

/// True where glslang is installed.
pub fn is_there() -> bool {
    let version = Command::new(GLSLANG).arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// The stage of a file by the end of its name, and glslang's word for it.
fn stage(path: &str) -> Option<(Stage, &'static str)> {
    match path.rsplit('.').next()? {
        "vert" => Some((Stage::Vertex, "vert")),
        "geom" => Some((Stage::Geometry, "geom")),
        "frag" => Some((Stage::Fragment, "frag")),
        "comp" => Some((Stage::Compute, "comp")),
        _ => None,
    }
}

/// The SPIR-V that glslang makes of a file, Vulkan's or OpenGL's.
fn spirv(path: &Path, stage: &str) -> Option<Vec<u8>> {
    let name = format!("gpucc-readers-{}.spv", std::process::id());
    let out = std::env::temp_dir().join(name);
    for way in [&["-V", "--target-env", "vulkan1.3"][..], &["-G"][..]] {
        let made = Command::new(GLSLANG)
            .args(way)
            .args(["-S", stage, "-o"])
            .arg(&out)
            .arg(path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if made.is_ok_and(|status| status.success()) {
            let words = std::fs::read(&out).ok();
            let _ = std::fs::remove_file(&out);
            return words.map(upper_left);
        }
    }
    None
}

/// Fragment coordinates that count from the lower left, as OpenGL's do, count from the upper left: our reader of GLSL
/// leaves it to the driver which they are.
fn upper_left(mut words: Vec<u8>) -> Vec<u8> {
    const EXECUTION_MODE: u32 = 16;
    const UPPER: u32 = 7;
    const LOWER: u32 = 8;
    let word = |words: &[u8], at: usize| {
        let bytes = words.get(4 * at..4 * at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let mut at = 5;
    while let Some(first) = word(&words, at) {
        if first & 0xffff == EXECUTION_MODE && word(&words, at + 2) == Some(LOWER) {
            words[4 * at + 8..4 * at + 12].copy_from_slice(&UPPER.to_le_bytes());
        }
        at += (first >> 16).max(1) as usize;
    }
    words
}

fn read(source: Source<'_>) -> Result<Parsed, Failure> {
    parse(source, "module", &gpucc_frontend::Options::default())
}

/// Compares the readers on files of the corpus, on so many inputs of each.
pub fn run(compiler: &Compiler, corpus: &Path, paths: &[String], inputs: u32) -> Tally {
    let mut tally = Tally::default();
    let options = Options::default();
    for path in paths {
        let file = corpus.join(path);
        let (Some((stage, word)), Ok(text)) = (stage(path), std::fs::read_to_string(&file)) else {
            continue;
        };
        tally.files += 1;
        let start = Instant::now();
        let ours = read(Source::Glsl { text: &text, stage });
        let time = start.elapsed();
        if ours.is_ok() {
            tally.times.push(time);
        }
        let Some(words) = spirv(&file, word) else {
            continue;
        };
        tally.modules += 1;
        let theirs = match read(Source::SpirV(&words)) {
            Ok(theirs) => theirs,
            Err(failure) => {
                tally.lacking += 1;
                match &failure.kind {
                    FailureKind::Invalid => tally.invalid += 1,
                    FailureKind::Unsupported { needs: Some(_), .. } => tally.no_silicon += 1,
                    _ => {}
                }
                *tally.reasons.entry(failure.to_string()).or_default() += 1;
                continue;
            }
        };
        let ours = match ours {
            Ok(ours) => ours,
            Err(failure) => {
                tally.wrong.push(format!("{path}: {}", failure));
                continue;
            }
        };
        let (Some(their), Some(own)) =
            (theirs.module.funcs.into_iter().next(), ours.module.funcs.into_iter().next())
        else {
            continue;
        };
        let (mut their, mut own) = (their, own);
        interface::align(&mut their, &mut own);
        let (left, right) = (super::interface(&their), super::interface(&own));
        if left != right {
            tally.apart.push(format!("{path}:\n      {left}\n      {right}"));
            continue;
        }
        match compare(compiler, &options, &their, &own, inputs) {
            Ok(some) => {
                tally.equal += 1;
                tally.silent += usize::from(!some);
            }
            Err(message) => tally.wrong.push(format!("{path}: {message}")),
        }
    }
    tally
}

impl Tally {
    /// The table.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let Tally {
            files, modules, lacking, no_silicon, invalid, equal, silent, wrong, apart, ..
        } = self;
        let _ = writeln!(
            text,
            "{files} files, {modules} that glslang turns into SPIR-V: {lacking} whose SPIR-V is not read ({no_silicon} for want of silicon, {invalid} that are invalid), {equal} with equal words ({silent} of them with none to compare), {} wrong, {} with another interface",
            wrong.len(),
            apart.len(),
        );
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|&(_, &count)| std::cmp::Reverse(count));
        for (reason, count) in reasons {
            let _ = writeln!(text, "{count:6} {reason}");
        }
        for line in wrong.iter().chain(apart) {
            let _ = writeln!(text, "  {line}");
        }
        let mut times = self.times.clone();
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default().as_micros();
        let _ =
            writeln!(text, "reading, without passes: median {median} us, {} files", times.len());
        text
    }

    /// Nothing differs.
    pub fn holds(&self) -> bool {
        self.wrong.is_empty() && self.equal > 0
    }
}

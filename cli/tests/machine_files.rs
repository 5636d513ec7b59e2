//! File tests of what machines make of programs: each file of `tests/machine/MACHINE` becomes the text after `; ---`.
//! `BLESS=1` rewrites what is expected. The file's name is the claim.
//!
//! ```text
//! ; steps: clauses group            *.mach: passes over the machine IR that follows; `emit` last makes assembly of it
//! ; asm:                            *.ir: the SSA that follows becomes assembly,
//! ; mach: schedule                  or machine IR behind this pass
//! ```
//! Further words of the first line: `chip=rv710`; `O0`, `O1`, `max` (effort); `stage=fragment` (of a *.mach file, whose
//! shader is else a compute shader); `off` (robustness) and `skip=PASS` (of *.ir files).

use gpucc::machine::{Excerpt, Machine, Request};
use gpucc::verify::verify;
use gpucc::{
    Choice, Compiler, Effort, Failure, Options, Robust, Source, SourceText, Stage, Target,
};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/machine")
}

/// What stands in a folder, by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a name in UTF-8")
}

/// The first line of a file.
struct Claim<'a> {
    /// The word before the colon.
    kind: &'a str,
    /// Names of passes.
    passes: Vec<&'a str>,
    chip: Option<&'a str>,
    stage: Stage,
    options: Options,
}

impl<'a> Claim<'a> {
    fn of(text: &'a str) -> Result<Claim<'a>, String> {
        let first = text.lines().next().unwrap_or_default();
        let first = first.strip_prefix("; ").and_then(|first| first.split_once(':'));
        let (kind, words) = first.ok_or("the first line claims nothing")?;
        let mut claim = Claim {
            kind,
            passes: Vec::new(),
            chip: None,
            stage: Stage::Compute,
            options: Options::default(),
        };
        for word in words.split_whitespace() {
            match word.split_once('=') {
                Some(("chip", chip)) => claim.chip = Some(chip),
                Some(("stage", "vertex")) => claim.stage = Stage::Vertex,
                Some(("stage", "fragment")) => claim.stage = Stage::Fragment,
                Some(("skip", pass)) => claim.options.skip.push(pass.into()),
                Some(_) => return Err(format!("what is {word}?")),
                None => match word {
                    "O0" => claim.options.effort = Effort::None,
                    "O1" => claim.options.effort = Effort::Some,
                    "max" => claim.options.effort = Effort::Max,
                    "off" => claim.options.robust = Robust::Off,
                    pass => claim.passes.push(pass),
                },
            }
        }
        Ok(claim)
    }
}

fn summary(failure: Failure) -> String {
    failure.summary().to_owned()
}

/// What passes make of machine IR, whose text is that of its own text.
fn after_passes(machine: &dyn Machine, claim: &Claim<'_>, text: &str) -> Result<String, String> {
    let chips = machine.about().chips;
    let chip = match claim.chip {
        None => chips.first(),
        Some(name) => chips.iter().find(|chip| **chip == name),
    };
    let request = Request {
        chip: chip.ok_or("no such chip")?,
        effort: claim.options.effort,
        ..Request::default()
    };
    let run = |text: &str, passes: &[&str]| {
        let stage = claim.stage;
        let made = machine.run_passes(Excerpt { text, stage }, passes, &request);
        made.map_err(|error| error.to_string())
    };
    let printed = run(text, &[])?;
    if run(&printed, &[])? != printed {
        return Err(format!("the text changes when it is read again:\n{printed}"));
    }
    run(text, &claim.passes)
}

/// What the compiler makes of SSA: a program that computes what the interpreter does.
fn compiled(target: Target, claim: Claim<'_>, text: &str) -> Result<String, String> {
    let compiler = Compiler::new(target, claim.chip).map_err(summary)?;
    let mut options = claim.options;
    options.dump_after = claim.passes.iter().map(|&pass| pass.into()).collect();
    let parsed = compiler.parse(Source::Ir(text), Choice::default(), &options);
    let mut out = String::new();
    for entry in parsed.map_err(summary)?.entries {
        let func = entry.func.map_err(summary)?;
        let compiled = compiler.compile(&func, &options).map_err(summary)?;
        let source = SourceText::new("file", None);
        let proof = verify(&compiler, &compiled, &source, &options, 8, 1).map_err(summary)?;
        if let Some(failure) = proof.failure(target.name()) {
            return Err(summary(failure));
        }
        match (claim.kind, &claim.passes[..]) {
            ("asm", []) => {
                let program = compiled.binary.program.ok_or("no program")?;
                out += &program.assembly().map_err(summary)?;
            }
            ("mach", [_]) => out.extend(compiled.dumps.into_iter().map(|(_, text)| text)),
            _ => return Err("the first line is `asm:`, or `mach:` with the name of a pass".into()),
        }
    }
    Ok(out)
}

/// What a file becomes.
fn becomes(target: Target, path: &Path, text: &str) -> Result<String, String> {
    let claim = Claim::of(text)?;
    match path.extension().and_then(|end| end.to_str()) {
        Some("mach") if claim.kind == "steps" => {
            let machine = target.built().ok_or("no machine")?;
            after_passes(machine, &claim, text)
        }
        Some("ir") => compiled(target, claim, text),
        _ => Err("the file ends with .mach and begins with `steps:`, or with .ir".into()),
    }
}

#[test]
fn every_file_becomes_what_it_claims() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    let mut files = 0;
    for folder in entries(&folder()) {
        let target = Target::by_name(name(&folder)).expect("a folder has a machine's name");
        for path in entries(&folder) {
            files += 1;
            let text = std::fs::read_to_string(&path).expect("a readable file");
            let (source, expected) = text.split_once("; ---\n").unwrap_or((&text, ""));
            match becomes(target, &path, source) {
                Err(error) => wrong.push(format!("{}: {error}", path.display())),
                Ok(actual) if actual == expected => {}
                Ok(actual) if bless => {
                    let text = format!("{}\n; ---\n{actual}", source.trim_end());
                    std::fs::write(&path, text).expect("a writable file");
                }
                Ok(actual) => wrong.push(format!("{}: became\n{actual}", path.display())),
            }
        }
    }
    assert!(files > 0, "there are files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

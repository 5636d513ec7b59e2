//! File tests of the code that machines get: each file of `code` is compiled for the machines that its first lines name,
//! verified against the interpreter, and its assembly counted. The file's name is the claim.
//!
//! ```text
//! ; on valhall                      the machines; further words: `O0`, `max` (effort), `off` (robustness), `pushed` (uniforms)
//! ; 2 FADD.f32                      a line with this text stands there twice
//! ; 0 ICMP                          and none with this one
//! ; 1+ BRANCHZ                      at least one
//! ```

use gpucc::pipeline::Uniforms;
use gpucc::verify::verify;
use gpucc::{Choice, Compiler, Effort, Options, Robust, Source, SourceText, Stage, Target};
use std::path::{Path, PathBuf};

/// What a file says of its code.
#[derive(Default)]
struct Claims<'a> {
    machines: Vec<Target>,
    options: Options,
    /// How often, or more often, and what.
    counts: Vec<(usize, bool, &'a str)>,
}

fn claims(text: &str) -> Result<Claims<'_>, String> {
    let mut claims = Claims::default();
    for line in text.lines() {
        let Some(line) = line.strip_prefix("; ").or_else(|| line.strip_prefix("// ")) else {
            break;
        };
        let (first, rest) = line.split_once(' ').ok_or("a line of one word")?;
        if first != "on" {
            let least = first.strip_suffix('+');
            let count = least.unwrap_or(first).parse().map_err(|_| "no number")?;
            claims.counts.push((count, least.is_some(), rest));
            continue;
        }
        for word in rest.split(' ') {
            match word {
                "O0" => claims.options.effort = Effort::None,
                "max" => claims.options.effort = Effort::Max,
                "off" => claims.options.robust = Robust::Off,
                "pushed" => claims.options.pipeline.uniforms = Uniforms::Pushed,
                name => {
                    let machine = Target::by_name(name).ok_or("no such machine")?;
                    claims.machines.push(machine);
                }
            }
        }
    }
    if claims.machines.is_empty() || claims.counts.is_empty() {
        return Err("nothing is claimed".into());
    }
    Ok(claims)
}

/// What is wrong with the code of one file on one machine.
fn wrong(path: &Path, text: &str, machine: Target, claims: &Claims<'_>) -> Result<(), String> {
    let source = match path.extension().and_then(|end| end.to_str()) {
        Some("wgsl") => Source::Wgsl(text),
        Some("frag") => Source::Glsl(text, Stage::Fragment),
        Some("comp") => Source::Glsl(text, Stage::Compute),
        _ => Source::Ir(text),
    };
    let compiler = Compiler::new(machine, None).map_err(|e| e.summary().to_owned())?;
    let options = &claims.options;
    let parsed =
        compiler.parse(source, Choice::default(), options).map_err(|e| e.summary().to_owned())?;
    let mut assembly = String::new();
    for entry in parsed.entries {
        let compiled = entry
            .func
            .and_then(|func| compiler.compile(&func, options))
            .map_err(|e| e.summary().to_owned())?;
        let name = SourceText::new("code", None);
        let proof = verify(&compiler, &compiled, &name, options, 16, 1)
            .map_err(|e| e.summary().to_owned())?;
        if !proof.holds() || proof.words == 0 {
            return Err(format!("{:?}", proof.first.map(|first| first.to_string())));
        }
        let program = compiled.binary.program.ok_or("no program")?;
        assembly += &program.assembly().map_err(|e| e.summary().to_owned())?;
    }
    for &(count, more, what) in &claims.counts {
        let found = assembly.lines().filter(|line| line.contains(what)).count();
        if found < count || found > count && !more {
            return Err(format!("{found} of {what:?}:\n{assembly}"));
        }
    }
    Ok(())
}

#[test]
fn every_file_becomes_the_code_that_it_claims() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/code");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder stands beside this file")
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let mut all = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let name = path.file_name().unwrap_or_default().display().to_string();
        match claims(&text) {
            Err(error) => all.push(format!("{name}: {error}")),
            Ok(claims) => {
                for &machine in &claims.machines {
                    if let Err(error) = wrong(&path, &text, machine, &claims) {
                        all.push(format!("{name} on {}: {error}", machine.name()));
                    }
                }
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

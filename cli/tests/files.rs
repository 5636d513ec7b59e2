//! Tests whose inputs and expectations are files: `tests/run` and `tests/diagnostics`.
//!
//! `BLESS=1 cargo test -p gpucc-cli --test integration files` rewrites the expectations.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").join(name)
}

/// Every shader of a folder, sorted by name: what has one of the endings.
fn shaders(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| {
            path.extension().is_some_and(|found| endings.iter().any(|ending| found == *ending))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn bless() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

fn gpucc(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpucc"))
        .current_dir(folder)
        .args(args)
        .output()
        .expect("gpucc starts")
}

/// Whether a list of targets has one.
fn names(list: &str, target: &str) -> bool {
    list.split_whitespace().any(|name| name == target)
}

/// `// run: ARGUMENTS` runs the shader on the interpreter and on every machine; what it prints
/// must be the `// expect: ` lines, or the `// expect TARGETS: ` lines of those that round otherwise. `// refuses: TARGETS` names
/// machines that cannot do it.
#[test]
fn shaders_give_what_their_expect_lines_say() {
    let folder = folder("run");
    let mut wrong = Vec::new();
    for path in shaders(&folder, &["wgsl"]) {
        let text = fs::read_to_string(&path).expect("readable");
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("// run: "))
            .unwrap_or_else(|| panic!("{name} has no run line"));
        let expected: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("// expect: ")).collect();
        let refuses = text.lines().find_map(|line| line.strip_prefix("// refuses: "));
        for target in ["interp", "r700", "valhall", "gen4", "g45"] {
            let mut args = vec!["run", &name, "--target", target];
            args.extend(line.split_whitespace());
            let output = gpucc(&folder, &args);
            if refuses.is_some_and(|list| names(list, target)) {
                assert_eq!(output.status.code(), Some(3), "{name} on {target}");
                continue;
            }
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            if target == "interp" && bless() && output.status.success() {
                let is_ours = |line: &&str| {
                    ["// run: ", "// refuses: ", "// expect"]
                        .iter()
                        .any(|mark| line.starts_with(mark))
                };
                let rest = text.lines().filter(|line| !is_ours(line));
                let mut new = format!("// run: {line}\n");
                if let Some(target) = refuses {
                    new.push_str(&format!("// refuses: {target}\n"));
                }
                for line in printed.lines() {
                    new.push_str(&format!("// expect: {line}\n"));
                }
                for line in text.lines().filter(|line| line.starts_with("// expect ")) {
                    new.push_str(&format!("{line}\n"));
                }
                rest.for_each(|line| {
                    new.push_str(line);
                    new.push('\n');
                });
                fs::write(&path, new).expect("writable");
                continue;
            }
            let own = text.lines().filter_map(|line| {
                let (list, rest) = line.strip_prefix("// expect ")?.split_once(": ")?;
                names(list, target).then_some(rest)
            });
            let own: Vec<&str> = own.collect();
            let expected = if own.is_empty() { &expected } else { &own };
            if printed.lines().collect::<Vec<_>>() != *expected {
                wrong.push(format!(
                    "{name} on {target}: exit {:?}, expected {expected:?}, got {printed:?} {}",
                    output.status.code(),
                    String::from_utf8_lossy(&output.stderr)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a user reads when something is wrong stands in a file beside the shader.
#[test]
fn messages_are_those_that_were_blessed() {
    let folder = folder("diagnostics");
    let mut wrong = Vec::new();
    for path in shaders(&folder, &["wgsl", "vert", "frag", "comp"]) {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let output = gpucc(&folder, &[&name, "--target", "r700"]);
        assert!(output.stdout.is_empty(), "{name} printed code");
        let code = output.status.code().unwrap_or(-1);
        let got = format!("exit {code}\n{}", String::from_utf8_lossy(&output.stderr));
        let golden = path.with_extension("txt");
        if bless() {
            fs::write(&golden, &got).expect("writable");
        } else if fs::read_to_string(&golden).ok().as_deref() != Some(got.as_str()) {
            wrong.push(format!("{name}: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A line that begins with `$ gpucc` is a command in the folder of the samples; what it prints follows.
#[test]
fn messages_about_commands_are_those_that_were_blessed() {
    let golden = folder("diagnostics").join("command_line.txt");
    let kept = fs::read_to_string(&golden).expect("readable");
    let mut got = String::new();
    for line in kept.lines().filter(|line| line.starts_with("$ gpucc ")) {
        let args: Vec<&str> = line.split_whitespace().skip(2).collect();
        let output = gpucc(&folder("../samples"), &args);
        assert!(output.stdout.is_empty(), "{line} printed code");
        let code = output.status.code().unwrap_or(-1);
        got += &format!("{line}\n{}exit {code}\n\n", String::from_utf8_lossy(&output.stderr));
    }
    if bless() {
        fs::write(&golden, &got).expect("writable");
    } else {
        assert!(kept == got, "BLESS=1 writes {} anew:\n{got}", golden.display());
    }
}

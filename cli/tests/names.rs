//! Names of files that a terminal, make or a walk through folders stumbles over.
#![cfg(unix)]

use crate::common::{Folder, gpucc, text};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const SHADER: &str =
    "@fragment fn main() -> @location(0) vec4f { return vec4f(1.0, 0.5, 0.25, 1.0); }\n";

/// Runs `gpucc batch` on folders; gives exit code, stdout and stderr.
fn batch(paths: &[&str], out: &str) -> (i32, String, String) {
    let mut args = vec!["batch", "--target", "interp", "-o", out];
    args.extend(paths);
    let output = gpucc(&args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().expect("it ends by itself");
    (code, text(&output.stdout), text(&output.stderr))
}

#[test]
fn links_back_end_the_search_and_are_told() {
    let folder = Folder::new("cycle");
    let (inner, out) = (folder.path("in"), folder.path("out"));
    std::fs::create_dir_all(folder.path("in/a/b")).expect("a folder can be made");
    folder.write("in/one.wgsl", SHADER);
    folder.write("in/a/b/two.wgsl", SHADER);
    // Every level twice: a search that follows them all would visit 2^40 folders.
    for (to, from) in [("..", "in/a/up"), ("../..", "in/a/b/top"), (".", "in/same")] {
        symlink(to, folder.path(from)).expect("a link can be made");
    }
    symlink("nowhere", folder.path("in/broken.d")).expect("a link can be made");
    let (code, printed, said) = batch(&[&inner], &out);
    assert_eq!(code, 0, "{said}");
    assert!(printed.contains("2 files: 2 compiled, 0 failed"), "{printed}");
    for name in ["in/a/up", "in/a/b/top", "in/same"] {
        let name = folder.path(name);
        let line = format!("{name} is left out: its folder was searched as {}", folder.path("in"));
        assert!(said.contains(&line), "{name}: {said}");
    }
    // Twice the same folder, by other names, and one within it: each shader once.
    let other = folder.path("in/../in/.");
    let within = folder.path("in/a");
    let (code, printed, said) = batch(&[&inner, &other, &inner, &within], &out);
    assert_eq!(code, 0, "{said}");
    assert!(printed.contains("2 files: 2 compiled, 0 failed"), "{printed}");
    let file = folder.path("in/one.wgsl");
    let again = folder.path("in/a/../one.wgsl");
    let (code, printed, said) = batch(&[&file, &again], &out);
    assert_eq!(code, 0, "{said}");
    assert!(printed.contains("1 file: 1 compiled, 0 failed"), "{printed}");
}

#[test]
fn folders_that_cannot_be_searched_fail_alone() {
    let folder = Folder::new("deep");
    let (inner, out) = (folder.path("in"), folder.path("out"));
    folder.write("keep", "");
    let deep = folder.path(&format!("in{}", "/d".repeat(70)));
    std::fs::create_dir_all(&deep).expect("a folder can be made");
    folder.write("in/one.wgsl", SHADER);
    std::fs::write(format!("{deep}/lost.wgsl"), SHADER).expect("writable");
    let pipe = folder.path("in/pipe.wgsl");
    let made = Command::new("mkfifo").arg(&pipe).status();
    let (code, printed, said) = batch(&[&inner], &out);
    assert_eq!(code, 2, "{said}");
    assert!(printed.contains("ok    ") && printed.contains("one.wgsl"), "{printed}");
    assert!(printed.contains("2 files: 1 compiled, 1 failed"), "{printed}");
    assert!(said.contains("folders nest more than 64 deep"), "{said}");
    if made.is_ok_and(|status| status.success()) {
        // Nobody writes to it: who opened it would wait for ever.
        assert!(said.contains("pipe.wgsl is left out: it is no file"), "{said}");
    }
    // A folder without permission; whoever may read everything may read it too.
    let shut = folder.path("shut");
    std::fs::create_dir_all(&shut).expect("a folder can be made");
    use std::os::unix::fs::PermissionsExt;
    let forbid = std::fs::Permissions::from_mode(0o0);
    std::fs::set_permissions(&shut, forbid).expect("its owner may");
    if std::fs::read_dir(&shut).is_err() {
        let file = folder.path("in/one.wgsl");
        let (code, printed, said) = batch(&[&shut, &file], &out);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("permission denied"), "{said}");
        assert!(printed.contains("2 files: 1 compiled, 1 failed"), "{printed}");
    }
    let allow = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&shut, allow).expect("its owner may");
}

#[test]
fn names_move_no_cursor() {
    let folder = Folder::new("cursor");
    let name = "a\x1b[2Jb\rc\nd\u{9b}e\u{202e}.wgsl";
    let shown = "a\\x1b[2Jb\\rc\\nd\\u{9b}e\\u{202e}.wgsl";
    let wrong = folder.write(name, "fn main( {");
    let right = folder.write(&format!("ok{name}"), SHADER);
    let glsl = folder.write(&format!("{name}.glsl"), "void main() {}");
    let missing = folder.path(&format!("no{name}"));
    let list = folder.write("list.txt", "list\x1b[31m.wgsl\n");
    let inner = folder.path("");
    let out = folder.path("out");
    let runs: [&[&str]; 9] = [
        &[&wrong, "--target", "interp"],
        &[&wrong, "--target", "interp", "--diagnostics", "short"],
        &[&glsl, "--target", "interp"],
        &[&missing, "--target", "interp"],
        &[&right, &wrong, "--target", "interp"],
        &[&right, "--target", "interp", "--pipeline", &wrong],
        &["batch", &inner, "--target", "interp", "-o", &out],
        &["batch", &list, "--target", "interp", "-o", &out],
        &["disasm", "--target", "r700", "--hex", &wrong],
    ];
    for args in runs {
        let output = gpucc(args);
        let told = text(&output);
        let bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!told.contains(bad), "{args:?}: {told:?}");
        if !args.contains(&list.as_str()) {
            assert!(told.contains(shown), "{args:?}: {told:?}");
        }
        assert_ne!(output.status.code(), Some(101), "{told}");
    }
    // JSON has escapes of its own, and says the name itself.
    let output = gpucc(&[&wrong, "--target", "interp", "--diagnostics", "json"]);
    let line = text(&output);
    let message: serde_json::Value =
        serde_json::from_str(line.lines().next().expect("one")).expect("a line is an object");
    assert!(message.to_string().contains("\\u001b[2J"), "{message}");
}

/// SPIR-V names its entry points as it likes.
#[test]
fn names_of_entry_points_move_no_cursor_either() {
    let folder = Folder::new("entry");
    let name = b"ma\x1b[3\n\0\0";
    let shader = include_bytes!("languages/pointers.spv");
    let at = shader
        .windows(8)
        .position(|bytes| bytes == b"main\0\0\0\0")
        .expect("its entry point is main");
    let mut named = shader.to_vec();
    named[at..at + 8].copy_from_slice(name);
    let path = folder.write("named.spv", &named);
    let runs: [&[&str]; 6] = [
        &["verify", &path, "--target", "r700"],
        &[&path, "--target", "r700", "--time-passes"],
        &[&path, "--target", "r700", "--stats"],
        &[&path, "--target", "r700", "--emit", "cfg"],
        &[&path, "--target", "r700", "--entry", "other"],
        &["compare", &path, "--targets", "r700,valhall"],
    ];
    for args in runs {
        let told = text(&gpucc(args));
        let bad = |c: char| c.is_control() && c != '\n';
        assert!(!told.contains(bad), "{args:?}: {told:?}");
        assert!(told.contains("ma"), "{args:?}: {told:?}");
    }
}

/// Writes a dependency file for a source of this name, as the command says it.
fn rule(folder: &Path, source: &OsStr, made: &OsStr) -> (i32, Vec<u8>, String) {
    let depfile = folder.join("deps.d");
    let _ = std::fs::remove_file(&depfile);
    let output = Command::new(env!("CARGO_BIN_EXE_gpucc"))
        .current_dir(folder)
        .args([source, OsStr::new("--target"), OsStr::new("r700"), OsStr::new("-o"), made])
        .args(["--depfile", "deps.d"])
        .output()
        .expect("gpucc starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let rule = std::fs::read(&depfile).unwrap_or_default();
    (output.status.code().expect("it ends"), rule, said)
}

#[test]
fn make_reads_back_the_names_of_a_rule_or_there_is_none() {
    let has_make = Command::new("make").arg("--version").output().is_ok();
    if !has_make {
        let _ = writeln!(std::io::stderr(), "skipped: make is not installed");
    }
    let folder = Folder::new("make");
    let path = PathBuf::from(folder.path(""));
    let mut refused = Vec::new();
    let mut tried = 0;
    let bytes = (1u8..=127).filter(|&byte| match byte {
        1 | 27 | 127 | b'\t'..=b'\r' | b' ' => true,
        _ => byte.is_ascii_punctuation() && byte != b'/',
    });
    let names = bytes.flat_map(|byte| {
        [vec![b'a', byte, b'b'], vec![byte, b'b'], vec![b'a', byte], vec![b'a', b'\\', byte, b'b']]
    });
    let others = [&b"a b  c$$#:\\ d"[..], b"\xff\xfe", "ä€".as_bytes(), b"a\\\\#b", b"~root"];
    for name in names.chain(others.iter().map(|&name| name.to_vec())) {
        if [&b".b"[..], b"-b", b"@b"].contains(&&name[..]) || name.ends_with(b"\\") {
            // What make does not take for a goal, an option of gpucc's, a file with options, and a folder.
            continue;
        }
        let mut source = name.clone();
        source.extend(b".wgsl");
        for (source, made) in [(source, b"made.bin".to_vec()), (b"plain.wgsl".to_vec(), name)] {
            let (source, made) = (OsString::from_vec(source), OsString::from_vec(made));
            std::fs::write(path.join(&source), SHADER).expect("writable");
            let (code, rule, said) = rule(&path, &source, &made);
            if code == 2 {
                assert!(
                    said.contains("cannot stand in a make rule"),
                    "{source:?} {made:?}: {said}"
                );
                refused.push((source.clone(), made.clone()));
            } else {
                assert_eq!(code, 0, "{source:?} {made:?}: {said}");
                tried += 1;
                if has_make {
                    reads_back(&path, &rule, &source, &made);
                }
            }
            let _ = std::fs::remove_file(path.join(&source));
            let _ = std::fs::remove_file(path.join(&made));
        }
    }
    // Line breaks, tabs, `;`, `=` and what make takes for something else at one side or at the end.
    assert!(refused.len() < 80 && tried > 200, "{tried} {refused:?}");
}

/// make remakes the target when the source is newer, and only then.
fn reads_back(folder: &Path, rule: &[u8], source: &OsStr, made: &OsStr) {
    let what = format!("{source:?} {made:?}: {}", String::from_utf8_lossy(rule));
    // The target's words are in front of the colon that a blank follows.
    let end =
        (0..rule.len()).find(|&at| rule[at..].starts_with(b": ")).expect("a rule has a colon");
    let mut file = rule[..end].to_vec();
    file.extend(b":\n\t@touch remade\n");
    file.extend(rule);
    std::fs::write(folder.join("Makefile"), file).expect("writable");
    let remakes = |newer: &OsStr, older: &OsStr| {
        let at = |name: &OsStr, seconds: u64| {
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            let file = std::fs::File::options().append(true).open(folder.join(name));
            let file = file.expect("it is there");
            file.set_modified(time).expect("a time can be set");
        };
        at(older, 1_000_000);
        at(newer, 2_000_000);
        let _ = std::fs::remove_file(folder.join("remade"));
        let output =
            Command::new("make").current_dir(folder).arg("-s").output().expect("make starts");
        assert!(output.status.success(), "{what}: {}", text(&output));
        folder.join("remade").exists()
    };
    assert!(remakes(source, made), "{what}");
    assert!(!remakes(made, source), "{what}");
}

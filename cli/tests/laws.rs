//! The dependency laws of the workspace: who may depend on whom, and where foreign types may appear.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace")
        .to_owned()
}

/// Names of the dependencies (not of the dev-dependencies) in a manifest.
fn dependencies(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap_or_else(|_| panic!("{}", manifest.display()));
    let mut inside = false;
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            inside = line == "[dependencies]";
        } else if inside && let Some((name, _)) = line.split_once('=') {
            let name = name.trim();
            names.insert(name.split('.').next().unwrap_or(name).to_owned());
        }
    }
    names
}

fn ours(folder: &str) -> BTreeSet<String> {
    dependencies(&root().join(folder).join("Cargo.toml"))
        .into_iter()
        .filter(|name| name.starts_with("gpucc"))
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|_| panic!("{}", folder.display())) {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source line of a crate that is no comment, with its place.
fn code_lines(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    sources(&root().join(folder).join("src"), &mut files);
    let mut lines = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("").to_owned();
            if !code.trim().is_empty() {
                lines.push((format!("{}:{}", file.display(), number + 1), code));
            }
        }
    }
    lines
}

/// Every library of ours, from the bottom up; the command and the test runner stand on them.
const LIBRARIES: [&str; 12] = [
    "ir",
    "passes",
    "regalloc",
    "isa",
    "emu",
    "machine",
    "frontend",
    "backends/r700",
    "backends/valhall",
    "backends/gen4",
    "backends/rogue",
    "gpucc",
];

#[test]
fn dependencies_point_down() {
    assert_eq!(ours("ir"), set(&[]));
    assert_eq!(ours("isa"), set(&[]));
    assert_eq!(ours("emu"), set(&["gpucc-ir"]));
    assert_eq!(ours("passes"), set(&["gpucc-ir"]));
    assert_eq!(ours("regalloc"), set(&["gpucc-ir"]));
    assert_eq!(ours("frontend"), set(&["gpucc-ir"]));
    assert_eq!(ours("cli"), set(&["gpucc", "gpucc-ir", "gpucc-emu"]));
    assert_eq!(ours("machine"), set(&["gpucc-ir", "gpucc-passes", "gpucc-isa", "gpucc-emu"]));
    for backend in fs::read_dir(root().join("backends")).expect("there are back ends") {
        let backend = backend.expect("readable").path();
        let allowed = set(&[
            "gpucc-ir",
            "gpucc-passes",
            "gpucc-regalloc",
            "gpucc-isa",
            "gpucc-emu",
            "gpucc-machine",
        ]);
        let uses: BTreeSet<String> = dependencies(&backend.join("Cargo.toml"))
            .into_iter()
            .filter(|name| name.starts_with("gpucc"))
            .collect();
        assert!(uses.is_subset(&allowed), "{} depends on {uses:?}", backend.display());
    }
}

#[test]
fn foreign_front_ends_stop_at_ours() {
    for folder in LIBRARIES.into_iter().filter(|&folder| folder != "frontend") {
        let all = dependencies(&root().join(folder).join("Cargo.toml"));
        for foreign in ["naga", "rspirv"] {
            assert!(!all.contains(foreign), "{folder} depends on {foreign}");
        }
    }
}

#[test]
fn libraries_need_no_command_line_and_no_terminal() {
    for folder in LIBRARIES {
        let all = dependencies(&root().join(folder).join("Cargo.toml"));
        for foreign in ["clap", "png", "codespan-reporting"] {
            assert!(!all.contains(foreign), "{folder} depends on {foreign}");
        }
    }
}

#[test]
fn shared_crates_name_no_machine() {
    let machines = ["r700", "r600", "gen4", "valhall", "rogue"];
    for folder in ["ir", "passes", "regalloc", "isa", "emu", "machine", "frontend"] {
        for (place, code) in code_lines(folder) {
            let lower = code.to_lowercase();
            for machine in machines {
                // Words such as `progen4` would be too clever to exist.
                assert!(!lower.contains(machine), "{place} names {machine}: {code}");
            }
        }
    }
}

/// Files of the facade and of the test runner that may name a machine, and why.
const NAMED: &[(&str, &str)] = &[
    ("gpucc/src/machines.rs", "the one list of machines"),
    ("cli/src/args.rs", "help text with examples"),
    ("tests/src/amber/tests.rs", "tests of what some machines lack"),
];

/// Lines that name a machine, comments included, and the name.
fn named_machines(text: &str) -> Vec<(usize, String)> {
    let targets = gpucc::Target::ALL.iter().copied();
    let names: Vec<&str> = targets
        .filter(|target| *target != gpucc::Target::Interp)
        .map(|target| target.name())
        .chain(["r6xx", "r7xx"])
        .collect();
    let lines = (1..).zip(text.lines());
    let named = |(number, line): (usize, &str)| {
        let line = line.to_lowercase();
        let found = names.iter().find(|&&name| line.contains(name))?;
        Some((number, (*found).to_owned()))
    };
    lines.filter_map(named).collect()
}

#[test]
fn the_facade_and_the_test_runner_name_machines_in_one_list_alone() {
    for folder in ["gpucc/src", "cli/src", "tests/src"] {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        for file in files {
            let found = named_machines(&fs::read_to_string(&file).expect("readable"));
            let may = NAMED.iter().any(|(path, _)| file.ends_with(path));
            assert!(may || found.is_empty(), "{} names machines: {found:?}", file.display());
            assert!(!may || !found.is_empty(), "{} is an exception for nothing", file.display());
        }
    }
}

#[test]
fn a_machine_that_is_named_where_it_may_not_be_is_found() {
    let planted = "match target {\n    Target::VALHALL => 1, // as R6xx\n    _ => 2,\n}\nuse gpucc_r700::isa;\n";
    let found = named_machines(planted);
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 5], "{found:?}");
    assert!(named_machines("for target in Target::machines() {}").is_empty());
}

#[test]
fn every_limit_of_a_machine_is_published() {
    for machine in ["r700", "valhall", "gen4", "rogue"] {
        let folder = format!("backends/{machine}");
        let elsewhere = code_lines(&folder).into_iter().filter(|(place, line)| {
            line.contains("Limit::new(") && !place.contains("src/limits.rs")
        });
        assert_eq!(elsewhere.collect::<Vec<_>>(), [], "a limit beside limits.rs");
        let text = fs::read_to_string(root().join(&folder).join("src/limits.rs"));
        let text = text.expect("readable");
        let (made, listed) = text.split_once("let limits = [").expect("there is a list of all");
        let names = made.lines().filter(|line| line.starts_with("pub ")).map(|line| {
            let line = line.trim_start_matches("pub ").trim_start_matches("const ");
            line.trim_start_matches("fn ").split([':', '(']).next().unwrap_or_default()
        });
        for name in names.filter(|&name| name != "of" && name != "all") {
            let mut words = listed.split(|c: char| !c.is_alphanumeric() && c != '_');
            assert!(words.any(|word| word == name), "{machine}: {name} is not in the list");
        }
    }
}

#[test]
fn libraries_forbid_unsafe_code_and_never_print() {
    for folder in LIBRARIES.into_iter().chain(["cli", "tests"]) {
        let main = if folder == "cli" { "src/main.rs" } else { "src/lib.rs" };
        let lib = root().join(folder).join(main);
        let text = fs::read_to_string(&lib).expect("every crate has one of them");
        assert!(
            text.contains("#![forbid(unsafe_code)]"),
            "{} does not forbid unsafe code",
            lib.display()
        );
        if folder == "tests" {
            continue;
        }
        for (place, code) in code_lines(folder) {
            for word in ["println!(", "eprintln!(", "print!(", "eprint!(", "dbg!("] {
                let found = code.split(word).next().is_some_and(|before| {
                    before.len() < code.len() && !before.ends_with(|c: char| c.is_alphanumeric())
                });
                assert!(!found, "{place} prints: {code}");
            }
        }
    }
}

#[test]
fn the_c_interface_alone_has_unsafe_code_and_stands_on_the_facade() {
    assert_eq!(ours("capi"), set(&["gpucc", "gpucc-ir", "gpucc-emu"]));
    for (place, code) in code_lines("capi") {
        for word in ["println!(", "print!(", "dbg!(", "std::env::", "std::fs"] {
            assert!(!code.contains(word), "{place}: {code}");
        }
    }
    let manifest = fs::read_to_string(root().join("capi/Cargo.toml")).expect("readable");
    assert!(manifest.contains("undocumented_unsafe_blocks = \"deny\""));
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("readable");
    assert!(!workspace.contains("panic ="), "the C interface needs unwinding");
}

#[test]
fn nothing_iterates_over_hash_maps() {
    for folder in LIBRARIES.into_iter().chain(["cli", "capi"]) {
        for (place, code) in code_lines(folder) {
            for word in ["std::collections::HashMap", "std::collections::HashSet"] {
                assert!(!code.contains(word), "{place}: {code}");
            }
        }
    }
}

#[test]
fn the_facade_reads_no_environment_and_no_files() {
    for (place, code) in code_lines("gpucc") {
        for word in ["std::env", "std::fs", "std::io", "std::process", "File::open"] {
            assert!(!code.contains(word), "{place}: {code}");
        }
    }
}

/// The integration tests of a crate are one binary: a file that it does not name would never run.
#[test]
fn every_test_file_is_a_module_of_its_crate_s_test_binary() {
    for krate in
        ["backends/r700", "backends/valhall", "frontend", "capi", "cli", "ir", "passes", "tests"]
    {
        let folder = root().join(krate).join("tests");
        let main = fs::read_to_string(folder.join("main.rs")).expect("readable");
        let named: BTreeSet<&str> =
            main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
        for entry in fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("readable").path();
            let is_test = path.extension().is_some_and(|extension| extension == "rs");
            let name = path.file_stem().expect("a file has a name").to_string_lossy();
            assert!(
                !is_test || name == "main" || named.contains(&*name),
                "{} does not run: `mod {name};` is missing in main.rs",
                path.display()
            );
        }
    }
}

/// A test that looks for foreign material by itself could skip without a word: one file alone knows where it is.
#[test]
fn one_file_alone_looks_for_foreign_material() {
    let mut files = Vec::new();
    for krate in [
        "backends/r700",
        "backends/valhall",
        "backends/gen4",
        "backends/rogue",
        "emu",
        "machine",
        "frontend",
        "gpucc",
        "cli",
        "ir",
        "isa",
        "passes",
        "regalloc",
        "tests",
    ] {
        sources(&root().join(krate), &mut files);
    }
    // In two pieces, for this file is one of them.
    let variables = [concat!("var_os(\"GPUCC_", "SHARED"), concat!("var_os(\"GPUCC_", "CORPUS")];
    let folders = [concat!("../sha", "red\")"), concat!("/sha", "red\")")];
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        let looks = variables.iter().chain(&folders).any(|word| text.contains(word));
        let may = file.ends_with("tests/src/shared.rs");
        assert!(!looks || may, "{} looks for it too", file.display());
    }
}

/// What is wrong with the recipes of a text: in backquotes stand paths, and behind one of them, in parentheses, what the file holds.
fn untrue_recipes(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let parts: Vec<&str> = text.split('`').collect();
    for at in (1..parts.len()).step_by(2) {
        let path = parts[at];
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/_.-".contains(c);
        if !path.contains('/')
            || !path.chars().all(plain)
            || path.starts_with("..")
            || path.starts_with("target/")
        {
            continue;
        }
        let Ok(meta) = fs::metadata(root().join(path)) else {
            wrong.push(format!("{path} does not exist"));
            continue;
        };
        if parts.get(at + 1) == Some(&" (") && meta.is_file() {
            let held = fs::read_to_string(root().join(path)).expect("readable");
            if !held.contains(parts[at + 2]) {
                wrong.push(format!("{path} holds no '{}'", parts[at + 2]));
            }
        }
    }
    wrong
}

#[test]
fn the_recipes_name_files_that_hold_what_they_say() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("readable");
    for recipe in ["Adding an instruction", "Adding a pass", "Adding a machine"] {
        assert!(text.contains(&format!("\n## {recipe}\n")), "{recipe}");
    }
    assert_eq!(untrue_recipes(&text), Vec::<String>::new());
    assert_eq!(untrue_recipes("see `ir/src/none.rs`").len(), 1);
    assert_eq!(untrue_recipes("see `ir/src/ssa/op.rs` (`no such text`)").len(), 1);
}

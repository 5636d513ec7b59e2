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

#[test]
fn dependencies_point_down() {
    assert_eq!(ours("ir"), set(&[]));
    assert_eq!(ours("isa"), set(&[]));
    assert_eq!(ours("emu"), set(&["gpucc-ir"]));
    assert_eq!(ours("passes"), set(&["gpucc-ir"]));
    assert_eq!(ours("regalloc"), set(&["gpucc-ir"]));
    assert_eq!(ours("frontend"), set(&["gpucc-ir"]));
    for backend in fs::read_dir(root().join("backends")).expect("there are back ends") {
        let backend = backend.expect("readable").path();
        let allowed = set(&[
            "gpucc-ir",
            "gpucc-passes",
            "gpucc-regalloc",
            "gpucc-isa",
            "gpucc-emu",
        ]);
        let uses: BTreeSet<String> = dependencies(&backend.join("Cargo.toml"))
            .into_iter()
            .filter(|name| name.starts_with("gpucc"))
            .collect();
        assert!(
            uses.is_subset(&allowed),
            "{} depends on {uses:?}",
            backend.display()
        );
    }
}

#[test]
fn foreign_front_ends_stop_at_ours() {
    for folder in [
        "ir",
        "passes",
        "regalloc",
        "isa",
        "emu",
        "backends/r700",
        "backends/valhall",
        "gpucc",
    ] {
        let all = dependencies(&root().join(folder).join("Cargo.toml"));
        for foreign in ["naga", "rspirv"] {
            assert!(!all.contains(foreign), "{folder} depends on {foreign}");
        }
    }
}

#[test]
fn shared_crates_name_no_machine() {
    let machines = ["r700", "r600", "gen4", "valhall", "rogue"];
    for folder in ["ir", "passes", "regalloc", "isa", "emu", "frontend"] {
        for (place, code) in code_lines(folder) {
            let lower = code.to_lowercase();
            for machine in machines {
                // Words such as `progen4` would be too clever to exist.
                assert!(!lower.contains(machine), "{place} names {machine}: {code}");
            }
        }
    }
}

#[test]
fn libraries_forbid_unsafe_code_and_never_print() {
    for folder in [
        "ir",
        "passes",
        "regalloc",
        "isa",
        "emu",
        "frontend",
        "backends/r700",
        "backends/valhall",
        "gpucc",
        "tests",
    ] {
        let lib = root().join(folder).join("src/lib.rs");
        let text = fs::read_to_string(&lib).expect("every crate is a library");
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
fn nothing_iterates_over_hash_maps() {
    for folder in [
        "ir",
        "passes",
        "regalloc",
        "isa",
        "emu",
        "frontend",
        "backends/r700",
        "backends/valhall",
        "gpucc",
    ] {
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
        if place.contains("/command/") || place.contains("main.rs") {
            continue;
        }
        for word in [
            "std::env",
            "std::fs",
            "std::io",
            "std::process",
            "File::open",
        ] {
            assert!(!code.contains(word), "{place}: {code}");
        }
    }
}

/// The integration tests of a crate are one binary: a file that it does not name would never run.
#[test]
fn every_test_file_is_a_module_of_its_crate_s_test_binary() {
    for krate in [
        "backends/r700",
        "backends/valhall",
        "frontend",
        "gpucc",
        "ir",
        "passes",
        "tests",
    ] {
        let folder = root().join(krate).join("tests");
        let main = fs::read_to_string(folder.join("main.rs")).expect("readable");
        let named: BTreeSet<&str> = main
            .lines()
            .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
            .collect();
        for entry in fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("readable").path();
            let is_test = path.extension().is_some_and(|extension| extension == "rs");
            let name = path
                .file_stem()
                .expect("a file has a name")
                .to_string_lossy();
            assert!(
                !is_test || name == "main" || named.contains(&*name),
                "{} does not run: `mod {name};` is missing in main.rs",
                path.display()
            );
        }
    }
}

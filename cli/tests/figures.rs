//! Figures from outside: tables, comma-separated values and JSON of a folder, and what two runs differ in. Completions and
//! manual pages.

use crate::common::{Folder, gpucc, text};
use serde_json::Value;
use std::fs;
use std::process::Output;

const ONE: &str = "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { let i = id.x; if i < arrayLength(&y) { y[i] = WHAT; } }
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@group(0) @binding(1) var<uniform> u: array<vec4f, 8>;";

/// A folder of two shaders that compile and one that does not.
fn shaders(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir(folder.path("in")).expect("made");
    let write = |name: &str, text: &str| fs::write(folder.path(name), text).expect("written");
    write("in/plain.wgsl", &ONE.replace("WHAT", "1.0"));
    write(
        "in/with, comma.wgsl",
        &ONE.replace("WHAT", "sin(u[i % 8u].x) * exp(u[i % 4u].y) + f32(i)"),
    );
    write("in/wrong.wgsl", "@compute fn main() {}");
    folder
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn figures(folder: &Folder, extra: &[&str]) -> Output {
    let input = folder.path("in");
    gpucc(&[&["batch", &input, "--target", "r700"], extra].concat())
}

#[test]
fn figures_of_a_folder_come_in_three_forms() {
    let folder = shaders("figures-forms");
    let table = figures(&folder, &["--stats"]);
    assert_eq!(table.status.code(), Some(1), "{}", text(&table));
    let lines = stdout(&table);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.starts_with("entry") && lines.contains("plain.wgsl"), "{lines}");
    let summary = String::from_utf8_lossy(&table.stderr).into_owned();
    assert!(summary.contains("3 files: 2 compiled, 1 failed"), "{summary}");

    let csv = stdout(&figures(&folder, &["--stats=csv"]));
    let rows: Vec<&str> = csv.lines().collect();
    assert!(rows[0].starts_with("file,target,chip,entry,stage,instructions,"), "{csv}");
    assert!(rows[2].contains("with, comma.wgsl\",r700,rv770,main,compute,"), "{csv}");

    let json = stdout(&figures(&folder, &["--stats", "--json", "--chip", "rv710"]));
    let records: Vec<Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0]["chip"], "rv710");
    assert!(
        records[1]["stats"]["instructions"].as_u64() > records[0]["stats"]["instructions"].as_u64()
    );
    assert!(records[0]["machine"]["alu_groups"].is_u64(), "{json}");
}

#[test]
fn two_runs_say_what_was_helped_and_hurt() {
    let folder = shaders("figures-runs");
    let (before, after) = (folder.path("before.jsonl"), folder.path("after.jsonl"));
    for (path, effort) in [(&before, "-O0"), (&after, "-O2")] {
        fs::write(path, figures(&folder, &["--stats", "--json", effort]).stdout).expect("written");
    }
    let report = gpucc(&["report", &before, &after, "--names", "1"]);
    assert_eq!(report.status.code(), Some(0), "{}", text(&report));
    let said = stdout(&report);
    assert!(said.starts_with("2 entry points in both\n"), "{said}");
    assert!(said.contains("instructions helped most:\n"), "{said}");
    assert!(!said.contains("instructions hurt most:"), "{said}");

    let json = gpucc(&["report", &before, &after, "--json", "--metric", "instructions"]);
    let value: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let change = &value["changes"][0];
    assert!(change["geometric_mean"].as_f64().is_some_and(|mean| mean < 1.0), "{value}");
    assert_eq!(change["helped"], 2);

    // The other way round is worse than any small threshold, and by no more than a thousand percent.
    let worse = gpucc(&["report", &after, &before, "--threshold", "1"]);
    assert_eq!(worse.status.code(), Some(5), "{}", text(&worse));
    assert!(
        text(&worse).contains("worse than --threshold 1 %: instructions by "),
        "{}",
        text(&worse)
    );
    for allowed in [[&before, &after, &"0".to_owned()], [&after, &before, &"1000".to_owned()]] {
        let [from, to, percent] = allowed;
        let fine = gpucc(&["report", from, to, "--metric", "instructions", "--threshold", percent]);
        assert_eq!(fine.status.code(), Some(0), "{}", text(&fine));
    }
}

#[test]
fn folders_of_reports_pair_by_their_places() {
    let folder = shaders("figures-folders");
    for (place, effort) in [("a", "-O0"), ("b", "-O2")] {
        let out = folder.path(place);
        figures(&folder, &["--emit", "json", "-o", &out, effort]);
    }
    let (a, b) = (folder.path("a"), folder.path("b"));
    let report = gpucc(&["report", &a, &b]);
    assert!(stdout(&report).starts_with("2 entry points in both\n"), "{}", text(&report));
    let empty = folder.path("in");
    for (wrong, words) in [(&empty, "has no reports"), (&folder.path("none"), "cannot read")] {
        let refused = gpucc(&["report", &a, wrong]);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
        assert!(text(&refused).contains(words), "{}", text(&refused));
    }
    let noise = folder.path("noise.jsonl");
    fs::write(&noise, "{\"file\": 3}\n").expect("written");
    let refused = gpucc(&["report", &a, &noise]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(
        text(&refused).contains("neither a report nor a file of records: line 1"),
        "{}",
        text(&refused)
    );
    let metric = gpucc(&["report", &a, &b, "--metric", "cycle"]);
    assert_eq!(metric.status.code(), Some(2), "{}", text(&metric));
    assert!(text(&metric).contains("did you mean `cycles`?"), "{}", text(&metric));
}

#[test]
fn proofs_and_comparisons_come_as_json() {
    let folder = shaders("figures-json");
    let shader = folder.path("in/plain.wgsl");
    let proofs = gpucc(&["verify", &shader, "--target", "all", "--json"]);
    // R600 stores nothing.
    assert_eq!(proofs.status.code(), Some(3), "{}", text(&proofs));
    let value: Value = serde_json::from_slice(&proofs.stdout).expect("JSON");
    let of = |target: &str| {
        let list = value.as_array().expect("a list");
        list.iter().find(|proof| proof["target"] == target).expect("a proof").clone()
    };
    assert_eq!(
        (&of("r700")["verified"], &of("r700")["mismatches"]),
        (&Value::Bool(true), &0.into())
    );
    assert_eq!(
        (&of("r600")["verified"], &of("r600")["exit_code"]),
        (&Value::Bool(false), &3.into())
    );
    let compared = gpucc(&["compare", &shader, "--json"]);
    assert_eq!(compared.status.code(), Some(0), "{}", text(&compared));
    let value: Value = serde_json::from_slice(&compared.stdout).expect("JSON");
    let list = value.as_array().expect("a list");
    assert!(
        list.iter().any(|one| one["target"] == "valhall" && one["stats"]["cycles"].is_number())
    );
    assert!(list.iter().any(|one| one["target"] == "r600" && one["exit_code"] == 3));
}

#[test]
fn shells_and_man_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = gpucc(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        for word in ["disasm", "compare", "report", "bound-loops"] {
            assert!(stdout(&output).contains(word), "{shell} does not know {word}");
        }
    }
    assert_eq!(gpucc(&["completions", "tcsh"]).status.code(), Some(2));
    let folder = Folder::new("man-pages");
    let pages = folder.path("man1");
    let output = gpucc(&["man", "-o", &pages]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    for page in ["gpucc.1", "gpucc-verify.1", "gpucc-report.1"] {
        let page = fs::read_to_string(folder.path(&format!("man1/{page}"))).expect("a page");
        assert!(page.contains(".SH OPTIONS"), "{page}");
    }
    assert!(stdout(&gpucc(&["man"])).contains(".TH gpucc 1"));
}

//! What code rests on: the report's list, and `--evidence`. docs/errata.md, Evidence.

use crate::common::{Folder, gpucc, sample, text};

/// Asserts the exit code and words of the message.
#[track_caller]
fn ends(args: &[&str], code: i32, words: &[&str]) -> Vec<u8> {
    let output = gpucc(args);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{args:?}: `{word}` is not in: {said}");
    }
    output.stdout
}

/// The evidence that the report of a shader's first entry point tells.
fn told(shader: &str, target: &str) -> serde_json::Value {
    let out = ends(&[shader, "--target", target, "--emit", "json"], 0, &[]);
    let report: serde_json::Value = serde_json::from_slice(&out).expect("a report");
    report["shaders"][0]["evidence"].clone()
}

#[test]
fn shading_alone_is_proven_on_every_machine() {
    let color = sample("phong.wgsl");
    for target in ["r600", "r700", "valhall"] {
        ends(&[&color, "--target", target, "--evidence", "proven"], 0, &[]);
        let told = told(&color, target);
        assert_eq!(told["class"], "proven", "{told}");
        assert_eq!(told["rests_on"].as_array().map(Vec::len), Some(0), "{told}");
    }
}

#[test]
fn compute_on_terascale_is_an_assumption_and_says_so() {
    let saxpy = sample("saxpy.wgsl");
    let words = ["workgroups run as points", "our assumption", "--evidence any"];
    for class in ["proven", "manual"] {
        ends(&[&saxpy, "--target", "r700", "--evidence", class], 3, &words);
    }
    ends(&[&saxpy, "--target", "r700", "--evidence", "any"], 0, &[]);
    ends(&[&saxpy, "--target", "valhall", "--evidence", "proven"], 0, &[]);
    let told = told(&saxpy, "r700");
    assert_eq!(told["class"], "assumption");
    let grounds = told["rests_on"].as_array().expect("a list");
    let of = |class: &str| grounds.iter().filter(|ground| ground["class"] == class).count();
    assert_eq!((of("assumption"), of("manual")), (1, 2), "{told}");
}

#[test]
fn stores_of_a_fragment_program_rest_on_the_manual_on_r700() {
    let folder = Folder::new("stores");
    let shader = folder.write(
        "stores.wgsl",
        "@group(0) @binding(0) var<storage, read_write> hits: array<u32>;
@fragment
fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
    hits[u32(p.x)] = 1u;
    return p;
}",
    );
    let words = ["stores through memory exports", "the manual alone", "--evidence manual"];
    ends(&[&shader, "--target", "r700", "--evidence", "proven"], 3, &words);
    ends(&[&shader, "--target", "r700", "--evidence", "manual"], 0, &[]);
}

#[test]
fn a_chip_that_no_public_driver_runs_rests_on_the_manual() {
    let color = sample("color.wgsl");
    let args = [&color, "--target", "valhall", "--chip", "g77", "--evidence", "proven"];
    ends(&args, 3, &["a chip that no public driver models"]);
}

#[test]
fn what_the_page_marks_as_assumed_is_told_of_rogue() {
    let saxpy = sample("saxpy.wgsl");
    let words = ["DOUTW's operand", "our assumption", "--evidence any"];
    ends(&[&saxpy, "--target", "rogue", "--evidence", "manual"], 3, &words);
    ends(&[&saxpy, "--target", "rogue", "--evidence", "any"], 0, &[]);
    let told = told(&saxpy, "rogue");
    let grounds = told["rests_on"].as_array().expect("a list");
    assert_eq!(grounds.len(), 3, "{told}");
    // A colour that is constant rests on nothing that is assumed.
    let folder = Folder::new("constant");
    let shader = folder.write(
        "constant.wgsl",
        "@fragment fn main() -> @location(0) vec4u { return vec4u(1, 2, 3, 4); }",
    );
    ends(&[&shader, "--target", "rogue", "--evidence", "proven"], 0, &[]);
}

//! Two entry points as a pair: dead outputs go, and what is missing is told with both places.

use crate::common::{Folder, gpucc, text};
use std::fs;

/// A vertex stage of three outputs and a fragment stage with these inputs.
fn pair(inputs: &str, color: &str) -> String {
    format!(
        "struct V {{
            @builtin(position) p: vec4f, @location(0) a: vec4f, @location(1) b: vec2f, @location(3) c: f32,
        }}
        @vertex fn vs(@builtin(vertex_index) v: u32) -> V {{
            let x = f32(v);
            return V(vec4f(x), vec4f(x, 2.0 * x, 3.0 * x, 1.0), vec2f(sqrt(x)), exp2(x) + log2(x));
        }}
        @fragment fn fs({inputs}) -> @location(0) vec4f {{ return {color}; }}"
    )
}

#[test]
fn outputs_that_the_fragment_stage_does_not_read_go() {
    let folder = Folder::new("link-dead");
    let path = folder.path("pair.wgsl");
    for machine in ["r700", "r600", "valhall"] {
        let size = |inputs: &str, color: &str, link: &[&str]| {
            fs::write(&path, pair(inputs, color)).expect("written");
            let output = gpucc(
                &[&[&path, "--target", machine, "--emit", "hex", "--verify=8"], link].concat(),
            );
            assert_eq!(output.status.code(), Some(0), "{}", text(&output));
            output.stdout.len()
        };
        let all = "@location(0) a: vec4f, @location(1) b: vec2f, @location(3) c: f32";
        let alone = size(all, "a", &[]);
        // An input that is declared and does not matter is read by nobody.
        let one = size(all, "a", &["--link"]);
        let none = size("", "vec4f(1.0)", &["--link=vs,fs"]);
        let read = size(all, "a + b.xyxy + c", &["--link"]);
        assert!(none < one && one < alone, "{machine}: {none}, {one}, {alone}");
        assert!(read > one, "{machine}: {read}, {one}");
    }
}

#[test]
fn a_pipeline_file_says_what_is_read() {
    let folder = Folder::new("link-file");
    let (path, state) = (folder.path("pair.wgsl"), folder.path("pipeline.json"));
    fs::write(&path, pair("@location(1) b: vec2f", "b.xyxy")).expect("written");
    fs::write(&state, r#"{"vertex":{"outputs":[1]}}"#).expect("written");
    let stage = ["--target", "r700", "--stage", "vertex", "--pipeline", &state];
    let by_file = gpucc(&[&[path.as_str()], &stage[..]].concat());
    let by_link = gpucc(&[&path, "--target", "r700", "--link"]);
    assert_eq!(by_file.status.code(), Some(0), "{}", text(&by_file));
    let vertex = text(&by_file);
    assert!(vertex.contains("PARAM[0]") && !vertex.contains("PARAM[1]"), "{vertex}");
    assert!(text(&by_link).contains(vertex.trim()), "{}", text(&by_link));
}

#[test]
fn what_does_not_meet_is_told_with_both_places() {
    let folder = Folder::new("link-wrong");
    let path = folder.path("pair.wgsl");
    let refused = |inputs: &str, link: &str, exit: i32, words: &[&str]| {
        fs::write(&path, pair(inputs, "vec4f(1.0)")).expect("written");
        let output = gpucc(&[&path, "--target", "r700", link]);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(exit), "{text}");
        for word in words {
            assert!(text.contains(word), "`{word}` is not in: {text}");
        }
    };
    refused(
        "@location(2) z: f32",
        "--link",
        1,
        &[
            "'fs' reads location 2 (z), which vertex entry point 'vs' does not write",
            "pair.wgsl:8:38",
            "the outputs of 'vs'",
            "'vs' writes locations 0, 1 and 3",
        ],
    );
    refused(
        "@location(1) @interpolate(flat) z: u32",
        "--link",
        1,
        &[
            "location 1 is vec2<f32> in vertex entry point 'vs' and u32 in fragment entry point 'fs'",
            "written as vec2<f32>",
        ],
    );
    refused("", "--link=vx,fs", 2, &["no vertex entry point 'vx'"]);
    refused("", "--link=vs", 2, &["--link takes two names, as in --link=vs,fs"]);
    let several = pair("", "vec4f(1.0)") + "@fragment fn other() {}";
    fs::write(&path, several).expect("written");
    let output = gpucc(&[&path, "--target", "r700", "--link"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("choose with --link=VS,FS; there are fs, other"),
        "{}",
        text(&output)
    );
}

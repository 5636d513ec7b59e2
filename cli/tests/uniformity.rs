//! Uniform control flow by WGSL's rules, from outside: what is an error, a warning or right, and what the message says.

use crate::common::{Folder, gpucc, text};
use std::fs;

const HEAD: &str = "@group(0) @binding(0) var t: texture_2d<f32>;
@group(0) @binding(1) var s: sampler;
@group(0) @binding(2) var<uniform> u: f32;
@group(0) @binding(3) var<uniform> n: i32;
@group(0) @binding(4) var<storage, read_write> o: array<u32>;
var<workgroup> w: array<u32, 128>;
var<workgroup> z: u32;
";

const FRAGMENT: &str = "@fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f";
const COMPUTE: &str = "@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3u)";

/// A body of a fragment or of a compute entry point, and whether it is right.
const FRAGMENTS: &[(bool, &str)] = &[
    (true, "if u > 0.5 { return textureSample(t, s, uv); } return vec4f(0.0);"),
    (
        true,
        "var c = vec4f(0.0); for (var i = 0; i < n; i++) { c += textureSample(t, s, uv + f32(i)); } return c;",
    ),
    (
        false,
        "var c = vec4f(0.0); for (var i = 0; i < n; i++) { if uv.x > f32(i) { continue; } c += textureSample(t, s, uv); } return c;",
    ),
    (
        true,
        "var c = vec4f(0.0); for (var i = 0; i < n; i++) { c += textureSample(t, s, uv); if uv.x > f32(i) { continue; } c += 1.0; } return c;",
    ),
    (
        false,
        "var c = vec4f(0.0); for (var i = 0; i < n; i++) { c += textureSample(t, s, uv); if uv.x > f32(i) { break; } } return c;",
    ),
    (
        true,
        "var c = 0.0; for (var i = 0; i < n; i++) { if uv.x > f32(i) { break; } c += 1.0; } return c + textureSample(t, s, uv);",
    ),
    (true, "if uv.x > 0.5 { discard; } return textureSample(t, s, uv);"),
    (true, "let a = textureSample(t, s, uv); return select(a, vec4f(0.0), uv.x > 0.5);"),
    (true, "if uv.x > 0.5 { return textureSampleLevel(t, s, uv, 0.0); } return vec4f(1.0);"),
    (
        true,
        "var w = array<f32, 3>(0.1, 0.5, 0.9); var c = vec4f(0.0); for (var i = 0; i < 3; i++) { if w[i] > 0.2 { c += textureSample(t, s, uv); } } return c;",
    ),
    (
        false,
        "var w = array<f32, 3>(0.1, uv.y, 0.9); var c = vec4f(0.0); for (var i = 0; i < n; i++) { if w[i] > 0.2 { c += textureSample(t, s, uv); } } return c;",
    ),
    (false, "var c = 0.0; if uv.x > 0.5 { c = fwidth(uv.y); } return vec4f(c);"),
    (
        true,
        "let a = textureSample(t, s, uv).x > 0.5 && uv.x > 0.5; return select(vec4f(0.0), vec4f(1.0), a);",
    ),
    (
        false,
        "let a = uv.x > 0.5 && textureSample(t, s, uv).x > 0.5; return select(vec4f(0.0), vec4f(1.0), a);",
    ),
];

const COMPUTES: &[(bool, &str)] = &[
    (
        true,
        "if g.x > 2u { workgroupBarrier(); } w[i] = 1u; for (var k = 1u; k < 64u; k *= 2u) { workgroupBarrier(); if i < k { w[i] += w[i + k]; } }",
    ),
    (false, "if o[0] > 2u { workgroupBarrier(); }"),
    (false, "if w[0] > 2u { workgroupBarrier(); }"),
    (true, "let k = workgroupUniformLoad(&z); if k > 2u { workgroupBarrier(); } w[i] = k;"),
    (false, "var k = i; while k > 2u { workgroupBarrier(); k -= 1u; }"),
];

/// Whole modules behind [`HEAD`].
const MODULES: &[(bool, &str)] = &[
    (
        false,
        "fn f(uv: vec2f) -> vec4f { if uv.x > 0.5 { return vec4f(0.0); } return textureSample(t, s, uv); } @fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f { return f(uv); }",
    ),
    (
        true,
        "fn f(x: f32) -> f32 { if x > 0.5 { return 0.0; } return 1.0; } @fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f { let a = f(uv.x); return a + textureSample(t, s, uv); }",
    ),
    (
        false,
        "@fragment fn main(@location(0) uv: vec2f, @location(1) @interpolate(flat) k: u32) -> @location(0) vec4f { switch k { case 1u: { return textureSample(t, s, uv); } default: { return vec4f(0.0); } } }",
    ),
    (
        false,
        "@fragment fn main(@location(0) uv: vec2f, @location(1) @interpolate(flat) k: u32) -> @location(0) vec4f { switch k { case 1u: { return vec4f(0.0); } default: {} } return textureSample(t, s, uv); }",
    ),
    (
        true,
        "@diagnostic(off, derivative_uniformity) fn f(uv: vec2f) -> vec4f { if uv.x > 0.5 { return vec4f(0.0); } return textureSample(t, s, uv); } @fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f { return f(uv); }",
    ),
    (
        true,
        "@compute @workgroup_size(64) fn main(@builtin(num_workgroups) g: vec3u) { if g.x > 2u { workgroupBarrier(); } }",
    ),
    (
        true,
        "const Q = false; @fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f { if Q { return vec4f(1.0); } return textureSample(t, s, uv); }",
    ),
];

fn compiled(folder: &Folder, source: &str) -> std::process::Output {
    let path = folder.path("shader.wgsl");
    fs::write(&path, source).expect("written");
    let out = folder.path("out.ir");
    gpucc(&[&path, "--target", "interp", "--emit", "ir", "-o", &out])
}

#[test]
fn what_needs_uniform_control_flow_has_it_or_is_an_error() {
    let folder = Folder::new("uniformity");
    let fragments =
        FRAGMENTS.iter().map(|(right, body)| (*right, format!("{HEAD}{FRAGMENT} {{ {body} }}")));
    let computes =
        COMPUTES.iter().map(|(right, body)| (*right, format!("{HEAD}{COMPUTE} {{ {body} }}")));
    let modules = MODULES.iter().map(|(right, module)| (*right, format!("{HEAD}{module}")));
    for (right, source) in fragments.chain(computes).chain(modules) {
        let output = compiled(&folder, &source);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(i32::from(!right)), "{source}: {said}");
        assert_eq!(said.contains("is only defined in uniform control flow"), !right, "{said}");
    }
}

#[test]
fn directives_and_attributes_say_how_grave_a_derivative_is() {
    let folder = Folder::new("uniformity-rules");
    let wrong = format!(
        "{FRAGMENT} {{ if uv.x > 0.5 {{ return textureSample(t, s, uv); }} return vec4f(u); }}"
    );
    let module = |rule: &str| format!("{rule}{HEAD}{wrong}");
    for (rule, exit, word) in [
        ("", 1, "error: `textureSample`"),
        ("diagnostic(error, derivative_uniformity);", 1, "error: `textureSample`"),
        ("diagnostic(warning, derivative_uniformity);", 0, "warning: `textureSample`"),
        ("diagnostic(info, derivative_uniformity);", 0, "note: `textureSample`"),
        ("diagnostic(off, derivative_uniformity);", 0, ""),
    ] {
        let output = compiled(&folder, &module(rule));
        let said = text(&output);
        assert_eq!(output.status.code(), Some(exit), "{rule}: {said}");
        assert!(said.contains(word) && (!word.is_empty() || said.is_empty()), "{rule}: {said}");
    }
    // A function has its own rule, its callers another; a barrier has none.
    let own = format!(
        "{HEAD}@diagnostic(off, derivative_uniformity) fn f(uv: vec2f) -> vec4f {{
            if uv.x > 0.5 {{ return vec4f(0.0); }} return textureSample(t, s, uv);
        }}
        {FRAGMENT} {{ let a = f(uv); if uv.y > 0.5 {{ return a + dpdx(uv.x); }} return a; }}"
    );
    let output = compiled(&folder, &own);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("a derivative") && !said.contains("`textureSample` is"), "{said}");
    let barrier = format!(
        "diagnostic(off, derivative_uniformity);{HEAD}{COMPUTE} {{ if i > 2u {{ workgroupBarrier(); }} }}"
    );
    assert_eq!(compiled(&folder, &barrier).status.code(), Some(1));
}

#[test]
fn the_message_shows_the_way_from_the_value_to_the_call() {
    let folder = Folder::new("uniformity-way");
    let source = format!(
        "{HEAD}{COMPUTE} {{
            let here = i * 2u + 1u;
            if here > 5u {{ return; }}
            workgroupBarrier();
            w[i] = 1u;
        }}"
    );
    let output = compiled(&folder, &source);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for words in [
        "error: `workgroupBarrier` is only defined in uniform control flow",
        "shader.wgsl:11:13",
        "not every invocation may come here",
        "-------- this decides it",
        "`i` is another for each invocation",
    ] {
        assert!(said.contains(words), "`{words}` is not in: {said}");
    }
    let shared = format!("{HEAD}{COMPUTE} {{ if o[g.x] > 2u {{ storageBarrier(); }} }}");
    assert!(text(&compiled(&folder, &shared)).contains("other invocations may write `o`"));
}

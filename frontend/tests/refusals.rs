//! Sources that are wrong, too large or hostile: an error with a place, never a panic or a hang.

use gpucc_frontend::{FailureKind, Limits, Options, Source, parse, silence_quarantined_panics};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{Stage, verify};

fn human(text: &str, options: &Options) -> (u8, String) {
    let failure = parse(Source::Wgsl(text), "bad.wgsl", options).expect_err("it is wrong");
    let shown = failure.render();
    (failure.exit_code(), shown)
}

#[track_caller]
fn says(text: &str, code: u8, parts: &[&str]) {
    let (exit, shown) = human(text, &Options::default());
    assert_eq!(exit, code, "{shown}");
    for part in parts {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
}

#[test]
fn a_syntax_error_names_line_and_column() {
    says("fn f() {\n  let x = ;\n}\n", 1, &["error: ", "bad.wgsl:2:11"]);
}

#[test]
fn a_type_error_names_the_declaration() {
    says(
        "@compute @workgroup_size(1) fn main() {\n  var a: f32 = 1u;\n}",
        1,
        &["bad.wgsl:2:7", "`a`"],
    );
}

#[test]
fn a_validation_error_gives_its_reason_and_its_place() {
    says(
        "@group(0) @binding(0) var<uniform> a: array<f32, 4>;\n@compute @workgroup_size(1) fn main() { let x = a[0]; }",
        1,
        &["16 bytes apart", "array<vec4f, N>", "bad.wgsl:1"],
    );
}

#[test]
fn lines_end_as_they_like_and_a_byte_order_mark_is_no_error() {
    let good = "\u{feff}// ä\r\n@compute @workgroup_size(1)\r\nfn main() {}\r\n";
    assert!(parse(Source::Wgsl(good), "a", &Options::default()).is_ok());
    says("\u{feff}// ä\r\nfn ;", 1, &["bad.wgsl:2:4"]);
    says("// ä\r// b\r\nfn ;", 1, &["bad.wgsl:3:4"]);
    let text = "#version 450\rlayout(location = 0) out vec4 o;\rvoid main() { o = vec4(1.0); }\r";
    let glsl = Source::Glsl { text, stage: Stage::Fragment };
    assert!(parse(glsl, "a", &Options::default()).is_ok());
}

#[test]
fn a_value_that_an_override_cannot_have_names_it_and_its_place() {
    let text = "override k: f32 = 1.0;\noverride n: u32 = 4;\n@compute @workgroup_size(n)\nfn main() { var x = k; }";
    let wrong = |name: &str, value: f64| {
        let overrides = [(name.to_owned(), value)].into_iter().collect();
        human(text, &Options { overrides, ..Options::default() })
    };
    for (name, value, parts) in [
        ("k", f64::INFINITY, ["bad.wgsl:1:1", "`k` is an `f32`, and cannot be inf"]),
        ("k", f64::NAN, ["bad.wgsl:1:1", "cannot be NaN"]),
        ("k", 1e39, ["bad.wgsl:1:1", "`k` is an `f32`"]),
        ("n", -1.0, ["bad.wgsl:2:1", "`n` is a `u32`, and cannot be -1"]),
        ("n", 5e9, ["bad.wgsl:2:1", "cannot be 5000000000"]),
        ("n", 0.0, ["bad.wgsl:3:26", "at least 1"]),
    ] {
        let (exit, shown) = wrong(name, value);
        assert_eq!(exit, 1, "{shown}");
        assert!(parts.iter().all(|part| shown.contains(part)), "{name} {value}\n{shown}");
    }
}

#[test]
fn a_specialization_constant_of_glsl_has_values_of_its_type_alone() {
    let text = "#version 450\nlayout(constant_id = 3) const float k = 1.0;\n\
         layout(constant_id = 4) const uint n = 1;\nlayout(location = 0) out vec4 o;\n\
         void main() { o = vec4(k + float(n)); }";
    let with = |name: &str, value: f64| {
        let overrides = [(name.to_owned(), value)].into_iter().collect();
        let glsl = Source::Glsl { text, stage: Stage::Fragment };
        parse(glsl, "bad.frag", &Options { overrides, ..Options::default() })
    };
    for (name, value) in
        [("k", f64::INFINITY), ("3", 1e39), ("n", 2.5), ("4", 1e10), ("n", f64::NAN)]
    {
        let failure = with(name, value).expect_err("it is wrong");
        let shown = failure.render();
        assert_eq!(failure.exit_code(), 1, "{shown}");
        let line = if matches!(name, "k" | "3") { "bad.frag:2:" } else { "bad.frag:3:" };
        assert!(shown.contains(line) && shown.contains("is none"), "{shown}");
    }
    // As for SPIR-V, a negative value is its bits.
    for (name, value) in [("k", 2.5), ("n", -1.0), ("n", 4294967295.0)] {
        assert!(with(name, value).is_ok(), "{name} {value}");
    }
}

#[test]
fn a_workgroup_without_invocations_is_marked_where_its_size_stands() {
    says(
        "@compute @workgroup_size(1) fn mains() {}\n@compute @workgroup_size(4, 0)\nfn main() {}",
        1,
        &["bad.wgsl:2:10", "at least 1", "`main`"],
    );
}

#[test]
fn a_missing_entry_point_names_those_that_are_there() {
    let text = "@compute @workgroup_size(1) fn one() {}\n@fragment fn two() {}";
    let options = Options { entry: Some("three".to_owned()), ..Options::default() };
    let (exit, shown) = human(text, &options);
    assert_eq!(exit, 1);
    assert!(shown.contains("`one` (compute), `two` (fragment)"), "{shown}");
    let options = Options { stage: Some(Stage::Vertex), ..Options::default() };
    assert!(human(text, &options).1.contains("no vertex entry point"));
    says("fn f() {}", 1, &["no entry point"]);
    let chosen = Options { entry: Some("two".to_owned()), ..Options::default() };
    let parsed = parse(Source::Wgsl(text), "a", &chosen).expect("it is there");
    assert_eq!(parsed.module.funcs.len(), 1);
    assert_eq!(parsed.module.funcs[0].stage, Stage::Fragment);
}

#[test]
fn what_we_do_not_lower_names_the_feature_and_our_stage() {
    says(
        "enable wgpu_ray_query;\n@group(0) @binding(0) var a: acceleration_structure;\n@compute @workgroup_size(1) fn main() {\n  var rq: ray_query;\n  rayQueryInitialize(&rq, a, RayDesc(0u, 255u, 0.0, 1.0, vec3f(0), vec3f(1)));\n}",
        6,
        &["acceleration structures (lowering to SSA)", "bad.wgsl:2", "entry point `main`"],
    );
    says(
        "fn f(p: ptr<storage, u32, read>) -> u32 { return *p; }\n@group(0) @binding(0) var<storage, read> a: u32;\n@compute @workgroup_size(1) fn main() { let x = f(&a); }",
        6,
        &["pointers to module variables as function parameters", "naga's reader"],
    );
}

#[test]
fn one_entry_point_that_fails_does_not_hide_the_others_when_asked_to_go_on() {
    let text = "@fragment fn bad(@location(0) @interpolate(flat) a: u64) -> @location(0) vec4u { return vec4u(u32(a)); }
        @compute @workgroup_size(1) fn good() {}";
    let options = Options { keep_going: true, ..Options::default() };
    let parsed = parse(Source::Wgsl(text), "a", &options).expect("one is good");
    assert_eq!(parsed.module.funcs.len(), 1);
    assert_eq!(parsed.failed[0].entry, "bad");
    assert_eq!(parsed.failed[0].failure.exit_code(), 6);
}

#[track_caller]
fn over_a_limit(text: &str) {
    let failure = parse(Source::Wgsl(text), "big.wgsl", &Options::default())
        .expect_err("it is beyond a limit");
    assert_eq!(failure.exit_code(), 4, "{}", failure.render());
    let FailureKind::Limit { needed, available, .. } = failure.kind else {
        panic!("not a limit");
    };
    assert!(needed > available);
}

#[test]
fn hostile_nesting_and_chains_end_at_a_limit() {
    over_a_limit(&format!("const a = {}", "(".repeat(100_000)));
    over_a_limit(&"+".repeat(1 << 20));
    over_a_limit(&format!("const a = 1{};", " + 1".repeat(100_000)));
    over_a_limit(&format!("fn f() {}", "{".repeat(100_000)));
    over_a_limit(&format!("const a = {}1;", "-".repeat(100_000)));
    over_a_limit(&format!("const a = {}1;", "!".repeat(5_000)));
    over_a_limit(&format!("fn f() {{ x{}; }}", ".x".repeat(100_000)));
    over_a_limit(&format!("fn f() {{ x{}; }}", "[0]".repeat(100_000)));
    over_a_limit(&format!("var<private> a: {}f32{};", "array<".repeat(5_000), ">".repeat(5_000)));
    let chain = "else if true {} ".repeat(100_000);
    over_a_limit(&format!("fn f() {{ if true {{}} {chain} }}"));
}

#[test]
fn a_workgroup_has_no_more_invocations_than_can_be_counted() {
    let sized = |size: &str| format!("@compute @workgroup_size({size}) fn main() {{}}");
    over_a_limit(&sized("65, 65, 65"));
    over_a_limit(&sized("65537"));
    over_a_limit(&sized("20000"));
    over_a_limit(&sized("4294967295, 4294967295, 4294967295"));
    let most = sized("256, 256");
    let parsed =
        parse(Source::Wgsl(&most), "a", &Options::default()).expect("65536 are few enough");
    assert_eq!(parsed.module.funcs[0].workgroup_size, [256, 256, 1]);
}

#[test]
fn what_grows_exponentially_ends_at_a_limit() {
    // 2^40 calls.
    let mut calls = "fn f0() { x += 1; }\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        calls += &format!("fn f{level}() {{ f{below}(); f{below}(); }}\n");
    }
    over_a_limit(&format!(
        "var<private> x: i32; {calls} @compute @workgroup_size(1) fn main() {{ f39(); }}"
    ));
    // 2^26 scalars.
    let mut types = "struct S0 { a: f32, b: f32 }\n".to_owned();
    for level in 1..26 {
        let below = level - 1;
        types += &format!("struct S{level} {{ a: S{below}, b: S{below} }}\n");
    }
    over_a_limit(&format!(
        "{types} @compute @workgroup_size(1) fn main() {{ var v: S25; var w = v; w = v; }}"
    ));
    over_a_limit(
        "var<private> a: array<f32, 100000000>; @compute @workgroup_size(1) fn main() { a[0] = 1; }",
    );
    over_a_limit(
        "var<workgroup> a: array<f32, 100000000>; @compute @workgroup_size(1) fn main() { a[0] = 1; }",
    );
}

#[test]
fn depth_that_calls_add_up_to_ends_at_a_limit() {
    let mut text = "var<private> x: i32; fn f0() { x += 1; }\n".to_owned();
    for level in 1..40 {
        let open = "if x > 0 { ".repeat(100);
        let close = "} ".repeat(100);
        let below = level - 1;
        text += &format!("fn f{level}() {{ {open} f{below}(); {close} }}\n");
    }
    over_a_limit(&format!("{text} @compute @workgroup_size(1) fn main() {{ f39(); }}"));
}

#[test]
fn large_private_arrays_are_zeroed_by_a_loop() {
    let text = "@group(0) @binding(0) var<storage, read_write> o: f32; @compute @workgroup_size(1) fn main() { var a: array<array<vec4<f32>, 100>, 20>; o = a[u32(o)][3].x; }";
    let parsed = parse(Source::Wgsl(text), "a", &Options::default()).expect("it is valid");
    let func = &parsed.module.funcs[0];
    verify(func).expect("it verifies");
    assert!(func.live_insts() < 400, "{} instructions", func.live_insts());
}

#[test]
fn limits_can_be_raised() {
    let text =
        format!("const a = 1{}; @compute @workgroup_size(1) fn main() {{}}", " + 1".repeat(1500));
    let options =
        Options { limits: Limits { operators: 2000, ..Limits::default() }, ..Options::default() };
    assert!(parse(Source::Wgsl(&text), "a", &options).is_ok());
}

const SEEDS: [&str; 2] = [
    "struct S { a: vec3<f32>, b: array<mat2x2<f32>, 3> } @group(0) @binding(0) var<storage, read_write> s: array<S>;
     @group(0) @binding(1) var t: texture_2d<f32>; @group(0) @binding(2) var p: sampler; override n: u32 = 3; const k = array(1, 2, 3);
     fn f(x: f32, q: ptr<function, vec4<f32>>) -> f32 { switch i32(x) { case 1, 2: { return (*q).y; } default: { } } for (var i = 0; i < 4; i++) { if x > 1.5 { break; } else if x < 0 { continue; } } loop { break; } return dot(*q, *q); }
     @fragment fn main(@location(0) uv: vec2<f32>, @builtin(position) w: vec4<f32>) -> @location(0) vec4<f32> { var v = textureSample(t, p, uv) * w; let d = f(v.x, &v); if d > 3.0 { discard; } s[n].b[1][k[u32(d)]].x = d; return v.zyxw; }",
    "#version 450\n#define TWICE(x) ((x) + (x))\nlayout(location = 0) in vec2 uv; layout(location = 0) out vec4 color; layout(set = 0, binding = 0) uniform U { mat4 m; vec4 a[4]; } u;
     float f(inout vec4 v, int i) { v.x += 1.0; switch (i) { case 0: v.y = 2.0; case 1: break; default: return 3.0; } for (int j = 0; j < i; j++) { v = u.m * v; } while (v.x < 2.0) v.x *= 1.5; do { v.z -= 1.0; } while (v.z > 4.0); return TWICE(v.x); }
     void main() { vec4 v = vec4(uv, 0.0, 1.0); float d = f(v, int(uv.x)); if (d > 2.0) discard; color = clamp(v * d + u.a[int(d)], 0.0, 1.0); }",
];

/// Each result is an error with a message, or SSA that verifies.
fn endure(source: Source<'_>) {
    match parse(source, "fuzz", &Options::default()) {
        Ok(parsed) => {
            for func in &parsed.module.funcs {
                verify(func).expect("what comes out verifies");
            }
        }
        Err(failure) => {
            assert!(!failure.render().is_empty());
            assert_ne!(failure.exit_code(), 101, "{}", failure.render());
        }
    }
}

#[test]
fn random_truncated_and_damaged_sources_are_endured() {
    silence_quarantined_panics();
    let mut random = Rng::new(1);
    for round in 0..400 {
        let seed = SEEDS[round % 2];
        let mut bytes = seed.as_bytes().to_vec();
        match round % 5 {
            0 => bytes.truncate(random.below(seed.len())),
            1 => {
                let at = random.below(seed.len());
                bytes[at] = b' ' + random.below(95) as u8;
            }
            2 => {
                let (from, to) = (random.below(seed.len()), random.below(seed.len()));
                let piece: Vec<u8> = seed.bytes().skip(from).take(random.below(30)).collect();
                bytes.splice(to..to, piece);
            }
            3 => {
                let from = random.below(seed.len());
                let to = (from + random.below(20)).min(seed.len());
                bytes.drain(from..to);
            }
            _ => bytes = (0..random.below(300)).map(|_| random.bits() as u8).collect(),
        }
        let text = String::from_utf8_lossy(&bytes);
        endure(Source::Wgsl(&text));
        endure(Source::Glsl { text: &text, stage: Stage::Fragment });
        endure(Source::SpirV(&bytes));
    }
}

/// A module that `naga` would write is not at hand, so this one is assembled by hand: an empty
/// compute entry point.
fn spirv() -> Vec<u32> {
    let name = u32::from_le_bytes(*b"main");
    vec![
        0x0723_0203,
        0x0001_0000,
        0,
        5,
        0, // header
        0x0002_0011,
        1, // OpCapability Shader
        0x0003_000e,
        0,
        1, // OpMemoryModel Logical GLSL450
        0x0005_000f,
        5,
        3,
        name,
        0, // OpEntryPoint GLCompute %3 "main"
        0x0006_0010,
        3,
        17,
        4,
        2,
        1, // OpExecutionMode %3 LocalSize 4 2 1
        0x0002_0013,
        1, // %1 = OpTypeVoid
        0x0003_0021,
        2,
        1, // %2 = OpTypeFunction %1
        0x0005_0036,
        1,
        3,
        0,
        2, // %3 = OpFunction
        0x0002_00f8,
        4,           // %4 = OpLabel
        0x0001_00fd, // OpReturn
        0x0001_0038, // OpFunctionEnd
    ]
}

#[test]
fn spirv_is_read_in_either_byte_order() {
    for order in [u32::to_le_bytes, u32::to_be_bytes] {
        let bytes: Vec<u8> = spirv().into_iter().flat_map(order).collect();
        let parsed = parse(Source::SpirV(&bytes), "a.spv", &Options::default())
            .unwrap_or_else(|failure| panic!("{}", failure.render()));
        assert_eq!(parsed.module.funcs[0].name, "main");
        assert_eq!(parsed.module.funcs[0].workgroup_size, [4, 2, 1]);
    }
}

#[test]
fn damaged_spirv_is_endured() {
    silence_quarantined_panics();
    let mut random = Rng::new(7);
    for _ in 0..500 {
        let mut words = spirv();
        for _ in 0..=random.below(3) {
            let at = 3 + random.below(words.len() - 3);
            words[at] = match random.below(3) {
                0 => random.bits() as u32,
                1 => words[at] ^ 1 << random.below(32),
                _ => random.below(8) as u32,
            };
        }
        words.truncate(1 + random.below(words.len() * 2).min(words.len() - 1));
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        endure(Source::SpirV(&bytes));
    }
}

#[test]
fn spirv_errors_name_the_word() {
    let mut words = spirv();
    words[5] = 0x00ff_0011;
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let failure = parse(Source::SpirV(&bytes), "a.spv", &Options::default()).expect_err("bad");
    assert_eq!(failure.exit_code(), 1);
    assert!(failure.render().starts_with("a.spv:word 5: error"));
    assert!(failure.render().contains("at word 5"));
}

#[test]
fn what_only_fragments_do_is_refused_in_other_stages() {
    // Types and a constant before the function, and instructions in it: f32, 1.0, a derivative; a demotion; a discard.
    let derivative = [0x0004_00cf, 20, 22, 21];
    let types = [0x0003_0016, 20, 32, 0x0004_002b, 20, 21, 0x3f80_0000];
    let with = |model: u32, body: &[u32]| {
        let mut words = spirv();
        words[3] = 100;
        words[11] = model;
        if model != 5 {
            words.drain(14..20);
        }
        let function = words.len() - 9;
        let end = words.split_off(words.len() - 1);
        words.pop();
        words.extend(body.iter().chain(&end));
        words.splice(function..function, types);
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let parsed = parse(Source::SpirV(&bytes), "a.spv", &Options::default());
        let failed = |failure: gpucc_frontend::Failure| (failure.exit_code(), failure.render());
        parsed.map(|_| ()).map_err(failed)
    };
    let returns = [0x0001_00fd];
    let derives = [&derivative[..], &returns].concat();
    for body in [&derives[..], &[0x0001_1504, 0x0001_00fd], &[0x0001_00fc]] {
        assert_eq!(with(4, body), Ok(()), "a fragment shader may");
        let vertex = with(0, body).expect_err("no vertex shader may");
        assert!(vertex.0 == 1 && vertex.1.contains("in a vertex shader"), "{vertex:?}");
    }
    assert_eq!(with(5, &derives), Ok(()), "a compute shader may, and has zeros without groups");
}

#[test]
fn an_include_is_named_where_it_stands() {
    let text = "#version 450\n#line 7 \"other.frag\"\n#include \"common.glsl\"\nvoid main() {}\n";
    let source = Source::Glsl { text, stage: Stage::Fragment };
    let failure = parse(source, "a.frag", &Options::default()).expect_err("it includes");
    let shown = failure.render();
    assert_eq!(failure.exit_code(), 1, "{shown}");
    assert!(shown.contains("a.frag:3:2") && shown.contains("`common.glsl`"), "{shown}");
}

#[test]
fn a_vector_of_more_than_4_components_is_wrong_before_anything_is_made_for_it() {
    // Frexp's second result is an exponent for each component.
    let vector = |components: u32| {
        [
            &[0x0723_0203, 0x0001_0300, 0, 20, 0][..],
            &[0x0006_000b, 1, 0x4c53_4c47, 0x6474_732e, 0x3035_342e, 0],
            &[0x0003_0016, 2, 32],
            &[0x0004_0017, 3, 2, components],
            &[0x0007_000c, 3, 4, 1, 51, 5, 6],
        ]
        .concat()
    };
    for components in [1, 5, i32::MAX as u32] {
        let words = vector(components).into_iter();
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let failure = parse(Source::SpirV(&bytes), "a.spv", &Options::default()).expect_err("bad");
        let shown = failure.render();
        assert_eq!(failure.exit_code(), 1, "{shown}");
        assert!(shown.contains("2 to 4 components"), "{shown}");
    }
}

#[test]
fn a_switch_on_a_vector_and_an_atomic_on_a_uniform_are_the_user_s_errors() {
    for (text, message) in [
        (
            "#version 450\nlayout(location = 0) in vec4 v; void main() { switch (ivec3(v)) { case 1: break; } }",
            "a switch takes an integer",
        ),
        (
            "#version 450\nuniform uint b; void main() { atomicCounterIncrement(b); }",
            "no function `atomicCounterIncrement` takes (uint)",
        ),
    ] {
        let source = Source::Glsl { text, stage: Stage::Fragment };
        let failure = parse(source, "a.frag", &Options::default()).expect_err("wrong");
        let shown = failure.render();
        assert_eq!(failure.exit_code(), 1, "{shown}");
        assert!(shown.contains(message), "{shown}");
    }
}

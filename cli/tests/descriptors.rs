//! The descriptors that Valhall's report hands to a driver, each field against what the program does
//! (docs/abi-valhall.md, "State").

use crate::common::{Folder, gpucc, text};
use serde_json::Value;

/// The state of the only entry point of a source.
fn state(file: &str, source: &str) -> Value {
    let folder = Folder::new("descriptors");
    let shader = folder.write(file, source);
    let output = gpucc(&["--target", "valhall", "--emit", "json", &shader]);
    assert!(output.status.success(), "{}", text(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["shaders"][0]["state"].clone()
}

#[test]
fn a_fragment_program_is_killed_and_tested_early_as_far_as_its_effects_allow() {
    let buffer = "@group(0) @binding(0) var<storage, read_write> b: array<atomic<u32>>;\n";
    let words = "@group(0) @binding(0) var<storage, read_write> w: array<u32>;\n";
    let image = "@group(0) @binding(0) var t: texture_storage_2d<r32uint, write>;\n";
    let color = "-> @location(0) vec4f {";
    // What it kills, may be killed, pixel kill and update operations (0 force early, 2 weak early, 3 force late),
    // per sample, modifies coverage, targets, depth source (2 fixed, 3 shader).
    let rows: [(&str, String, [u32; 8]); 9] = [
        (
            "a colour alone",
            format!("@fragment fn main() {color} return vec4f(1.0); }}"),
            [1, 1, 2, 2, 0, 0, 1, 2],
        ),
        (
            "a store",
            format!("{words}@fragment fn main() {color} w[3] = 7u; return vec4f(1.0); }}"),
            [1, 0, 3, 2, 0, 0, 1, 2],
        ),
        (
            "an atomic",
            format!(
                "{buffer}@fragment fn main() {color} atomicAdd(&b[1], 2u); return vec4f(1.0); }}"
            ),
            [1, 0, 3, 2, 0, 0, 1, 2],
        ),
        (
            "a texel",
            format!(
                "{image}@fragment fn main() {color} textureStore(t, vec2u(1), vec4u(2)); return vec4f(1.0); }}"
            ),
            [1, 0, 3, 2, 0, 0, 1, 2],
        ),
        (
            "stores behind tests that come first",
            format!(
                "{words}@fragment @early_depth_test(force) fn main() {color} w[3] = 7u; return vec4f(1.0); }}"
            ),
            [1, 0, 0, 0, 0, 0, 1, 2],
        ),
        (
            "discard",
            format!(
                "@fragment fn main(@builtin(position) p: vec4f) {color} if p.x < 9.0 {{ discard; }} return p; }}"
            ),
            [0, 1, 2, 3, 0, 1, 1, 2],
        ),
        (
            "depth",
            "struct Out { @builtin(frag_depth) d: f32, @location(1) c: vec4f }
             @fragment fn main() -> Out { return Out(0.5, vec4f(1.0)); }"
                .to_owned(),
            [0, 1, 3, 3, 0, 0, 2, 3],
        ),
        (
            "an input of each sample",
            format!(
                "@fragment fn main(@location(0) @interpolate(perspective, sample) v: vec4f,
                   @location(1) u: vec4f) {color} return v + u; }}"
            ),
            [1, 1, 2, 2, 1, 0, 1, 2],
        ),
        (
            "the number of the sample",
            format!(
                "@fragment fn main(@builtin(sample_index) s: u32, @location(1) u: vec4f) {color} return u * f32(s); }}"
            ),
            [1, 1, 2, 2, 1, 0, 1, 2],
        ),
    ];
    for (name, source, expected) in rows {
        let state = state("fragment.wgsl", &source);
        let draw = &state["Draw"]["fields"];
        let fields = [
            &draw["Allow forward pixel to kill"],
            &draw["Allow forward pixel to be killed"],
            &draw["Pixel kill operation"],
            &draw["ZS update operation"],
            &draw["Evaluate per-sample"],
            &draw["Shader modifies coverage"],
            &draw["Render target mask"],
            &state["Depth/stencil"]["fields"]["Depth source"],
        ];
        assert_eq!(fields.map(Value::as_u64), expected.map(|n| Some(n.into())), "{name}");
        let word = |at: usize| state["Draw"]["words"][at].as_u64().expect("a word");
        let low = u64::from(expected[0] | expected[1] << 1 | expected[2] << 2 | expected[3] << 4);
        let high = u64::from(expected[4] << 11 | expected[5] << 20);
        assert_eq!(word(0), low + high, "{name}");
        assert_eq!(word(1), u64::from(expected[6]) << 16, "{name}");
    }
}

#[test]
fn local_storage_is_described_where_a_program_has_some() {
    let out = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n";
    let main =
        "@compute @workgroup_size(4, 2, 3) fn main(@builtin(local_invocation_index) i: u32) {";
    let plain = state("plain.wgsl", &format!("{out}{main} out[i] = i; }}"));
    assert!(plain.get("Local Storage").is_none(), "{plain}");
    let payload = &plain["Compute Payload"]["words"][0];
    // The size less one by axis, and workgroups may share a warp.
    assert_eq!(*payload, 3 | 1u32 << 10 | 2 << 20 | 1 << 31);
    let shared = format!(
        "{out}var<workgroup> w: array<u32, 24>;
         {main} w[i] = i; workgroupBarrier(); out[i] = w[23 - i]; }}"
    );
    let shared = state("shared.wgsl", &shared);
    // 96 bytes are 128 = 2^7, the least that there is.
    assert_eq!(shared["Local Storage"]["fields"]["WLS Size Scale"], 8);
    assert_eq!(shared["Local Storage"]["fields"]["TLS Size"], 0);
    assert_eq!(shared["Compute Payload"]["fields"]["Allow merging workgroups"], 0);
    let private = format!(
        "{out}{main} var a: array<u32, 40>; for (var k = 0u; k < 40u; k++) {{ a[k] = out[k] * i; }}
         out[i] = a[out[i] % 40u]; }}"
    );
    let private = state("private.wgsl", &private);
    // 160 bytes are ten lines of 16 bytes: 2^4.
    assert_eq!(private["Local Storage"]["fields"]["TLS Size"], 4);
    // The logarithm of 2^31 instances: no memory of workgroups.
    assert_eq!(private["Local Storage"]["words"][1], 31);
}

#[test]
fn workgroups_share_no_warp_where_a_program_asks_for_their_number_or_its_subgroup() {
    let out = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n";
    let merges = |name: &str, head: &str, main: &str| {
        let shader = format!("{head}{out}@compute @workgroup_size(4) fn main({main}");
        let state = state(name, &shader);
        state["Compute Payload"]["fields"]["Allow merging workgroups"].as_u64()
    };
    let own = "@builtin(global_invocation_id) i: vec3u) { out[i.x] = i.y; }";
    assert_eq!(merges("own.wgsl", "", own), Some(1));
    let number = "@builtin(workgroup_id) i: vec3u) { out[i.x] = i.y; }";
    assert_eq!(merges("number.wgsl", "", number), Some(0));
    let sum = "@builtin(global_invocation_id) i: vec3u) { out[i.x] = subgroupAdd(i.y); }";
    assert_eq!(merges("sum.wgsl", "enable subgroups;\n", sum), Some(0));
}

#[test]
fn a_vertex_shader_has_a_descriptor_for_each_of_its_programs() {
    let source = "struct Out { @builtin(position) p: vec4f, @location(0) v: vec4f }
        @vertex fn main(@location(0) a: vec4f) -> Out { return Out(a, a.wzyx); }";
    let both = state("both.wgsl", source);
    let warp = |name: &str| both[name]["fields"]["Vertex warp limit"].as_u64();
    // The tiler takes vertices in fours.
    assert_eq!(warp("Shader Program (position)"), Some(1));
    assert_eq!(warp("Shader Program (varying)"), Some(0));
    assert!(both.get("Shader Program").is_none());
    for (name, program) in [("position", 0), ("varying", 1)] {
        let binary = &both[format!("Shader Program ({name})")]["fields"]["Binary"];
        assert_eq!(*binary, both["programs"][program]["offset"]);
    }
    assert_eq!(both["Allocation"]["fields"]["Vertex attribute stride"], 16);
}

//! R700 and R6xx from outside: fetch programs, memory, streams, torn quads, and what R6xx refuses.

use crate::common::{Folder, gpucc, pixels, samples, text};

const ATTRIBUTES: &str = "
struct Out { @builtin(position) p: vec4f, @location(0) a: vec4f, @location(1) @interpolate(flat) b: vec4u,
  @location(2) @interpolate(flat) c: vec4i };
@vertex fn main(@location(0) a: vec4f, @location(2) b: vec4u, @location(5) c: vec4i, @location(6) d: vec2f,
    @builtin(vertex_index) v: u32, @builtin(instance_index) i: u32) -> Out {
  return Out(a + vec4f(d, 0, 0), a * f32(v), b + vec4u(i), c);
}";

const STATE: &str = r#"{"vertex":{"fetch":"separate",
  "attributes":[{"location":0,"format":"unorm8x4","buffer":0,"offset":4},
    {"location":2,"format":"uint32x2","buffer":1,"offset":0},
    {"location":5,"format":"sint16x2","buffer":0,"offset":8},
    {"location":6,"format":"float32","buffer":1,"offset":8}],
  "buffers":[{"stride":12,"step":"vertex"},{"stride":12,"step":"instance"}]}}"#;

#[test]
fn attributes_come_through_a_fetch_program_of_their_own() {
    let folder = Folder::new("attributes");
    let shader = folder.write("attributes.wgsl", ATTRIBUTES);
    let state = folder.write("attributes.json", STATE);
    for target in ["r700", "r600"] {
        let args = ["--target", target, "--pipeline", &state, &shader];
        let output = gpucc(&[&["verify"][..], &args].concat());
        assert!(output.status.success(), "{}", text(&output));
        assert!(text(&output).contains("0 mismatches"));
        let asm = text(&gpucc(&args));
        assert!(asm.contains("00 CALL_FS") && !asm.contains("VFETCH"), "{asm}");
        let output = gpucc(&[&args[..], &["--emit", "json"]].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let shader = &report["shaders"][0];
        assert_eq!(shader["state"]["SQ_PGM_START_FS"]["address"], 0x28894);
        // One clause of four fetches at quadword 2, then RETURN.
        let fetch = &shader["fetch_program"];
        assert_eq!(fetch["bytes"], 16 + 4 * 16);
        assert_eq!(&fetch["hex"].as_str().expect("text")[..32], "02000000000c0081000000000000008a");
    }
}

const POINT: &str = "#version 450
layout(location = 0) in vec4 a;
layout(location = 1) in vec4 b;
layout(location = 0) out vec4 color;
void main() {
    vec2 from_center = gl_PointCoord - vec2(0.5);
    color = a + b + vec4(gl_PointCoord, dot(from_center, from_center), gl_FragCoord.z);
}";

#[test]
fn a_pixel_finds_its_place_in_a_point_in_an_overridden_parameter() {
    let folder = Folder::new("point");
    let shader = folder.write("point.frag", POINT);
    for target in ["r700", "r600"] {
        let output = gpucc(&["verify", "--target", target, &shader]);
        assert!(output.status.success(), "{}", text(&output));
        assert!(text(&output).contains("0 mismatches"));
        let output = gpucc(&["--target", target, "--emit", "json", &shader]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let state = &report["shaders"][0]["state"];
        let field = |register: &str, field: &str| state[register]["fields"][field].clone();
        // Two locations, the point, the position: each has its entry.
        assert_eq!(field("SPI_PS_IN_CONTROL_0", "NUM_INTERP"), 4);
        assert_eq!(field("SPI_PS_INPUT_CNTL_2", "PT_SPRITE_TEX"), 1);
        assert_eq!(field("SPI_PS_INPUT_CNTL_3", "FLAT_SHADE"), 1);
        assert_eq!(field("SPI_INTERP_CONTROL_0", "PNT_SPRITE_ENA"), 1);
    }
}

#[test]
fn parameters_find_the_places_of_a_pixel_that_they_are_sampled_at() {
    let folder = Folder::new("places");
    // CENTERS_ONLY, CENTROIDS_ONLY, both; at samples.
    for (a, b, places, at_samples) in [
        ("center", "center", 1, 0),
        ("centroid", "centroid", 0, 0),
        ("center", "centroid", 2, 0),
        ("sample", "center", 1, 1),
    ] {
        let source = format!(
            "@fragment fn main(@location(0) @interpolate(perspective, {a}) a: vec4f,
               @location(1) @interpolate(perspective, {b}) b: vec4f) -> @location(0) vec4f {{ return a + b; }}"
        );
        let shader = folder.write("places.wgsl", source);
        let output = gpucc(&["verify", "--target", "r700", &shader]);
        assert!(output.status.success(), "{}", text(&output));
        let output = gpucc(&["--target", "r700", "--emit", "json", &shader]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let control = &report["shaders"][0]["state"]["SPI_PS_IN_CONTROL_0"]["fields"];
        assert_eq!(control["BARYC_SAMPLE_CNTL"], places, "{a}, {b}");
        assert_eq!(control["BARYC_AT_SAMPLE_ENA"], at_samples, "{a}, {b}");
    }
}

#[test]
fn r6xx_refuses_what_needs_memory_that_programs_address() {
    let folder = Folder::new("lacks");
    let refused = |name: &str, source: &str, feature: &str| {
        let shader = folder.write(name, source);
        let output = gpucc(&["--target", "r600", &shader]);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
        assert!(text(&output).contains(feature), "{}", text(&output));
        assert!(text(&output).contains("register guide 4"));
    };
    refused(
        "store.wgsl",
        "@group(0) @binding(0) var<storage, read_write> b: array<u32>;
         @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) i: vec3u) { b[i.x] = 1; }",
        "writes to storage buffers",
    );
    refused(
        "shared.wgsl",
        "@group(0) @binding(0) var<storage, read_write> b: array<u32>;
         var<workgroup> w: array<u32, 4>;
         @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
           w[i] = i; workgroupBarrier(); b[i] = w[3 - i]; }",
        "workgroup memory",
    );
}

#[test]
fn arrays_go_to_scratch_where_registers_are_not_indexed() {
    let folder = Folder::new("scratch");
    let shader = folder.write(
        "array.wgsl",
        "@fragment fn main(@location(0) @interpolate(flat) n: u32, @location(1) v: vec4f) -> @location(0) vec4f {
           var a: array<vec4f, 9>;
           for (var i = 0u; i < 9u; i++) { a[i] = v * f32(i) + vec4f(sin(v.x), 0.0, 0.0, cos(v.y)); }
           a[(n + 3u) % 9u] = v.yzwx;
           return a[n % 9u] + a[(n * 5u) % 9u];
         }",
    );
    for (chip, indexes) in [("rv670", true), ("rv630", false), ("rv610", false)] {
        let args = ["--target", "r600", "--chip", chip, &shader];
        let output = gpucc(&[&["verify"][..], &args].concat());
        assert!(output.status.success(), "{}", text(&output));
        let asm = text(&gpucc(&args));
        assert_eq!(asm.contains("MOVA_INT"), indexes, "{chip}");
        assert_eq!(asm.contains("MEM_SCRATCH: READ_IND"), !indexes, "{chip}");
        assert_eq!(asm.contains("USES_WATERFALL"), indexes, "{chip}");
    }
}

#[test]
fn every_sample_that_r6xx_can_run_runs_right() {
    let mut verified = 0;
    for file in samples() {
        let file = file.to_string_lossy();
        let output = gpucc(&["verify", "--target", "r600", "--inputs", "2", &file]);
        match output.status.code() {
            Some(0) => verified += 1,
            Some(3) => assert!(text(&output).contains("R6xx cannot do this")),
            other => panic!("{file}: {other:?} {}", text(&output)),
        }
    }
    assert!(verified >= 12, "{verified}");
}

#[test]
fn outputs_that_the_pipeline_streams_leave_through_stream_out_buffers() {
    let folder = Folder::new("stream");
    let shader = folder.write("stream.wgsl", ATTRIBUTES);
    let state = folder.write(
        "stream.json",
        r#"{"vertex":{"stream":{"strides":[36,16],"outputs":[{"buffer":0,"offset":0},
            {"location":0,"buffer":0,"offset":20},{"location":2,"buffer":1,"offset":0}]}}}"#,
    );
    for target in ["r700", "r600"] {
        let args = ["--target", target, "--pipeline", &state, &shader];
        let output = gpucc(&[&["verify"][..], &args].concat());
        assert!(output.status.success(), "{}", text(&output));
        let asm = text(&gpucc(&args));
        for wanted in ["MEM_STREAM0: WRITE[0]", "MEM_STREAM0: WRITE[5]", "MEM_STREAM1: WRITE[0]"] {
            assert!(asm.contains(wanted), "{wanted}: {asm}");
        }
        let output = gpucc(&[&args[..], &["--emit", "json"]].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let registers = &report["shaders"][0]["state"];
        assert_eq!(registers["VGT_STRMOUT_BUFFER_EN"]["value"], 3);
        assert_eq!(registers["VGT_STRMOUT_VTX_STRIDE_0"]["value"], 9);
        // A vertex that does not fit its stride is refused, and so is one that begins within a dword.
        let wrong = [
            ("[36,16]", "[32,16]", "bytes of a vertex in its stream-out buffer: 36 needed, 32"),
            (r#""offset":20"#, r#""offset":18"#, "beyond a dword: 2 needed, 0"),
            (r#""buffer":1"#, r#""buffer":4"#, "stream-out buffers: 5 needed, 4"),
        ];
        for (from, to, message) in wrong {
            let right = std::fs::read_to_string(&state).expect("written");
            let state = folder.write("wrong.json", right.replace(from, to));
            let output = gpucc(&["--target", target, "--pipeline", &state, &shader]);
            assert_eq!(output.status.code(), Some(4), "{}", text(&output));
            assert!(text(&output).contains(message), "{}", text(&output));
        }
    }
}

/// Verifies a compute shader on R700 under a pipeline and gives its assembly.
fn verified(name: &str, source: &str, pipeline: &str) -> String {
    let folder = Folder::new(name);
    let shader = folder.write("program.wgsl", source);
    let pipeline = folder.write("pipeline.json", pipeline);
    let with = ["--target", "r700", "--pipeline", &pipeline, &shader];
    let output = gpucc(&[&["verify", "--inputs", "16"][..], &with].concat());
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains(" 0 mismatches"), "{}", text(&output));
    text(&gpucc(&with))
}

/// Asks for the data share.
const SHARE: &str = r#"{"local_data_share": true}"#;

const OUT: &str = "@group(0) @binding(0) var<storage, read_write> out: array<vec4u>;\n";

#[test]
fn variables_whose_slots_have_owners_live_in_the_data_share_on_request() {
    let cases = [
        (
            "words",
            "var<workgroup> w: array<u32, 64>;
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32,
                @builtin(global_invocation_id) g: vec3u) {
              w[i] = g.x * 3; workgroupBarrier(); out[g.x].x = w[(g.x * 7) % 64]; }",
        ),
        (
            "slots_of_three_words_at_places_of_a_plane",
            "struct S { a: u32, b: u32, c: f32 }
            var<workgroup> w: array<S, 24>;
            @compute @workgroup_size(6, 4) fn main(@builtin(local_invocation_id) i: vec3u,
                @builtin(global_invocation_id) g: vec3u) {
              w[i.y * 6 + i.x] = S(g.x, g.y, 1.0); workgroupBarrier();
              let s = w[23 - i.x - i.y * 6]; out[g.y * 24 + g.x] = vec4u(s.a, s.b, u32(s.c), 0); }",
        ),
        (
            "two_variables_of_rows",
            "var<workgroup> a: array<vec4u, 32>;
            var<workgroup> b: array<array<u32, 6>, 32>;
            @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32,
                @builtin(global_invocation_id) g: vec3u) {
              a[i] = vec4u(g.x, 1, 2, g.x + 3); b[i][1] = g.x; b[i][5] = 7 * g.x;
              if i > 20 { a[i].y = 77u; }
              workgroupBarrier();
              out[g.x] = a[31 - i] + vec4u(b[i ^ 1][5], b[i ^ 2][1], b[i ^ 3][0], 0); }",
        ),
    ];
    for (name, source) in cases {
        let source = format!("{OUT}{source}");
        let asm = verified(name, &source, "{}");
        assert!(asm.contains("READ_MEM") && !asm.contains("DS_LOCAL"), "{name}: {asm}");
        let asm = verified(name, &source, SHARE);
        for op in ["DS_LOCAL_WRITE", "DS_LOCAL_READ"] {
            assert!(asm.contains(op), "{name}: {asm}");
        }
        assert!(!asm.contains("READ_MEM"), "{name}: {asm}");
    }
}

#[test]
fn variables_that_others_write_live_in_the_scatter_aperture() {
    let asm = verified(
        "others",
        &format!(
            "{OUT}var<workgroup> w: array<u32, 32>;
            @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32,
                @builtin(global_invocation_id) g: vec3u) {{
              w[31 - i] = g.x * 3; workgroupBarrier(); out[g.x].x = w[i]; }}"
        ),
        SHARE,
    );
    assert!(asm.contains("READ_MEM") && !asm.contains("DS_LOCAL"), "{asm}");
}

#[test]
fn invocations_that_never_meet_may_be_more_than_a_wavefront() {
    let folder = Folder::new("met");
    let source = format!(
        "{OUT}var<workgroup> w: array<u32, 200>;
        @compute @workgroup_size(200) fn main(@builtin(local_invocation_index) i: u32,
            @builtin(global_invocation_id) g: vec3u) {{
          w[i] = g.x * 3; w[i] += 5; out[g.x].x = w[i]; }}"
    );
    verified("alone", &source, SHARE);
    let met = source.replace("w[i] += 5;", "workgroupBarrier();");
    let output = gpucc(&["--target", "r700", &folder.write("met.wgsl", &met)]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
}

const TORN: &str = "#version 450
layout(location = 0) in vec2 uv;
layout(location = 1) in float side;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform texture2D image;
layout(set = 0, binding = 1) uniform sampler linear;
void main() {
    color = vec4(0.0);
    for (int i = 0; i < 4; i += 1) {
        if (side > float(i)) {
            vec2 at = uv * side + vec2(float(i));
            color += texture(sampler2D(image, linear), at);
        }
    }
}";

#[test]
fn a_sample_in_a_torn_quad_has_some_level_of_detail_and_is_no_fault() {
    let folder = Folder::new("torn");
    let shader = folder.write("torn.frag", TORN);
    for target in ["r700", "r600", "valhall"] {
        let output = gpucc(&["verify", &shader, "--target", target]);
        assert!(output.status.success(), "{}", text(&output));
        assert!(text(&output).contains("0 mismatches"), "{}", text(&output));
    }
}

#[test]
fn cull_distances_leave_behind_the_clip_distances_and_are_enabled_as_such() {
    let folder = Folder::new("cull");
    let shader = folder.write(
        "cull.vert",
        "#version 450
layout(location = 0) in vec4 p;
out float gl_CullDistance[3];
out float gl_ClipDistance[2];
void main() {
    gl_Position = p;
    gl_CullDistance[0] = p.z; gl_CullDistance[1] = p.w; gl_CullDistance[2] = p.x - 1.0;
    gl_ClipDistance[0] = p.x; gl_ClipDistance[1] = p.y;
}",
    );
    for target in ["r700", "r600"] {
        let output = gpucc(&["verify", "--target", target, "--inputs", "4", &shader]);
        assert!(output.status.success(), "{}", text(&output));
        let output = gpucc(&["--target", target, "--emit", "json", &shader]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let control = &report["shaders"][0]["state"]["PA_CL_VS_OUT_CNTL"]["value"];
        // Distances 0 and 1 clip, 2 to 4 cull, and both vectors are there.
        assert_eq!(*control, 0b11 | 0b11100 << 8 | 0b11 << 22);
    }
}

#[test]
fn a_mask_without_the_one_sample_kills_its_pixel() {
    let source = "@fragment fn main(@location(0) @interpolate(flat) m: u32) -> Out { return Out(vec4f(1.0), m); }
        struct Out { @location(0) color: vec4f, @builtin(sample_mask) mask: u32 };";
    let kills = |pipeline: &str| {
        let folder = Folder::new("mask");
        let (path, state) = (folder.write("mask.wgsl", source), folder.write("p.json", pipeline));
        for target in ["r600", "r700"] {
            let args = ["verify", &path, "--target", target, "--pipeline", &state];
            assert!(gpucc(&args).status.success(), "{target} {pipeline}");
        }
        text(&gpucc(&[&path, "--target", "r700", "--pipeline", &state])).contains("KILL")
    };
    let target = r#"{"format":"rgba8unorm"}"#;
    assert!(kills("{}"));
    assert!(kills(&format!(r#"{{"fragment":{{"targets":[{target}],"samples":1}}}}"#)));
    assert!(!kills(&format!(r#"{{"fragment":{{"targets":[{target}],"samples":4}}}}"#)));
}

/// The proof compares with the program behind the pass that kills, so what is drawn is looked at.
#[test]
fn pixels_without_their_one_sample_are_not_drawn() {
    let source = "@vertex fn v(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
            return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
        }
        @fragment fn f(@builtin(position) at: vec4f) -> Out { return Out(vec4f(1.0), u32(at.x)); }
        struct Out { @location(0) color: vec4f, @builtin(sample_mask) mask: u32 };";
    let folder = Folder::new("drawn");
    let (path, out) = (folder.write("mask.wgsl", source), folder.path("out.png"));
    for target in ["interp", "r600", "r700"] {
        let args =
            ["render", &path, "--target", target, "--size", "8x8", "--draw", "3", "-o", &out];
        let output = gpucc(&args);
        assert!(output.status.success(), "{target}: {}", text(&output));
        for (number, pixel) in pixels(&out).chunks_exact(4).enumerate() {
            if number % 2 == 1 {
                assert_eq!(pixel, [255; 4], "{target}: {number}");
            } else {
                assert_eq!(pixel[..3], [0; 3], "{target}: {number}");
            }
        }
    }
}

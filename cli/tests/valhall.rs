//! Valhall's graphics and bindings: each program is compiled, its bytes run on the strict emulator, and
//! the results compared with the interpreter's, with uniforms loaded and pushed.

use crate::common::{Folder, gpucc, text};
use gpucc::pipeline::Uniforms;
use gpucc::{Options, Source, Stage, Target};

/// Verifies every entry point of a source on Valhall.
fn verified(name: &str, source: Source<'_>, uniforms: Uniforms) {
    let mut options = Options::default();
    options.pipeline.uniforms = uniforms;
    crate::common::verified(Target::VALHALL, options, name, source);
}

macro_rules! holds {
    ($($(#[$doc:meta])* $name:ident $file:literal;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            let text = include_str!(concat!("valhall/", $file));
            verified($file, Source::Wgsl(text), Uniforms::Loaded);
            verified($file, Source::Wgsl(text), Uniforms::Pushed);
        }
    )*};
}

holds! {
    both_sources_of_a_blend_reach_their_registers "dual_source.wgsl";
    several_targets_depth_and_mask_leave_with_every_input_read "outputs.wgsl";
    textures_of_every_kind_are_sampled_gathered_loaded_and_asked "textures.wgsl";
    storage_textures_are_loaded_and_stored_in_their_formats "images.wgsl";
    bindings_by_elements_known_at_run_time_and_texel_atomics "arrays.wgsl";
    words_of_64_bits_and_floats_change_atomically "atomics.wgsl";
    texels_of_64_bits_are_loaded_stored_and_changed_atomically "wide_texels.wgsl";
    floats_are_added_and_bounded_atomically "float_atomics.wgsl";
    programs_change_memory_where_a_pixel_or_vertex_does "effects.wgsl";
    a_direction_of_zeroes_is_a_corner_of_a_face "no_direction.wgsl";
    outputs_written_on_some_paths_are_zero_on_the_others "flow.wgsl";
    position_and_varying_programs_agree_with_the_whole "vertex.wgsl";
    half_precision_attributes_varyings_and_colours "half.wgsl";
    pairs_of_halves_stand_at_any_even_byte "half_pairs.wgsl";
    both_vertex_programs_find_their_tables_of_constants "tables.wgsl";
    lanes_of_a_warp_exchange_values_also_where_some_have_parted "subgroups.wgsl";
}

#[test]
fn a_pixel_knows_its_place_in_a_point() {
    let text = "#version 450
layout(location = 0) out vec4 color;
void main() {
    vec2 from_center = gl_PointCoord - vec2(0.5);
    color = vec4(gl_PointCoord, dot(from_center, from_center), gl_FragCoord.z);
}";
    verified("point.frag", Source::Glsl(text, Stage::Fragment), Uniforms::Loaded);
}

const CAPTURED: &str = "
struct Out {
    @builtin(position) position: vec4f,
    @location(0) smooth_one: vec3f,
    @location(2) @interpolate(flat) number: vec2u,
    @location(3) @interpolate(linear) flat_on_screen: f32,
}
@vertex
fn main(@location(0) p: vec4f, @builtin(vertex_index) v: u32, @builtin(instance_index) i: u32) -> Out {
    var out: Out;
    out.position = p;
    out.smooth_one = p.xyz * 2.0;
    if v % 3u != 1u {
        out.number = vec2u(v, i);
    }
    out.flat_on_screen = p.x + 1.0;
    return out;
}";

#[test]
fn outputs_that_the_pipeline_streams_are_stored_before_fixed_function_sees_them() {
    let folder = Folder::new("stream");
    let shader = folder.write("stream.wgsl", CAPTURED);
    // A stride that is a power of two, one that is not, and an offset beyond STORE's own.
    let state = folder.write(
        "stream.json",
        r#"{"vertex":{"stream":{"strides":[32,36,0,40000],"outputs":[{"buffer":0,"offset":0},
            {"location":0,"buffer":1,"offset":20},{"location":2,"buffer":0,"offset":16},
            {"location":3,"buffer":1,"offset":4},{"location":0,"buffer":3,"offset":39988},
            {"location":9,"buffer":3,"offset":0}]}}}"#,
    );
    let args = ["--target", "valhall", "--pipeline", &state, &shader];
    let output = gpucc(&[&["verify", "--inputs", "8"][..], &args].concat());
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains(" 0 mismatches"), "{}", text(&output));
    let output = gpucc(&[&args[..], &["--emit", "json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let shader_report = &report["shaders"][0];
    let fau = shader_report["driver_constants"].as_array().expect("a list");
    let at = |what: &str, buffer: u64, high: bool| {
        let wanted = |word: &serde_json::Value| {
            word["what"] == what && word["buffer"] == buffer && word["high"] == high
        };
        fau.iter().position(wanted).expect("a word of it")
    };
    for buffer in [0, 1, 3] {
        let low = at("stream_address", buffer, false);
        assert_eq!(low % 2, 0);
        assert_eq!(at("stream_address", buffer, true), low + 1);
    }
    let captured: Vec<_> = shader_report["outputs"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|output| output["place"] == "transform_feedback")
        .collect();
    assert_eq!(captured.len(), 5, "nobody writes location 9");
    let wrong = [
        ("[32,36,", "[32,31,", "32 needed, 31"),
        (r#""offset":16"#, r#""offset":18"#, "2 needed, 0"),
        (r#""buffer":0,"offset":16"#, r#""buffer":4,"offset":16"#, "5 needed, 4"),
    ];
    for (from, to, message) in wrong {
        let right = std::fs::read_to_string(&state).expect("written");
        assert!(right.contains(from));
        let state = folder.write("wrong.json", right.replacen(from, to, 1));
        let shader = folder.path("stream.wgsl");
        let output = gpucc(&["--target", "valhall", "--pipeline", &state, &shader]);
        assert_eq!(output.status.code(), Some(4), "{}", text(&output));
        assert!(text(&output).contains(message), "{}", text(&output));
    }
}

#[test]
fn cull_distances_are_numbered_behind_the_clip_distances_and_leave_by_attributes() {
    let source = "#version 450
layout(location = 0) in vec4 p;
layout(location = 0) out vec2 v;
out float gl_CullDistance[3];
out float gl_ClipDistance[2];
void main() {
    gl_Position = p;
    v = p.xy;
    gl_CullDistance[0] = p.z; gl_CullDistance[1] = p.w; gl_CullDistance[2] = p.x - 1.0;
    gl_ClipDistance[0] = p.x; gl_ClipDistance[1] = p.y;
}";
    verified("cull.vert", Source::Glsl(source, Stage::Vertex), Uniforms::Loaded);
    let folder = Folder::new("cull");
    let shader = folder.write("cull.vert", source);
    let output = gpucc(&["--target", "valhall", "--emit", "json", &shader]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let outputs = report["shaders"][0]["outputs"].as_array().expect("a list");
    let of = |name: &str| {
        let found = outputs.iter().find(|output| output["builtin"] == name);
        found.unwrap_or_else(|| panic!("{name}: {outputs:?}"))
    };
    assert_eq!(of("clip_distances_0")["components"], 2);
    // Two of the three fill the first four up.
    assert_eq!(of("cull_distances_2")["components"], 2);
    assert_eq!(of("cull_distances_4")["components"], 1);
    assert_eq!(of("cull_distances_2")["place"], "attribute");
    assert!(text(&output).contains("has cull distances"), "{}", text(&output));
}

#[test]
fn sums_of_floats_are_compared_where_no_order_of_their_terms_rounds() {
    let folder = Folder::new("sums");
    let shader = folder.write(
        "sums.comp",
        "#version 450
#extension GL_EXT_shader_atomic_float2 : enable
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer Words { float least; float most; float sum; float total; };
layout(std430, set = 0, binding = 1) readonly buffer Terms { float terms[]; };
shared float group;
void main() {
    float term = terms[gl_GlobalInvocationID.x];
    if (gl_LocalInvocationIndex == 0u) group = 0.0;
    barrier();
    atomicMin(least, term); atomicMax(most, term); atomicAdd(sum, term); atomicAdd(group, term * 0.5);
    barrier();
    if (gl_LocalInvocationIndex == 0u) atomicAdd(total, group);
}",
    );
    let args = ["verify", "--target", "valhall", "--inputs", "16", &shader];
    let output = text(&gpucc(&args));
    assert!(output.contains(" 0 mismatches"), "{output}");
    let racy = output.split("racy words ").nth(1).and_then(|rest| rest.split(',').next());
    let racy: u32 = racy.and_then(|racy| racy.parse().ok()).expect("a number");
    // Two sums and those of four workgroups are left out but for every fourth input; minima and maxima never.
    assert!(racy > 0 && racy <= (2 + 4) * 12, "{racy}");
}

#[test]
fn storage_textures_that_lanes_choose_are_served_one_choice_after_the_other() {
    let folder = Folder::new("choices");
    let shader = folder.write(
        "choices.wgsl",
        "enable wgpu_binding_array;
@group(0) @binding(0) var images: binding_array<texture_storage_2d<r32uint, read_write>, 4>;
@group(0) @binding(1) var<storage, read_write> which: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) i: vec3u) {
    let texel = textureLoad(images[which[i.x] & 3u], vec2u(i.x & 7u, 0u));
    textureStore(images[(which[i.x] + 1u) & 3u], vec2u(i.x & 7u, 1u + (i.x >> 3u)), texel + i.x);
}",
    );
    let output = text(&gpucc(&["verify", "--target", "valhall", "--inputs", "16", &shader]));
    assert!(output.contains(" 0 mismatches"), "{output}");
}

#[test]
fn an_end_that_depends_on_the_order_of_invocations_is_no_mismatch() {
    let folder = Folder::new("race");
    let shader = folder.write(
        "race.wgsl",
        "@group(0) @binding(0) var<storage, read_write> word: i32;
@compute @workgroup_size(1)
fn main() {
    var i = word;
    loop { if i > 10 && i < 100 { break; } if i > 32 { i /= 2; } else { i *= 2; } }
    word = i;
}",
    );
    let output = text(&gpucc(&["verify", "--target", "valhall", "--inputs", "16", &shader]));
    assert!(output.contains(" 0 mismatches"), "{output}");
}

#[test]
fn the_position_program_of_draws_without_points_stores_no_point_size() {
    let folder = Folder::new("points");
    let shader = folder.write(
        "points.vert",
        "#version 450
layout(location = 0) in vec4 p;
layout(location = 0) out vec2 v;
void main() { gl_Position = p; v = p.yx; if (p.x > 0.0) gl_PointSize = p.y * 4.0; }",
    );
    let without = folder.write("without.json", r#"{"vertex":{"without_points":true}}"#);
    let stores = |arguments: &[&str]| {
        let all = [&["--target", "valhall", &shader][..], arguments].concat();
        let verified = gpucc(&[&["verify"][..], &all].concat());
        assert!(verified.status.success(), "{}", text(&verified));
        text(&gpucc(&all)).matches("STORE.i16.istream").count()
    };
    assert_eq!(stores(&[]), 1);
    assert_eq!(stores(&["--pipeline", &without]), 0);
}

/// A colour of f32 leaves as f16 where that is exact and shorter, and as what it is elsewhere.
#[test]
fn colours_that_halves_hold_leave_as_halves() {
    let folder = Folder::new("half-colours");
    let picked = "select(vec4f(0.0, 1.0, 0.0, 1.0), vec4f(0.5, 1.0, 0.0, 1.0), p.x > 3.0)";
    for (colour, halves) in [
        ("vec4f(1.0, -0.0, 65504.0, -0.000061035156)", true),
        (picked, true),
        ("vec4f(1.0, 0.0, 0.1, 1.0)", false),
        ("vec4f(1.0, 0.0, 65505.0, 1.0)", false),
        // A denormal of f16.
        ("vec4f(1.0, 0.0, 0.000030517578, 1.0)", false),
        ("vec4f(1.0, 0.0, p.x, 1.0)", false),
    ] {
        let source = format!(
            "@fragment fn fs(@builtin(position) p: vec4f) -> @location(0) vec4f {{ return {colour}; }}"
        );
        verified("colour.wgsl", Source::Wgsl(&source), Uniforms::Loaded);
        let shader = folder.write("colour.wgsl", &source);
        let done = gpucc(&[&shader, "--target", "valhall"]);
        let code = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(code.contains("BLEND.slot0.v4.f16"), halves, "{colour}: {code}");
    }
    // Two sources of blending have one format.
    let source = "enable dual_source_blending;\n\
        struct Out { @location(0) @blend_src(0) a: vec4f, @location(0) @blend_src(1) b: vec4f }\n\
        @fragment fn fs() -> Out { return Out(vec4f(1.0), vec4f(0.0)); }";
    let shader = folder.write("two.wgsl", source);
    let code = gpucc(&[&shader, "--target", "valhall"]).stdout;
    assert!(String::from_utf8_lossy(&code).contains("BLEND.slot0.v4.f32"));
}

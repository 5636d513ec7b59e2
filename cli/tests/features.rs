//! What R700 has only in another form: each program is compiled, its bytes run on the strict emulator,
//! and the results compared with the interpreter's on random and boundary inputs.

use gpucc::{Options, Source, Stage, Target};

/// Verifies every entry point of a source on R700.
fn verified(name: &str, source: Source<'_>) {
    crate::common::verified(Target::R700, Options::default(), name, source);
}

/// A fragment program around an expression of type vec4f that reads `t`, `s`, `uv`, `n` and `k`.
fn fragment(texture: &str, sampler: &str, expression: &str) -> String {
    format!(
        "@group(0) @binding(0) var t: {texture};
         @group(0) @binding(1) var s: {sampler};
         struct U {{ k: vec4f, i: vec4i }}
         @group(0) @binding(2) var<uniform> u: U;
         @fragment fn main(@location(0) uv: vec2f, @location(1) n: vec3f) -> @location(0) vec4f {{
             let k = u.k; let i = u.i;
             return {expression};
         }}"
    )
}

fn check_fragments(cases: &[(&str, &str, &str)]) {
    for (texture, sampler, expression) in cases {
        let source = fragment(texture, sampler, expression);
        verified(expression, Source::Wgsl(&source));
    }
}

#[test]
fn gathers_are_four_point_samples() {
    check_fragments(&[
        ("texture_2d<f32>", "sampler", "textureGather(2, t, s, uv)"),
        ("texture_2d<f32>", "sampler", "textureGather(0, t, s, uv, vec2i(3, -2))"),
        ("texture_2d<u32>", "sampler", "vec4f(textureGather(1, t, s, uv))"),
        ("texture_2d_array<f32>", "sampler", "textureGather(3, t, s, uv, i.x)"),
        ("texture_cube<f32>", "sampler", "textureGather(1, t, s, n)"),
        ("texture_cube_array<f32>", "sampler", "textureGather(1, t, s, n, i.y)"),
        ("texture_depth_2d", "sampler", "textureGather(t, s, uv)"),
        ("texture_depth_2d", "sampler_comparison", "textureGatherCompare(t, s, uv, k.x)"),
        (
            "texture_depth_2d_array",
            "sampler_comparison",
            "textureGatherCompare(t, s, uv, i.x, k.x)",
        ),
        ("texture_depth_cube", "sampler_comparison", "textureGatherCompare(t, s, n, k.x)"),
    ]);
}

#[test]
fn cubes_are_sampled_on_their_faces() {
    check_fragments(&[
        ("texture_cube<f32>", "sampler", "textureSample(t, s, n)"),
        ("texture_cube<f32>", "sampler", "textureSampleBias(t, s, n, k.x)"),
        ("texture_cube<f32>", "sampler", "textureSampleLevel(t, s, n, k.y)"),
        ("texture_cube<f32>", "sampler", "textureSampleGrad(t, s, n, k.xyz, k.zyw)"),
        ("texture_cube_array<f32>", "sampler", "textureSample(t, s, n, i.x)"),
        ("texture_cube_array<f32>", "sampler", "textureSampleGrad(t, s, n, i.y, k.xyz, k.zyw)"),
        ("texture_depth_cube", "sampler_comparison", "vec4f(textureSampleCompare(t, s, n, k.x))"),
        (
            "texture_depth_cube_array",
            "sampler_comparison",
            "vec4f(textureSampleCompareLevel(t, s, n, i.z, k.x))",
        ),
        (
            "texture_cube_array<f32>",
            "sampler",
            "textureSample(t, s, n, 0) + vec4f(f32(textureNumLayers(t)), vec3f(vec3u(textureDimensions(t, 1), textureNumLevels(t))))",
        ),
    ]);
}

#[test]
fn clamped_samples_and_multisampled_loads_have_their_way() {
    check_fragments(&[
        ("texture_2d<f32>", "sampler", "textureSampleBaseClampToEdge(t, s, uv * 1.5)"),
        (
            "texture_multisampled_2d<f32>",
            "sampler",
            "textureLoad(t, vec2i(uv * 8.0), i.x & 3) + f32(textureNumSamples(t))",
        ),
        (
            "texture_depth_multisampled_2d",
            "sampler",
            "vec4f(textureLoad(t, vec2i(uv * 8.0), i.x & 3))",
        ),
    ]);
}

#[test]
fn a_level_or_a_sample_that_no_texture_has_gives_zeros() {
    check_fragments(&[
        ("texture_2d<f32>", "sampler", "textureLoad(t, vec2i(uv * 8.0), 256)"),
        ("texture_2d<f32>", "sampler", "textureLoad(t, vec2i(uv * 8.0), i.x * 256)"),
        ("texture_multisampled_2d<f32>", "sampler", "textureLoad(t, vec2i(uv * 8.0), i.x * 256)"),
    ]);
}

#[test]
fn comparisons_take_a_bias_a_level_or_gradients() {
    // No source language of ours makes these, so they are written in our own text.
    for (dims, arrayed, kind, rest) in [
        ("2d", "", "bias", 1),
        ("2d", "", "level", 1),
        ("2d", "", "grad", 4),
        ("2d", " arrayed", "bias", 1),
        ("2d", " arrayed", "level", 1),
        ("2d", " arrayed", "grad", 4),
        ("cube", "", "bias", 1),
        ("cube", "", "level", 1),
        ("cube", "", "grad", 6),
        ("cube", " arrayed", "level", 1),
    ] {
        let coords = if dims == "cube" { 3 } else { 2 };
        let mut lines = String::new();
        let mut args = Vec::new();
        for k in 0..coords {
            args.push(format!("%{k}"));
        }
        if !arrayed.is_empty() {
            lines.push_str("  %20: b32 = const 0x1\n");
            args.push("%20".into());
        }
        args.push("%3".into());
        for k in 0..rest {
            args.push(format!("%{}", 4 + k % 3));
        }
        let text = format!(
            r#"func "main" fragment {{
  res0 = "t" group 0 binding 0 texture {}{arrayed} depth as f32
  res1 = "s" group 0 binding 1 sampler comparison as f32
  in0 = "n" f32 x 4 location 0 perspective center
  in1 = "k" f32 x 4 location 1 flat center
  out0 = "o" f32 x 1 location 0 perspective
}} body {{
{lines}  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in0.2
  %3: b32 = input in0.3
  %4: b32 = input in1.0
  %5: b32 = input in1.1
  %6: b32 = input in1.2
  %9: b32 = tex {kind} res0 res1 compare, {}
  output out0.0, %9
  yield
}}
"#,
            if dims == "2d" { "d2" } else { dims },
            args.join(", ")
        );
        verified(&format!("{kind} of {dims}{arrayed}"), Source::Ir(&text));
    }
}

#[test]
fn storage_textures_are_linear_surfaces_of_dwords() {
    for (format, texel) in [
        ("r32float", "f32"),
        ("r32uint", "u32"),
        ("rg32sint", "i32"),
        ("rgba32float", "f32"),
        ("rgba8unorm", "f32"),
        ("rgba8snorm", "f32"),
        ("rgba8uint", "u32"),
        ("rgba8sint", "i32"),
        ("rgba16float", "f32"),
        ("rgba16uint", "u32"),
        ("rgba16sint", "i32"),
        ("bgra8unorm", "f32"),
    ] {
        for (dim, place) in [
            ("2d", "vec2i(id.xy) + v.xy"),
            ("3d", "vec3i(id) + v.xyz"),
            ("2d_array", "vec2i(id.xy), v.z"),
            ("1d", "i32(id.x) + v.x"),
        ] {
            let source = format!(
                "@group(0) @binding(0) var image: texture_storage_{dim}<{format}, write>;
                 struct U {{ v: vec4i, f: vec4f }}
                 @group(0) @binding(1) var<uniform> u: U;
                 @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {{
                     let v = u.v & vec4i(7);
                     let texel = vec4<{texel}>(u.f * vec4f(f32(id.x) + 0.5));
                     textureStore(image, {place}, texel);
                 }}"
            );
            verified(&format!("{format} {dim}"), Source::Wgsl(&source));
        }
    }
}

#[test]
fn storage_textures_are_read_where_they_were_written() {
    verified(
        "read and write",
        Source::Wgsl(
            "@group(0) @binding(0) var image: texture_storage_2d<r32float, read_write>;
             @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
                 let size = textureDimensions(image);
                 if id.x >= 32u { return; }
                 let at = vec2u(id.x % size.x, id.x / size.x);
                 let old = textureLoad(image, at);
                 textureStore(image, at, old * 2.0 + vec4f(f32(size.y)));
                 let again = textureLoad(image, at);
                 textureStore(image, vec2u(at.x, at.y + 4u), again + textureLoad(image, vec2u(99u)));
             }",
        ),
    );
    verified(
        "read alone",
        Source::Wgsl(
            "@group(0) @binding(0) var image: texture_storage_2d<rgba8unorm, read>;
             @group(0) @binding(1) var<storage, read_write> out: array<vec4f>;
             @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
                 out[id.x] = textureLoad(image, vec2u(id.x, 1u)) + f32(textureDimensions(image).x);
             }",
        ),
    );
}

#[test]
fn an_element_of_an_array_of_bindings_is_a_choice_among_all() {
    let textures = Source::Wgsl(
            "enable wgpu_binding_array;
             @group(0) @binding(0) var textures: binding_array<texture_2d<f32>, 3>;
             @group(0) @binding(1) var samplers: binding_array<sampler, 2>;
             @group(0) @binding(2) var<uniform> k: vec4u;
             @fragment fn main(@location(0) uv: vec2f, @location(1) @interpolate(flat) i: u32) -> @location(0) vec4f {
                 let constant = textureSample(textures[1], samplers[0], uv);
                 let uniformly = textureSample(textures[k.x % 3u], samplers[k.y % 2u], uv);
                 let loaded = textureLoad(textures[k.z % 3u], vec2u(k.w % 8u), 0);
                 return constant + uniformly + loaded + f32(textureDimensions(textures[k.w % 3u]).x);
             }",
    );
    let buffers = Source::Glsl(
        "#version 460
            layout(local_size_x = 4) in;
            layout(binding = 0) readonly buffer Words { uint words[]; } lists[3];
            layout(binding = 1) buffer Out { uint all[]; } made;
            layout(binding = 2) uniform Choice { uint of[4]; } choice[2];
            void main() {
                uint i = gl_GlobalInvocationID.x;
                uint k = choice[made.all[0] % 2u].of[i % 4u] % 3u;
                made.all[1u + i] = lists[k].words[i] + uint(lists[k].words.length());
            }",
        Stage::Compute,
    );
    for target in ["r700", "gen4", "g45"] {
        let target = Target::by_name(target).expect("a target");
        crate::common::verified(target, Options::default(), "textures", textures);
        crate::common::verified(target, Options::default(), "buffers", buffers);
    }
}

#[test]
fn one_sampler_serves_arrays_and_textures_of_three_dimensions() {
    verified(
        "layers and depth",
        Source::Wgsl(
            "@group(0) @binding(0) var layers: texture_2d_array<f32>;
             @group(0) @binding(1) var volume: texture_3d<f32>;
             @group(0) @binding(2) var both: sampler;
             @group(0) @binding(3) var arrays: sampler;
             @fragment fn main(@location(0) p: vec3f, @location(1) @interpolate(flat) i: u32) -> @location(0) vec4f {
                 return textureSample(layers, both, p.xy, i) + textureSample(volume, both, p)
                     + textureGather(1, layers, arrays, p.yz, i);
             }",
        ),
    );
}

#[test]
fn immediates_are_read_at_an_index_of_run_time() {
    verified(
        "immediates",
        Source::Wgsl(
            "var<immediate> table: array<vec4f, 4>;
             @group(0) @binding(0) var<storage, read_write> out: array<vec4f>;
             @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
                 out[id.x] = table[id.x % 4u] + table[2];
             }",
        ),
    );
}

#[test]
fn a_word_and_two_halves_are_stored_together() {
    let source = Source::Ir(
        "func \"f\" compute {
           res0 = \"from\" group 0 binding 0 uniform 64 as i32 mixed
           res1 = \"to\" group 0 binding 1 storage 64 load store as i32 mixed
         } body {
           %0: b32 = const 0x8
           %1: b32, %2: b16, %3: b16 = buffer_load res0, %0
           buffer_store res1, %0, %1, %2, %3
           yield
         }",
    );
    for target in ["gen4", "g45", "valhall"] {
        let target = Target::by_name(target).expect("a target");
        crate::common::verified(target, Options::default(), "a word and halves", source);
    }
}

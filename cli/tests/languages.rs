//! GLSL and SPIR-V as people and compilers write them: what each program computes is known, both machines'
//! bytes are proved against the reference on 16 inputs.

use crate::common::{Folder, gpucc, text, verified};
use gpucc::{Choice, Compiler, Options, Source, Stage, Target};

const MACHINES: [Target; 2] = [Target::VALHALL, Target::R700];

#[track_caller]
fn glsl(name: &str, text: &str, stage: Stage) {
    for target in MACHINES {
        verified(target, Options::default(), name, Source::Glsl(text, stage));
    }
}

/// Runs a compute program on the interpreter and on both machines; gives what they all printed.
#[track_caller]
fn run(text: &str, arguments: &[&str]) -> String {
    run_on(text, arguments, &["interp", "valhall", "r700"])
}

#[track_caller]
fn run_on(source: &str, arguments: &[&str], targets: &[&str]) -> String {
    let folder = Folder::new(&format!("{:p}", source));
    let shader = folder.write("program.comp", source);
    printed(&shader, arguments, targets)
}

/// What the targets all print.
#[track_caller]
fn printed(shader: &str, arguments: &[&str], targets: &[&str]) -> String {
    let mut printed: Option<String> = None;
    for target in targets {
        let run = ["run", shader, "--target", target, "--groups", "1"];
        let output = gpucc(&[&run, arguments].concat());
        assert!(output.status.success(), "{target}: {}", text(&output));
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let first = printed.get_or_insert_with(|| text.clone());
        assert_eq!(*first, text, "{target}");
    }
    printed.expect("there are targets")
}

#[test]
fn uniforms_outside_of_blocks_are_members_of_one_block() {
    glsl(
        "loose.frag",
        "#version 330\nuniform vec4 tint = vec4(1.0), offsets[2];\nuniform bool flip; uniform mat3 m;\n\
         #define COUNT 3\nuniform float weights[COUNT];\nstruct Light { vec3 at; float power; };\n\
         uniform Light light;\nin vec3 n; out vec4 color;\n\
         void main() { vec3 v = m * n; if (flip) v = -v; color = tint * vec4(v, weights[2]) + offsets[1];\n\
         color.xyz += light.at * light.power; }",
        Stage::Fragment,
    );
}

#[test]
fn programs_of_the_first_versions_have_their_built_in_variables() {
    glsl(
        "old.vert",
        "attribute vec2 corner;\nvarying vec2 uv;\nuniform mat4 turn;\n\
         void main() { uv = corner; gl_TexCoord[1] = gl_MultiTexCoord0; gl_FrontColor = gl_Color;\n\
         gl_Position = turn * ftransform() + vec4(gl_NormalMatrix * gl_Normal, 0.0); }",
        Stage::Vertex,
    );
    glsl(
        "old.frag",
        "#version 120\n#extension GL_ARB_shadow : enable\nvarying vec2 uv;\nuniform sampler2D t;\n\
         uniform sampler2DShadow s;\nvoid main() { vec4 c = texture2D(t, uv) * gl_Color + gl_TexCoord[1];\n\
         gl_FragColor = c + shadow2D(s, vec3(uv, 0.5)); }",
        Stage::Fragment,
    );
    glsl(
        "data.frag",
        "#version 110\nvoid main() { gl_FragData[0] = vec4(1.0); gl_FragData[1] = gl_FragCoord; }",
        Stage::Fragment,
    );
}

#[test]
fn redeclared_built_in_variables_stay_what_they_are() {
    glsl(
        "block.vert",
        "#version 450\nlayout(location = 0) in vec4 a;\nlayout(location = 0) out vec4 b;\n\
         out gl_PerVertex { vec4 gl_Position; float gl_PointSize; };\nvoid main() { b = a.wzyx; gl_Position = a; }",
        Stage::Vertex,
    );
    glsl(
        "depth.frag",
        "#version 450\nlayout(depth_less) out float gl_FragDepth;\nlayout(origin_upper_left) in vec4 gl_FragCoord;\n\
         layout(location = 0) out vec4 c;\nvoid main() { c = gl_FragCoord; gl_FragDepth = gl_FragCoord.z * 0.5; }",
        Stage::Fragment,
    );
}

#[test]
fn a_subpass_input_is_a_texel_at_the_pixel() {
    glsl(
        "subpass.frag",
        "#version 450\nlayout(input_attachment_index = 0, set = 0, binding = 1) uniform subpassInput one;\n\
         layout(input_attachment_index = 1, binding = 2) uniform usubpassInput two;\n\
         layout(location = 0) out vec4 c;\nvoid main() { c = subpassLoad(one).zyxw + vec4(subpassLoad(two)); }",
        Stage::Fragment,
    );
}

#[test]
fn members_lie_where_the_text_says() {
    let text = "#version 450\nlayout(local_size_x = 1) in;\n\
        layout(set = 0, binding = 0) uniform U { layout(offset = 16) float a; layout(offset = 32) vec4 b; float c; };\n\
        layout(std430, set = 0, binding = 1) coherent writeonly buffer Out { float o[3]; };\n\
        void main() { o[0] = a; o[1] = b.y; o[2] = c; }";
    let words: Vec<String> = (0..16).map(|k| format!("{k}")).collect();
    let set = format!("0.0=f32:{}", words.join(","));
    let printed = run(text, &["--set", &set, "--set", "0.1=zeros:12", "--dump", "0.1:f32"]);
    assert_eq!(printed, "0.1: 4 9 12");
}

#[test]
fn matrices_lie_by_rows_or_in_two_rows_where_the_text_says() {
    let text = "#version 450\nlayout(local_size_x = 1) in;\n\
        layout(std140, set = 0, binding = 0) uniform U { layout(row_major) mat4 r; mat2 s; layout(row_major) mat3x2 t[2]; layout(column_major) mat4 k; } u;\n\
        layout(std430, set = 0, binding = 1) buffer Out { float o[]; };\n\
        void main() { o[0] = u.r[1][2]; o[1] = u.s[1].y; o[2] = u.t[1][2].y; o[3] = u.k[1].x; vec4 v = u.r * vec4(1, 0, 0, 0); o[4] = v.y; }";
    let words: Vec<String> = (0..56).map(|k| format!("{k}")).collect();
    let set = format!("0.0=f32:{}", words.join(","));
    let printed = run(text, &["--set", &set, "--set", "0.1=zeros:20", "--dump", "0.1:f32"]);
    // r: rows of 4 words from 0 on; s: columns of 4 from 16 on; t: two rows of 4 each from 24 on; k from 40 on.
    assert_eq!(printed, "0.1: 9 21 38 44 4");
}

#[test]
fn glsl_includes_from_beside_the_file_and_from_folders_with_macros_of_the_command() {
    let folder = Folder::new("includes");
    std::fs::create_dir(folder.path("lib")).expect("a folder");
    folder.write("near.glsl", "#include <far.glsl>\nfloat near() { return far() + NEAR; }\n");
    folder.write("lib/far.glsl", "#include \"base.glsl\"\nfloat far() { return base(2.0); }\n");
    folder.write("lib/base.glsl", "#define base(x) ((x) * SCALE)\n");
    let source = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"near.glsl\"\nlayout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer Out { float o[]; };\nvoid main() { o[0] = near(); }\n";
    let main = folder.write("main.comp", source);
    let lib = format!("-I{}", folder.path("lib"));
    let run = |more: &[&str]| {
        let args = [
            "run",
            &main,
            "--target",
            "interp",
            "--groups",
            "1",
            "--set",
            "0.0=zeros:4",
            "--dump",
            "0.0:f32",
        ];
        gpucc(&[&args[..], more].concat())
    };
    let done = run(&[&lib, "-DSCALE=3.0", "-D", "NEAR=0.5"]);
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "0.0: 6.5", "{}", text(&done));
    let lost = run(&["-DSCALE=3.0"]);
    assert_eq!(lost.status.code(), Some(1));
    assert!(text(&lost).contains("`far.glsl` cannot be included"), "{}", text(&lost));
    assert!(text(&lost).contains("near.glsl:1:2"), "{}", text(&lost));
    let wrong = run(&[&lib, "-DSCALE=undeclared", "-DNEAR=1.0"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong).contains("lib/far.glsl:2:22"), "{}", text(&wrong));
}

#[test]
fn specialization_constants_size_arrays_and_workgroups() {
    let text = "#version 450\nlayout(local_size_x_id = 7) in;\nlayout(constant_id = 3) const int n = 2;\n\
        layout(constant_id = 4) const float scale = 0.5;\nconst int twice = n * 2;\n\
        layout(std430, set = 0, binding = 0) buffer Out { float o[]; };\n\
        void main() { float a[twice]; for (int i = 0; i < twice; i++) a[i] = float(i) * scale; \
        o[gl_LocalInvocationID.x] = a[twice - 1]; }";
    let set = ["--set", "0.0=zeros:12", "--dump", "0.0:f32"];
    assert_eq!(run(text, &set), "0.0: 1.5 0 0");
    let given = ["--override", "n=4", "--override", "4=2", "--override", "7=3"];
    assert_eq!(run(text, &[&set[..], &given[..]].concat()), "0.0: 14 14 14");
}

#[test]
fn a_negative_value_of_an_unsigned_constant_is_its_bits() {
    let text = "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n\
        layout(local_size_x = 1) in;\nlayout(constant_id = 1) const uint n = 2;\n\
        layout(constant_id = 2) const int64_t wide = 5l;\n\
        layout(constant_id = 3) const uint64_t big = 5ul;\nlayout(local_size_y_id = 4) in;\n\
        layout(std430, set = 0, binding = 0) buffer Out { uint o[]; };\n\
        void main() { o[0] = n; o[1] = uint(wide >> 32); o[2] = uint(wide); o[3] = uint(big >> 32); o[4] = uint(big); }";
    let set = ["--set", "0.0=zeros:20", "--dump", "0.0:u32"];
    let given = ["--override", "n=-1", "--override", "2=-4294967297"];
    let given = [&given[..], &["--override", "big=18446744069414584320"]].concat();
    let printed = run_on(text, &[&set[..], &given[..]].concat(), &["interp", "valhall"]);
    assert_eq!(printed, "0.0: 4294967295 4294967294 4294967295 4294967295 0");
    let folder = Folder::new("constants");
    let shader = folder.write("program.comp", text);
    for (wrong, code, place) in [
        ("4=2.5", 1, ":7:8"),
        ("4=-1", 4, ":7:8"),
        ("1=4294967296", 1, ":4:36"),
        ("big=1e20", 1, ":6:40"),
    ] {
        let output = gpucc(&[&shader, "--target", "interp", "--override", wrong]);
        let said = crate::common::text(&output);
        assert_eq!(output.status.code(), Some(code), "{wrong}: {said}");
        assert!(said.contains(place), "{wrong}: {said}");
    }
}

#[test]
fn what_naga_has_no_instruction_for_is_written_with_others() {
    let module = include_bytes!("languages/gaps.spv");
    for target in MACHINES {
        verified(target, Options::default(), "gaps.spv", Source::SpirV(module));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/languages/gaps.spv");
    // -7, 4 and the bits of 3.3.
    let set = "0.0=u32:4294967289,4,1079194419,0,0,0,0,0,0,0,0,0,0,0,0,0";
    // Carry, borrow, upper words of both products, remainder with the divisor's sign, whole part,
    // fraction and exponent, a truth value, the least, rounded to 16 bits, finite, below NaN, undefined.
    let want = [
        0,
        1,
        3,
        0xffff_ffff,
        1,
        3f32.to_bits(),
        0x3f53_3333,
        2,
        1,
        0xffff_fff9,
        0x4053_4000,
        1,
        0,
        0,
        0,
        0,
    ];
    let want: Vec<String> = want.iter().map(u32::to_string).collect();
    let arguments = ["--set", set, "--dump", "0.1:u32"];
    let found = printed(path, &arguments, &["interp", "valhall", "r700"]);
    assert_eq!(found, format!("0.1: {}", want.join(" ")));
}

#[test]
fn functions_that_naga_lacks_stand_before_the_text() {
    let text = "#version 450\nlayout(local_size_x = 1) in;\n\
        layout(std430, set = 0, binding = 0) readonly buffer In { uint a, b; float x; };\n\
        layout(std430, set = 0, binding = 1) buffer Out { uint o[]; };\n\
        void main() { uint c, m, l; o[0] = uaddCarry(a, b, c); o[1] = c; usubBorrow(b, a, c); o[2] = c;\n\
        umulExtended(a, b, m, l); o[3] = m; o[4] = l; ivec2 im, il; imulExtended(ivec2(a), ivec2(b), im, il);\n\
        o[5] = uint(im.y); float w; float f = modf(x, w); o[6] = uint(w); int e; o[7] = floatBitsToUint(frexp(x, e));\n\
        o[8] = uint(e); o[9] = uint(findMSB(b) + bitCount(a)); o[10] = uint(gl_MaxDrawBuffers); o[11] = floatBitsToUint(x.rrr.y); }";
    let set =
        ["--set", "0.0=u32:4294967289,4,1079194419", "--set", "0.1=zeros:48", "--dump", "0.1:u32"];
    let want =
        [4294967293u32, 0, 1, 3, 4294967268, 4294967295, 3, 0x3f53_3333, 2, 32, 8, 1079194419];
    let want: Vec<String> = want.iter().map(u32::to_string).collect();
    assert_eq!(run(text, &set), format!("0.1: {}", want.join(" ")));
    glsl("functions.comp", text, Stage::Compute);
}

#[test]
fn members_of_blocks_between_stages_have_places_of_their_own() {
    glsl(
        "between.vert",
        "#version 330\nin vec4 p;\nout vec4 before; out Block { vec4 a; vec2 b[2]; } to; out vec4 after;\n\
         out float gl_ClipDistance[2];\n\
         void main() { to.a = p; to.b[1] = p.xy; to.b[0] = p.zw; before = p.wzyx; after = p.yxwz; gl_Position = p;\n\
         gl_ClipDistance[0] = p.x; gl_ClipDistance[1] = p.y; }",
        Stage::Vertex,
    );
}

#[test]
fn words_of_buffers_and_shared_memory_change_atomically_in_glsl() {
    let text = "#version 450\n#extension GL_EXT_shader_atomic_float : require\nlayout(local_size_x = 4) in;\nlayout(binding = 0) uniform atomic_uint hits;\n\
        layout(std430, set = 0, binding = 1) buffer Out { uint sum; int least; uint swapped; float f; uint o[4]; };\n\
        shared uint both;\n\
        void main() { uint i = gl_LocalInvocationIndex; if (i == 0u) both = 5u; barrier();\n\
        atomicAdd(both, i); atomicAdd(sum, i + 1u); atomicMin(least, -int(i)); atomicCompSwap(swapped, 7u, 9u);\n\
        atomicAdd(f, 0.5); atomicCounterIncrement(hits); barrier(); o[i] = both + atomicCounter(hits) * 0u; }";
    let words = concat!(
        "0.1=hex:0a000000",
        "00000000",
        "07000000",
        "00000040",
        "00000000000000000000000000000000"
    );
    let set = ["--set", words, "--set", "0.0=zeros:4", "--dump", "0.0:u32", "--dump", "0.1:hex"];
    // 10 + 1 + 2 + 3 + 4, the least of 0 and -3, 9, 2 + 4 / 2, and 5 + 1 + 2 + 3 for all.
    let want = "0.0: 4\n0.1: 14000000fdffffff09000000000080400b0000000b0000000b0000000b000000";
    assert_eq!(run_on(text, &set, &["interp", "valhall"]), want);
}

#[test]
fn functions_of_subgroups_move_and_combine_values_of_lanes() {
    let program = "#version 450\n#extension GL_KHR_shader_subgroup_arithmetic : require\n\
        layout(local_size_x = 16) in;\nlayout(std430, binding = 0) buffer B { uint words[]; };\n\
        void main() { uint i = gl_SubgroupInvocationID; uvec2 sums = subgroupAdd(uvec2(i, 1u));\n\
        uvec4 odd = subgroupBallot((i & 1u) != 0u);\n\
        if (i == 5u) { words[0] = sums.x; words[1] = sums.y; words[2] = subgroupBallotFindMSB(odd);\n\
        words[3] = subgroupBallotBitCount(odd & gl_SubgroupLtMask); words[9] = gl_SubgroupEqMask.x; }\n\
        uint before = subgroupExclusiveAdd(i); uint far = subgroupShuffleXor(i, 3u);\n\
        uint near = subgroupQuadSwapVertical(i); uint quad = subgroupQuadBroadcast(i, 1u);\n\
        bool same = subgroupAllEqual(i / 16u), other = subgroupAllEqual(vec2(i));\n\
        if (i == 9u) { words[4] = before; words[5] = far; words[6] = near; words[7] = quad;\n\
        words[8] = uint(same) + 2u * uint(other) + 4u * uint(subgroupElect()); } }";
    let words = "0.0=u32:0,0,0,0,0,0,0,0,0,0";
    let printed = run_on(program, &["--set", words, "--dump", "0.0"], &["interp", "valhall"]);
    assert_eq!(printed, "0.0: 120 16 15 2 36 10 11 9 5 32");
}

#[test]
fn a_demoted_invocation_goes_on_for_its_neighbours() {
    glsl(
        "demote.frag",
        "#version 450\n#extension GL_EXT_demote_to_helper_invocation : require\n\
         layout(location = 0) in float x; layout(location = 0) out vec4 c;\n\
         void main() { if (x < 0.0) demote; c = vec4(dFdx(x * x), float(helperInvocationEXT()), x, 1.0); }",
        Stage::Fragment,
    );
}

#[test]
fn four_texels_are_gathered_of_combined_and_separate_textures() {
    glsl(
        "gather.frag",
        "#version 450\nlayout(binding = 0) uniform sampler2D t; layout(binding = 1) uniform usampler2DArray l;\n\
         layout(binding = 2) uniform texture2D u; layout(binding = 3) uniform sampler s;\n\
         layout(location = 0) in vec3 p; layout(location = 0) out vec4 c;\n\
         void main() { c = textureGather(t, p.xy) + textureGather(sampler2D(u, s), p.xy, 2)\n\
         + textureGatherOffset(t, p.xy, ivec2(1, -2), 3) + vec4(textureGather(l, p, 1)); }",
        Stage::Fragment,
    );
}

#[test]
fn arrays_of_textures_and_blocks_are_a_binding_for_each_element() {
    glsl(
        "arrays.frag",
        "#version 450\nlayout(binding = 0) uniform sampler2D t[3];\n\
         layout(binding = 5) uniform B { vec4 tint; } b[2]; layout(location = 0) flat in int i;\n\
         layout(location = 1) in vec2 p; layout(location = 0) out vec4 c;\n\
         void main() { c = texture(t[1], p) * b[1].tint + texture(t[2], p) + b[0].tint; }",
        Stage::Fragment,
    );
}

#[test]
fn masks_of_samples_are_arrays_of_one_word() {
    verified(
        Target::VALHALL,
        Options::default(),
        "mask.frag",
        Source::Glsl(
            "#version 450\nlayout(location = 0) out vec4 c; layout(location = 3) flat in int i;\n\
             void main() { gl_SampleMask[0] = gl_SampleMaskIn[0] & i; c = vec4(1.0); }",
            Stage::Fragment,
        ),
    );
}

#[test]
fn parts_of_a_structure_with_a_runtime_array_are_loaded_alone() {
    let program = "#version 450\nlayout(local_size_x = 1) in;\nstruct S { uint n; uint m[2]; };\n\
        layout(std430, binding = 0) buffer B { S s; uint rest[]; } b;\n\
        void main() { atomicAdd(b.s.m[1], b.s.n); b.rest[0] = b.s.m[0] + uint(b.rest.length());\n\
        memoryBarrier(); if (b.s.n > 5u) memoryBarrierBuffer(); }";
    let arguments = ["--set", "0.0=u32:7,1,2,3,4", "--dump", "0.0"];
    let printed = run_on(program, &arguments, &["interp", "valhall"]);
    assert_eq!(printed, "0.0: 7 1 9 3 4");
}

#[test]
fn variables_in_components_of_one_location_are_parts_of_a_vector() {
    glsl(
        "components.frag",
        "#version 450\nlayout(location = 0, component = 1) in vec2 yz; layout(location = 0, component = 3) in float w;\n\
         layout(location = 0) in float x; layout(location = 0, component = 0) out vec3 rgb;\n\
         layout(location = 0, component = 3) out float a;\n\
         void main() { rgb = vec3(yz.y, x, yz.r); rgb.xy *= yz; a = w; a += rgb.z; }",
        Stage::Fragment,
    );
}

#[test]
fn members_of_blocks_between_stages_have_qualifiers_of_their_own() {
    for (name, instance, before) in [("named.frag", " v", "v."), ("bare.frag", "", "")] {
        let text = format!(
            "#version 450\nin Block {{ flat int i; centroid vec4 c; float f[2]; }}{instance};\nout vec4 color;\n\
             void main() {{ color = {before}c * {before}f[1] + float({before}i); }}"
        );
        glsl(name, &text, Stage::Fragment);
    }
}

#[test]
fn an_array_of_blocks_is_a_binding_for_each_element() {
    let spirv: &[u8] = include_bytes!("languages/blocks.spv");
    let glsl = "#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer Block { uint a; uint b; } blocks[3];
layout(binding = 1) buffer Out { uint a; uint b; } result;
void main() { result.a = blocks[2].b; }
";
    for source in [Source::SpirV(spirv), Source::Glsl(glsl, Stage::Compute)] {
        let compiler = Compiler::new(Target::Interp, None).expect("exists");
        let parsed = compiler.parse(source, Choice::default(), &Options::default());
        let entry = parsed.expect("valid").entries.remove(0);
        let func = entry.func.expect("lowers");
        let shapes: Vec<_> =
            func.resources.values().map(|resource| (resource.binding, resource.count)).collect();
        assert_eq!(shapes, [(0, Some(3)), (1, None)]);
    }
}

#[test]
fn a_member_of_a_named_block_is_no_global_variable() {
    let text = "#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer In { uint word; } given;
uint word = 7u;
layout(binding = 1) buffer Out { uint word; uint other; } result;
void main() { result.other = word; result.word = given.word + word; }
";
    let set = ["--set", "0.0=u32:100", "--set", "0.1=u32:0,0", "--dump", "0.1:u32"];
    assert_eq!(run(text, &set), "0.1: 107 7");
}

#[test]
fn a_macro_for_a_language_without_macros_is_named_in_a_note() {
    let folder = Folder::new("macros");
    let source = folder.write("a.wgsl", "@compute @workgroup_size(1) fn main() {}");
    let done = gpucc(&[&source, "--target", "r700", "-DSCALE=2"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    assert!(text(&done).contains("the macro `SCALE` is not used"), "{}", text(&done));
}

#[test]
fn bytes_of_buffers_and_pointers_along_arrays_are_right() {
    let spirv: &[u8] = include_bytes!("languages/narrow.spv");
    for target in [Target::Interp, Target::VALHALL] {
        verified(target, Options::default(), "narrow.spv", Source::SpirV(spirv));
    }
    let folder = Folder::new("narrow");
    let path = folder.write("narrow.spv", spirv);
    // Signed bytes: 1, -1, -128, 127, 2, 3, -5, 5 and -1, 127, 1, 1, 5, 4, 3, 2.
    let bytes = "0.0=u32:0x7f80ff01,0x05fb0302,0x01017fff,0x02030405,0,0,0,0";
    let words = "0.1=u32:0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";
    for target in ["interp", "valhall"] {
        let run =
            ["run", &path, "--target", target, "--groups", "1", "--set", bytes, "--set", words];
        let output = gpucc(&[&run[..], &["--dump", "0.0", "--dump", "0.1"]].concat());
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.contains("33752069 2130706687 167772160 0 0"), "{shown}");
        assert!(
            shown.contains("2 2 1 2 2 2 2 2 0 126 4294967169 4294967168 7 7 4294967294 7"),
            "{shown}"
        );
    }
    // A byte is stored by atomics on its word.
    let output = gpucc(&[&path, "--target", "r700"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
}

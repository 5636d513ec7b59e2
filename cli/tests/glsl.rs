//! GLSL of every generation: what the page about it says, and what the language's rules refuse.

use crate::common::{Folder, gpucc, pixels, text, verified};
use crate::spirv::lacks_of;
use gpucc::{Options, Source, Stage, Target};
use std::collections::BTreeSet;

const MACHINES: [Target; 3] = [Target::Interp, Target::R700, Target::VALHALL];

#[track_caller]
fn proved(name: &str, text: &str, stage: Stage) {
    for target in MACHINES {
        verified(target, Options::default(), name, Source::Glsl(text, stage));
    }
}

/// What a compute program leaves in buffer 0 of set 0.
#[track_caller]
fn left(source: &str, words: &str) -> String {
    let folder = Folder::new(&format!("{:p}", source));
    let shader = folder.write("program.comp", source);
    let mut printed: Option<String> = None;
    for target in ["interp", "valhall", "r700"] {
        let set = format!("0.0={words}");
        let dump = format!("0.0:{}", words.split(':').next().expect("a type"));
        let args =
            ["run", &shader, "--target", target, "--groups", "1", "--set", &set, "--dump", &dump];
        let done = gpucc(&args);
        assert!(done.status.success(), "{target}: {}", text(&done));
        let own = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        let first = printed.get_or_insert_with(|| own.clone());
        assert_eq!(*first, own, "{target}");
    }
    printed.expect("there are targets")
}

#[test]
fn the_page_of_glsl_lists_what_the_reader_lacks() {
    let root = format!("{}/..", env!("CARGO_MANIFEST_DIR"));
    let folder = std::fs::read_dir(format!("{root}/frontend/src/glsl")).expect("it is there");
    let mut files: Vec<_> = folder.map(|file| file.expect("readable").path()).collect();
    files.extend(
        ["located", "narrow", "quads"]
            .map(|file| format!("{root}/frontend/src/lower/{file}.rs").into()),
    );
    let mut lacks = BTreeSet::new();
    for path in files {
        let source = std::fs::read_to_string(path).expect("text");
        lacks.extend(lacks_of(&source));
        for call in ["Lacking(", "lacking = Some("] {
            for (at, _) in source.match_indices(call) {
                let behind = source[at + call.len()..].trim_start();
                lacks.extend(
                    behind
                        .strip_prefix('"')
                        .and_then(|rest| rest.split('"').next())
                        .map(str::to_owned),
                );
            }
        }
        if let Some((_, table)) = source.split_once("const LACKING") {
            let rows = table.split("];").next().expect("an end").lines();
            lacks.extend(rows.filter_map(|row| row.split('"').nth(3)).map(str::to_owned));
        }
    }
    let page = std::fs::read_to_string(format!("{root}/docs/glsl.md")).expect("it is there");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let rows: BTreeSet<String> = rows.filter(|row| *row != "what").map(str::to_owned).collect();
    assert!(lacks.len() > 30, "few are found: {lacks:?}");
    let missing: Vec<_> = lacks.difference(&rows).collect();
    let stale: Vec<_> = rows.difference(&lacks).collect();
    assert!(missing.is_empty() && stale.is_empty(), "no row: {missing:#?}; no code: {stale:#?}");
}

#[test]
fn arguments_are_copied_in_and_out_in_order() {
    let source = "#version 450\nlayout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer B { int o[8]; };\n\
        int f(inout int a, out int b, in int c) { a += c; b = a * 10; c = 99; return a + b; }\n\
        void main() { int i = 1; int a[3] = int[](5, 6, 7); ivec3 v = ivec3(1, 2, 3);\n\
        o[0] = f(a[i++], v.z, i); o[1] = a[1]; o[2] = v.z; o[3] = i;\n\
        f(v.y, i, i); o[4] = v.y; o[5] = i; int x = 3; o[6] = f(x, x, x); o[7] = x; }";
    // f(6, _, 2): a is 8, z 80. f(2, _, 2): y is 4, i 40. Both results of the last call go to x, the second one last.
    let printed = left(source, "i32:0,0,0,0,0,0,0,0");
    assert_eq!(printed, "0.0: 88 8 80 2 4 40 66 60");
}

#[test]
fn a_text_without_a_main_function_is_wrong_whatever_stage_is_asked_for() {
    let folder = Folder::new("no-main");
    let shader = folder.write("none.frag", "#version 330\nvoid f() { }\n");
    for more in [&["--stage", "fragment"][..], &[]] {
        let done = gpucc(&[&[&*shader, "--target", "interp"], more].concat());
        assert_eq!(done.status.code(), Some(1), "{}", text(&done));
        assert!(text(&done).contains("no function `main` is defined"), "{}", text(&done));
    }
}

#[test]
fn arrays_get_their_lengths_from_uses_and_later_declarations() {
    let source = "#version 450\nlayout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer B { ivec4 v; int o[4]; };\n\
        void main() { int a[]; a[4] = 5; o[0] = a.length(); int b[]; b[1] = 7; int b[6];\n\
        b[5] = 2; o[1] = b.length(); o[2] = b[1] + b[5]; }";
    assert_eq!(left(source, "i32:1,2,3,4,0,0,0,0"), "0.0: 1 2 3 4 5 6 9 0");
}

#[test]
fn a_component_of_a_vector_changes_atomically() {
    let source = "#version 450\nlayout(local_size_x = 64) in;\nlayout(std430, binding = 0) buffer B { ivec4 v; };\n\
        shared uvec2 s; void main() { atomicAdd(v.y, 3); atomicMax(s.y, 5u); }";
    for target in [Target::Interp, Target::VALHALL] {
        verified(target, Options::default(), "atomics.comp", Source::Glsl(source, Stage::Compute));
    }
}

#[test]
fn operands_with_effects_are_evaluated_only_where_they_decide() {
    let source = "#version 450\nlayout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer B { int o[6]; };\nint n;\n\
        bool tick(bool value) { n++; return value; }\n\
        void main() { bool a = tick(false) && tick(true); o[0] = n; bool b = tick(true) || tick(true); o[1] = n;\n\
        bool c = tick(true) ^^ tick(true); o[2] = n; int d = tick(true) ? (n += 10) : (n += 100); o[3] = n;\n\
        o[4] = (n++, n++, n); o[5] = int(a) + 2 * int(b) + 4 * int(c) + d * 8; }";
    assert_eq!(left(source, "i32:0,0,0,0,0,0"), "0.0: 1 2 4 15 17 122");
}

#[test]
fn switches_fall_through_and_loops_of_every_kind_end() {
    let source = "#version 310 es\nlayout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer B { int o[8]; };\n\
        int f(int k) { int r = 0; switch (k) { case 0: r += 1; case 1: r += 10; break; case 2: { r += 100; break; }\n\
        default: r += 1000; case 7: r += 10000; } return r; }\n\
        void main() { for (int k = 0; k < 4; k++) o[k] = f(k); o[4] = f(7); int n = 0;\n\
        do { n++; if (n == 2) continue; if (n > 4) break; } while (n < 10); o[5] = n;\n\
        int m = 0; while (bool(m < 3)) { for (;;) { if (++m > 1) break; } } o[6] = m;\n\
        int s = 0; for (int i = 0, j = 10; i < j; i++, j--) { if ((i & 1) == 1) continue; s += j; } o[7] = s; }";
    assert_eq!(left(source, "i32:0,0,0,0,0,0,0,0"), "0.0: 11 10 100 11000 10000 5 3 24");
}

#[test]
fn matrices_are_made_and_multiplied_as_the_language_says() {
    let source = "#version 450\nlayout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer B { float o[10]; };\n\
        void main() { mat2x3 a = mat2x3(1, 2, 3, 4, 5, 6); mat3 b = mat3(a); mat4 c = mat4(2.0); vec3 v = a * vec2(1, 10);\n\
        o[0] = v.z; vec2 w = vec3(1, 10, 100) * a; o[1] = w.y; o[2] = b[2][2]; o[3] = c[3].w + c[0].y;\n\
        mat3x2 t = transpose(a); o[4] = t[2][1]; a *= 2.0; o[5] = a[1].x; a[0].zx = vec2(7, 8); o[6] = a[0][0] * 10.0 + a[0][2];\n\
        o[7] = determinant(mat2(3, 1, 2, 4)); o[8] = (inverse(mat2(2, 0, 0, 4)))[1][1]; o[9] = outerProduct(vec2(1, 2), vec3(3, 4, 5))[2][1]; }";
    let printed = left(source, "f32:0,0,0,0,0,0,0,0,0,0");
    assert_eq!(printed, "0.0: 63 654 1 2 6 8 87 10 0.25 10");
}

#[test]
fn what_stands_behind_a_function_that_never_returns_is_dead() {
    for (name, body) in [
        ("set", "float f; f = never(); color = vec4(f);"),
        ("tested", "if (v.x > 0.5 && never() > 0.0) color = vec4(1.0); else color = v;"),
        ("chosen", "color = v.x > 0.5 ? vec4(never()) : v;"),
        ("looped", "color = v; for (int i = 0; i < int(never()); i++) color.x += 1.0;"),
        ("argued", "color = vec4(max(never(), never()), v.xyz);"),
    ] {
        let source = format!(
            "#version 450\nlayout(location = 0) in vec4 v; layout(location = 0) out vec4 color;\n\
             float never() {{ discard; color = vec4(2.0); return 1.0; }}\nvoid main() {{ {body} }}"
        );
        proved(&format!("{name}.frag"), &source, Stage::Fragment);
    }
}

#[test]
fn operands_that_the_language_does_not_allow_are_the_user_s_error() {
    for (name, source, rule) in [
        (
            "comma.frag",
            "#version 450\nlayout(binding = 0) uniform sampler2D s;\nvoid f(sampler2D a) { (a, 1); }\nvoid main() { f(s); }",
            "no operand of `,`",
        ),
        (
            "whole.frag",
            "#version 450\nlayout(location = 0) flat in int i; layout(location = 0) out vec4 c;\n\
             void main() { c = vec4(interpolateAtOffset(i, vec2(0.1))); }",
            "an input is interpolated, or a part of one",
        ),
    ] {
        let folder = crate::common::Folder::new("operands");
        let path = folder.write(name, source.as_bytes());
        let done = crate::common::gpucc(&[&path, "--target", "valhall"]);
        assert_eq!(done.status.code(), Some(1), "{}", crate::common::text(&done));
        assert!(crate::common::text(&done).contains(rule), "{}", crate::common::text(&done));
    }
}

#[test]
fn arrays_of_arrays_and_structures_are_values() {
    let source = "#version 450\nlayout(local_size_x = 1) in;\nstruct P { ivec2 a; int b[2]; };\n\
        layout(std430, binding = 0) buffer B { int o[8]; };\n\
        P make(int k) { return P(ivec2(k, k + 1), int[2](k * 2, k * 3)); }\n\
        void main() { P p[2] = P[](make(1), make(10)); P q = p[1]; q.b[1] = 5; bool same = q == p[1];\n\
        o[0] = q.a.y + int(same); int g[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }; o[1] = g[1][2]; o[2] = g.length() * 10 + g[0].length();\n\
        p[0] = q; o[3] = p[0].b[1]; const int k[3] = int[](7, 8, 9); int s = 0; for (int i = 0; i < k.length(); i++) s += k[i]; o[4] = s;\n\
        int h[2][3] = g; h[1][0] = 9; o[5] = g[1][0] * 10 + int(h != g); o[6] = make(4).b[o[0] > 0 ? 1 : 0]; int u[3]; u[2] = 3; o[7] = u[2]; }";
    assert_eq!(left(source, "i32:0,0,0,0,0,0,0,0"), "0.0: 11 6 23 5 24 41 12 3");
}

#[test]
fn conversions_of_vectors_take_the_components_that_are_wanted() {
    let source = "#version 430\nlayout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer B { int o[6]; };\n\
        void main() { ivec2 a = ivec2(bvec3(true, false, true)); o[0] = a.x * 10 + a.y; o[1] = int(vec3(7.9, 1.0, 2.0));\n\
        vec4 v = vec4(ivec2(1, 2), 3u, 4.5); o[2] = int(v.x + v.y * 10.0 + v.z * 100.0); o[3] = int(bool(2)) + int(true);\n\
        bvec3 b = bvec3(vec3(0.0, -1.0, 2.0)); o[4] = int(b.x) + 2 * int(b.y) + 4 * int(b.z); o[5] = int(uint(-1) >> 31); }";
    assert_eq!(left(source, "i32:0,0,0,0,0,0"), "0.0: 10 7 321 2 6 1");
}

#[test]
fn the_fixed_pipeline_s_state_is_uniform() {
    proved(
        "lit.vert",
        "#version 120\nvarying vec4 c;\nvoid main() { vec3 n = normalize(gl_NormalMatrix * gl_Normal);\n\
         float d = max(dot(n, normalize(gl_LightSource[0].position.xyz)), 0.0);\n\
         c = gl_FrontMaterial.diffuse * gl_LightSource[0].diffuse * d + gl_FrontLightModelProduct.sceneColor;\n\
         gl_TexCoord[0] = gl_TextureMatrix[0] * gl_MultiTexCoord0; gl_FogFragCoord = gl_Point.size;\n\
         gl_Position = ftransform(); }",
        Stage::Vertex,
    );
    proved(
        "fog.frag",
        "#version 110\nuniform sampler2D t;\nvoid main() { vec4 c = texture2DProj(t, gl_TexCoord[0]) * gl_Color;\n\
         float f = clamp((gl_Fog.end - gl_FogFragCoord) * gl_Fog.scale, 0.0, 1.0);\n\
         gl_FragColor = vec4(mix(gl_Fog.color.rgb, c.rgb, f), c.a) + gl_SecondaryColor; }",
        Stage::Fragment,
    );
}

#[test]
fn texture_functions_of_every_generation_are_read() {
    proved(
        "old.frag",
        "#version 120\n#extension GL_ARB_texture_rectangle : enable\n#extension GL_ARB_shader_texture_lod : enable\n\
         uniform sampler1D a; uniform sampler3D b; uniform samplerCube c; uniform sampler2DRect r; uniform sampler2DShadow s;\n\
         varying vec4 p;\nvoid main() { gl_FragColor = texture1D(a, p.x) + texture1DProj(a, p.xy) + texture3D(b, p.xyz, 0.5)\n\
         + textureCube(c, p.xyz) + texture2DRect(r, p.xy * 4.0) + shadow2DProj(s, p) + texture1DLod(a, p.x, 1.0); }",
        Stage::Fragment,
    );
    proved(
        "new.frag",
        "#version 450\nlayout(binding = 0) uniform sampler2D t; layout(binding = 1) uniform sampler2DArrayShadow s;\n\
         layout(binding = 2) uniform isampler2DArray i; layout(location = 0) in vec4 p; layout(location = 0) out vec4 c;\n\
         void main() { c = textureOffset(t, p.xy, ivec2(1, -1), 0.5) + textureGrad(t, p.xy, p.zw, p.yx) + textureProjLod(t, p.xyw, 1.0)\n\
         + textureLodOffset(t, p.xy, 0.0, ivec2(2)) + texelFetchOffset(t, ivec2(p.xy), 0, ivec2(1)) + vec4(texture(s, p))\n\
         + vec4(texelFetch(i, ivec3(p.xyz), 0)) + vec4(textureSize(i, 0), textureQueryLevels(t))\n\
         + textureGatherOffsets(t, p.xy, ivec2[4](ivec2(0), ivec2(1), ivec2(2), ivec2(3)), 1); }",
        Stage::Fragment,
    );
}

#[test]
fn the_level_that_a_sampler_would_take_is_asked_for() {
    let source = "#version 450\nlayout(binding = 0) uniform sampler2D t; layout(binding = 1) uniform sampler2DArray a;\n\
        layout(binding = 2) uniform samplerCube c; layout(binding = 3) uniform sampler2DShadow s;\n\
        layout(location = 0) in vec4 p; layout(location = 0) out vec4 o; layout(location = 1) out vec4 q;\n\
        void main() { o = vec4(textureQueryLod(t, p.xy), textureQueryLod(a, p.zw));\n\
        q = vec4(textureQueryLod(c, p.xyz), textureQueryLod(s, p.yx)); }";
    for target in [Target::Interp, Target::R600, Target::R700] {
        verified(target, Options::default(), "level.frag", Source::Glsl(source, Stage::Fragment));
    }
    let folder = Folder::new("level");
    let path = folder.write("level.frag", source);
    let done = gpucc(&[&path, "--target", "r700"]);
    assert!(text(&done).contains("GET_COMP_TEX_LOD"), "{}", text(&done));
    // v10 has force_delta of TEX_GRADIENT; Arm's v9 reserves its bit.
    for target in ["valhall", "g45"] {
        let done = gpucc(&[&path, "--target", target]);
        assert_eq!(done.status.code(), Some(3), "{}", text(&done));
        assert!(text(&done).contains("the level that a sampler would take"), "{}", text(&done));
    }
    let path = folder.write(
        "level.vert",
        "#version 450\nlayout(binding = 0) uniform sampler2D t;\n\
        void main() { gl_Position = textureQueryLod(t, vec2(0.5)).xyxy; }",
    );
    let done = gpucc(&[&path, "--target", "interp"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done));
}

#[test]
fn pointers_to_physical_storage_keep_the_language_s_rules() {
    let folder = Folder::new("references");
    let head = "#version 450\n#extension GL_EXT_buffer_reference2 : require\n\
        #extension GL_EXT_buffer_reference_uvec2 : require\nlayout(local_size_x = 1) in;\n\
        layout(buffer_reference) buffer Later; layout(buffer_reference) readonly buffer Fixed { int i; };\n\
        layout(buffer_reference) buffer Open { int i; };\n\
        layout(buffer_reference) buffer Tail { int i[]; };\n\
        layout(binding = 0) buffer B { Later l; Fixed f; Open o; uvec2 w; };\nvoid main() { ";
    for (body, code, words) in [
        ("o.i = 1;", 0, ""),
        ("o = Open(w); w = uvec2(f); o = Open(f);", 0, ""),
        ("f.i = 1;", 0, ""),
        ("restrict coherent Open p = o; o.i = p.i;", 0, ""),
        ("restrict int p = o.i;", 1, "a variable of a function is not `restrict`"),
        ("o.j = 1;", 1, "has no member `j`"),
        ("l.i = 1;", 1, "the block of `Later` is not declared yet"),
        ("o = f;", 1, "a value of type Open is expected, and this is Fixed"),
        ("o = o * 2;", 1, "`*` does not take Open and int"),
        ("o = Open(1.5);", 1, "Open cannot be made of values"),
        ("o += 1; o -= w.x; o = 2 + o - 1u;", 0, ""),
        ("o++;", 1, "`++` does not take Open"),
        ("o += o;", 1, "`+=` does not take Open and Open"),
        ("o -= o;", 1, "`-=` does not take Open and Open"),
        ("o = 1 - o;", 1, "`-` does not take int and Open"),
        ("w.x = uint(o - f);", 1, "`-` does not take Open and Fixed"),
        ("o *= 2;", 1, "`*=` does not take Open and int"),
        ("Tail t = Tail(w); t += 1;", 1, "`Tail` ends in an array without a length"),
    ] {
        let path = folder.write("rule.comp", format!("{head}{body} }}"));
        let done = gpucc(&[&path, "--target", "interp"]);
        let shown = text(&done);
        assert_eq!(done.status.code(), Some(code), "{body}: {shown}");
        assert!(shown.contains(words), "{body}: {shown}");
    }
}

#[test]
fn arrays_of_bytes_may_have_a_length_that_the_driver_says() {
    let folder = Folder::new("bytes");
    let source = "#version 450\n#extension GL_EXT_shader_8bit_storage : require\n\
        #extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\nlayout(local_size_x = 1) in;\n\
        layout(binding = 0) buffer B { uint n; int8_t b[]; };\n\
        layout(binding = 1) buffer C { uint8_t c[]; } cs[2];\n\
        void main() { n = b.length(); for (int i = 0; i < b.length(); i++) b[i] += int8_t(i);\n\
        cs[n & 1].c[n] = uint8_t(b[1]); cs[0].c[2] += uint8_t(7); }";
    let path = folder.write("bytes.comp", source);
    for target in [Target::Interp, Target::VALHALL] {
        verified(target, Options::default(), "bytes.comp", Source::Glsl(source, Stage::Compute));
    }
    let alone = source.replace("cs[2]", "cs").replace("cs[n & 1]", "cs").replace("cs[0]", "cs");
    folder.write("bytes.comp", alone);
    for target in ["interp", "valhall"] {
        let args = ["run", &path, "--target", target, "--groups", "1", "--dump", "0.0:hex"];
        let given =
            ["--set", "0.0=hex:00000000fc01fe7f04030201", "--set", "0.1=hex:01020304050607ff"];
        let done = gpucc(&[&args[..], &given[..], &["--dump", "0.1:hex"]].concat());
        // Eight elements; an index of 8 is the last byte of the other buffer.
        let shown = text(&done);
        assert!(
            shown.contains("0.0: 08000000fc02008208080808")
                && shown.contains("0.1: 01020a0405060702"),
            "{target}: {shown}"
        );
    }
    // R700 changes no word of a buffer atomically.
    folder.write("bytes.comp", source);
    let done = gpucc(&[&path, "--target", "r700"]);
    assert_eq!(done.status.code(), Some(3), "{}", text(&done));
}

#[test]
fn pointers_are_moved_by_the_size_that_they_are_aligned_to() {
    let folder = Folder::new("moved");
    // Elements of 20 bytes, for the block's own alignment is not counted: 16 + 3 * 20 - 20 = 56 is the second pointer.
    let source = "#version 450\n#extension GL_EXT_buffer_reference2 : require\n\
        #extension GL_EXT_buffer_reference_uvec2 : require\n\
        #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\nlayout(local_size_x = 1) in;\n\
        layout(buffer_reference, std430, buffer_reference_align = 4) buffer P { vec4 a; int i; };\n\
        layout(std430, binding = 0) buffer B { P first; uvec2 moved; uint k; int apart; int back; int sum; };\n\
        void main() { P p = first; p += 3; p -= k; moved = uvec2(p); apart = int(p - first);\n\
        back = int(first - (p + 1)); p = p - 1u; sum = p.i; }";
    let path = folder.write("moved.comp", source);
    for target in MACHINES {
        verified(target, Options::default(), "moved.comp", Source::Glsl(source, Stage::Compute));
    }
    for target in ["interp", "r700", "valhall"] {
        let memory =
            "4294967294.0=i32:0,0,0,0,0,0,0,0,0,0,0,0,0,77,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";
        let args = ["run", &path, "--target", target, "--groups", "1", "--set", memory];
        let given = ["--set", "0.0=i32:16,0,9,9,1,9,9,9", "--dump", "0.0:i32"];
        let done = gpucc(&[&args[..], &given[..]].concat());
        assert!(text(&done).contains("0.0: 16 0 56 0 1 2 -3 77"), "{target}: {}", text(&done));
    }
}

/// Both readers: the module is what glslang makes of the text.
#[test]
fn a_pointer_to_packed_vectors_is_aligned_to_their_scalars() {
    for name in ["packed.comp", "packed.comp.spv"] {
        let path = format!("{}/tests/languages/{name}", env!("CARGO_MANIFEST_DIR"));
        for target in ["interp", "valhall", "r700"] {
            let memory = "4294967294.0=f32:9,9,9,9,9,1,9,9,2,9,9,9,9,9,9,9";
            let args = ["run", &path, "--target", target, "--groups", "1", "--set", memory];
            let given = ["--set", "0.0=i32:20,0,0,0", "--dump", "0.0:f32"];
            let done = gpucc(&[&args[..], &given].concat());
            assert!(text(&done).contains(" 21 0\n"), "{name} on {target}: {}", text(&done));
        }
    }
}

#[test]
fn what_breaks_the_rules_is_the_users_error_at_its_place() {
    let folder = Folder::new("rules");
    let head = "#version 450\nlayout(binding = 0) uniform U { float u; }; layout(binding = 1) writeonly buffer W { float w[4]; }; void both(float a, int b) {} void both(int a, float b) {}\nvoid main() { ";
    for (body, what, part) in [
        ("float x = 1.0; x = true;", "a value of type float is expected, and this is bool", "true"),
        ("const int k = 2; k = 3;", "this is no variable", "k"),
        ("vec3 v = vec3(1.0); v.xx = vec2(1.0);", "a component is written twice", "v.xx"),
        ("int a[2]; a[2] = 1;", "the index 2 is out of the range of int[2]", "2"),
        (
            "vec2 v = vec2(1.0) * vec3(1.0);",
            "`*` does not take vec2 and vec3",
            "vec2(1.0) * vec3(1.0)",
        ),
        ("int i; float i;", "`i` is declared already in this scope", "i"),
        (
            "for (int i = 0; i < 2; i++) { int i = 9; }",
            "`i` is declared already in this scope",
            "i",
        ),
        ("while (bool b = u > 1.0) { int b; }", "`b` is declared already in this scope", "b"),
        ("if (1) discard;", "a condition is a bool, and this is int", "1"),
        ("break;", "`break` stands outside of loops and switches", "break;"),
        ("u = 1.0;", "`U` is not written: it is a uniform", "u"),
        (
            "vec4 v = vec4(1.0, 2.0);",
            "vec4 is made of 4 values, and 2 stand here",
            "vec4(1.0, 2.0)",
        ),
        ("foo();", "there is no function `foo`", "foo"),
        ("return 1;", "this function returns no value", "1"),
        ("switch (1) { case 1: case 1: break; }", "a switch has this label twice", "1"),
        ("float f; f = w[1];", "`W` is writeonly, and it is read", "w[1]"),
        ("float f = w[1];", "`W` is writeonly, and it is read", "w[1]"),
        ("float f = 1.0 + w[1];", "`W` is writeonly, and it is read", "w[1]"),
        ("float f = 1.0 % 2.0;", "`%` does not take float and float", "1.0 % 2.0"),
        ("int i = 08;", "`08` is no number of GLSL", "08"),
        ("both(1, 1);", "`both(float, int)` and `both(int, float)` take these", "both(1, 1)"),
    ] {
        let path = folder.write("rule.frag", format!("{head}{body} }}\n"));
        let done = gpucc(&[&path, "--target", "interp"]);
        let shown = text(&done);
        assert_eq!(done.status.code(), Some(1), "{body}: {shown}");
        assert!(shown.contains(what), "{body}: {shown}");
        // The last part of these words is where it is wrong.
        let column = "void main() { ".len() + body.rfind(part).expect("it is there") + 1;
        assert!(
            shown.contains(&format!("rule.frag:3:{column}")),
            "{body}, column {column}: {shown}"
        );
    }
    // Functions call one another in a circle, even where nobody calls them.
    let path = folder.write(
        "circle.frag",
        "#version 450\nvoid g();\nvoid f() { g(); }\nvoid g() { f(); }\nvoid main() {}\n",
    );
    let done = gpucc(&[&path, "--target", "interp"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done).contains("calls itself"), "{}", text(&done));
}

#[test]
fn stencil_references_and_layers_are_outputs_and_mean_the_same_in_both_languages() {
    for (name, stage) in [("outside.frag", Stage::Fragment), ("outside.vert", Stage::Vertex)] {
        let path = format!("{}/tests/languages/{name}", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).expect("a text");
        let module = std::fs::read(format!("{path}.spv")).expect("a module");
        for target in MACHINES {
            if target == Target::R700 && stage == Stage::Vertex {
                continue;
            }
            verified(target, Options::default(), name, Source::Glsl(&source, stage));
            verified(target, Options::default(), name, Source::SpirV(&module));
        }
        for path in [path.clone(), format!("{path}.spv")] {
            let done = gpucc(&[&path, "--target", "r700"]);
            let code = if stage == Stage::Vertex { Some(3) } else { Some(0) };
            assert_eq!(done.status.code(), code, "{}", text(&done));
            assert_eq!(text(&done).contains("layers outside of geometry shaders"), code == Some(3));
        }
    }
    // The packet of a vertex holds both, and one instruction hands over both.
    for (name, parts) in [
        ("outside.vert", &["STORE.i16.istream", "STORE.i8.istream"][..]),
        ("outside.frag", &["ZS_EMIT.z.stencil"]),
    ] {
        let path = format!("{}/tests/languages/{name}", env!("CARGO_MANIFEST_DIR"));
        let done = gpucc(&[&path, "--target", "valhall", "--emit", "asm"]);
        for part in parts {
            assert!(text(&done).contains(part), "{part}: {}", text(&done));
        }
    }
}

/// A shader that both machines refuse, in words that no other row has.
#[track_caller]
fn refused(name: &str, source: &[u8], words: &str) {
    for target in ["r700", "valhall"] {
        refuses(target, name, source, words);
    }
}

#[track_caller]
fn refuses(target: &str, name: &str, source: &[u8], words: &str) {
    let folder = Folder::new("refused");
    let path = folder.write(name, source);
    let done = gpucc(&[&path, "--target", target]);
    let shown = text(&done);
    assert_eq!(done.status.code(), Some(3), "{name}, {target}: {shown}");
    assert!(shown.contains(&format!("cannot do this: {words}")), "{name}, {target}: {shown}");
}

#[test]
fn what_the_silicon_lacks_is_refused_in_the_same_words() {
    let fragment = |declared: &str, value: &str| {
        format!(
            "#version 450\n#extension GL_EXT_fragment_shader_barycentric : enable\n\
             #extension GL_NV_conservative_raster_underestimation : enable\n\
             #extension GL_EXT_ray_query : enable\n{declared}\n\
             layout(location = 0) out vec4 c;\nvoid main() {{ c = vec4({value}); }}\n"
        )
    };
    let corners = "values of a primitive's corners";
    let rays = "layout(set = 0, binding = 0) uniform accelerationStructureEXT s;";
    for (declared, value, words) in [
        ("", "gl_BaryCoordEXT, 1.0", corners),
        ("", "gl_BaryCoordNoPerspEXT, 1.0", corners),
        ("layout(location = 0) pervertexEXT in vec4 v[];", "v[1]", corners),
        ("", "gl_FragFullyCoveredNV", "whether a pixel is covered wholly"),
        ("", "gl_ViewportIndex", "viewports that shaders see or choose"),
        (rays, "0.0); rayQueryEXT q; rayQueryProceedEXT(q", "ray tracing"),
    ] {
        refused("lack.frag", fragment(declared, value).as_bytes(), words);
    }
    refused(
        "lack.vert",
        b"#version 450\n#extension GL_ARB_shader_viewport_layer_array : enable\n\
          void main() { gl_Position = vec4(1.0); gl_ViewportIndex = 1; }\n",
        "viewports that shaders see or choose",
    );
    refused(
        "rays.wgsl",
        b"enable wgpu_ray_query;\n@group(0) @binding(0) var a: acceleration_structure;\n\
          @compute @workgroup_size(1) fn main() {\n  var rq: ray_query;\n\
          rayQueryInitialize(&rq, a, RayDesc(0u, 255u, 0.0, 1.0, vec3f(0), vec3f(1)));\n}",
        "ray tracing",
    );
    refused("rays.spv", include_bytes!("languages/rays.spv"), "ray tracing");
    refused("corners.spv", include_bytes!("languages/corners.spv"), corners);
}

#[test]
fn inputs_are_interpolated_where_the_program_says() {
    let name = "places.frag";
    let source = include_str!("languages/places.frag");
    let module = include_bytes!("languages/places.frag.spv");
    for target in MACHINES {
        let stage = Stage::Fragment;
        verified(target, Options::default(), name, Source::Glsl(source, stage));
        verified(target, Options::default(), name, Source::SpirV(module));
    }
    let half = "#version 450\n#extension GL_AMD_gpu_shader_half_float : require\n\
        layout(location = 0) in f16vec4 h; layout(location = 0) out vec4 c;\n\
        void main() { c = vec4(interpolateAtOffset(h.zxy, f16vec2(0.25)), interpolateAtCentroid(h.w)); }";
    for target in [Target::Interp, Target::VALHALL] {
        let stage = Stage::Fragment;
        verified(target, Options::default(), "half.frag", Source::Glsl(half, stage));
    }
    // A clip position at an offset, divided by w, is linear on the screen: 57 is 8 times the way, and the error is nothing.
    let folder = Folder::new("offset");
    let path = format!("{}/tests/languages/offset.spv", env!("CARGO_MANIFEST_DIR"));
    for target in ["interp", "r700", "valhall"] {
        let out = folder.path("out.png");
        let done = gpucc(&[
            "render", &path, "--target", target, "--size", "32x32", "--draw", "3", "-o", &out,
        ]);
        assert!(done.status.success(), "{target}: {}", text(&done));
        let pixels = pixels(&out);
        for pixel in pixels.chunks_exact(4) {
            let right = pixel[0] < 13 && pixel[1] < 13 && pixel[2].abs_diff(57) <= 1;
            assert!(right, "{target}: {pixel:?}");
        }
    }
    // No input, a part that no input has, another stage, another sample.
    let fragment = |value: &str| {
        format!(
            "#version 450\nlayout(location = 0) in vec4 a; layout(location = 0) out vec4 c;\n\
             void main() {{ vec4 b = a; c = {value}; }}\n"
        )
    };
    for (value, code, what) in [
        ("interpolateAtCentroid(b)", 1, "an input is interpolated, or a part of one"),
        ("interpolateAtCentroid(a + b)", 1, "an input is interpolated, or a part of one"),
        ("interpolateAtOffset(gl_FragCoord, vec2(0.5))", 1, "an input is interpolated"),
        ("interpolateAtSample(a, 1)", 6, "interpolation at another sample than the own"),
    ] {
        let path = folder.write("wrong.frag", fragment(value));
        let done = gpucc(&[&path, "--target", "valhall"]);
        assert_eq!(done.status.code(), Some(code), "{value}: {}", text(&done));
        assert!(text(&done).contains(what), "{value}: {}", text(&done));
    }
}

#[test]
fn comparisons_at_gradients_are_proved_in_every_dimension() {
    let source = include_str!("languages/gradients.frag");
    let module = include_bytes!("languages/gradients.frag.spv");
    let rectangle = "#version 450\nlayout(binding = 0) uniform sampler2DRectShadow r; layout(location = 0) in vec4 a;\n\
        layout(location = 0) out float c; void main() { c = textureGrad(r, a.xyz, a.zw, a.yx); }";
    for target in MACHINES {
        let options = Options::default;
        verified(target, options(), "gradients.frag", Source::Glsl(source, Stage::Fragment));
        verified(target, options(), "gradients.spv", Source::SpirV(module));
        verified(target, options(), "rectangle.frag", Source::Glsl(rectangle, Stage::Fragment));
    }
}

#[test]
fn texels_of_floats_change_atomically() {
    let source = include_str!("languages/sums.comp");
    let module = include_bytes!("languages/sums.comp.spv");
    for target in [Target::Interp, Target::VALHALL] {
        let stage = Stage::Compute;
        verified(target, Options::default(), "sums.comp", Source::Glsl(source, stage));
        verified(target, Options::default(), "sums.spv", Source::SpirV(module));
    }
    // An exchange whose result matters, and one that is a store.
    let exchanged = "#version 450\n#extension GL_EXT_shader_atomic_float : require\n\
        layout(local_size_x = 4) in; layout(r32f, binding = 0) uniform image2D image;\n\
        layout(std430, binding = 1) buffer B { float old[]; };\n\
        void main() {\n\
            uint n = gl_LocalInvocationIndex;\n\
            float before = imageAtomicExchange(image, ivec2(n, 0), 0.1 + float(n));\n\
            if (n < old.length()) { old[n] = before; }\n\
            imageAtomicExchange(image, ivec2(n, 1), -float(n));\n\
        }";
    for target in [Target::Interp, Target::VALHALL] {
        let source = Source::Glsl(exchanged, Stage::Compute);
        verified(target, Options::default(), "exchanged.comp", source);
    }
    refuses("r700", "sums.spv", module, "atomic operations");
    refuses("r700", "sums.comp", source.as_bytes(), "atomic operations");
    // Bits of floats are no numbers.
    let folder = Folder::new("bits");
    let text_of = source.replace("imageAtomicAdd", "imageAtomicXor");
    let path = folder.write("bits.comp", text_of);
    let done = gpucc(&[&path, "--target", "valhall"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done));
    assert!(text(&done).contains("no function `imageAtomicXor` takes"), "{}", text(&done));
}

#[test]
fn functions_of_amd_are_what_they_are_of_others() {
    let source = "#version 450\n#extension GL_AMD_shader_ballot : require\n#extension GL_AMD_gcn_shader : require\n\
        #extension GL_ARB_gpu_shader_int64 : require\nlayout(local_size_x = 16) in;\n\
        layout(binding = 0) buffer B { vec4 v[16]; uint u[16]; int i[16]; };\n\
        void main() { uint n = gl_LocalInvocationIndex; vec4 a = v[n];\n\
        u[n] = mbcntAMD(uint64_t(u[n])) + swizzleInvocationsAMD(u[n], uvec4(3, 1, 0, 2))\n\
          + swizzleInvocationsMaskedAMD(u[n], uvec3(0x1c, 0x1, 0x2));\n\
        i[n] = addInvocationsAMD(i[n]) + minInvocationsInclusiveScanAMD(i[n]) * 3\n\
          + maxInvocationsExclusiveScanNonUniformAMD(i[n]) + writeInvocationAMD(i[n], 7, 5u);\n\
        v[n] = vec4(cubeFaceIndexAMD(a.xyz), cubeFaceCoordAMD(a.zyx), addInvocationsNonUniformAMD(a.w)); }";
    for target in [Target::Interp, Target::VALHALL] {
        verified(target, Options::default(), "amd.comp", Source::Glsl(source, Stage::Compute));
    }
    refuses("r700", "amd.comp", source.as_bytes(), "subgroup operations");
    let clock = "#version 450\n#extension GL_AMD_gcn_shader : require\n#extension GL_ARB_gpu_shader_int64 : require\n\
        layout(local_size_x = 1) in; layout(binding = 0) buffer B { uint64_t t; }; void main() { t = timeAMD(); }";
    refuses("r700", "clock.comp", clock.as_bytes(), "clocks");
    // Three of four words of each invocation follow from no clock, so there is a proof.
    let source = "#version 450\n#extension GL_ARB_shader_clock : require\n#extension GL_EXT_shader_realtime_clock : require\n\
        layout(local_size_x = 16) in; layout(std430, binding = 0) buffer B { uvec4 v[16]; };\n\
        void main() { uint n = gl_LocalInvocationIndex; uvec2 before = clock2x32ARB();\n\
        v[n] = uvec4(v[n].x * 3u, v[n].y + n, v[n].z ^ 5u, clock2x32ARB().x - before.x + clockRealtime2x32EXT().y); }";
    for target in [Target::Interp, Target::VALHALL] {
        verified(target, Options::default(), "timed.comp", Source::Glsl(source, Stage::Compute));
    }
    refuses("r700", "timed.comp", source.as_bytes(), "clocks");
    // The positive face of x is number 0; (1, 0.5, -0.5) points to s = 0.75 and t = 0.25. The lanes of four in a row:
    let source = "#version 450\n#extension GL_AMD_gcn_shader : require\nlayout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer B { float o[4]; };\nvoid main() { vec3 p = vec3(o[0], o[1], o[2]);\n\
        o[3] = cubeFaceIndexAMD(p); vec2 c = cubeFaceCoordAMD(p); o[0] = c.x; o[1] = c.y; }";
    assert_eq!(left(source, "f32:1,0.5,-0.5,9"), "0.0: 0.75 0.25 -0.5 0");
}

#[test]
fn every_sample_has_a_fragment_of_its_own() {
    let source = include_str!("languages/fragments.frag");
    let module = include_bytes!("languages/fragments.frag.spv");
    for target in MACHINES {
        let stage = Stage::Fragment;
        verified(target, Options::default(), "fragments.frag", Source::Glsl(source, stage));
        verified(target, Options::default(), "fragments.spv", Source::SpirV(module));
    }
}

#[test]
fn functions_may_be_instructions_of_spirv() {
    let source = include_str!("languages/expect.comp");
    let module = include_bytes!("languages/expect.comp.spv");
    for target in MACHINES {
        verified(target, Options::default(), "expect.spv", Source::SpirV(module));
    }
    assert_eq!(left(source, "u32:5,0"), "0.0: 5 6");
    let folder = Folder::new("instruction");
    for (from, to, code, what) in [
        ("id = 5630", "id = 77", 6, "instructions of SPIR-V by name"),
        ("id = 5630", "set = \"GLSL.std.450\", id = 5630", 6, "instructions of SPIR-V by name"),
        ("void assume(bool c);", "void assume(int c);", 1, "is declared otherwise"),
    ] {
        let path = folder.write("instruction.comp", source.replacen(from, to, 1));
        let done = gpucc(&[&path, "--target", "valhall"]);
        assert_eq!(done.status.code(), Some(code), "{to}: {}", text(&done));
        assert!(text(&done).contains(what), "{to}: {}", text(&done));
    }
}

#[test]
fn compute_shaders_have_derivatives_in_groups_of_four() {
    let source = include_str!("languages/groups.comp");
    let module = include_bytes!("languages/groups.comp.spv");
    for target in [Target::Interp, Target::VALHALL] {
        let stage = Stage::Compute;
        verified(target, Options::default(), "groups.comp", Source::Glsl(source, stage));
        verified(target, Options::default(), "groups.spv", Source::SpirV(module));
    }
    refuses("r700", "groups.spv", module, "subgroup operations");
    let program = |group: &str, size: &str| {
        format!(
            "#version 450\n#extension GL_NV_compute_shader_derivatives : require\nlayout({size}) in;\n{group}\n\
             layout(std430, binding = 0) buffer B {{ float o[8]; }};\nvoid main() {{\n\
             uint n = gl_LocalInvocationIndex; float v = o[n]; uvec3 id = gl_LocalInvocationID;\n\
             float w = float(id.x + 4 * id.y == n && gl_GlobalInvocationID == id) * 0.5;\n\
             o[n] = dFdxFine(v) * 1000.0 + dFdyFine(v) * 100.0 + dFdxCoarse(v) * 10.0 + dFdyCoarse(v) + w; }}"
        )
    };
    let size = "local_size_x = 4, local_size_y = 2";
    let folder = Folder::new("groups");
    for (group, printed) in [
        // 0 1 3 7 is a quad, and 0 2 5 9.
        (
            "layout(derivative_group_linearNV) in;",
            "1313.5 1613.5 4313.5 4613.5 2525.5 2725.5 4525.5 4725.5",
        ),
        // 0 1 above 0 2 is a quad, and 3 7 above 5 9.
        (
            "layout(derivative_group_quadsNV) in;",
            "1010.5 1110.5 4242.5 4242.5 2010.5 2110.5 4242.5 4242.5",
        ),
        // Without groups there is nothing to compare.
        ("", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5"),
    ] {
        let path = folder.write("group.comp", program(group, size));
        for target in ["interp", "valhall"] {
            let set = "0.0=f32:0,1,3,7,0,2,5,9";
            let args = ["run", &path, "--target", target, "--groups", "1", "--set", set];
            let done = gpucc(&[&args[..], &["--dump", "0.0:f32"]].concat());
            let shown = String::from_utf8_lossy(&done.stdout).into_owned();
            assert_eq!(shown.trim(), format!("0.0: {printed}"), "{target}: {}", text(&done));
        }
    }
    let odd = program("layout(derivative_group_quadsNV) in;", "local_size_x = 4");
    let path = folder.write("odd.comp", odd);
    let done = gpucc(&[&path, "--target", "valhall"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done));
    assert!(text(&done).contains("not made of whole groups of derivatives"), "{}", text(&done));
}

#[test]
fn textures_within_structures_are_variables_of_their_own() {
    let source = "#version 450\nstruct Inner { sampler2D a[2]; float g; };\n\
        struct S { vec4 k; sampler2D tex; Inner inner; samplerCube cube; };\n\
        uniform S s[2]; uniform struct { sampler2D only; } o; uniform int n;\n\
        layout(location = 0) in vec4 p; layout(location = 0) out vec4 c;\n\
        vec4 f(sampler2D t, vec2 at) { return texture(t, at); }\n\
        void main() { c = texture(s[n].tex, p.xy) * s[1].k + f(s[0].inner.a[n], p.zw) * s[n].inner.g\n\
        + texture(s[1].cube, p.xyz) + texture(o.only, p.xy) + float(s.length()); }";
    for target in MACHINES {
        verified(target, Options::default(), "parts.frag", Source::Glsl(source, Stage::Fragment));
    }
    let folder = Folder::new("parts");
    let path = folder.write("parts.frag", source);
    let done = gpucc(&[&path, "--target", "valhall"]);
    for (name, binding) in [("s.tex", 1), ("s.inner.a", 2), ("s.cube", 3), ("o.only", 4)] {
        let note = format!("`{name}` has no binding: it gets binding {binding} of set 0");
        assert!(text(&done).contains(&note), "{note}: {}", text(&done));
    }
    let takes = source.replace("void main()", "float g(S s) { return 1.0; } void main()");
    let whole = source.replace("+ float(s.length())", "; o");
    let input = source.replace("uniform S s[2];", "in S s[2];");
    for (source, code, what) in [
        (takes, 6, "structures with textures and samplers as parameters"),
        (whole, 6, "a texture that is a value"),
        (input, 1, "is a texture or sampler, which is a uniform"),
    ] {
        let path = folder.write("wrong.frag", source);
        let done = gpucc(&[&path, "--target", "valhall"]);
        assert_eq!(done.status.code(), Some(code), "{what}: {}", text(&done));
        assert!(text(&done).contains(what), "{what}: {}", text(&done));
    }
}

#[test]
fn fragments_know_where_their_samples_lie() {
    let source = include_str!("languages/samples.frag");
    let module = include_bytes!("languages/samples.frag.spv");
    for target in MACHINES {
        let stage = Stage::Fragment;
        verified(target, Options::default(), "samples.frag", Source::Glsl(source, stage));
        verified(target, Options::default(), "samples.spv", Source::SpirV(module));
    }
    // Such a program runs once a sample, and its position is the sample's.
    let place = "#version 450\nlayout(location = 0) out vec4 c;\n\
        void main() { c = vec4(gl_SamplePosition, gl_FragCoord.xy); }";
    let folder = Folder::new("samples");
    let path = folder.write("place.frag", place);
    let report = |target: &str| {
        let out = folder.path("report.json");
        let args = ["--target", target, "--emit", "json", "-o", &out];
        let done = gpucc(&[&[path.as_str()][..], &args].concat());
        assert!(done.status.success(), "{}", text(&done));
        std::fs::read_to_string(&out).expect("a report")
    };
    let r700 = report("r700");
    for field in ["\"POSITION_SAMPLE\": 1", "\"PS_ITER_SAMPLE\": 1"] {
        assert!(r700.contains(field), "no {field} in {r700}");
    }
    let valhall = report("valhall");
    assert!(valhall.contains("\"Evaluate per-sample\": 1"), "{valhall}");
}

#[test]
fn ballots_masks_and_clusters_are_the_same_in_both_languages() {
    let source = include_str!("languages/lanes.comp");
    let module = include_bytes!("languages/lanes.comp.spv");
    for target in [Target::Interp, Target::VALHALL] {
        let stage = Stage::Compute;
        verified(target, Options::default(), "lanes.comp", Source::Glsl(source, stage));
        verified(target, Options::default(), "lanes.spv", Source::SpirV(module));
    }
    refuses("r700", "lanes.spv", module, "subgroup operations");
}

#[test]
fn a_gather_takes_an_offset_that_the_program_computes() {
    let source = |offset: &str, other: &str| {
        format!(
            "#version 450\nlayout(binding = 0) uniform sampler2D t; layout(binding = 1) uniform sampler2DArrayShadow s;\n\
             layout(location = 0) in vec4 p; layout(location = 1) flat in ivec2 k; layout(location = 0) out vec4 o;\n\
             void main() {{ o = textureGatherOffset(t, p.xy, {offset}, 2)\n\
             + textureGatherOffset(s, p.xyz, p.w, {offset}) + textureOffset(t, p.xy, {other}); }}"
        )
    };
    proved("moved.frag", &source("k", "ivec2(1)"), Stage::Fragment);
    // Other samples take none.
    let folder = Folder::new("moved");
    let path = folder.write("moved.frag", source("ivec2(0)", "k"));
    let done = gpucc(&[&path, "--target", "valhall"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done));
    assert!(text(&done).contains("an offset in texels is not constant"), "{}", text(&done));
}

#[test]
fn a_computed_offset_gathers_what_the_same_constant_does() {
    let folder = Folder::new("gathers");
    let texels: Vec<u8> = (0..=255).collect();
    let image = folder.write("texels", texels);
    let source = "#version 450\nlayout(local_size_x = 8, local_size_y = 8) in;\n\
        layout(binding = 0, std430) buffer B { ivec2 k; uint wrong, right; };\n\
        layout(binding = 1) uniform texture2D image; layout(binding = 2) uniform sampler s;\n\
        #define t sampler2D(image, s)\n\
        void main() { vec2 p = (vec2(gl_LocalInvocationID.xy) * 1.37 - 0.41) / 8.0;\n\
        if (textureGatherOffset(t, p, k, 1) == textureGatherOffset(t, p, ivec2(3, -2), 1)) atomicAdd(right, 1u);\n\
        else atomicAdd(wrong, 1u); }";
    let path = folder.write("gathers.comp", source);
    let texture = format!("0.1=texture:rgba8unorm:8x8:file:{image}");
    for (k, wanted) in [("3,-2", "0.0: 3 -2 0 64"), ("2,-2", "0.0: 2 -2 64 0")] {
        let set = format!("0.0=i32:{k},0,0");
        let done = gpucc(&[
            "run",
            &path,
            "--target",
            "interp",
            "--groups",
            "1",
            "--dump",
            "0.0:i32",
            "--set",
            &set,
            "--set",
            &texture,
            "--set",
            "0.2=sampler:nearest,repeat",
        ]);
        let shown = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        assert_eq!(shown, wanted, "{}", text(&done));
    }
}

#[test]
fn a_clip_vertex_leaves_as_distances_from_the_planes() {
    let source = |clip: &str| {
        format!(
            "#version 130\nin vec4 p;\nvoid main() {{ gl_Position = gl_ModelViewProjectionMatrix * p;\n\
             vec4 eye = gl_ModelViewMatrix * p;\n{clip} }}"
        )
    };
    let each = |i: u32| format!("gl_ClipDistance[{i}] = dot(eye, gl_ClipPlane[{i}]);");
    let written: String = (0..6).map(each).collect();
    let folder = Folder::new("planes");
    proved("vertex.vert", &source("gl_ClipVertex = eye;"), Stage::Vertex);
    // Fragments may read gl_ClipDistance, and none does here.
    let pipeline = folder.write("pipeline.json", r#"{"vertex": {"outputs": []}}"#);
    for target in ["r700", "valhall"] {
        let code = |name: &str, clip: &str| {
            let path = folder.write(name, source(clip));
            let args = ["--target", target, "--emit", "hex", "--pipeline", &pipeline];
            let done = gpucc(&[&[path.as_str()], &args[..]].concat());
            assert!(done.status.success(), "{target}: {}", text(&done));
            String::from_utf8_lossy(&done.stdout).into_owned()
        };
        assert_eq!(code("a.vert", "gl_ClipVertex = eye;"), code("b.vert", &written), "{target}");
    }
    // This machine clips by six planes at most.
    let path = folder.write("a.vert", source("gl_ClipVertex = eye;"));
    let done = gpucc(&["verify", &path, "--target", "g45"]);
    assert!(done.status.success(), "{}", text(&done));
    let path = folder.write("both.vert", source("gl_ClipVertex = eye; gl_ClipDistance[0] = 1.0;"));
    let done = gpucc(&[&path, "--target", "r700"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done));
}

#[test]
fn a_number_has_components() {
    let frag = "#version 420\nlayout(location = 0) in float v; layout(location = 0) out vec4 o;\n\
        void main() { o = 1.5.xxxx + .25.xxxx + 2.f.xxxx + v.xxxx; }";
    proved("number.frag", frag, Stage::Fragment);
}

#[test]
fn bits_of_narrow_integers_are_those_of_words() {
    let source = "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types : require\n\
        layout(local_size_x = 1) in; layout(binding = 0) buffer B { uint a, b, c; };\n\
        void main() { uint16_t n = uint16_t(a); b = bitfieldReverse(n); c = uint(bitfieldInsert(n, n, 12, 8)); }";
    assert_eq!(left(source, "u32:6,0,0"), "0.0: 6 1610612736 24582");
}

#[test]
fn functions_of_vendors_are_our_gap_and_not_the_user_s_error() {
    let folder = Folder::new("vendors");
    let calls = [
        ("INTEL_shader_integer_functions2", "addSaturate(a, a)", "functions of vendors"),
        ("EXT_integer_dot_product", "dotPacked4x8EXT(a, a)", "dot products of integers"),
    ];
    for (extension, call, words) in calls {
        let source = format!(
            "#version 450\n#extension GL_{extension} : require\nlayout(local_size_x = 1) in;\n\
             layout(binding = 0) buffer B {{ int a; }};\nvoid main() {{ a = {call}; }}"
        );
        let path = folder.write("vendor.comp", source);
        let done = gpucc(&[&path, "--target", "interp"]);
        assert_eq!(done.status.code(), Some(6), "{}", text(&done));
        assert!(text(&done).contains(words), "{}", text(&done));
    }
    let fetch = "#version 300 es\n#extension GL_EXT_shader_framebuffer_fetch : require\n\
        precision highp float; layout(location = 0) inout vec4 o; void main() { o *= 0.5; }";
    let done = gpucc(&[&folder.write("fetch.frag", fetch), "--target", "interp"]);
    assert_eq!(done.status.code(), Some(6), "{}", text(&done));
}

#[test]
fn attributes_stand_before_statements_and_before_the_body_of_a_function() {
    let source = "#version 450\n\
        #extension GL_EXT_control_flow_attributes : enable\n\
        #extension GL_EXT_subgroup_uniform_control_flow : enable\n\
        layout(set = 0, binding = 0) buffer B { uint b[]; };\n\
        void main()\n[[subgroup_uniform_control_flow]]\n{\n\
        [[dont_unroll]] for (int i = 0; i < 2; i++) { b[i] += 1u; } }";
    assert_eq!(left(source, "u32:1,2"), "0.0: 2 3");
}

#[test]
fn blocks_of_shared_memory_lie_over_each_other() {
    let head = "#version 450\n#extension GL_EXT_shared_memory_block : require\nlayout(local_size_x = 4) in;\n\
        layout(binding = 0) buffer O { float o[]; };\nshared A { uint a[4]; };\n";
    let body = "void main() { uint me = gl_LocalInvocationIndex; a[me] = 0x3f800000u + (me << 23);\n\
        barrier(); o[me] = b[3 - me]; }\n";
    let source = format!("{head}shared B {{ float b[4]; }};\n{body}");
    assert_eq!(left(&source, "f32:0,0,0,0"), "0.0: 8 4 2 1");
    let folder = Folder::new("shared-blocks");
    let plain = source.replace("#extension GL_EXT_shared_memory_block : require\n", "");
    for (source, words) in [
        (format!("{head}shared float b[4];\n{body}"), "holds blocks, and variables that are none"),
        (plain, "needs GL_EXT_shared_memory_block"),
    ] {
        let path = folder.write("program.comp", source);
        let done = gpucc(&[&path, "--target", "valhall"]);
        assert_eq!(done.status.code(), Some(1), "{}", text(&done));
        assert!(text(&done).contains(words), "{}", text(&done));
    }
}

#[test]
fn components_of_bytes_are_written_alone() {
    let source = "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types : require\n\
        layout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer O { uint n; u8vec4 v; };\n\
        void main() { v.y = uint8_t(n + 3u); v.wx = u8vec2(7, 9); v[n & 3u] = uint8_t(200); }";
    let folder = Folder::new("bytes");
    let path = folder.write("program.comp", source);
    for target in ["interp", "valhall"] {
        let args = ["run", &path, "--target", target, "--groups", "1", "--dump", "0.0:u32"];
        let done = gpucc(&[&args[..], &["--set", "0.0=u32:2,0x04030201"]].concat());
        let shown = String::from_utf8_lossy(&done.stdout).into_owned();
        // Bytes 9, 5, 200, 7.
        assert_eq!(shown.trim(), format!("0.0: 2 {}", 0x07c8_0509), "{target}: {}", text(&done));
    }
}

#[test]
fn a_text_has_what_its_version_and_profile_have() {
    let folder = Folder::new("versions");
    let refused = [
        (
            "#version 300 es\nin vec4 v; out highp vec4 c;\nvoid main() { c = v; }",
            "`vec4` has no precision",
        ),
        (
            "#version 100\nvoid main() { float x = 1.0; gl_FragColor = vec4(x); }",
            "`float` has no precision",
        ),
        (
            "#version 300 es\nprecision highp float; uniform sampler3D s; out vec4 c;\nvoid main() { c = texture(s, vec3(0.5)); }",
            "`sampler3D` has no precision",
        ),
        (
            "#version 300 es\nvoid f() { precision highp float; float x; }\nout highp vec4 c; void main() { float y; }",
            "`float` has no precision",
        ),
        (
            "#version 300 es\nprecision mediump vec4;\nvoid main() { }",
            "a default precision is that of",
        ),
        (
            "#version 300 es\nprecision highp float; uniform float u; float g = u; out vec4 c;\nvoid main() { c = vec4(g); }",
            "the first value of `g` is no constant",
        ),
        (
            "#version 300 es\nprecision highp float; float sin(float x) { return x; }\nvoid main() { }",
            "`sin` is a built-in function",
        ),
        (
            "#version 300 es\nprecision highp float; uniform sampler2D s; out vec4 c;\nvoid main() { c = texture2D(s, vec2(0.0)); }",
            "the function `texture2D` is of version 100",
        ),
        (
            "#version 300 es\nvoid main() { gl_FragColor = vec4(1.0); }",
            "`gl_FragColor` is of older versions",
        ),
        (
            "#version 100\nvoid main() { gl_FragDepth = 1.0; }",
            "`gl_FragDepth` needs version 300 es",
        ),
        (
            "#version 100\nvarying highp float v;\nvoid main() { gl_FragColor = vec4(dFdx(v)); }",
            "`dFdx` needs version 300 es",
        ),
        ("#version 120\nin vec4 v;\nvoid main() { gl_FragColor = v; }", "`in` needs version 130"),
        (
            "#version 120\nvoid main() { gl_FragColor = vec4(float(5 % 3)); }",
            "the operator `%` needs version 130",
        ),
        (
            "#version 120\nvoid main() { int i = 1; switch (i) { case 1: break; } }",
            "the word `switch` needs version 130",
        ),
        (
            "#version 120\nuniform sampler2D s;\nvoid main() { gl_FragColor = texture(s, vec2(0.0)); }",
            "the function `texture` needs version 130",
        ),
        (
            "#version 130\nuniform B { vec4 x; };\nvoid main() { gl_FragColor = x; }",
            "blocks of uniforms need version 140",
        ),
        (
            "#version 330\nbuffer B { vec4 x; }; out vec4 c;\nvoid main() { c = x; }",
            "blocks of buffers need version 430",
        ),
        (
            "#version 420 core\nvarying vec4 v; out vec4 c;\nvoid main() { c = v; }",
            "`varying` is of older versions",
        ),
        (
            "#version 330 core\nout vec4 c;\nvoid main() { c = gl_Fog.color; }",
            "`gl_Fog` is of the compatibility profile",
        ),
        (
            "#version 330\nout vec4 c;\nvoid main() { double d = 1.0; c = vec4(float(d)); }",
            "the type `double` needs an extension",
        ),
        (
            "#version 450\nout vec4 c;\nvoid main() { int64_t i = 1; c = vec4(float(i)); }",
            "the type `int64_t` needs an extension",
        ),
        (
            "#version 330\nflat smooth in vec4 v; out vec4 c;\nvoid main() { c = v; }",
            "`smooth` is a second interpolation",
        ),
        (
            "#version 330\nflat out vec4 c;\nvoid main() { c = vec4(1.0); }",
            "`flat` qualifies no output",
        ),
        (
            "#version 330\nout vec4 c;\nvoid main() { float class = 1.0; c = vec4(class); }",
            "`class` is a reserved word",
        ),
        (
            "#version 330\nout vec4 c;\nvoid main() { invariant float x = 1.0; c = vec4(x); }",
            "a variable of a function is not `invariant`",
        ),
        (
            "#version 330\nout vec4 c;\nvoid main() { switch (1) { case 0: break; case 1: } }",
            "behind the last label",
        ),
        (
            "#version 450\nlayout(rgba8i) uniform image2D i; out vec4 c;\nvoid main() { c = imageLoad(i, ivec2(0)); }",
            "the format of `i` holds texels of another type",
        ),
        (
            "out vec4 c;\n#version 330\nvoid main() { c = vec4(1.0); }",
            "`#version` stands before everything else",
        ),
    ];
    for (source, words) in refused {
        let path = folder.write("text.frag", source);
        let done = gpucc(&[&path, "--target", "interp"]);
        let shown = text(&done);
        assert_eq!(done.status.code(), Some(1), "{source}: {shown}");
        assert!(shown.contains(words) && shown.contains("text.frag:"), "{source}: {shown}");
    }
    let vertex = "#version 330\nuniform sampler2D s;\nvoid main() { gl_Position = texture(s, vec2(0.0), 1.0); }";
    let path = folder.write("text.vert", vertex);
    let done = gpucc(&[&path, "--target", "interp"]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done));
    // The same is right where the text says more, or less.
    for source in [
        "in vec4 v; out vec4 c;\nvoid main() { float x = v.x; c = vec4(x); }",
        "#version 300 es\nin highp vec4 v; out mediump vec4 c;\nvoid main() { c = vec4(1.0) * v; }",
        "#version 300 es\nprecision highp float; precision mediump sampler3D; uniform sampler3D s; out vec4 c;\nvoid main() { c = texture(s, vec3(0.5)); }",
        "#version 100\n#extension GL_EXT_frag_depth : enable\n#extension GL_OES_standard_derivatives : enable\nvarying highp float v;\nvoid main() { gl_FragDepthEXT = dFdx(v); }",
        "#version 120\n#extension GL_EXT_gpu_shader4 : enable\nout uvec4 c;\nvoid main() { c = uvec4(5 % 3 << 1); }",
        "#version 120\n#extension GL_EXT_gpu_shader4 : enable\nvarying vec4 v; varying out vec4 c;\nvoid main() { c = v; }",
        "#version 120\nvec4 texture(vec2 p) { return p.xyxy; }\nvoid main() { gl_FragColor = texture(vec2(0.0)); }",
        "#version 130\n#extension GL_ARB_uniform_buffer_object : enable\nuniform B { vec4 x; };\nvoid main() { gl_FragColor = x; }",
        "#version 330 compatibility\nvarying vec4 v;\nvoid main() { gl_FragColor = v + gl_Fog.color; }",
        "#version 140\nout vec4 c;\nvoid main() { c = vec4(gl_DepthRange.near); }",
    ] {
        let path = folder.write("text.frag", source);
        let done = gpucc(&[&path, "--target", "interp"]);
        assert!(done.status.success(), "{source}: {}", text(&done));
    }
}

#[test]
fn every_vertex_knows_the_numbers_of_its_draw() {
    let source = "#version 460\nlayout(location = 0) flat out ivec4 numbers;\nvoid main() {\n\
                  numbers = ivec4(gl_BaseVertex, gl_BaseInstance, gl_DrawID, gl_VertexID); gl_Position = vec4(gl_InstanceID); }";
    for name in ["valhall", "rogue"] {
        let target = Target::by_name(name).expect("a machine");
        let shader = Source::Glsl(source, Stage::Vertex);
        verified(target, Options::default(), "draw.vert", shader);
    }
}

#[test]
fn declarations_follow_their_version_and_their_stage() {
    let folder = Folder::new("declarations");
    let vec4_out = "out vec4 c; void main() { c = vec4(1.0); }";
    let compute = "#version 430\nlayout(local_size_x = 8) in;";
    let refused = [
        ("frag", format!("#version 330\n#define GL_own 1\n{vec4_out}"), "`GL_own` is kept by the language"),
        ("frag", format!("#version 330\n{vec4_out} /* no end"), "this comment has no end"),
        ("frag", format!("#version 330\nfloat f() {{ }} {vec4_out}"), "`f` returns no value"),
        (
            "frag",
            "#version 110\nvoid main() { float a[2] = float[2](1.0, 2.0); }".to_owned(),
            "making arrays needs version 120",
        ),
        (
            "frag",
            "#version 100\nvoid main() { mediump float a[2], b[2]; a = b; }".to_owned(),
            "assigning arrays needs version 120, or 300 es",
        ),
        (
            "frag",
            format!("#version 330\nlayout(binding = 1) uniform sampler2D t; {vec4_out}"),
            "`binding` needs version 420",
        ),
        ("frag", format!("#version 330\nin flat int x; {vec4_out}"), "`flat` stands too late"),
        (
            "frag",
            format!("#version 330\nuniform B {{ float a; }} x; uniform B {{ float b; }} y; {vec4_out}"),
            "`B` names two blocks",
        ),
        (
            "frag",
            "#version 100\nmediump float a__b; void main() { }".to_owned(),
            "names with `__` are reserved",
        ),
        (
            "frag",
            "#version 300 es\nprecision mediump float; in float i; out vec4 c; uniform sampler2D t[2];\n\
             void main() { c = texture(t[int(i)], vec2(0.0)); }"
                .to_owned(),
            "an array of textures takes constant indices",
        ),
        ("vert", "#version 120\nattribute ivec2 x; void main() { }".to_owned(), "of integers need version 130"),
        ("vert", "#version 300 es\nin float x[2]; void main() { }".to_owned(), "arrays as inputs of vertices"),
        ("frag", format!("#version 450\nin vec4 x; in vec4 x; {vec4_out}"), "`x` is declared already"),
        ("frag", format!("#version 450\nlayout(component = 1) in float x; {vec4_out}"), "a component and no location"),
        (
            "frag",
            format!("#version 450\nlayout(location = 1, component = 2) in vec3 x; {vec4_out}"),
            "components behind the fourth",
        ),
        ("frag", format!("#version 450\nlayout(early_fragment_tests) out; {vec4_out}"), "`early_fragment_tests` qualifies `in`"),
        ("comp", format!("{compute} layout(local_size_x = 4) in; void main() {{ }}"), "another size already"),
        ("comp", format!("{compute} layout(std430) uniform B {{ float x; }}; void main() {{ }}"), "std430 is a layout of buffers"),
        (
            "comp",
            format!("{compute} buffer B {{ float x; }}; void main() {{ atomicAdd(x, 1.0); }}"),
            "`atomicAdd` of a float needs",
        ),
        (
            "comp",
            format!("{compute} uniform image2D i; void main() {{ imageLoad(i, ivec2(0)); }}"),
            "`i` has no format",
        ),
        ("comp", format!("{compute} void main() {{ dFdx(1.0); }}"), "`dFdx` is a function of fragment shaders"),
        ("comp", format!("{compute} uniform float x; const float y = x; void main() {{ }}"), "the constant `y` is no constant"),
        ("comp", format!("{compute} layout(offset = 4) uniform float x; void main() {{ }}"), "`offset` is that of"),
        ("comp", format!("{compute} void f(const out int a) {{ a = 1; }} void main() {{ }}"), "not both `const` and `out`"),
        ("comp", format!("{compute} void f(uniform int a) {{ }} void main() {{ }}"), "a parameter is not `uniform`"),
        ("frag", format!("#version 150\nin B {{ int x; }}; {vec4_out}"), "`x` holds integers or doubles"),
        (
            "frag",
            format!("#version 150\nstruct S {{ uvec2 x[2]; }}; in B {{ S s; }} b; {vec4_out}"),
            "`s` holds integers or doubles",
        ),
        ("frag", format!("#version 150\nstruct S {{ int x; }}; in S s; {vec4_out}"), "`s` holds integers"),
        ("frag", format!("#version 450\nin dvec2 x; {vec4_out}"), "`x` holds integers or doubles"),
        ("vert", "#version 150\nin B { vec4 x; }; void main() { }".to_owned(), "`B` is an `in` block of a vertex"),
        ("vert", "#version 150\nout B { uniform vec4 x; }; void main() { }".to_owned(), "`uniform` qualifies no member"),
        ("vert", "#version 150\nout B { struct S { vec4 a; } x; }; void main() { }".to_owned(), "defined within a block"),
        ("vert", "#version 150\nout B { vec4 gl_own; } b; void main() { }".to_owned(), "`gl_own`: names that begin"),
        ("vert", "#version 150\nout B { vec4 x; } b; vec4 B; void main() { }".to_owned(), "`B` is declared already"),
        ("vert", "#version 150\nfloat B() { return 1.0; } out B { vec4 x; } b; void main() { }".to_owned(), "`B` is declared already"),
        ("vert", "#version 150\nout B { vec4 x; } b; void B() { } void main() { }".to_owned(), "`B` is declared already"),
        ("vert", "#version 130\nlayout(location = 0) in vec4 x; void main() { }".to_owned(), "`location` needs version 330"),
        ("vert", "#version 330\nlayout(location = 0) out vec4 x; void main() { }".to_owned(), "`location` needs version 410"),
        (
            "vert",
            "#version 150\n#extension GL_ARB_gpu_shader_fp64 : enable\nin dmat2 x; void main() { }".to_owned(),
            "doubles as inputs of vertices need version 410",
        ),
        (
            "vert",
            "#version 400\n#extension GL_ARB_gpu_shader_int64 : enable\nvoid main() { uint a = 1u; int64_t b = a; }".to_owned(),
            "a value of type int64_t is expected",
        ),
        ("vert", "#version 330\nuniform vec4 x[2][2]; void main() { }".to_owned(), "arrays of arrays need version 430"),
        ("vert", "#version 330\nvec4[2] f(vec4[2] x[2]) { return x[0]; } void main() { }".to_owned(), "arrays of arrays"),
        ("vert", "#version 110\nuniform int i = 1; void main() { }".to_owned(), "first values of uniforms need version 120"),
        ("vert", "#version 330\n#version 330\nvoid main() { }".to_owned(), "`#version` stands before everything else"),
        // It stands outside of functions (GLSL 4.60, 4.8.1).
        ("vert", "#version 330\nvoid main() { invariant gl_Position; }".to_owned(), "there is no type `gl_Position`"),
        (
            "vert",
            "#version 330\nvoid main() { float a[]; a[3] = 1.0; float a[3]; }".to_owned(),
            "`a` is declared with 3 elements, and element 3 is used",
        ),
        ("vert", "#version 330\nvoid main() { float a[]; a[1] = 1.0; int a[3]; }".to_owned(), "`a` is declared already"),
        ("frag", format!("#version 330\nstruct S {{ noperspective float x; }}; {vec4_out}"), "`noperspective` qualifies no member"),
        (
            "comp",
            format!("{compute} layout(r32f) uniform image2D i; void main() {{ imageAtomicAdd(i, ivec2(0), 1.0); }}"),
            "no function `imageAtomicAdd` takes",
        ),
        (
            "frag",
            "#version 330 compatibility\nout vec4 c; void main() { c = vec4(1.0); gl_FragColor = c; }".to_owned(),
            "`gl_FragColor` and `c` are written by one text",
        ),
        ("frag", "#version 120\nvoid main() { gl_FragColor = gl_FragData[0]; }".to_owned(), "`gl_FragColor` and `gl_FragData`"),
        ("frag", format!("#version 450\ncoherent uniform sampler2D t; {vec4_out}"), "`coherent` qualifies images"),
        ("frag", "#version 330\nvoid main() { layout(pixel_center_integer) vec4 x; }".to_owned(), "has no layout"),
        (
            "comp",
            format!("{compute} layout(r32ui) readonly uniform uimage2D i; void main() {{ imageAtomicAdd(i, ivec2(0), 1u); }}"),
            "`i` is readonly",
        ),
        (
            "comp",
            format!("{compute} layout(r32ui) writeonly uniform uimage2D i; void main() {{ imageAtomicAdd(i, ivec2(0), 1u); }}"),
            "`i` is writeonly",
        ),
    ];
    for (stage, source, words) in refused {
        let path = folder.write(&format!("text.{stage}"), &source);
        let done = gpucc(&[&path, "--target", "interp"]);
        let shown = text(&done);
        assert_eq!(done.status.code(), Some(1), "{source}: {shown}");
        assert!(shown.contains(words) && shown.contains("text."), "{source}: {shown}");
    }
    // The same is right where the text says more, or is newer.
    for (stage, source) in [
        ("frag", format!("#version 330\n#extension GL_ARB_shading_language_420pack : enable\nlayout(binding = 1) uniform sampler2D t; in flat int x; {vec4_out}")),
        ("frag", format!("#version 420\nin flat int x; {vec4_out}")),
        ("frag", "#version 120\nuniform sampler2D t[2]; varying float i; void main() { gl_FragColor = texture2D(t[int(i)], vec2(0.0)); }".to_owned()),
        ("frag", format!("#version 330\nuniform B {{ float a; }} x; in B {{ float b; }} y; {vec4_out}")),
        ("vert", "#version 330\nin vec4 x[]; in vec4 x[2]; void main() { gl_Position = x[1]; }".to_owned()),
        ("comp", format!("{compute} layout(local_size_x = 8, local_size_y = 2) in; void main() {{ }}")),
        ("comp", format!("{compute} writeonly uniform image2D i; void main() {{ imageStore(i, ivec2(0), vec4(1.0)); }}")),
        ("frag", format!("#version 150\nstruct S {{ int x; }}; in B {{ flat S s; }} b; flat in S t; {vec4_out}")),
        ("vert", "#version 120\n#extension GL_ARB_explicit_attrib_location : enable\nlayout(location = 1) in vec4 x; void main() { }".to_owned()),
        ("vert", "#version 150\n#extension GL_ARB_compatibility : enable\nvoid main() { gl_Position = gl_Vertex; }".to_owned()),
        ("vert", "#version 410\nlayout(Location = 1) out vec4 x; void main() { x = vec4(1.0); }".to_owned()),
        ("vert", "#version 330\n#extension GL_ARB_arrays_of_arrays : enable\nuniform vec4 x[2][2]; void main() { }".to_owned()),
        ("vert", "#version 130\nlowp float; mediump int;\nvoid main() { vec4 x; precise x; x = gl_Vertex; }".to_owned()),
        (
            "vert",
            "#version 120\n#extension GL_EXT_gpu_shader4 : require\nuniform unsigned int w; uniform sampler2DRect r;\n\
             void main() { unsigned int t = unsigned int(truncate(1.5)) + w; gl_Position = vec4(t + textureSize2DRect(r).x); }"
                .to_owned(),
        ),
        ("comp", format!("{compute} const int k = int(sqrt(16.0)); const float t[k] = float[k](1.0, 2.0, 3.0, 4.0); void main() {{ }}")),
    ] {
        let path = folder.write(&format!("text.{stage}"), &source);
        let done = gpucc(&[&path, "--target", "interp"]);
        assert!(done.status.success(), "{source}: {}", text(&done));
    }
}

#[test]
fn functions_of_constants_are_constants() {
    let head = "#version 460\n#extension GL_AMD_shader_trinary_minmax : enable\nlayout(local_size_x = 1) in;\n\
                layout(binding = 0) buffer O { float o[23]; };\n";
    // Lengths of arrays ask for them: each is a whole number where the function is right.
    let lengths = [
        ("int(normalize(vec3(0.0, 3.0, 4.0)).z * 5.0 + 0.5)", 4),
        ("int(inverse(mat2(2.0, 1.0, 0.0, 0.25))[0][1] * -1.0)", 2),
        ("int(transpose(mat3x2(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))[1][2])", 6),
        ("int(determinant(mat3(2.0, 0.0, 1.0, 1.0, 3.0, 0.0, 0.0, 1.0, 1.0)))", 7),
        ("int(outerProduct(vec3(1.0, 2.0, 3.0), vec2(4.0, 5.0))[1].z)", 15),
        ("int((mat2(1.0, 2.0, 3.0, 4.0) * vec2(1.0, 2.0)).y)", 10),
        ("int((vec2(1.0, 2.0) * mat2(1.0, 2.0, 3.0, 4.0)).y)", 11),
        ("int((mat2(1.0, 2.0, 3.0, 4.0) * mat2(0.0, 1.0, 1.0, 0.0))[0].x)", 3),
        ("int(cross(vec3(1.0, 2.0, 3.0), vec3(3.0, 2.0, -1.0)).y)", 10),
        ("int(reflect(vec2(3.0, -4.0), vec2(0.0, 1.0)).y)", 4),
        ("int(refract(vec2(0.0, -1.0), vec2(0.0, 1.0), 0.5).y * -2.0)", 2),
        ("int(faceforward(vec2(0.0, 3.0), vec2(0.0, -1.0), vec2(0.0, 1.0)).y)", 3),
        ("int(matrixCompMult(mat2(2.0), mat2(4.0))[1][1])", 8),
        ("int(smoothstep(0.0, 2.0, 1.0) * 2.0 + ldexp(1.5, 2))", 7),
        ("int(unpackUnorm4x8(0x80ff0033u).x * 5.0 + 0.5)", 1),
        ("int(packUnorm4x8(vec4(0.2, 0.0, 0.0, 0.0)))", 51),
        ("int(unpackHalf2x16(packHalf2x16(vec2(1.0, 9.0))).y)", 9),
        ("int(length(-3.0) + distance(vec2(0.0), vec2(3.0, 4.0)))", 8),
        ("int(cosh(0.0) + sinh(0.0) + tanh(0.0) + asinh(0.0) + acosh(1.0) + atanh(0.0))", 1),
        ("int(max3(1.0, 4.0, 2.0) + min3(5.0, 4.0, 6.0) - mid3(3.0, 1.0, 9.0))", 5),
        (
            "int(mid3(7, 9, 3)) + int(max3(1u, 2u, 0u)) + min3(-4, 1, 2) + int(mid3(ivec2(3, 1), ivec2(2, 5), ivec2(1, 9)).y)",
            10,
        ),
        ("mix(ivec2(1, 2), ivec2(3, 4), bvec2(true, false)).x", 3),
        ("isnan(1.0) || isinf(1.0) || !all(lessThan(vec2(1.0), vec2(2.0))) ? 1 : 5", 5),
    ];
    let (mut body, mut wanted) = (String::new(), "0.0:".to_owned());
    for (number, (length, value)) in lengths.iter().enumerate() {
        body += &format!("float a{number}[{length}]; o[{number}] = float(a{number}.length());\n");
        wanted += &format!(" {value}");
    }
    let zeros = format!("f32:{}", ["0"; 23].join(","));
    assert_eq!(left(&format!("{head}void main() {{\n{body}}}\n"), &zeros), wanted);
}

//! GLSL of every generation: what the page about it says, and what the language's rules refuse.

use crate::common::{Folder, gpucc, text, verified};
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
        ["located", "narrow"].map(|file| format!("{root}/frontend/src/lower/{file}.rs").into()),
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
    let source = "#version 330\n#extension GL_ARB_compute_shader : require\nlayout(local_size_x = 1) in;\n\
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
fn what_breaks_the_rules_is_the_users_error_at_its_place() {
    let folder = Folder::new("rules");
    let head = "#version 450\nlayout(binding = 0) uniform U { float u; };\nvoid main() { ";
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
        ("float f = 1.0 % 2.0;", "`%` does not take float and float", "1.0 % 2.0"),
        ("int i = 08;", "`08` is no number of GLSL", "08"),
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

//! GLSL and SPIR-V as people and compilers write them: what naga does not read by itself.

use gpucc_frontend::{Options, Parsed, Source, parse};
use gpucc_ir::ssa::{self, InputKind, OutputKind, ResourceKind, Stage};

#[track_caller]
fn read(source: Source<'_>, options: &Options) -> Parsed {
    let parsed =
        parse(source, "test", options).unwrap_or_else(|failure| panic!("{}", failure.render()));
    for func in &parsed.module.funcs {
        ssa::verify(func).unwrap_or_else(|broken| panic!("{broken}\n{func}"));
    }
    parsed
}

#[track_caller]
fn glsl(text: &str, stage: Stage) -> Parsed {
    read(Source::Glsl { text, stage }, &Options::default())
}

/// Kinds of the bindings by (group, binding).
fn bindings(parsed: &Parsed) -> Vec<(u32, u32, &'static str)> {
    let func = &parsed.module.funcs[0];
    let mut all: Vec<_> = func
        .resources
        .values()
        .map(|resource| {
            let kind = match resource.kind {
                ResourceKind::Texture { .. } => "texture",
                ResourceKind::Sampler { .. } => "sampler",
                ResourceKind::Uniform { .. } => "uniform",
                _ => "other",
            };
            (resource.group, resource.binding, kind)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_sampler2d_is_a_texture_and_a_sampler_of_one_binding() {
    let parsed = glsl(
        "#version 330 core\nin vec2 uv; out vec4 color;\nuniform sampler2D first, second;\n\
         vec4 twice(sampler2D s) { return texture(s, uv) + texture(s, uv.yx); }\n\
         void main() { color = twice(first) + textureLod(second, uv, 0.0); }",
        Stage::Fragment,
    );
    assert_eq!(
        bindings(&parsed),
        [(0, 0, "sampler"), (0, 0, "texture"), (0, 1, "sampler"), (0, 1, "texture")]
    );
}

#[test]
fn what_was_put_in_does_not_move_places() {
    let text = "#version 310 es\nprecision highp float;\nuniform sampler2D t;\n\
                layout(location = 0) out vec4 c;\nvoid main() { c = texture(t, vec2(0.0)) + wrong; }";
    let source = Source::Glsl { text, stage: Stage::Fragment };
    let failure = parse(source, "test", &Options::default()).expect_err("it is wrong");
    assert_eq!(failure.exit_code(), 1);
    let span = failure.diagnostics[0].labels[0].span;
    assert_eq!(&text[span.start as usize..span.end as usize], "wrong");
}

#[test]
fn matrices_and_arrays_at_the_border_take_a_location_each() {
    let parsed = glsl(
        "#version 450\nlayout(location = 1) in mat3 m; layout(location = 4) in vec4 p;\n\
         layout(location = 0) out vec2 a[3]; layout(location = 3) out mat2 n;\n\
         void main() { a[0] = p.xy; a[1] = m[2].xy; a[2] = m[0].yz; n = mat2(m); gl_Position = p; }",
        Stage::Vertex,
    );
    let func = &parsed.module.funcs[0];
    let mut inputs: Vec<_> = func
        .inputs
        .values()
        .filter_map(|input| match input.kind {
            InputKind::Location { location, .. } => Some((location, input.components)),
            InputKind::Builtin(_) | InputKind::Corner { .. } => None,
        })
        .collect();
    inputs.sort();
    assert_eq!(inputs, [(1, 3), (2, 3), (3, 3), (4, 4)]);
    let mut outputs: Vec<_> = func
        .outputs
        .values()
        .filter_map(|output| match output.kind {
            OutputKind::Location { location, .. } => Some((location, output.components)),
            OutputKind::Builtin(_) => None,
        })
        .collect();
    outputs.sort();
    assert_eq!(outputs, [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2)]);
}

#[test]
fn a_vertex_shader_may_have_no_position() {
    let text = "#version 450\nlayout(location = 0) out float x;\nvoid main() { x = 1.0; }";
    assert_eq!(glsl(text, Stage::Vertex).module.funcs[0].outputs.len(), 1);
}

#[test]
fn two_variables_at_one_location_are_not_taken_for_one() {
    let text = "#version 450\nlayout(location = 0) in vec2 a; layout(location = 0, component = 1) in float b;\n\
                layout(location = 0) out float x;\nvoid main() { x = a.x + b; }";
    let source = Source::Glsl { text, stage: Stage::Fragment };
    let failure = parse(source, "test", &Options::default()).expect_err("they overlap");
    assert_eq!(failure.exit_code(), 1);
    // Beside one another they are one input.
    let text = text.replace("component = 1", "component = 2");
    assert_eq!(glsl(&text, Stage::Fragment).module.funcs[0].inputs.len(), 1);
}

#[test]
fn what_the_reader_lacks_is_no_fault_of_the_text() {
    for body in ["c = vec4(textureFootprintNV(t, 1));", "c = interpolateAtSample(i, 3);"] {
        let text = format!(
            "#version 450\nlayout(binding = 0) uniform sampler2D t; layout(location = 0) in vec4 i;\n\
             layout(location = 0) out vec4 c;\nvoid main() {{ {body} }}"
        );
        let source = Source::Glsl { text: &text, stage: Stage::Fragment };
        let failure = parse(source, "test", &Options::default()).expect_err("not yet");
        assert_eq!(failure.exit_code(), 6, "{body}");
    }
    let inner = "c = interpolateAtCentroid(vec4(0.0));";
    for body in ["c = vec4(nothing(1.0));", "c = undeclared;", "c = vec4(1.0)", inner] {
        let text =
            format!("#version 450\nlayout(location = 0) out vec4 c;\nvoid main() {{ {body} }}");
        let source = Source::Glsl { text: &text, stage: Stage::Fragment };
        let failure = parse(source, "test", &Options::default()).expect_err("it is wrong");
        assert_eq!(failure.exit_code(), 1, "{body}");
    }
}

#[test]
fn a_function_may_end_in_a_loop_that_only_returns() {
    let text = "fn f(a: i32) -> i32 { var i = a; loop { if i > 4 { return i; } \
                switch i { case 3: { break; } default: {} } i += 1; } }\n\
                fn g(a: i32) -> i32 { loop { if a > 1 { break; } } }\n\
                @fragment fn main(@location(0) @interpolate(flat) a: i32) -> @location(0) i32 { return f(a); }";
    let (good, bad) = text.split_once("fn g").expect("it is there");
    let entry = bad.split_once('\n').expect("a line").1;
    read(Source::Wgsl(&format!("{good}\n{entry}")), &Options::default());
    let failure = parse(Source::Wgsl(text), "test", &Options::default()).expect_err("no value");
    assert_eq!(failure.exit_code(), 1);
}

/// Words of a module from instructions: `(opcode, operands)`; the bound is 200.
fn module(insts: &[(u32, &[u32])]) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, 200, 0];
    for (opcode, operands) in insts {
        words.push((operands.len() as u32 + 1) << 16 | opcode);
        words.extend_from_slice(operands);
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

const MAIN: [u32; 2] = [u32::from_le_bytes(*b"main"), 0];

/// A compute program whose size is `WorkgroupSize` of specialization constants: x is constant 7,
/// y is twice x. It stores x to a buffer.
fn specialized() -> Vec<u8> {
    module(&[
        (17, &[1]),
        (14, &[0, 1]),
        (15, &[5, 4, MAIN[0], MAIN[1]]),
        (16, &[4, 17, 1, 1, 1]),
        (71, &[20, 1, 7]),
        (71, &[23, 11, 25]),
        (71, &[30, 6, 4]),
        (71, &[31, 2]),
        (72, &[31, 0, 35, 0]),
        (71, &[33, 34, 0]),
        (71, &[33, 33, 0]),
        (19, &[2]),
        (33, &[3, 2]),
        (21, &[10, 32, 0]),
        (23, &[11, 10, 3]),
        (43, &[10, 12, 0]),
        (43, &[10, 13, 1]),
        (43, &[10, 14, 2]),
        (50, &[10, 20, 4]),
        (52, &[10, 21, 132, 20, 14]),
        (51, &[11, 23, 20, 21, 13]),
        (29, &[30, 10]),
        (30, &[31, 30]),
        (32, &[32, 12, 31]),
        (59, &[32, 33, 12]),
        (32, &[34, 12, 10]),
        (54, &[2, 4, 0, 3]),
        (248, &[40]),
        (65, &[34, 41, 33, 12, 12]),
        (62, &[41, 20]),
        (253, &[]),
        (56, &[]),
    ])
}

#[test]
fn specialization_reaches_the_workgroup_size() {
    let bytes = specialized();
    let size = |overrides: &[(&str, f64)]| {
        let options = Options {
            overrides: overrides.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            ..Options::default()
        };
        read(Source::SpirV(&bytes), &options).module.funcs[0].workgroup_size
    };
    assert_eq!(size(&[]), [4, 8, 1]);
    assert_eq!(size(&[("7", 2.0)]), [2, 4, 1]);
    let options = Options { overrides: vec![("8".to_owned(), 1.0)], ..Options::default() };
    let failure = parse(Source::SpirV(&bytes), "test", &options).expect_err("there is none");
    assert_eq!(failure.exit_code(), 1);
    assert!(failure.render().contains("are: 7"), "it names what there is");
}

/// A fragment program that samples a combined image sampler through a function's parameter.
fn combined() -> Vec<u8> {
    module(&[
        (17, &[1]),
        (14, &[0, 1]),
        (15, &[4, 4, MAIN[0], MAIN[1], 50, 51]),
        (16, &[4, 7]),
        (71, &[50, 30, 0]),
        (71, &[51, 30, 0]),
        (71, &[60, 34, 1]),
        (71, &[60, 33, 3]),
        (19, &[2]),
        (33, &[3, 2]),
        (22, &[10, 32]),
        (23, &[11, 10, 2]),
        (23, &[12, 10, 4]),
        (32, &[13, 1, 11]),
        (32, &[14, 3, 12]),
        (59, &[13, 50, 1]),
        (59, &[14, 51, 3]),
        (25, &[20, 10, 1, 0, 0, 0, 1, 0]),
        (27, &[21, 20]),
        (32, &[22, 0, 21]),
        (59, &[22, 60, 0]),
        (33, &[23, 12, 22, 11]),
        (54, &[12, 70, 0, 23]),
        (55, &[22, 71]),
        (55, &[11, 72]),
        (248, &[73]),
        (61, &[21, 74, 71]),
        (87, &[12, 75, 74, 72]),
        (254, &[75]),
        (56, &[]),
        (54, &[2, 4, 0, 3]),
        (248, &[80]),
        (61, &[11, 81, 50]),
        (57, &[12, 82, 70, 60, 81]),
        (62, &[51, 82]),
        (253, &[]),
        (56, &[]),
    ])
}

#[test]
fn combined_image_samplers_of_spirv_come_apart() {
    let parsed = read(Source::SpirV(&combined()), &Options::default());
    assert_eq!(bindings(&parsed), [(1, 3, "sampler"), (1, 3, "texture")]);
}

#[test]
fn damaged_modules_of_these_kinds_are_endured() {
    gpucc_frontend::silence_quarantined_panics();
    let mut state = 1u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % bound
    };
    for round in 0..1500 {
        let mut bytes = if round % 2 == 0 { combined() } else { specialized() };
        for _ in 0..1 + below(4) {
            let at = 20 + below(bytes.len() - 20);
            match below(3) {
                0 => bytes[at] = below(256) as u8,
                1 => bytes[at] ^= 1 << below(8),
                _ => {
                    let word = at / 4 * 4;
                    bytes.drain(word..(word + 4).min(bytes.len()));
                }
            }
        }
        match parse(Source::SpirV(&bytes), "fuzz", &Options::default()) {
            Ok(parsed) => {
                for func in &parsed.module.funcs {
                    ssa::verify(func).expect("what comes out verifies");
                }
            }
            Err(failure) => {
                assert_ne!(failure.exit_code(), 101, "{}", failure.render());
            }
        }
    }
}

#[test]
fn the_length_of_a_runtime_array_asks_where_it_is() {
    let text = "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer B { uint n; uint rest[]; } b;\n\
                void main() { b.rest[0] = b.n + uint(b.rest.length()); }";
    assert_eq!(glsl(text, Stage::Compute).module.funcs.len(), 1);
}

/// The instructions of a text without the places that they came from.
#[track_caller]
fn code(text: &str, stage: Stage) -> String {
    let mut parsed = glsl(text, stage);
    let func = &mut parsed.module.funcs[0];
    for inst in func.insts.values_mut() {
        inst.span = ssa::Span::NONE;
    }
    func.to_string()
}

#[test]
fn the_profile_and_the_version_choose_between_conditions() {
    let text = "#version 310 es\nprecision mediump float;\nout vec4 c;\nvoid main() {\n#ifdef GL_ES\n\
                #if __VERSION__ == 310\nc = vec4(1.0);\n#else\nwrong;\n#endif\n#else\nwrong;\n#endif\n}";
    let plain =
        "#version 310 es\nprecision mediump float;\nout vec4 c;\nvoid main() { c = vec4(1.0); }";
    assert_eq!(code(text, Stage::Fragment), code(plain, Stage::Fragment));
}

#[test]
fn a_macro_named_like_a_function_of_old_versions_is_the_macro() {
    let head = "#version 330\nuniform sampler2D t; in vec2 uv; out vec4 c;\n";
    let text = "#define texture2D(s,p) texture(s,(p)*2.0)\nvoid main() { c = texture2D(t, uv); }";
    let plain = "void main() { c = texture(t, (uv) * 2.0); }";
    assert_eq!(
        code(&format!("{head}{text}"), Stage::Fragment),
        code(&format!("{head}{plain}"), Stage::Fragment)
    );
}

#[test]
fn declarations_that_conditions_leave_out_take_no_binding() {
    let parsed = glsl(
        "#version 330\n#if 0\nuniform sampler2D a;\n#endif\n#ifdef NO\nuniform sampler2D b;\n#endif\n\
         uniform sampler2D t; out vec4 c;\nvoid main() { c = texture(t, vec2(0.5)); }",
        Stage::Fragment,
    );
    assert_eq!(bindings(&parsed), [(0, 0, "sampler"), (0, 0, "texture")]);
}

#[test]
fn macros_may_stand_for_types_qualifiers_and_lengths() {
    for (text, plain, stage) in [
        (
            "#version 330\n#define TEX sampler2D\nuniform TEX t; out vec4 c;\n\
             void main() { c = texture(t, vec2(0.5)); }",
            "#version 330\nuniform sampler2D t; out vec4 c;\nvoid main() { c = texture(t, vec2(0.5)); }",
            Stage::Fragment,
        ),
        (
            "#version 120\n#define lowp\nuniform lowp vec4 u;\nvoid main() { gl_FragColor = u; }",
            "#version 120\nuniform vec4 u;\nvoid main() { gl_FragColor = u; }",
            Stage::Fragment,
        ),
        (
            "#version 120\n#define N 3\nvarying vec3 a[N]; varying vec2 b;\n\
             void main() { gl_FragColor = vec4(a[2], b.y); }",
            "#version 120\nvarying vec3 a[3]; varying vec2 b;\nvoid main() { gl_FragColor = vec4(a[2], b.y); }",
            Stage::Fragment,
        ),
    ] {
        assert_eq!(code(text, stage), code(plain, stage), "{text}");
    }
}

#[test]
fn the_attributes_of_one_declaration_have_a_location_each() {
    let text = "#version 120\nattribute vec4 p, c; varying vec4 v;\n\
                void main() { gl_Position = p; v = c; }";
    let parsed = glsl(text, Stage::Vertex);
    let inputs = parsed.module.funcs[0].inputs.values();
    let locations: Vec<_> = inputs
        .map(|input| match input.kind {
            InputKind::Location { location, .. } => location,
            InputKind::Builtin(_) | InputKind::Corner { .. } => u32::MAX,
        })
        .collect();
    assert_eq!(locations, [0, 1]);
}

#[test]
fn a_parameter_hides_a_sampler_of_its_name_in_its_function_alone() {
    let text = |name: &str| {
        format!(
            "#version 330\nuniform sampler2D t; out vec4 c;\n\
             vec4 f(vec4 {name}) {{ return {name} * 2.0; }}\n\
             void main() {{ c = f(texture(t, vec2(0.5))); }}"
        )
    };
    let other = code(&text("x"), Stage::Fragment).replace("\"x\" private", "\"t\" private");
    assert_eq!(code(&text("t"), Stage::Fragment), other);
}

#[test]
fn a_uniform_may_be_of_a_structure_without_a_name() {
    let text = "#version 330\nuniform struct { vec4 a; float b; } u; out vec4 c;\n\
                void main() { c = u.a * u.b; }";
    let parsed = glsl(text, Stage::Fragment);
    assert_eq!(bindings(&parsed), [(0, 0, "uniform")]);
}

#[test]
fn each_array_of_a_declaration_has_its_own_length() {
    for (declared, apart) in [
        ("vec3 a[2], b[3];", "vec3 a[2]; vec3 b[3];"),
        ("vec3 x = vec3(1.0), a[2];", "vec3 x = vec3(1.0); vec3 a[2];"),
    ] {
        let text = |list: &str| {
            format!(
                "#version 330\nout vec4 o;\nvoid main() {{ {list} a[0] += 1.0; o = vec4(a[1].x); }}"
            )
        };
        assert_eq!(code(&text(declared), Stage::Fragment), code(&text(apart), Stage::Fragment));
    }
    let inputs = "#version 330\nin vec3 a[2], b[2]; out vec4 o;\n\
                  void main() { o = vec4(a[0] + b[1], 1.0); }";
    assert_eq!(glsl(inputs, Stage::Fragment).module.funcs[0].inputs.len(), 4);
}

#[test]
fn sampler_is_a_name_in_opengl() {
    let text = "#version 120\nuniform sampler2D sampler; varying vec2 uv;\n\
                void main() { gl_FragColor = texture2D(sampler, uv); }";
    assert_eq!(bindings(&glsl(text, Stage::Fragment)).len(), 2);
}

#[test]
fn a_matrix_of_two_rows_lies_in_std430_without_gaps() {
    let text = "#version 450\nlayout(std430, binding = 0) buffer B { float f; mat2 m; float g; } b;\n\
                void main() { b.g = b.f; }";
    let code = code(text, Stage::Compute);
    assert!(code.contains("const 0x18 "), "{code}");
}

#[test]
fn members_of_a_block_between_stages_say_how_they_are_interpolated() {
    let text = "#version 330\nin B { flat int a; noperspective vec2 b; centroid vec3 c; vec4 d; } v; out vec4 o;\n\
                void main() { o = vec4(float(v.a), v.b, v.c.x) + v.d; }";
    let parsed = glsl(text, Stage::Fragment);
    let inputs = parsed.module.funcs[0].inputs.values();
    let found: Vec<_> = inputs
        .map(|input| match input.kind {
            InputKind::Location { location, interpolation, sampling } => {
                (location, interpolation, sampling)
            }
            InputKind::Builtin(_) | InputKind::Corner { .. } => panic!("there is none"),
        })
        .collect();
    use ssa::{Interpolation as I, Sampling as S};
    let want = [
        (0, I::Flat, S::Center),
        (1, I::Linear, S::Center),
        (2, I::Perspective, S::Centroid),
        (3, I::Perspective, S::Center),
    ];
    assert_eq!(found, want);
}

#[test]
fn bindings_and_locations_follow_the_order_of_the_text() {
    let parsed = glsl(
        "#version 150\nuniform sampler2D t; uniform Z { vec4 z; }; uniform vec4 a; in vec4 second; in vec2 first;\n\
         out vec4 c; out vec4 d;\nvoid main() { c = a + z + first.xyxy; d = second + texture(t, first); }",
        Stage::Fragment,
    );
    let func = &parsed.module.funcs[0];
    let names: Vec<_> = func.resources.values().map(|data| (data.binding, &*data.name)).collect();
    assert_eq!(names, [(0, "gpucc_Uniforms"), (1, "t"), (1, "t"), (2, "Z")]);
    let inputs: Vec<_> = func.inputs.values().map(|input| &*input.name).collect();
    assert_eq!(inputs, ["second", "first"]);
}

#[test]
fn the_fixed_pipeline_s_varyings_come_before_the_texts() {
    let text = "#version 120\nvarying vec2 own; void main() { gl_FragColor = gl_Color + gl_TexCoord[1] + own.xyxy; }";
    let parsed = glsl(text, Stage::Fragment);
    let inputs = parsed.module.funcs[0].inputs.values();
    let found: Vec<_> = inputs
        .map(|input| match input.kind {
            InputKind::Location { location, .. } => (location, &*input.name),
            InputKind::Builtin(_) | InputKind::Corner { .. } => panic!("there is none"),
        })
        .collect();
    let old = "gpucc_TexCoord";
    assert_eq!(found, [(3, "own"), (0, "gpucc_Color"), (1, old), (2, old)]);
}

#[test]
fn what_is_deep_is_read_or_is_a_limit() {
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let functions: String =
        (1..400).map(|n| format!("float f{n}(float x) {{ return f{}(x); }}\n", n - 1)).collect();
    let structures: String =
        (1..150).map(|n| format!("struct S{n} {{ S{} s; }};\n", n - 1)).collect();
    for (head, body) in [
        ("", format!("c.x = {};", nested("(", "1.0", ")", 120))),
        ("", format!("c.x = {};", nested("(", "1.0", ")", 5000))),
        ("", format!("c.x = 1.0{};", " + c.y".repeat(900))),
        ("", format!("c.x = 1.0{};", " + c.y".repeat(100_000))),
        ("", format!("c.x = {}c.y;", "- ".repeat(400))),
        ("", format!("c.x = {}c.y;", "-(".repeat(100_000))),
        ("", format!("c.x = {}1.0;", "c.y > 0.0 ? 1.0 : ".repeat(400))),
        ("", format!("c.x = {}1.0;", "c.y = ".repeat(400))),
        ("", format!("c.x = {}1.0;", "c.y = ".repeat(100_000))),
        ("", format!("c.x = ({}1.0);", "c.y, ".repeat(5000))),
        ("", format!("c{} = 1.0;", ".xyzw".repeat(900))),
        ("", format!("c.x = {};", nested("vec2(", "1.0", ").x", 120))),
        ("", format!("c.x = float({});", nested("int[](1, 2)[", "1", "]", 120))),
        ("", nested("{", "c.x = 1.0;", "}", 120)),
        ("", nested("if (c.x > 0.0) {", "c.x = 1.0;", "}", 120)),
        ("", nested("for (;;) {", "break;", "}", 120)),
        ("", nested("switch (1) { case 1: ", ";", "}", 120)),
        ("", format!("{} c.x = 1.0;", "if (c.x > 0.0) c.y = 1.0; else ".repeat(400))),
        ("", format!("{} c.x = 1.0;", "while (c.x > 0.0) ".repeat(100_000))),
        ("", format!("float a{} = 1.0;", "[2]".repeat(100))),
        ("float f0(float x) { return x; }\n", "c.x = f399(1.0);".to_owned()),
        ("struct S0 { float s; };\n", format!("S100 a; c.x = a{};", ".s".repeat(101))),
    ] {
        let more = match head {
            "" => "",
            _ if head.starts_with("float") => &functions,
            _ => &structures,
        };
        let text = format!(
            "#version 450\nlayout(location = 0) out vec4 c;\n{head}{more}void main() {{ {body} }}"
        );
        let source = Source::Glsl { text: &text, stage: Stage::Fragment };
        if let Err(failure) = parse(source, "test", &Options::default()) {
            let shown = failure.render();
            assert!(matches!(failure.exit_code(), 1 | 4), "{}", &shown[..shown.len().min(400)]);
        }
    }
}

#[test]
fn depth_behind_early_tests_is_no_output() {
    let text = |early: &str| {
        let head = "#version 450\nlayout(location = 0) out vec4 c;\n";
        format!("{head}{early}\nvoid main() {{ c = vec4(1.0); gl_FragDepth = 0.5; }}")
    };
    let outputs =
        |early: &str| glsl(&text(early), Stage::Fragment).module.funcs[0].outputs.values().count();
    assert_eq!(outputs(""), 2);
    assert_eq!(outputs("layout(early_fragment_tests) in;"), 1);
}

#[test]
fn a_helper_of_the_memory_model_is_one_as_soon_as_it_is_demoted() {
    let head = "#version 450\n#extension GL_EXT_demote_to_helper_invocation : enable\n";
    let text = |pragma: &str, helper: &str| {
        format!(
            "{head}{pragma}layout(location = 0) out vec4 c;\nvoid main() {{ if (gl_FragCoord.x > 1.0) demote; c = vec4({helper}); }}"
        )
    };
    let pragma = "#pragma use_vulkan_memory_model\n";
    let read = |pragma: &str, helper: &str| code(&text(pragma, helper), Stage::Fragment);
    let asked = read(pragma, "helperInvocationEXT()");
    assert_eq!(read(pragma, "gl_HelperInvocation"), asked);
    assert_ne!(read("", "gl_HelperInvocation"), asked);
}

/// A fragment program that demotes and then loads whether it is a helper; the load has this memory access.
fn demoted(access: &[u32]) -> Vec<u8> {
    let load = [[20, 50, 24].as_slice(), access].concat();
    module(&[
        (17, &[1]),
        (17, &[5379]),
        (14, &[0, 1]),
        (15, &[4, 4, MAIN[0], MAIN[1], 24, 25]),
        (16, &[4, 7]),
        (71, &[24, 11, 23]),
        (71, &[25, 30, 0]),
        (19, &[2]),
        (33, &[3, 2]),
        (20, &[20]),
        (22, &[10, 32]),
        (43, &[10, 12, 0]),
        (43, &[10, 13, 0x3f80_0000]),
        (32, &[21, 1, 20]),
        (32, &[22, 3, 10]),
        (59, &[21, 24, 1]),
        (59, &[22, 25, 3]),
        (54, &[2, 4, 0, 3]),
        (248, &[40]),
        (5380, &[]),
        (61, &load),
        (169, &[10, 51, 50, 12, 13]),
        (62, &[25, 51]),
        (253, &[]),
        (56, &[]),
    ])
}

#[test]
fn a_volatile_load_of_a_helper_asks_where_it_stands() {
    let places = |access: &[u32]| {
        let words = demoted(access);
        let parsed = read(Source::SpirV(&words), &Options::default());
        let func = &parsed.module.funcs[0];
        let ops: Vec<ssa::Op> =
            func.regions[func.body].insts.iter().map(|&inst| func.insts[inst].op).collect();
        let last = |wanted: ssa::Op| ops.iter().rposition(|&op| op == wanted).expect("it is there");
        (last(ssa::Op::Demote), last(ssa::Op::IsHelper))
    };
    let (demotes, asks) = places(&[1]);
    assert!(demotes < asks);
    let (demotes, asks) = places(&[]);
    assert!(asks < demotes);
}

/// Corners of the inputs at locations, in order.
fn corners(parsed: &Parsed) -> Vec<(u8, ssa::Part, u8)> {
    let inputs = parsed.module.funcs[0].inputs.values();
    let corner = |data: &ssa::InputData| match data.kind {
        InputKind::Corner { vertex, part } => Some((vertex, part, data.components)),
        _ => None,
    };
    inputs.filter_map(corner).collect()
}

#[test]
fn a_geometry_shader_has_the_inputs_that_it_uses_of_each_vertex() {
    use ssa::{Builtin, Corners, Emits, Part};
    let parsed = glsl(
        "#version 450\nlayout(location = 2) in vec3 color[];\nlayout(lines) in;\n\
         layout(invocations = 3) in; layout(points) out; layout(max_vertices = 5) out;\n\
         layout(location = 1) out vec3 c; layout(location = 4) out flat int id;\n\
         void main() { for (int i = 0; i < gl_in.length(); ++i) { gl_Position = gl_in[i].gl_Position;\n\
         c = color[i]; id = gl_PrimitiveIDIn; EmitVertex(); EndPrimitive(); } }",
        Stage::Geometry,
    );
    let func = &parsed.module.funcs[0];
    let (takes, emits) = (Corners::Lines, Emits::Points);
    assert_eq!(func.geometry, Some(ssa::Geometry { takes, emits, most: 5, invocations: 3 }));
    let [position, color] = [Part::Builtin(Builtin::Position), Part::Location(2)];
    assert_eq!(
        corners(&parsed),
        [(0, position, 4), (1, position, 4), (0, color, 3), (1, color, 3)]
    );
    assert_eq!(func.outputs.len(), 3, "each output is declared once");
}

#[test]
fn distances_reach_a_geometry_shader_where_fragments_find_them() {
    let parsed = glsl(
        "#version 450\nlayout(points) in; layout(points, max_vertices = 1) out;\n\
         in gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[5]; } gl_in[];\n\
         out float gl_ClipDistance[1];\n\
         void main() { gl_ClipDistance[0] = gl_in[0].gl_ClipDistance[4]; EmitVertex(); }",
        Stage::Geometry,
    );
    let found: Vec<_> = corners(&parsed);
    assert_eq!(found, [(0, ssa::Part::Location(28), 4), (0, ssa::Part::Location(29), 1)]);
}

#[test]
fn what_a_geometry_shader_says_must_be_whole_and_fit() {
    let head = "#version 450\nlayout(triangles) in;\nlayout(points, max_vertices = 3) out;\n";
    for (text, message) in [
        ("in vec4 x;\nvoid main() {}", "`x` is an input of a geometry shader"),
        ("in vec4 x[2];\nvoid main() {}", "`x` has 2 vertices, and the primitive has 3"),
        ("void main() { gl_Position = gl_in[3].gl_Position; }", "the index 3 is out of the range"),
        ("layout(lines) in;\nvoid main() {}", "says something else already"),
        ("layout(line_strip) in;\nvoid main() {}", "stands on the other side"),
        ("layout(max_vertices = 3) in;\nvoid main() {}", "`max_vertices` qualifies `out`"),
        ("void main() { EmitStreamVertex(gl_InvocationID); }", "a stream is a constant"),
    ] {
        let text = format!("{head}{text}");
        let source = Source::Glsl { text: &text, stage: Stage::Geometry };
        let failure = parse(source, "test", &Options::default()).expect_err(message);
        assert_eq!(failure.exit_code(), 1, "{message}");
        assert!(failure.render().contains(message), "{}", failure.render());
    }
    for (text, code) in [
        ("#version 450\nlayout(triangles) in;\nvoid main() {}", 1),
        (
            "#version 450\nlayout(points) in; layout(points, max_vertices = 1025) out;\nvoid main() {}",
            4,
        ),
        (
            "#version 450\nlayout(points) in; layout(points, max_vertices = 1) out;\n\
          void main() { EmitStreamVertex(1); }",
            6,
        ),
        (
            "#version 450\nlayout(points) in; layout(points, max_vertices = 1) out;\n\
          void main() { gl_Layer = 1; EmitVertex(); }",
            6,
        ),
        ("#version 140\nvoid main() {}", 1),
    ] {
        let source = Source::Glsl { text, stage: Stage::Geometry };
        let failure = parse(source, "test", &Options::default()).expect_err(text);
        assert_eq!(failure.exit_code(), code, "{text}");
    }
    let fragment = Source::Glsl { text: "void main() { EmitVertex(); }", stage: Stage::Fragment };
    let failure =
        parse(fragment, "test", &Options::default()).expect_err("it is no geometry shader");
    assert!(failure.render().contains("stands outside of a geometry shader"));
}

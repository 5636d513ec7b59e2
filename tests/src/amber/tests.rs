//! Our own scripts, on every machine.

use super::*;
use gpucc::Target;
use std::collections::BTreeMap;

/// What each machine makes of a script.
fn runs(text: &str) -> BTreeMap<&'static str, FileResult> {
    let targets = [Target::Interp].into_iter().chain(Target::machines());
    let run = |target: Target| {
        let compiler = Compiler::new(target, None).expect("a compiler");
        let mut result = FileResult::default();
        of_text(&compiler, text, true, &mut result);
        assert_eq!(result.first_wrong, None, "{}", target.name());
        (target.name(), result)
    };
    targets.map(run).collect()
}

/// The exit codes of machines that refuse a script. All checks hold on the others, and there are so many of them.
fn refused(text: &str, checks: usize) -> Vec<(&'static str, u8)> {
    let mut refused = Vec::new();
    for (name, result) in runs(text) {
        match result.refused {
            Some((code, _)) => refused.push((name, code)),
            None => assert_eq!((result.cases, result.right), (checks, checks), "{name}"),
        }
    }
    refused
}

/// A quarter of the pixel's samples lies left of the edge; the program counts those that it runs for.
const SAMPLES: &str = "#!amber
SHADER vertex corners GLSL
#version 450
layout(location = 0) in vec2 place;
layout(location = 0) out vec2 screen;
void main() { gl_Position = vec4(place, 0.0, 1.0); screen = place; }
END
SHADER fragment shade GLSL
#version 450
layout(location = 0) BY in vec2 screen;
layout(location = 0) out vec4 color;
void main() { color = VALUE; }
END
BUFFER places DATA_TYPE vec2<float> DATA
-1 -1  0.25 -1  -1 1  0.25 1
END
IMAGE four FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 2 HEIGHT 2 SAMPLES 4
IMAGE means FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 2 HEIGHT 2
PIPELINE graphics draw
  ATTACH corners
  ATTACH shade
  VERTEX_DATA places LOCATION 0
  FRAMEBUFFER_SIZE 2 2
  BIND BUFFER four AS color LOCATION 0
  BIND BUFFER means AS resolve
END
RUN draw DRAW_ARRAY AS TRIANGLE_STRIP START_IDX 0 COUNT 4
";

fn samples(by: &str, value: &str, checks: &str) -> String {
    SAMPLES.replace("BY", by).replace("VALUE", value) + checks
}

/// Pixels of several samples are what the 965 and G45 do not have.
const WITHOUT_SAMPLES: [(&str, u8); 2] = [("g45", 3), ("gen4", 3)];

#[test]
fn pixels_of_four_samples_are_resolved_to_their_mean() {
    // The edge cuts the right pixels at a quarter of their width: one sample of four lies left of it.
    let checks = "EXPECT means IDX 0 0 SIZE 1 2 EQ_RGBA 255 128 0 255
EXPECT means IDX 1 0 SIZE 1 2 EQ_RGBA 64 32 0 64
";
    let text = samples("", "vec4(1.0, 0.5, 0.0, 1.0)", checks);
    assert_eq!(refused(&text, 2), WITHOUT_SAMPLES);
}

#[test]
fn a_program_that_asks_for_its_sample_runs_for_each() {
    // The mean of 0 to 3 over 3 is a half. Only sample 2 of the right pixels runs.
    let checks = "EXPECT means IDX 0 0 SIZE 1 2 EQ_RGBA 128 255 255 255
EXPECT means IDX 1 0 SIZE 1 2 EQ_RGBA 43 64 64 64
";
    // Standard places, and what is interpolated there, which is one in clip space for each pixel.
    let value = "vec4(float(gl_SampleID) / 3.0,
        float(distance(gl_SamplePosition, vec2[4](vec2(0.375, 0.125), vec2(0.875, 0.375),
            vec2(0.125, 0.625), vec2(0.625, 0.875))[gl_SampleID]) < 0.001),
        float(distance(screen + 1.0, gl_FragCoord.xy) < 0.001), 1.0)";
    let text = samples("sample", value, checks);
    assert_eq!(refused(&text, 2), WITHOUT_SAMPLES);
}

#[test]
fn storage_textures_of_several_samples_are_refused_where_no_machine_has_them() {
    let text = "#!amber
SHADER compute store GLSL
#version 450
uniform layout(set = 0, binding = 0, r32i) iimage2DMS texels;
void main() { imageStore(texels, ivec2(0), 1, ivec4(1)); }
END
IMAGE four FORMAT R32_SINT DIM_2D WIDTH 2 HEIGHT 2 SAMPLES 4
PIPELINE compute draw
  ATTACH store
  BIND BUFFER four AS storage_image DESCRIPTOR_SET 0 BINDING 0
END
RUN draw 1 1 1
";
    let all = runs(text);
    let codes: BTreeMap<&str, u8> = all
        .iter()
        .map(|(name, run)| (*name, run.refused.as_ref().map_or(0, |why| why.0)))
        .collect();
    let silicon = ["g45", "gen4", "r600", "r700"];
    for (name, code) in codes {
        assert_eq!(code, if silicon.contains(&name) { 3 } else { 6 }, "{name}");
    }
}

const DEPTHS: &str = "#!amber
SHADER vertex corners PASSTHROUGH
SHADER fragment shade GLSL
#version 450
layout(location = 0) out vec4 color;
void main() { gl_FragDepth = gl_FragCoord.x < 1.0 ? 2.5 : -0.5; color = vec4(1.0); }
END
BUFFER colors FORMAT R8G8B8A8_UNORM
BUFFER depths FORMAT D32_SFLOAT
PIPELINE graphics draw
  ATTACH corners
  ATTACH shade
  DEPTH
    TEST on
    COMPARE_OP greater
    WRITE on
  END
  FRAMEBUFFER_SIZE 2 1
  BIND BUFFER colors AS color LOCATION 0
  BIND BUFFER depths AS depth_stencil
END
CLEAR_DEPTH draw BEFORE
CLEAR draw
RUN draw DRAW_RECT POS 0 0 SIZE 2 1
";

#[test]
fn depths_beyond_0_and_1_are_kept_where_a_script_asks_for_them() {
    let script = |extension: &str, before: &str, left: &str, right: &str| {
        let checks = format!("EXPECT depths IDX 0 EQ {left}\nEXPECT depths IDX 4 EQ {right}\n");
        let body = DEPTHS.strip_prefix("#!amber\n").expect("the first line");
        format!("#!amber\n{extension}\n{}{checks}", body.replace("BEFORE", before))
    };
    let extension = "DEVICE_EXTENSION VK_EXT_depth_range_unrestricted";
    assert_eq!(refused(&script(extension, "-1.0", "2.5", "-0.5"), 2), []);
    // Without it both are clamped before they are tested.
    assert_eq!(refused(&script("", "-1.0", "1.0", "0.0"), 2), []);
    assert_eq!(refused(&script("", "1.0", "1.0", "1.0"), 2), []);
}

#[test]
fn wide_lines_and_logic_operations_draw_what_a_script_expects() {
    let text = "[vertex shader passthrough]

[fragment shader]
#version 450
layout(location = 0) out vec4 color;
void main() { color = vec4(1.0, 0.0, 1.0, 1.0); }

[vertex data]
0/R32G32_SFLOAT
-1 0
1 0

[test]
clear color 0 1 1 0
clear
logicOp VK_LOGIC_OP_AND_INVERTED
logicOpEnable true
lineWidth 6
draw arrays LINE_LIST 0 2
logicOpEnable false
draw rect -1 0.5 2 0.5
# The line is six pixels wide: rows 122 to 127 of 250.
probe rect rgba (0, 0, 250, 122) (0, 1, 1, 0)
probe rect rgba (0, 122, 250, 6) (0, 1, 0, 0)
probe rect rgba (0, 128, 250, 59) (0, 1, 1, 0)
probe rect rgba (0, 188, 250, 62) (1, 0, 1, 1)
";
    assert_eq!(refused(text, 4), []);
}

#[test]
fn determinants_and_inverses_of_whole_numbers_are_exact() {
    let text = "#!amber
SHADER compute matrices GLSL
#version 450
layout(set = 0, binding = 0) buffer In { mat4 m[]; };
layout(set = 0, binding = 1) buffer Out { float found[]; };
void main() {
    found[0] = determinant(mat3(m[0]));
    found[1] = determinant(m[1]);
    found[2] = determinant(m[2]);
    mat4 back = inverse(m[2]);
    for (int at = 0; at < 16; at++)
        found[3 + at] = back[at / 4][at % 4];
}
END
BUFFER in DATA_TYPE mat4x4<float> DATA
  2 7 -6 0
  -3 1 8 0
  5 -4 9 0
  0 0 0 1
  1 5 -2 4
  2 -6 3 -7
  -3 7 1 6
  4 2 8 -5
  1 2 -1 4
  -2 -3 5 -8
  3 8 4 10
  1 1 1 -5
END
BUFFER out DATA_TYPE float SIZE 19 FILL 0.0
PIPELINE compute all
  ATTACH matrices
  BIND BUFFER in AS storage DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER out AS storage DESCRIPTOR_SET 0 BINDING 1
END
RUN all 1 1 1
EXPECT out IDX 0 EQ 509.0 -36.0 1.0
EXPECT out IDX 12 TOLERANCE 0.001 EQ 308.0 94.0 -43.0 10.0 -193.0 -59.0 27.0 -6.0 65.0 20.0 -9.0 2.0 36.0 11.0 -5.0 1.0
";
    // Programs of the R600 family store to no buffers.
    assert_eq!(refused(text, 2), [("r600", 3)]);
}

/// Machines that run no geometry shaders, and the 965, which has no primitives with adjacency.
const WITHOUT_GEOMETRY: [(&str, u8); 5] =
    [("gen4", 3), ("r600", 6), ("r700", 6), ("rogue", 6), ("valhall", 3)];

/// Each invocation fills a half of the picture in the colour of a vertex that a uniform chooses. The strip begins anew, and
/// what is emitted beyond the most is dropped.
const HALVES: &str = "#!amber
SHADER vertex corners GLSL
#version 450
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 given;
void main() { gl_Position = vec4(color.xy, 0.0, 1.0); given = color; }
END
SHADER geometry halves GLSL
#version 450
layout(lines_adjacency, invocations = 2) in;
layout(triangle_strip, max_vertices = 6) out;
layout(location = 0) in vec4 given[];
layout(location = 1) out Chosen { flat vec4 color; noperspective float one; } chosen;
layout(set = 0, binding = 0) uniform Which { int first; };
void corner(float x, float y) {
  gl_Position = vec4(x, y, 0.0, 1.0);
  int at = (first + gl_InvocationID) % gl_in.length();
  chosen.color = vec4(given[at].xyz, gl_in[at].gl_Position.w);
  chosen.one = 1.0;
  EmitVertex();
}
void main() {
  float left = float(gl_InvocationID) - 1.0;
  corner(-1.0, -1.0); corner(1.0, 1.0);
  EndPrimitive();
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 2; ++x) corner(left + float(x), float(y) * 2.0 - 1.0);
  for (int i = 0; i < 3; ++i) corner(0.5, float(i) - 1.0);
}
END
SHADER fragment shade GLSL
#version 450
layout(location = 1) in Chosen { flat vec4 color; noperspective float one; };
layout(location = 0) out vec4 target;
void main() { target = color * one; }
END
BUFFER colors DATA_TYPE vec4<float> DATA
1 0 0 1  0 1 0 1  0 0 1 1  1 1 0 1
END
BUFFER which DATA_TYPE int32 DATA
FIRST
END
IMAGE picture FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 4 HEIGHT 4
PIPELINE graphics draw
  ATTACH corners
  ATTACH halves
  ATTACH shade
  VERTEX_DATA colors LOCATION 0
  FRAMEBUFFER_SIZE 4 4
  BIND BUFFER which AS uniform DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER picture AS color LOCATION 0
END
RUN draw DRAW_ARRAY AS LINE_LIST_WITH_ADJACENCY START_IDX 0 COUNT 4
";

#[test]
fn each_invocation_of_a_geometry_shader_emits_strips_of_what_a_vertex_gave() {
    let red = "RGBA 255 0 0 255";
    let [green, blue, yellow] = ["RGBA 0 255 0 255", "RGBA 0 0 255 255", "RGBA 255 255 0 255"];
    for (first, left, right) in [("0", red, green), ("1", green, blue), ("3", yellow, red)] {
        let checks = format!(
            "EXPECT picture IDX 0 0 SIZE 2 4 EQ_{left}\nEXPECT picture IDX 2 0 SIZE 2 4 EQ_{right}\n"
        );
        let text = HALVES.replace("FIRST", first) + &checks;
        assert_eq!(refused(&text, 2), WITHOUT_GEOMETRY, "{first}");
    }
}

/// Each point becomes a square of its width, which a uniform scales, and says its width in its colour. The last square leaves the
/// view.
const SQUARES: &str = "#!amber
SHADER vertex points GLSL
#version 450
layout(location = 0) in vec4 point;
layout(location = 3) out float kind;
void main() { gl_Position = vec4(point.xy, 0.5, 1.0); gl_PointSize = point.z; kind = point.w; }
END
SHADER geometry squares GLSL
#version 450
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 3) in float kind[];
layout(location = 0) flat out vec2 color;
layout(set = 0, binding = 0) uniform Scale { float scale; };
void main() {
  float wide = gl_in[0].gl_PointSize * scale;
  for (int i = 0; i < 4; ++i) {
    vec2 side = vec2(i & 1, i >> 1) * wide;
    gl_Position = gl_in[0].gl_Position + vec4(side, 0.0, 0.0);
    color = vec2(gl_in[0].gl_PointSize / 255.0, kind[0]);
    EmitVertex();
  }
}
END
SHADER fragment shade GLSL
#version 450
layout(location = 0) flat in vec2 color;
layout(location = 0) out vec4 target;
layout(set = 0, binding = 1) uniform Rest { float blue; };
void main() { target = vec4(color, blue, 1.0); }
END
BUFFER places DATA_TYPE vec4<float> DATA
-1 -1 4 1   0 0 2 0   0.5 -0.5 8 1
END
BUFFER scale DATA_TYPE float DATA
0.25
END
BUFFER rest DATA_TYPE float DATA
1
END
IMAGE picture FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 8 HEIGHT 8
PIPELINE graphics draw
  ATTACH points
  ATTACH squares
  ATTACH shade
  VERTEX_DATA places LOCATION 0
  FRAMEBUFFER_SIZE 8 8
  BIND BUFFER scale AS uniform DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER rest AS uniform DESCRIPTOR_SET 0 BINDING 1
  BIND BUFFER picture AS color LOCATION 0
END
RUN draw DRAW_ARRAY AS POINT_LIST START_IDX 0 COUNT 3
EXPECT picture IDX 0 0 SIZE 4 2 EQ_RGBA 4 255 255 255
EXPECT picture IDX 0 2 SIZE 4 2 EQ_RGBA 4 255 255 255
EXPECT picture IDX 4 4 SIZE 2 2 EQ_RGBA 2 0 255 255
EXPECT picture IDX 6 2 SIZE 2 6 EQ_RGBA 8 255 255 255
EXPECT picture IDX 0 4 SIZE 4 4 EQ_RGBA 0 0 0 0
EXPECT picture IDX 4 0 SIZE 4 2 EQ_RGBA 0 0 0 0
";

#[test]
fn a_geometry_shader_makes_squares_of_points_by_their_widths() {
    let without: Vec<_> =
        WITHOUT_GEOMETRY.into_iter().filter(|(name, _)| *name != "gen4").collect();
    assert_eq!(refused(SQUARES, 6), without);
}

/// A storage buffer is one for all stages: the vertex shader writes into it, then the geometry shader, then pixels.
const SHARED: &str = "#!amber
SHADER vertex corners GLSL
#version 450
layout(location = 0) in vec2 place;
layout(set = 0, binding = 0) buffer Steps { uint vertices[3]; uint primitives; uint pixels; uint number; };
void main() { gl_Position = vec4(place, 0.0, 1.0); vertices[gl_VertexIndex] = 7u; }
END
SHADER geometry between GLSL
#version 450
layout(triangles) in;
layout(points, max_vertices = 1) out;
layout(set = 0, binding = 0) buffer Steps { uint vertices[3]; uint primitives; uint pixels; uint number; };
void main() {
  primitives = vertices[0] + vertices[1] + vertices[2];
  number = uint(gl_PrimitiveIDIn) + 40u;
  gl_Position = gl_in[0].gl_Position;
  gl_PointSize = 1.0;
  gl_PrimitiveID = 5;
  EmitVertex();
}
END
SHADER fragment shade GLSL
#version 450
layout(set = 0, binding = 0) buffer Steps { uint vertices[3]; uint primitives; uint pixels; uint number; };
layout(location = 0) out vec4 target;
void main() { pixels = primitives + 1u; target = vec4(gl_PrimitiveID == 5); }
END
BUFFER places DATA_TYPE vec2<float> DATA
-0.75 -0.75  0.75 -0.75  -0.75 0.75
END
BUFFER steps DATA_TYPE uint32 SIZE 6 FILL 0
IMAGE picture FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 4 HEIGHT 4
PIPELINE graphics draw
  ATTACH corners
  ATTACH between
  ATTACH shade
  VERTEX_DATA places LOCATION 0
  FRAMEBUFFER_SIZE 4 4
  BIND BUFFER steps AS storage DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER picture AS color LOCATION 0
END
RUN draw DRAW_ARRAY AS TRIANGLE_LIST START_IDX 0 COUNT 3
EXPECT steps IDX 0 EQ 7 7 7 21 22 40
EXPECT picture IDX 0 0 SIZE 1 1 EQ_RGBA 255 255 255 255
EXPECT picture IDX 1 0 SIZE 3 4 EQ_RGBA 0 0 0 0
";

#[test]
fn what_one_stage_of_a_draw_stores_the_next_one_loads() {
    let refused = refused(SHARED, 3);
    assert!(refused.iter().all(|(name, _)| *name != "interp"), "{refused:?}");
}

#[test]
fn a_geometry_shader_takes_the_primitives_that_a_draw_makes() {
    let text = HALVES.replace("FIRST", "0").replace("LINE_LIST_WITH_ADJACENCY", "LINE_LIST");
    let result = &runs(&text)["interp"];
    let (code, what) = result.refused.clone().expect("it is refused");
    assert_eq!(code, 1);
    assert_eq!(what, "the geometry shader takes lines_adjacency, and the draw makes lines");
}

//! Gen4 and G45 on the strict emulator: constants that are pushed, atomic operations in turns, storage textures, masks of samples;
//! strips of geometry programs; the results are compared with the interpreter's.

use crate::common::{Folder, gpucc, text, verified};
use gpucc::described::{Driven, DriverWord};
use gpucc::pipeline::{Robust, Uniforms};
use gpucc::{Choice, Compiler, Effort, Options, Source, Stage, Target};

/// Words of two buffers in all stages, read at once, in branches, and beside what is read from memory; sizes that a program
/// asks for stand among the constants too.
const PUSHED: &str = "
struct Camera { matrix: mat4x4f, tint: vec4f, shift: vec3f, count: u32 }
@group(0) @binding(0) var<uniform> camera: Camera;
@group(1) @binding(0) var<uniform> table: array<vec4f, 8>;
@group(1) @binding(1) var<storage, read_write> out: array<f32>;

struct Varying { @builtin(position) position: vec4f, @location(0) color: vec4f }

@vertex fn vs(@location(0) place: vec3f, @builtin(vertex_index) number: u32) -> Varying {
    let moved = camera.matrix * vec4f(place + camera.shift, 1.0);
    return Varying(moved, camera.tint * table[number % 8u] + table[2]);
}

@fragment fn fs(in: Varying) -> @location(0) vec4f {
    var color = in.color * camera.tint;
    if in.color.x < table[1].y || camera.count > 7u {
        color += table[5] / (1.0 + in.color * in.color);
    }
    return clamp(color, vec4f(0.0), vec4f(1.0));
}

@compute @workgroup_size(24) fn cs(@builtin(local_invocation_index) lane: u32) {
    let scaled = camera.tint.z * f32(lane / (camera.count | 1u)) + table[lane % 8u].w;
    if lane < arrayLength(&out) {
        out[lane] = select(scaled, camera.shift.y, lane == camera.count);
    }
}
";

#[test]
fn uniforms_among_the_constants_are_what_the_buffers_hold() {
    for target in [Target::GEN4, Target::G45] {
        for uniforms in [Uniforms::Loaded, Uniforms::Pushed] {
            let mut options = Options::default();
            options.pipeline.uniforms = uniforms;
            verified(target, options, "pushed.wgsl", Source::Wgsl(PUSHED));
        }
    }
}

/// Written textures of every dimension and width of texels, some places outside.
const STORED: &str = "
@group(0) @binding(0) var layers: texture_storage_2d_array<rgba8unorm, write>;
@group(0) @binding(1) var volume: texture_storage_3d<rgba16float, write>;
@group(0) @binding(2) var line: texture_storage_1d<rg32uint, write>;
@group(0) @binding(3) var heights: texture_storage_2d<r32float, read_write>;
@group(0) @binding(4) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(8, 4, 2)
fn main(@builtin(global_invocation_id) at: vec3u, @builtin(local_invocation_index) lane: u32) {
    textureStore(layers, at.xy, at.z, vec4f(vec3f(at) * 0.1, 1.0));
    textureStore(volume, at, vec4f(vec3f(at) * 0.3, 1.0));
    textureStore(line, at.x * 3u, vec4u(at, lane));
    let height = textureLoad(heights, at.xy);
    if at.z == 0u { textureStore(heights, at.xy, height * 2.0 + 1.0); }
    let sizes = textureDimensions(volume).z * 100u + textureNumLayers(layers) * 10u;
    out[lane] = sizes + textureDimensions(heights).y;
}
";

/// A mask whose first bit is set here and there, and one that discards with it.
const MASKED: &str = "
struct Out { @location(0) color: vec4f, @builtin(sample_mask) mask: u32 }
@fragment fn fs(@location(0) @interpolate(flat) kind: u32, @builtin(position) at: vec4f) -> Out {
    if kind == 5u { discard; }
    let mask = select(u32(at.x) >> 1u, kind, kind % 3u == 0u);
    return Out(vec4f(at.xy, 0.0, 1.0), mask);
}
";

#[test]
fn storage_textures_and_masks_of_samples_are_what_the_interpreter_leaves() {
    for target in [Target::GEN4, Target::G45] {
        for (name, text) in [("stored.wgsl", STORED), ("masked.wgsl", MASKED)] {
            verified(target, Options::default(), name, Source::Wgsl(text));
        }
    }
}

/// A load outside of a texture without alpha gives 1 there, which Vulkan permits.
#[test]
fn alpha_outside_of_a_texture_is_free() {
    let text = "#version 450
        layout(local_size_x = 8) in;
        layout(r32i, binding = 0) readonly uniform iimage2D image;
        layout(std430, binding = 1) buffer Out { ivec4 all[8]; };
        void main() { all[gl_LocalInvocationIndex] = imageLoad(image, ivec2(gl_LocalInvocationID.x * 7u, 2)); }";
    for target in [Target::GEN4, Target::G45] {
        verified(target, Options::default(), "outside.comp", Source::Glsl(text, Stage::Compute));
    }
}

#[test]
fn rows_of_pushed_words_do_not_reach_beyond_the_buffer() {
    let source = "@group(0) @binding(0) var<uniform> k: vec2f;
@vertex fn vs(@location(0) p: vec4f) -> @builtin(position) vec4f { return p * k.y + k.x; }";
    let mut options = Options::default();
    options.pipeline.uniforms = Uniforms::Pushed;
    for target in [Target::GEN4, Target::G45] {
        verified(target, options.clone(), "short.wgsl", Source::Wgsl(source));
        let compiler = Compiler::new(target, None).expect("the target is built");
        let parsed = compiler.parse(Source::Wgsl(source), Choice::default(), &options);
        let entry = parsed.expect("it is right").entries.remove(0);
        let compiled = compiler.compile(&entry.func.expect("it is right"), &options);
        let compiled = compiled.expect("it compiles");
        let program = compiled.program.as_ref().expect("a machine's program");
        let constants = program.compiled().described.driver_constants.iter();
        let words: Vec<Option<u32>> = constants
            .map(|constant| match constant.word {
                DriverWord::Other(Driven::Uniform { offset, .. }) => Some(offset),
                _ => None,
            })
            .collect();
        assert_eq!(words, [Some(0), Some(4), None, None]);
    }
}

/// Flags of distances that clip and that cull, as many as both chips have.
const DISTANCES: &str = "#version 450
layout(location = 0) in vec4 at;
out float gl_ClipDistance[2];
out float gl_CullDistance[4];
void main() {
    gl_Position = at;
    for (int i = 0; i < 2; i++) gl_ClipDistance[i] = at[i] - 0.5;
    for (int i = 0; i < 4; i++) gl_CullDistance[i] = at[i] * float(i - 2);
}
";

#[test]
fn distances_that_cull_have_flags_behind_those_that_clip() {
    for target in [Target::GEN4, Target::G45] {
        let source = Source::Glsl(DISTANCES, Stage::Vertex);
        verified(target, Options::default(), "distances.vert", source);
    }
}

/// What no message does: comparisons in layers with every kind of level, gathers of integers and of comparisons.
const ARITHMETIC: &str = "
@group(0) @binding(0) var shadows: texture_depth_2d_array;
@group(0) @binding(1) var compares: sampler_comparison;
@group(0) @binding(2) var numbers: texture_2d<u32>;
@group(0) @binding(3) var samples: sampler;
@fragment fn fs(@location(0) at: vec4f) -> @location(0) vec4f {
    let layer = i32(at.w);
    let near = textureGatherCompare(shadows, compares, at.xy, layer, at.z);
    let four = textureGather(1, numbers, samples, at.xy, vec2i(1, -2));
    let soft = textureSampleCompare(shadows, compares, at.xy, layer, at.z);
    let flat = textureSampleCompareLevel(shadows, compares, at.xy, layer, at.z, vec2i(1, -1));
    return vec4f(soft, flat, dot(near, vec4f(1.0, 2.0, 4.0, 8.0)), f32(dot(four, vec4u(1, 3, 5, 7))));
}
";

/// Comparisons with gradients: the level is computed.
const STEEP: &str = "#version 450
layout(set = 0, binding = 0) uniform sampler2DShadow plane;
layout(set = 0, binding = 1) uniform samplerCubeShadow cube;
layout(set = 0, binding = 2) uniform sampler2DArrayShadow layers;
layout(location = 0) in vec4 at;
layout(location = 0) out vec4 color;
void main() {
    color.x = textureGrad(plane, at.xyz, at.yz, at.zw);
    color.y = textureGrad(cube, at, at.yzw, at.xzy);
    color.z = textureGrad(layers, at, at.yz, at.wx);
    color.w = 1.0;
}
";

const LINE: &str = "#version 450
layout(set = 0, binding = 0) uniform sampler1D line;
layout(location = 0) in vec4 at;
layout(location = 0) out vec4 color;
void main() { color = textureLod(line, at.x, 0.0) + texture(line, at.y); }
";

#[test]
fn lookups_by_arithmetic_are_the_interpreters() {
    for target in [Target::GEN4, Target::G45] {
        verified(target, Options::default(), "arithmetic.wgsl", Source::Wgsl(ARITHMETIC));
        let steep = Source::Glsl(STEEP, Stage::Fragment);
        verified(target, Options::default(), "steep.frag", steep);
        // Of one level, which may be minified.
        let line = Source::Glsl(LINE, Stage::Fragment);
        verified(target, Options::default(), "line.frag", line);
    }
}

/// What the driver tells of a draw, and what the header and a slot of their own have.
const DRAWN: &str = "#version 450
#extension GL_ARB_shader_draw_parameters : require
layout(location = 0) out vec4 color;
void main() {
    gl_Position = vec4(gl_BaseVertexARB, gl_VertexIndex, gl_BaseInstanceARB, 1.0 + gl_DrawIDARB);
    color = vec4(gl_InstanceIndex);
}
";
const PLACED: &str = "#version 450
layout(location = 0) in vec4 tint;
layout(location = 0) out vec4 color;
void main() { color = tint + vec4(gl_PointCoord, gl_Layer, 1.0); }
";

#[test]
fn numbers_of_the_draw_and_places_in_points_are_inputs() {
    for target in [Target::GEN4, Target::G45] {
        for (text, stage) in [(DRAWN, Stage::Vertex), (PLACED, Stage::Fragment)] {
            verified(target, Options::default(), "drawn", Source::Glsl(text, stage));
        }
    }
}

/// Operands that break a rule of the machine, or differ in what the language leaves open, unless the program mends them: biases that no
/// message takes, a sampler with a border in v for lines and planes, references and places that are no numbers.
const HOSTILE: &str = "
@group(0) @binding(0) var plane: texture_2d<f32>;
@group(0) @binding(1) var layers: texture_2d_array<f32>;
@group(0) @binding(2) var cube: texture_cube<f32>;
@group(0) @binding(3) var line: texture_1d<f32>;
@group(0) @binding(4) var shadow: texture_depth_2d;
@group(0) @binding(5) var filtered: sampler;
@group(0) @binding(6) var compared: sampler_comparison;

struct In {
    @location(0) at: vec4f,
    @location(1) bias: vec4f,
    @location(2) @interpolate(flat) bits: vec4u,
}

@fragment fn biases(in: In) -> @location(0) vec4f {
    return textureSampleBias(plane, filtered, in.at.xy, in.bias.x)
        + textureSampleBias(layers, filtered, in.at.xy, in.bits.x, sqrt(in.bias.y))
        + textureSampleBias(cube, filtered, in.at.xyz, in.bias.z * -1e30)
        + textureSampleBias(plane, filtered, in.at.zw, 15.99);
}

@fragment fn lines(in: In) -> @location(0) vec4f {
    return textureSample(line, filtered, in.at.x) + textureSample(plane, filtered, in.at.xy)
        + textureSample(cube, filtered, bitcast<vec3f>(in.bits.xyz));
}

@fragment fn references(in: In) -> @location(0) vec4f {
    let place = bitcast<vec2f>(in.bits.xy);
    return vec4f(
        textureSampleCompare(shadow, compared, in.at.xy, sqrt(in.bias.x)),
        textureSampleCompareLevel(shadow, compared, place, bitcast<f32>(in.bits.z)),
        textureSampleLevel(plane, filtered, place, bitcast<f32>(in.bits.w)).x,
        textureGather(shadow, filtered, place).y,
    );
}
";

#[test]
fn no_operand_of_a_lookup_breaks_a_rule() {
    for target in [Target::GEN4, Target::G45] {
        verified(target, Options::default(), "hostile.wgsl", Source::Wgsl(HOSTILE));
    }
}

#[test]
fn constant_biases_in_range_cost_nothing() {
    let instructions = |bias: &str| {
        let source = format!(
            "@group(0) @binding(0) var plane: texture_2d<f32>;
@group(0) @binding(1) var filtered: sampler;
@fragment fn fs(@location(0) at: vec2f, @location(1) @interpolate(flat) bias: f32) -> @location(0) vec4f {{
    return textureSampleBias(plane, filtered, at, {bias});
}}"
        );
        let compiler = Compiler::new(Target::G45, None).expect("the target is built");
        let options = Options::default();
        let parsed = compiler.parse(Source::Wgsl(&source), Choice::default(), &options);
        let entry = parsed.expect("it is right").entries.remove(0);
        let compiled = compiler.compile(&entry.func.expect("it is right"), &options);
        let program = compiled.expect("it compiles").binary.program.expect("a machine's program");
        program.compiled().code.len() / 16
    };
    assert_eq!(instructions("-16.0"), instructions("15.99"));
    assert_eq!(instructions("bias"), instructions("15.99") + 3, "the last limit moves the bias");
}

/// Some steps of the inverse have two operands where steps beside them have one.
const INVERSE: &str = "#version 450
layout(binding = 0) uniform U { mat4 m; ivec2 bits; };
layout(location = 0) in vec4 v;
layout(location = 0) out ivec2 o;
void main() { gl_Position = inverse(m) * v; o = bits; }
";

#[test]
fn steps_of_unlike_counts_of_operands_become_no_vector() {
    for target in [Target::GEN4, Target::G45] {
        let source = Source::Glsl(INVERSE, Stage::Vertex);
        verified(target, Options::default(), "inverse.vert", source);
    }
}

/// Arrays of a vertex program in registers: read and written by indices that differ between the two vertices of a thread, in branches
/// that one of them takes, in a loop of as many trips as the vertex says, and by more than one word; one index may be out of range.
const INDEXED: &str = "
struct Out { @builtin(position) at: vec4f, @location(0) @interpolate(flat) all: vec4u }
@vertex fn vs(@location(0) in: vec4u, @builtin(vertex_index) number: u32) -> Out {
    var heap: array<u32, 9>;
    var pairs: array<vec2u, 5>;
    for (var i = 0u; i < in.x % 12u; i++) {
        let at = (in.y + i * number) % 9u;
        if (in.z + i) % 3u == number % 2u { heap[at] = heap[at] + in.w + i; } else { heap[8u - at] = i; }
        pairs[at % 5u] = vec2u(heap[(at + 4u) % 9u], i);
    }
    let last = pairs[in.z % 5u];
    return Out(vec4f(1.0), vec4u(heap[in.w % 9u], last, heap[in.z & 15u] + pairs[3].y));
}
";

#[test]
fn arrays_of_vertices_are_registers_that_an_index_names() {
    for target in [Target::GEN4, Target::G45] {
        for robust in [Robust::Restrict, Robust::Zero, Robust::Off] {
            let mut options = Options::default();
            options.robust = robust;
            // Nothing is said of what an index out of range gives, so that none is.
            let text = match robust {
                Robust::Off => INDEXED.replace("in.z & 15u", "in.z & 7u"),
                _ => INDEXED.to_owned(),
            };
            verified(target, options.clone(), "indexed.wgsl", Source::Wgsl(&text));
            let compiler = Compiler::new(target, None).expect("the target is built");
            let parsed = compiler.parse(Source::Wgsl(&text), Choice::default(), &options);
            let entry = parsed.expect("it is right").entries.remove(0);
            let compiled = compiler.compile(&entry.func.expect("it is right"), &options);
            let compiled = compiled.expect("it compiles");
            let program = compiled.program.as_ref().expect("a machine's program");
            assert_eq!(program.compiled().described.stats.scratch_bytes, 0);
        }
    }
}

/// What follows a vertex is known only at run time; vertices beyond the most; three invocations in one thread.
const REPEATED: &str = "#version 450
layout(triangles, invocations = 3) in;
layout(triangle_strip, max_vertices = 7) out;
layout(location = 0) in vec4 color[];
layout(location = 1) in flat ivec4 n[];
layout(location = 0) out vec4 c;
layout(location = 1) flat out int id;
layout(set = 0, binding = 1) uniform U { int count; int cut; };
void main() {
  for (int i = 0; i < (n[0].x & 7) + 3; ++i) {
    c = color[i % 3] * float(i) + float(gl_InvocationID);
    if ((n[1].y & 1) == 0 || i > 1) gl_Position = gl_in[(i + n[2].z) % 3].gl_Position;
    id = i + count;
    EmitVertex();
    if (((n[1].w >> i) & 1) != 0) EndPrimitive();
  }
}
";

/// Strips that end in one branch, twice, or with the program.
const BRANCHED: &str = "#version 450
layout(lines) in;
layout(line_strip, max_vertices = 4) out;
layout(location = 0) in flat ivec2 n[];
layout(location = 0) out vec4 c;
void v(float x) { gl_Position = gl_in[0].gl_Position + vec4(x); c = vec4(x); EmitVertex(); }
void main() {
  if (n[0].x > 0) { v(1.0); v(2.0); }
  else if (n[0].y > 0) { v(3.0); EndPrimitive(); }
  if (n[1].x > 0) v(4.0);
  EndPrimitive();
  EndPrimitive();
  if (n[1].y > 0) return;
  v(5.0);
}
";

/// Entries of two messages, distances, and six vertices of eight rows.
const WIDE: &str = "#version 450
layout(triangles_adjacency) in;
layout(triangle_strip, max_vertices = 18) out;
layout(location = 0) in mat4 m[];
layout(location = 4) in vec4 a[][3];
layout(location = 0) out vec4 o[8];
out float gl_ClipDistance[3];
void main() {
  for (int i = 0; i < 6; ++i) {
    gl_Position = m[i] * gl_in[i].gl_Position;
    for (int k = 0; k < 8; ++k) o[k] = a[(i + k) % 6][k % 3] + m[k % 6][i % 4];
    gl_ClipDistance[0] = a[i][0].x; gl_ClipDistance[1] = 1.0; gl_ClipDistance[2] = a[i][2].w;
    EmitVertex();
    if (i == 2) EndPrimitive();
  }
}
";

/// A lookup and pushed constants.
const LOOKED_UP: &str = "#version 450
layout(points) in;
layout(triangle_strip, max_vertices = 3) out;
layout(set = 0, binding = 0) uniform sampler2D t;
layout(location = 0) in vec2 uv[];
layout(location = 0) out vec4 c;
layout(push_constant) uniform P { mat4 m; };
void main() {
  for (int i = 0; i < 3; ++i) { c = textureLod(t, uv[0] + vec2(i) * 0.25, 0.0); gl_Position = m * (gl_in[0].gl_Position + c); EmitVertex(); }
}
";

/// Widths of points come in, and numbers of primitives go out.
const WIDTHS: &str = "#version 450
layout(lines) in;
layout(points, max_vertices = 4) out;
layout(location = 1) in vec3 own[];
layout(location = 0) out vec2 c;
void main() {
  for (int i = 0; i < gl_in.length(); ++i) {
    gl_Position = gl_in[i].gl_Position; gl_PointSize = gl_in[1 - i].gl_PointSize * 0.5; gl_PrimitiveID = 7 + i;
    c = vec2(gl_in[i].gl_PointSize, own[i].z); EmitVertex(); EndPrimitive();
  }
}
";

#[test]
fn geometry_programs_emit_the_strips_that_the_interpreter_emits() {
    for effort in [Effort::None, Effort::Full] {
        let mut options = Options::default();
        options.effort = effort;
        for target in [Target::GEN4, Target::G45] {
            for (name, source) in [
                ("repeated", REPEATED),
                ("branched", BRANCHED),
                ("looked_up", LOOKED_UP),
                ("widths", WIDTHS),
            ] {
                verified(target, options.clone(), name, Source::Glsl(source, Stage::Geometry));
            }
        }
        verified(Target::G45, options, "wide", Source::Glsl(WIDE, Stage::Geometry));
    }
}

#[test]
fn the_965_has_no_primitives_with_adjacency() {
    let folder = Folder::new("adjacency");
    let file = folder.write("wide.geom", WIDE);
    let done = gpucc(&[&file, "--target", "gen4"]);
    assert_eq!(done.status.code(), Some(3), "{}", text(&done));
    assert!(text(&done).contains("primitives with adjacency"), "{}", text(&done));
}

// The first pass of deferred shading: several targets at once, of floats and of integers.
//
//   gpucc verify samples/gbuffer.wgsl --target r700

struct Camera { view: mat4x4f, projection: mat4x4f }
struct Object { model: mat4x4f, number: u32 }

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<uniform> object: Object;
@group(0) @binding(2) var surface: texture_2d<f32>;
@group(0) @binding(3) var filtering: sampler;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) normal: vec3f,
    @location(1) uv: vec2f,
    @location(2) depth: f32,
}

@vertex
fn corner(@location(0) position: vec3f, @location(1) normal: vec3f, @location(2) uv: vec2f) -> Corner {
    let seen = camera.view * object.model * vec4f(position, 1.0);
    var out: Corner;
    out.position = camera.projection * seen;
    out.normal = (object.model * vec4f(normal, 0.0)).xyz;
    out.uv = uv;
    out.depth = -seen.z;
    return out;
}

struct Targets {
    @location(0) albedo: vec4f,
    @location(1) normal: vec2f,
    @location(2) number: vec2u,
    @location(3) depth: f32,
}

// A unit vector on the faces of an octahedron, unfolded to a square.
fn unfold(n: vec3f) -> vec2f {
    let flat_n = n.xy / (abs(n.x) + abs(n.y) + abs(n.z));
    let turned = (1.0 - abs(flat_n.yx)) * select(vec2f(-1.0), vec2f(1.0), flat_n >= vec2f(0.0));
    return select(turned, flat_n, n.z >= 0.0);
}

@fragment
fn surface_of(in: Corner, @builtin(front_facing) front: bool) -> Targets {
    let side = select(-1.0, 1.0, front);
    let texel = textureSample(surface, filtering, in.uv);
    var out: Targets;
    out.albedo = vec4f(texel.rgb, 1.0);
    out.normal = unfold(normalize(in.normal) * side);
    out.number = vec2u(object.number, u32(texel.a * 255.0));
    out.depth = in.depth;
    return out;
}

// Dual-source blending: what the glass adds, and by channel what it lets through.
//
//   gpucc verify samples/glass.wgsl --target r700
enable dual_source_blending;

struct Glass { tint: vec3f, thickness: f32 }

@group(0) @binding(0) var<uniform> glass: Glass;
@group(0) @binding(1) var surroundings: texture_cube<f32>;
@group(0) @binding(2) var filtering: sampler;

struct Blend {
    @location(0) @blend_src(0) added: vec4f,
    @location(0) @blend_src(1) kept: vec4f,
}

@fragment
fn main(@location(0) normal: vec3f, @location(1) view: vec3f) -> Blend {
    let n = normalize(normal);
    let v = normalize(view);
    let facing = clamp(abs(dot(n, v)), 0.0, 1.0);
    let mirrored = mix(1.0, 0.04, 1.0 - pow(1.0 - facing, 5.0));
    let path = glass.thickness / max(facing, 0.05);
    var out: Blend;
    out.added = textureSample(surroundings, filtering, reflect(-v, n)) * mirrored;
    out.kept = vec4f(exp(-glass.tint * path) * (1.0 - mirrored), 1.0);
    return out;
}

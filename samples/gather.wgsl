// Soft shadows from four texels at a time: gathered comparisons, weighted as a linear filter would.
//
//   gpucc verify samples/gather.wgsl --target r700

struct Light { to_light: mat4x4f, bias: f32 }

@group(0) @binding(0) var<uniform> light: Light;
@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var compare: sampler_comparison;
@group(0) @binding(3) var albedo: texture_2d<f32>;
@group(0) @binding(4) var filtering: sampler;

fn visibility(uv: vec2f, depth: f32) -> f32 {
    let size = vec2f(textureDimensions(shadow_map));
    let weight = fract(uv * size - 0.5);
    let lit = textureGatherCompare(shadow_map, compare, uv, depth);
    let upper = mix(lit.w, lit.z, weight.x);
    let lower = mix(lit.x, lit.y, weight.x);
    return mix(upper, lower, weight.y);
}

@fragment
fn main(@location(0) world: vec3f, @location(1) uv: vec2f) -> @location(0) vec4f {
    let place = light.to_light * vec4f(world, 1.0);
    let projected = place.xyz / max(place.w, 0.001);
    let lit = visibility(projected.xy * 0.5 + 0.5, projected.z - light.bias);
    // The brightest of four neighbours hides the noise of a dark texel.
    let reds = textureGather(0, albedo, filtering, uv);
    let red = max(max(reds.x, reds.y), max(reds.z, reds.w));
    let base = textureSample(albedo, filtering, uv);
    return vec4f(max(base.r, red), base.gb, 1.0) * mix(0.2, 1.0, lit);
}

// A textured, fogged surface: the level of detail comes from the quad's neighbours.
//
//   gpucc verify samples/textured.wgsl --target r700

struct Fog {
    color: vec3f,
    density: f32,
}

@group(0) @binding(0) var<uniform> fog: Fog;
@group(0) @binding(1) var albedo: texture_2d<f32>;
@group(0) @binding(2) var albedo_sampler: sampler;

@fragment
fn main(@location(0) uv: vec2f, @location(1) distance: f32) -> @location(0) vec4f {
    let texel = textureSample(albedo, albedo_sampler, uv);
    let clear = exp2(-fog.density * max(distance, 0.0));
    return vec4f(mix(fog.color, texel.rgb, clear), texel.a);
}

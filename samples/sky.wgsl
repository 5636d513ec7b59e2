// A mirror under several skies: cubes and an array of cubes, at levels that depend on the roughness.
//
//   gpucc verify samples/sky.wgsl --target r700

struct Scene { eye: vec3f, roughness: f32, sky: i32, blend: f32 }

@group(0) @binding(0) var<uniform> scene: Scene;
@group(0) @binding(1) var day: texture_cube<f32>;
@group(0) @binding(2) var others: texture_cube_array<f32>;
@group(0) @binding(3) var filtering: sampler;

@fragment
fn main(@location(0) world: vec3f, @location(1) normal: vec3f) -> @location(0) vec4f {
    let view = normalize(world - scene.eye);
    let mirrored = reflect(view, normalize(normal));
    let levels = f32(textureNumLevels(day) - 1u);
    let rough = textureSampleLevel(day, filtering, mirrored, scene.roughness * levels);
    let sharp = textureSample(day, filtering, mirrored);
    let count = i32(textureNumLayers(others));
    let other = textureSampleBias(others, filtering, mirrored, clamp(scene.sky, 0, count - 1), 0.5);
    return mix(mix(sharp, rough, scene.roughness), other, clamp(scene.blend, 0.0, 1.0));
}

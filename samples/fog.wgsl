// Light through a volume: a texture of three dimensions, walked until nothing more is seen.
//
//   gpucc verify samples/fog.wgsl --target r700

struct Volume { low: vec3f, steps: u32, high: vec3f, density: f32 }

@group(0) @binding(0) var<uniform> volume: Volume;
@group(0) @binding(1) var smoke: texture_3d<f32>;
@group(0) @binding(2) var filtering: sampler;

@fragment
fn main(@location(0) eye: vec3f, @location(1) world: vec3f) -> @location(0) vec4f {
    let steps = min(volume.steps, 24u);
    let stride = (world - eye) / f32(max(steps, 1u));
    var place = eye;
    var seen = 1.0;
    var light = vec3f(0.0);
    for (var i = 0u; i < steps; i++) {
        place += stride;
        let uvw = (place - volume.low) / (volume.high - volume.low);
        if any(uvw < vec3f(0.0)) || any(uvw > vec3f(1.0)) {
            continue;
        }
        let cloud = textureSampleLevel(smoke, filtering, uvw, 0.0);
        let kept = exp2(-cloud.a * volume.density);
        light += cloud.rgb * seen * (1.0 - kept);
        seen *= kept;
        if seen < 0.01 {
            break;
        }
    }
    return vec4f(light, 1.0 - seen);
}

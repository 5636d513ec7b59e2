// An ocean surface from three sine waves, with its exact normal: sin and cos in a vertex shader.
//
//   gpucc verify samples/waves.wgsl --target r700

struct Params {
    view_projection: mat4x4f,
    time: f32,
}

@group(0) @binding(0) var<uniform> params: Params;

struct Surface {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
    @location(1) height: f32,
}

@vertex
fn main(@location(0) ground: vec2f) -> Surface {
    let directions = array<vec2f, 3>(vec2f(1.0, 0.2), vec2f(-0.4, 0.9), vec2f(0.6, -0.8));
    var height = 0.0;
    var tilt = vec2f(0.0);
    var frequency = 1.0;
    for (var i = 0u; i < 3u; i++) {
        let d = directions[i] * frequency;
        let phase = dot(d, ground) + params.time * sqrt(frequency);
        height += sin(phase) / frequency;
        tilt += cos(phase) / frequency * d;
        frequency *= 1.9;
    }
    var out: Surface;
    out.clip = params.view_projection * vec4f(ground.x, height, ground.y, 1.0);
    out.normal = normalize(vec3f(-tilt.x, 1.0, -tilt.y));
    out.height = height;
    return out;
}

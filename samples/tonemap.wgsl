// Film-like tone mapping with exposure, saturation and gamma: exp, log and pow at work.
//
//   gpucc verify samples/tonemap.wgsl --target r700

struct Grade {
    exposure: f32,
    saturation: f32,
    gamma: f32,
}

@group(0) @binding(0) var<uniform> grade: Grade;

fn film(x: vec3f) -> vec3f {
    return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), vec3f(0.0), vec3f(1.0));
}

@fragment
fn main(@location(0) hdr: vec3f) -> @location(0) vec4f {
    let exposed = max(hdr, vec3f(0.0)) * exp2(grade.exposure);
    let grey = dot(exposed, vec3f(0.2126, 0.7152, 0.0722));
    let mapped = film(mix(vec3f(grey), exposed, grade.saturation));
    return vec4f(pow(mapped, vec3f(1.0 / max(grade.gamma, 0.1))), 1.0);
}

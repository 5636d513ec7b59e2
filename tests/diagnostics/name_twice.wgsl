fn shade(a: f32) -> f32 {
    return a;
}

fn shade(a: vec3f) -> vec3f {
    return a;
}

@fragment
fn main(@location(0) a: f32) -> @location(0) vec4f {
    return vec4f(shade(a));
}

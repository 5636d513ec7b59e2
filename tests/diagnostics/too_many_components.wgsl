@fragment
fn main(@location(0) a: vec3f) -> @location(0) vec4f {
    return vec4f(a, 1.0, 1.0);
}

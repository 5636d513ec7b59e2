@fragment
fn main(@location(0) a: vec3f) -> @location(0) vec4f {
    let b = a * 2.0
    return vec4f(b, 1.0);
}

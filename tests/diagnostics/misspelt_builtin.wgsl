@fragment
fn main(@location(0) a: vec3f) -> @location(0) vec4f {
    return vec4f(normalise(a), 1.0);
}

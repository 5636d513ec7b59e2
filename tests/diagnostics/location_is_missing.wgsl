@fragment
fn main(a: vec3f) -> @location(0) vec4f {
    return vec4f(a, 1.0);
}

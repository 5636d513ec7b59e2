@fragment
fn main(@location(0) a: vec2f) -> @location(0) vec4f {
    return vec4f(a.x, a.y, a.z, 1.0);
}

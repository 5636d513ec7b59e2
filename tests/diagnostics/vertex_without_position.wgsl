@vertex
fn main(@location(0) a: vec3f) -> @location(0) vec3f {
    return a;
}

@fragment
fn main(@location(0) uv: vec2f) -> @location(0) vec4f {
    return vec4f(uv, scale, 1.0);
}

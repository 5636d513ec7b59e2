@fragment
fn main(@location(0) uv: vec2f) -> @location(0) vec4f {
    let light = vec3f(0.5) * uv;
    return vec4f(light, 1.0);
}

@fragment
fn main(@location(0) a: f32) -> @location(0) vec4f {
    return vec4f(lerp(0.0, 1.0, a));
}

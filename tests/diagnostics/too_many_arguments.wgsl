fn scale(a: f32) -> f32 {
    return a * 2.0;
}

@fragment
fn main(@location(0) a: f32) -> @location(0) vec4f {
    return vec4f(scale(a, 2.0));
}

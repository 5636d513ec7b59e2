fn scale(a: f32) -> f32 {
    return a * 2.0;
}

@fragment
fn main(@location(0) @interpolate(flat) a: u32) -> @location(0) vec4f {
    return vec4f(scale(a));
}

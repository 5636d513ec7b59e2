@fragment
fn main(@location(0) a: f32) -> @location(0) vec4f {
    let b = a > 0.5 ? 1.0 : 0.0;
    return vec4f(b);
}

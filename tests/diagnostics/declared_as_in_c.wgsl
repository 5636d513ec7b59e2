@fragment
fn main(@location(0) a: f32) -> @location(0) vec4f {
    float b = a * 2.0;
    return vec4f(b);
}

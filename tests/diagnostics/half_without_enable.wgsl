@fragment
fn main(@location(0) a: f32) -> @location(0) vec4f {
    let b = f16(a);
    return vec4f(f32(b));
}

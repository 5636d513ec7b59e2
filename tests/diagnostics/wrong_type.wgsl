@fragment
fn main() -> @location(0) vec4f {
    let count: u32 = 1.5;
    return vec4f(f32(count));
}

@fragment
fn main() -> @location(0) vec4f {
    let n: u32 = -1;
    return vec4f(f32(n));
}

@fragment
fn main() -> @location(0) vec4f {
    let n: u32 = 4294967296;
    return vec4f(f32(n));
}

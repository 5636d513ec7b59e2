@fragment
fn main(@location(0) a: f32) -> @location(0) vec4f {
    let n: i32 = 3;
    return vec4f(a * n);
}

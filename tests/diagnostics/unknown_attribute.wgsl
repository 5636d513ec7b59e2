@fragment
fn main(@localtion(0) a: f32) -> @location(0) vec4f {
    return vec4f(a);
}

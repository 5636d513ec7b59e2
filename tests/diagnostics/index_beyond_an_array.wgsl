@fragment
fn main() -> @location(0) vec4f {
    var table = array<f32, 4>(0.0, 0.1, 0.2, 0.3);
    return vec4f(table[4]);
}

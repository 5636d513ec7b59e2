const zero = 0;

@fragment
fn main() -> @location(0) vec4f {
    return vec4f(f32(1 / zero));
}

var<uniform> a: vec4f;

@fragment
fn main() -> @location(0) vec4f {
    return a;
}

@group(0) @binding(0) var<uniform> a: vec4f;
@group(0) @binding(0) var<uniform> b: vec4f;

@fragment
fn main() -> @location(0) vec4f {
    return a + b;
}

@group(0) @binding(0) var<uniform> data: vec4f;

@fragment
fn main() -> @location(0) vec4f {
    data.x = 1.0;
    return data;
}

@group(0) @binding(0) var<uniform> data: array<vec4f>;

@fragment
fn main() -> @location(0) vec4f {
    return data[0];
}

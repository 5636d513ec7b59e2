@group(0) @binding(0) var<uniform> weights: array<f32, 8>;

@fragment
fn main() -> @location(0) vec4f {
    return vec4f(weights[0]);
}

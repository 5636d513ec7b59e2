@group(0) @binding(0) var image: texture2D<f32>;
@group(0) @binding(1) var linear: sampler;

@fragment
fn main(@location(0) uv: vec2f) -> @location(0) vec4f {
    return textureSample(image, linear, uv);
}

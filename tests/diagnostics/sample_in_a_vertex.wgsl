@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;

@vertex
fn main(@location(0) uv: vec2f) -> @builtin(position) vec4f {
    return textureSample(image, linear, uv);
}

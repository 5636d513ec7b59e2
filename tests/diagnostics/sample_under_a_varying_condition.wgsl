@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;

@fragment
fn main(@location(0) uv: vec2f) -> @location(0) vec4f {
    var color = vec4f(0.0);
    if uv.x > 0.5 {
        color = textureSample(image, linear, uv);
    }
    return color;
}

@group(0) @binding(0) var image: texture_depth_2d;
@group(0) @binding(1) var linear: sampler;

@fragment
fn main(@location(0) uv: vec2f) -> @location(0) vec4f {
    return vec4f(textureSampleCompare(image, linear, uv, 0.5));
}

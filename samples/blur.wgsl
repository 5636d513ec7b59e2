// A Gaussian blur along one axis: nine taps of a texture, weights from a constant array.
//
//   gpucc verify samples/blur.wgsl --target r700

struct Params {
    direction: vec2f, // one texel along the blurred axis, in texture coordinates
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var image: texture_2d<f32>;
@group(0) @binding(2) var image_sampler: sampler;

const WEIGHTS = array<f32, 5>(0.2270270, 0.1945946, 0.1216216, 0.0540541, 0.0162162);

@fragment
fn main(@location(0) uv: vec2f) -> @location(0) vec4f {
    var sum = WEIGHTS[0] * textureSampleLevel(image, image_sampler, uv, 0.0);
    for (var i = 1u; i < 5u; i++) {
        let offset = f32(i) * params.direction;
        sum += WEIGHTS[i] * textureSampleLevel(image, image_sampler, uv + offset, 0.0);
        sum += WEIGHTS[i] * textureSampleLevel(image, image_sampler, uv - offset, 0.0);
    }
    return sum;
}

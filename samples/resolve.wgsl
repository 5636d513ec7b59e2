// Samples of a pixel become one colour, the brightest weighted least.
//
//   gpucc verify samples/resolve.wgsl --target r700

@group(0) @binding(0) var samples: texture_multisampled_2d<f32>;

@fragment
fn main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let at = vec2u(position.xy) % textureDimensions(samples);
    let count = i32(textureNumSamples(samples));
    var sum = vec4f(0.0);
    var weights = 0.0;
    for (var i = 0; i < count; i++) {
        let color = textureLoad(samples, at, i);
        let weight = 1.0 / (1.0 + max(max(color.r, color.g), color.b));
        sum += color * weight;
        weights += weight;
    }
    return sum / weights;
}

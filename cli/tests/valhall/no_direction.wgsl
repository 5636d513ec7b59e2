// A cube looked up in directions of which some are zeroes: a place that is no number is a corner of a face.
@group(0) @binding(0) var sky: texture_cube<f32>;
@group(0) @binding(1) var plain: sampler;

@fragment fn some_nowhere(@location(0) way: vec3f) -> @location(0) vec4f {
    return textureSample(sky, plain, step(vec3f(0.5), fract(way))) + textureSampleBias(sky, plain, way * step(0.5, fract(way.x)), 1.0);
}

// on valhall
// 1 .2d.zero
// 1 .2d.explicit
// 2 .2d.computed
// 1 .2d.computed_bias
@group(0) @binding(0) var t: texture_2d<f32>;
@group(0) @binding(1) var s: sampler;
@group(0) @binding(2) var<uniform> level: f32;
@fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f {
  return textureSampleLevel(t, s, uv, 0.0) + textureSampleBias(t, s, uv.yx, 0.0)
    + textureSampleLevel(t, s, uv * 2.0, level) + textureSampleBias(t, s, uv * 3.0, level);
}

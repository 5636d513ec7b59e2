// on g45
// 1 g0<8,8,1>UW 0x0258
// 0 m1.2
@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var how: sampler;
@fragment fn main(@location(0) at: vec2f) -> @location(0) vec4f {
  return vec4f(textureSample(image, how, at).rgb, 1.0);
}

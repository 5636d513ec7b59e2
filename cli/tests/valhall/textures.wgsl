@group(0) @binding(0) var s: sampler;
@group(0) @binding(1) var sc: sampler_comparison;
@group(0) @binding(2) var t1: texture_1d<f32>;
@group(0) @binding(3) var t2: texture_2d<f32>;
@group(0) @binding(4) var t2a: texture_2d_array<f32>;
@group(0) @binding(5) var t3: texture_3d<f32>;
@group(0) @binding(6) var tc: texture_cube<f32>;
@group(0) @binding(7) var tca: texture_cube_array<f32>;
@group(0) @binding(8) var tm: texture_multisampled_2d<f32>;
@group(0) @binding(9) var d2: texture_depth_2d;
@group(0) @binding(10) var d2a: texture_depth_2d_array;
@group(0) @binding(11) var dc: texture_depth_cube;
@group(0) @binding(12) var dca: texture_depth_cube_array;
@group(0) @binding(13) var ti: texture_2d<i32>;
@group(0) @binding(14) var tu: texture_2d_array<u32>;
@group(0) @binding(15) var dm: texture_depth_multisampled_2d;
@group(0) @binding(16) var te: texture_external;
@fragment fn sample_all(@location(0) v: vec4f, @location(1) @interpolate(flat) l: vec4i) -> @location(0) vec4f {
  var r = textureSample(t1, s, v.x) + textureSample(t2, s, v.xy, vec2i(3, -2)) + textureSample(t2a, s, v.xy, l.x, vec2i(-8, 7)) + textureSample(t3, s, v.xyz, vec3i(1,2,-3));
  r += textureSample(tc, s, v.xyz) + textureSample(tca, s, v.xyz, l.y) + textureSampleBias(t2, s, v.xy, v.w) + textureSampleBias(t2a, s, v.xy, l.y, v.z) + textureSampleBias(tc, s, v.xyz, 0.4);
  r += textureSample(d2, s, v.xy) + textureSample(d2a, s, v.xy, l.x) + textureSample(dc, s, v.xyz);
  r += textureSampleCompare(d2, sc, v.xy, v.z) + textureSampleCompare(d2a, sc, v.xy, l.z, v.w) + textureSampleCompare(dc, sc, v.xyz, v.w) + textureSampleCompare(dca, sc, v.xyz, l.x, v.w);
  return r;
}
@fragment fn level_all(@location(0) v: vec4f, @location(1) @interpolate(flat) l: vec4i) -> @location(0) vec4f {
  var r = textureSampleLevel(t2, s, v.xy, v.w) + textureSampleLevel(t2a, s, v.xy, l.x, v.w * 3.0, vec2i(1, 1)) + textureSampleLevel(t3, s, v.xyz, 1.3) + textureSampleLevel(tc, s, v.xyz, v.w) + textureSampleLevel(tca, s, v.xyz, l.x, 0.0);
  r += textureSampleGrad(t2, s, v.xy, v.zw, v.wx) + textureSampleGrad(t2a, s, v.xy, l.w, v.zw, v.wx) + textureSampleGrad(t3, s, v.xyz, v.zwx, v.wxy) + textureSampleGrad(tc, s, v.xyz, v.yzw, v.wxz) + textureSampleGrad(tca, s, v.xyz, l.x, v.yzw, v.wxz);
  r += textureSampleLevel(d2, s, v.xy, l.x) + textureSampleCompareLevel(d2, sc, v.xy, v.z) + textureSampleCompareLevel(dca, sc, v.xyz, l.x, v.w);
  r += textureSampleBaseClampToEdge(t2, s, v.xy);
  return r;
}
@fragment fn gather_all(@location(0) v: vec4f, @location(1) @interpolate(flat) l: vec4i) -> @location(0) vec4f {
  var r = textureGather(1, t2, s, v.xy) + textureGather(2, t2a, s, v.xy, l.x, vec2i(2, -3)) + textureGather(3, tc, s, v.xyz) + textureGather(0, tca, s, v.xyz, l.y);
  r += textureGather(d2, s, v.xy) + textureGather(dc, s, v.xyz) + textureGatherCompare(d2, sc, v.xy, v.z) + textureGatherCompare(d2a, sc, v.xy, l.x, v.z) + textureGatherCompare(dca, sc, v.xyz, l.x, v.w);
  r += vec4f(textureGather(1, ti, s, v.xy)) + vec4f(textureGather(0, tu, s, v.xy, l.x));
  return r;
}
@fragment fn load_all(@location(0) v: vec4f, @location(1) @interpolate(flat) l: vec4i) -> @location(0) vec4f {
  var r = textureLoad(t1, l.x, l.y) + textureLoad(t2, l.xy, l.z) + textureLoad(t2a, l.xy, l.w, 1) + textureLoad(t3, l.xyz, 0) + textureLoad(tm, l.xy, l.z) + textureLoad(d2, l.xy, 1) + textureLoad(d2a, l.xy, l.z, l.w) + textureLoad(dm, l.xy, 1);
  r += vec4f(textureLoad(ti, l.xy, 0)) + vec4f(textureLoad(tu, l.xy, 1, l.z));
  r += vec4f(f32(textureDimensions(t1, l.x)), vec2f(textureDimensions(t2, l.y)), f32(textureNumLevels(t2a))) + vec4f(vec3f(textureDimensions(t3, 1)), f32(textureNumLayers(tca))) + vec4f(vec2f(textureDimensions(tc, l.x)), f32(textureNumSamples(tm)), f32(textureNumLayers(t2a)));
  return r;
}

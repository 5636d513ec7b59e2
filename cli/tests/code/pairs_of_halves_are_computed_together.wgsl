// on valhall
// 3 FADD.v2f16
// 1 FADD.v2f16.clamp_0_1
// 2 FMA.v2f16
// 1 FMIN.v2f16
// 1 FMAX.v2f16
// 1 FROUND.v2f16.rtn
// 1 FROUND.v2f16.rtp
// 1 FROUND.v2f16.rtz
// 4 FROUND.v2f16
// 1 V2F32_TO_V2F16
enable f16;
@group(0) @binding(0) var<storage, read_write> data: array<vec4<f16>, 8>;
@group(0) @binding(1) var<storage, read_write> wide: array<vec4f, 8>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  let b = data[1];
  let sum = a.xy + b.xy;
  let difference = a.zw - b.zw;
  data[2] = vec4(sum, difference);
  data[3] = vec4(a.xy * b.xy, fma(a.zw, b.xy, a.xy));
  data[4] = vec4(min(a.xy, b.zw), max(a.zw, b.xy));
  data[5] = vec4(floor(a.xy), ceil(a.zw));
  data[6] = vec4(trunc(b.xy), round(b.zw));
  let w = wide[0];
  data[7] = vec4(vec2<f16>(w.xy), saturate(b.xy));
}

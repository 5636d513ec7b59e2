// on valhall
// 0 FMAX
// 0 FMIN
// 1 FMA.f32.clamp_m1_1
// 2 FMA.f32.clamp_0_1
// 1 FADD.f32.clamp_0_inf
@group(0) @binding(0) var<storage, read_write> data: array<vec4f, 8>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  let b = data[1];
  data[2] = vec4f(saturate(a.x * b.x), max(a.y + b.y, 0.0), clamp(fma(a.z, b.z, a.w), -1.0, 1.0), min(max(a.w * b.w, 0.0), 1.0));
}

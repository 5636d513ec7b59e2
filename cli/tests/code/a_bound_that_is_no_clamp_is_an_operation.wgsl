// on valhall
// 3 FMAX
// 2 FMIN
// 1 clamp_0_inf
// 1 clamp_0_1
@group(0) @binding(0) var<storage, read_write> data: array<vec4f, 8>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  let b = data[1];
  let c = max(a.w * b.w, 0.0);
  data[2] = vec4f(min(a.x * b.x, 1.0), max(a.y + b.y, 2.0), min(max(a.z * b.z, 0.0), 2.0), min(c, 1.0));
  data[3] = vec4f(c, max(b.x - a.y, 1.0), 0.0, 0.0);
}

// on valhall
// 0 FCMP
// 3 FMAX
// 3 CSEL
@group(0) @binding(0) var<storage, read_write> data: array<vec4f, 8>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  let b = data[1];
  let less = abs(a.x) < -b.x;
  data[2] = vec4f(select(a.y, b.y, less), select(a.z, b.z, less), select(a.w, b.w, abs(a.w) > abs(b.z)), a.x);
}

// on valhall
// 6 FADD.f32
// 2 FMA.f32
@group(0) @binding(0) var<storage, read_write> data: array<vec4f, 8>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  let b = data[1];
  data[2] = vec4f(a.x + -b.x, abs(a.y) + b.y, a.z - abs(b.z), -abs(a.w) + abs(b.w));
  data[3] = vec4f(-a.x * abs(b.y), fma(-a.y, abs(b.z), -a.w), a.z + abs(-b.w), abs(a.w - b.x));
}

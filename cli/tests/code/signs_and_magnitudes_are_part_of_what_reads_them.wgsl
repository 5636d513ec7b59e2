// on r700
// 4 |
// 0 MOV
@group(0) @binding(0) var<storage, read_write> data: array<vec4f, 4>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  data[2] = vec4f(a.x - abs(a.y), a.y * -abs(a.z), max(a.z, abs(a.w)), a.w * abs(a.x));
}

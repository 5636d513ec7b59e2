// on gen4 g45
// 2 mul(16)
// 3 mac(16)
// 1 add(16) m4<1>F
@group(0) @binding(0) var<storage, read_write> data: array<f32, 160>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) at: u32) {
  let a = vec3(data[at], data[at + 16], data[at + 32]);
  let b = vec3(data[at + 48], data[at + 64], data[at + 80]);
  data[at + 96] = dot(a, b);
  data[at + 112] = a.x * b.y - a.y * b.x + 2.0;
}

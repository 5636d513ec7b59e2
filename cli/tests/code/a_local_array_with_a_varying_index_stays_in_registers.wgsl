// on r700
// 0 SCRATCH
// 1+ MOVA_INT
@group(0) @binding(0) var<storage, read_write> data: array<vec4u, 8>;
@compute @workgroup_size(1) fn main() {
  var a: array<u32, 8>;
  for (var i = 0u; i < 8u; i++) { a[i] = data[i].x * 3u; }
  a[data[0].y & 7u] = 9u;
  data[1] = vec4u(a[data[0].z & 7u], a[data[0].w & 7u], a[3], a[data[2].x & 7u]);
}

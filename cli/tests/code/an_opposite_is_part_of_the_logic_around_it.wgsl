// on valhall
// 4 SHIFT
// 0 NOT
@group(0) @binding(0) var<storage, read_write> words: array<vec4u, 8>;
@compute @workgroup_size(1) fn main() {
  let a = words[0];
  let b = words[1];
  words[3] = vec4u(a.x & ~b.x, ~a.y | b.y, ~a.z & b.z, a.w ^ ~b.w);
}

// on valhall
// 10 SHIFT
// 2 LSHIFT_OR
// 2 RSHIFT
// 2 LSHIFT_AND
@group(0) @binding(0) var<storage, read_write> words: array<vec4u, 8>;
@compute @workgroup_size(1) fn main() {
  let a = words[0];
  let b = words[1];
  let by = words[2] & vec4u(31u);
  words[3] = vec4u(a.x << 3u ^ b.x, a.y >> 5u | b.y, b.z & a.z << 7u, a.w << by.x ^ b.w);
  words[4] = vec4u(a.x << 3u ^ b.y << 9u, b.x ^ ~(a.y << 2u), ~b.y & a.z >> 3u, 0u);
}

// on valhall
// 0 SHIFT
// 0 MUX
@group(0) @binding(0) var<storage, read_write> words: array<vec4u, 8>;
@compute @workgroup_size(1) fn main() {
  let a = words[0];
  let b = words[1];
  let s = bitcast<vec4i>(words[2]);
  words[3] = vec4u((a.x & 0xffu) + b.x, (a.y >> 8u & 0xffu) + b.y, (a.z >> 24u) + b.z, (a.w >> 16u) + b.w);
  words[4] = vec4u((a.x & 0xffffu) * b.y, b.z - (a.y >> 16u), b.x - (a.z >> 16u & 0xffu), b.w * (a.w >> 24u));
  words[5] = bitcast<vec4u>(vec4i((s.x >> 24u) + s.y, (s.y << 8u >> 24u) + s.z, (s.z >> 16u) + s.w, (s.w << 16u >> 16u) + s.x));
  words[6] = bitcast<vec4u>(vec4f(f32(a.x & 0xffu), f32(a.y >> 16u), f32(s.x << 24u >> 24u), f32(s.y >> 16u)));
}

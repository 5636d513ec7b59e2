// on valhall
// 0 SHIFT
// 0 _TO_
// 4 ICMP
@group(0) @binding(0) var<storage, read_write> words: array<vec4u, 8>;
@compute @workgroup_size(1) fn main() {
  let a = words[0];
  let b = words[1];
  let s = bitcast<vec4i>(words[2]);
  let t = bitcast<vec4i>(words[3]);
  words[4] = select(vec4u(0u), vec4u(1u), vec4<bool>((a.x & 0xffu) < (b.x >> 24u), (a.y >> 16u) >= (b.y & 0xffffu),
    (s.x >> 16u) < (t.x << 16u >> 16u), (s.y >> 24u) == t.y));
}

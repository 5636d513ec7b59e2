// on valhall
// 3 MUX.i32
// 0 SHIFT
@group(0) @binding(0) var<storage, read_write> words: array<vec4u, 8>;
@compute @workgroup_size(1) fn main() {
  let a = words[0];
  let b = words[1];
  let m = words[2];
  words[3] = vec4u(a.x & m.x | b.x & ~m.x, ~m.y & a.y | b.y & m.y, a.z & 0x00ff00ffu | b.z & 0xff00ff00u, 5u);
}

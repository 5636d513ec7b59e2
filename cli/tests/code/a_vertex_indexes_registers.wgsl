// on gen4 g45
// 0 Dual Block
// 1 mov(4) g[a0.0]
// 1 add(1) a0.1
@vertex fn main(@location(0) in: vec4u) -> @builtin(position) vec4f {
  var a: array<u32, 9>;
  a[in.x % 9u] = in.y;
  a[5] = 7u;
  return vec4f(f32(a[in.z % 9u]));
}

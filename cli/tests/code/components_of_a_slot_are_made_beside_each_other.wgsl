// on g45
// 4 g6<1>.
// 1 mul(8) g7<1>.xyzF
// 3 mov(8) m
@vertex fn main(@location(0) a: vec4f, @location(1) b: vec4i) -> @builtin(position) vec4f {
  return vec4f(a.x * a.y, a.z + a.w, f32(b.x & 7), f32(b.y));
}

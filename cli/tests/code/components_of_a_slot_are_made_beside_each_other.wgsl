// on g45
// 0 .xUD
// 1 mov(8) m5<1>
// 1 mov(8) m6<1>
@vertex fn main(@location(0) a: vec4f, @location(1) b: vec4i) -> @builtin(position) vec4f {
  return vec4f(a.x * a.y, a.z + a.w, f32(b.x & 7), f32(b.y)) + vec4f(0.0, 0.0, 0.0, 0.0) * a;
}

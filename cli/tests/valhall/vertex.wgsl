struct U { m: mat4x4f, k: vec4f, n: array<vec4f, 4> }
@group(0) @binding(0) var<uniform> u: U;
struct O { @builtin(position) p: vec4f, @location(0) a: vec4f, @location(2) @interpolate(linear) b: vec3f, @location(5) @interpolate(flat) c: vec2u, @location(7) d: f32 }
@vertex fn v(@location(0) p: vec3f, @location(1) n: vec4f, @location(2) i: vec2i, @location(3) w: vec4u, @builtin(vertex_index) vi: u32, @builtin(instance_index) ii: u32) -> O {
  var o: O;
  o.p = u.m * vec4f(p, 1.0) + u.k * f32(vi);
  o.a = n * u.n[ii & 3u];
  o.b = p * n.w;
  o.c = vec2u(w.x + vi, u32(i.y) ^ ii);
  if (n.x > 0.0) { o.d = n.y; }
  return o;
}

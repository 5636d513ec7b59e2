struct O { @builtin(position) p: vec4f, @location(0) a: vec4f, @location(14) b: vec2f }
@vertex fn v(@builtin(vertex_index) i: u32, @location(0) q: vec4f) -> O {
  var o: O;
  if (i % 3u == 0u) { o.p = q; o.a = q.wzyx; return o; }
  o.p = vec4f(q.xy, 0.0, 1.0); o.b = q.zw;
  for (var k = 0u; k < i; k++) { o.a += q * 0.5; if (o.a.x > 3.0) { break; } }
  return o;
}
@fragment fn f(@location(14) b: vec2f, @location(0) a: vec4f) -> @location(0) vec4f {
  var c = vec4f(0.0);
  if (b.x > 0.0) { c = a; if (a.y < 0.0) { discard; } } else { c.y = a.z; }
  for (var k = 0; k < 4; k++) { c += a * b.y; }
  return c;
}

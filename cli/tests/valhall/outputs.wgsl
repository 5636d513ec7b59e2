struct O { @location(0) a: vec4f, @location(1) b: vec4u, @location(3) c: vec2i, @builtin(frag_depth) d: f32, @builtin(sample_mask) m: u32 }
struct I { @location(0) @interpolate(linear) a: vec4f, @location(1) @interpolate(linear, centroid) b: vec2f, @location(2) @interpolate(perspective, sample) c: vec3f, @location(3) @interpolate(flat) d: vec4u, @location(15) e: vec4f, @builtin(front_facing) f: bool, @builtin(sample_index) s: u32, @builtin(sample_mask) m: u32, @builtin(position) p: vec4f }
@fragment fn many(i: I) -> O {
  var o: O;
  o.a = i.a + i.b.xyxy + i.c.xyzz + i.e + i.p;
  o.b = i.d + vec4u(i.s, i.m, select(3u, 5u, i.f), 7u);
  o.c = vec2i(i.d.xy) - 4;
  o.d = i.e.x * 0.25;
  o.m = i.d.w | 1u;
  if (i.a.x < -3.0) { discard; }
  return o;
}
@fragment fn quads(i: I) -> O {
  var o: O;
  let g = dpdx(i.a) + dpdy(i.e);
  if (i.c.x < 0.0) { discard; }
  o.a = g + fwidth(i.c.xyzz);
  o.b = i.d;
  o.d = i.c.y;
  o.m = i.m;
  return o;
}

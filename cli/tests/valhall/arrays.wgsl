enable wgpu_binding_array;
@group(0) @binding(0) var t: binding_array<texture_2d<f32>, 4>;
@group(0) @binding(1) var s: binding_array<sampler, 2>;
struct U { a: vec4f, b: vec4f }
@group(0) @binding(2) var<uniform> u: binding_array<U, 3>;
struct B { n: u32, v: array<f32> }
@group(0) @binding(3) var<storage, read> b: binding_array<B, 2>;
@group(0) @binding(4) var at: texture_storage_2d<r32uint, atomic>;
var<immediate> im: vec4f;
@fragment fn arrays(@location(0) v: vec4f, @location(1) @interpolate(flat) i: u32) -> @location(0) vec4f {
  let k = i & 3u;
  var r = textureSampleLevel(t[k], s[k & 1u], v.xy, v.z) + textureSample(t[2], s[1], v.xy);
  r += u[k % 3u].b + vec4f(b[k & 1u].v[i % 7u]) + im;
  r += vec4f(vec2f(textureDimensions(t[k])), vec2f(textureDimensions(t[1], 1)));
  r.x += f32(arrayLength(&b[k & 1u].v)) + f32(arrayLength(&b[1].v));
  return r;
}
@compute @workgroup_size(4) fn atomics(@builtin(global_invocation_id) g: vec3u) {
  textureAtomicMax(at, g.xy, g.x * 77u);
  textureAtomicAdd(at, vec2u(1u, 2u), 3u);
}

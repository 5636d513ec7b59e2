@group(0) @binding(0) var w2: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(1) var w3: texture_storage_3d<rgba16float, write>;
@group(0) @binding(2) var wa: texture_storage_2d_array<rg32uint, write>;
@group(0) @binding(3) var r1: texture_storage_1d<r32float, read_write>;
@group(0) @binding(4) var ri: texture_storage_2d<r32sint, read_write>;
@group(0) @binding(5) var rr: texture_storage_2d<rgba32float, read>;
@compute @workgroup_size(4) fn images(@builtin(global_invocation_id) g: vec3u) {
  let v = textureLoad(rr, vec2i(g.xy));
  textureStore(w2, vec2u(g.x, 1u), v);
  textureStore(w3, vec3u(g.x, 2u, 1u), v);
  textureStore(wa, vec2i(g.xy), 1, vec4u(g.x, 2u, 3u, 4u));
  textureStore(r1, g.x, textureLoad(r1, g.x + 1u) + v);
  textureStore(ri, g.xy, textureLoad(ri, g.xy + 1u) + 3);
}

// on valhall
// 0 F16_TO_F32
// 3 FADD.f32
// 1 FMA.f32
enable f16;
@group(0) @binding(0) var<storage, read_write> data: array<vec4<f16>, 8>;
@group(0) @binding(1) var<storage, read_write> wide: array<vec4f, 8>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  let w = wide[0];
  let u = unpack2x16float(bitcast<u32>(w.w));
  wide[1] = vec4f(f32(a.x) + w.x, fma(f32(a.y), w.y, f32(a.z)), u.x + w.x, w.y - u.y);
}

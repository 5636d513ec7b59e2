// on r700
// 1 SETGT_UINT
// 0 SETGT 
@group(0) @binding(0) var<storage, read_write> data: array<vec4u, 4>;
@compute @workgroup_size(1) fn main() {
  data[2].x = bitcast<u32>(select(0.0, 1.0, data[0].x > data[1].y));
}

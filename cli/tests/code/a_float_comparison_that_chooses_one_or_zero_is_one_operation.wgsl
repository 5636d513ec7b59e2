// on r700
// 1 SETE 
// 1 SETNE 
// 1 SETGT 
// 1 SETGE 
// 0 _DX10
// 0 CND
@group(0) @binding(0) var<storage, read_write> data: array<vec4f, 4>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  let b = data[1];
  data[2] = vec4f(select(0.0, 1.0, a.x == b.x), select(1.0, 0.0, a.y == b.y),
                  select(0.0, 1.0, a.z > b.z), select(0.0, 1.0, a.w >= b.w));
}

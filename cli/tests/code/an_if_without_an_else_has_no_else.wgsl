// on r700
// 0 ELSE
// 1 JUMP
@group(0) @binding(0) var<storage, read_write> data: array<vec4f, 8>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  if a.x > a.y {
    data[4] = a * 2.0;
    data[5] = a * 3.0;
  }
  data[6] = a * 4.0;
}

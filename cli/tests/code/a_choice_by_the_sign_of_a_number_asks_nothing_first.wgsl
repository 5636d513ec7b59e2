// on r700
// 2 CNDE R
// 1 CNDGT R
// 2 CNDGE R
// 2 CNDE_INT
// 2 CNDGT_INT
// 2 CNDGE_INT
// 0 SET
@group(0) @binding(0) var<storage, read_write> data: array<vec4f, 8>;
@group(0) @binding(1) var<storage, read_write> numbers: array<vec4i, 8>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  let b = data[1];
  data[2] = vec4f(select(b.x, b.y, a.x == 0.0), select(b.y, b.z, a.y != 0.0), select(b.z, b.w, a.z > 0.0), select(b.w, b.x, a.w >= 0.0));
  data[3] = vec4f(select(b.x, b.z, a.x <= 0.0), 1.0, 2.0, 3.0);
  let i = numbers[0];
  let j = numbers[1];
  numbers[2] = vec4i(select(j.x, j.y, i.x == 0), select(j.y, j.z, i.y != 0), select(j.z, j.w, i.z > 0), select(j.w, j.x, i.w >= 0));
  numbers[3] = vec4i(select(j.x, j.z, i.x < 0), select(j.x, j.z, i.y <= 0), 2, 3);
}

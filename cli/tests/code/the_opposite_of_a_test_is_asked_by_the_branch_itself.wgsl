// on r700
// 0 NOT_INT
// 1+ PRED_SET
@group(0) @binding(0) var<storage, read_write> data: array<vec4u, 8>;
@compute @workgroup_size(1) fn main() {
  let a = data[0];
  let both = (a.x == 5u) && (a.y > 7u);
  if !both {
    data[4] = a * 2u;
    data[5] = a * 3u;
  }
  for (var i = 0u; !(i * i > a.z); i++) { data[6].x = data[6].x + data[i & 7u].y; }
}

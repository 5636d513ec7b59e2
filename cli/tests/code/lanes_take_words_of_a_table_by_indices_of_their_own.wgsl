// on gen4 g45
// 4 VxH
// 2 a0<1>UW
@group(0) @binding(0) var<storage, read_write> data: array<vec2u, 16>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) at: u32) {
  var table = array(vec2u(3, 1), vec2u(4, 1), vec2u(5, 9), vec2u(2, 6), vec2u(5, 3));
  data[at] = table[at % 5u];
}

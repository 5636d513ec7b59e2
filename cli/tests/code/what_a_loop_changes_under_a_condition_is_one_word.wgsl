// on gen4 g45
// 1 (+f0.0) add(16)
// 0 sel(16)
@group(0) @binding(0) var<storage, read_write> data: array<u32, 32>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) at: u32) {
  let count = data[at] & 15u;
  var sum = 1u;
  for (var i = 0u; i < count; i++) {
    if ((i & 3u) == 1u) {
      sum += i;
    }
  }
  data[at + 16] = sum;
}

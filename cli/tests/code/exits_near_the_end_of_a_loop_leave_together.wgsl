// on gen4 g45
// 0 break(16)
// 1 while(16)
@group(0) @binding(0) var<storage, read_write> data: array<i32, 32>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) at: u32) {
  var sum = data[at];
  let step = data[at + 16u];
  for (var i = 0; i < 10; i++) {
    sum += step * i;
    if sum > 1000 { break; }
  }
  data[at] = sum;
}

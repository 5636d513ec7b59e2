// on gen4 g45
// 2 intdiv
// 2 intmod
// 1 sel(16)
@group(0) @binding(0) var<storage, read_write> data: array<u32, 48>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) at: u32) {
  let word = data[at];
  data[at + 16] = 1000000u / (word | 1u);
  data[at + 32] = word % max(at, 3u);
}

// on gen4 g45
// 2 mul(
@group(0) @binding(0) var<storage, read_write> data: array<u32, 48>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) at: u32) {
  let word = data[at];
  data[at + 16] = word * 1000u;
  data[at + 32] = (word & 0xffffu) * 0x12345678u;
}

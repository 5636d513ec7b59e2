// on gen4 g45
// 0 and(
// 0 shr(
// 4 mul(8)
// 4 UB
@group(0) @binding(0) var<storage, read_write> data: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> made: array<vec2f, 16>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) at: u32) {
  made[at] = unpack4x8unorm(data[at]).yw;
}

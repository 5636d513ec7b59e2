// on gen4 g45
// 1 add.sat(16)
// 0 cmp
@group(0) @binding(0) var<storage, read_write> data: array<f32, 16>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) at: u32) {
  data[at] = clamp(data[at] + 0.25, 0.0, 0.5);
}

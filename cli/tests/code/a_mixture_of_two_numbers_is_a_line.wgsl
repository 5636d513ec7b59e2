// on gen4 g45
// 1 line(16)
// 0 mul(16)
@group(0) @binding(0) var<storage, read_write> data: array<f32, 16>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) at: u32) {
  data[at] = mix(2.0, 5.0, data[at]);
}

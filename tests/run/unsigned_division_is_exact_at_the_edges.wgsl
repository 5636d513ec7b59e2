// run: --groups 1 --set 0.0=u32:4294967295,4294967295,2147483648,1 --set 0.1=u32:1,4294967295,3,2 --dump 0.2
// expect: 0.2: 4294967295 1 715827882 0
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> q: array<u32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) { q[i] = a[i] / b[i]; }

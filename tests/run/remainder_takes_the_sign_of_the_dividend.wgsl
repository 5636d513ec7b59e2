// run: --groups 1 --set 0.0=i32:7,-7,7,-7 --set 0.1=i32:3,3,-3,0 --dump 0.2
// expect: 0.2: 1 -1 1 0
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> r: array<i32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) { r[i] = a[i] % b[i]; }

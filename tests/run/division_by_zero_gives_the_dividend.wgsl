// run: --groups 1 --set 0.0=i32:7,-7,5,-2147483648 --set 0.1=i32:0,0,2,-1 --dump 0.2
// expect: 0.2: 7 -7 2 -2147483648
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> q: array<i32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) { q[i] = a[i] / b[i]; }

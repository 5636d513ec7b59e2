// run: --groups 1 --set 0.0=f32:3.9,-3.9,1e20,-1e20,0.5 --dump 0.1 --dump 0.2
// expect: 0.1: 3 -3 2147483520 -2147483648 0
// expect: 0.2: 3 0 4294967040 0 0
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> s: array<i32, 5>;
@group(0) @binding(2) var<storage, read_write> u: array<u32, 5>;
@compute @workgroup_size(5)
fn main(@builtin(local_invocation_index) i: u32) {
    s[i] = i32(a[i]);
    u[i] = u32(a[i]);
}

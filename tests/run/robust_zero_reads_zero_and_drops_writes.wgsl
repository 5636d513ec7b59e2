// run: --groups 1 --robust zero --set 0.0=u32:10,20,30 --set 0.1=u32:0,2,3,4000000000 --set 0.2=zeros:8 --dump 0.2
// expect: 0.2: 10 30
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> at: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) { out[i] = a[at[i]]; }

// run: --groups 2 --set 0.0=u32:1,2,3,4,5,6,7,8 --dump 0.1
// expect: 0.1: 4 3 2 1 8 7 6 5
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 8>;
var<workgroup> tile: array<u32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
    tile[i] += a[group.x * 4u + i];
    workgroupBarrier();
    out[group.x * 4u + i] = tile[3u - i];
}

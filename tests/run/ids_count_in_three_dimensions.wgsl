// run: --groups 2,1,2 --dump 0.0
// expect: 0.0: 0 1 2 3 10 11 12 13 20 21 22 23 30 31 32 33
@group(0) @binding(0) var<storage, read_write> out: array<u32, 16>;
@compute @workgroup_size(2, 2, 1)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(num_workgroups) groups: vec3u,
) {
    let g = group.x + groups.x * (group.y + groups.y * group.z);
    let l = local.x + 2u * local.y;
    out[g * 4u + l] = g * 10u + l;
}

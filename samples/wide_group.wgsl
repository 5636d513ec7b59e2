// More invocations than most machines run in step, without memory of their own to share.
//
//   gpucc run samples/wide_group.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=u32:1,2,3,4 --dump 0.0:u32

override rounds: u32 = 12u;
override lanes: u32 = 128u;

@group(0) @binding(0) var<storage, read_write> states: array<vec2u>;

fn turn(x: u32, by: u32) -> u32 {
    return (x << by) | (x >> (32u - by));
}

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    if id.x >= arrayLength(&states) {
        return;
    }
    var s = states[id.x] + vec2u(id.x, groups.x);
    for (var i = 0u; i < rounds; i++) {
        s.x += s.y;
        s.y = turn(s.y, 13u) ^ s.x;
        s.x = turn(s.x, 16u);
    }
    states[id.x] = s;
}

// Conway's Game of Life on a 16 x 16 torus, one cell a lane.
//
//   gpucc verify samples/life.wgsl --target r700

@group(0) @binding(0) var<storage, read> now: array<u32, 256>;
@group(0) @binding(1) var<storage, read_write> next: array<u32, 256>;

fn alive(x: u32, y: u32) -> u32 {
    return now[(y & 15u) * 16u + (x & 15u)] & 1u;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    // Four workgroups, two by two.
    let x = (group.x & 1u) * 8u + local.x;
    let y = ((group.x >> 1u) & 1u) * 8u + local.y;
    var neighbours = 0u;
    for (var dy = 0u; dy < 3u; dy++) {
        for (var dx = 0u; dx < 3u; dx++) {
            if dx != 1u || dy != 1u {
                neighbours += alive(x + dx + 15u, y + dy + 15u);
            }
        }
    }
    let born = neighbours == 3u;
    let stays = neighbours == 2u && alive(x, y) == 1u;
    next[y * 16u + x] = u32(born || stays);
}

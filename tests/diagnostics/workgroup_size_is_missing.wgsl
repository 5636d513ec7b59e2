@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute
fn main(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = id.x;
}

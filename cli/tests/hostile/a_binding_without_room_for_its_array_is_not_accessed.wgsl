struct Log {
    head: vec4u,
    lines: u32,
    text: array<u32>,
}
@group(0) @binding(0) var<storage, read_write> log: Log;
@group(0) @binding(1) var<storage, read_write> other: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    log.text[id.x + 11u] = 8u;
    other[0] = arrayLength(&log.text);
    other[1] = log.text[id.x];
}

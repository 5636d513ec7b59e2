@group(0) @binding(0) var<storage, read_write> empty: array<u32>;
@group(0) @binding(1) var<storage, read_write> other: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    empty[id.x] = 3u;
    empty[id.x * 5u + 2u] = 4u;
    other[id.x] = empty[id.x + 1u];
}

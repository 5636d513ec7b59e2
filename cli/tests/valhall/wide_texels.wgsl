@group(0) @binding(0) var most: texture_storage_2d<r64uint, atomic>;
@group(0) @binding(1) var sum: texture_storage_2d<r64uint, read_write>;
@group(0) @binding(2) var<storage, read_write> out: array<u64, 8>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
    let high = u64(id.x * 0x9e3779b9u) << 32u;
    textureAtomicMax(most, vec2u(id.x & 1u, 2u), high | u64(id.x));
    textureAtomicMin(most, vec2u(3u, id.x & 3u), high + 5lu);
    let old = textureLoad(sum, vec2u(id.x, 1u));
    textureStore(sum, vec2u(id.x, 1u), vec4<u64>(old.x + 8589934591lu, 1lu, 2lu, 3lu));
    out[id.x & 7u] = old.x + old.w;
}
@fragment fn fs(@builtin(position) at: vec4f) -> @location(0) vec4f {
    textureAtomicMax(most, vec2u(at.xy) & vec2u(3u), u64(at.x) << 33u);
    return at;
}

struct Words { sum: atomic<f32>, difference: atomic<f32> }
@group(0) @binding(0) var<storage, read_write> words: array<Words, 4>;
@group(0) @binding(1) var<storage> terms: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
    let term = terms[id.x];
    atomicAdd(&words[lane & 3u].sum, term);
    if term > 0.0 {
        atomicSub(&words[lane & 1u].difference, term);
    }
}
@fragment
fn fs(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let old = atomicAdd(&words[3].sum, floor(at.x));
    return vec4f(dpdx(at.xy), select(0.0, 1.0, old == old), 1.0);
}

// Counts brightnesses, first in workgroup memory, then in the buffer: atomics throughout.
//
//   gpucc verify samples/histogram.wgsl --target valhall

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 16>;

var<workgroup> local: array<atomic<u32>, 16>;

@compute @workgroup_size(16)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    atomicStore(&local[own], 0u);
    workgroupBarrier();
    let size = textureDimensions(picture);
    for (var y = 0u; y < size.y; y++) {
        let texel = textureLoad(picture, vec2u(id.x % size.x, y), 0);
        let light = dot(texel.rgb, vec3f(0.2126, 0.7152, 0.0722));
        atomicAdd(&local[u32(clamp(light, 0.0, 1.0) * 15.0)], 1u);
    }
    workgroupBarrier();
    atomicAdd(&counts[own], atomicLoad(&local[own]));
}

@group(0) @binding(0) var image: texture_storage_2d<rgb8unorm, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    textureStore(image, id.xy, vec4f(1.0));
}

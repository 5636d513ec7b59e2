// Heat spreads in a texture that is read and written in one pass: each invocation owns a column.
//
//   gpucc verify samples/feedback.wgsl --target r700

@group(0) @binding(0) var field: texture_storage_2d<r32float, read_write>;
@group(0) @binding(1) var<uniform> rate: vec4f;

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(field);
    if id.x >= size.x {
        return;
    }
    var above = textureLoad(field, vec2u(id.x, 0u)).r;
    for (var y = 1u; y < size.y; y++) {
        let here = textureLoad(field, vec2u(id.x, y)).r;
        let mixed = mix(here, above, clamp(rate.x, 0.0, 1.0));
        textureStore(field, vec2u(id.x, y), vec4f(mixed, 0.0, 0.0, 1.0));
        above = mixed;
    }
}

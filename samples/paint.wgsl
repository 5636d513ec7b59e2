// A compute program paints two storage textures: colours packed to bytes, and heights as floats.
//
//   gpucc verify samples/paint.wgsl --target r700

struct Brush { centre: vec2f, radius: f32, hardness: f32, color: vec4f }

@group(0) @binding(0) var<uniform> brush: Brush;
@group(0) @binding(1) var canvas: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var heights: texture_storage_2d<r32float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(canvas);
    if any(id.xy >= size) {
        return;
    }
    let uv = (vec2f(id.xy) + 0.5) / vec2f(size);
    let distance = length(uv - brush.centre);
    let edge = brush.radius * clamp(brush.hardness, 0.0, 1.0);
    let strength = 1.0 - smoothstep(edge, brush.radius + 0.0001, distance);
    let paper = vec4f(0.95, 0.94, 0.9, 1.0);
    textureStore(canvas, id.xy, mix(paper, brush.color, strength));
    textureStore(heights, id.xy, vec4f(strength * strength));
}

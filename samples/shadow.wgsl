// Cascaded shadows: a layer of the map for each distance, nine comparisons around the place.
//
//   gpucc verify samples/shadow.wgsl --target r700

struct Cascade { to_map: mat4x4f, far: f32 }
struct Shadows { cascades: array<Cascade, 4>, texel: f32 }

@group(0) @binding(0) var<uniform> shadows: Shadows;
@group(0) @binding(1) var maps: texture_depth_2d_array;
@group(0) @binding(2) var compare: sampler_comparison;

fn cascade_of(depth: f32) -> i32 {
    var found = 3;
    for (var i = 2; i >= 0; i--) {
        if depth < shadows.cascades[i].far {
            found = i;
        }
    }
    return found;
}

@fragment
fn main(@location(0) world: vec3f, @location(1) depth: f32) -> @location(0) vec4f {
    let layer = cascade_of(depth);
    let place = shadows.cascades[layer].to_map * vec4f(world, 1.0);
    var lit = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let offset = vec2f(f32(x), f32(y)) * shadows.texel;
            lit += textureSampleCompareLevel(maps, compare, place.xy + offset, layer, place.z);
        }
    }
    let hint = vec3f(f32(layer & 1), f32(layer >> 1u), 0.5);
    return vec4f(hint * 0.2 + vec3f(lit / 9.0), 1.0);
}

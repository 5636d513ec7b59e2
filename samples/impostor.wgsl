// Spheres as single quads: the fragment program finds the surface, writes its depth and discards
// what misses.
//
//   gpucc verify samples/impostor.wgsl --target r700

struct Camera { projection: mat4x4f }

@group(0) @binding(0) var<uniform> camera: Camera;

struct Pixel {
    @location(0) color: vec4f,
    @builtin(frag_depth) depth: f32,
}

@fragment
fn main(
    @location(0) ray: vec3f,
    @location(1) @interpolate(flat) centre: vec3f,
    @location(2) @interpolate(flat) radius: f32,
) -> Pixel {
    let direction = normalize(ray);
    let along = dot(direction, centre);
    let miss = dot(centre, centre) - along * along;
    let room = radius * radius - miss;
    if room < 0.0 {
        discard;
    }
    let place = direction * (along - sqrt(max(room, 0.0)));
    let normal = (place - centre) / max(radius, 0.0001);
    let clip = camera.projection * vec4f(place, 1.0);
    var out: Pixel;
    out.depth = clamp(clip.z / clip.w, 0.0, 1.0);
    out.color = vec4f(normal * 0.5 + 0.5, 1.0);
    return out;
}

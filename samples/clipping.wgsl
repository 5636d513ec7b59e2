// Two planes cut a model open; what is inside stays.
//
//   gpucc verify samples/clipping.wgsl --target r700
enable clip_distances;

struct Cut { transform: mat4x4f, planes: array<vec4f, 2> }

@group(0) @binding(0) var<uniform> cut: Cut;

struct Vertex {
    @builtin(position) position: vec4f,
    @builtin(clip_distances) distances: array<f32, 2>,
    @location(0) normal: vec3f,
}

@vertex
fn main(@location(0) position: vec3f, @location(1) normal: vec3f) -> Vertex {
    var out: Vertex;
    out.position = cut.transform * vec4f(position, 1.0);
    for (var i = 0; i < 2; i++) {
        out.distances[i] = dot(cut.planes[i], vec4f(position, 1.0));
    }
    out.normal = normal;
    return out;
}

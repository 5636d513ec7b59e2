// Skeletal animation: each vertex follows up to four bones, weighted.
//
//   gpucc verify samples/skinning.wgsl --target r700

struct Bone {
    rows: mat3x4f, // three rows of an affine transform
}

struct Camera {
    view_projection: mat4x4f,
}

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read> bones: array<Bone>;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) joints: vec4u,
    @location(3) weights: vec4f,
}

struct Skinned {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
}

@vertex
fn main(v: Vertex) -> Skinned {
    var position = vec3f(0.0);
    var normal = vec3f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let weight = v.weights[i];
        if weight == 0.0 {
            continue;
        }
        let rows = bones[v.joints[i]].rows;
        position += weight * (vec4f(v.position, 1.0) * rows);
        normal += weight * (vec4f(v.normal, 0.0) * rows);
    }
    var out: Skinned;
    out.clip = camera.view_projection * vec4f(position, 1.0);
    out.normal = normalize(normal);
    return out;
}

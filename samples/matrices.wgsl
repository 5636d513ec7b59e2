// Matrices: products, transpose, determinant, and an inverse by cofactors. The front
// end splits matrices into columns of scalars, so machines have no matrices.
//
//   gpucc verify samples/matrices.wgsl --target r700

struct Params {
    model: mat4x4f,
    scale: mat3x3f,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> points: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> moved: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> facts: array<f32>;

fn cofactors(m: mat3x3f) -> mat3x3f {
    return mat3x3f(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1]));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    let p = points[i];
    let rotated = params.model * p + p * transpose(params.model);
    let normal = cofactors(params.scale) * p.xyz;
    moved[i] = vec4f(rotated.xyz + normal, rotated.w);
    facts[i] = determinant(params.scale) + determinant(params.model) * p.x;
}

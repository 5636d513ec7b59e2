// Rotations as quaternions: products, rotation of a vector, and interpolation by angle (acos, sin).
//
//   gpucc run samples/quaternion.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=f32:0,0,0.7071,0.7071 --set 0.1=zeros:16 --dump 0.1:f32

@group(0) @binding(0) var<storage, read> rotations: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

fn multiply(a: vec4f, b: vec4f) -> vec4f {
    return vec4f(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

fn rotate(q: vec4f, v: vec3f) -> vec3f {
    let t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

fn blend(a: vec4f, b: vec4f, t: f32) -> vec4f {
    let cosine = clamp(dot(a, b), -1.0, 1.0);
    if abs(cosine) > 0.999 {
        return normalize(mix(a, b, t));
    }
    let angle = acos(cosine);
    return (a * sin((1.0 - t) * angle) + b * sin(t * angle)) / sin(angle);
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let q = normalize(rotations[id.x] + vec4f(0.0, 0.0, 0.0, 0.001));
    let turned = rotate(q, vec3f(1.0, 2.0, 3.0));
    let half_way = blend(vec4f(0.0, 0.0, 0.0, 1.0), q, 0.5);
    out[id.x] = multiply(half_way, vec4f(turned, 0.5));
}

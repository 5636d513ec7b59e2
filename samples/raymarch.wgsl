// Ray marching: the scene is a distance function, and each pixel walks along its ray until it is close.
//
//   gpucc render samples/raymarch.wgsl --target r700 --size 128x128 --draw 3 -o raymarch.png

struct Varying {
    @builtin(position) position: vec4f,
    @location(0) screen: vec2f,
}

@vertex
fn vs(@builtin(vertex_index) index: u32) -> Varying {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Varying(vec4f(corner, 0.0, 1.0), corner);
}

fn torus(p: vec3f) -> f32 {
    return length(vec2f(length(p.xz) - 0.9, p.y)) - 0.3;
}

fn scene(p: vec3f) -> f32 {
    let ball = length(p - vec3f(0.0, 0.25, 0.0)) - 0.45;
    let ground = p.y + 0.6;
    return min(min(torus(p), ball), ground);
}

fn slope(p: vec3f) -> vec3f {
    let e = vec2f(0.002, 0.0);
    return normalize(vec3f(
        scene(p + e.xyy) - scene(p - e.xyy),
        scene(p + e.yxy) - scene(p - e.yxy),
        scene(p + e.yyx) - scene(p - e.yyx),
    ));
}

@fragment
fn fs(in: Varying) -> @location(0) vec4f {
    let eye = vec3f(0.0, 1.4, 2.8);
    let ray = normalize(vec3f(in.screen.x, in.screen.y - 0.5, -1.6));
    var distance = 0.0;
    for (var i = 0; i < 24; i++) {
        let step = scene(eye + ray * distance);
        distance += step;
        if step < 0.005 || distance > 12.0 {
            break;
        }
    }
    if distance > 12.0 {
        return vec4f(0.55, 0.7, 0.9, 1.0);
    }
    let n = slope(eye + ray * distance);
    let light = max(dot(n, vec3f(0.5, 0.7, 0.5)), 0.0);
    return vec4f(vec3f(0.9, 0.8, 0.7) * (0.15 + 0.85 * light), 1.0);
}

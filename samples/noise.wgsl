// Fractal value noise from an integer hash: three octaves, smoothly blended. The hash uses integers,
// because machines disagree about fract(sin(x) * 43758.5).
//
//   gpucc render samples/noise.wgsl --target r700 --size 128x128 --draw 3 -o noise.png

struct Varying {
    @builtin(position) position: vec4f,
    @location(0) at: vec2f,
}

@vertex
fn vs(@builtin(vertex_index) index: u32) -> Varying {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Varying(vec4f(corner, 0.0, 1.0), corner * 3.0);
}

fn lattice(cell: vec2i) -> f32 {
    var h = u32(cell.x) * 0x9E3779B1u ^ u32(cell.y) * 0x85EBCA77u;
    h = (h ^ (h >> 15u)) * 0xC2B2AE3Du;
    return f32((h ^ (h >> 13u)) >> 8u) / 16777216.0;
}

fn value_noise(p: vec2f) -> f32 {
    let cell = vec2i(floor(p));
    let f = fract(p);
    let s = f * f * (3.0 - 2.0 * f);
    let low = mix(lattice(cell), lattice(cell + vec2i(1, 0)), s.x);
    let high = mix(lattice(cell + vec2i(0, 1)), lattice(cell + vec2i(1, 1)), s.x);
    return mix(low, high, s.y);
}

@fragment
fn fs(in: Varying) -> @location(0) vec4f {
    var sum = 0.0;
    var weight = 0.5;
    var p = in.at;
    for (var octave = 0; octave < 3; octave++) {
        sum += weight * value_noise(p);
        p = p * 2.03 + vec2f(11.7, 5.1);
        weight *= 0.5;
    }
    return vec4f(mix(vec3f(0.10, 0.16, 0.35), vec3f(1.0, 0.97, 0.9), sum), 1.0);
}

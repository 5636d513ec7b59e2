// The Mandelbrot set in a fragment shader: a loop whose trip count differs from pixel to pixel.
//
//   gpucc render samples/mandelbrot.wgsl --target r700 --size 192x192 --draw 3 -o mandelbrot.png

struct Varying {
    @builtin(position) position: vec4f,
    @location(0) at: vec2f,
}

@vertex
fn vs(@builtin(vertex_index) index: u32) -> Varying {
    // One triangle that covers the whole picture.
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    var out: Varying;
    out.position = vec4f(corner, 0.0, 1.0);
    out.at = corner * 1.25 + vec2f(-0.6, 0.0);
    return out;
}

@fragment
fn fs(in: Varying) -> @location(0) vec4f {
    var z = vec2f(0.0);
    // Halved every turn: the potential of a point that leaves is log2|z| of its last turn times this.
    var scale = 1.0;
    for (; scale > 1e-12; scale *= 0.5) {
        z = vec2f(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + in.at;
        if dot(z, z) > 65536.0 {
            break;
        }
    }
    // The potential falls to 0 towards the set, and the colours with it: no jump at the turn in which a
    // point leaves, so machines that round differently draw one picture.
    let potential = 0.5 * log2(max(dot(z, z), 1.0)) * scale;
    let t = sqrt(sqrt(potential));
    return vec4f(t * t, 0.8 * t, 0.05 + 0.6 * sqrt(t), 1.0);
}

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
    var steps = 0;
    for (; steps < 40; steps++) {
        z = vec2f(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + in.at;
        if dot(z, z) > 4.0 {
            break;
        }
    }
    if steps == 40 {
        return vec4f(0.02, 0.02, 0.05, 1.0);
    }
    let t = f32(steps) / 40.0;
    return vec4f(t, t * t, 0.3 + 0.7 * sqrt(t), 1.0);
}

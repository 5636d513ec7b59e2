// A triangle without any buffer: corners and colours come from the vertex number.
//
//   gpucc render samples/triangle.wgsl --target r700 --size 256x256 --draw 3 -o triangle.png

struct Varying {
    @builtin(position) position: vec4f,
    @location(0) color: vec3f,
}

@vertex
fn vs(@builtin(vertex_index) index: u32) -> Varying {
    // Left, top, right.
    let x = f32(i32(index) - 1) * 0.8;
    let y = select(-0.7, 0.8, index == 1u);
    var out: Varying;
    out.position = vec4f(x, y, 0.0, 1.0);
    out.color = vec3f(f32(index == 0u), f32(index == 1u), f32(index == 2u));
    return out;
}

@fragment
fn fs(in: Varying) -> @location(0) vec4f {
    return vec4f(sqrt(in.color), 1.0);
}

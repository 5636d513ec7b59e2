// Constant tables: corners and colours that are looked up at run time.
//
//   gpucc render samples/badge.wgsl --target r700 --size 128x128 --draw 6 -o badge.png

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) slot: u32,
    @location(1) at: vec2f,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Corner {
    const corners = array(
        vec2f(-1, -1), vec2f(1, -1), vec2f(-1, 1),
        vec2f(-1, 1), vec2f(1, -1), vec2f(1, 1),
    );
    var sizes = array(vec3f(1, 0.5, 0.25), vec3f(0.75, 0.5, 1), vec3f(0.25, 1, 0.5));
    let corner = corners[index % 6];
    let size = sizes[index / 6 % 3];
    return Corner(vec4f(corner * size.xy, size.z, 1), index, corner);
}

const shades = array<mat2x4f, 3>(
    mat2x4f(1, 0, 0, 1, 0.5, 0.5, 0, 1),
    mat2x4f(0, 1, 0, 1, 0, 0.5, 0.5, 1),
    mat2x4f(0, 0, 1, 1, 0.5, 0, 0.5, 1),
);

@fragment
fn fragment(@location(0) @interpolate(flat) slot: u32, @location(1) at: vec2f) -> @location(0) vec4f {
    var weights = array(1.0, 4.0, 6.0, 4.0, 1.0, 0.0, 2.0);
    var colour = vec4f();
    for (var tap = 0u; tap < 1 + slot % 5; tap++) {
        colour += weights[(tap + slot) % 7] * shades[tap % 3][(tap ^ slot) & 1];
    }
    return colour * at.x;
}

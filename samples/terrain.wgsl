// A height map bends a grid that has no vertex buffer; normals come from neighbouring texels.
//
//   gpucc verify samples/terrain.wgsl --target r700

struct Terrain { transform: mat4x4f, height: f32, side: u32 }

@group(0) @binding(0) var<uniform> terrain: Terrain;
@group(0) @binding(1) var heights: texture_2d<f32>;

struct Vertex {
    @builtin(position) position: vec4f,
    @location(0) normal: vec3f,
    @location(1) @interpolate(flat) cell: u32,
}

fn height(at: vec2i) -> f32 {
    let last = vec2i(textureDimensions(heights)) - 1;
    return textureLoad(heights, clamp(at, vec2i(0), last), 0).r * terrain.height;
}

@vertex
fn main(@builtin(vertex_index) index: u32, @builtin(instance_index) tile: u32) -> Vertex {
    let side = max(terrain.side, 1u);
    let corner = index % 6u;
    let cell = index / 6u + tile * side;
    let step = vec2u(u32(corner == 1u || corner == 3u || corner == 4u), u32(corner == 2u || corner >= 4u));
    let at = vec2i(vec2u(cell % side, cell / side) + step);
    let slope = vec2f(height(at - vec2i(1, 0)) - height(at + vec2i(1, 0)),
                      height(at - vec2i(0, 1)) - height(at + vec2i(0, 1)));
    var out: Vertex;
    out.position = terrain.transform * vec4f(f32(at.x), height(at), f32(at.y), 1.0);
    out.normal = normalize(vec3f(slope.x, 2.0, slope.y));
    out.cell = cell;
    return out;
}

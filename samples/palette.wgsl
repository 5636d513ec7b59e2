// Indexed colours: the palette is in immediates, and a run-time index selects a colour.
//
//   gpucc verify samples/palette.wgsl --target r700

struct Palette { colors: array<vec4f, 8>, shift: u32 }

var<immediate> palette: Palette;

@group(0) @binding(0) var<storage, read> indices: array<u32>;
@group(0) @binding(1) var<storage, read_write> pixels: array<u32>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&pixels) {
        return;
    }
    let packed = indices[id.x];
    var sum = vec4f(0.0);
    for (var k = 0u; k < 4u; k++) {
        sum += palette.colors[(extractBits(packed, k * 8u, 8u) + palette.shift) % 8u];
    }
    pixels[id.x] = pack4x8unorm(sum * 0.25);
}

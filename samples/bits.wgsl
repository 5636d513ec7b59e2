// Bit tricks: the integer builtins, and Morton codes by spreading bits.
//
//   gpucc run samples/bits.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=u32:1,255,65536,4294967295 --set 0.1=zeros:64 --dump 0.1:u32

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4u>;

fn spread(v: u32) -> u32 {
    var x = v & 0xFFFFu;
    x = (x | (x << 8u)) & 0x00FF00FFu;
    x = (x | (x << 4u)) & 0x0F0F0F0Fu;
    x = (x | (x << 2u)) & 0x33333333u;
    return (x | (x << 1u)) & 0x55555555u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = input[id.x];
    let morton = spread(x) | (spread(x >> 16u) << 1u);
    let counts = countLeadingZeros(x) + 64u * countTrailingZeros(x) + 4096u * firstLeadingBit(x | 1u);
    let field = extractBits(x, 5u, 11u) + u32(extractBits(i32(x), 20u, 9u));
    output[id.x] = vec4u(morton, counts, field, insertBits(x, id.x, 7u, 10u));
}

// Integer hashes: PCG, the finaliser of MurmurHash3, and one round of xxHash. Wrapping multiplies,
// rotates and shifts only, so every machine must agree on every bit.
//
//   gpucc run samples/hash.wgsl --target r700 --robust zero --groups 1 --set 0.0=u32:42 \
//       --set 0.1=zeros:64 --dump 0.1:hex

@group(0) @binding(0) var<uniform> seed: u32;
@group(0) @binding(1) var<storage, read_write> out: array<vec4u>;

fn rotate_left(x: u32, n: u32) -> u32 {
    return (x << n) | (x >> (32u - n));
}

fn pcg(input: u32) -> u32 {
    let state = input * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

fn murmur_finish(input: u32) -> u32 {
    var h = input;
    h ^= h >> 16u;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13u;
    h *= 0xC2B2AE35u;
    h ^= h >> 16u;
    return h;
}

fn xx_round(acc: u32, lane: u32) -> u32 {
    return rotate_left(acc + lane * 2246822519u, 13u) * 2654435761u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = id.x ^ seed;
    let a = pcg(x);
    let b = murmur_finish(a);
    out[id.x] = vec4u(a, b, xx_round(a, b), reverseBits(a) + countOneBits(b));
}

// run: --groups 2 --set 0.0=u32:1065353216,0,4294967295,0 --dump 0.0:u32
// refuses: r700 gen4 g45
// expect: 0.0: 1088421888 0 2 1
struct Words { sum: atomic<f32>, pad: u32, total: atomic<u64> }
@group(0) @binding(0) var<storage, read_write> words: Words;

// 1 and four times 1.5; 2^32 - 1 and 0 + 1 + 0 + 1, and 1 for the second group.
@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3u) {
    atomicAdd(&words.sum, 1.5f);
    atomicAdd(&words.total, u64(i));
    if i == 0 && g.x == 1 { atomicAdd(&words.total, 1lu); }
}

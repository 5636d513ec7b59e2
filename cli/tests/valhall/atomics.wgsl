struct Wide { signed: atomic<i64>, unsigned: atomic<u64>, small: atomic<u32> }
@group(0) @binding(0) var<storage, read_write> each: array<Wide>;
@group(0) @binding(1) var<storage, read_write> seen: array<u64>;
var<workgroup> filler: atomic<u32>;
var<workgroup> shared_word: atomic<u64>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
    let i = id.x;
    let word = u64(seen[4 * i]);
    atomicAdd(&filler, lane);
    atomicAdd(&shared_word, word);
    atomicSub(&each[i].signed, i64(word));
    let a = atomicMax(&each[i].signed, 77li);
    let b = atomicMin(&each[i].unsigned, word);
    atomicXor(&each[i].unsigned, word << 7u);
    let c = atomicExchange(&each[i].unsigned, atomicLoad(&each[i].unsigned) + 1lu);
    let d = atomicCompareExchangeWeak(&each[i].unsigned, c + 1lu, word);
    workgroupBarrier();
    seen[4 * i] = u64(a) ^ b ^ atomicLoad(&shared_word);
    seen[4 * i + 1] = c + d.old_value + select(0lu, 5lu, d.exchanged);
    // Does not follow from the order of invocations: compared.
    seen[4 * i + 2] = word ^ 5lu;
}

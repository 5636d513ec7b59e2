// run: --groups 2 --dump 0.0
// refuses: r700
// expect: 0.0: 80 79 3160 1023 5 41 80 79 3160 1023 5 41
@group(0) @binding(0) var<storage, read_write> out: array<u32, 12>;
var<workgroup> count: atomic<u32>;
var<workgroup> most: atomic<i32>;
var<workgroup> sum: atomic<u32>;
var<workgroup> bits: atomic<u32>;
var<workgroup> owner: atomic<u32>;
var<workgroup> losers: atomic<u32>;

// 80 invocations count themselves, and give the largest number, the sum, ten bits. 42 want one place: 41 fail.
@compute @workgroup_size(80)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
    atomicAdd(&count, 1u);
    atomicMax(&most, i32(i));
    atomicSub(&sum, 0u - i);
    atomicOr(&bits, 1u << (i % 10u));
    if i > 37u {
        if !atomicCompareExchangeWeak(&owner, 0u, 5u).exchanged { atomicAdd(&losers, 1u); }
    }
    workgroupBarrier();
    if i == 0u {
        out[group.x * 6u] = atomicLoad(&count);
        out[group.x * 6u + 1u] = u32(atomicLoad(&most));
        out[group.x * 6u + 2u] = atomicLoad(&sum);
        out[group.x * 6u + 3u] = atomicLoad(&bits);
        out[group.x * 6u + 4u] = atomicExchange(&owner, 9u);
        out[group.x * 6u + 5u] = atomicLoad(&losers);
    }
}

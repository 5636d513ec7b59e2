@group(0) @binding(0) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> other: array<u32>;

@compute @workgroup_size(1)
fn main() {
    other[0] = atomicAdd(&counters[500], 2u);
}

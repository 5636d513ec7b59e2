var<workgroup> shared_data: array<u32, 64>;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) id: u32) {
    shared_data[id] = id;
    if id < 32u {
        workgroupBarrier();
    }
    out[id] = shared_data[63u - id];
}

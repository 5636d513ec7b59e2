struct Item {
    weights: array<f32, 3>,
}
@group(1) @binding(2) var<storage, read> items: array<Item>;
@group(1) @binding(3) var<storage, read_write> seen: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    let unused = &items[lane].weights[lane & 1u];
    seen[lane] = lane;
}

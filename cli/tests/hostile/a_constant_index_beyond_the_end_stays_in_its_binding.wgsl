@group(0) @binding(0) var<storage, read_write> near: array<u32>;
@group(0) @binding(1) var<storage, read_write> far: array<u32>;

@compute @workgroup_size(1)
fn main() {
    near[40] = 9u;
    far[1] = near[33];
}

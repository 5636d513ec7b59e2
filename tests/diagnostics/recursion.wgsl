fn factorial(n: u32) -> u32 {
    if n == 0u {
        return 1u;
    }
    return n * factorial(n - 1u);
}

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(1)
fn main() {
    out[0] = factorial(5u);
}

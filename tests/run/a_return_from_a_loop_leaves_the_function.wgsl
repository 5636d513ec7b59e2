// run: --groups 1 --set 0.0=u32:9,4,25,7 --dump 0.1
// expect: 0.1: 3 2 5 7
@group(0) @binding(0) var<storage, read> n: array<u32>;
@group(0) @binding(1) var<storage, read_write> least: array<u32, 4>;
fn divisor(n: u32) -> u32 {
    for (var d = 2u; d < n; d++) {
        if n % d == 0u { return d; }
    }
    return n;
}
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) { least[i] = divisor(n[i]); }

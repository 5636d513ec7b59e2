// run: --groups 1 --set 0.0=u32:1,0,1,0 --dump 0.1
// expect: 0.1: 11 20 11 20
@group(0) @binding(0) var<storage, read> c: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var x = 10u;
    if c[i] == 1u {
        x += 1u;
    } else {
        x *= 2u;
    }
    out[i] = x;
}

// run: --groups 1 --set 0.0=u32:0,1,2,3,4,5 --dump 0.1
// expect: 0.1: 100 200 200 7 7 300
@group(0) @binding(0) var<storage, read> which: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 6>;
@compute @workgroup_size(6)
fn main(@builtin(local_invocation_index) i: u32) {
    var result = 7u;
    switch which[i] {
        case 0u: { result = 100u; }
        case 1u, 2u: { result = 200u; }
        case 5u: { result = 300u; break; }
        default: {}
    }
    out[i] = result;
}

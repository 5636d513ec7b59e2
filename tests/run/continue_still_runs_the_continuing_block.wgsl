// run: --groups 1 --set 0.0=u32:0,3,10 --dump 0.1
// expect: 0.1: 0 1 13
@group(0) @binding(0) var<storage, read> limit: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 3>;
@compute @workgroup_size(3)
fn main(@builtin(local_invocation_index) lane: u32) {
    var sum = 0u;
    var i = 0u;
    loop {
        if i >= limit[lane] { break; }
        if i % 3u != 1u { continue; }
        sum += i;
        continuing {
            i += 1u;
            break if sum > 12u;
        }
    }
    out[lane] = sum + u32(sum > 11u);
}

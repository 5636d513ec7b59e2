// run: --groups 1 --set 0.0=u32:2147549183,196601 --dump 0.1
// expect: 0.1: 1 4294967295 0 65535 0 4294934528 4294967293 65529
enable wgpu_int16;
@group(0) @binding(0) var<storage, read> a: array<i16, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 8>;
var<private> kept: array<i16, 4>;

// -1, 0x8000, -7 and 2: their squares wrap, quotients go toward zero, -0x8000 by -1 is itself.
@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = i; k < 4u; k++) { kept[k] = a[k] * a[k]; }
    out[0] = u32(i32(kept[0]));
    out[1] = bitcast<u32>(i32(a[0]));
    out[2] = u32(i32(kept[1]));
    out[3] = u32(bitcast<u16>(a[0]));
    out[4] = u32(i32(a[2] % a[0]));
    out[5] = bitcast<u32>(i32(a[1] / a[0]));
    out[6] = bitcast<u32>(i32(a[2] / a[3]));
    out[7] = u32(bitcast<u16>(a[2]));
}

// run: --groups 1 --set 0.0=u32:1,2147483776,31,0,0,2147483648,32,0,1,2097152,65,0 --dump 0.1
// expect: 0.1: 2147483648 0 256 4294967295 1593835521 3741319167 0 0 2147483648 4294967295 1593835520 3741319168 2 4194304 0 1048576 1509949440 1509949440
// expect gen4 g45: 0.1: 2147483648 0 256 4294967295 1593835520 3741319166 0 0 2147483648 4294967295 1593835520 3741319168 2 4194304 0 1048576 1509949440 1509949440
struct Case { x: u64, by: u32, pad: u32 }
struct Made { left: u64, right: i64, unsigned: f32, signed: f32 }
@group(0) @binding(0) var<storage, read> cases: array<Case, 3>;
@group(0) @binding(1) var<storage, read_write> out: array<Made, 3>;

// By 31, 32 and 65, which counts as 1. 2^63 + 2^39 + 1 is just above the middle of two floats; its opposite is one
// off a float, 2^53 + 1 far below a middle.
@compute @workgroup_size(3)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = cases[i].x;
    let by = cases[i].by % 64u;
    let signed = bitcast<i64>(x);
    out[i] = Made(x << by, signed >> by, f32(x), f32(signed));
}

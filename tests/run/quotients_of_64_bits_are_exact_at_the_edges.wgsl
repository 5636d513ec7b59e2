// run: --groups 1 --set 0.0=u32:4294967295,4294967295,10,0,0,2147483648,4294967295,4294967295,2808348675,232830643,1000000007,0,12345,0,0,0 --dump 0.1
// expect: 0.1: 2576980377 429496729 0 0 5 0 4294967295 4294967295 0 0 0 2147483648 0 2147483648 0 0 999999993 0 999999993 0 52 0 52 0 12345 0 12345 0 0 0 0 0
struct Pair { x: u64, y: u64 }
@group(0) @binding(0) var<storage, read> pairs: array<Pair, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u64, 4>, 4>;

// 2^64 - 1 by 10, -2^63 by -1, 10^18 + 3 by 10^9 + 7, and by 0, which gives the dividend and a remainder of 0.
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = pairs[i].x;
    let y = pairs[i].y;
    let sx = bitcast<i64>(x);
    let sy = bitcast<i64>(y);
    out[i] = array<u64, 4>(x / y, bitcast<u64>(sx / sy), x % y, bitcast<u64>(sx % sy));
}

@group(0) @binding(0) var<storage, read_write> words: array<u32>;

fn sum(first: u32) -> u32 {
    var total = first;
    for (var i = 0u; i < first; i++) {
        total = total * 5u + words[total & 3u];
    }
    return total;
}
fn a(x: u32) -> u32 { return sum(x) + sum(x + 1u) + sum(x * 3u) + sum(x ^ words[2]) + sum(x >> 1u) + sum(x | 4u); }
fn b(x: u32) -> u32 { return a(x) + a(x + 2u) + a(x * 3u) + a(x ^ words[2]) + a(x >> 1u) + a(x | 4u); }
fn c(x: u32) -> u32 { return b(x) + b(x + 3u) + b(x * 3u) + b(x ^ words[2]) + b(x >> 1u) + b(x | 4u); }
fn d(x: u32) -> u32 { return c(x) + c(x + 4u) + c(x * 3u) + c(x ^ words[2]) + c(x >> 1u) + c(x | 4u); }
fn e(x: u32) -> u32 { return d(x) + d(x + 5u) + d(x * 3u) + d(x ^ words[2]) + d(x >> 1u) + d(x | 4u); }
fn f(x: u32) -> u32 { return e(x) + e(x + 6u) + e(x * 3u) + e(x ^ words[2]) + e(x >> 1u) + e(x | 4u); }
fn g(x: u32) -> u32 { return f(x) + f(x + 7u) + f(x * 3u) + f(x ^ words[2]) + f(x >> 1u) + f(x | 4u); }

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    words[1] = g(id.x);
}

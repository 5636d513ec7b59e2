// How many steps until 1? A while loop that no two lanes leave together.
//
//   gpucc run samples/collatz.wgsl --target r700 --groups 1 --set 0.0=u32:1,2,3,6,7,27 --dump 0.0

@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;

fn steps_to_one(start: u32) -> u32 {
    var n = start;
    var steps = 0u;
    while n > 1u && steps < 120u {
        n = select(n / 2u, 3u * n + 1u, (n & 1u) == 1u);
        steps += 1u;
    }
    return steps;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&numbers) {
        return;
    }
    numbers[id.x] = steps_to_one(numbers[id.x]);
}

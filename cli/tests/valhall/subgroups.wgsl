// Every operation of subgroups: in full warps, in one of four lanes, and where lanes have parted.
enable subgroups;

struct Results {
    words: array<vec4u, 256>,
    numbers: array<vec4f, 256>,
}

@group(0) @binding(0) var<storage, read> given: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> results: Results;
@group(0) @binding(2) var<storage, read_write> parted: Results;

// Each workgroup writes its own elements.
fn number_of(group: vec3u, groups: vec3u) -> u32 {
    return group.x + groups.x * (group.y + groups.y * group.z);
}

// Two warps: one is full, of the other four lanes run.
@compute @workgroup_size(5, 4)
fn all_lanes(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u) {
    let at = 2u * (index + 20u * number_of(group, groups));
    let x = given[index];
    let ballot = subgroupBallot((x & 1u) == 1u);
    let sums = subgroupAdd(x) + subgroupExclusiveAdd(x) * 3u + subgroupInclusiveAdd(x) * 5u;
    let products = subgroupMul(x | 1u) ^ subgroupExclusiveMul(x | 1u) ^ subgroupInclusiveMul(x);
    let bits = subgroupAnd(x | 0xffu) ^ subgroupOr(x & 0xf0fu) ^ subgroupXor(x);
    results.words[at] = vec4u(ballot.x + ballot.y + ballot.z + ballot.w, sums, products, bits);
    let signed = bitcast<i32>(x);
    let ends = u32(subgroupMin(signed)) ^ u32(subgroupMax(signed)) ^ subgroupMin(x) ^ subgroupMax(x);
    let truths = u32(subgroupAll((x & 7u) < 7u)) + 2u * u32(subgroupAny(x < 9u));
    let pair = quadSwapX(x) + quadSwapDiagonal(x) * 3u + quadBroadcast(x, 2u) * 5u;
    let firsts = subgroupBroadcastFirst(x) + subgroupBroadcast(x, 3u);
    results.words[at + 1u] = vec4u(ends, truths, pair, firsts);
    let number = f32(x & 0xffffu) * 1.37 - 9000.0;
    results.numbers[at] = vec4f(
        subgroupAdd(number), subgroupExclusiveAdd(number), subgroupInclusiveAdd(number),
        subgroupMul(number * 1e-3));
    results.numbers[at + 1u] = vec4f(
        subgroupMin(number), subgroupMax(number), subgroupShuffle(number, (index & 15u) ^ (x & 3u)),
        subgroupShuffleXor(number, 2u));
}

// Lanes that do not run are left out, within a branch and within a loop whose lanes leave one by one.
@compute @workgroup_size(16)
fn some_lanes(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u) {
    let at = index + 16u * number_of(group, groups);
    let x = given[index];
    if (x & 3u) != 0u {
        let number = f32(x & 0xffffu) * 0.77 - 20000.0;
        parted.words[at] = vec4u(
            subgroupBallot(true).x, subgroupBroadcastFirst(x), subgroupExclusiveAdd(x),
            subgroupInclusiveAdd(x) ^ subgroupAnd(x) ^ subgroupMin(x));
        parted.numbers[at] = vec4f(
            subgroupAdd(number), subgroupExclusiveAdd(number), subgroupMin(number),
            subgroupExclusiveMul(number * 1e-4) + subgroupInclusiveMul(number * 1e-4));
        subgroupBarrier();
    }
    var count = 0u;
    for (var i = 0u; i < (x >> 4u & 7u); i++) {
        count = count * 5u + subgroupAdd(x + i) + u32(subgroupAll((x & 8u) == 8u));
    }
    parted.words[at + 128u] = vec4u(count, subgroupBallot(true).x, 0u, 0u);
}

// Pixels of four quads share a warp; those that are not drawn, and those that discard, still speak.
@fragment
fn pixels(@location(0) at: vec2f, @location(1) @interpolate(flat) x: u32, @builtin(subgroup_invocation_id) own: u32,
    @builtin(subgroup_size) size: u32) -> @location(0) vec4u {
    let ballot = subgroupBallot(at.x < 0.5).x;
    let sums = subgroupAdd(x) + subgroupExclusiveAdd(x) * 3u + subgroupShuffleXor(x, 5u) * 5u;
    if (x & 3u) == 1u {
        discard;
    }
    let later = subgroupBallot((x & 4u) == 4u).x + subgroupBroadcastFirst(x) + quadSwapX(x) * 3u;
    var parted = 0u;
    if at.y > 0.25 {
        parted = subgroupInclusiveAdd(x) ^ subgroupMax(x);
    }
    return vec4u(ballot + own + size, sums, later, parted);
}

struct Vertex { @builtin(position) at: vec4f, @location(0) @interpolate(flat) sums: vec4u }

// Warps of position programs are half as wide: what looks at its subgroup is one program with whole warps.
@vertex
fn vertices(@builtin(vertex_index) x: u32, @builtin(instance_index) y: u32) -> Vertex {
    let sum = subgroupAdd(x * 3u + y);
    var later = subgroupExclusiveAdd(x);
    if (x & 5u) == 1u {
        later = subgroupBallot(true).x + subgroupBroadcastFirst(x) * 7u;
    }
    let at = vec4f(f32(subgroupMax(x)), f32(subgroupShuffle(x, 11u)), f32(sum), 1.0);
    return Vertex(at, vec4u(sum, later, subgroupBallot((x & 3u) == 2u).x, subgroupShuffleDown(x, 9u & x)));
}

// Programs that change memory and put something out as well. Pixels that are not covered, or were discarded,
// change nothing.
@group(0) @binding(0) var<storage, read_write> sums: array<atomic<u32>, 4>;
@group(0) @binding(1) var<storage, read_write> seen: array<u32, 64>;

@fragment fn counts_pixels(@location(0) x: f32) -> @location(0) vec4f {
    atomicAdd(&sums[0], 1u);
    return vec4f(x);
}

@fragment fn counts_pixels_of_quads(@location(0) x: f32) -> @location(0) vec4f {
    let across = dpdx(x);
    atomicAdd(&sums[1], 1u);
    atomicXor(&sums[2], bitcast<u32>(across) & 7u);
    return vec4f(across);
}

@fragment fn counts_pixels_that_stay(@location(0) x: f32) -> @location(0) vec4f {
    if x > 0.5 {
        discard;
    }
    atomicSub(&sums[1], 3u);
    return vec4f(dpdy(x));
}

@vertex fn counts_vertices(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    atomicAdd(&sums[0], i + 1u);
    seen[i & 63u] = i & 63u;
    return vec4f(f32(i));
}

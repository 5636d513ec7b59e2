// run: --groups 1 --set 0.0=u32:5,0 --dump 0.0
// expect: 0.0: 5 149020
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

// Each trip turns 24 vectors by one place and adds the number of the trip: 96 values go round at once.
@compute @workgroup_size(1)
fn main() {
    let n = data[0];
    var v0 = vec4u(0, 0, 0, n + 2);
    var v1 = vec4u(1, 2, 3, n + 2);
    var v2 = vec4u(2, 4, 6, n + 2);
    var v3 = vec4u(3, 6, 9, n + 2);
    var v4 = vec4u(4, 8, 12, n + 2);
    var v5 = vec4u(5, 10, 15, n + 2);
    var v6 = vec4u(6, 12, 18, n + 2);
    var v7 = vec4u(7, 14, 21, n + 2);
    var v8 = vec4u(8, 16, 24, n + 2);
    var v9 = vec4u(9, 18, 27, n + 2);
    var v10 = vec4u(10, 20, 30, n + 2);
    var v11 = vec4u(11, 22, 33, n + 2);
    var v12 = vec4u(12, 24, 36, n + 2);
    var v13 = vec4u(13, 26, 39, n + 2);
    var v14 = vec4u(14, 28, 42, n + 2);
    var v15 = vec4u(15, 30, 45, n + 2);
    var v16 = vec4u(16, 32, 48, n + 2);
    var v17 = vec4u(17, 34, 51, n + 2);
    var v18 = vec4u(18, 36, 54, n + 2);
    var v19 = vec4u(19, 38, 57, n + 2);
    var v20 = vec4u(20, 40, 60, n + 2);
    var v21 = vec4u(21, 42, 63, n + 2);
    var v22 = vec4u(22, 44, 66, n + 2);
    var v23 = vec4u(23, 46, 69, n + 2);
    for (var j = 0u; j < n; j++) {
        let first = v0;
        v0 = v1 + j;
        v1 = v2 + j;
        v2 = v3 + j;
        v3 = v4 + j;
        v4 = v5 + j;
        v5 = v6 + j;
        v6 = v7 + j;
        v7 = v8 + j;
        v8 = v9 + j;
        v9 = v10 + j;
        v10 = v11 + j;
        v11 = v12 + j;
        v12 = v13 + j;
        v13 = v14 + j;
        v14 = v15 + j;
        v15 = v16 + j;
        v16 = v17 + j;
        v17 = v18 + j;
        v18 = v19 + j;
        v19 = v20 + j;
        v20 = v21 + j;
        v21 = v22 + j;
        v22 = v23 + j;
        v23 = first + j;
    }
    let weights = vec4u(1, 3, 5, 9);
    data[1] = 1 * dot(v0, weights)
        + 2 * dot(v1, weights)
        + 3 * dot(v2, weights)
        + 4 * dot(v3, weights)
        + 5 * dot(v4, weights)
        + 6 * dot(v5, weights)
        + 7 * dot(v6, weights)
        + 8 * dot(v7, weights)
        + 9 * dot(v8, weights)
        + 10 * dot(v9, weights)
        + 11 * dot(v10, weights)
        + 12 * dot(v11, weights)
        + 13 * dot(v12, weights)
        + 14 * dot(v13, weights)
        + 15 * dot(v14, weights)
        + 16 * dot(v15, weights)
        + 17 * dot(v16, weights)
        + 18 * dot(v17, weights)
        + 19 * dot(v18, weights)
        + 20 * dot(v19, weights)
        + 21 * dot(v20, weights)
        + 22 * dot(v21, weights)
        + 23 * dot(v22, weights)
        + 24 * dot(v23, weights);
}

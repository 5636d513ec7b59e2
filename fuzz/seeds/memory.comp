#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(std430, binding = 0) buffer Items { uint count; ivec2 pad; vec3 items[]; } items;
layout(std430, binding = 1) readonly buffer Table { uvec4 rows[3]; mat4x2 m; } table;
layout(binding = 2, rgba8) uniform writeonly image2D picture;
shared uint sums[32];
void main() {
    uint i = gl_LocalInvocationIndex;
    sums[i] = table.rows[i % 3u][i & 3u];
    barrier();
    for (uint step = 16u; step > 0u; step >>= 1) {
        if (i < step) sums[i] += sums[i + step];
        memoryBarrierShared();
        barrier();
    }
    if (i == 0u) atomicAdd(items.count, sums[0]);
    items.items[gl_GlobalInvocationID.x] += vec3(table.m[1], float(items.items.length()));
    imageStore(picture, ivec2(gl_GlobalInvocationID.xy), unpackUnorm4x8(sums[i]));
}

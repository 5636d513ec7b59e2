#version 450
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_float2 : require
layout(local_size_x = 8) in;
layout(binding = 0, r32f) uniform image2D sums;
layout(binding = 1, r32f) uniform image2D most;
layout(binding = 2, r32f) uniform image2D least;
layout(binding = 3) readonly buffer B { float v[8]; };
void main() {
    uint n = gl_LocalInvocationIndex;
    imageAtomicAdd(sums, ivec2(0), v[n]);
    imageAtomicMax(most, ivec2(0), v[n]);
    imageAtomicMin(least, ivec2(0), v[n]);
}

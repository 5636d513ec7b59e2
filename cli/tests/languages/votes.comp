#version 460
#extension GL_ARB_shader_group_vote : require
#extension GL_ARB_shader_ballot : require
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) buffer In { int a[4]; };
layout(set = 0, binding = 1, std430) buffer Out { uvec4 b[4]; ivec4 c[4]; };
void main() {
    uint g = gl_LocalInvocationIndex;
    bool odd = (a[g] & 1) != 0;
    b[g] = uvec4(unpackUint2x32(ballotARB(odd)), uint(anyInvocationARB(odd)), uint(allInvocationsARB(odd)));
    c[g] = ivec4(int(allInvocationsEqualARB(a[g] > 0)), readInvocationARB(a[g], 2u), readFirstInvocationARB(a[g]), 0);
}

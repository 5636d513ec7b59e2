#version 460
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 4) in;
struct S { int64_t v; float o; uint64_t c; };
layout(binding = 0, std430) readonly buffer A { uint n; S from[]; };
layout(binding = 1, std430) writeonly buffer B { S to[]; };
shared S t[4];
void main()
{
    uint i = gl_GlobalInvocationID.x;
    S a[2];
    a[0] = from[i];
    a[1] = from[i + 1u];
    a[n & 1u].c += 5ul;
    t[i & 3u] = a[i & 1u];
    barrier();
    to[i] = t[(i & 3u) ^ 1u];
}

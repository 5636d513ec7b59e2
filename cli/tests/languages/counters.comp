#version 460
layout(local_size_x = 1) in;
layout(binding = 0, offset = 4) uniform atomic_uint one;
layout(binding = 0, offset = 8) uniform atomic_uint more[3];
layout(std430, binding = 0) buffer Out { uint b[6]; };
void main() {
    b[0] = atomicCounterIncrement(one);
    b[1] = atomicCounterDecrement(more[2]);
    b[2] = atomicCounterAdd(more[1], 5u);
    b[3] = atomicCounter(one);
    b[4] = atomicCounter(more[1]);
    b[5] = atomicCounter(more[0]);
}

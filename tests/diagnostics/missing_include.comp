#version 450
#include "noise.glsl"
layout(local_size_x = 64) in;
layout(binding = 0) buffer Out { uint data[]; };

void main() {
    data[gl_GlobalInvocationID.x] = noise(1u);
}

#version 450
layout(local_size_x = 1) in;
layout(binding = 0, rgba8) uniform image2DMS to;
void main() { imageStore(to, ivec2(0), 0, vec4(1.0)); }

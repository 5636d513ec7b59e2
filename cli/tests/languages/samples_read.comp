#version 450
// Nothing writes the texels, and nothing says that nothing may.
layout(local_size_x = 1) in;
layout(binding = 0, rgba8) uniform image2DMS from;
layout(binding = 1) buffer Result { vec4 to; };
void main() { to = imageLoad(from, ivec2(0), 0); }

#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
// A pointer to vectors that are packed: it is aligned to their scalars alone.
layout(local_size_x = 1) in;
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer P { vec3 a; float b; };
layout(std430, binding = 0) buffer B { uvec2 first; float sum; };
void main() { P p = P(first); sum = p.a.x + 10.0 * p.b; }

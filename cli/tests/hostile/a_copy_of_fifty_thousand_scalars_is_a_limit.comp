#version 310 es
layout(local_size_x = 1) in;
struct S { vec2 a; float b; };
layout(binding = 0, std430) buffer A { S from[16384]; };
layout(binding = 1, std430) buffer B { S to[16384]; };
void main() { to = from; }

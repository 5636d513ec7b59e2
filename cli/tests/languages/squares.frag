#version 450
layout(location = 0) out vec4 color;
layout(location = 0) flat in int n;
layout(binding = 0) uniform A { vec4 v; } a[2][3];
void main() { color = a[0][2].v + a[1][0].v * 2.0 + a[n][1].v * 4.0; }

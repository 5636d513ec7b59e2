#version 450
layout(set = 0, binding = 0) uniform Block { vec4 v; } blocks[2];
layout(set = 0, binding = 2) uniform sampler2D pictures[1];
layout(location = 0) out vec4 color;
void main() {
    int beyond = 3;
    color = blocks[beyond].v + texture(pictures[beyond - 1], vec2(0.5));
}

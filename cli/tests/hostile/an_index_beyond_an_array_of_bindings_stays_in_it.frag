#version 450
layout(set = 0, binding = 0) uniform Block { vec4 v; } blocks[2];
layout(set = 0, binding = 2) uniform sampler2D pictures[1];
layout(location = 0) out vec4 color;
void main() {
    color = blocks[3].v + texture(pictures[2], vec2(0.5));
}

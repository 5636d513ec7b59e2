#version 450
layout(location = 1) out vec2 many[1500000000];
void main() {
    gl_Position = vec4(0.5);
    many[2] = vec2(1.0);
}

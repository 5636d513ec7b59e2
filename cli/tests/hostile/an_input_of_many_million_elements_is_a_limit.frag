#version 450
layout(location = 2) in vec3 many[90000000];
layout(location = 0) out vec4 color;
void main() {
    color = vec4(many[5], 1.0);
}

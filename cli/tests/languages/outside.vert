#version 450
#extension GL_ARB_shader_viewport_layer_array : require
layout(location = 0) in vec4 a;
layout(location = 1) in int b;
layout(location = 0) out vec4 c;
void main() {
    gl_Position = a;
    gl_PointSize = a.x;
    c = a * 2.0;
    if (b > 3) gl_Layer = b;
}

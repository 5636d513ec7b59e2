#version 450
#extension GL_ARB_shader_stencil_export : require
layout(location = 0) in vec4 a;
layout(location = 1) flat in int b;
layout(location = 0) out vec4 c;
void main() {
    if (a.x < -1.0) discard;
    c = a;
    gl_FragDepth = a.y;
    gl_FragStencilRefARB = b + 3;
}

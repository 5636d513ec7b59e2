#version 450
layout(xfb_buffer = 1, xfb_offset = 8) out Captured {
    vec2 first;
    float many[77777777777];
} captured;
void main() {
    gl_Position = vec4(1.0);
    captured.first = vec2(1.0, 2.0);
    captured.many[0] = 4.0;
}

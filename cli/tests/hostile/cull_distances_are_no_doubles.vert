#version 400
out double gl_CullDistance[2];
void main() {
    gl_CullDistance[1] = 0.25;
    gl_Position = vec4(1.0);
}

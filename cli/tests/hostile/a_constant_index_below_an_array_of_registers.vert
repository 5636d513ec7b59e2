#version 450
float numbers[5];
int at = -2;
void main() {
    gl_Position = vec4(0, 0, 0, numbers[at]);
}

#version 450
layout(location = 0) out Results {
    float first;
    vec3 many[99999999990];
} results;
void main() {
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
    results.first = 2.0;
    results.many[4] = vec3(3.0);
}

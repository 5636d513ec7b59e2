#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in uvec4 bones;
layout(location = 2) in vec4 weights;
layout(location = 0) out vec3 normal;
layout(location = 1) flat out uint id;
layout(binding = 0) uniform Camera { mat4 view; mat4 bones[16]; } camera;
struct Part { vec4 at; mat2 spin; };
Part part(uint i) {
    Part p;
    p.at = camera.bones[i & 15u] * position;
    p.spin = mat2(cos(p.at.x), sin(p.at.x), -sin(p.at.x), cos(p.at.x));
    return p;
}
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 4; i++) {
        Part p = part(bones[i]);
        sum += vec4(p.spin * p.at.xy, p.at.zw) * weights[i];
    }
    gl_Position = camera.view * sum;
    gl_PointSize = clamp(sum.w, 1.0, 8.0);
    normal = normalize(cross(sum.xyz, sum.yzx));
    id = uint(gl_VertexIndex) + bitfieldExtract(bones.x, 3, 5);
}

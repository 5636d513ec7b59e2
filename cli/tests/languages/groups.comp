#version 450
#extension GL_NV_compute_shader_derivatives : require
layout(local_size_x = 4, local_size_y = 4) in;
layout(derivative_group_quadsNV) in;
layout(binding = 0) uniform sampler2D t;
layout(binding = 1) uniform samplerCube q;
layout(std430, binding = 2) buffer B { vec4 v[16]; vec4 o[16]; vec4 s[16]; };
void main() {
    uint n = gl_LocalInvocationIndex;
    vec4 a = v[n];
    o[n] = vec4(dFdxCoarse(a.x), dFdyCoarse(a.y), dFdxFine(a.z), dFdyFine(a.w)) + fwidth(a) + dFdx(a) * dFdy(a);
    s[n] = texture(t, a.xy) + texture(t, a.zw, 1.0) + texture(q, a.xyz) + vec4(gl_GlobalInvocationID, gl_LocalInvocationID.y);
}

#version 450
#extension GL_AMD_shader_trinary_minmax : require
#extension GL_AMD_gcn_shader : require
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer B { int o[8]; };
layout(std430, binding = 1) buffer C { vec4 direction; };
void main() {
    o[0] = min3(o[0], o[1], o[2]) * 100 + max3(o[0], o[1], o[2]) * 10 + mid3(o[0], o[1], o[2]);
    o[3] = int(mid3(uint(o[3]), 5u, 9u));
    o[4] = int(mid3(direction.x, direction.y, direction.z) * 4.0);
    o[5] = int(cubeFaceIndexAMD(direction.xyz));
    o[6] = int(cubeFaceCoordAMD(direction.xyz).x * 100.0);
    o[7] = int(cubeFaceCoordAMD(direction.xyz).y * 100.0);
}

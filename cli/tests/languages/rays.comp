#version 460
#extension GL_EXT_ray_query : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform accelerationStructureEXT s;
layout(set = 0, binding = 1) buffer B { float t; };
void main() {
    rayQueryEXT q;
    rayQueryInitializeEXT(q, s, 0, 255, vec3(0.0), 0.0, vec3(1.0), 9.0);
    while (rayQueryProceedEXT(q)) {}
    t = rayQueryGetIntersectionTEXT(q, true);
}

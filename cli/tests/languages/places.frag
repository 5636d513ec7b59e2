#version 450
layout(location = 0) in vec4 a;
layout(location = 1) noperspective in vec2 b[3];
layout(location = 4) in Block {
    vec3 u;
    flat int i;
    noperspective float l;
} block;
layout(location = 0) out vec4 c;
layout(location = 1) out vec4 d;
void main() {
    c = interpolateAtCentroid(a) + interpolateAtSample(a, gl_SampleID);
    vec2 offset = block.u.xy * 0.25;
    d = interpolateAtOffset(a, vec2(0.25, -0.5));
    if (block.i > 0) {
        c.xy += interpolateAtOffset(b[block.i % 3], offset) + interpolateAtCentroid(b[2]).yx;
        d.xyz += interpolateAtOffset(block.u, offset);
        d.w += interpolateAtOffset(block.l, vec2(0.125)) + interpolateAtCentroid(block.u).z;
    }
}

#version 450
layout(location = 0) in vec3 where;
layout(location = 1) flat in ivec2 counts;
layout(location = 0) out vec4 color;
layout(binding = 0, std140) uniform Block { mat3 turn; vec4 parts[5]; int many; } block;
float tail(float x, int n) {
    for (int i = 0; i < n; ++i) {
        if (x > 8.0) break;
        x = x * 1.5 + float(i);
        if ((i & 1) == 0) continue;
        x -= block.parts[i % 5].y;
    }
    return x;
}
void main() {
    vec3 v = block.turn * where;
    int i = counts.x;
    do { v.xy += v.zz; i >>= 1; } while (i > 0);
    switch (counts.y) {
    case 0: v = -v; break;
    case 1: v *= 2.0;
    case 2: v += 1.0; break;
    default: discard;
    }
    color = vec4(v, tail(v.x, block.many));
}

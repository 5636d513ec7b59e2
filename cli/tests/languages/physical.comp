#version 450
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node {
    Node next;
    int value;
    int many[3];
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Ints { int i; };
layout(buffer_reference, std430) buffer Tail { uint count; vec2 of[]; };
layout(std430, set = 0, binding = 0) buffer B {
    Node first;
    uint64_t ints;
    uvec2 tail;
    int n;
    int o[7];
};

int sum(Node node, int most) {
    int total = 0;
    for (int k = 0; k < most && uint64_t(node) != 0ul; k++) {
        total += node.value;
        node = node.next;
    }
    return total;
}

void main() {
    o[0] = sum(first, 3);
    o[1] = first.next.many[n];
    first.many[1] = o[1] + 1;
    Ints p = Ints(ints);
    o[2] = p[1].i;
    (p + 2).i = 7;
    o[3] = p[0].i; p[0].i += 5;
    Tail t = Tail(tail);
    o[4] = int(t.of[n].y);
    t.of[1] = vec2(3.0, 4.0);
    Node chosen = n > 1 ? first : first.next;
    o[5] = chosen.value;
    o[6] = int(uint64_t(first.next) - uint64_t(first));
}

#version 450
#extension GL_EXT_spirv_intrinsics : require
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer B { uint o[2]; };
spirv_instruction(extensions = ["SPV_KHR_expect_assume"], capabilities = [5629], id = 5630)
void assume(bool c);
spirv_instruction(extensions = ["SPV_KHR_expect_assume"], capabilities = [5629], id = 5631)
uint expect(uint a, uint b);
void main() {
    assume(o[0] < 32);
    o[1] = expect(o[0] + 1, 9u);
}

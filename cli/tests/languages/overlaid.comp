#version 450
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
// Blocks of shared memory are views of the same bytes: words, halves, bytes, and numbers of 64 bits.
layout(local_size_x = 4) in;
layout(binding = 0) buffer Out { uint found[16]; };
shared Words { uint words[8]; };
shared Halves { uint16_t halves[16]; };
shared Bytes { layout(offset = 4) uint8_t bytes[28]; };
shared Wide { layout(offset = 8) uint64_t wide[3]; };
layout(std140) shared Rows { layout(row_major) mat2 rows; };
void main()
{
    uint me = gl_LocalInvocationIndex;
    words[me] = 0x03020100u + 0x04040404u * me;
    words[me + 4] = 0x10u * me;
    barrier();
    found[me] = uint(halves[2 * me + 1]);
    found[me + 4] = uint(bytes[3 * me]);
    barrier();
    halves[2 * me + 9] = uint16_t(0xa0u + me);
    bytes[13 + 4 * me] = uint8_t(0xf0u + me);
    barrier();
    found[me + 8] = words[me + 4];
    if (me == 0) {
        found[12] = uint(wide[0] >> 40);
        wide[2] = (uint64_t(7) << 32) + 9;
        found[13] = words[6] * 16 + words[7];
        found[14] = floatBitsToUint(rows[0][1]);
        found[15] = floatBitsToUint(rows[1][0]);
    }
}

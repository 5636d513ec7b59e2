#version 450
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_AMD_shader_ballot : require
#extension GL_EXT_device_group : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer B { uvec4 v[32]; uint u[32]; float f[32]; };
void main() {
    uint n = gl_LocalInvocationIndex;
    uvec4 b = v[n];
    uvec4 all = subgroupBallot(b.x > 9);
    v[n] = gl_SubgroupEqMask + gl_SubgroupGeMask * 3 + gl_SubgroupGtMask * 5 + gl_SubgroupLeMask * 7 + gl_SubgroupLtMask * 11;
    uint sum = subgroupBallotBitCount(all) + subgroupBallotInclusiveBitCount(all) * 3 + subgroupBallotExclusiveBitCount(b) * 5;
    sum += subgroupBallotFindLSB(all) + subgroupBallotFindMSB(b) * 3 + uint(subgroupInverseBallot(b)) + uint(subgroupBallotBitExtract(b, n & 15u)) * 9;
    sum += subgroupClusteredAdd(b.y, 4) + subgroupClusteredMax(b.z, 8);
    u[n] = sum + addInvocationsNonUniformAMD(b.x) + uint(gl_DeviceIndex);
    f[n] = minInvocationsNonUniformAMD(f[n]);
}

#version 450
#extension GL_AMD_shader_fragment_mask : require
layout(binding = 0) uniform sampler2DMS s; layout(binding = 1) uniform usampler2DMSArray t;
layout(input_attachment_index = 0, binding = 2) uniform subpassInputMS p;
layout(location = 0) flat in ivec4 a; layout(location = 0) out vec4 c;
void main() { uint m = fragmentMaskFetchAMD(s, a.xy) + fragmentMaskFetchAMD(p) + fragmentMaskFetchAMD(t, a.xyz);
 c = fragmentFetchAMD(s, a.xy, m >> 4 & 0xf) + fragmentFetchAMD(p, 2u) + vec4(fragmentFetchAMD(t, a.xyz, m & 1)); }

#version 450
layout(location=0) in vec4 a; layout(location=1) in vec3 x; layout(location=2) in vec3 y;
layout(location=0) out vec4 c;
layout(binding = 0) uniform samplerCubeShadow s;
layout(binding = 1) uniform sampler1DShadow d1;
layout(binding = 2) uniform sampler1DArrayShadow d1a;
layout(binding = 3) uniform sampler2DShadow d2;
layout(binding = 4) uniform sampler2DArrayShadow d2a;
void main(){ c = vec4(textureGrad(s, a, x, y), textureGrad(s, a, vec3(0.0), vec3(0.0)), textureGrad(d1, a.xyz, x.x, y.x), textureGrad(d1a, a.xyz, x.x, y.x))
 + vec4(textureGrad(d2, a.xyz, x.xy, y.xy), textureGradOffset(d2a, a, x.xy, y.xy, ivec2(-1)), 0.0, textureProjGrad(d2, a, x.xy, y.xy)); }

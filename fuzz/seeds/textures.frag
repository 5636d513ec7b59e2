#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(location = 1) out uvec2 words;
layout(binding = 1) uniform sampler2D flatTexture;
layout(binding = 2) uniform samplerCube cube;
layout(binding = 3) uniform sampler2DArrayShadow shadows;
layout(binding = 4) uniform usampler3D volume;
void main() {
    vec4 a = texture(flatTexture, uv) + textureLod(cube, vec3(uv, 0.5), 1.5);
    float s = texture(shadows, vec4(uv, 2.0, 0.25));
    uvec4 u = texelFetch(volume, ivec3(uv.xyx * 8.0), 0);
    a += textureGrad(flatTexture, uv, dFdx(uv), dFdy(uv)) + textureGather(flatTexture, uv, 2);
    words = uvec2(u.x, packHalf2x16(a.xy)) ^ uvec2(textureSize(flatTexture, 0));
    color = mix(a, vec4(s), smoothstep(0.0, 1.0, fwidth(uv.x)));
}

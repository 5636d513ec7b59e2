#version 450
// glslangValidator -G -o opengl.frag.spv opengl.frag
layout(location = 1) uniform vec4 tint;
layout(location = 0) uniform sampler2D image;
layout(binding = 0) uniform Other { vec4 other; };
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { color = texture(image, uv) * tint + other + gl_FragCoord.y; }

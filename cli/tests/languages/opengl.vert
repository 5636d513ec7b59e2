#version 450
// glslangValidator -G -o opengl.vert.spv opengl.vert
layout(location = 0) uniform mat4 transform;
layout(location = 0) in vec4 position;
void main() { gl_Position = transform * position + vec4(gl_VertexID, gl_InstanceID, 0.0, 0.0); }

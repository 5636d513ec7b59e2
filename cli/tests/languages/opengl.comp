#version 450
// glslangValidator -G -o opengl.comp.spv opengl.comp
layout(local_size_x = 1) in;
struct Light { vec3 direction; float gain; mat2 turn; bool on; };
layout(location = 4) uniform Light lights[2];
layout(location = 0) uniform float gains[3];
layout(location = 3) uniform bool flip;
layout(std430, binding = 0) buffer Out { float out_[]; };
void main() {
    float sum = 0.0;
    for (int i = 0; i < 2; i++)
        if (lights[i].on) {
            vec2 turned = lights[i].turn * lights[i].direction.xy;
            sum += (turned.x + turned.y + lights[i].direction.z) * lights[i].gain;
        }
    out_[0] = sum;
    out_[1] = gains[int(out_[1])];
    out_[2] = flip ? 1.0 : 2.0;
}

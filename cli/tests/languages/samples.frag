#version 450
layout(location = 0) in vec4 a;
layout(location = 0) out vec4 c;
layout(location = 1) out vec4 d;
void main() {
    c = vec4(gl_SamplePosition, gl_SampleID, 1.0);
    d = a;
    if (a.x > 0.0) d.xy += gl_FragCoord.xy - gl_SamplePosition.yx * a.zw;
}

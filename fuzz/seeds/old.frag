#version 120
uniform sampler2D texture0;
uniform mat3 turn;
varying vec2 uv;
void main() {
    vec2 p = (turn * uv.xyx).xy;
    if (p.x < 0.0) discard;
    gl_FragColor = texture2D(texture0, p).bgra * gl_Color + vec4(dot(p, p));
}

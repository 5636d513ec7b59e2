// A cut-out pattern: pixels in the holes are discarded, the rest is anti-aliased by derivatives.
//
//   gpucc verify samples/cutout.wgsl --target r700

@fragment
fn main(@builtin(position) at: vec4f, @location(0) uv: vec2f, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let cell = fract(uv * 4.0) - 0.5;
    let distance = length(cell) - 0.3;
    let softness = max(fwidth(distance), 0.0001);
    if distance < -softness {
        discard;
    }
    let edge = smoothstep(-softness, softness, distance);
    let face = select(vec3f(0.2, 0.3, 0.9), vec3f(0.9, 0.4, 0.1), front);
    return vec4f(face * (0.5 + 0.5 * fract(at.x * 0.125)), edge);
}

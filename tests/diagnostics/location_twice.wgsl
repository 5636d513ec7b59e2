struct Varyings {
    @location(0) uv: vec2f,
    @location(0) color: vec3f,
}

@fragment
fn main(in: Varyings) -> @location(0) vec4f {
    return vec4f(in.color, in.uv.x);
}

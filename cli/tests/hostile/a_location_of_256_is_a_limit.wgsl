struct Varyings {
    @builtin(position) position: vec4f,
    @location(2) near: vec3f,
    @location(258) far: vec3f,
}

@vertex
fn vs(@builtin(vertex_index) index: u32) -> Varyings {
    let x = f32(index) - 1.0;
    return Varyings(vec4f(x, x * x, 0.0, 1.0), vec3f(x), vec3f(-x));
}

@fragment
fn fs(in: Varyings) -> @location(0) vec4f {
    return vec4f(in.near.x, in.far.yz, 1.0);
}

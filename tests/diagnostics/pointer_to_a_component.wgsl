fn clear(p: ptr<function, f32>) {
    *p = 0.0;
}

@fragment
fn main(@location(0) a: vec3f) -> @location(0) vec4f {
    var b = a;
    clear(&b.x);
    return vec4f(b, 1.0);
}

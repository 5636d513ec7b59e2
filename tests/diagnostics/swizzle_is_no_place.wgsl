@fragment
fn main(@location(0) a: vec3f) -> @location(0) vec4f {
    var b = vec4f(a, 1.0);
    b.xy = a.yx;
    return b;
}

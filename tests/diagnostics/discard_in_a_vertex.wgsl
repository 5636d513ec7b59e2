@vertex
fn main(@location(0) a: vec4f) -> @builtin(position) vec4f {
    if a.w == 0.0 {
        discard;
    }
    return a;
}

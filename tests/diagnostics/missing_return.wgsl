fn sign_of(a: f32) -> f32 {
    if a > 0.0 {
        return 1.0;
    }
}

@fragment
fn main(@location(0) a: f32) -> @location(0) vec4f {
    return vec4f(sign_of(a));
}

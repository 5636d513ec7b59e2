@fragment
fn main(@location(0) @interpolate(flat) a: u32) -> @location(0) vec4f {
    if (a & 1u) {
        return vec4f(1.0);
    }
    return vec4f(0.0);
}

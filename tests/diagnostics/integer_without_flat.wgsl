@fragment
fn main(@location(0) id: u32) -> @location(0) vec4f {
    return vec4f(f32(id));
}

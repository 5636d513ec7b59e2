@fragment
fn main(@builtin(vertex_index) id: u32) -> @location(0) vec4f {
    return vec4f(f32(id));
}

@vertex
fn main(@builtin(vertex_id) id: u32) -> @builtin(position) vec4f {
    return vec4f(f32(id));
}

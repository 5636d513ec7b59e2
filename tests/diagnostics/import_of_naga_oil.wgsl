#import bevy_pbr::forward_io::VertexOutput

@fragment
fn main(in: VertexOutput) -> @location(0) vec4f {
    return in.color;
}

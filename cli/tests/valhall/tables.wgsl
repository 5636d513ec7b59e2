// Each of the two vertex programs reads a table of constants that the other does not.
struct Out {
    @builtin(position) place: vec4f,
    @location(0) color: vec4f,
}

@vertex
fn main(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Out {
    var heights = array(0.2, 0.375, -0.1, 1.1, 0.7, -3.0, 0.9, 12.0, 0.3, 4.0);
    var colors = array(
        vec4f(1.0, 0.0, 0.5, 1.0), vec4f(0.0, 1.0, 0.25, 1.0), vec4f(0.3, 0.0, 1.0, 1.0),
        vec4f(1.0, 0.7, 1.0, 0.1), vec4f(0.6, 0.2, 0.1, 0.9), vec4f(0.8, 0.4, 0.0, 0.2),
    );
    return Out(vec4f(0.5, 0.5, heights[vertex % 10u], 1.0), colors[(vertex + instance) % 6u]);
}

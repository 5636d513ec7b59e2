// The smallest fragment shader: every pixel gets one constant colour.
//
//   gpucc samples/color.wgsl --target r700

@fragment
fn main() -> @location(0) vec4f {
    return vec4f(0.2, 0.5, 0.8, 1.0);
}

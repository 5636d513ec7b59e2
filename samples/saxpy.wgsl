// y = a * x + y over an array: a compute shader's "hello, world".
//
//   gpucc run samples/saxpy.wgsl --target r700 --groups 1 \
//       --set 0.0=f32:2 --set 0.1=f32:1,2,3,4 --set 0.2=f32:10,20,30,40 --dump 0.2

@group(0) @binding(0) var<uniform> a: f32;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i < arrayLength(&y) {
        y[i] = a * x[i] + y[i];
    }
}

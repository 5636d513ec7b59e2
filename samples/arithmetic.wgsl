// Integer and float arithmetic, with the corner cases that WGSL defines. Division by zero gives the
// dividend, shifts take the amount modulo 32, and conversions saturate.
//
//   gpucc run samples/arithmetic.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=i32:7,-7,100,-1 --set 0.1=i32:2,2,0,31 \
//       --set 0.2=zeros:16 --set 0.3=zeros:64 --dump 0.2:i32 --dump 0.3:f32

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> ints: array<i32>;
@group(0) @binding(3) var<storage, read_write> floats: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    let x = a[i];
    let y = b[i];

    let quotient = x / y;
    let remainder = x % y;
    let shifted = (x << (u32(y) & 31u)) ^ (x >> 3u);
    ints[i] = quotient + remainder * 3 + shifted - max(min(x, 1000), -1000);

    let u = f32(x) * 0.001;
    let v = f32(y) * 0.001;
    floats[i] = vec4f(u * v + 1.0, fract(u), trunc(v) - floor(u), f32(u32(abs(u)) + 7u) / 3.0);
}

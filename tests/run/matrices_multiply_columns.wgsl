// run: --groups 1 --set 0.0=f32:1,2,3,4 --set 0.1=f32:5,6 --dump 0.2
// expect: 0.2: 23 34
@group(0) @binding(0) var<storage, read> m: mat2x2f;
@group(0) @binding(1) var<storage, read> v: vec2f;
@group(0) @binding(2) var<storage, read_write> out: vec2f;
@compute @workgroup_size(1)
fn main() { out = m * v; }

// run: --groups 1 --override scale=2.5 --override 7=3 --dump 0.0
// expect: 0.0: 7.5
override scale: f32;
@id(7) override count: u32 = 1;
@group(0) @binding(0) var<storage, read_write> out: f32;
@compute @workgroup_size(1)
fn main() { out = scale * f32(count); }

// A sum over each workgroup: the lanes meet in workgroup memory, halving their number at each barrier.
// Thirty-two lanes fit one wavefront on every R700, so a barrier can synchronise them there.
//
//   gpucc run samples/reduce.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=u32:1,2,3,4,5,6,7,8 --set 0.1=zeros:4 --dump 0.1:u32

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

var<workgroup> partial: array<u32, 32>;

@compute @workgroup_size(32)
fn main(
    @builtin(global_invocation_id) global: vec3u,
    @builtin(local_invocation_index) local: u32,
    @builtin(workgroup_id) group: vec3u,
) {
    partial[local] = input[global.x];
    for (var half = 16u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            partial[local] += partial[local + half];
        }
    }
    if local == 0u {
        sums[group.x] = partial[0];
    }
}

// Running sums of 64 numbers by doubling strides, all in workgroup memory.
//
//   gpucc run samples/prefix_sum.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=u32:1,2,3,4,5,6,7,8 --set 0.1=zeros:32 --dump 0.1:u32

@group(0) @binding(0) var<storage, read> numbers: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

var<workgroup> work: array<u32, 64>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    work[own] = numbers[id.x];
    workgroupBarrier();
    for (var stride = 1u; stride < 64u; stride <<= 1u) {
        var below = 0u;
        if own >= stride {
            below = work[own - stride];
        }
        workgroupBarrier();
        work[own] += below;
        workgroupBarrier();
    }
    sums[id.x] = work[own];
}

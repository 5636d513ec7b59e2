// Insertion sort of eight numbers in a private array that is indexed by variables. On R700 the array
// is in registers that the address register indexes.
//
//   gpucc run samples/sort.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=i32:5,-3,8,1,0,-9,7,2 --set 0.1=zeros:32 --dump 0.1:i32

@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> sorted: array<i32>;

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let base = id.x * 8u;
    var a: array<i32, 8>;
    for (var i = 0u; i < 8u; i++) {
        a[i] = input[base + i];
    }
    for (var i = 1; i < 8; i++) {
        let moving = a[i];
        var hole = i;
        while hole > 0 && a[hole - 1] > moving {
            a[hole] = a[hole - 1];
            hole -= 1;
        }
        a[hole] = moving;
    }
    for (var i = 0u; i < 8u; i++) {
        sorted[base + i] = a[i];
    }
}

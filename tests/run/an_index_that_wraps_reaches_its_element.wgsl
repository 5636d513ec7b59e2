// run: --groups 1 --set 0.0=u32:4294967295,3 --set 0.2=u32:1,2,3,4 --dump 0.1 --dump 0.2
// expect: 0.1: 5 9 7 11 1 0 0 0
// expect: 0.2: 77 78 3 4
@group(0) @binding(0) var<storage, read> a: array<u32, 2>;
@group(0) @binding(1) var<storage, read_write> o: array<u32, 8>;
@group(0) @binding(2) var<storage, read_write> s: array<u32, 4>;
var<workgroup> w: array<u32, 100>;

@compute @workgroup_size(1)
fn main() {
    var x: array<u32, 100>;
    for (var k = 0u; k < 100u; k++) {
        x[k] = k * a[1] + 5u;
        w[k] = k + 7u;
    }
    workgroupBarrier();
    let i = a[0];
    if i + 1u < 90u {
        o[0] = x[i + 1u];
        x[i + 2u] = 9u;
        o[1] = x[1];
        o[2] = w[i + 1u];
        w[i + 2u] = 11u;
        o[3] = w[1];
    }
    if i + 1u < 2u {
        o[4] = s[i + 1u];
        s[i + 1u] = 77u;
        s[i + 2u] = 78u;
    }
    workgroupBarrier();
}

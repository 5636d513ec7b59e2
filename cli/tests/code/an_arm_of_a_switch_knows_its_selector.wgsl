// on r700
// 1 MOVA_INT
@group(0) @binding(0) var<uniform> u: vec4i;
@fragment fn main() -> @location(0) vec4f {
    var data: array<i32, 24>;
    for (var i = 0; i < u.x; i++) {
        switch i {
            case 0: { data[i] = u.y; }
            case 1: { data[i + 12] = u.z; }
            case 2: { data[2 * i] += u.w; }
            default: {}
        }
    }
    return vec4f(f32(data[u.z]), f32(data[0]), f32(data[13]), f32(data[4]));
}

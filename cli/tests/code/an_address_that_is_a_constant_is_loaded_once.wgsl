// on r700 off
// 3 MOVA_INT
@group(0) @binding(0) var<uniform> u: vec4u;
@fragment fn main(@location(0) a: vec4f, @location(1) b: vec4f) -> @location(0) vec4f {
    var data = array<vec4f, 9>(a, b, a, b, a, b, a, b, a);
    data[u.y & 7u] = a + b;
    data[u.z] = a - b;
    return data[u.x];
}

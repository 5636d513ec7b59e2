// on r700
// 0       19
// 1+       18
@group(0) @binding(0) var<uniform> u: vec4f;
@fragment fn main(@location(0) a: vec4f, @location(1) b: vec4f) -> @location(0) vec4f {
    var x = a.x;
    for (var i = 0; i < 12; i++) { x = x * x + 0.25; }
    var y = 0.0;
    if x > b.x {
        for (var i = 0.0; i < u.x; i += 1.0) { y = sqrt(x + y); }
    }
    var z = b.x;
    for (var i = 0; i < 12; i++) { z = z * z + 0.5; }
    return vec4f(y, z * y, z, x);
}

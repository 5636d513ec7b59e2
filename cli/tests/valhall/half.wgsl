enable f16;
struct O { @builtin(position) p: vec4f, @location(0) a: vec4h, @location(1) b: vec3h, @location(2) c: h }
alias h = f16;
@vertex fn v(@location(0) p: vec4f, @location(1) n: vec4h, @location(2) m: vec3h) -> O { return O(p, n * 2.0h, m + n.xyz, n.x * m.y); }
@fragment fn f(@location(0) a: vec4h, @location(1) b: vec3h, @location(2) c: h) -> @location(0) vec4h { return a * vec4h(b, c); }

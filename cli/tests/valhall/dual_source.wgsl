enable dual_source_blending;
struct O { @location(0) @blend_src(0) a: vec4f, @location(0) @blend_src(1) b: vec4f }
@fragment fn dual(@location(0) v: vec4f, @builtin(position) p: vec4f) -> O { return O(v * p.w, v.wzyx + p); }

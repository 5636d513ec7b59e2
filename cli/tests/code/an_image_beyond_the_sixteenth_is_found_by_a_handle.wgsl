// on valhall
// 16 LD_TEX_IMM
// 2 LD_TEX.
@group(0) @binding(0) var t0: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(1) var t1: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(2) var t2: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(3) var t3: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(4) var t4: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(5) var t5: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(6) var t6: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(7) var t7: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(8) var t8: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(9) var t9: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(10) var t10: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(11) var t11: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(12) var t12: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(13) var t13: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(14) var t14: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(15) var t15: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(16) var t16: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(17) var t17: texture_storage_2d<r32uint, read_write>;
@compute @workgroup_size(1) fn main() { let at = vec2u(1u, 2u);
textureStore(t0, at, textureLoad(t0, at) + textureLoad(t1, at) + textureLoad(t2, at) + textureLoad(t3, at) + textureLoad(t4, at) + textureLoad(t5, at) + textureLoad(t6, at) + textureLoad(t7, at) + textureLoad(t8, at) + textureLoad(t9, at) + textureLoad(t10, at) + textureLoad(t11, at) + textureLoad(t12, at) + textureLoad(t13, at) + textureLoad(t14, at) + textureLoad(t15, at) + textureLoad(t16, at) + textureLoad(t17, at) + vec4u(0u)); }

//! Words that mutations put into text.

use super::Language;
use std::sync::LazyLock;

/// The words of a language.
pub struct Vocabulary {
    /// Types.
    pub types: Vec<&'static str>,
    /// Keywords and names that are known everywhere.
    pub names: Vec<&'static str>,
    /// What a statement may be put between.
    pub frames: &'static [(&'static str, &'static str)],
}

/// The words of a language; none for those that are no text of names.
pub fn of(language: Language) -> &'static Vocabulary {
    static WGSL: LazyLock<Vocabulary> = LazyLock::new(|| new(WGSL_TYPES, WGSL_NAMES, WGSL_FRAMES));
    static GLSL: LazyLock<Vocabulary> = LazyLock::new(|| new(GLSL_TYPES, GLSL_NAMES, GLSL_FRAMES));
    static IR: LazyLock<Vocabulary> = LazyLock::new(|| new(IR_TYPES, IR_NAMES, &[]));
    static NONE: LazyLock<Vocabulary> = LazyLock::new(|| new("", "", &[]));
    match language {
        Language::Wgsl => &WGSL,
        Language::Glsl => &GLSL,
        Language::Ir => &IR,
        Language::SpirV | Language::Assembly => &NONE,
    }
}

fn new(
    types: &'static str,
    names: &'static str,
    frames: &'static [(&'static str, &'static str)],
) -> Vocabulary {
    Vocabulary {
        types: types.split_whitespace().collect(),
        names: names.split_whitespace().collect(),
        frames,
    }
}

/// Numbers at which something changes.
pub static NUMBERS: LazyLock<Vec<&str>> = LazyLock::new(|| EDGES.split_whitespace().collect());
/// Operators.
pub static OPERATORS: LazyLock<Vec<&str>> = LazyLock::new(|| SIGNS.split_whitespace().collect());
/// Words of which each may stand for the others.
pub static GROUPS: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let lines = ALIKE.iter();
    lines.map(|line| line.split_whitespace().collect()).collect()
});

/// Types of WGSL.
const WGSL_TYPES: &str = "bool i32 u32 f32 f16 i64 u64 vec2f vec3f vec4f vec2i vec3i vec4i vec2u vec3u vec4u vec2h vec3h vec4h \
    vec2 vec3 vec4 mat2x2f mat3x3f mat4x4f mat2x3f mat4x3f mat3x4h mat2x2 mat4x4 array atomic ptr \
    texture_2d texture_3d texture_cube texture_2d_array texture_depth_2d texture_multisampled_2d sampler \
    sampler_comparison";
/// WGSL's keywords, attributes and functions.
const WGSL_NAMES: &str = "abs acos all any arrayLength asin atan atan2 atomicAdd atomicLoad atomicMax bitcast ceil clamp \
    continue continuing cos countOneBits cross determinant discard distance dot dpdx exp exp2 \
    extractBits faceForward firstLeadingBit floor fma fract frexp fwidth insertBits inverseSqrt ldexp \
    length log log2 max min mix modf normalize pack2x16float pack4x8unorm pow quantizeToF16 reflect \
    refract return reverseBits round saturate select sign sin sinh smoothstep sqrt step storageBarrier \
    tan tanh textureDimensions textureGather textureLoad textureNumLevels textureSample \
    textureSampleBias textureSampleCompare textureSampleGrad textureSampleLevel transpose trunc \
    unpack2x16snorm unpack4x8unorm workgroupBarrier workgroupUniformLoad break subgroupAdd \
    subgroupBallot uniform storage private workgroup function read write read_write compute vertex \
    fragment position location builtin vertex_index global_invocation_id frag_depth sample_mask flat \
    linear perspective centroid interpolate invariant align size group binding override const let var if \
    else loop for while switch default case true false";
/// Types of GLSL.
const GLSL_TYPES: &str = "bool int uint float double vec2 vec3 vec4 ivec2 ivec3 ivec4 uvec2 uvec3 uvec4 bvec2 bvec3 bvec4 \
    dvec2 dvec4 mat2 mat3 mat4 mat2x3 mat3x2 mat4x3 dmat2 sampler2D sampler3D samplerCube sampler2DArray \
    sampler2DShadow isampler2D usampler2D sampler2DMS samplerBuffer sampler1D sampler2DRect image2D \
    uimage2D texture2D sampler void atomic_uint subpassInput uint64_t";
/// GLSL's keywords, variables and functions.
const GLSL_NAMES: &str = "abs acos all any asin atan atomicAdd barrier bitCount bitfieldExtract bitfieldInsert break buffer \
    case ceil centroid clamp coherent const continue cos cross dFdx default determinant discard distance \
    do dot else exp exp2 faceforward findLSB flat floatBitsToInt floor fma for fract frexp fwidth \
    gl_FragCoord gl_FragColor gl_FragData gl_FragDepth gl_FrontFacing gl_GlobalInvocationID \
    gl_InstanceID gl_LocalInvocationIndex gl_Position gl_ClipDistance gl_VertexID gl_PointSize \
    gl_SampleMask if imageLoad imageStore in inout inverse invariant inversesqrt layout ldexp length \
    location log main max min mix mod modf noperspective normalize offset out packHalf2x16 pow reflect \
    refract return round row_major sample shared sign sin smoothstep sqrt std140 std430 step struct \
    switch tan texelFetch texture texture2D textureGrad textureLod textureProj textureSize transpose \
    trunc uniform varying attribute while binding set component index local_size_x push_constant \
    constant_id true false precision highp lowp mediump define version extension ifdef endif gl_in mat2 \
    buffer_reference buffer_reference_align textureQueryLod clock2x32ARB";
/// Types of structured SSA.
const IR_TYPES: &str = "b1 b8 b16 b32 b64 f16 f32 f64 u32 i32";
/// Words of its text.
const IR_NAMES: &str = "fragment vertex compute uniform storage texture sampler location builtin perspective flat linear \
    center centroid if else loop continuing block exit yield break continue return discard index \
    buffer_load buffer_store mem_load mem_store tex barrier";
/// See [`NUMBERS`].
const EDGES: &str = "0 1 2 3 4 7 8 15 16 17 31 32 33 63 64 65 127 128 255 256 257 300 1023 1024 4095 4096 16384 32767 \
    65535 65536 65537 1000000 16777216 268435456 1073741824 2147483647 2147483648 4294967295 4294967296 \
    9223372036854775807 18446744073709551615 99999999999999999999 0u 1u 31u 32u 255u 65536u 4294967295u \
    0i 2147483647i -2147483648 -1 0.0 -0.0 1.0 0.5 1e38 3.4028235e38 1e39 1e-45 1e-39 65504.0 65505h \
    1e308 1e309 0x1p-149 0x7fffffff 0xffffffff 0x80000000 0f 1f 1h";
/// See [`OPERATORS`].
const SIGNS: &str =
    "+ - * / % & | ^ << >> == != < <= > >= && || = += -= *= /= %= <<= >>= ! ~ ++ -- ? : . ->";
/// See [`GROUPS`].
const ALIKE: &[&str] = &[
    "+ - * / % & | ^",
    "< >",
    "abs acos acosh asin asinh atan atanh ceil cos cosh degrees exp exp2 floor fract inverseSqrt log log2 \
     normalize radians round saturate sign sin sinh sqrt tan tanh trunc quantizeToF16",
    "inversesqrt roundEven sqrt log2 exp2",
    "min max pow step atan2 reflect distance dot",
    "mix clamp fma smoothstep faceForward refract",
    "dpdx dpdy fwidth dpdxFine dpdyCoarse fwidthFine",
    "dFdx dFdy fwidth dFdxFine dFdyCoarse",
    "countOneBits reverseBits firstLeadingBit firstTrailingBit countLeadingZeros",
    "bitCount bitfieldReverse findLSB findMSB",
    "any all",
    "atomicAdd atomicSub atomicMax atomicMin atomicAnd atomicOr atomicXor atomicExchange",
    "true false",
    "break continue return discard",
    "workgroupBarrier storageBarrier textureBarrier",
    "perspective linear flat",
    "smooth flat noperspective centroid",
    "x y z w xy zw xyz xyzw yx",
    "r g b a rgb rgba bgr",
    "f32 i32 u32",
    "vec2f vec2i vec2u",
    "vec3f vec3i vec3u",
    "vec4f vec4i vec4u",
    "float int uint",
    "lowp mediump highp",
    "std140 std430",
];
const WGSL_FRAMES: &[(&str, &str)] = &[
    (" { ", " } "),
    (" if true { ", " } "),
    (" if false { } else { ", " } "),
    (" loop { ", " break; } "),
    (" loop { ", " continuing { break if true; } } "),
    (" for (var fz = 0u; fz < 3u; fz++) { ", " } "),
    (" for (var fz = 0u; fz < 300u; fz++) { if fz == 7u { continue; } ", " } "),
    (" while true { ", " } "),
    (" switch 1i { case 1, 2: { ", " } default: { } } "),
    (" return; ", " "),
];
const GLSL_FRAMES: &[(&str, &str)] = &[
    (" { ", " } "),
    (" if (true) { ", " } "),
    (" do { ", " } while (false); "),
    (" for (int fz = 0; fz < 3; fz++) { ", " } "),
    (" for (int fz = 0; fz < 300; ++fz) { if (fz == 7) continue; ", " } "),
    (" while (true) { ", " } "),
    (" switch (1) { case 1: ", " break; default: break; } "),
    (" return; ", " "),
];

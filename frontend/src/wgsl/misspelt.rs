//! What a name that nothing declares was most likely meant to be.

use crate::growth::Tokens;
use gpucc_ir::Set;
use gpucc_ir::nearest::nearest;

/// Words of a text that are compared at most.
const MOST_WORDS: usize = 4096;

/// Types and functions that WGSL declares by itself (WGSL, 6 and 17), aliases aside.
const PREDECLARED: &str = "
    bool i32 u32 f32 f16 vec2 vec3 vec4 vec2f vec3f vec4f vec2i vec3i vec4i vec2u vec3u vec4u vec2h vec3h vec4h
    mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4 mat2x2f mat2x3f mat2x4f mat3x2f mat3x3f mat3x4f
    mat4x2f mat4x3f mat4x4f array atomic ptr sampler sampler_comparison texture_1d texture_2d texture_2d_array
    texture_3d texture_cube texture_cube_array texture_multisampled_2d texture_storage_1d texture_storage_2d
    texture_storage_2d_array texture_storage_3d texture_depth_2d texture_depth_2d_array texture_depth_cube
    texture_depth_cube_array texture_depth_multisampled_2d
    bitcast all any select arrayLength abs acos acosh asin asinh atan atanh atan2 ceil clamp cos cosh
    countLeadingZeros countOneBits countTrailingZeros cross degrees determinant distance dot dot4U8Packed
    dot4I8Packed exp exp2 extractBits faceForward firstLeadingBit firstTrailingBit floor fma fract frexp insertBits
    inverseSqrt ldexp length log log2 max min mix modf normalize pow quantizeToF16 radians reflect refract
    reverseBits round saturate sign sin sinh smoothstep sqrt step tan tanh transpose trunc dpdx dpdxCoarse dpdxFine
    dpdy dpdyCoarse dpdyFine fwidth fwidthCoarse fwidthFine textureDimensions textureGather textureGatherCompare
    textureLoad textureNumLayers textureNumLevels textureNumSamples textureSample textureSampleBias
    textureSampleCompare textureSampleCompareLevel textureSampleGrad textureSampleLevel
    textureSampleBaseClampToEdge textureStore atomicLoad atomicStore atomicAdd atomicSub atomicMax atomicMin
    atomicAnd atomicOr atomicXor atomicExchange atomicCompareExchangeWeak pack4x8snorm pack4x8unorm pack4xI8 pack4xU8
    pack2x16snorm pack2x16unorm pack2x16float unpack4x8snorm unpack4x8unorm unpack4xI8 unpack4xU8 unpack2x16snorm
    unpack2x16unorm unpack2x16float storageBarrier textureBarrier workgroupBarrier workgroupUniformLoad";

/// What other shading languages call a thing, and its name in WGSL.
const FOREIGN: [(&str, &str); 34] = [
    ("float", "f32"),
    ("int", "i32"),
    ("uint", "u32"),
    ("half", "f16"),
    ("float2", "vec2f"),
    ("float3", "vec3f"),
    ("float4", "vec4f"),
    ("int2", "vec2i"),
    ("int3", "vec3i"),
    ("int4", "vec4i"),
    ("uint2", "vec2u"),
    ("uint3", "vec3u"),
    ("uint4", "vec4u"),
    ("ivec2", "vec2i"),
    ("ivec3", "vec3i"),
    ("ivec4", "vec4i"),
    ("uvec2", "vec2u"),
    ("uvec3", "vec3u"),
    ("uvec4", "vec4u"),
    ("mat2", "mat2x2f"),
    ("mat3", "mat3x3f"),
    ("mat4", "mat4x4f"),
    ("float3x3", "mat3x3f"),
    ("float4x4", "mat4x4f"),
    ("sampler2D", "texture_2d<f32>"),
    ("Texture2D", "texture_2d<f32>"),
    ("texture", "textureSample"),
    ("texelFetch", "textureLoad"),
    ("lerp", "mix"),
    ("frac", "fract"),
    ("mad", "fma"),
    ("rsqrt", "inverseSqrt"),
    ("ddx", "dpdx"),
    ("ddy", "dpdy"),
];

/// True for a name that WGSL declares by itself.
pub fn is_predeclared(name: &str) -> bool {
    PREDECLARED.split_whitespace().any(|known| known == name)
}

/// The name that is meant by one that nothing declares: what WGSL declares, by its name elsewhere too, or a word of the text. Members of values
/// and words behind `@` are none.
pub fn meant(name: &str, text: &str) -> Option<String> {
    if let Some((_, known)) = FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
        return Some((*known).to_owned());
    }
    let tokens = Tokens::new(text);
    let mut words: Set<&str> = Set::default();
    for index in 0..tokens.len() {
        let word = tokens.word(index);
        let is_name = word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        let is_part = index > 0 && matches!(tokens.word(index - 1), "." | "@");
        if is_name && !is_part && word != name {
            words.insert(word);
        }
        if words.len() == MOST_WORDS {
            break;
        }
    }
    nearest(name, words.into_iter().chain(PREDECLARED.split_whitespace())).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_text_and_a_name_of_the_language_are_meant() {
        let text = "fn f(brightness: f32) -> f32 { return clmap(brightnes, s.brightest, 1.0); }";
        assert_eq!(meant("brightnes", text).as_deref(), Some("brightness"));
        assert_eq!(meant("clmap", text).as_deref(), Some("clamp"));
        assert_eq!(meant("normalise", text).as_deref(), Some("normalize"));
        assert_eq!(meant("zebra", text), None);
        assert_eq!(meant("lerp", text).as_deref(), Some("mix"));
    }

    #[test]
    fn members_attributes_and_comments_are_no_names() {
        assert_eq!(meant("positoon", "// position\n @position x.position"), None);
    }
}

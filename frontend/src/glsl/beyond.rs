//! Which of naga's complaints about GLSL are gaps of its reader and not faults of the text.
//!
//! naga reads a part of GLSL 4.40 and later, so that what it does not know may well be valid.

use naga::front::glsl::{ErrorKind, TokenValue};

/// Functions of the language and of its common extensions that naga lacks, wholly or in some forms.
const FUNCTIONS: &[&str] = &[
    "abs",
    "anyInvocation",
    "allInvocations",
    "allInvocationsEqual",
    "bitfieldExtract",
    "bitfieldInsert",
    "determinant",
    "dFdxCoarse",
    "dFdxFine",
    "dFdyCoarse",
    "dFdyFine",
    "findLSB",
    "findMSB",
    "fma",
    "frexp",
    "fwidthCoarse",
    "fwidthFine",
    "groupMemoryBarrier",
    "imulExtended",
    "interpolateAtCentroid",
    "interpolateAtOffset",
    "interpolateAtSample",
    "inverse",
    "ldexp",
    "max",
    "memoryBarrier",
    "memoryBarrierAtomicCounter",
    "memoryBarrierBuffer",
    "memoryBarrierImage",
    "memoryBarrierShared",
    "min",
    "mix",
    "modf",
    "noise1",
    "noise2",
    "noise3",
    "noise4",
    "outerProduct",
    "packDouble2x32",
    "packHalf2x16",
    "packInt2x32",
    "packUint2x32",
    "subpassLoad",
    "transpose",
    "uaddCarry",
    "umulExtended",
    "unpackDouble2x32",
    "unpackHalf2x16",
    "usubBorrow",
    "debugPrintfEXT",
    "ftransform",
    "shadow1D",
    "shadow2D",
    "min3",
    "max3",
    "mid3",
];
/// Beginnings of such names.
const FAMILIES: &[&str] = &[
    "atomic",
    "atomicCounter",
    "image",
    "subgroup",
    "texel",
    "texture",
    "sparse",
    "shadow1D",
    "shadow2D",
    "pack",
    "unpack",
    "rayQuery",
];
/// Ends of names that extensions give.
const EXTENSIONS: &[&str] = &["EXT", "KHR", "ARB", "NV", "AMD", "INTEL", "OES", "QCOM", "ARM"];
/// Words of the language that are no variables.
const WORDS: &[&str] = &[
    "attribute",
    "varying",
    "coherent",
    "volatile",
    "restrict",
    "patch",
    "sample",
    "subroutine",
    "precise",
    "invariant",
    "demote",
    "terminateInvocation",
    "shared",
    "spirv_instruction",
    "spirv_execution_mode",
    "spirv_decorate",
    "spirv_by_reference",
    "spirv_type",
    "half",
];

/// True for a complaint about what the language has and naga's reader has not.
pub fn is_beyond_naga(kind: &ErrorKind, text: &str) -> bool {
    match kind {
        ErrorKind::UnknownVariable(name) => name.starts_with("gl_") || is_word(name),
        ErrorKind::UnknownType(name) => is_word(name),
        ErrorKind::SemanticError(message) => is_gap(message, text),
        ErrorKind::InvalidToken(found, _) => is_out_of_place(found),
        // `"` is a character of debugPrintfEXT's strings alone.
        ErrorKind::PreprocessorError(error) => {
            let message = format!("{error:?}");
            message.contains("Literal") || text.contains("debugPrintf")
        }
        _ => false,
    }
}

fn is_gap(message: &str, text: &str) -> bool {
    let quoted = |start: &str| message.strip_prefix(start).and_then(|rest| rest.strip_suffix('\''));
    if let Some(name) = quoted("Unknown function '").or(quoted("Ambiguous best function for '")) {
        return is_function(name) || is_word(name) || takes_arrays(name, text);
    }
    [
        "uniform/buffer blocks require",
        "Unexpected qualifier",
        "Unexpected override-expression",
        "Unexpected runtime-expression",
        "Memory qualifiers can only",
        "Invariant qualifier can only",
        "Unsupported non-32bit integer",
        "Not a valid texture expression",
    ]
    .iter()
    .any(|start| message.starts_with(start))
        // Swizzles of scalars, which 4.20 brought.
        || (message.starts_with("Can't lookup field on this type") && is_scalar_swizzle(message))
}

fn is_scalar_swizzle(message: &str) -> bool {
    let field = message.split('"').nth(1).unwrap_or("");
    !field.is_empty() && field.len() <= 4 && field.chars().all(|c| matches!(c, 'x' | 'r' | 's'))
}

/// A function of the text's own with an array among its parameters: naga finds no overload for it.
fn takes_arrays(name: &str, text: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let rest = text[at + name.len()..].trim_start();
        let parameters = rest
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .filter(|(_, body)| body.trim_start().starts_with('{'));
        parameters.is_some_and(|(parameters, _)| parameters.contains('['))
    })
}

fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Types and words that the language or an extension has.
fn is_word(name: &str) -> bool {
    let types = [
        "sampler",
        "isampler",
        "usampler",
        "image",
        "iimage",
        "uimage",
        "subpass",
        "texture",
        "itexture",
        "utexture",
        "dmat",
        "dvec",
        "f16",
        "f32",
        "f64",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "atomic_uint",
        "accelerationStructure",
        "rayQuery",
        "coopmat",
    ];
    types.iter().any(|prefix| name.starts_with(prefix))
        || WORDS.contains(&name)
        || EXTENSIONS.iter().any(|suffix| name.ends_with(suffix))
}

/// A word where naga's grammar has none but the language may: qualifiers of members and parameters,
/// types of extensions, initialisers in braces.
fn is_out_of_place(found: &TokenValue) -> bool {
    use TokenValue as T;
    match found {
        T::Identifier(name) => is_word(name),
        T::Layout
        | T::Invariant
        | T::PrecisionQualifier(_)
        | T::Interpolation(_)
        | T::Sampling(_)
        | T::Uniform
        | T::Buffer
        | T::Shared
        | T::MemoryQualifier(_)
        | T::Precision => true,
        _ => false,
    }
}

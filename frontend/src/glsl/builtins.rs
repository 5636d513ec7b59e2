//! Signatures of built-in functions (GLSL 4.60, chapter 8, and of extensions), textures, images and atomics apart.
//!
//! A signature is the type of the result and those of the arguments. A capital is a scalar or vector, a small letter
//! a scalar: `F` float, `D` double, `H` float16, `I` int, `U` uint, `L` int64, `W` uint64, `Y` int16, `T` uint16, `X` int8, `Q` uint8,
//! `B` bool; `A` any float, `G` a float or float16, `N` any number, `S` a number with a sign, `Z` any integer, the same
//! one throughout; `v` is void. `V` in front asks for a vector, a digit behind for its length, `>` for a variable that
//! is written.

use super::types::{Ty, vector};
use naga::{Scalar, ScalarKind};

const I8: Scalar = Scalar { kind: ScalarKind::Sint, width: 1 };
const U8: Scalar = Scalar { kind: ScalarKind::Uint, width: 1 };
const I16: Scalar = Scalar { kind: ScalarKind::Sint, width: 2 };
const U16: Scalar = Scalar { kind: ScalarKind::Uint, width: 2 };

/// The functions by their names, each with its signatures: types and letters that stand for several.
pub const FUNCTIONS: &[(&str, &str)] = &[
    ("clockARB", "w"),
    ("clock2x32ARB", "U2"),
    ("clockRealtimeEXT", "w"),
    ("clockRealtime2x32EXT", "U2"),
    ("timeAMD", "w"),
    ("radians", "G G"),
    ("degrees", "G G"),
    ("sin", "G G"),
    ("cos", "G G"),
    ("tan", "G G"),
    ("asin", "G G"),
    ("acos", "G G"),
    ("atan", "G G|G G G"),
    ("sinh", "G G"),
    ("cosh", "G G"),
    ("tanh", "G G"),
    ("asinh", "G G"),
    ("acosh", "G G"),
    ("atanh", "G G"),
    ("pow", "G G G"),
    ("exp", "G G"),
    ("log", "G G"),
    ("exp2", "G G"),
    ("log2", "G G"),
    ("sqrt", "A A"),
    ("inversesqrt", "A A"),
    ("abs", "S S"),
    ("sign", "S S"),
    ("floor", "A A"),
    ("trunc", "A A"),
    ("truncate", "G G"),
    ("round", "A A"),
    ("roundEven", "A A"),
    ("ceil", "A A"),
    ("fract", "A A"),
    ("mod", "A A A|A A a"),
    ("modf", "A A A>"),
    ("min", "N N N|N N n"),
    ("max", "N N N|N N n"),
    ("clamp", "N N N N|N N n n"),
    ("mix", "A A A A|A A A a|N N N B|B B B B"),
    ("step", "A A A|A a A"),
    ("smoothstep", "A A A A|A a a A"),
    ("isnan", "B A"),
    ("isinf", "B A"),
    ("floatBitsToInt", "I F"),
    ("floatBitsToUint", "U F"),
    ("intBitsToFloat", "F I"),
    ("uintBitsToFloat", "F U"),
    ("doubleBitsToInt64", "L D"),
    ("doubleBitsToUint64", "W D"),
    ("int64BitsToDouble", "D L"),
    ("uint64BitsToDouble", "D W"),
    ("float16BitsToInt16", "Y H"),
    ("float16BitsToUint16", "T H"),
    ("halfBitsToInt16", "Y H"),
    ("halfBitsToUint16", "T H"),
    ("int16BitsToFloat16", "H Y"),
    ("uint16BitsToFloat16", "H T"),
    ("int16BitsToHalf", "H Y"),
    ("uint16BitsToHalf", "H T"),
    ("fma", "A A A A"),
    ("frexp", "A A I>"),
    ("ldexp", "A A I"),
    ("packUnorm2x16", "u F2"),
    ("packSnorm2x16", "u F2"),
    ("packUnorm4x8", "u F4"),
    ("packSnorm4x8", "u F4"),
    ("unpackUnorm2x16", "F2 u"),
    ("unpackSnorm2x16", "F2 u"),
    ("unpackUnorm4x8", "F4 u"),
    ("unpackSnorm4x8", "F4 u"),
    ("packHalf2x16", "u F2"),
    ("unpackHalf2x16", "F2 u"),
    ("packDouble2x32", "d U2"),
    ("unpackDouble2x32", "U2 d"),
    ("packInt2x32", "l I2"),
    ("unpackInt2x32", "I2 l"),
    ("packUint2x32", "w U2"),
    ("unpackUint2x32", "U2 w"),
    ("packFloat2x16", "u H2"),
    ("unpackFloat2x16", "H2 u"),
    ("packInt2x16", "i Y2"),
    ("unpackInt2x16", "Y2 i"),
    ("packUint2x16", "u T2"),
    ("unpackUint2x16", "T2 u"),
    ("packInt4x16", "l Y4"),
    ("unpackInt4x16", "Y4 l"),
    ("packUint4x16", "w T4"),
    ("unpackUint4x16", "T4 w"),
    ("pack16", "y X2|t Q2"),
    ("unpack8", "X2 y|Q2 t|X4 i|Q4 u"),
    ("pack32", "i Y2|u T2|i X4|u Q4"),
    ("pack64", "l I2|w U2|l Y4|w T4"),
    ("unpack32", "I2 l|U2 w"),
    ("unpack16", "Y2 i|T2 u|Y4 l|T4 w"),
    ("length", "a A"),
    ("distance", "a A A"),
    ("dot", "a A A"),
    ("cross", "A3 A3 A3"),
    ("normalize", "A A"),
    ("faceforward", "A A A A"),
    ("reflect", "A A A"),
    ("refract", "A A A a|D D D f"),
    ("lessThan", "VB VN VN"),
    ("lessThanEqual", "VB VN VN"),
    ("greaterThan", "VB VN VN"),
    ("greaterThanEqual", "VB VN VN"),
    ("equal", "VB VN VN|VB VB VB"),
    ("notEqual", "VB VN VN|VB VB VB"),
    ("any", "b VB"),
    ("all", "b VB"),
    ("not", "VB VB"),
    ("uaddCarry", "U U U U>"),
    ("usubBorrow", "U U U U>"),
    ("umulExtended", "v U U U> U>"),
    ("imulExtended", "v I I I> I>"),
    ("bitfieldExtract", "I I i i|U U i i"),
    ("bitfieldInsert", "I I I i i|U U U i i"),
    ("bitfieldReverse", "I I|U U"),
    ("bitCount", "I I|I U"),
    ("findLSB", "I I|I U"),
    ("findMSB", "I I|I U"),
    ("countLeadingZeros", "U U"),
    ("countTrailingZeros", "U U"),
    ("dFdx", "G G"),
    ("dFdy", "G G"),
    ("fwidth", "G G"),
    ("dFdxFine", "G G"),
    ("dFdyFine", "G G"),
    ("fwidthFine", "G G"),
    ("dFdxCoarse", "G G"),
    ("dFdyCoarse", "G G"),
    ("fwidthCoarse", "G G"),
    ("interpolateAtCentroid", "G G"),
    ("interpolateAtSample", "G G i"),
    ("interpolateAtOffset", "G G F2"),
    ("noise1", "f F"),
    ("noise2", "F2 F"),
    ("noise3", "F3 F"),
    ("noise4", "F4 F"),
    ("ftransform", "F4"),
    ("min3", "N N N N"),
    ("max3", "N N N N"),
    ("mid3", "N N N N"),
    ("barrier", "v"),
    ("controlBarrier", "v i i i i|v i i i"),
    ("memoryBarrier", "v|v i i i|v i i"),
    ("memoryBarrierAtomicCounter", "v"),
    ("memoryBarrierBuffer", "v"),
    ("memoryBarrierImage", "v"),
    ("memoryBarrierShared", "v"),
    ("groupMemoryBarrier", "v"),
    ("subgroupBarrier", "v"),
    ("subgroupMemoryBarrier", "v"),
    ("subgroupMemoryBarrierBuffer", "v"),
    ("subgroupMemoryBarrierImage", "v"),
    ("subgroupMemoryBarrierShared", "v"),
    ("subgroupElect", "b"),
    ("subgroupAll", "b b"),
    ("subgroupAny", "b b"),
    ("subgroupAllEqual", "b N|b B"),
    ("subgroupBroadcast", "N N u|B B u"),
    ("subgroupBroadcastFirst", "N N|B B"),
    ("subgroupBallot", "U4 b"),
    ("subgroupInverseBallot", "b U4"),
    ("subgroupBallotBitExtract", "b U4 u"),
    ("subgroupBallotBitCount", "u U4"),
    ("subgroupBallotInclusiveBitCount", "u U4"),
    ("subgroupBallotExclusiveBitCount", "u U4"),
    ("subgroupBallotFindLSB", "u U4"),
    ("subgroupBallotFindMSB", "u U4"),
    ("subgroupShuffle", "N N u|B B u"),
    ("subgroupShuffleXor", "N N u|B B u"),
    ("subgroupShuffleUp", "N N u|B B u"),
    ("subgroupShuffleDown", "N N u|B B u"),
    ("subgroupRotate", "N N u|B B u"),
    ("subgroupAdd", "N N"),
    ("subgroupMul", "N N"),
    ("subgroupMin", "N N"),
    ("subgroupMax", "N N"),
    ("subgroupAnd", "Z Z|B B"),
    ("subgroupOr", "Z Z|B B"),
    ("subgroupXor", "Z Z|B B"),
    ("subgroupInclusiveAdd", "N N"),
    ("subgroupInclusiveMul", "N N"),
    ("subgroupInclusiveMin", "N N"),
    ("subgroupInclusiveMax", "N N"),
    ("subgroupInclusiveAnd", "Z Z|B B"),
    ("subgroupInclusiveOr", "Z Z|B B"),
    ("subgroupInclusiveXor", "Z Z|B B"),
    ("subgroupExclusiveAdd", "N N"),
    ("subgroupExclusiveMul", "N N"),
    ("subgroupExclusiveMin", "N N"),
    ("subgroupExclusiveMax", "N N"),
    ("subgroupExclusiveAnd", "Z Z|B B"),
    ("subgroupExclusiveOr", "Z Z|B B"),
    ("subgroupExclusiveXor", "Z Z|B B"),
    ("subgroupClusteredAdd", "N N u"),
    ("subgroupClusteredMul", "N N u"),
    ("subgroupClusteredMin", "N N u"),
    ("subgroupClusteredMax", "N N u"),
    ("subgroupClusteredAnd", "Z Z u|B B u"),
    ("subgroupClusteredOr", "Z Z u|B B u"),
    ("subgroupClusteredXor", "Z Z u|B B u"),
    ("subgroupClusteredRotate", "N N u u|B B u u"),
    ("subgroupQuadBroadcast", "N N u|B B u"),
    ("subgroupQuadSwapHorizontal", "N N|B B"),
    ("subgroupQuadSwapVertical", "N N|B B"),
    ("subgroupQuadSwapDiagonal", "N N|B B"),
    ("subgroupQuadAll", "b b"),
    ("subgroupQuadAny", "b b"),
    ("ballotARB", "w b"),
    ("readInvocationARB", "N N u"),
    ("readFirstInvocationARB", "N N"),
    ("anyInvocationARB", "b b"),
    ("allInvocationsARB", "b b"),
    ("allInvocationsEqualARB", "b b"),
    ("anyInvocation", "b b"),
    ("allInvocations", "b b"),
    ("allInvocationsEqual", "b b"),
    ("addInvocationsAMD", "N N"),
    ("minInvocationsAMD", "N N"),
    ("maxInvocationsAMD", "N N"),
    ("addInvocationsInclusiveScanAMD", "N N"),
    ("minInvocationsInclusiveScanAMD", "N N"),
    ("maxInvocationsInclusiveScanAMD", "N N"),
    ("addInvocationsExclusiveScanAMD", "N N"),
    ("minInvocationsExclusiveScanAMD", "N N"),
    ("maxInvocationsExclusiveScanAMD", "N N"),
    ("addInvocationsNonUniformAMD", "N N"),
    ("minInvocationsNonUniformAMD", "N N"),
    ("maxInvocationsNonUniformAMD", "N N"),
    ("addInvocationsInclusiveScanNonUniformAMD", "N N"),
    ("minInvocationsInclusiveScanNonUniformAMD", "N N"),
    ("maxInvocationsInclusiveScanNonUniformAMD", "N N"),
    ("addInvocationsExclusiveScanNonUniformAMD", "N N"),
    ("minInvocationsExclusiveScanNonUniformAMD", "N N"),
    ("maxInvocationsExclusiveScanNonUniformAMD", "N N"),
    ("swizzleInvocationsAMD", "N N U4"),
    ("swizzleInvocationsMaskedAMD", "N N U3"),
    ("writeInvocationAMD", "N N N u"),
    ("mbcntAMD", "u w"),
    ("cubeFaceIndexAMD", "f F3"),
    ("cubeFaceCoordAMD", "F2 F3"),
    ("helperInvocationEXT", "b"),
    ("EmitVertex", "v"),
    ("EndPrimitive", "v"),
    ("EmitStreamVertex", "v i"),
    ("EndStreamPrimitive", "v i"),
    ("assumeEXT", "v b"),
    ("expectEXT", "N N N|B B B"),
];

/// A signature: the result, and the arguments with whether each is written.
pub struct Signature {
    pub result: Ty,
    pub arguments: Vec<(Ty, bool)>,
}

/// Scalars that a family letter stands for.
fn family(letter: char) -> Option<&'static [Scalar]> {
    Some(match letter {
        'A' => &[Scalar::F32, Scalar::F64, Scalar::F16],
        'G' => &[Scalar::F32, Scalar::F16],
        'N' => &[
            Scalar::F32,
            Scalar::I32,
            Scalar::U32,
            Scalar::F64,
            Scalar::F16,
            Scalar::I64,
            Scalar::U64,
            I16,
            U16,
            I8,
            U8,
        ],
        'S' => &[Scalar::F32, Scalar::I32, Scalar::F64, Scalar::F16, Scalar::I64, I16, I8],
        'Z' => &[Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64, I16, U16, I8, U8],
        _ => return None,
    })
}

fn one(letter: char) -> Scalar {
    match letter {
        'D' => Scalar::F64,
        'H' => Scalar::F16,
        'I' => Scalar::I32,
        'U' => Scalar::U32,
        'L' => Scalar::I64,
        'W' => Scalar::U64,
        'Y' => I16,
        'T' => U16,
        'X' => I8,
        'Q' => U8,
        'B' => Scalar::BOOL,
        _ => Scalar::F32,
    }
}

/// The row of a function: its name and what it takes. None where there is no such function.
pub fn row(name: &str) -> Option<&'static (&'static str, &'static str)> {
    FUNCTIONS.iter().find(|(own, _)| *own == name)
}

/// Every signature of a function, each type written out.
pub fn signatures(patterns: &str) -> Vec<Signature> {
    let mut all = Vec::new();
    for pattern in patterns.split('|') {
        let of = pattern
            .chars()
            .find_map(|letter| family(letter.to_ascii_uppercase()).filter(|_| letter != 'v'));
        let generic = pattern.split(' ').any(|token| {
            let last = token.trim_end_matches('>');
            last.ends_with(|letter: char| letter.is_ascii_uppercase())
        });
        let first = if pattern.contains('V') { 2 } else { 1 };
        let lanes = if generic { first..=4 } else { 1..=1 };
        for &scalar in of.unwrap_or(&[Scalar::F32]) {
            for lanes in lanes.clone() {
                let mut types = pattern.split(' ').map(|token| typed(token, scalar, lanes));
                let Some((result, _)) = types.next() else {
                    continue;
                };
                all.push(Signature { result, arguments: types.collect() });
            }
        }
    }
    all
}

fn typed(token: &str, of: Scalar, lanes: usize) -> (Ty, bool) {
    let (token, written) = match token.strip_suffix('>') {
        Some(token) => (token, true),
        None => (token, false),
    };
    if token == "v" {
        return (Ty::Void, false);
    }
    let mut letters = token.trim_start_matches('V').chars();
    let letter = letters.next().unwrap_or('F');
    let capital = letter.to_ascii_uppercase();
    let scalar = if family(capital).is_some() { of } else { one(capital) };
    let lanes = match letters.next().and_then(|digit| digit.to_digit(10)) {
        Some(count) => count as usize,
        None if letter.is_ascii_uppercase() => lanes,
        None => 1,
    };
    (vector(scalar, lanes), written)
}

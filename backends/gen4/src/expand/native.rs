//! What the machine has as instructions, by operation: one row each, so that a new operation does not compile until somebody
//! says so. All is 32 bits wide.

use super::{angles, recipes};
use gpucc_ir::ssa::{Op, Type};
use gpucc_passes::expand::{Native, OwnRecipe, cube, subgroup};

/// How an operation is had.
#[derive(Copy, Clone)]
enum How {
    /// By the lowering.
    Has,
    /// By the lowering of vertices, whose components stand side by side; elsewhere by the shared expansions.
    Vertices,
    /// By a recipe of this machine.
    Own(OwnRecipe),
    /// By the shared expansions, as far as they go.
    Shared,
}
use How::{Has, Own, Shared, Vertices};

macro_rules! rows {
    ($( $($op:ident)+ : $how:expr; )+) => {
        fn how(op: Op) -> How {
            match op { $( $(Op::$op)|+ => $how, )+ }
        }
    };
}

#[rustfmt::skip]
rows! {
    // Memory, interface, textures, control and what moves bits about.
    Const Select Join64 Lo64 Hi64 Join16 Lo16 Hi16:          Has;
    BufferLoad BufferStore BufferSize BufferAtomic:          Has;
    MemLoad MemStore MemAtomic Index Input Output:           Has;
    EmitVertex EndPrimitive:                                 Has;
    Tex TexQuery ImageStore ImageAtomic:                     Has;
    Ddx Ddy DdxFine DdyFine DdxCoarse DdyCoarse:             Has;
    Demote IsHelper Ballot Shuffle:                          Has;
    Reduce:                                                  Own(subgroup::reduce_choosing);
    SubgroupBarrier Barrier Clock DeviceClock:               Has;
    If Loop Block Yield Break:                               Has;
    Continue Next BreakIf Exit Unreachable:                  Has;
    CubeS:                                                   Own(cube::s);
    CubeT:                                                   Own(cube::t);
    CubeMajor:                                               Own(cube::major);
    CubeFace:                                                Own(cube::face);

    // Integers.
    IAdd ISub IMul UMulHi SMulHi SMin SMax UMin UMax:        Has;
    And Or Xor Not Shl LShr AShr Clz INeg:                   Has;
    IEq INe SLt SLe ULt ULe:                                 Has;
    SDiv UDiv SRem URem:                                     Has;
    IAbs PopCount BitReverse Ctz:        Shared;
    UMsb SMsb Lsb UBfe SBfe Bfi:                             Shared;

    // Floats.
    FAdd FSub FMul FNeg FAbs FFloor FFract FEq FNe FLt FLe:  Has;
    FMin FMax FSat FRound:                                   Has;
    FSqrt FRsq FRcp FExp2 FLog2:                             Has;
    FTrunc:                                                  Own(recipes::truncated);
    FSinTurns:                                               Own(recipes::sine);
    FCosTurns:                                               Own(recipes::cosine);
    FSin:                                                    Own(recipes::sine_of);
    FCos:                                                    Own(recipes::cosine_of);
    FTan:                                                    Own(recipes::tangent_of);
    FDiv:                                                    Own(recipes::quotient);
    FDot:                                                    Vertices;
    FMa FCeil FSign FRem FLdexp:            Shared;
    FrexpFract FrexpExp FExp FLog FPow:                      Shared;
    FAtan:                                                   Own(angles::atan);
    FAtan2:                                                  Own(angles::atan2);
    FAsin FAcos FSinh FCosh FTanh:                           Shared;
    FAsinh FAcosh FAtanh FQuantize:                          Shared;

    // Conversions.
    SToF UToF FToS FToU UConvert SConvert FConvert:          Has;
    PackHalf UnpackHalfLo UnpackHalfHi:                      Shared;
}

/// Needs no expansion.
pub fn is_native(op: Op, ty: Type) -> bool {
    matches!(ty, Type::B1 | Type::B32) && matches!(how(op), Has)
}

/// The machine with its recipes.
pub struct Machine {
    /// For a vertex.
    pub vertex: bool,
}

impl Native for Machine {
    fn native(&self, op: Op, ty: Type) -> bool {
        is_native(op, ty) || self.vertex && ty == Type::B32 && matches!(how(op), Vertices)
    }
    fn recipe(&self, op: Op, ty: Type) -> Option<OwnRecipe> {
        match how(op) {
            Own(recipe) if ty == Type::B32 || (ty, op) == (Type::B1, Op::Reduce) => Some(recipe),
            _ => None,
        }
    }
}

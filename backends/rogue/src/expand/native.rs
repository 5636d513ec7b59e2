//! What the machine has as operations: one row each, so that a new operation does not compile until somebody says so. All is
//! 32 bits wide. isa/rogue-pipeline.md 2.

use super::recipes;
use gpucc_ir::ssa::{Op, Type};
use gpucc_passes::expand::{Native, OwnRecipe, cube};

/// How an operation is had.
#[derive(Copy, Clone)]
enum How {
    /// By the lowering.
    Has,
    /// By a recipe of this machine.
    Own(OwnRecipe),
    /// By the shared expansions, as far as they go.
    Shared,
}
use How::{Has, Own, Shared};

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
    Reduce:                                                  Shared;
    SubgroupBarrier Barrier Clock DeviceClock:               Has;
    If Loop Block Yield Break:                               Has;
    Continue Next BreakIf Exit Unreachable:                  Has;
    CubeS:                                                   Own(cube::s);
    CubeT:                                                   Own(cube::t);
    CubeMajor:                                               Own(cube::major);
    CubeFace:                                                Own(cube::face);

    // Integers.
    IAdd ISub IMul UMulHi SMulHi SMin SMax UMin UMax:        Has;
    And Or Xor Not Shl LShr AShr Clz INeg IAbs:              Has;
    IEq INe SLt SLe ULt ULe PopCount BitReverse UMsb:        Has;
    SDiv UDiv SRem URem Ctz SMsb Lsb UBfe SBfe Bfi:          Shared;

    // Floats.
    FAdd FSub FMul FMa FNeg FAbs FFloor FFract:              Has;
    FEq FNe FLt FLe FMin FMax FSat FSin FCos:                Has;
    FRsq FRcp FExp2 FLog2:                                   Has;
    FTrunc:                                                  Own(recipes::truncated);
    FTan:                                                    Own(recipes::tangent);
    FRound:                                                  Own(recipes::rounded);
    FSqrt FDiv FDot FCeil FSign FRem FLdexp:                 Shared;
    FrexpFract FrexpExp FExp FLog FPow:                      Shared;
    FSinTurns:                                               Own(recipes::sine_of_turns);
    FCosTurns:                                               Own(recipes::cosine_of_turns);
    FAsin FAcos FAtan FAtan2 FSinh FCosh FTanh:              Shared;
    FAsinh FAcosh FAtanh FQuantize:                          Shared;

    // Conversions.
    SToF UToF FToS FToU UConvert SConvert FConvert:          Has;
    PackHalf UnpackHalfLo UnpackHalfHi:                      Has;
}

/// Needs no expansion.
pub fn is_native(op: Op, ty: Type) -> bool {
    matches!(ty, Type::B1 | Type::B32) && matches!(how(op), Has)
}

/// The machine with its recipes.
pub struct Machine;

impl Native for Machine {
    fn native(&self, op: Op, ty: Type) -> bool {
        is_native(op, ty)
    }
    fn recipe(&self, op: Op, ty: Type) -> Option<OwnRecipe> {
        match how(op) {
            Own(recipe) if ty == Type::B32 => Some(recipe),
            _ => None,
        }
    }
}

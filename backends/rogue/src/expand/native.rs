//! What the machine has as operations: one row each, so that a new operation does not compile until somebody says so. All is
//! 32 bits wide. isa/rogue-pipeline.md 2.

use gpucc_ir::ssa::{Builder, InstData, Op, Type, Value};
use gpucc_passes::expand::{Native, OwnRecipe};

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
    Tex TexQuery ImageStore ImageAtomic:                     Has;
    Ddx Ddy DdxFine DdyFine DdxCoarse DdyCoarse:             Has;
    Demote IsHelper Ballot Shuffle Reduce:                   Has;
    SubgroupBarrier Barrier Clock DeviceClock:               Has;
    If Loop Block Yield Break:                               Has;
    Continue Next BreakIf Exit Unreachable:                  Has;
    CubeS CubeT CubeMajor CubeFace:                          Has;

    // Integers.
    IAdd ISub IMul UMulHi SMulHi SMin SMax UMin UMax:        Has;
    And Or Xor Not Shl LShr AShr Clz INeg IAbs:              Has;
    IEq INe SLt SLe ULt ULe PopCount BitReverse UMsb:        Has;
    SDiv UDiv SRem URem Ctz SMsb Lsb UBfe SBfe Bfi:          Shared;

    // Floats.
    FAdd FSub FMul FMa FNeg FAbs FFloor FFract:              Has;
    FEq FNe FLt FLe FMin FMax FSat FSin FCos:                Has;
    FRsq FRcp FExp2 FLog2:                                   Has;
    FTrunc:                                                  Own(truncated);
    FRound:                                                  Own(rounded);
    FSqrt FDiv FDot FCeil FSign FRem FLdexp:                 Shared;
    FrexpFract FrexpExp FExp FLog FPow FTan:                 Shared;
    FSinTurns FCosTurns:                                     Shared;
    FAsin FAcos FAtan FAtan2 FSinh FCosh FTanh:              Shared;
    FAsinh FAcosh FAtanh FQuantize:                          Shared;

    // Conversions.
    SToF UToF FToS FToU UConvert SConvert FConvert:          Has;
    UnpackHalfLo UnpackHalfHi:                               Has;
    PackHalf:                                                Shared;
}

/// Needs no expansion.
pub fn is_native(op: Op, ty: Type) -> bool {
    matches!(ty, Type::B1 | Type::B32) && matches!(how(op), Has)
}

/// The floor of the magnitude with the sign of x. Exact.
fn truncated(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let magnitude = b.op1(Op::FAbs, x);
    let floor = b.op1(Op::FFloor, magnitude);
    signed(b, floor, x)
}

/// The nearest integer, ties to even, with the sign of x: what the floor of a magnitude leaves is exact, and below, at or above one
/// half; at one half the floor is taken where half of it is an integer. Exact: magnitudes of 2^23 and more are integers, of which
/// nothing is left.
fn rounded(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let magnitude = b.op1(Op::FAbs, x);
    let floor = b.op1(Op::FFloor, magnitude);
    let left = b.op2(Op::FSub, magnitude, floor);
    let (half, one) = (b.f32(0.5), b.f32(1.0));
    let above = b.op2(Op::FAdd, floor, one);
    let halved = b.op2(Op::FMul, floor, half);
    let even = b.op1(Op::FFloor, halved);
    let odd = b.op2(Op::FNe, even, halved);
    let more = b.op2(Op::FLt, half, left);
    let tie = b.op2(Op::FEq, half, left);
    let tie = b.op2(Op::And, tie, odd);
    let up = b.op2(Op::Or, more, tie);
    let nearest = b.select(up, above, floor);
    signed(b, nearest, x)
}

/// A magnitude with the sign of x.
fn signed(b: &mut Builder, magnitude: Value, x: Value) -> Value {
    let mask = b.u32(0x8000_0000);
    let sign = b.op2(Op::And, x, mask);
    b.op2(Op::Or, magnitude, sign)
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

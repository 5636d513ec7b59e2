//! What the machine has as instructions, by operation and width: one row each, so that a new operation does not compile
//! until somebody says so.

use super::double;
use crate::isa::AluOp;
use gpucc_ir::ssa::{Op, Type};
use gpucc_passes::expand::{Native, OwnRecipe};

/// How an operation is had at one width.
#[derive(Copy, Clone)]
enum How {
    /// By one ALU operation.
    Alu(AluOp),
    /// By several, by something that is none, or as operands of others.
    Has,
    /// By a recipe of this machine.
    Own(OwnRecipe),
    /// By the shared expansions, as far as they go.
    Shared,
}
use How::{Alu, Has, Own, Shared};

macro_rules! cell {
    (Has) => {
        Has
    };
    (Shared) => {
        Shared
    };
    ($recipe:ident) => {
        Own(double::$recipe)
    };
    ($recipe:ident(x)) => {
        Own(|b, data| double::$recipe(b, data.args[0]))
    };
    ($recipe:ident(x y)) => {
        Own(|b, data| double::$recipe(b, data.args[0], data.args[1]))
    };
    (alu $op:ident) => {
        Alu(AluOp::$op)
    };
}

/// Columns: at 32 bits and of truth values, and at 64.
macro_rules! rows {
    ($( $($op:ident)+ : $($word:ident)+, $wide:ident $(($($x:ident)+))?; )+) => {
        const fn how(op: Op) -> [How; 2] {
            match op { $( $(Op::$op)|+ => [cell!($($word)+), cell!($wide $(($($x)+))?)], )+ }
        }
    };
}

#[rustfmt::skip]
rows! {
    // Memory, interface, textures, control and what moves bits about.
    Const Select Join64 Lo64 Hi64:                          Has, Has;
    BufferLoad BufferStore BufferSize BufferAtomic:         Has, Shared;
    MemLoad MemStore MemAtomic Index Input Output:          Has, Shared;
    EmitVertex EndPrimitive:                                Has, Shared;
    Tex TexQuery ImageStore ImageAtomic:                    Has, Shared;
    CubeS CubeT CubeMajor CubeFace Join16 Lo16 Hi16:        Has, Shared;
    Ddx Ddy DdxFine DdyFine:                                Has, Shared;
    DdxCoarse DdyCoarse:                                    Shared, Shared;
    Demote IsHelper Ballot Shuffle Reduce:                  Has, Shared;
    SubgroupBarrier Barrier Clock DeviceClock:              Has, Shared;
    If Loop Block Yield Break:                              Has, Shared;
    Continue Next BreakIf Exit Unreachable:                 Has, Shared;

    // Integers: comparisons other than E, NE, GT and GE swap their operands.
    IAdd:       alu ADD_INT, Shared;
    ISub:       alu SUB_INT, Shared;
    IMul:       alu MULLO_INT, Shared;
    UMulHi:     alu MULHI_UINT, Shared;
    SMulHi:     alu MULHI_INT, Shared;
    SMin:       alu MIN_INT, Shared;
    SMax:       alu MAX_INT, Shared;
    UMin:       alu MIN_UINT, Shared;
    UMax:       alu MAX_UINT, Shared;
    And:        alu AND_INT, Shared;
    Or:         alu OR_INT, Shared;
    Xor:        alu XOR_INT, Shared;
    Not:        alu NOT_INT, Shared;
    Shl:        alu LSHL_INT, Shared;
    LShr:       alu LSHR_INT, Shared;
    AShr:       alu ASHR_INT, Shared;
    IEq:        alu SETE_INT, Shared;
    INe:        alu SETNE_INT, Shared;
    SLt:        alu SETGT_INT, Shared;
    SLe:        alu SETGE_INT, Shared;
    ULt:        alu SETGT_UINT, Shared;
    ULe:        alu SETGE_UINT, Shared;
    INeg IAbs:  Has, Shared;
    SDiv UDiv SRem URem PopCount BitReverse Clz Ctz:  Shared, Shared;
    UMsb SMsb Lsb UBfe SBfe Bfi:                      Shared, Shared;

    // Floats.
    FAdd:       alu ADD, Has;
    FSub:       alu ADD, Has;
    FMul:       alu MUL_IEEE, Has;
    FMa:        alu MULADD_IEEE, Has;
    FMin:       alu MIN_DX10, least(x y);
    FMax:       alu MAX_DX10, most(x y);
    FFloor:     alu FLOOR, floor(x);
    FCeil:      alu CEIL, ceil(x);
    FTrunc:     alu TRUNC, trunc(x);
    FRound:     alu RNDNE, round(x);
    FFract:     alu FRACT, fract;
    FDot:       alu DOT4_IEEE, dot;
    FSqrt:      alu SQRT_IEEE, square_root(x);
    FRsq:       alu RECIPSQRT_IEEE, reciprocal_root;
    FRcp:       alu RECIP_IEEE, reciprocal;
    FExp2:      alu EXP_IEEE, Shared;
    FLog2:      alu LOG_IEEE, Shared;
    FSinTurns:  alu SIN, Shared;
    FCosTurns:  alu COS, Shared;
    FEq:        alu SETE_DX10, Has;
    FNe:        alu SETNE_DX10, Has;
    FLt:        alu SETGT_DX10, Has;
    FLe:        alu SETGE_DX10, Has;
    FNeg:       Has, negative(x);
    FAbs:       Has, magnitude(x);
    FSat:       Has, saturate;
    FSign:      Shared, sign;
    FDiv:       Shared, divide(x y);
    FRem:       Shared, remainder;
    FLdexp:     Shared, Has;
    FrexpFract: Shared, fraction;
    FrexpExp:   Shared, exponent;
    FExp FLog FPow FSin FCos FTan FAsin FAcos FAtan FAtan2:  Shared, Shared;
    FSinh FCosh FTanh FAsinh FAcosh FAtanh FQuantize:        Shared, Shared;

    // Conversions.
    SToF:       alu INT_TO_FLT, from_integer;
    UToF:       alu UINT_TO_FLT, from_integer;
    FToS:       alu FLT_TO_INT, to_signed;
    FToU:       alu FLT_TO_UINT, to_unsigned;
    FConvert:   Has, Has;
    UConvert SConvert:                   Has, Shared;
    PackHalf UnpackHalfLo UnpackHalfHi:  Shared, Shared;
}

/// Needs no expansion. ALU operations are 32 or 64 bits wide (R700 ISA 4.8, 9.2).
pub fn is_native(op: Op, ty: Type) -> bool {
    let [word, wide] = how(op);
    match ty {
        Type::B1 | Type::B32 => matches!(word, Alu(_) | Has),
        Type::B64 => matches!(wide, Has),
        Type::B16 => false,
    }
}

/// The ALU operation that stands for it at 32 bits.
pub fn alu_op(op: Op) -> Option<AluOp> {
    match how(op)[0] {
        Alu(op) => Some(op),
        _ => None,
    }
}

/// The machine with its recipes.
pub struct Machine;

impl Native for Machine {
    fn native(&self, op: Op, ty: Type) -> bool {
        is_native(op, ty)
    }
    fn recipe(&self, op: Op, ty: Type) -> Option<OwnRecipe> {
        match how(op)[1] {
            Own(recipe) if ty == Type::B64 => Some(recipe),
            _ => None,
        }
    }
}

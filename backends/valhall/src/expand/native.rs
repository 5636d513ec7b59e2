//! What the machine has as instructions, by operation and width, and what those instructions do on the way: one row
//! each, so that a new operation does not compile until somebody says so.

use super::{integer, of_turns, quotient16, remainder16, root16, sign16, tangent, through_f32};
use gpucc_ir::ssa::{Op, Type};
use gpucc_passes::expand::OwnRecipe;
use gpucc_passes::expand::subgroup;

/// How an operation is had at one width.
#[derive(Copy, Clone)]
enum How {
    /// Lowering takes it as it is.
    Has,
    /// By a recipe of this machine.
    Own(OwnRecipe),
    /// By the shared expansions, as far as they go.
    Shared,
}
use How::{Has, Own, Shared};

/// What the rows of the instruction set do beside the operation.
#[derive(Copy, Clone)]
pub(crate) struct Extras(u8);

impl Extras {
    const NONE: Extras = Extras(0);
    /// Negates and takes absolute values of its sources.
    pub(crate) const SIGNS: Extras = Extras(1);
    /// Takes halves as f32, and signs as well.
    pub(crate) const HALVES: Extras = Extras(1 | 2);
    /// Takes bytes and halves as integers with zeros above.
    pub(crate) const PARTS: Extras = Extras(4);
    /// Takes them with the sign above.
    pub(crate) const SIGNED_PARTS: Extras = Extras(8);
    /// Clamps its result.
    pub(crate) const CLAMPS: Extras = Extras(16);

    /// True when every extra of `other` is there.
    pub(crate) const fn has(self, other: Extras) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Columns: at 16 bits, at 32, at 64, and the extras.
macro_rules! rows {
    ($( $($op:ident)+ : $half:expr, $word:expr, $wide:expr, $($extra:ident)|+ ; )+) => {
        const fn how(op: Op) -> [How; 3] {
            match op { $( $(Op::$op)|+ => [$half, $word, $wide], )+ }
        }

        /// What the machine's form of an operation does beside it.
        pub(crate) const fn extras(op: Op) -> Extras {
            match op { $( $(Op::$op)|+ => Extras(0 $(| Extras::$extra.0)+), )+ }
        }
    };
}

#[rustfmt::skip]
rows! {
    // Memory, interface, textures, control and what moves bits about.
    Const Select Index Join16 Lo16 Hi16 Join64 Lo64 Hi64:           Has, Has, Has, NONE;
    BufferLoad BufferStore BufferSize BufferAtomic:                 Has, Has, Has, NONE;
    MemLoad MemStore MemAtomic Input Output:                        Has, Has, Has, NONE;
    EmitVertex EndPrimitive:                                        Has, Has, Has, NONE;
    Tex TexQuery ImageStore ImageAtomic:                            Has, Has, Has, NONE;
    Ddx Ddy DdxFine DdyFine DdxCoarse DdyCoarse:                    Has, Has, Has, NONE;
    Demote IsHelper Ballot Shuffle SubgroupBarrier Barrier:         Has, Has, Has, NONE;
    Clock DeviceClock:                                              Has, Has, Has, NONE;
    If Loop Block Yield Break Continue Next BreakIf Exit:           Has, Has, Has, NONE;
    Unreachable:                                                    Has, Has, Has, NONE;
    Reduce: Own(subgroup::reduce), Own(subgroup::reduce), Own(subgroup::reduce), NONE;

    // Integers. What is 16 bits wide is computed in 32.
    IAdd ISub IEq INe:  Own(integer::unsigned_in_32), Has, Has, PARTS | SIGNED_PARTS;
    IMul:               Own(integer::unsigned_in_32), Has, Shared, PARTS | SIGNED_PARTS;
    ULt ULe:            Own(integer::unsigned_in_32), Has, Has, PARTS;
    SLt SLe:            Own(integer::signed_in_32), Has, Has, SIGNED_PARTS;
    And Or Xor Not:     Own(integer::unsigned_in_32), Has, Has, NONE;
    UMin UMax PopCount: Own(integer::unsigned_in_32), Has, Shared, NONE;
    SMin SMax:          Own(integer::signed_in_32), Has, Shared, NONE;
    INeg IAbs:          Own(integer::signed_in_32), Has, Shared, NONE;
    UMulHi SMulHi:      Own(integer::high_product), Has, Shared, NONE;
    UDiv URem:          Own(integer::unsigned_in_32), Shared, Shared, NONE;
    SDiv SRem:          Own(integer::signed_in_32), Shared, Shared, NONE;
    Shl LShr AShr:      Own(integer::shift_in_32), Has, Has, NONE;
    BitReverse:         Own(integer::reverse_in_32), Has, Shared, NONE;
    Clz:                Own(integer::leading_in_32), Has, Shared, NONE;
    Ctz:                Own(integer::trailing_in_32), Own(integer::ctz), Shared, NONE;
    Lsb:                Own(integer::unsigned_in_32), Own(integer::lsb), Shared, NONE;
    UMsb:               Own(integer::unsigned_in_32), Own(integer::umsb), Shared, NONE;
    SMsb:               Own(integer::signed_in_32), Own(integer::smsb), Shared, NONE;
    UBfe SBfe:          Own(integer::extract_in_32), Own(integer::extract), Own(integer::extract), NONE;
    Bfi:                Own(integer::insert_in_32), Own(integer::insert), Own(integer::insert), NONE;

    // Floats. `check` has refused those of 64 bits.
    FAdd FSub FMul FMa FDot FMin FMax:              Has, Has, Shared, HALVES | CLAMPS;
    FSat FFloor FCeil FTrunc FRound FRcp FRsq:      Has, Has, Shared, HALVES;
    FEq FNe FLt FLe:                                Has, Has, Shared, HALVES;
    FSqrt:                                          Own(root16), Has, Shared, HALVES;
    FFract:                                         Has, Has, Shared, CLAMPS;
    FNeg FAbs:                                      Has, Has, Shared, NONE;
    FDiv:                                           Own(quotient16), Shared, Shared, NONE;
    FRem:                                           Own(remainder16), Shared, Shared, NONE;
    FSign:                                          Own(sign16), Shared, Shared, NONE;
    FExp2 FExp FLdexp:                              Own(through_f32), Has, Shared, SIGNS;
    FLog2 FSin FCos:                                Own(through_f32), Has, Shared, CLAMPS;
    FPow FrexpFract FrexpExp:                       Own(through_f32), Has, Shared, NONE;
    FTan:                                           Own(through_f32), Own(tangent), Shared, NONE;
    FSinTurns FCosTurns:                            Own(through_f32), Own(of_turns), Shared, NONE;
    FLog FAsin FAcos FAtan FAtan2 FSinh FCosh:      Own(through_f32), Shared, Shared, NONE;
    FTanh FAsinh FAcosh FAtanh:                     Own(through_f32), Shared, Shared, NONE;
    FQuantize CubeS CubeT CubeMajor CubeFace:       Shared, Has, Shared, NONE;

    // Conversions.
    UConvert SConvert:          Has, Has, Has, NONE;
    FConvert:                   Has, Has, Shared, NONE;
    SToF:                       Has, Has, Shared, PARTS | SIGNED_PARTS;
    UToF:                       Has, Has, Shared, PARTS;
    FToS FToU:                  Has, Has, Shared, SIGNS;
    PackHalf:                   Shared, Has, Shared, SIGNS;
    UnpackHalfLo UnpackHalfHi:  Shared, Has, Shared, NONE;
}

fn at(op: Op, ty: Type) -> How {
    let [half, word, wide] = how(op);
    match ty {
        Type::B1 | Type::B32 => word,
        Type::B16 => half,
        Type::B64 => wide,
    }
}

/// True for what lowering takes as it is, at the width of its first operand (its first result without
/// operands).
pub fn is_native(op: Op, ty: Type) -> bool {
    matches!(at(op, ty), Has)
}

/// The machine's own recipe at that width.
pub(super) fn recipe(op: Op, ty: Type) -> Option<OwnRecipe> {
    match at(op, ty) {
        Own(recipe) => Some(recipe),
        Has | Shared => None,
    }
}

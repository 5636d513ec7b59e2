use super::*;
use crate::ssa::Op::*;
use crate::ssa::numerics::Denormals;
use crate::ssa::numerics::{Dot, DotOrder, Fma, NAN32, NanRule, ZeroRule, f64_to_f16};
use Type::{B1, B16, B32, B64};

const REF: &Numerics = &Numerics::REFERENCE;

fn f(x: f32) -> u64 {
    x.to_bits().into()
}
/// A decimal rounded once.
fn r(x: f64) -> u64 {
    f(x as f32)
}
fn d(x: f64) -> u64 {
    x.to_bits()
}
fn h(x: f64) -> u64 {
    f64_to_f16(x).into()
}
/// The 32 bits of a signed number.
fn s(x: i32) -> u64 {
    u64::from(x as u32)
}

/// One row: op, operand type, result type, operands, result.
type Row = (Op, Type, Type, Vec<u64>, u64);

fn integer_rows() -> Vec<Row> {
    let min = s(i32::MIN);
    vec![
        (IAdd, B32, B32, vec![0xffff_ffff, 2], 1),
        (IAdd, B16, B16, vec![0xffff, 2], 1),
        (IAdd, B64, B64, vec![u64::MAX, 2], 1),
        (ISub, B32, B32, vec![0, 1], 0xffff_ffff),
        (IMul, B32, B32, vec![0x1_0001, 0x1_0001], 0x2_0001),
        (UMulHi, B32, B32, vec![0xffff_ffff, 0xffff_ffff], 0xffff_fffe),
        (UMulHi, B16, B16, vec![0xffff, 0xffff], 0xfffe),
        (UMulHi, B64, B64, vec![u64::MAX, u64::MAX], u64::MAX - 1),
        (SMulHi, B32, B32, vec![s(-1), s(-1)], 0),
        (SMulHi, B32, B32, vec![s(-1), 1], 0xffff_ffff),
        (SMulHi, B32, B32, vec![min, min], 0x4000_0000),
        (SDiv, B32, B32, vec![s(-7), 2], s(-3)),
        (SDiv, B32, B32, vec![s(-7), 0], s(-7)),
        (SDiv, B32, B32, vec![min, s(-1)], min),
        (SDiv, B16, B16, vec![0x8000, 0xffff], 0x8000),
        (UDiv, B32, B32, vec![0xffff_ffff, 2], 0x7fff_ffff),
        (UDiv, B32, B32, vec![9, 0], 9),
        (SRem, B32, B32, vec![s(-7), 2], s(-1)),
        (SRem, B32, B32, vec![7, s(-2)], 1),
        (SRem, B32, B32, vec![s(-7), 0], 0),
        (SRem, B32, B32, vec![min, s(-1)], 0),
        (URem, B32, B32, vec![7, 4], 3),
        (URem, B32, B32, vec![7, 0], 0),
        (INeg, B32, B32, vec![min], min),
        (INeg, B16, B16, vec![1], 0xffff),
        (IAbs, B32, B32, vec![s(-5)], 5),
        (IAbs, B32, B32, vec![min], min),
        (SMin, B32, B32, vec![s(-1), 1], s(-1)),
        (SMax, B32, B32, vec![s(-1), 1], 1),
        (SMax, B16, B16, vec![0xffff, 1], 1),
        (UMin, B32, B32, vec![s(-1), 1], 1),
        (UMax, B32, B32, vec![s(-1), 1], s(-1)),
        (And, B32, B32, vec![0b1100, 0b1010], 0b1000),
        (Or, B32, B32, vec![0b1100, 0b1010], 0b1110),
        (Xor, B1, B1, vec![1, 1], 0),
        (Not, B1, B1, vec![0], 1),
        (Not, B16, B16, vec![0x00ff], 0xff00),
        (Not, B64, B64, vec![0], u64::MAX),
        (Shl, B32, B32, vec![1, 33], 2),
        (Shl, B16, B16, vec![1, 17], 2),
        (Shl, B64, B64, vec![1, 33], 1 << 33),
        (LShr, B32, B32, vec![min, 31], 1),
        (LShr, B32, B32, vec![min, 32], min),
        (AShr, B32, B32, vec![min, 31], 0xffff_ffff),
        (AShr, B16, B16, vec![0x8000, 15], 0xffff),
        (PopCount, B32, B32, vec![0xf0f0_0001], 9),
        (BitReverse, B32, B32, vec![0b1011], 0xd000_0000),
        (BitReverse, B16, B16, vec![1], 0x8000),
        (Clz, B32, B32, vec![1], 31),
        (Clz, B32, B32, vec![0], 32),
        (Clz, B16, B16, vec![1], 15),
        (Ctz, B32, B32, vec![8], 3),
        (Ctz, B32, B32, vec![0], 32),
        (UMsb, B32, B32, vec![0x0001_0000], 16),
        (UMsb, B32, B32, vec![0], 0xffff_ffff),
        (UMsb, B16, B16, vec![0], 0xffff),
        (SMsb, B32, B32, vec![s(-1)], 0xffff_ffff),
        (SMsb, B32, B32, vec![0], 0xffff_ffff),
        (SMsb, B32, B32, vec![s(-2)], 0),
        (SMsb, B32, B32, vec![min], 30),
        (SMsb, B32, B32, vec![4], 2),
        (Lsb, B32, B32, vec![12], 2),
        (Lsb, B32, B32, vec![0], 0xffff_ffff),
        (UBfe, B32, B32, vec![0x1234_5678, 8, 12], 0x456),
        (UBfe, B32, B32, vec![0x1234_5678, 24, 99], 0x12),
        (UBfe, B32, B32, vec![0x1234_5678, 0, 32], 0x1234_5678),
        (UBfe, B32, B32, vec![0x1234_5678, 32, 4], 0),
        (UBfe, B32, B32, vec![0x1234_5678, 4, 0], 0),
        (UBfe, B32, B32, vec![0x1234_5678, 0xffff_ffff, 0xffff_ffff], 0),
        (SBfe, B32, B32, vec![0xf0, 4, 4], 0xffff_ffff),
        (SBfe, B32, B32, vec![0x70, 4, 4], 7),
        (SBfe, B16, B16, vec![0x00f0, 4, 4], 0xffff),
        (SBfe, B32, B32, vec![min, 31, 5], 0xffff_ffff),
        (Bfi, B32, B32, vec![0xffff_ffff, 0x5, 4, 4], 0xffff_ff5f),
        (Bfi, B32, B32, vec![0, 0xffff_ffff, 28, 99], 0xf000_0000),
        (Bfi, B32, B32, vec![7, 1, 0, 32], 1),
        (Bfi, B32, B32, vec![7, 1, 32, 1], 7),
        (IEq, B1, B1, vec![1, 1], 1),
        (IEq, B32, B1, vec![1, 2], 0),
        (INe, B64, B1, vec![1 << 40, 0], 1),
        (SLt, B32, B1, vec![s(-1), 0], 1),
        (SLe, B32, B1, vec![0, 0], 1),
        (SLt, B16, B1, vec![0x8000, 0], 1),
        (ULt, B32, B1, vec![s(-1), 0], 0),
        (ULe, B32, B1, vec![0, s(-1)], 1),
        (Select, B32, B32, vec![1, 5, 6], 5),
        (Select, B1, B1, vec![0, 1, 0], 0),
        (Index, B32, B32, vec![9, 4], 3),
        (Index, B32, B32, vec![s(-1), 4], 3),
        (Index, B32, B32, vec![2, 4], 2),
        (Index, B32, B32, vec![2, 0], 0),
    ]
}

fn float_rows() -> Vec<Row> {
    let nan = u64::from(NAN32);
    let (inf, minus_inf) = (f(f32::INFINITY), f(f32::NEG_INFINITY));
    let (zero, minus_zero) = (f(0.0), f(-0.0));
    vec![
        (FAdd, B32, B32, vec![f(16_777_216.0), f(1.0)], f(16_777_216.0)),
        (FAdd, B32, B32, vec![f(16_777_216.0), f(3.0)], f(16_777_220.0)),
        (FAdd, B32, B32, vec![inf, minus_inf], nan),
        (FAdd, B16, B16, vec![h(2048.0), h(1.0)], h(2048.0)),
        (FAdd, B16, B16, vec![h(65504.0), h(16.0)], 0x7c00),
        (FAdd, B64, B64, vec![d(0.1), d(0.2)], d(0.1 + 0.2)),
        (FSub, B32, B32, vec![f(1.0), f(1.0)], zero),
        (FMul, B32, B32, vec![f(f32::MAX), f(2.0)], inf),
        (FMul, B32, B32, vec![zero, inf], nan),
        (FMul, B32, B32, vec![f(f32::MIN_POSITIVE), f(0.5)], 0x0040_0000),
        (FMul, B16, B16, vec![1, h(0.5)], 0),
        (FDiv, B32, B32, vec![f(1.0), f(3.0)], 0x3eaa_aaab),
        (FDiv, B32, B32, vec![f(-1.0), zero], minus_inf),
        (FDiv, B16, B16, vec![h(1.0), h(3.0)], 0x3555),
        (FRem, B32, B32, vec![f(-7.5), f(2.0)], f(-1.5)),
        (FRem, B32, B32, vec![f(7.5), f(-2.0)], f(1.5)),
        (FRem, B32, B32, vec![f(1e30), f(3.0)], f((1e30f32 as f64 % 3.0) as f32)),
        (FRem, B32, B32, vec![f(1.0), zero], nan),
        (FMa, B32, B32, vec![f(3.0), f(4.0), f(5.0)], f(17.0)),
        // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: only a fused product keeps the last bit.
        (
            FMa,
            B32,
            B32,
            vec![f(1.0 + 1.0 / 4096.0), f(1.0 + 1.0 / 4096.0), f(-1.0 - 1.0 / 2048.0)],
            f(2f32.powi(-24)),
        ),
        (
            FMa,
            B16,
            B16,
            vec![h(1.0 + 1.0 / 64.0), h(1.0 + 1.0 / 64.0), h(-1.0 - 1.0 / 32.0)],
            h(1.0 / 4096.0),
        ),
        (FMa, B64, B64, vec![d(3.0), d(4.0), d(5.0)], d(17.0)),
        (FNeg, B32, B32, vec![zero], minus_zero),
        (FNeg, B32, B32, vec![0x7fc0_1234], 0xffc0_1234),
        (FNeg, B16, B16, vec![0x3c00], 0xbc00),
        (FAbs, B32, B32, vec![f(-2.5)], f(2.5)),
        (FAbs, B64, B64, vec![d(-2.5)], d(2.5)),
        (FSign, B32, B32, vec![f(-3.0)], f(-1.0)),
        (FSign, B32, B32, vec![minus_zero], zero),
        (FSign, B32, B32, vec![f(1e-40)], f(1.0)),
        (FMin, B32, B32, vec![nan, f(1.0)], f(1.0)),
        (FMin, B32, B32, vec![f(1.0), nan], f(1.0)),
        (FMin, B32, B32, vec![nan, 0xffc0_0001], nan),
        (FMin, B32, B32, vec![zero, minus_zero], minus_zero),
        (FMin, B32, B32, vec![minus_zero, zero], minus_zero),
        (FMin, B16, B16, vec![h(2.0), h(-3.0)], h(-3.0)),
        (FMax, B32, B32, vec![zero, minus_zero], zero),
        (FMax, B32, B32, vec![minus_zero, zero], zero),
        (FMax, B32, B32, vec![minus_inf, f(-5.0)], f(-5.0)),
        (FMax, B64, B64, vec![d(1.0), d(2.0)], d(2.0)),
        (FSat, B32, B32, vec![f(2.0)], f(1.0)),
        (FSat, B32, B32, vec![f(0.25)], f(0.25)),
        (FSat, B32, B32, vec![nan], zero),
        (FSat, B32, B32, vec![f(-1.0)], zero),
        (FFloor, B32, B32, vec![f(-0.5)], f(-1.0)),
        (FCeil, B32, B32, vec![f(-0.5)], minus_zero),
        (FTrunc, B32, B32, vec![f(-1.7)], f(-1.0)),
        (FRound, B32, B32, vec![f(2.5)], f(2.0)),
        (FRound, B32, B32, vec![f(3.5)], f(4.0)),
        (FRound, B16, B16, vec![h(-0.5)], h(-0.0)),
        (FFract, B32, B32, vec![f(-1.25)], f(0.75)),
        (FFract, B32, B32, vec![f(-1e-20)], f(1.0)),
        (FEq, B32, B1, vec![zero, minus_zero], 1),
        (FEq, B32, B1, vec![nan, nan], 0),
        (FNe, B32, B1, vec![nan, nan], 1),
        (FLt, B32, B1, vec![f(-1.0), f(1.0)], 1),
        (FLt, B32, B1, vec![nan, f(1.0)], 0),
        (FLe, B16, B1, vec![h(1.0), h(1.0)], 1),
        (FLe, B64, B1, vec![d(2.0), d(1.0)], 0),
        (FDot, B32, B32, vec![f(1.0), f(2.0), f(3.0), f(4.0)], f(11.0)),
        (FDot, B32, B32, vec![f(1.0), f(2.0), f(3.0), f(4.0), f(5.0), f(6.0)], f(32.0)),
        (FDot, B16, B16, vec![h(1.0), h(2.0), h(3.0), h(4.0)], h(11.0)),
        (FLdexp, B32, B32, vec![f(0.75), 3], f(6.0)),
        (FLdexp, B32, B32, vec![f(1.0), s(-149)], 1),
        (FLdexp, B32, B32, vec![f(1.5), s(-149)], 2),
        (FLdexp, B32, B32, vec![1, 149], f(1.0)),
        (FLdexp, B32, B32, vec![f(1.0), s(i32::MAX)], inf),
        (FLdexp, B32, B32, vec![f(-1.0), s(i32::MIN)], minus_zero),
        (FLdexp, B16, B16, vec![h(1.0), s(-24)], 1),
        (FrexpFract, B32, B32, vec![f(-6.0)], f(-0.75)),
        (FrexpFract, B32, B32, vec![1], f(0.5)),
        (FrexpFract, B32, B32, vec![inf], inf),
        (FrexpExp, B32, B32, vec![f(-6.0)], 3),
        (FrexpExp, B32, B32, vec![1], s(-148)),
        (FrexpExp, B32, B32, vec![zero], 0),
        (FrexpExp, B16, B32, vec![h(8.0)], 4),
    ]
}

fn function_rows() -> Vec<Row> {
    let nan = u64::from(NAN32);
    let (inf, minus_inf) = (f(f32::INFINITY), f(f32::NEG_INFINITY));
    vec![
        (FSqrt, B32, B32, vec![f(2.0)], 0x3fb5_04f3),
        (FSqrt, B32, B32, vec![f(-1.0)], nan),
        (FSqrt, B16, B16, vec![h(2.0)], 0x3da8),
        (FRsq, B32, B32, vec![f(4.0)], f(0.5)),
        (FRsq, B32, B32, vec![f(0.0)], inf),
        (FRcp, B32, B32, vec![f(3.0)], 0x3eaa_aaab),
        (FRcp, B32, B32, vec![f(-0.0)], minus_inf),
        (FExp2, B32, B32, vec![f(0.5)], 0x3fb5_04f3),
        (FExp2, B32, B32, vec![f(-149.0)], 1),
        (FLog2, B32, B32, vec![f(8.0)], f(3.0)),
        (FLog2, B32, B32, vec![f(0.0)], minus_inf),
        (FExp, B32, B32, vec![f(1.0)], 0x402d_f854),
        (FLog, B32, B32, vec![f(2.0)], 0x3f31_7218),
        (FPow, B32, B32, vec![f(2.0), f(10.0)], f(1024.0)),
        (FPow, B32, B32, vec![f(9.0), f(0.5)], f(3.0)),
        // Pi rounded to f32 is below pi by 8.74e-8, which is what its sine says.
        (FSin, B32, B32, vec![0x4049_0fdb], 0xb3bb_bd2e),
        (FSin, B32, B32, vec![f(0.5)], r(0.479_425_538_604_203)),
        (FCos, B32, B32, vec![f(0.0)], f(1.0)),
        (FCos, B32, B32, vec![f(1e10)], 0x3f5f_84c5),
        (FTan, B32, B32, vec![f(1.0)], r(1.557_407_724_654_902)),
        (FSinTurns, B32, B32, vec![f(0.25)], f(1.0)),
        (FCosTurns, B32, B32, vec![f(0.5)], f(-1.0)),
        (FAsin, B32, B32, vec![f(1.0)], 0x3fc9_0fdb),
        (FAcos, B32, B32, vec![f(-1.0)], 0x4049_0fdb),
        (FAcos, B32, B32, vec![f(2.0)], nan),
        (FAtan, B32, B32, vec![f(1.0)], 0x3f49_0fdb),
        (FAtan2, B32, B32, vec![f(1.0), f(-1.0)], 0x4016_cbe4),
        (FAtan2, B32, B32, vec![f(-0.0), f(-1.0)], 0xc049_0fdb),
        (FSinh, B32, B32, vec![f(1.0)], r(1.175_201_193_643_801)),
        (FCosh, B32, B32, vec![f(1.0)], r(1.543_080_634_815_244)),
        (FTanh, B32, B32, vec![f(100.0)], f(1.0)),
        (FAsinh, B32, B32, vec![f(1.0)], r(0.881_373_587_019_543)),
        (FAcosh, B32, B32, vec![f(2.0)], r(1.316_957_896_924_817)),
        (FAtanh, B32, B32, vec![f(0.5)], r(0.549_306_144_334_055)),
        (FExp, B16, B16, vec![h(1.0)], 0x4170),
        (FSin, B64, B64, vec![d(0.0)], d(0.0)),
    ]
}

fn conversion_rows() -> Vec<Row> {
    let nan = u64::from(NAN32);
    let inf = f(f32::INFINITY);
    vec![
        (SToF, B32, B32, vec![s(-1)], f(-1.0)),
        (SToF, B32, B32, vec![16_777_217], f(16_777_216.0)),
        (SToF, B32, B32, vec![16_777_219], f(16_777_220.0)),
        (SToF, B16, B32, vec![0x8000], f(-32768.0)),
        (SToF, B32, B16, vec![s(-2049)], h(-2048.0)),
        (SToF, B64, B64, vec![u64::MAX], d(-1.0)),
        (UToF, B32, B32, vec![0xffff_ffff], f(4_294_967_296.0)),
        (UToF, B1, B32, vec![1], f(1.0)),
        (UToF, B64, B32, vec![u64::MAX], f(18_446_744_073_709_551_616.0)),
        (UToF, B32, B16, vec![70_000], 0x7c00),
        (FToS, B32, B32, vec![f(-1.9)], s(-1)),
        (FToS, B32, B32, vec![nan], 0),
        (FToS, B32, B32, vec![inf], 2_147_483_520),
        (FToS, B32, B32, vec![f(-1e20)], s(i32::MIN)),
        (FToS, B64, B32, vec![d(1e20)], 0x7fff_ffff),
        (FToS, B16, B32, vec![0x7c00], 65504),
        (FToS, B16, B16, vec![h(-65504.0)], 0x8000),
        (FToS, B64, B64, vec![d(-1.0)], u64::MAX),
        (FToU, B32, B32, vec![f(-1.0)], 0),
        (FToU, B32, B32, vec![f(3e9)], 3_000_000_000),
        (FToU, B32, B32, vec![inf], 4_294_967_040),
        (FToU, B32, B16, vec![f(70_000.0)], 65535),
        (FConvert, B32, B16, vec![f(65520.0)], 0x7c00),
        (FConvert, B32, B16, vec![f(1.0 + 1.0 / 2048.0)], 0x3c00),
        (FConvert, B16, B32, vec![1], f(2f32.powi(-24))),
        (FConvert, B64, B32, vec![d(0.1)], f(0.1)),
        (FConvert, B64, B16, vec![d(1.0 + 1.0 / 2048.0 + 1e-12)], 0x3c01),
        (UConvert, B1, B32, vec![1], 1),
        (UConvert, B32, B16, vec![0x1_2345], 0x2345),
        (SConvert, B16, B32, vec![0x8000], 0xffff_8000),
        (SConvert, B32, B64, vec![s(-1)], u64::MAX),
        (SConvert, B1, B32, vec![1], 0xffff_ffff),
        (FQuantize, B32, B32, vec![f(0.1)], f(0.099_975_586)),
        (FQuantize, B32, B32, vec![f(70_000.0)], inf),
        (PackHalf, B32, B32, vec![f(1.0), f(-2.0)], 0xc000_3c00),
        (CubeS, B32, B32, vec![f(1.0), f(-4.0), f(2.0)], f(1.0)),
        (CubeT, B32, B32, vec![f(1.0), f(-4.0), f(2.0)], f(-2.0)),
        (CubeMajor, B32, B32, vec![f(1.0), f(-4.0), f(2.0)], f(8.0)),
        (CubeFace, B32, B32, vec![f(1.0), f(-4.0), f(2.0)], f(3.0)),
        (UnpackHalfLo, B32, B32, vec![0xc000_3c00], f(1.0)),
        (UnpackHalfHi, B32, B32, vec![0xc000_3c00], f(-2.0)),
        (Join16, B16, B32, vec![0x1111, 0x2222], 0x2222_1111),
        (Lo16, B32, B16, vec![0x2222_1111], 0x1111),
        (Hi16, B32, B16, vec![0x2222_1111], 0x2222),
        (Join64, B32, B64, vec![1, 2], 0x2_0000_0001),
        (Lo64, B64, B32, vec![0x2_0000_0001], 1),
        (Hi64, B64, B32, vec![0x2_0000_0001], 2),
    ]
}

fn rows() -> Vec<Row> {
    [integer_rows(), float_rows(), function_rows(), conversion_rows()].concat()
}

#[test]
fn operations_give_the_values_worked_out_by_hand() {
    for (op, from, to, args, expected) in rows() {
        let got = eval(op, from, to, &args, REF);
        assert_eq!(
            got,
            Some(expected),
            "{} {from:?} -> {to:?} of {args:x?}: got {:#x}, expected {expected:#x}",
            op.name(),
            got.unwrap_or_default(),
        );
    }
}

#[test]
fn every_computing_operation_has_a_worked_value() {
    let rows = rows();
    for &op in Op::ALL {
        let computes = (1..=8).any(|count| eval(op, B32, B32, &[0; 8][..count], REF).is_some());
        assert_eq!(computes, rows.iter().any(|row| row.0 == op), "{}", op.name());
    }
}

#[test]
fn lanes_compute_what_one_does() {
    for (op, from, to, args, expected) in rows() {
        let columns: Vec<Vec<Cell<u64>>> =
            args.iter().map(|&arg| vec![Cell::new(arg), Cell::new(0), Cell::new(arg)]).collect();
        let columns: Vec<&[Cell<u64>]> = columns.iter().map(Vec::as_slice).collect();
        let out = [const { Cell::new(7) }; 3];
        assert!(eval_lanes(op, from, to, &columns, &out, REF));
        let zero = eval(op, from, to, &vec![0; args.len()], REF);
        let got = out.map(|cell| cell.get());
        assert_eq!(got, [expected, zero.expect("computes"), expected], "{}", op.name());
    }
}

#[test]
fn results_fit_their_types_whatever_the_operands() {
    let mut rng = crate::ssa::random::Rng::new(5);
    for (op, from, to, args, _) in rows() {
        for _ in 0..200 {
            let fixed = matches!(op.sig(), Sig::Shift | Sig::ExtractBits | Sig::InsertBits);
            let args: Vec<u64> = (0..args.len())
                .map(|k| {
                    let ty = match (op.sig(), k) {
                        (Sig::Select, 0) => B1,
                        (Sig::InsertBits, 1) => from,
                        (_, 1..) if fixed => B32,
                        _ => from,
                    };
                    rng.bits() & ty.mask()
                })
                .collect();
            let result = eval(op, from, to, &args, REF).expect("computes");
            assert_eq!(result & !to.mask(), 0, "{} of {args:x?}", op.name());
        }
    }
}

#[test]
fn commuting_operations_commute_in_the_reference_model() {
    let mut rng = crate::ssa::random::Rng::new(9);
    for (op, from, to, args, _) in rows() {
        if !op.flags().has(crate::ssa::Flags::COMMUTES) {
            continue;
        }
        for _ in 0..500 {
            let mut args: Vec<u64> = args.iter().map(|_| rng.bits() & from.mask()).collect();
            let one = eval(op, from, to, &args, REF);
            args.swap(0, 1);
            assert_eq!(one, eval(op, from, to, &args, REF), "{}", op.name());
        }
    }
}

#[test]
fn knobs_change_what_they_say_and_nothing_else() {
    let flushing = Numerics {
        f32_denormals: Denormals::FLUSH,
        sign_ops_flush: true,
        min_max_flush: true,
        fma: Fma::Twice,
        min_max_zero: ZeroRule::Compared,
        fract_below_one: true,
        dot: Dot { order: DotOrder::Descending, fused: false, filled_to: 4 },
        ..Numerics::REFERENCE
    };
    let e = |op, args: &[u64]| eval(op, B32, B32, args, &flushing).expect("computes");
    let denormal = 0x8000_0001;
    assert_eq!(e(FAdd, &[denormal, denormal]), 0x8000_0000);
    assert_eq!(e(FNeg, &[denormal]), 0);
    assert_eq!(e(FMax, &[denormal, f(-1.0)]), 0x8000_0000);
    assert_eq!(e(FMul, &[f(f32::MIN_POSITIVE), f(0.5)]), 0);
    assert_eq!(e(IAdd, &[denormal, 0]), denormal);
    assert_eq!(e(Select, &[1, denormal, 0]), denormal);
    assert_eq!(e(FFract, &[f(-1e-20)]), 0x3f7f_ffff);
    // Unfused: the last bit of the product is lost.
    let x = f(1.0 + 1.0 / 4096.0);
    assert_eq!(e(FMa, &[x, x, f(-1.0 - 1.0 / 2048.0)]), 0);
    // min(-0, +0) = a < b ? a : b = +0, and max(-0, +0) = a >= b ? a : b = -0.
    assert_eq!(e(FMin, &[f(-0.0), f(0.0)]), f(0.0));
    assert_eq!(e(FMax, &[f(-0.0), f(0.0)]), f(-0.0));
    // Last product first: 1e8 + 1 is lost before -1e8 comes.
    let dot = [f(1.0), f(1e8), f(-1e8), f(1.0), f(1.0), f(1.0)];
    assert_eq!(e(FDot, &dot), f(1.0));
    assert_eq!(eval(FDot, B32, B32, &dot, REF), Some(f(0.0)));
    // A fill of zero products gives +0 where all products are -0.
    assert_eq!(e(FDot, &[f(-0.0), f(-0.0), f(1.0), f(1.0)]), f(0.0));
    assert_eq!(eval(FDot, B32, B32, &[f(-0.0), f(-0.0), f(1.0), f(1.0)], REF), Some(f(-0.0)));
    for (rule, one, other) in [
        (NanRule::Other, f(1.0), f(1.0)),
        (NanRule::Second, f(1.0), NAN32.into()),
        (NanRule::Nan, NAN32.into(), NAN32.into()),
    ] {
        let model = Numerics { min_max_nan: rule, ..Numerics::REFERENCE };
        let min = |args: &[u64]| eval(FMin, B32, B32, args, &model);
        assert_eq!(min(&[NAN32.into(), f(1.0)]), Some(one));
        assert_eq!(min(&[f(1.0), NAN32.into()]), Some(other));
    }
}

#[test]
fn integer_ranges_are_the_ones_of_wgsl() {
    assert_eq!(integer_range(B32, B32, true), (-2_147_483_648.0, 2_147_483_520.0));
    assert_eq!(integer_range(B32, B32, false), (0.0, 4_294_967_040.0));
    assert_eq!(integer_range(B16, B32, true), (-65504.0, 65504.0));
    assert_eq!(integer_range(B16, B16, true), (-32768.0, 32752.0));
    assert_eq!(integer_range(B64, B32, false), (0.0, 4_294_967_295.0));
}

/// Nothing is rounded before the sum of all products is.
#[test]
fn an_exact_dot_product_is_rounded_once() {
    let exact = &Numerics {
        dot: Dot { order: DotOrder::Exact, fused: false, filled_to: 0 },
        ..Numerics::REFERENCE
    };
    let e = |args: &[f32]| {
        let args: Vec<u64> = args.iter().map(|&x| f(x)).collect();
        eval(FDot, B32, B32, &args, exact).expect("computes")
    };
    let tiny = 2f32.powi(-60);
    assert_eq!(e(&[1e20, tiny, -1e20, 1e20, 1.0, 1e20]), f(tiny));
    // The product has 48 bits, of which the sum has the lower half.
    let near = 1.0 + f32::EPSILON;
    assert_eq!(e(&[near, -1.0, near, 1.0]), f(2.0 * f32::EPSILON + f32::EPSILON.powi(2)));
    assert_eq!(e(&[f32::MAX, f32::MAX, 2.0, -2.0]), f(0.0));
}

//! What every ALU instruction computes, by values worked out from the manual.

use super::build::*;
use crate::emu::AluOp::{self, *};
use crate::emu::Rule;

const MINUS_1: u32 = 0xFFFF_FFFF;
const INF: u32 = 0x7F80_0000;
const NINF: u32 = 0xFF80_0000;
const NAN: u32 = 0x7FC0_0000;
const MAX_FLOAT: u32 = 0x7F7F_FFFF;
const DENORMAL: u32 = 0x0000_0001;
const NEG_ZERO: u32 = 0x8000_0000;

const fn f(v: f32) -> u32 {
    v.to_bits()
}

/// The result of one instruction on literal operands.
fn value(op: AluOp, operands: &[u32]) -> Result<u32, Rule> {
    let sources: Vec<Src> = (0..op.sources() as u32).map(lit).collect();
    let mut inst = i(op, 1, 0, &sources);
    // Trans reads at most two constants: a third comes from a register.
    let mut groups = Vec::new();
    if op.sources() == 3 {
        inst.src[2] = r(2, 0);
        inst.bank = 1;
        groups.push(group(&[i(MOV, 2, 0, &[lit(0)])], &[operands[2]]));
    }
    let literals = &operands[..operands.len().min(2)];
    groups.push(group(&[inst], literals));
    run_groups(&groups, (1, 0)).map_err(|trap| trap.rule)
}

/// Instruction, operands, result.
#[rustfmt::skip]
pub const ONE_SLOT: &[(AluOp, &[u32], u32)] = &[
        (ADD, &[f(1.5), f(2.25)], f(3.75)),
        (ADD, &[DENORMAL, DENORMAL], 0),
        (MUL, &[f(3.0), f(-2.0)], f(-6.0)),
        (MUL, &[0, INF], 0),
        (MUL, &[NEG_ZERO, f(5.0)], 0),
        (MUL_IEEE, &[0, INF], NAN),
        (MUL_IEEE, &[NEG_ZERO, f(5.0)], NEG_ZERO),
        (MAX, &[f(1.0), f(2.0)], f(2.0)),
        (MAX, &[NAN, f(2.0)], f(2.0)),
        (MAX, &[f(2.0), NAN], NAN),
        (MIN, &[f(1.0), f(2.0)], f(1.0)),
        (MIN, &[f(1.0), NAN], NAN),
        (MAX_DX10, &[f(2.0), NAN], f(2.0)),
        (MAX_DX10, &[NAN, f(-2.0)], f(-2.0)),
        (MIN_DX10, &[f(2.0), NAN], f(2.0)),
        (MIN_DX10, &[f(2.0), f(-3.0)], f(-3.0)),
        (SETE, &[f(1.0), f(1.0)], f(1.0)),
        (SETE, &[NAN, NAN], 0),
        (SETE, &[0, NEG_ZERO], f(1.0)),
        (SETGT, &[f(2.0), f(1.0)], f(1.0)),
        (SETGT, &[f(1.0), f(1.0)], 0),
        (SETGE, &[f(1.0), f(1.0)], f(1.0)),
        (SETGE, &[NAN, f(1.0)], 0),
        (SETNE, &[NAN, NAN], f(1.0)),
        (SETNE, &[f(1.0), f(1.0)], 0),
        (SETE_DX10, &[f(1.0), f(1.0)], MINUS_1),
        (SETGT_DX10, &[f(2.0), f(1.0)], MINUS_1),
        (SETGE_DX10, &[f(0.5), f(1.0)], 0),
        (SETNE_DX10, &[f(2.0), f(1.0)], MINUS_1),
        (FRACT, &[f(2.75)], f(0.75)),
        (FRACT, &[f(-0.25)], f(0.75)),
        (TRUNC, &[f(-2.75)], f(-2.0)),
        (CEIL, &[f(2.25)], f(3.0)),
        (RNDNE, &[f(2.5)], f(2.0)),
        (RNDNE, &[f(3.5)], f(4.0)),
        (RNDNE, &[f(-2.5)], f(-2.0)),
        (FLOOR, &[f(-2.25)], f(-3.0)),
        (MOV, &[DENORMAL], DENORMAL),
        (PRED_SETGT_UINT, &[MINUS_1, 1], 0),
        (PRED_SETGE_UINT, &[1, MINUS_1], f(1.0)),
        (PRED_SETE, &[f(1.0), f(1.0)], 0),
        (PRED_SETGT, &[f(1.0), f(1.0)], f(1.0)),
        (PRED_SETGE, &[f(1.0), f(1.0)], 0),
        (PRED_SETNE, &[f(1.0), f(1.0)], f(1.0)),
        (PRED_SET_INV, &[f(1.0)], 0),
        (PRED_SET_INV, &[0], f(1.0)),
        (PRED_SET_INV, &[f(3.0)], f(3.0)),
        (PRED_SET_POP, &[f(1.0), f(1.0)], 0),
        (PRED_SET_POP, &[f(3.0), f(1.0)], f(2.0)),
        (PRED_SET_CLR, &[], MAX_FLOAT),
        (PRED_SET_RESTORE, &[0], 0),
        (PRED_SET_RESTORE, &[f(2.0)], f(2.0)),
        (PRED_SETE_PUSH, &[0, 0], 0),
        (PRED_SETE_PUSH, &[0, f(1.0)], f(1.0)),
        (PRED_SETE_PUSH, &[f(2.0), 0], f(3.0)),
        (PRED_SETGT_PUSH, &[0, f(1.0)], 0),
        (PRED_SETGE_PUSH, &[0, 0], 0),
        (PRED_SETNE_PUSH, &[0, f(1.0)], 0),
        (PRED_SETNE_PUSH, &[0, 0], f(1.0)),
        (AND_INT, &[0b1100, 0b1010], 0b1000),
        (OR_INT, &[0b1100, 0b1010], 0b1110),
        (XOR_INT, &[0b1100, 0b1010], 0b0110),
        (NOT_INT, &[5], !5),
        (ADD_INT, &[MINUS_1, 2], 1),
        (SUB_INT, &[3, 5], -2i32 as u32),
        (MAX_INT, &[MINUS_1, 3], 3),
        (MIN_INT, &[MINUS_1, 3], MINUS_1),
        (MAX_UINT, &[MINUS_1, 3], MINUS_1),
        (MIN_UINT, &[MINUS_1, 3], 3),
        (SETE_INT, &[7, 7], MINUS_1),
        (SETGT_INT, &[MINUS_1, 0], 0),
        (SETGE_INT, &[0, MINUS_1], MINUS_1),
        (SETNE_INT, &[7, 7], 0),
        (SETGT_UINT, &[MINUS_1, 0], MINUS_1),
        (SETGE_UINT, &[0, MINUS_1], 0),
        (PRED_SETE_INT, &[4, 4], 0),
        (PRED_SETGT_INT, &[MINUS_1, 0], f(1.0)),
        (PRED_SETGE_INT, &[0, MINUS_1], 0),
        (PRED_SETNE_INT, &[4, 4], f(1.0)),
        (PRED_SETE_PUSH_INT, &[0, 0], 0),
        (PRED_SETGT_PUSH_INT, &[0, 5], 0),
        (PRED_SETGT_PUSH_INT, &[0, MINUS_1], f(1.0)),
        (PRED_SETGE_PUSH_INT, &[0, 0], 0),
        (PRED_SETNE_PUSH_INT, &[0, 9], 0),
        (PRED_SETLT_PUSH_INT, &[0, MINUS_1], 0),
        (PRED_SETLE_PUSH_INT, &[0, 1], f(1.0)),
        (EXP_IEEE, &[f(3.0)], f(8.0)),
        (EXP_IEEE, &[f(-1.0)], f(0.5)),
        (LOG_IEEE, &[f(8.0)], f(3.0)),
        (LOG_IEEE, &[f(1.0)], 0),
        (LOG_IEEE, &[0], NINF),
        (LOG_CLAMPED, &[0], MAX_FLOAT | 1 << 31),
        (RECIP_IEEE, &[f(4.0)], f(0.25)),
        (RECIP_IEEE, &[0], INF),
        (RECIP_CLAMPED, &[NEG_ZERO], MAX_FLOAT | 1 << 31),
        (RECIP_FF, &[0], 0),
        (RECIP_FF, &[NEG_ZERO], NEG_ZERO),
        (RECIPSQRT_IEEE, &[f(16.0)], f(0.25)),
        (RECIPSQRT_CLAMPED, &[0], MAX_FLOAT),
        (RECIPSQRT_FF, &[0], 0),
        (SQRT_IEEE, &[f(9.0)], f(3.0)),
        (FLT_TO_INT, &[f(-3.75)], -3i32 as u32),
        (FLT_TO_UINT, &[f(4e9)], 4_000_000_000),
        (INT_TO_FLT, &[-7i32 as u32], f(-7.0)),
        // 2^24 + 1 lies between two floats: to even.
        (INT_TO_FLT, &[16_777_217], f(16_777_216.0)),
        (UINT_TO_FLT, &[MINUS_1], f(4_294_967_296.0)),
        (SIN, &[f(0.25)], f(1.0)),
        (SIN, &[f(-0.25)], f(-1.0)),
        (COS, &[0], f(1.0)),
        (COS, &[f(0.5)], f(-1.0)),
        (ASHR_INT, &[-8i32 as u32, 1], -4i32 as u32),
        (LSHR_INT, &[0x8000_0000, 31], 1),
        (LSHL_INT, &[3, 4], 48),
        (MULLO_INT, &[-3i32 as u32, 5], -15i32 as u32),
        (MULLO_UINT, &[0x1_0001, 0x1_0000], 0x1_0000),
        (MULHI_INT, &[MINUS_1, 5], MINUS_1),
        (MULHI_UINT, &[MINUS_1, 5], 4),
        (RECIP_UINT, &[3], 1_431_655_765),
        (RECIP_INT, &[-4i32 as u32], -1_073_741_824i32 as u32),
        (MUL_LIT, &[f(2.0), f(3.0), f(1.0)], f(6.0)),
        (MUL_LIT, &[f(2.0), f(3.0), f(0.0)], MAX_FLOAT | 1 << 31),
        (MUL_LIT_M2, &[f(2.0), f(3.0), f(1.0)], f(12.0)),
        (MUL_LIT_M4, &[f(2.0), f(3.0), f(1.0)], f(24.0)),
        (MUL_LIT_D2, &[f(2.0), f(3.0), f(1.0)], f(3.0)),
        (MULADD, &[f(2.0), f(3.0), f(1.0)], f(7.0)),
        (MULADD, &[0, INF, f(1.0)], f(1.0)),
        (MULADD_M2, &[f(2.0), f(3.0), f(1.0)], f(14.0)),
        (MULADD_M4, &[f(2.0), f(3.0), f(1.0)], f(28.0)),
        (MULADD_D2, &[f(2.0), f(3.0), f(1.0)], f(3.5)),
        (MULADD_IEEE, &[0, INF, f(1.0)], NAN),
        (MULADD_IEEE_M2, &[f(2.0), f(3.0), f(1.0)], f(14.0)),
        (MULADD_IEEE_M4, &[f(2.0), f(3.0), f(1.0)], f(28.0)),
        (MULADD_IEEE_D2, &[f(2.0), f(3.0), f(1.0)], f(3.5)),
        (CNDE, &[NEG_ZERO, 10, 20], 10),
        (CNDE, &[NAN, 10, 20], 20),
        (CNDGT, &[f(1.0), 10, 20], 10),
        (CNDGT, &[0, 10, 20], 20),
        (CNDGE, &[NEG_ZERO, 10, 20], 10),
        (CNDE_INT, &[0, 10, 20], 10),
        (CNDE_INT, &[NEG_ZERO, 10, 20], 20),
        (CNDGT_INT, &[MINUS_1, 10, 20], 20),
        (CNDGE_INT, &[0, 10, 20], 10),
];

#[test]
pub fn every_instruction_of_one_slot_gives_what_the_manual_says() {
    let mut seen = std::collections::BTreeSet::new();
    for &(op, operands, expected) in ONE_SLOT {
        seen.insert(op);
        match value(op, operands) {
            Ok(found) => {
                assert_eq!(found, expected, "{} {operands:08x?}: {found:08x}", op.name());
            }
            Err(rule) => panic!("{} {operands:08x?}: {rule}", op.name()),
        }
    }
    // The rest have tests of their own below.
    use crate::emu::ops::{Effect, Unit};
    for &op in AluOp::ALL {
        let elsewhere = matches!(op.unit(), Unit::Pair | Unit::Quad | Unit::Reduction)
            || matches!(op.effect(), Effect::Kill | Effect::Mova)
            || op == NOP;
        assert!(elsewhere || seen.contains(&op), "{} has no value here", op.name());
    }
}

#[test]
pub fn the_product_of_muladd_is_rounded_before_the_sum() {
    let (a, b) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
    let expected = a * b - 1.0;
    assert_eq!(value(MULADD_IEEE, &[f(a), f(b), f(-1.0)]), Ok(f(expected)));
    assert_ne!(a.mul_add(b, -1.0), expected);
}

#[test]
pub fn undefined_results_name_their_rule_when_they_are_stored() {
    assert_eq!(value(SIN, &[f(1.5)]), Err(Rule::Turns));
    assert_eq!(value(COS, &[f(0.51)]), Err(Rule::Turns));
    assert_eq!(value(FLT_TO_INT, &[f(3e9)]), Err(Rule::FloatToInt));
    assert_eq!(value(FLT_TO_INT, &[NAN]), Err(Rule::FloatToInt));
    assert_eq!(value(FLT_TO_UINT, &[f(-1.0)]), Err(Rule::FloatToInt));
    assert_eq!(value(LSHL_INT, &[1, 32]), Err(Rule::ShiftAmount));
    assert_eq!(value(ASHR_INT, &[1, MINUS_1]), Err(Rule::ShiftAmount));
    assert_eq!(value(RECIP_UINT, &[0]), Err(Rule::RecipZero));
}

#[test]
pub fn poison_that_is_not_chosen_does_no_harm() {
    // R2.x is never written.
    let choose = |condition: u32| {
        let inst = i(CNDE_INT, 1, 0, &[lit(0), lit(1), r(2, 0)]);
        run_groups(&[group(&[inst], &[condition, 77])], (1, 0))
    };
    assert_eq!(choose(0), Ok(77));
    assert_eq!(choose(1).map_err(|t| t.rule), Err(Rule::Uninitialised));
}

#[test]
pub fn modifiers_act_in_their_order() {
    let run = |inst: I, literal: f32| {
        run_groups(&[group(&[inst], &[f(literal)])], (1, 0)).map(f32::from_bits)
    };
    let mov = i(MOV, 1, 0, &[lit(0)]);
    assert_eq!(run(I { src: [lit(0).abs().neg(); 3], ..mov }, 2.0), Ok(-2.0));
    assert_eq!(run(I { src: [lit(0).abs(); 3], ..mov }, -2.0), Ok(2.0));
    assert_eq!(run(I { omod: 1, ..mov }, 1.5), Ok(3.0));
    assert_eq!(run(I { omod: 2, ..mov }, 1.5), Ok(6.0));
    assert_eq!(run(I { omod: 3, ..mov }, 1.5), Ok(0.75));
    // Scale before clamp.
    assert_eq!(run(I { omod: 3, clamp: true, ..mov }, 1.5), Ok(0.75));
    assert_eq!(run(I { omod: 1, clamp: true, ..mov }, 0.75), Ok(1.0));
    assert_eq!(run(I { clamp: true, ..mov }, f32::NAN), Ok(0.0));
    assert_eq!(run(I { clamp: true, ..mov }, -3.0), Ok(0.0));
}

/// Four slots of one instruction.
fn four(op: AluOp, dst: u32, sources: [[Src; 2]; 4]) -> Vec<I> {
    let all = if op.sources() == 1 { 1 } else { 2 };
    (0..4).map(|c| i(op, dst, c as u32, &sources[c][..all])).collect()
}

#[test]
pub fn reductions_replicate_their_result() {
    let fill = group(
        &[
            i(MOV, 1, 0, &[lit(0)]),
            i(MOV, 1, 1, &[lit(1)]),
            i(MOV, 1, 2, &[lit(2)]),
            i(MOV, 1, 3, &[lit(3)]),
        ],
        &[f(1.0), f(2.0), f(3.0), f(4.0)],
    );
    let pairs: [[Src; 2]; 4] = std::array::from_fn(|c| [r(1, c as u32), r(1, c as u32)]);
    for (op, expected) in [(DOT4, 30.0), (DOT4_IEEE, 30.0), (MAX4, 4.0)] {
        for channel in 0..4 {
            let insts = four(op, 2, pairs);
            let found = run_groups(&[fill.clone(), group(&insts, &[])], (2, channel));
            assert_eq!(found, Ok(f(expected)), "{}", op.name());
        }
    }
}

#[test]
pub fn cube_gives_coordinates_axis_and_face() {
    // Direction (2, 1, 0.5): face +x; s along -z, t along -y, axis 2 * 2.
    let fill = group(
        &[i(MOV, 1, 0, &[lit(0)]), i(MOV, 1, 1, &[lit(1)]), i(MOV, 1, 2, &[lit(2)])],
        &[f(2.0), f(1.0), f(0.5), 0],
    );
    let pairs = [[r(1, 2), r(1, 1)], [r(1, 2), r(1, 0)], [r(1, 0), r(1, 2)], [r(1, 1), r(1, 2)]];
    let mut insts = four(CUBE, 2, pairs);
    // Each cycle reads one register of a channel: all are R1, so any swizzle does.
    insts[1].bank = 3;
    let expected = [-1.0, -0.5, 4.0, 0.0];
    for (channel, expected) in expected.into_iter().enumerate() {
        let groups = [fill.clone(), group(&insts, &[])];
        assert_eq!(run_groups(&groups, (2, channel as u32)), Ok(f(expected)));
    }
}

/// A double instruction on literal operands: high dwords in slot x, low in the others.
fn double(op: AluOp, slots: usize, operands: &[u64]) -> [u32; 4] {
    let halves = |n: usize| {
        group(
            &[i(MOV, 1 + n as u32, 0, &[lit(0)]), i(MOV, 1 + n as u32, 1, &[lit(1)])],
            &[(operands[n] >> 32) as u32, operands[n] as u32],
        )
    };
    let mut groups: Vec<Vec<u32>> = (0..operands.len()).map(halves).collect();
    let insts: Vec<I> = (0..slots)
        .map(|c| {
            // Products take high dwords in x, y and z; the others in x alone.
            let low = if op == FREXP_64 { c > 0 } else { c + 1 == slots };
            let sources: Vec<Src> = (0..op.sources() as u32)
                .map(|n| r(1 + n.min(operands.len() as u32 - 1), u32::from(low)))
                .collect();
            i(op, 5, c as u32, &sources)
        })
        .collect();
    groups.push(group(&insts, &[]));
    std::array::from_fn(|c| {
        let undefined = [(FLT64_TO_FLT32, 1), (FREXP_64, 0)].contains(&(op, c));
        if c < slots && !undefined {
            run_groups(&groups, (5, c as u32)).expect("it is legal")
        } else {
            0
        }
    })
}

#[test]
pub fn doubles_take_high_dwords_first_and_leave_low_ones_first() {
    let d = f64::to_bits;
    let pair = |v: f64| [v.to_bits() as u32, (v.to_bits() >> 32) as u32];
    assert_eq!(double(ADD_64, 2, &[d(3.0), d(6.0)])[..2], pair(9.0));
    let product = double(MUL_64, 4, &[d(3.0), d(6.0)]);
    assert_eq!((&product[..2], &product[2..]), (&pair(18.0)[..], &pair(18.0)[..]));
    let sum = double(MULADD_64, 4, &[d(3.0), d(6.0), d(0.5)]);
    assert_eq!(sum[..2], pair(18.5));
    assert_eq!(double(MULADD_64_M2, 4, &[d(3.0), d(6.0), d(0.5)])[..2], pair(37.0));
    assert_eq!(double(MULADD_64_M4, 4, &[d(3.0), d(6.0), d(0.5)])[..2], pair(74.0));
    assert_eq!(double(MULADD_64_D2, 4, &[d(3.0), d(6.0), d(0.5)])[..2], pair(9.25));
    assert_eq!(double(FLT64_TO_FLT32, 2, &[d(0.1)])[0], 0.1f32.to_bits());
    assert_eq!(double(FLT32_TO_FLT64, 2, &[u64::from(f(0.5)) << 32])[..2], pair(0.5));
    assert_eq!(double(FRACT_64, 2, &[d(-0.25)])[..2], pair(0.75));
    assert_eq!(double(LDEXP_64, 2, &[d(1.5), 3 << 32])[..2], pair(12.0));
    let split = double(FREXP_64, 4, &[d(3.0)]);
    assert_eq!((&split[2..], split[1]), (&pair(0.75)[..], 2));
    assert_eq!(double(PRED_SETGT_64, 2, &[d(2.0), d(1.0)])[0], 0);
    assert_eq!(double(PRED_SETE_64, 2, &[d(2.0), d(1.0)])[..2], [u32::MAX; 2]);
    assert_eq!(double(PRED_SETGE_64, 2, &[d(2.0), d(2.0)])[0], 0);
}

#[test]
pub fn doubles_give_what_the_manual_says_of_its_own_examples() {
    let whole = |words: [u32; 4]| u64::from(words[1]) << 32 | u64::from(words[0]);
    // R700 ISA 9.2, LDEXP_64, FRACT_64.
    let scaled = [
        (0x47F0_0000_6FC6_A731, 0x2C6, 0x7450_0000_6FC6_A731),
        (0xC7EF_FFFE_E072_B19F, 0x15E, 0xDDCF_FFFE_E072_B19F),
    ];
    for (value, exponent, expected) in scaled {
        assert_eq!(whole(double(LDEXP_64, 2, &[value, exponent << 32])), expected);
    }
    let parts = [
        (0x4021_A0F4_F077_BCA7, 0x3FEA_0F4F_077B_CA70),
        (0x402A_39F1_A0AC_1721, 0x3FBC_F8D0_560B_9080),
    ];
    for (value, expected) in parts {
        assert_eq!(whole(double(FRACT_64, 2, &[value])), expected);
    }
    // Tables 9.1, 9.4, 9.5 and 9.7: NaN64 for a NaN, fractions below one, 0xFFFFFFFF for no exponent.
    let nan = 0xFFF8_0000_0000_0000;
    let other = 0x7FF0_0000_0000_0001;
    let one = 1f64.to_bits();
    assert_eq!(whole(double(ADD_64, 2, &[other, one])), nan);
    assert_eq!(whole(double(MUL_64, 4, &[0, f64::INFINITY.to_bits()])), nan);
    let tiny = (-1e-30f64).to_bits();
    assert_eq!(whole(double(FRACT_64, 2, &[tiny])), one - 1);
    assert_eq!(double(FREXP_64, 4, &[f64::INFINITY.to_bits()])[1..], [u32::MAX, 0, 0xFFF8_0000]);
    // Tests give all ones where they fail.
    let (six, three) = (6f64.to_bits(), 3f64.to_bits());
    assert_eq!(double(PRED_SETGE_64, 2, &[three, six])[..2], [u32::MAX; 2]);
    assert_eq!(double(PRED_SETGT_64, 2, &[six, three])[..2], [0; 2]);
    // A NaN's sign and fraction pass conversions.
    assert_eq!(whole(double(FLT32_TO_FLT64, 2, &[0xFFC0_0001 << 32])), 0xFFF8_0000_2000_0000);
    assert_eq!(double(FLT64_TO_FLT32, 2, &[nan])[0], 0xFFC0_0000);
}

#[test]
pub fn mova_indexes_registers_from_the_next_group_on() {
    // R1.x = 10, R2.x = 20, R3.x = 30; R4.x = R1[AR.x].
    let fill = |n: u32| group(&[i(MOV, n, 0, &[lit(0)])], &[10 * n]);
    for (op, operand, expected) in [
        (MOVA_INT, 2, 30),
        (MOVA, f(0.5), 20),
        (MOVA, f(1.4), 20),
        (MOVA_FLOOR, f(1.9), 20),
        (MOVA_INT, 0, 10),
    ] {
        let groups = [
            fill(1),
            fill(2),
            fill(3),
            group(&[i(op, 0, 0, &[lit(0)]).mask()], &[operand]),
            group(&[i(MOV, 4, 0, &[r(1, 0).rel()])], &[]),
        ];
        assert_eq!(run_groups(&groups, (4, 0)), Ok(expected), "{}", op.name());
    }
    // Far outside of the declared registers reads give R0.
    let groups = [
        group(&[i(MOVA_INT, 0, 0, &[lit(0)]).mask()], &[200]),
        group(&[i(MOV, 4, 0, &[r(1, 0).rel()])], &[]),
    ];
    assert_eq!(run_groups(&groups, (4, 0)), Ok(0));
    let groups = [
        group(&[i(MOVA_INT, 0, 0, &[lit(0)]).mask()], &[300]),
        group(&[i(MOV, 4, 0, &[r(1, 0).rel()])], &[]),
    ];
    assert_eq!(run_groups(&groups, (4, 0)).map_err(|t| t.rule), Err(Rule::IndexRange));
}

#[test]
pub fn all_sources_are_read_before_anything_is_written() {
    let groups = [
        group(&[i(MOV, 1, 0, &[lit(0)]), i(MOV, 1, 1, &[lit(1)])], &[1, 2]),
        group(&[i(MOV, 1, 0, &[r(1, 1)]), i(MOV, 1, 1, &[r(1, 0)])], &[]),
    ];
    assert_eq!(run_groups(&groups, (1, 0)), Ok(2));
    assert_eq!(run_groups(&groups, (1, 1)), Ok(1));
}

#[test]
pub fn trans_wins_in_the_register_and_the_vector_slot_in_pv() {
    let groups = [
        group(&[i(MOV, 1, 0, &[lit(0)]), i(MOV, 1, 0, &[lit(1)]).bank(2)], &[5, 6]),
        group(&[i(MOV, 2, 0, &[pv(0)]), i(MOV, 2, 1, &[ps()])], &[]),
    ];
    assert_eq!(run_groups(&groups, (1, 0)), Ok(6));
    assert_eq!(run_groups(&groups, (2, 0)), Ok(5));
    assert_eq!(run_groups(&groups, (2, 1)), Ok(6));
}

#[test]
pub fn predicated_instructions_run_where_their_predicate_says() {
    // Lanes below 2 write 7, the others 9.
    let set = i(PRED_SETGT_INT, 0, 0, &[lit(0), r(0, 0)]).pred();
    let clause = alu(&[
        group(&[set], &[2]),
        group(&[I { pred_sel: 3, ..i(MOV, 1, 0, &[lit(0)]) }], &[7]),
        group(&[I { pred_sel: 2, ..i(MOV, 1, 0, &[lit(0)]) }], &[9]),
    ]);
    let words = run_cf(&[clause, scatter(1, 0, 1)], 4).expect("legal");
    assert_eq!(words[..4], [7, 7, 9, 9]);
    // Where nothing was written the register is undefined.
    let clause =
        alu(&[group(&[set], &[2]), group(&[I { pred_sel: 3, ..i(MOV, 1, 0, &[lit(0)]) }], &[7])]);
    let trap = run_cf(&[clause, scatter(1, 0, 1)], 4).expect_err("two lanes are undefined");
    assert_eq!((trap.rule, trap.lane), (Rule::Uninitialised, Some(2)));
}

#[test]
pub fn the_worked_example_of_the_digest_runs_in_five_groups() {
    // x = dot(a.xyz, b.xyz) * k.x + sin(c): a = R0 is taken by the thread, so a = R1, b = R2, c = R3.x.
    let fill = |n: u32, v: [f32; 3]| {
        group(
            &[i(MOV, n, 0, &[lit(0)]), i(MOV, n, 1, &[lit(1)]), i(MOV, n, 2, &[lit(2)])],
            &[f(v[0]), f(v[1]), f(v[2]), 0],
        )
    };
    let mut g0: Vec<I> = (0..3).map(|c| i(DOT4_IEEE, 4, c, &[r(1, c), r(2, c)]).mask()).collect();
    g0.push(i(DOT4_IEEE, 4, 3, &[zero(), zero()]).mask());
    let half = r(252, 0);
    g0.push(i(MULADD_IEEE, 123, 1, &[r(3, 0), lit(0), half]).bank(0));
    let clause = [
        fill(1, [1.0, 2.0, 3.0]),
        fill(2, [4.0, 5.0, 6.0]),
        fill(3, [0.75, 0.0, 0.0]),
        group(&g0, &[0.159_154_94f32.to_bits()]),
        group(&[i(MUL_IEEE, 5, 0, &[pv(0), k(0, 0)]), i(FRACT, 5, 1, &[ps()]).mask()], &[]),
        group(&[i(ADD, 5, 1, &[pv(1), half.neg()]).mask()], &[]),
        group(&[i(SIN, 6, 0, &[pv(1)]).mask()], &[]),
        group(&[i(ADD, 6, 0, &[r(5, 0), ps()])], &[]),
    ];
    let mut state = state();
    state.constants[0] = 0.5f32.to_le_bytes().repeat(64);
    let words = |state: &mut crate::emu::State, bank: u32| {
        let mut all = clause.clone();
        let mut trans = g0.clone();
        trans[4] = trans[4].bank(bank);
        all[3] = group(&trans, &[0.159_154_94f32.to_bits()]);
        run_in(&[Cf::Alu(ALU, all.concat(), (0, 1, 0)), scatter(6, 0, 1)], 1, state)
            .map(|_| f32::from_bits(state.aperture.words[0]))
    };
    for bank in [0, 2, 3] {
        let found = words(&mut state, bank).expect("210, 212 and 221 read R3.x on cycle 2");
        assert!((found - (16.0 + 0.75f32.sin())).abs() < 1e-5, "{found}");
    }
    // 122 reads it on cycle 1, before both constants are there.
    assert_eq!(words(&mut state, 1).map_err(|t| t.rule), Err(Rule::TransCycle));
}

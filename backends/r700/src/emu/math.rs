//! What each ALU instruction computes. R700 ISA 4.8 and chapter 9; approximated functions and denormals by
//! the published numeric model.

use super::decode::AluInst;
use super::lanes::{LANES, Word, each};
use super::ops::AluOp;
use super::rule::Rule;
use super::wave::Wave;
use crate::api::Family;
use crate::numerics::circular;
use gpucc_ir::ssa::numerics::{DotOrder, Fma, Function, NanRule, Numerics, ZeroRule, fma32};

const ONE: u32 = 0x3F80_0000;
const TRUE: u32 = 0xFFFF_FFFF;
const LARGEST: u32 = 0x7F7F_FFFF;
const INFINITY: u32 = 0x7F80_0000;
const SIGN: u32 = 0x8000_0000;

/// One operand at a time in every lane.
#[inline(always)]
fn map1(a: &Word, f: impl Fn(u32) -> u32) -> Word {
    let mut out = Word::splat(0);
    for lane in 0..LANES {
        out.v[lane] = f(a.v[lane]);
    }
    out
}

#[inline(always)]
fn map2(a: &Word, b: &Word, f: impl Fn(u32, u32) -> u32) -> Word {
    let mut out = Word::splat(0);
    for lane in 0..LANES {
        out.v[lane] = f(a.v[lane], b.v[lane]);
    }
    out
}

#[inline(always)]
fn map3(a: &Word, b: &Word, c: &Word, f: impl Fn(u32, u32, u32) -> u32) -> Word {
    let mut out = Word::splat(0);
    for lane in 0..LANES {
        out.v[lane] = f(a.v[lane], b.v[lane], c.v[lane]);
    }
    out
}

/// One operand in the lanes that execute alone: for functions that cost.
fn each1(a: &Word, lanes: u64, f: impl Fn(u32) -> u32) -> Word {
    let mut out = Word::splat(0);
    for lane in each(lanes) {
        out.v[lane] = f(a.v[lane]);
    }
    out
}

/// Lanes where a condition on two operands holds.
fn where2(a: &Word, b: &Word, lanes: u64, f: impl Fn(u32, u32) -> bool) -> u64 {
    let mut set = 0u64;
    for lane in each(lanes) {
        set |= u64::from(f(a.v[lane], b.v[lane])) << lane;
    }
    set
}

fn truth(condition: bool) -> u32 {
    if condition { TRUE } else { 0 }
}

fn one(condition: bool) -> u32 {
    if condition { ONE } else { 0 }
}

/// PRED_SET*: 0.0 executes, 1.0 skips.
fn skip(execute: bool) -> u32 {
    if execute { 0 } else { ONE }
}

/// `0 * anything = 0` but for the IEEE forms.
#[inline(always)]
fn product(n: &Numerics, a: u32, b: u32, ieee: bool) -> f32 {
    let (a, b) = (n.in32(a), n.in32(b));
    if !ieee && (a == 0.0 || b == 0.0) { 0.0 } else { a * b }
}

#[inline(always)]
fn multiply_add(n: &Numerics, a: u32, b: u32, c: u32, ieee: bool) -> u32 {
    match n.fma {
        Fma::Fused => {
            let (x, y) = (n.in32(a), n.in32(b));
            if !ieee && (x == 0.0 || y == 0.0) {
                return n.out32(n.in32(c));
            }
            n.out32(fma32(x, y, n.in32(c)))
        }
        Fma::Twice => {
            let p = n.out32(product(n, a, b, ieee));
            n.out32(f32::from_bits(p) + n.in32(c))
        }
    }
}

/// Minimum or maximum of the DX10 kind, or (`legacy`) by one comparison.
#[inline(always)]
fn extreme(n: &Numerics, a: u32, b: u32, max: bool, legacy: bool) -> u32 {
    let (x, y) = if n.min_max_flush {
        (n.in32(a), n.in32(b))
    } else {
        (f32::from_bits(a), f32::from_bits(b))
    };
    let rule = if legacy { NanRule::Second } else { n.min_max_nan };
    if x.is_nan() || y.is_nan() {
        let value = match rule {
            NanRule::Second => y,
            NanRule::Other if x.is_nan() => y,
            NanRule::Other => x,
            NanRule::Nan => f32::NAN,
        };
        return if value.is_nan() { n.out32(f32::NAN) } else { value.to_bits() };
    }
    if x == 0.0 && y == 0.0 && !legacy && n.min_max_zero == ZeroRule::Ordered {
        let negative = if max {
            x.is_sign_negative() && y.is_sign_negative()
        } else {
            x.is_sign_negative() || y.is_sign_negative()
        };
        return if negative { SIGN } else { 0 };
    }
    let first = if max { x >= y } else { x < y };
    if first { x.to_bits() } else { y.to_bits() }
}

/// A float with its sign and infinities replaced: `CLAMPED` and `FF` forms.
fn replace_infinity(bits: u32, magnitude: u32) -> u32 {
    if bits & !SIGN == INFINITY { bits & SIGN | magnitude } else { bits }
}

/// The result of an instruction of one slot, output modifiers and its own poison included.
pub(super) fn compute(
    wave: &Wave,
    inst: &AluInst,
    sources: &[Word; 3],
    lanes: u64,
    offset: u32,
) -> Word {
    let n = &wave.state.numerics;
    let [a, b, c] = sources;
    let cmp = |a: u32, b: u32| (n.in32(a), n.in32(b));
    let signed = |a: u32, b: u32| (a as i32, b as i32);
    let shifted = |f: fn(u32, u32) -> u32| {
        let mut word = map2(a, b, |a, b| f(a, b & 31));
        word.poison(where2(a, b, lanes, |_, b| b > 31), Rule::ShiftAmount, offset);
        word
    };
    let mut integer = false;
    let mut word = match inst.op {
        AluOp::ADD => map2(a, b, |a, b| n.out32(n.in32(a) + n.in32(b))),
        AluOp::MUL => map2(a, b, |a, b| n.out32(product(n, a, b, false))),
        AluOp::MUL_IEEE => map2(a, b, |a, b| n.out32(product(n, a, b, true))),
        AluOp::MAX => map2(a, b, |a, b| extreme(n, a, b, true, true)),
        AluOp::MIN => map2(a, b, |a, b| extreme(n, a, b, false, true)),
        AluOp::MAX_DX10 => map2(a, b, |a, b| extreme(n, a, b, true, false)),
        AluOp::MIN_DX10 => map2(a, b, |a, b| extreme(n, a, b, false, false)),
        AluOp::SETE => map2(a, b, |a, b| one(n.in32(a) == n.in32(b))),
        AluOp::SETGT => map2(a, b, |a, b| one(n.in32(a) > n.in32(b))),
        AluOp::SETGE => map2(a, b, |a, b| one(n.in32(a) >= n.in32(b))),
        AluOp::SETNE => map2(a, b, |a, b| one(n.in32(a) != n.in32(b))),
        AluOp::SETE_DX10 => map2(a, b, |a, b| truth(n.in32(a) == n.in32(b))),
        AluOp::SETGT_DX10 => map2(a, b, |a, b| truth(n.in32(a) > n.in32(b))),
        AluOp::SETGE_DX10 => map2(a, b, |a, b| truth(n.in32(a) >= n.in32(b))),
        AluOp::SETNE_DX10 => map2(a, b, |a, b| truth(n.in32(a) != n.in32(b))),
        AluOp::FRACT => map1(a, |a| {
            let x = n.in32(a);
            let mut y = x - x.floor();
            if n.fract_below_one && y >= 1.0 {
                y = f32::from_bits(ONE - 1);
            }
            n.out32(y)
        }),
        AluOp::TRUNC => map1(a, |a| n.out32(n.in32(a).trunc())),
        AluOp::CEIL => map1(a, |a| n.out32(n.in32(a).ceil())),
        AluOp::RNDNE => map1(a, |a| n.out32(n.in32(a).round_ties_even())),
        AluOp::FLOOR => map1(a, |a| n.out32(n.in32(a).floor())),
        AluOp::MOVA => address(n, a, lanes, offset, |x| (x + 0.5).floor()),
        AluOp::MOVA_FLOOR => address(n, a, lanes, offset, f32::floor),
        AluOp::MOVA_INT => {
            let outside = |v: u32, _| !(-256..=255).contains(&(v as i32));
            let mut word = *a;
            word.poison(where2(a, a, lanes, outside), Rule::IndexRange, offset);
            word
        }
        AluOp::MOV => {
            integer = !modified(inst);
            let signs = inst.src[0].neg || inst.src[0].abs;
            if signs && n.sign_ops_flush { map1(a, |a| n.in32(a).to_bits()) } else { *a }
        }
        AluOp::NOP => Word::splat(0),
        AluOp::PRED_SETGT_UINT => map2(a, b, |a, b| skip(a > b)),
        AluOp::PRED_SETGE_UINT => map2(a, b, |a, b| skip(a >= b)),
        AluOp::PRED_SETE => map2(a, b, |a, b| skip(n.in32(a) == n.in32(b))),
        AluOp::PRED_SETGT => map2(a, b, |a, b| skip(n.in32(a) > n.in32(b))),
        AluOp::PRED_SETGE => map2(a, b, |a, b| skip(n.in32(a) >= n.in32(b))),
        AluOp::PRED_SETNE => map2(a, b, |a, b| skip(n.in32(a) != n.in32(b))),
        AluOp::PRED_SET_INV => map1(a, |a| match n.in32(a) {
            1.0 => 0,
            0.0 => ONE,
            other => other.to_bits(),
        }),
        AluOp::PRED_SET_POP => map2(a, b, |a, b| {
            let (x, y) = cmp(a, b);
            if x <= y { 0 } else { n.out32(x - y) }
        }),
        AluOp::PRED_SET_CLR => Word::splat(LARGEST),
        AluOp::PRED_SET_RESTORE => map1(a, |a| if n.in32(a) == 0.0 { 0 } else { a }),
        AluOp::PRED_SETE_PUSH => map2(a, b, |a, b| push(n, a, n.in32(b) == 0.0)),
        AluOp::PRED_SETGT_PUSH => map2(a, b, |a, b| push(n, a, n.in32(b) > 0.0)),
        AluOp::PRED_SETGE_PUSH => map2(a, b, |a, b| push(n, a, n.in32(b) >= 0.0)),
        AluOp::PRED_SETNE_PUSH => map2(a, b, |a, b| push(n, a, n.in32(b) != 0.0)),
        AluOp::KILLE => map2(a, b, |a, b| one(n.in32(a) == n.in32(b))),
        AluOp::KILLGT => map2(a, b, |a, b| one(n.in32(a) > n.in32(b))),
        AluOp::KILLGE => map2(a, b, |a, b| one(n.in32(a) >= n.in32(b))),
        AluOp::KILLNE => map2(a, b, |a, b| one(n.in32(a) != n.in32(b))),
        AluOp::AND_INT => map2(a, b, |a, b| a & b),
        AluOp::OR_INT => map2(a, b, |a, b| a | b),
        AluOp::XOR_INT => map2(a, b, |a, b| a ^ b),
        AluOp::NOT_INT => map1(a, |a| !a),
        AluOp::ADD_INT => map2(a, b, u32::wrapping_add),
        AluOp::SUB_INT => map2(a, b, u32::wrapping_sub),
        AluOp::MAX_INT => map2(a, b, |a, b| (a as i32).max(b as i32) as u32),
        AluOp::MIN_INT => map2(a, b, |a, b| (a as i32).min(b as i32) as u32),
        AluOp::MAX_UINT => map2(a, b, |a, b| a.max(b)),
        AluOp::MIN_UINT => map2(a, b, |a, b| a.min(b)),
        AluOp::SETE_INT => map2(a, b, |a, b| truth(a == b)),
        AluOp::SETGT_INT => map2(a, b, |a, b| {
            let (a, b) = signed(a, b);
            truth(a > b)
        }),
        AluOp::SETGE_INT => map2(a, b, |a, b| {
            let (a, b) = signed(a, b);
            truth(a >= b)
        }),
        AluOp::SETNE_INT => map2(a, b, |a, b| truth(a != b)),
        AluOp::SETGT_UINT => map2(a, b, |a, b| truth(a > b)),
        AluOp::SETGE_UINT => map2(a, b, |a, b| truth(a >= b)),
        AluOp::KILLGT_UINT => map2(a, b, |a, b| one(a > b)),
        AluOp::KILLGE_UINT => map2(a, b, |a, b| one(a >= b)),
        AluOp::PRED_SETE_INT => map2(a, b, |a, b| skip(a == b)),
        AluOp::PRED_SETGT_INT => map2(a, b, |a, b| skip(a as i32 > b as i32)),
        AluOp::PRED_SETGE_INT => map2(a, b, |a, b| skip(a as i32 >= b as i32)),
        AluOp::PRED_SETNE_INT => map2(a, b, |a, b| skip(a != b)),
        AluOp::KILLE_INT => map2(a, b, |a, b| one(a == b)),
        AluOp::KILLGT_INT => map2(a, b, |a, b| one(a as i32 > b as i32)),
        AluOp::KILLGE_INT => map2(a, b, |a, b| one(a as i32 >= b as i32)),
        AluOp::KILLNE_INT => map2(a, b, |a, b| one(a != b)),
        AluOp::PRED_SETE_PUSH_INT => map2(a, b, |a, b| push(n, a, b == 0)),
        AluOp::PRED_SETGT_PUSH_INT => map2(a, b, |a, b| push(n, a, b as i32 > 0)),
        AluOp::PRED_SETGE_PUSH_INT => map2(a, b, |a, b| push(n, a, b as i32 >= 0)),
        AluOp::PRED_SETNE_PUSH_INT => map2(a, b, |a, b| push(n, a, b != 0)),
        AluOp::PRED_SETLT_PUSH_INT => map2(a, b, |a, b| push(n, a, (b as i32) < 0)),
        AluOp::PRED_SETLE_PUSH_INT => map2(a, b, |a, b| push(n, a, b as i32 <= 0)),
        AluOp::EXP_IEEE => each1(a, lanes, |a| n.exp2(a)),
        AluOp::LOG_IEEE => each1(a, lanes, |a| n.log2(a)),
        AluOp::LOG_CLAMPED => each1(a, lanes, |a| match n.log2(a) {
            x if x == INFINITY | SIGN => LARGEST | SIGN,
            x => x,
        }),
        AluOp::RECIP_IEEE => each1(a, lanes, |a| n.rcp(a)),
        AluOp::RECIP_CLAMPED => each1(a, lanes, |a| replace_infinity(n.rcp(a), LARGEST)),
        AluOp::RECIP_FF => each1(a, lanes, |a| replace_infinity(n.rcp(a), 0)),
        AluOp::RECIPSQRT_IEEE => each1(a, lanes, |a| n.rsq(a)),
        AluOp::RECIPSQRT_CLAMPED => each1(a, lanes, |a| replace_infinity(n.rsq(a), LARGEST)),
        AluOp::RECIPSQRT_FF => each1(a, lanes, |a| replace_infinity(n.rsq(a), 0)),
        AluOp::SQRT_IEEE => each1(a, lanes, |a| n.sqrt(a)),
        AluOp::SIN | AluOp::COS => {
            let sine = inst.op == AluOp::SIN;
            // R6xx takes radians (isa/r700.md 0.2).
            let radians = wave.state.chip.family() == Family::R600;
            let of_radians =
                |function, a| n.out32(circular(n.perturbation.as_ref(), function, n.in32(a)));
            let mut word = each1(a, lanes, |a| match (radians, sine) {
                (false, true) => n.sin_turns(a),
                (false, false) => n.cos_turns(a),
                (true, true) => of_radians(Function::Sin, a),
                (true, false) => of_radians(Function::Cos, a),
            });
            let limit = if radians { std::f32::consts::PI } else { 0.5 };
            let outside = |v: u32, _| f32::from_bits(v).abs() > limit;
            word.poison(where2(a, a, lanes, outside), Rule::Turns, offset);
            word
        }
        AluOp::FLT_TO_INT => {
            integer = true;
            let mut word = map1(a, |a| n.in32(a) as i32 as u32);
            let outside = |v: u32, _| {
                let x = f32::from_bits(v);
                !(-2_147_483_648.0..2_147_483_648.0).contains(&x)
            };
            word.poison(where2(a, a, lanes, outside), Rule::FloatToInt, offset);
            word
        }
        AluOp::FLT_TO_UINT => {
            integer = true;
            let mut word = map1(a, |a| n.in32(a) as u32);
            let outside = |v: u32, _| {
                let x = f32::from_bits(v);
                !(x > -1.0 && x < 4_294_967_296.0)
            };
            word.poison(where2(a, a, lanes, outside), Rule::FloatToInt, offset);
            word
        }
        AluOp::INT_TO_FLT => map1(a, |a| (a as i32 as f32).to_bits()),
        AluOp::UINT_TO_FLT => map1(a, |a| (a as f32).to_bits()),
        AluOp::ASHR_INT => shifted(|a, b| ((a as i32) >> b) as u32),
        AluOp::LSHR_INT => shifted(|a, b| a >> b),
        AluOp::LSHL_INT => shifted(|a, b| a << b),
        AluOp::MULLO_INT | AluOp::MULLO_UINT => map2(a, b, u32::wrapping_mul),
        AluOp::MULHI_INT => {
            map2(a, b, |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32)
        }
        AluOp::MULHI_UINT => map2(a, b, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        AluOp::RECIP_INT | AluOp::RECIP_UINT => {
            let unsigned = inst.op == AluOp::RECIP_UINT;
            let mut word = each1(a, lanes, |a| reciprocal(n, a, unsigned));
            word.poison(where2(a, a, lanes, |a, _| a == 0), Rule::RecipZero, offset);
            word
        }
        AluOp::MUL_LIT | AluOp::MUL_LIT_M2 | AluOp::MUL_LIT_M4 | AluOp::MUL_LIT_D2 => {
            map3(a, b, c, |a, b, c| {
                let (y, z) = cmp(b, c);
                let none =
                    y.is_nan() || y <= f32::from_bits(LARGEST | SIGN) || z.is_nan() || z <= 0.0;
                if none { LARGEST | SIGN } else { n.out32(product(n, a, b, false)) }
            })
        }
        AluOp::MULADD | AluOp::MULADD_M2 | AluOp::MULADD_M4 | AluOp::MULADD_D2 => {
            map3(a, b, c, |a, b, c| multiply_add(n, a, b, c, false))
        }
        AluOp::MULADD_IEEE
        | AluOp::MULADD_IEEE_M2
        | AluOp::MULADD_IEEE_M4
        | AluOp::MULADD_IEEE_D2 => map3(a, b, c, |a, b, c| multiply_add(n, a, b, c, true)),
        AluOp::CNDE => choose(n, inst, sources, |a| n.in32(a) == 0.0),
        AluOp::CNDGT => choose(n, inst, sources, |a| n.in32(a) > 0.0),
        AluOp::CNDGE => choose(n, inst, sources, |a| n.in32(a) >= 0.0),
        AluOp::CNDE_INT => return select(sources, |a| a == 0),
        AluOp::CNDGT_INT => return select(sources, |a| a as i32 > 0),
        AluOp::CNDGE_INT => return select(sources, |a| a as i32 >= 0),
        AluOp::FREXP_64
        | AluOp::ADD_64
        | AluOp::MUL_64
        | AluOp::FLT64_TO_FLT32
        | AluOp::FLT32_TO_FLT64
        | AluOp::LDEXP_64
        | AluOp::FRACT_64
        | AluOp::PRED_SETGT_64
        | AluOp::PRED_SETE_64
        | AluOp::PRED_SETGE_64
        | AluOp::MULADD_64
        | AluOp::MULADD_64_M2
        | AluOp::MULADD_64_M4
        | AluOp::MULADD_64_D2
        | AluOp::DOT4
        | AluOp::DOT4_IEEE
        | AluOp::CUBE
        | AluOp::MAX4 => Word::splat(0),
    };
    if !integer {
        output(wave, inst, &mut word);
    }
    word
}

/// True when an output modifier acts.
fn modified(inst: &AluInst) -> bool {
    scale(inst) != 1.0 || inst.clamp
}

/// The factor of OMOD, or of the opcode.
fn scale(inst: &AluInst) -> f32 {
    match inst.op {
        AluOp::MULADD_M2 | AluOp::MULADD_IEEE_M2 | AluOp::MUL_LIT_M2 => 2.0,
        AluOp::MULADD_M4 | AluOp::MULADD_IEEE_M4 | AluOp::MUL_LIT_M4 => 4.0,
        AluOp::MULADD_D2 | AluOp::MULADD_IEEE_D2 | AluOp::MUL_LIT_D2 => 0.5,
        _ => [1.0, 2.0, 4.0, 0.5][inst.omod as usize],
    }
}

/// Scale, then clamp, each flushing as arithmetic does. R700 ISA 4.9.1.
fn output(wave: &Wave, inst: &AluInst, word: &mut Word) {
    if !modified(inst) {
        return;
    }
    let n = &wave.state.numerics;
    let scale = scale(inst);
    for v in &mut word.v {
        if scale != 1.0 {
            *v = n.out32(n.in32(*v) * scale);
        }
        if inst.clamp {
            let x = if n.min_max_flush { n.in32(*v) } else { f32::from_bits(*v) };
            *v = if x.is_nan() {
                if wave.dx10_clamp { 0 } else { n.out32(x) }
            } else if x <= 0.0 {
                0
            } else {
                x.min(1.0).to_bits()
            };
        }
    }
}

fn push(n: &Numerics, counter: u32, condition: bool) -> u32 {
    let count = n.in32(counter);
    if condition && count == 0.0 { 0 } else { n.out32(count + 1.0) }
}

fn address(n: &Numerics, a: &Word, lanes: u64, offset: u32, f: impl Fn(f32) -> f32) -> Word {
    let mut word = map1(a, |a| f(n.in32(a)) as i32 as u32);
    let outside = |v: u32, _| !(-256.0..=255.0).contains(&f(n.in32(v)));
    word.poison(where2(a, a, lanes, outside), Rule::IndexRange, offset);
    word
}

/// floor(2^32 / x), of the magnitude for signed x; 2^32 itself does not fit and gives all ones. A
/// perturbed model is below by up to 2^-16 of it.
fn reciprocal(n: &Numerics, x: u32, unsigned: bool) -> u32 {
    let negative = !unsigned && (x as i32) < 0;
    let magnitude = if negative { x.wrapping_neg() } else { x };
    if magnitude == 0 {
        return 0;
    }
    let quotient = ((1u64 << 32) / u64::from(magnitude)).min(u64::from(u32::MAX)) as u32;
    let error = n.perturbation.map_or(0, |p| {
        let noise = (p.seed ^ u64::from(x)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        (noise % (u64::from(quotient >> 16) + 1)) as u32
    });
    let quotient = quotient - error;
    if negative { quotient.wrapping_neg() } else { quotient }
}

/// src1 where the condition on src0 holds, else src2; their modifiers act as those of MOV.
fn choose(n: &Numerics, inst: &AluInst, sources: &[Word; 3], f: impl Fn(u32) -> bool) -> Word {
    let data = |which: usize, word: &Word| {
        let signs = inst.src[which].neg || inst.src[which].abs;
        if signs && n.sign_ops_flush { map1(word, |v| n.in32(v).to_bits()) } else { *word }
    };
    let [a, b, c] = sources;
    let (b, c) = (data(1, b), data(2, c));
    map3(a, &b, &c, |a, b, c| if f(a) { b } else { c })
}

/// The integer choice.
fn select(sources: &[Word; 3], f: impl Fn(u32) -> bool) -> Word {
    let [a, b, c] = sources;
    map3(a, b, c, |a, b, c| if f(a) { b } else { c })
}

/// The conditions of conditional moves, for their poison: lanes that take src1.
pub(super) fn chosen(n: &Numerics, op: AluOp, a: &Word) -> Option<u64> {
    let f: fn(&Numerics, u32) -> bool = match op {
        AluOp::CNDE => |n, a| n.in32(a) == 0.0,
        AluOp::CNDGT => |n, a| n.in32(a) > 0.0,
        AluOp::CNDGE => |n, a| n.in32(a) >= 0.0,
        AluOp::CNDE_INT => |_, a| a == 0,
        AluOp::CNDGT_INT => |_, a| a as i32 > 0,
        AluOp::CNDGE_INT => |_, a| a as i32 >= 0,
        _ => return None,
    };
    let mut set = 0u64;
    for lane in 0..LANES {
        set |= u64::from(f(n, a.v[lane])) << lane;
    }
    Some(set)
}

/// Lanes whose predicate is "execute".
pub(super) fn predicate(op: AluOp, word: &Word, lanes: u64) -> u64 {
    let mut passed = 0u64;
    for lane in each(lanes) {
        passed |= u64::from(word.v[lane] & !SIGN == 0 && op != AluOp::PRED_SET_CLR) << lane;
    }
    passed
}

/// The four results of a reduction.
pub(super) fn reduce(
    wave: &Wave,
    inst: &AluInst,
    a: &[Word; 4],
    b: &[Word; 4],
    lanes: u64,
) -> [Word; 4] {
    let n = &wave.state.numerics;
    let mut all = Word::splat(0);
    for word in a.iter().chain(b) {
        all.inherit(word);
    }
    let mut out = match inst.op {
        AluOp::CUBE => cube(n, a, b, lanes),
        AluOp::MAX4 => {
            let mut word = a[0];
            for other in &a[1..] {
                word = map2(&word, other, |x, y| extreme(n, x, y, true, true));
            }
            [word; 4]
        }
        _ => {
            let ieee = inst.op == AluOp::DOT4_IEEE;
            let products: [Word; 4] =
                std::array::from_fn(|c| map2(&a[c], &b[c], |a, b| n.out32(product(n, a, b, ieee))));
            let add = |x: &Word, y: &Word| {
                map2(x, y, |x, y| n.out32(f32::from_bits(x) + f32::from_bits(y)))
            };
            let [x, y, z, w] = &products;
            let sum = match n.dot.order {
                // Of the machine only sums of rounded products are known.
                DotOrder::Ascending | DotOrder::Exact => add(&add(&add(x, y), z), w),
                DotOrder::Descending => add(&add(&add(w, z), y), x),
                DotOrder::Pairwise => add(&add(x, y), &add(z, w)),
            };
            [sum; 4]
        }
    };
    for (slot, word) in out.iter_mut().enumerate() {
        // Output modifiers do not touch the face number.
        if !(inst.op == AluOp::CUBE && slot == 3) {
            output(wave, inst, word);
        }
        word.inherit(&all);
    }
    out
}

/// CUBE with src0 = zzxy, src1 = yxzz: T, S, 2 * major, face.
fn cube(n: &Numerics, a: &[Word; 4], b: &[Word; 4], lanes: u64) -> [Word; 4] {
    let mut out = [Word::splat(0); 4];
    for lane in each(lanes) {
        let v = |w: &Word| n.in32(w.v[lane]);
        let (x, y, z) = (v(&b[1]), v(&b[0]), v(&a[0]));
        let (s, t, major, face) = gpucc_ir::ssa::cube::axes([x, y, z], [x, y, z]);
        let values = [n.out32(t), n.out32(s), n.out32(2.0 * major), (face as f32).to_bits()];
        for (word, value) in out.iter_mut().zip(values) {
            word.v[lane] = value;
        }
    }
    out
}

//! Doubles: high dwords come in through x (or z), low ones through y (or w); results leave low first.
//! R700 ISA 4.12 and chapter 9; denormals are flushed.

use super::decode::AluInst;
use super::lanes::{Word, each};
use super::ops::AluOp;
use super::rule::Rule;
use gpucc_ir::ssa::Numerics;

/// The NaN that double operations make, and give back for every NaN among their operands: the footnotes
/// of R700 ISA tables 9.1, 9.7 and 9.9 name this value for what is propagated.
const NAN: u64 = 0xFFF8_0000_0000_0000;

fn flush(bits: u64) -> u64 {
    if bits >> 52 & 0x7FF == 0 { bits & 1 << 63 } else { bits }
}

/// A double that an operation made.
fn made(value: f64) -> u64 {
    if value.is_nan() { NAN } else { flush(value.to_bits()) }
}

/// The largest double below 1. FRACT_64 gives [+0.0, +1.0) (table 9.4).
const BELOW_ONE: u64 = 0x3FEF_FFFF_FFFF_FFFF;

/// Computes a double instruction at byte `offset`: `sources[slot][operand]`; words by slot.
pub(super) fn compute(
    inst: &AluInst,
    sources: &[[Word; 3]; 4],
    lanes: u64,
    numerics: &Numerics,
    offset: u32,
) -> [Word; 4] {
    let mut out = [Word::splat(0); 4];
    let quad = matches!(
        inst.op,
        AluOp::MUL_64
            | AluOp::MULADD_64
            | AluOp::MULADD_64_M2
            | AluOp::MULADD_64_M4
            | AluOp::MULADD_64_D2
            | AluOp::FREXP_64
    );
    let low_slot = if quad && inst.op != AluOp::FREXP_64 { 3 } else { 1 };
    for lane in each(lanes) {
        let raw = |n: usize| {
            let (high, low) = (sources[0][n].v[lane], sources[low_slot][n].v[lane]);
            u64::from(high) << 32 | u64::from(low)
        };
        let double = |n: usize| f64::from_bits(flush(raw(n)));
        let single = sources[0][0].v[lane];
        let pair = |bits: u64| [bits as u32, (bits >> 32) as u32, bits as u32, (bits >> 32) as u32];
        let scaled = |bits: u64| {
            let factor = match inst.op {
                AluOp::MULADD_64_M2 => 2.0,
                AluOp::MULADD_64_M4 => 4.0,
                AluOp::MULADD_64_D2 => 0.5,
                _ => [1.0, 2.0, 4.0, 0.5][inst.omod as usize],
            };
            let mut value = f64::from_bits(bits);
            if factor != 1.0 {
                value = f64::from_bits(flush((value * factor).to_bits()));
            }
            if inst.clamp {
                value = if value > 0.0 { value.min(1.0) } else { 0.0 };
            }
            value.to_bits()
        };
        let test = |execute: bool| {
            let word = if execute { 0 } else { u32::MAX };
            [word; 4]
        };
        let words = match inst.op {
            AluOp::ADD_64 => {
                let (a, b) = (double(0), double(1));
                pair(scaled(made(a + b)))
            }
            AluOp::MUL_64 => {
                let (a, b) = (double(0), double(1));
                pair(scaled(made(a * b)))
            }
            AluOp::MULADD_64 | AluOp::MULADD_64_M2 | AluOp::MULADD_64_M4 | AluOp::MULADD_64_D2 => {
                let (a, b, c) = (double(0), double(1), double(2));
                let product = f64::from_bits(flush((a * b).to_bits()));
                pair(scaled(made(product + c)))
            }
            AluOp::FLT32_TO_FLT64 => {
                let value = f32::from_bits(single);
                let bits = if value.is_nan() {
                    u64::from(single >> 31) << 63
                        | 0x7FF << 52
                        | u64::from(single & 0x7F_FFFF) << 29
                } else if single >> 23 & 0xFF == 0 {
                    u64::from(single >> 31) << 63
                } else {
                    f64::from(value).to_bits()
                };
                pair(scaled(bits))
            }
            AluOp::FLT64_TO_FLT32 => {
                let value = double(0);
                let word = if value.is_nan() {
                    ((raw(0) >> 63) as u32) << 31 | 0x7FC0_0000
                } else {
                    numerics.out32(value as f32)
                };
                [word; 4]
            }
            AluOp::FRACT_64 => {
                let value = double(0);
                let bits = if !value.is_finite() {
                    NAN
                } else if value == 0.0 {
                    0
                } else {
                    made(value - value.floor()).min(BELOW_ONE)
                };
                pair(scaled(bits))
            }
            AluOp::LDEXP_64 => {
                let value = double(0);
                let exponent = sources[0][1].v[lane] as i32;
                pair(scaled(ldexp(raw(0), value, exponent)))
            }
            AluOp::FREXP_64 => frexp(raw(0), double(0)),
            AluOp::PRED_SETGT_64 => test(double(0) > double(1)),
            AluOp::PRED_SETE_64 => test(double(0) == double(1)),
            AluOp::PRED_SETGE_64 => test(double(0) >= double(1)),
            _ => [0; 4],
        };
        for (word, value) in out.iter_mut().zip(words) {
            word.v[lane] = value;
        }
    }
    // FLT64_TO_FLT32 writes dst.X or dst.Z alone. FREXP_64's exponent is "in dst.YX" of the low dword first;
    // the peers read y, so nobody reads x.
    let undefined = match inst.op {
        AluOp::FLT64_TO_FLT32 => Some(1),
        AluOp::FREXP_64 => Some(0),
        _ => None,
    };
    if let Some(slot) = undefined {
        out[slot].poison(u64::MAX, Rule::DoubleWord, offset);
    }
    for three in sources {
        for source in &three[..inst.op.sources()] {
            for word in &mut out {
                word.inherit(source);
            }
        }
    }
    out
}

/// The mantissa times 2^exponent: overflow to infinity, underflow to zero, without rounding.
fn ldexp(bits: u64, value: f64, exponent: i32) -> u64 {
    if value.is_nan() || value.is_infinite() || value == 0.0 {
        return if value == 0.0 { bits & 1 << 63 } else { bits };
    }
    let field = (bits >> 52 & 0x7FF) as i64 + i64::from(exponent);
    let sign = bits & 1 << 63;
    if field >= 0x7FF {
        sign | 0x7FF << 52
    } else if field <= 0 {
        sign
    } else {
        sign | (field as u64) << 52 | bits & ((1 << 52) - 1)
    }
}

/// Exponent in y, fraction in z and w (low, high). R700 ISA 9.2, FREXP_64, table 9.5.
fn frexp(bits: u64, value: f64) -> [u32; 4] {
    let (fraction, exponent) = if value.is_nan() {
        (bits, u32::MAX)
    } else if value.is_infinite() {
        (NAN, u32::MAX)
    } else if value == 0.0 {
        (bits & 1 << 63, 0)
    } else {
        let field = (bits >> 52 & 0x7FF) as i32;
        let fraction = bits & !(0x7FF << 52) | 0x3FE << 52;
        (fraction, (field - 1022) as u32)
    };
    [exponent, exponent, fraction as u32, (fraction >> 32) as u32]
}

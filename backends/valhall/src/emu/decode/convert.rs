//! Shifts and conversions.

use super::*;
use crate::emu::inst::{Logic, Shift};

/// Shift counts: which byte counts for each element.
pub(super) fn count_lanes(code: u32, width: u8) -> Result<Select, Refused> {
    match (width, code) {
        (8, _) => int_select(code, 8),
        (16, 0) => Ok(Select::Bytes([0, 0, 2, 2])),
        (16, 10) => Ok(Select::Bytes([0, 0, 1, 1])),
        (16, 11) => Ok(Select::Bytes([2, 2, 3, 3])),
        (_, 4..=7) => Ok(Select::Bytes([code as u8 - 4; 4])),
        _ => Err(reserved(format!("shift lanes {code}"))),
    }
}

pub(super) fn shift_or_convert(inst: &mut Inst, stem: &str, bits: Bits) -> Result<(), Refused> {
    const SHIFTS: [(&str, Shift); 5] = [
        ("RSHIFT", Shift::Right),
        ("LSHIFT", Shift::Left),
        ("RROT", Shift::RotateRight),
        ("LROT", Shift::RotateLeft),
        ("ARSHIFT", Shift::Arithmetic),
    ];
    let Some((name, logic)) = stem.split_once('_') else {
        return Err(unsupported(inst.name));
    };
    let logic = match logic {
        "AND" => Logic::And,
        "OR" => Logic::Or,
        "XOR" => Logic::Xor,
        _ => return convert(inst, stem, bits),
    };
    let Some(&(_, shift)) = SHIFTS.iter().find(|(n, _)| *n == name) else {
        return Err(unsupported(inst.name));
    };
    // The public table has one row for logical and arithmetic right shifts; bit 34 tells them apart.
    let shift = match (shift, bits.flag(34)) {
        (Shift::Right, true) => Shift::Arithmetic,
        (shift, _) => shift,
    };
    let Ty::Int { bits: width, .. } = inst.ty else {
        return Err(unsupported(inst.name));
    };
    let wide = width == 64;
    let mut a = source(bits, 0, wide)?;
    a.select = int_select(bits.at(36, 4), width)?;
    if a.select != Select::Whole {
        a.wide = false;
    }
    let mut count = source(bits, 1, false)?;
    count.select = count_lanes(bits.at(26, 4), width)?;
    let mut b = source(bits, 2, wide)?;
    b.not = bits.flag(35);
    inst.op = Op::ShiftLogic {
        shift,
        logic,
        not_result: bits.flag(30),
    };
    inst.sources = vec![a, count, b];
    let kind = match width {
        64 => Result_::Pair,
        32 => Result_::Word,
        _ => Result_::Halves,
    };
    dest(inst, bits, kind)
}

/// Opcode 0x90, and the one of two sources.
fn convert(inst: &mut Inst, stem: &str, bits: Bits) -> Result<(), Refused> {
    let mut a = source(bits, 0, false)?;
    let three = bits.at(30, 3);
    let mut float = |selects: Select| {
        a.neg = bits.flag(38);
        a.abs = bits.flag(39);
        a.select = selects;
    };
    let half = bits.at(28, 1) as u8;
    let low_half = Select::Bytes([2 * half, 2 * half + 1, 2 * half, 2 * half + 1]);
    let (signed, mut result) = (!stem.contains('U'), Result_::Word);
    let op = match stem {
        "V2F32_TO_V2F16" => {
            let f = |i| float_source(bits, i, Ty::F32, false);
            inst.sources = vec![f(0)?, f(1)?];
            inst.op = Op::FloatsToHalves {
                round: round(bits.at(30, 2))?,
                clamp: clamp(bits),
            };
            return dest(inst, bits, Result_::Halves);
        }
        "F16_TO_F32" => {
            float(low_half);
            Op::HalfToFloat
        }
        "F32_TO_S32" | "F32_TO_U32" => {
            float(Select::Whole);
            Op::ToInt {
                half: false,
                bits: 32,
                signed,
                round: round(three)?,
            }
        }
        "F16_TO_S32" | "F16_TO_U32" => {
            float(low_half);
            Op::ToInt {
                half: true,
                bits: 32,
                signed,
                round: round(three)?,
            }
        }
        "V2F16_TO_V2S16" | "V2F16_TO_V2U16" => {
            float(halves(bits.at(28, 2)));
            result = Result_::Halves;
            Op::ToInt {
                half: true,
                bits: 16,
                signed,
                round: round(three)?,
            }
        }
        "S32_TO_F32" | "U32_TO_F32" => Op::ToFloat {
            half: false,
            signed,
            round: round(three)?,
        },
        "S16_TO_F32" | "U16_TO_F32" => {
            a.select = Select::Integer {
                first: 2 * half,
                width: 2,
            };
            Op::ToFloat {
                half: false,
                signed,
                round: Round::Even,
            }
        }
        "S8_TO_F32" | "U8_TO_F32" => {
            a.select = Select::Integer {
                first: bits.at(28, 2) as u8,
                width: 1,
            };
            Op::ToFloat {
                half: false,
                signed,
                round: Round::Even,
            }
        }
        "V2S16_TO_V2F16" | "V2U16_TO_V2F16" => {
            a.select = int_select(bits.at(36, 4), 16)?;
            result = Result_::Halves;
            Op::ToFloat {
                half: true,
                signed,
                round: round(three)?,
            }
        }
        "V2S8_TO_V2F16" | "V2U8_TO_V2F16" => {
            a.select = two_bytes(bits);
            result = Result_::Halves;
            Op::ToFloat {
                half: true,
                signed,
                round: Round::Even,
            }
        }
        "S16_TO_S32" | "U16_TO_U32" => {
            a.select = Select::Integer {
                first: 2 * half,
                width: 2,
            };
            Op::Move
        }
        "S8_TO_S32" | "U8_TO_U32" => {
            a.select = Select::Integer {
                first: bits.at(28, 2) as u8,
                width: 1,
            };
            Op::Move
        }
        "V2S8_TO_V2S16" | "V2U8_TO_V2U16" => {
            a.select = two_bytes(bits);
            result = Result_::Halves;
            Op::Move
        }
        _ => return Err(unsupported(inst.name)),
    };
    inst.ty = Ty::Int { bits: 32, signed };
    inst.op = op;
    inst.sources = vec![a];
    dest(inst, bits, result)
}

/// `swiz8_2_full_m`: the low two bits choose the byte of the low half.
fn two_bytes(bits: Bits) -> Select {
    Select::TwoBytes([bits.at(36, 2) as u8, bits.at(38, 2) as u8])
}

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

/// Source `i` of which `width` bytes from `first` count.
pub(super) fn part(bits: Bits, i: usize, first: u32, width: u8) -> Result<Source, Refused> {
    let mut out = source(bits, i, false)?;
    let first = first as u8;
    out.select = Select::Integer { first, width };
    Ok(out)
}

/// The half of a float source that `lane0` names, twice.
pub(super) fn one_half(bits: Bits) -> Select {
    match bits.get(HALF0) {
        0 => Select::Bytes([0, 1, 0, 1]),
        _ => Select::Bytes([2, 3, 2, 3]),
    }
}

/// `swiz8_2_full_m`: the low two bits choose the byte of the low half.
fn two_bytes(bits: Bits) -> Select {
    let code = bits.get(TWO_BYTES) as u8;
    Select::TwoBytes([code & 3, code >> 2])
}

pub(super) fn shift(inst: &mut Inst, bits: Bits) -> Result<(), Refused> {
    let logic = match bits.get(LOGIC) {
        0 => Logic::And,
        1 => Logic::Or,
        _ => Logic::Xor,
    };
    let shift = match bits.get(SHIFT_KIND) {
        0 => Shift::Right,
        1 => Shift::Left,
        2 => Shift::RotateRight,
        3 => Shift::RotateLeft,
        _ => Shift::Arithmetic,
    };
    let (width, kind) = match inst.ty {
        Ty::Int { bits: 64, .. } => (64, Result_::Pair),
        Ty::Int { bits: 16, .. } => (16, Result_::Halves),
        Ty::Int { bits: 8, .. } => (8, Result_::Halves),
        _ => (32, Result_::Word),
    };
    let a = int_source(bits, 0, inst.ty)?;
    let mut count = source(bits, 1, false)?;
    count.select = count_lanes(bits.get(BYTES1), width)?;
    let mut b = source(bits, 2, width == 64)?;
    b.not = bits.has(NOT2);
    inst.op = Op::ShiftLogic { shift, logic, not_result: bits.has(NOT_RESULT) };
    inst.sources = vec![a, count, b];
    dest(inst, bits, kind)
}

/// Opcode 0x90, and the one of two sources.
pub(super) fn convert(inst: &mut Inst, code: Code, bits: Bits) -> Result<(), Refused> {
    if code == Code::FloatsToHalves {
        let f = |i| float_source(bits, i, Ty::F32, false);
        inst.sources = vec![f(0)?, f(1)?];
        inst.op = Op::FloatsToHalves { round: round(bits.get(ROUND))?, clamp: clamp(bits) };
        return dest(inst, bits, Result_::Halves);
    }
    // What is left converts each element of one source.
    let float = |select| -> Result<Source, Refused> {
        let mut a = float_source(bits, 0, Ty::F32, false)?;
        a.select = select;
        Ok(a)
    };
    let bytes = |select| -> Result<Source, Refused> {
        let mut a = source(bits, 0, false)?;
        a.select = select;
        Ok(a)
    };
    let ties = || round(bits.get(ROUND_TIES));
    let (op, a, is_signed, result) = match code {
        Code::HalfToFloat => {
            let a = float(one_half(bits))?;
            (Op::HalfToFloat, a, true, Result_::Word)
        }
        Code::ToInt { half, bits: width, signed } => {
            let (select, result) = match (half, width) {
                (false, _) => (Select::Whole, Result_::Word),
                (true, 16) => (halves(bits.get(HALVES0)), Result_::Halves),
                (true, _) => (one_half(bits), Result_::Word),
            };
            let op = Op::ToInt { half, bits: width, signed, round: ties()? };
            (op, float(select)?, signed, result)
        }
        Code::ToFloat { bits: width, half, signed } => {
            let a = match (width, half) {
                (8, true) => bytes(two_bytes(bits))?,
                (8, false) => part(bits, 0, bits.get(BYTE0), 1)?,
                (16, true) => bytes(int_select(bits.get(PAIRS0), 16)?)?,
                (16, false) => part(bits, 0, 2 * bits.get(HALF0), 2)?,
                _ => bytes(Select::Whole)?,
            };
            // The others are exact.
            let round = match (width, half) {
                (32, _) | (16, true) => ties()?,
                _ => Round::Even,
            };
            let result = if half { Result_::Halves } else { Result_::Word };
            (Op::ToFloat { half, signed, round }, a, signed, result)
        }
        Code::Widen { bits: width, to, signed } => match (width, to) {
            (8, 16) => (Op::Move, bytes(two_bytes(bits))?, signed, Result_::Halves),
            (8, _) => {
                let a = part(bits, 0, bits.get(BYTE0), 1)?;
                (Op::Move, a, signed, Result_::Word)
            }
            _ => {
                let a = part(bits, 0, 2 * bits.get(HALF0), 2)?;
                (Op::Move, a, signed, Result_::Word)
            }
        },
        _ => return Err(unsupported(inst.name)),
    };
    inst.ty = Ty::Int { bits: 32, signed: is_signed };
    inst.op = op;
    inst.sources = vec![a];
    dest(inst, bits, result)
}

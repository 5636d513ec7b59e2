//! Operations of the bitwise ALU. 2.6.

use super::super::inst::{
    Bitwise, Count, FirstShift, Logical, LogicalOp, Mask, Masks, Shift, ShiftOp,
};
use super::super::rule::{Refused, Rule};
use super::{Cursor, bit, code, reserved};

/// The operations of a group by its opcnt, highest phase first.
///
/// # Errors
/// Reserved bits and codes, and a group without phase 0.
pub fn read(phases: u8, cursor: &mut Cursor<'_>) -> Result<Bitwise, Refused> {
    if !bit(phases, 0) {
        return Err((Rule::BitwisePhases, format!("phases {phases:03b}")));
    }
    let shift = if bit(phases, 2) { Some(shift(cursor.next()?)?) } else { None };
    let logical = if bit(phases, 1) { Some(logical(cursor.next()?)?) } else { None };
    Ok(Bitwise { p0: masks(cursor)?, logical, shift })
}

/// Phase 0. Its bit 7 is 1 in the words of the vendor and 0 in those of the public compiler: both mean the same. 0.3.
fn masks(cursor: &mut Cursor<'_>) -> Result<Masks, Refused> {
    let byte = cursor.next()?;
    let count = match (bit(byte, 1), bit(byte, 5)) {
        (false, false) => Count::Bits,
        (false, true) => Count::Top,
        (true, false) => Count::Bypass,
        (true, true) => return code("count", 3),
    };
    let shift = match byte >> 2 & 3 {
        0 => FirstShift::Bypass,
        1 => FirstShift::Interleave,
        2 => FirstShift::Reverse,
        _ => FirstShift::Left,
    };
    let mut number = |bytes: u32| {
        (0..bytes).try_fold(0u32, |number, at| {
            Ok::<u32, Refused>(number | u32::from(cursor.next()?) << (8 * at))
        })
    };
    let mask = match (bit(byte, 4), bit(byte, 0)) {
        (false, false) => Mask::Bypass,
        (false, true) => Mask::Ones,
        (true, long) => Mask::Number(number(if long { 4 } else { 2 })?),
    };
    Ok(Masks { counts_shifted: bit(byte, 6), count, shift, mask })
}

fn logical(byte: u8) -> Result<Logical, Refused> {
    reserved(byte, 0x90, "a logical operation")?;
    if !bit(byte, 6) {
        return code("a logical operation's word", byte);
    }
    let op = match byte & 7 {
        0 => LogicalOp::Or,
        1 => LogicalOp::And,
        2 => LogicalOp::Xor,
        4 => LogicalOp::Nor,
        5 => LogicalOp::Nand,
        6 => LogicalOp::Xnor,
        7 => LogicalOp::Bypass,
        other => return code("logical operation", other),
    };
    Ok(Logical { mask_b: bit(byte, 5), mask_a: bit(byte, 3), op })
}

fn shift(byte: u8) -> Result<Shift, Refused> {
    reserved(byte, 0xc0, "a shift")?;
    let op = match byte & 7 {
        0 => ShiftOp::Left,
        1 => ShiftOp::Right,
        2 => ShiftOp::Rotate,
        3 => ShiftOp::Cps,
        4 => ShiftOp::ArithmeticTop,
        5 => ShiftOp::ArithmeticPartial,
        6 => ShiftOp::ArithmeticMask,
        _ => ShiftOp::ArithmeticFirst,
    };
    Ok(Shift { predicate: bit(byte, 5), tests_count: bit(byte, 4), not_zero: bit(byte, 3), op })
}

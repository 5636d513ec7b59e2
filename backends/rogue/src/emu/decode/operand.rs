//! Source and destination words. 1.2, 1.4.

use super::super::constant;
use super::super::inst::{File, Register};
use super::super::rule::{Refused, Rule};
use super::{Cursor, bit, code, reserved};

/// Three sources and, of a lower word, which one is the external feedthrough.
pub struct Word {
    /// S0 to S2, or S3 to S5.
    pub sources: [Register; 3],
    /// The number of a source.
    pub external: u8,
}

/// Bank and index of one operand.
#[derive(Copy, Clone, Default)]
struct Raw {
    bank: u8,
    index: u16,
}

/// A lower word (S0 to S2, with the multiplexer) or an upper one (S3 to S5).
///
/// # Errors
/// Reserved bits, banks or registers.
pub fn source_word(cursor: &mut Cursor<'_>, lower: bool) -> Result<Word, Refused> {
    let mut raw = [Raw::default(); 3];
    let mut mux = 0;
    let first = cursor.next()?;
    raw[0] = Raw { bank: first >> 6 & 1, index: u16::from(first & 63) };
    if bit(first, 7) {
        let second = cursor.next()?;
        match (bit(second, 7), bit(second, 6)) {
            (false, false) => mux = one_long(cursor, second, lower, &mut raw[0])?,
            (true, false) => {
                raw[1] = Raw { bank: second >> 5 & 1, index: u16::from(second & 31) };
            }
            (two, true) => mux = several(cursor, second, two, lower, &mut raw)?,
        }
    }
    let external = match mux {
        0 => 0,
        1 => 3,
        2 => 4,
        3 => 5,
        4 => 1,
        5 => 2,
        other => return code("external feedthrough", other),
    };
    let mut sources = [Register::Constant(0); 3];
    for (source, raw) in sources.iter_mut().zip(raw) {
        *source = register(raw)?;
    }
    Ok(Word { sources, external })
}

/// The form of three bytes with one operand; gives the multiplexer.
fn one_long(cursor: &mut Cursor<'_>, second: u8, lower: bool, a: &mut Raw) -> Result<u8, Refused> {
    let third = cursor.next()?;
    if !lower {
        reserved(second, 0x30, "an upper source word")?;
    }
    reserved(third, 0xf8, "a source word")?;
    a.bank |= (second >> 2 & 3) << 1;
    a.index |= u16::from(second & 3) << 6 | u16::from(third & 7) << 8;
    Ok(second >> 4 & 3)
}

/// The forms of two operands in three and four bytes, and of three; gives the multiplexer.
fn several(
    cursor: &mut Cursor<'_>,
    second: u8,
    two: bool,
    lower: bool,
    raw: &mut [Raw; 3],
) -> Result<u8, Refused> {
    let third = cursor.next()?;
    let longer = bit(third, 7);
    raw[0].bank |= (third >> 4 & 1) << 1;
    raw[0].index |= u16::from(third >> 2 & 1) << 6;
    raw[1].bank = second >> 5 & 1 | (third >> 3 & 1) << 1;
    raw[1].index = u16::from(second & 31) | u16::from(third & 3) << 5;
    let mut mux = third >> 5 & 3;
    if two {
        if longer {
            let fourth = cursor.next()?;
            reserved(fourth, 0x04, "a source word")?;
            mux |= (fourth >> 4 & 1) << 2;
            high(fourth, raw);
            raw[0].index |= u16::from(fourth >> 5) << 8;
        }
    } else {
        let fourth = cursor.next()?;
        raw[2] = Raw { bank: fourth >> 6, index: u16::from(fourth & 63) };
        if longer {
            let fifth = cursor.next()?;
            if !lower {
                reserved(fifth, 0x80, "an upper source word")?;
            }
            raw[2].bank |= (fifth >> 7) << 2;
            raw[2].index |= u16::from(fifth >> 5 & 3) << 6;
            mux |= (fifth >> 4 & 1) << 2;
            high(fifth, raw);
            if bit(fifth, 2) {
                let sixth = cursor.next()?;
                reserved(sixth, if lower { 0xc0 } else { 0xf8 }, "a source word")?;
                raw[2].index |= u16::from(sixth >> 3 & 7) << 8;
                raw[0].index |= u16::from(sixth & 7) << 8;
            }
        }
    }
    if !lower && mux != 0 {
        return Err((Rule::Reserved, "a multiplexer in an upper source word".into()));
    }
    Ok(mux)
}

/// The bits 3, 1 and 0 of a last byte: the third bank bit of A and the eighth bits of both indices.
fn high(byte: u8, raw: &mut [Raw; 3]) {
    raw[0].bank |= (byte >> 3 & 1) << 2;
    raw[0].index |= u16::from(byte >> 1 & 1) << 7;
    raw[1].index |= u16::from(byte & 1) << 7;
}

/// The destination words, which exist where a port is written.
///
/// # Errors
/// Reserved bits, banks or registers.
pub fn destinations(
    cursor: &mut Cursor<'_>,
    written: [bool; 2],
) -> Result<[Option<Register>; 2], Refused> {
    match written {
        [false, false] => Ok([None, None]),
        [true, false] => Ok([Some(register(one(cursor)?)?), None]),
        [false, true] => Ok([None, Some(register(one(cursor)?)?)]),
        [true, true] => {
            let [first, second] = both(cursor)?;
            Ok([Some(register(first)?), Some(register(second)?)])
        }
    }
}

fn one(cursor: &mut Cursor<'_>) -> Result<Raw, Refused> {
    let first = cursor.next()?;
    let mut raw = Raw { bank: first >> 6 & 1, index: u16::from(first & 63) };
    if bit(first, 7) {
        let second = cursor.next()?;
        reserved(second, 0x80, "a destination word")?;
        raw.bank |= (second >> 2 & 3) << 1;
        raw.index |= u16::from(second & 3) << 6 | u16::from(second >> 4 & 7) << 8;
    }
    Ok(raw)
}

fn both(cursor: &mut Cursor<'_>) -> Result<[Raw; 2], Refused> {
    let (first, second) = (cursor.next()?, cursor.next()?);
    let mut raw = [
        Raw { bank: first >> 7, index: u16::from(first & 127) },
        Raw { bank: second >> 6 & 1, index: u16::from(second & 63) },
    ];
    if bit(second, 7) {
        let third = cursor.next()?;
        raw[0].bank |= (third >> 1 & 3) << 1;
        raw[0].index |= u16::from(third & 1) << 7;
        raw[1].bank |= (third >> 5 & 3) << 1;
        raw[1].index |= u16::from(third >> 3 & 3) << 6;
        if bit(third, 7) {
            let fourth = cursor.next()?;
            reserved(fourth, 0xc0, "a destination word")?;
            raw[0].index |= u16::from(fourth & 7) << 8;
            raw[1].index |= u16::from(fourth >> 3 & 7) << 8;
        }
    }
    Ok(raw)
}

/// What bank and index name. 1.2, 3.1.
fn register(Raw { bank, index }: Raw) -> Result<Register, Refused> {
    Ok(match bank {
        0 => return special(index),
        1 => Register::File(File::Temp, index),
        2 => Register::File(File::VertexIn, index),
        3 => Register::File(File::Coefficient, index),
        4 => Register::File(File::Shared, index),
        5 => return Err((Rule::Register, "the second view of coefficients".into())),
        _ => return relative(bank - 6, index),
    })
}

fn special(index: u16) -> Result<Register, Refused> {
    if let Some(bits) = constant::bits(index) {
        return Ok(Register::Constant(bits));
    }
    Ok(match index {
        32..=35 => Register::File(File::PixelOut, index - 32),
        164..=167 => Register::File(File::PixelOut, index - 160),
        36..=43 => Register::Internal((index - 36) as u8),
        104..=111 => Register::Global((index - 104) as u8),
        44..=63 | 96..=98 | 100..=103 | 112 | 114..=127 | 160 => Register::Special(index as u8),
        _ => return Err((Rule::Register, format!("special register {index}"))),
    })
}

fn relative(index: u8, bits: u16) -> Result<Register, Refused> {
    let offset = bits >> 3;
    let file = match bits & 7 {
        0 => File::Temp,
        1 => File::VertexIn,
        2 => File::Coefficient,
        3 => File::Shared,
        7 => File::PixelOut,
        5 if offset == 0 => return Ok(Register::Index(index)),
        5 => return Err((Rule::Reserved, "an offset of an index register".into())),
        6 => return Err((Rule::Register, "the second view of coefficients".into())),
        _ => return code("bank of an index", (bits & 7) as u8),
    };
    Ok(Register::Relative { index, file, offset })
}

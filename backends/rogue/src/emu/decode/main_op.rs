//! Operations of the main ALU, and the selection of internal sources. 1.3, 2.1.

use super::super::inst::{
    Alu, Feed, Format, Modifiers, Move, Pack, Relation, Single, Test, Type, Wide,
};
use super::super::rule::{Refused, Rule};
use super::{Cursor, bit, code, reserved};

const fn modifiers(neg: bool, abs: bool) -> Modifiers {
    Modifiers { floor: false, abs, neg }
}

/// An operation of phase 0 or 1.
///
/// # Errors
/// Reserved bits and codes.
pub fn alu(cursor: &mut Cursor<'_>) -> Result<Alu, Refused> {
    let first = cursor.next()?;
    Ok(match first >> 5 {
        op @ 0..=3 => Alu::Float {
            product: op >= 2,
            low: op & 1 == 1,
            saturate: bit(first, 4),
            modifiers: [
                Modifiers { floor: bit(first, 0), abs: bit(first, 2), neg: bit(first, 3) },
                modifiers(false, bit(first, 1)),
            ],
        },
        4 => return single(cursor, first),
        5 => return short(cursor, first),
        6 => {
            let second = if bit(first, 4) { cursor.next()? } else { 0 };
            reserved(second, 0xe0, "a multiply-add")?;
            Alu::Mad {
                low: bit(second, 4),
                saturate: bit(first, 0),
                modifiers: [
                    modifiers(bit(first, 3), bit(first, 2)),
                    modifiers(bit(second, 2), bit(second, 3)),
                    Modifiers { floor: bit(second, 1), abs: bit(second, 0), neg: bit(first, 1) },
                ],
            }
        }
        _ => {
            let second = if bit(first, 4) { cursor.next()? } else { 0 };
            reserved(second, 0x88, "an integer operation")?;
            let op = match first & 3 {
                0 => Wide::Add64By32,
                1 => Wide::Add64,
                2 => Wide::Mad32,
                _ => Wide::Mad64,
            };
            Alu::Wide {
                op,
                signed: bit(first, 3),
                carry: bit(second, 6),
                modifiers: [
                    modifiers(bit(second, 4), bit(second, 2)),
                    modifiers(bit(second, 5), bit(second, 1)),
                    modifiers(bit(first, 2), bit(second, 0)),
                ],
            }
        }
    })
}

/// Operations of one operand, with packing and reduction among their codes.
fn single(cursor: &mut Cursor<'_>, first: u8) -> Result<Alu, Refused> {
    let number = first & 15;
    let extended = bit(first, 4);
    if matches!(number, 12 | 13) && !extended {
        return code("an operation without its second byte:", number);
    }
    let second = if extended { cursor.next()? } else { 0 };
    if number == 12 {
        let Some(format) = Format::from_number(second & 31) else {
            return code("format", second & 31);
        };
        return Ok(Alu::Unpack { format, element: second >> 6, flag: bit(second, 5) });
    }
    let modifiers = modifiers(bit(second, 1), bit(second, 0));
    if number == 13 {
        return Ok(Alu::Reduce {
            second: bit(second, 7),
            iteration: second >> 4 & 7,
            cosine: bit(second, 3),
            predicate: bit(second, 2),
            modifiers,
        });
    }
    reserved(second, if number == 6 { 0xf8 } else { 0xfc }, "an operation of one operand")?;
    let op = match number {
        0 => Single::Rcp,
        1 => Single::Rsq,
        2 => Single::Log,
        3 => Single::Exp,
        4 => Single::F16Sop,
        5 => Single::LogCn,
        6 if bit(second, 2) => Single::GammaExpand,
        6 => Single::GammaCompress,
        7 => Single::Bypass,
        8 => Single::Dsx,
        9 => Single::Dsy,
        10 => Single::DsxFine,
        11 => Single::DsyFine,
        14 => Single::Sinc,
        _ => Single::ArcTanC,
    };
    Ok(Alu::Single(op, modifiers))
}

/// Integers of 8 and 16 bits: what their fields mean is public only by name. 2.5.
fn short(cursor: &mut Cursor<'_>, first: u8) -> Result<Alu, Refused> {
    let mut fields = u32::from(first);
    if bit(first, 4) {
        let second = cursor.next()?;
        fields |= u32::from(second) << 8;
        if bit(second, 6) {
            let third = cursor.next()?;
            reserved(third, 0xf0, "a short integer operation")?;
            fields |= u32::from(third) << 16;
        }
    }
    Ok(Alu::Short { op: first >> 2 & 3, half: bit(first, 0), fields })
}

/// The operations of phase 2, any of which may be absent.
#[derive(Default)]
pub struct PhaseTwo {
    /// Pack.
    pub pack: Option<Pack>,
    /// Test.
    pub test: Option<Test>,
    /// Move.
    pub mov: Option<Move>,
}

/// Move, test and pack in this order, as far as the end bit says. 1.1.
///
/// # Errors
/// Reserved bits and codes, and an end bit that is missing.
pub fn phase_two(cursor: &mut Cursor<'_>) -> Result<PhaseTwo, Refused> {
    let mut phase = PhaseTwo::default();
    let missing = || (Rule::PhaseEnd, "phase 2 goes on, and nothing of it follows".to_string());
    if cursor.peek().ok_or_else(missing)? >> 5 == 6 {
        let (mov, end) = moved(cursor)?;
        phase.mov = Some(mov);
        if end {
            return Ok(phase);
        }
    }
    if cursor.peek().ok_or_else(missing)? >> 5 == 7 {
        let (test, end) = tested(cursor)?;
        phase.test = Some(test);
        if end {
            return Ok(phase);
        }
    }
    if cursor.peek() != Some(0x9c) {
        return Err(missing());
    }
    cursor.next()?;
    let second = cursor.next()?;
    let Some(format) = Format::from_number(second & 31) else {
        return code("format", second & 31);
    };
    phase.pack = Some(Pack {
        programmed: bit(second, 7),
        toward_zero: bit(second, 6),
        scale: bit(second, 5),
        format,
    });
    Ok(phase)
}

fn moved(cursor: &mut Cursor<'_>) -> Result<(Move, bool), Refused> {
    let first = cursor.next()?;
    let taken = [feed(first & 3), feed(first >> 2 & 3)];
    if !bit(first, 4) {
        return Ok((Move { taken, mask: 15, always: false }, false));
    }
    let second = cursor.next()?;
    reserved(second, 0xc0, "a move")?;
    Ok((Move { taken, mask: second >> 2 & 15, always: bit(second, 1) }, bit(second, 0)))
}

fn tested(cursor: &mut Cursor<'_>) -> Result<(Test, bool), Refused> {
    let first = cursor.next()?;
    let second = if bit(first, 4) { cursor.next()? } else { 0 };
    reserved(second, 0x02, "a test")?;
    let number = first >> 1 & 7 | (second & 1) << 3;
    let relation = match number {
        0 => Relation::Zero,
        1 => Relation::Positive,
        2 => Relation::NotNegative,
        3 => Relation::Carry,
        4 => Relation::Equal,
        5 => Relation::Greater,
        6 => Relation::GreaterEqual,
        7 => Relation::NotEqual,
        8 => Relation::Less,
        9 => Relation::LessEqual,
        other => return code("test", other),
    };
    let kind = match second >> 5 {
        0 => Type::F32,
        1 => Type::U16,
        2 => Type::S16,
        3 => Type::U8,
        4 => Type::S8,
        5 => Type::U32,
        6 => Type::S32,
        other => return code("type of a test", other),
    };
    let test = Test { relation, kind, element: second >> 2 & 3, predicate: bit(first, 0) };
    Ok((test, bit(second, 4)))
}

const fn feed(number: u8) -> Feed {
    match number {
        0 => Feed::Ft0,
        1 => Feed::Ft1,
        2 => Feed::Ft2,
        _ => Feed::Fte,
    }
}

/// The selection of internal sources.
pub struct Select {
    /// IS1 and IS2.
    pub tested: [Feed; 2],
    /// IS3.
    pub packed: Feed,
    /// IS4 and IS5.
    pub defaults: [Feed; 2],
}

/// The byte of internal sources. 1.3.
///
/// # Errors
/// A reserved value.
pub fn select(byte: u8) -> Result<Select, Refused> {
    let packed = match byte >> 2 & 3 {
        0 => Feed::Ft0,
        1 => Feed::Ft1,
        3 => Feed::Fte,
        other => return code("internal source 3:", other),
    };
    Ok(Select {
        tested: [
            if bit(byte, 0) { Feed::Fte } else { Feed::Ft0 },
            if bit(byte, 1) { Feed::Fte } else { Feed::Ft1 },
        ],
        packed,
        defaults: [feed(byte >> 4 & 3), feed(byte >> 6)],
    })
}

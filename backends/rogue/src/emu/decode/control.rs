//! Control groups. 2.7.

use super::super::inst::{Conditional, Control, Deciding, Group, Iterate, Kind, Mode, When};
use super::super::rule::{Refused, Rule};
use super::{Cursor, Header, assist, bit, code, group, operand, reserved};

/// The rest of a control group.
///
/// # Errors
/// Reserved bits and codes, and ports that the operation lacks.
pub fn read(header: &Header, cursor: &mut Cursor<'_>) -> Result<Group, Refused> {
    let op = operation(header, cursor)?;
    if header.top && !matches!(op, Control::Wait(_) | Control::Nop) {
        return Err((Rule::Reserved, "the top bit of a control group's header".into()));
    }
    let conditional = matches!(op, Control::Conditional { .. });
    let written = conditional || op == Control::SaveLink;
    if header.writes != [written, false] {
        return Err((Rule::ControlPorts, format!("write ports {:?}", header.writes)));
    }
    let counted = if conditional || written { cursor.at } else { 0 };
    assist(header, counted)?;
    let words = if conditional {
        let lower = operand::source_word(cursor, true)?;
        Some((lower, operand::source_word(cursor, false)?))
    } else {
        None
    };
    let writes = operand::destinations(cursor, header.writes)?;
    Ok(group(header, words, writes, Kind::Control(op)))
}

fn operation(header: &Header, cursor: &mut Cursor<'_>) -> Result<Control, Refused> {
    Ok(match header.op {
        0 => return branch(cursor),
        1 => Control::Return,
        2 => Control::SaveLink,
        3 => return conditional(cursor),
        4 => Control::WaitOutputs,
        5 => Control::Wait(u8::from(header.top)),
        6 => {
            let byte = cursor.next()?;
            reserved(byte, 0x30, "a mutex")?;
            Control::Mutex { op: byte >> 6, id: byte & 15 }
        }
        7 => {
            // The page's form without this byte is a reading of bytes that have it (9.1).
            reserved(cursor.next()?, 0xff, "a group without an operation")?;
            Control::Nop
        }
        8 => return iterate_sample(cursor),
        11 => {
            let (first, second) = (cursor.next()?, cursor.next()?);
            reserved(second, 0xfe, "a store offset")?;
            Control::StoreOffset { shared: bit(first, 0), offset: first >> 1 | second << 7 }
        }
        12 => return iterate(cursor),
        other => return code("control operation", other),
    })
}

fn branch(cursor: &mut Cursor<'_>) -> Result<Control, Refused> {
    let first = cursor.next()?;
    reserved(first, 0xe1, "a branch")?;
    let deciding = match first >> 2 & 3 {
        0 => Deciding::Condition,
        1 => Deciding::All,
        2 => Deciding::Any,
        other => return code("condition of a branch", other),
    };
    let mut offset = 0u32;
    for at in 0..4 {
        offset |= u32::from(cursor.next()?) << (8 * at);
    }
    if offset & 1 == 1 {
        return Err((Rule::Reserved, "bit 0 of a branch's offset".into()));
    }
    Ok(Control::Branch {
        link: bit(first, 4),
        deciding,
        absolute: bit(first, 1),
        offset: offset as i32,
    })
}

fn conditional(cursor: &mut Cursor<'_>) -> Result<Control, Refused> {
    let byte = cursor.next()?;
    reserved(byte, 0x80, "a mask operation")?;
    let op = match byte & 7 {
        0 => Conditional::Start,
        1 => Conditional::Else,
        2 => Conditional::Set,
        3 => Conditional::Loop,
        4 => Conditional::End,
        5 => Conditional::SetLinkB,
        6 => Conditional::LoopLink,
        _ => Conditional::SetLinkA,
    };
    let when = match byte >> 3 & 3 {
        0 => When::Always,
        1 => When::IfTrue,
        2 => When::Never,
        _ => When::IfFalse,
    };
    Ok(Control::Conditional { op, when, adjust: byte >> 5 & 3 })
}

fn mode(number: u8) -> Result<Mode, Refused> {
    Ok(match number {
        0 => Mode::Pixel,
        1 => Mode::Sample,
        2 => Mode::Centroid,
        other => return code("mode of an iterator", other),
    })
}

fn iterate(cursor: &mut Cursor<'_>) -> Result<Control, Refused> {
    let mut bytes = [0; 5];
    for byte in &mut bytes {
        *byte = cursor.next()?;
    }
    let [destination, first, second, third, fourth] = bytes;
    reserved(fourth, 0xb0, "an iterator")?;
    let indices = [third >> 2 & 3, third & 3];
    if indices.contains(&3) {
        return code("index of an iterator", 3);
    }
    let schedule = fourth >> 2 & 3;
    if schedule == 3 {
        return code("schedule of an iterator", 3);
    }
    Ok(Control::Iterate(Iterate {
        destination,
        coefficient: first & 0xfc,
        reciprocal: second & 0xfc,
        perspective: first & 3,
        mode: mode(second & 3)?,
        count: match third >> 4 {
            0 => 16,
            count => count,
        },
        indices,
        half: bit(fourth, 6),
        schedule,
        drc: fourth >> 1 & 1,
        saturate: bit(fourth, 0),
    }))
}

/// The bits of iterate-and-sample: its extensions are two more bytes, the second of which says whether there is a third.
fn iterate_sample(cursor: &mut Cursor<'_>) -> Result<Control, Refused> {
    let mut bytes = [0; 8];
    for byte in &mut bytes[..6] {
        *byte = cursor.next()?;
    }
    let mut count = 6;
    if bit(bytes[5], 7) {
        bytes[6] = cursor.next()?;
        count = 7;
        reserved(bytes[6], 0x03, "iterate-and-sample")?;
        if bit(bytes[6], 7) {
            bytes[7] = cursor.next()?;
            count = 8;
            reserved(bytes[7], 0xe0, "iterate-and-sample")?;
        }
    }
    Ok(Control::IterateSample { bytes, count })
}

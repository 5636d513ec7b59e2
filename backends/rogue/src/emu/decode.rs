//! Bytes to groups. 1.1 to 1.4.

mod backend;
mod bitwise;
mod control;
mod main_op;
mod operand;

use super::inst::{Condition, Group, Kind, Main, Register};
use super::rule::{Refused, Rule, Trap};

/// Bytes that are read one by one.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// The next byte.
    fn next(&mut self) -> Result<u8, Refused> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(|| (Rule::Length, "the group is longer than its length says".into()))
    }

    /// The next byte, which stays.
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

/// Refuses a byte that has one of these bits.
fn reserved(byte: u8, bits: u8, what: &str) -> Result<(), Refused> {
    match byte & bits {
        0 => Ok(()),
        set => Err((Rule::Reserved, format!("bits {set:#04x} of byte {byte:#04x}, {what}"))),
    }
}

/// A field's value that none has.
fn code<T>(what: &str, value: u8) -> Result<T, Refused> {
    Err((Rule::Code, format!("{what} {value}")))
}

/// A bit of a byte.
const fn bit(byte: u8, at: u8) -> bool {
    byte >> at & 1 == 1
}

/// The kind of a group, from its header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Alu {
    Main,
    Bitwise,
    Control,
}

/// A header. 1.1.
struct Header {
    assist: u8,
    length: usize,
    alu: Alu,
    /// oporg or opcnt.
    phases: u8,
    checked: bool,
    writes: [bool; 2],
    condition: Condition,
    /// end or miscctl.
    top: bool,
    atomic: bool,
    repeat: u8,
    /// ctrlop.
    op: u8,
}

impl Header {
    fn read(cursor: &mut Cursor<'_>) -> Result<Header, Refused> {
        let (first, second) = (cursor.next()?, cursor.next()?);
        let extended = bit(second, 7);
        let third = if extended { cursor.next()? } else { 0 };
        let alu = match third >> 5 & 3 {
            0 => Alu::Main,
            2 => Alu::Bitwise,
            3 => Alu::Control,
            other => return code("kind of group", other),
        };
        let low = second & 1;
        let condition = match (third & 1, low) {
            (0, 0) => Condition::Executing,
            (0, _) => Condition::IfTrue,
            (_, 0) => Condition::Always,
            _ => Condition::IfFalse,
        };
        let control = alu == Alu::Control;
        if control {
            reserved(second, 0x70, "a control group's header")?;
        } else {
            reserved(third, 0x10, "a header")?;
        }
        let length = match first & 15 {
            0 => 16,
            words => usize::from(words),
        };
        Ok(Header {
            assist: first >> 4,
            length: 2 * length,
            alu,
            phases: second >> 4 & 7,
            checked: bit(second, 3),
            writes: [bit(second, 1), bit(second, 2)],
            condition,
            top: bit(third, 7),
            atomic: !control && bit(third, 3),
            repeat: if control { 1 } else { 1 + (third >> 1 & 3) },
            op: third >> 1 & 15,
        })
    }
}

/// One group at the start of bytes; what follows it is not looked at.
///
/// # Errors
/// The rule that its bytes break. Rules of what it means are [`super::check`]'s.
pub fn decode(bytes: &[u8]) -> Result<Group, Refused> {
    let truncated = || (Rule::Truncated, format!("{} bytes are left", bytes.len()));
    let first = *bytes.first().ok_or_else(truncated)?;
    let length = match first & 15 {
        0 => 32,
        words => 2 * usize::from(words),
    };
    let bytes = bytes.get(..length).ok_or_else(truncated)?;
    let mut cursor = Cursor { bytes, at: 0 };
    let header = Header::read(&mut cursor)?;
    let group = match header.alu {
        Alu::Main => read_main(&header, &mut cursor),
        Alu::Bitwise => read_bitwise(&header, &mut cursor),
        Alu::Control => control::read(&header, &mut cursor),
    }?;
    padding(&cursor)?;
    Ok(group)
}

/// What stands behind the last byte that means something. 1.1.
fn padding(cursor: &Cursor<'_>) -> Result<(), Refused> {
    let all = &cursor.bytes[cursor.at.min(cursor.bytes.len())..];
    let wrong = || (Rule::Padding, format!("{all:02x?}"));
    let mut rest = all;
    if cursor.at % 2 == 1 {
        rest = match rest.split_first() {
            Some((0xff, rest)) => rest,
            _ => return Err(wrong()),
        };
    }
    let Some((first, others)) = rest.split_first() else { return Ok(()) };
    let words = rest.len() / 2;
    if usize::from(*first) != 0xf0 + words || others.iter().any(|byte| *byte != 0xff) {
        return Err(wrong());
    }
    Ok(())
}

/// Compares the decode assist with the bytes that it counts.
fn assist(header: &Header, counted: usize) -> Result<(), Refused> {
    if usize::from(header.assist) == counted {
        return Ok(());
    }
    Err((Rule::DecodeAssist, format!("{} where {counted} is right", header.assist)))
}

/// The phases of a main group's oporg: 0, 1, 2 and the backend. 1.1.
const fn phases(oporg: u8) -> [bool; 4] {
    match oporg {
        0 => [true, false, false, false],
        1 => [false, false, true, false],
        2 => [false, false, false, true],
        3 => [true, true, false, false],
        4 => [true, false, true, false],
        5 => [true, true, true, false],
        6 => [true, false, true, true],
        _ => [true, true, true, true],
    }
}

fn read_main(header: &Header, cursor: &mut Cursor<'_>) -> Result<Group, Refused> {
    let [zero, one, two, last] = phases(header.phases);
    let backend = if last { Some(backend::read(cursor)?) } else { None };
    let mut phase = main_op::PhaseTwo::default();
    if two {
        phase = main_op::phase_two(cursor)?;
    }
    assist(header, cursor.at)?;
    let p1 = if one { Some(main_op::alu(cursor)?) } else { None };
    let p0 = if zero { Some(main_op::alu(cursor)?) } else { None };
    let lower = operand::source_word(cursor, true)?;
    let upper = operand::source_word(cursor, false)?;
    let select = main_op::select(cursor.next()?)?;
    let writes = operand::destinations(cursor, header.writes)?;
    let main = Main {
        p0,
        p1,
        pack: phase.pack,
        test: phase.test,
        mov: phase.mov,
        backend,
        external: lower.external,
        tested: select.tested,
        packed: select.packed,
        defaults: select.defaults,
    };
    Ok(group(header, Some((lower, upper)), writes, Kind::Main(main)))
}

fn read_bitwise(header: &Header, cursor: &mut Cursor<'_>) -> Result<Group, Refused> {
    let op = bitwise::read(header.phases, cursor)?;
    assist(header, cursor.at)?;
    let lower = operand::source_word(cursor, true)?;
    let upper = operand::source_word(cursor, false)?;
    let writes = operand::destinations(cursor, header.writes)?;
    if lower.external != 0 {
        return Err((Rule::Reserved, "an external feedthrough of a bitwise group".into()));
    }
    Ok(group(header, Some((lower, upper)), writes, Kind::Bitwise(op)))
}

fn group(
    header: &Header,
    words: Option<(operand::Word, operand::Word)>,
    writes: [Option<Register>; 2],
    kind: Kind,
) -> Group {
    let mut sources = [Register::Constant(0); 6];
    if let Some((lower, upper)) = words {
        sources[..3].copy_from_slice(&lower.sources);
        sources[3..].copy_from_slice(&upper.sources);
    }
    let control = header.alu == Alu::Control;
    let end = header.top && (!control || matches!(kind, Kind::Control(super::inst::Control::Nop)));
    Group {
        length: header.length as u8,
        condition: header.condition,
        checked: header.checked,
        end,
        atomic: header.atomic,
        repeat: header.repeat,
        sources,
        writes,
        kind,
    }
}

/// Every group of a program with its offset, from its first byte to its last.
///
/// # Errors
/// The rule that a group's bytes break.
pub fn program(bytes: &[u8]) -> Result<Vec<(u32, Group)>, Trap> {
    let mut groups = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let group =
            decode(&bytes[at..]).map_err(|(rule, detail)| Trap::new(rule, at as u32, detail))?;
        let length = usize::from(group.length);
        groups.push((at as u32, group));
        at += length;
    }
    Ok(groups)
}

//! Sources of one instruction, compared: bytes, signs, complements, widths, and which bits of them count.

use super::super::super::inst::*;
use crate::isa::fields::f;
use crate::isa::{self, Opcode, limits};
use gpucc_isa::{FieldId, Inst as Row, Kind};

/// What differs between the sources of two readings.
pub fn sources(inst: &Inst, row: &Row) -> Vec<String> {
    let mut wrong = Vec::new();
    let opcode = Opcode::of(row.op());
    // NOT_OLD is a shift of zeros for the emulator.
    let ours = match row.op().name.starts_with("NOT_OLD") {
        true => &inst.sources[2..],
        false => &inst.sources[..],
    };
    let mut listed: Vec<_> = opcode.sources().to_vec();
    listed.sort_by_key(|source| source.byte());
    if listed.len() != ours.len() {
        return vec![format!("{} sources, not {}", ours.len(), listed.len())];
    }
    for (ours, theirs) in ours.iter().zip(&listed) {
        let byte = row.get(theirs.field) as u8;
        let page = row.get(f::FAU_PAGE) as u8;
        let same = match ours.place {
            Place::Reg(reg) => byte == reg | u8::from(ours.last) << 6,
            Place::Uniform(word) => {
                byte == 0x80 | word as u8 & 63 && word == u16::from(page) * 64 + word % 64
            }
            Place::Constant(value) => {
                let listed = isa::CONSTANTS.get(usize::from(byte).wrapping_sub(0xC0));
                listed == Some(&value)
            }
            Place::Special(at, number, word) => byte == 0xE0 | number << 1 | word && at == page,
        };
        if !same {
            wrong.push(format!("source byte {byte:#04x} is {:?}", ours.place));
        }
        let i = theirs.byte();
        let flagged = |id: Option<FieldId>| id.is_some_and(|id| row.has_field(id) && row.flag(id));
        if (ours.neg, ours.abs) != (flagged(theirs.neg()), flagged(theirs.abs())) {
            wrong.push(format!("signs of source {i}"));
        }
        let not = i == 2 && row.has_field(f::NOT2) && row.flag(f::NOT2);
        if ours.not != (not || row.op().name.starts_with("NOT_OLD")) {
            wrong.push(format!("complement of source {i}"));
        }
        let field = theirs.swizzle().and_then(|id| row.op().format.field(id));
        let text = field.and_then(|field| match field.kind {
            Kind::Enum(set) => set.name_of(row.get(field.id)),
            _ => None,
        });
        let title = field.map_or("", |field| match field.kind {
            Kind::Enum(set) => set.name,
            _ => "",
        });
        // A field of one half, or a swizzle of two that v9 narrows to one.
        let one = limits::LIMITS.iter().any(|limit| {
            let same = Some(limit.field) == theirs.swizzle() && limit.rows.contains(&opcode);
            same && limit.values == 3
        });
        if !named(ours.select, title, text, one || title == "half") {
            wrong.push(format!("{:?} is {title} {text:?} of source {i}", ours.select));
        }
        let whole = ours.select == Select::Whole;
        if ours.wide != (theirs.kind.is_pair() && whole) {
            wrong.push(format!("width of source {i}"));
        }
    }
    wrong
}

/// Whether a selection is what the assembler's text calls so.
fn named(select: Select, title: &str, text: Option<&str>, one: bool) -> bool {
    let digits = |text: &str| -> Vec<u8> { text[1..].bytes().map(|b| b - b'0').collect() };
    let expected = match (title, text) {
        (_, None | Some("none")) => match select {
            // The high bytes of MKVEC.v2i8 are the third source's low half.
            Select::Integer { first: 0, width: 2 } => return text.is_none(),
            other => return other == Select::Whole,
        },
        ("widen f16", Some(text)) => Select::Float(digits(text)[0]),
        ("widen to 32" | "widen to 64" | "byte", Some(text)) => {
            let width = match &text[..1] {
                "b" => 1,
                "h" => 2,
                _ => 4,
            };
            Select::Integer { first: digits(text)[0] * width, width }
        }
        // The half that is named first; that of a float twice.
        (_, Some(text)) if one => {
            let first = 2 * digits(text)[0];
            let twice = Select::Bytes([first, first + 1, first, first + 1]);
            return select == Select::Integer { first, width: 2 } || select == twice;
        }
        ("two bytes", Some(text)) => Select::TwoBytes([digits(text)[0], digits(text)[1]]),
        ("shift count byte" | "shift count bytes" | "shift count lanes", Some(text)) => {
            let d = digits(text);
            match d[..] {
                [a, b] => Select::Bytes([a, a, b, b]),
                _ => Select::Bytes([d[0], d[1], d[2], d[3]]),
            }
        }
        (_, Some(text)) => {
            let d = digits(text);
            match (&text[..1], &d[..]) {
                ("h", &[a, b]) => Select::Bytes([2 * a, 2 * a + 1, 2 * b, 2 * b + 1]),
                ("b", &[a, b]) => Select::TwoBytes([a, b]),
                ("b", &[a, b, c, d]) => Select::Bytes([a, b, c, d]),
                _ => return false,
            }
        }
    };
    select == expected
}

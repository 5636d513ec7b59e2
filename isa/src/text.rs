//! Fields as text: `NAME(value)` for every field that a machine's own syntax does not say, and back.
//!
//! A field with its usual value is left out; a flag is its bare name, or `NO_NAME` where 1 is usual.

use crate::field::{Field, FieldId, Kind};
use crate::lex::{Cursor, Diagnostic, Token, error_at};
use crate::op::Inst;
use std::fmt::Write;

/// Appends ` NAME(value)` for every free field outside `said` whose value is not the usual one.
pub fn write_fields(out: &mut String, inst: &Inst, said: &[FieldId]) {
    for part in inst.op().format.parts {
        for field in *part {
            if field.get(inst.bits()) != field.default
                && !inst.op().is_fixed(field)
                && !said.contains(&field.id)
            {
                write_field(out, inst, field);
            }
        }
    }
}

/// Appends ` NAME(value)`, whatever the value.
pub fn write_field(out: &mut String, inst: &Inst, field: &Field) {
    let value = field.get(inst.bits());
    let result = match field.kind {
        Kind::Flag if value != 0 => write!(out, " {}", field.name),
        Kind::Flag => write!(out, " NO_{}", field.name),
        Kind::Unsigned | Kind::Select(_) => {
            write!(out, " {}({})", field.name, u64::from(value) + u64::from(field.bias))
        }
        Kind::Signed => write!(out, " {}({})", field.name, field.signed(value)),
        Kind::Fixed(places) => {
            let scaled = field.signed(value) as f64 / f64::from(1u32 << places);
            write!(out, " {}({scaled})", field.name)
        }
        Kind::Enum(set) => match set.name_of(value) {
            Some(name) => write!(out, " {}({name})", field.name),
            None => write!(out, " {}({value})", field.name),
        },
    };
    result.expect("writing to a string");
}

/// Reads one attribute, its name already taken, into `inst`.
///
/// # Errors
/// The name is no field of the instruction, or the value does not fit it.
pub fn read_field(
    cursor: &mut Cursor<'_>,
    name: Token<'_>,
    inst: &mut Inst,
) -> Result<(), Diagnostic> {
    let format = inst.op().format;
    let field = format.field_named(name.text);
    if let Some(field) = field.filter(|field| matches!(field.kind, Kind::Flag)) {
        return store(inst, field, 1, name);
    }
    if let Some(field) = field {
        cursor.expect('(')?;
        let at = cursor.peek();
        let value = read_value(cursor, field)?;
        store(inst, field, value, at)?;
        return cursor.expect(')');
    }
    let refused = name.text.strip_prefix("NO_").and_then(|name| format.field_named(name));
    if let Some(field) = refused.filter(|field| matches!(field.kind, Kind::Flag)) {
        return store(inst, field, 0, name);
    }
    Err(error_at(name, format!("{} has no field {name}", inst.op().name)))
}

fn store(
    inst: &mut Inst,
    field: &'static Field,
    value: u32,
    at: Token<'_>,
) -> Result<(), Diagnostic> {
    inst.set_field(field, value).map_err(|error| error_at(at, error.to_string()))
}

fn read_value(cursor: &mut Cursor<'_>, field: &Field) -> Result<u32, Diagnostic> {
    let at = cursor.peek();
    match field.kind {
        Kind::Enum(set) => {
            let word = cursor.word(&format!("a value of {}", field.name))?;
            set.value_of(word.text).ok_or_else(|| {
                error_at(word, format!("{word} is no value of {}: {}", field.name, choices(set)))
            })
        }
        Kind::Unsigned | Kind::Select(_) | Kind::Flag => {
            let value = cursor.number("a number")?;
            value
                .checked_sub(u32::from(field.bias))
                .ok_or_else(|| error_at(at, format!("{} is at least {}", field.name, field.bias)))
        }
        Kind::Signed => read_signed(cursor, field, 0),
        Kind::Fixed(places) => read_signed(cursor, field, places),
    }
}

fn read_signed(cursor: &mut Cursor<'_>, field: &Field, places: u8) -> Result<u32, Diagnostic> {
    let at = cursor.peek();
    let negative = cursor.eat('-');
    let word = cursor.word("a number")?;
    let Ok(value) = word.text.parse::<f64>() else {
        return Err(error_at(word, format!("expected a number, found {word}")));
    };
    let scaled = if negative { -value } else { value } * f64::from(1u32 << places);
    let limit = f64::from(2u32).powi(field.width() as i32 - 1);
    if scaled.fract() != 0.0 || !(-limit..limit).contains(&scaled) {
        let step = 1.0 / f64::from(1u32 << places);
        return Err(error_at(
            at,
            format!(
                "{} is {}..{} in steps of {step}",
                field.name,
                -limit * step,
                (limit - 1.0) * step
            ),
        ));
    }
    Ok(scaled as i64 as u32 & crate::field::low_bits(field.width()) as u32)
}

fn choices(set: &crate::field::Enum) -> String {
    let mut text = String::from("expected ");
    for (i, member) in set.members.iter().enumerate() {
        if i == 8 {
            text.push_str(", ...");
            break;
        }
        if i > 0 {
            text.push_str(", ");
        }
        text.push_str(member.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{Enum, Format, Member, Piece};
    use crate::op::{Op, OpId};

    static MODE: Enum =
        Enum::new("MODE", &[Member { value: 0, name: "OFF" }, Member { value: 2, name: "8IN32" }]);
    const FIELDS: &[Field] = &[
        Field::new(FieldId(0), "COUNT", &[Piece { hi: 3, lo: 0 }], Kind::Unsigned).minus_one(),
        Field::new(FieldId(1), "MODE", &[Piece { hi: 5, lo: 4 }], Kind::Enum(&MODE)),
        Field::new(FieldId(2), "BIAS", &[Piece { hi: 12, lo: 6 }], Kind::Fixed(4)),
        Field::new(FieldId(3), "BARRIER", &[Piece { hi: 13, lo: 13 }], Kind::Flag).usually(1),
        Field::new(FieldId(4), "LAST", &[Piece { hi: 14, lo: 14 }], Kind::Flag),
    ];
    static FORMAT: Format = Format::new("TOY", 16, 16, &[FIELDS], "made up");
    static OP: Op = Op::new(OpId(0), "TOY", &FORMAT, &[]);

    fn read(text: &str) -> Result<u128, Diagnostic> {
        let mut inst = Inst::new(&OP).with(FieldId(3), 1);
        let mut cursor = Cursor::new(text);
        while !cursor.at_end() {
            let name = cursor.word("a field")?;
            read_field(&mut cursor, name, &mut inst)?;
        }
        Ok(inst.bits())
    }

    #[test]
    fn every_value_reads_back_as_it_was_written() {
        for bits in 0..1 << 15 {
            let Ok(inst) = Inst::decode(&OP, bits) else {
                continue;
            };
            let mut text = String::new();
            write_fields(&mut text, &inst, &[]);
            assert_eq!(read(&text), Ok(bits), "{text}");
        }
    }

    #[test]
    fn usual_values_are_left_out() {
        let mut text = String::new();
        write_fields(&mut text, &Inst::new(&OP).with(FieldId(3), 1), &[]);
        assert_eq!(text, "");
        write_fields(&mut text, &Inst::new(&OP).with(FieldId(0), 4).with(FieldId(2), 127), &[]);
        assert_eq!(text, " COUNT(5) BIAS(-0.0625) NO_BARRIER");
    }

    #[test]
    fn bad_values_are_named() {
        let message = |text| read(text).expect_err("refused").message;
        assert_eq!(message("COUNT(17)"), "COUNT cannot be 16: it has 4 bits");
        assert_eq!(message("COUNT(0)"), "COUNT is at least 1");
        assert_eq!(message("MODE(ON)"), "`ON` is no value of MODE: expected OFF, 8IN32");
        assert_eq!(message("BIAS(4)"), "BIAS is -4..3.9375 in steps of 0.0625");
        assert_eq!(message("SPEED(1)"), "TOY has no field `SPEED`");
    }
}

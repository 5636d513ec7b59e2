//! Tables as Markdown: the reference that cannot go stale, because it is printed from what encodes.

use crate::field::{Format, Kind};
use crate::table::Table;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Names of the bits of [`crate::Op::units`] and [`crate::Op::flags`].
#[derive(Copy, Clone, Debug)]
pub struct Legend {
    pub units: &'static [(u16, &'static str)],
    pub flags: &'static [(u32, &'static str)],
}

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

/// Appends a section for each format: its fields by word and bit.
pub fn write_formats(out: &mut String, formats: &[&Format]) {
    for format in formats {
        put!(
            out,
            "### {}\n\n{} words of {} bits; {}.\n\n",
            format.name,
            format.words(),
            format.word_bits,
            format.cite
        );
        put!(out, "| Word | Bits | Field | Values | Usual |\n|---|---|---|---|---|\n");
        for field in format.fields() {
            let word = field.pieces[0].lo / format.word_bits;
            put!(
                out,
                "| {word} | {} | {} | {} | ",
                field.place(format.word_bits),
                field.name,
                values(field)
            );
            match field.default {
                0 => put!(out, "|\n"),
                usual => put!(out, "{usual} |\n"),
            }
        }
        out.push('\n');
    }
}

fn values(field: &crate::field::Field) -> String {
    let text = match field.kind {
        Kind::Unsigned => format!("unsigned, {} bits", field.width()),
        Kind::Signed => format!("signed, {} bits", field.width()),
        Kind::Fixed(places) => {
            format!("signed, {} bits, {places} of them binary places", field.width())
        }
        Kind::Flag => "flag".into(),
        Kind::Enum(set) => {
            let anchor = set.name.to_lowercase().replace(' ', "-");
            format!("[{}](#{anchor})", set.name)
        }
        Kind::Select(spans) => {
            let spans: Vec<String> = spans
                .iter()
                .map(|span| format!("{}-{} {}", span.first, span.last, span.name))
                .collect();
            spans.join(", ")
        }
    };
    if field.bias == 0 {
        text
    } else {
        format!("{text}; the text says the value plus {}", field.bias)
    }
}

/// Appends the enums that the formats use, in the order of their first use.
pub fn write_enums(out: &mut String, formats: &[&Format]) {
    let mut seen = BTreeSet::new();
    for field in formats.iter().flat_map(|format| format.fields()) {
        let Kind::Enum(set) = field.kind else {
            continue;
        };
        if !seen.insert(set.name) {
            continue;
        }
        let members: Vec<String> =
            set.members.iter().map(|member| format!("{} {}", member.value, member.name)).collect();
        put!(out, "### {}\n\n{}.\n\n", set.name, members.join(", "));
    }
}

/// Columns of a line of prose.
const COLUMNS: usize = 100;

/// Appends an item of a list, in lines of at most 100 columns.
pub fn write_item(out: &mut String, text: &str) {
    let mut column = 1;
    out.push('-');
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column + 1 + width > COLUMNS {
            out.push_str("\n ");
            column = 1;
        }
        put!(out, " {word}");
        column += 1 + width;
    }
    out.push('\n');
}

/// Appends one table: a row an instruction.
pub fn write_table(out: &mut String, table: &Table, legend: Legend) {
    put!(
        out,
        "| Instruction | Format | Opcode | Sources | Units | Properties | Also called | Defined |\n"
    );
    put!(out, "|---|---|---|---|---|---|---|---|\n");
    for op in table.rows() {
        let fixed: Vec<String> = op
            .format
            .fields()
            .filter(|field| op.is_fixed(field))
            .map(|field| format!("{} {}", field.name, field.get(op.bits)))
            .collect();
        let units: Vec<&str> = legend
            .units
            .iter()
            .filter(|(bit, _)| op.units & bit != 0)
            .map(|(_, name)| *name)
            .collect();
        let flags: Vec<&str> =
            legend.flags.iter().filter(|(bit, _)| op.has(*bit)).map(|(_, name)| *name).collect();
        put!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            op.name,
            op.format.name,
            fixed.join(", "),
            op.sources,
            units.join(", "),
            flags.join(", "),
            op.aliases.join(", "),
            op.cite
        );
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, write_item};

    #[test]
    fn an_item_goes_on_in_the_next_line_behind_the_last_column() {
        let item = |text: &str| {
            let mut out = String::new();
            write_item(&mut out, text);
            out
        };
        let full = "a".repeat(COLUMNS - "- ".len());
        assert_eq!(item(&full), format!("- {full}\n"));
        assert_eq!(item(&format!("{full} b c")), format!("- {full}\n  b c\n"));
    }
}

//! Two readings of one description, checked against each other by random words: the emulator's table and decoder, and
//! the assembler's table with its limits and rules. What is reserved is reserved for both, and what both read is the same
//! instruction with the same fields.

mod facts;
mod sources;

use super::super::decode::{CONSTANTS, decode_word};
use super::super::inst::Inst;
use super::super::pixel;
use super::super::rule::Rule;
use super::super::table::{self, Bits, FORMS, Form};
use crate::isa::fields::f;
use crate::isa::ops::{OPS, flag};
use crate::isa::{self, TABLE, limits, rules};
use crate::state;
use gpucc_emu::format::{Format, VertexFormat};
use gpucc_ir::ssa::random::Rng;
use gpucc_isa::{FieldId, Inst as Row, Kind};
use std::collections::{BTreeMap, BTreeSet};

/// Words of each row and form.
const WORDS: usize = 600;

/// A word of a row of the assembler's, with random fields: most of them as the table has them.
fn of_row(random: &mut Rng, op: &'static gpucc_isa::Op) -> u64 {
    let mut bits = op.bits;
    for field in op.format.fields().filter(|field| !op.is_fixed(field)) {
        let any = random.bits() as u32 & gpucc_isa::field::low_bits(field.width()) as u32;
        let value = match (field.kind, random.below(8)) {
            (_, 1..=3) => field.default,
            (Kind::Enum(set), 4..) => set.members[random.below(set.members.len())].value,
            _ => any,
        };
        bits = field.put(bits, value);
    }
    bits as u64
}

/// A word of a form of the emulator's.
fn of_form(random: &mut Rng, form: &Form) -> u64 {
    let (mask, value) = form.fixed();
    let mut word = value;
    for field in form.fields.iter().chain(&[table::PAGE, table::FLOW]) {
        if mask >> field.at & 1 == 1 {
            continue;
        }
        let any = random.bits() as u32 & (((1u64 << field.width) - 1) as u32);
        let allowed: Vec<u32> = match field.width {
            0..=5 => (0..1 << field.width).filter(|v| field.values >> v & 1 == 1).collect(),
            _ => vec![any & !1, 0, any],
        };
        let value = match (field.at, random.below(8)) {
            (57, 1..) => 0,
            (_, 0) => any,
            _ => allowed[random.below(allowed.len())],
        };
        word |= u64::from(value) << field.at;
    }
    word
}

/// Words to ask both about: of every row, of every form, of neither, one in eight with a bit changed.
fn words() -> impl Iterator<Item = u64> {
    let mut random = Rng::new(1);
    let rows = OPS.iter().flat_map(|op| std::iter::repeat_n(Some(op), WORDS));
    let rows: Vec<u64> = rows.flatten().map(|op| of_row(&mut random, op)).collect();
    let forms = FORMS.iter().flat_map(|form| std::iter::repeat_n(form, WORDS));
    let forms: Vec<u64> = forms.map(|form| of_form(&mut random, form)).collect();
    let any: Vec<u64> = (0..100_000).map(|_| random.bits()).collect();
    rows.into_iter().chain(forms).chain(any).map(move |word| {
        let flip = 1 << random.below(64);
        if random.below(8) == 0 { word ^ flip } else { word }
    })
}

/// The assembler's reading of a word as one of v9.
fn theirs(word: u64) -> Result<Row, String> {
    let row = TABLE.decode(u128::from(word)).map_err(|error| error.to_string())?;
    if row.op().flags & flag::FOREIGN != 0 {
        return Err(format!("{} is foreign", row.op().name));
    }
    limits::check(&row).map_err(|error| error.to_string())?;
    Ok(row)
}

/// What the assembler's side has of rules for one instruction.
fn their_rules(row: &Row) -> Result<(), String> {
    limits::relations(row).map_err(|error| error.to_string())?;
    rules::check(row).map_err(|error| error.to_string())
}

#[test]
fn what_is_reserved_is_reserved_for_both() {
    let mut wrong = BTreeMap::new();
    let (mut taken, mut refused) = (0, 0);
    for word in words() {
        match (table::find(word), theirs(word)) {
            (Ok(_), Ok(_)) => taken += 1,
            (Err(_), Err(_)) => refused += 1,
            (Ok(form), Err(error)) => {
                wrong.insert(format!("{}: {error}", form.name), word);
            }
            (Err((_, detail)), Ok(row)) => {
                wrong.insert(format!("{}: {detail}", row.op().name), word);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#018x?}");
    assert!(taken > 100_000 && refused > 100_000, "{taken} {refused}");
}

/// Arm's name of what the assembler's row is; shifts and scales are one row of the emulator's for several.
fn same_operation(form: &Form, row: &Row) -> bool {
    let theirs = row.op().cite;
    match form.code {
        table::Code::ShiftLogic => {
            let (_, suffix) = form.name.split_once('.').expect("a type");
            theirs.ends_with(suffix) && theirs.contains('_')
        }
        table::Code::FmaRscale => theirs == "FMA_RSCALE.f32",
        table::Code::CmpXchg(bytes) => theirs == format!("ATOM_RETURN.i{}", 8 * bytes),
        _ => theirs == form.name || form.name.starts_with("FMA_RSCALE"),
    }
}

/// Rules of the emulator's for which the assembler has none. It reads foreign programs, whose words break them, and
/// gives text to what is undocumented. `true` where the assembler has a rule that is wider.
fn ours_alone(rule: Rule, detail: &str) -> bool {
    match rule {
        // A result narrower than its register; counts that are not those that Arm's expressions give.
        Rule::Unsupported | Rule::DestMask | Rule::StagingCount => true,
        // A page that nothing is read of.
        Rule::FauPage => detail.contains("nothing of it is read"),
        // A widened special value: for the assembler signs alone are modifiers.
        Rule::FauModifier => true,
        // Pairs of results and of uniforms from odd words; both words of a pair of uniforms.
        Rule::Pair | Rule::FauBits => true,
        _ => false,
    }
}

#[test]
fn instructions_read_the_same() {
    let mut reader = Reader::default();
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = BTreeMap::new();
    let mut both = 0;
    for word in words() {
        let (Ok(form), Ok(row)) = (table::find(word), theirs(word)) else {
            continue;
        };
        assert!(same_operation(form, &row), "{word:#018x}: {} and {}", form.name, row.op().cite);
        match (decode_word(word), their_rules(&row)) {
            (Ok(inst), Ok(())) => {
                both += 1;
                for what in reader.compare(&inst, &row) {
                    wrong.insert(format!("{}: {what}", row.op().name), word);
                }
            }
            (Ok(_), Err(error)) => {
                wrong.insert(format!("{}: runs: {error}", form.name), word);
            }
            (Err((rule, _)), Err(_)) => *refused.entry(format!("{rule:?}, both")).or_default() += 1,
            (Err((rule, detail)), Ok(())) if ours_alone(rule, &detail) => {
                *refused.entry(format!("{rule:?}")).or_default() += 1;
            }
            (Err((rule, detail)), Ok(())) => {
                wrong.insert(format!("{}: {rule:?}: {detail}", form.name), word);
            }
        }
    }
    wrong.extend(reader.unread());
    assert!(wrong.is_empty(), "{wrong:#018x?}");
    assert!(both > 50_000, "{both} {refused:?}");
}

/// Compares instructions and remembers which fields of the assembler's nothing was compared with.
#[derive(Default)]
struct Reader {
    left: BTreeMap<(&'static str, &'static str), BTreeSet<u32>>,
}

/// Fields that the emulator has no use for: hints, and which compare with what the row is.
const UNUSED: [FieldId; 3] = [f::CONSERVATIVE, f::ACCESS, f::SR_CONTROL];

/// Fields that [`sources::sources`] compares.
const OF_SOURCES: [FieldId; 15] = [
    f::SRC0,
    f::SRC1,
    f::SRC2,
    f::SRC3,
    f::SWZ0,
    f::SWZ1,
    f::SWZ2,
    f::NEG0,
    f::NEG1,
    f::NEG2,
    f::ABS0,
    f::ABS1,
    f::ABS2,
    f::NOT2,
    f::FAU_PAGE,
];

impl Reader {
    /// What differs between two readings of one word.
    fn compare(&mut self, inst: &Inst, row: &Row) -> Vec<String> {
        let facts = facts::facts(inst, row);
        let mut wrong = Vec::new();
        for &(id, value) in &facts {
            if !row.has_field(id) {
                wrong.push(format!("no field {}", id.0));
            } else if row.get(id) != value {
                let name = row.op().format.field(id).map_or("?", |field| field.name);
                wrong.push(format!("{name} is {value}, not {}", row.get(id)));
            }
        }
        wrong.extend(sources::sources(inst, row));
        for field in row.op().format.fields() {
            let known = facts.iter().any(|(id, _)| *id == field.id)
                || row.op().is_fixed(field)
                || OF_SOURCES.contains(&field.id)
                || UNUSED.contains(&field.id);
            if !known {
                let key = (row.op().name, field.name);
                self.left.entry(key).or_default().insert(row.get(field.id));
            }
        }
        wrong
    }

    /// Fields with two values or more of which the emulator's instruction knew nothing.
    fn unread(&self) -> Vec<(String, u64)> {
        let several = self.left.iter().filter(|(_, values)| values.len() > 1);
        several.map(|((row, field), _)| (format!("{row}: {field} is not compared"), 0)).collect()
    }
}

#[test]
fn pixel_formats_are_read_as_they_are_written() {
    for &format in Format::ALL {
        let (word, clump) = state::pixel_format(format);
        assert_eq!(pixel::texel(word, clump), Some(format), "{}", format.name());
        let depth = format.name().contains("depth") || format.name().contains("stencil");
        let converted = (!depth).then_some(format);
        assert_eq!(pixel::converted(word), converted, "{}", format.name());
    }
    for &format in VertexFormat::ALL {
        let word = state::vertex_format(format);
        assert_eq!(pixel::attribute(word), Some(format), "{}", format.name());
    }
    // And nothing else is read as a format.
    let written: BTreeSet<_> = Format::ALL.iter().map(|&f| state::pixel_format(f)).collect();
    let vertices = VertexFormat::ALL.iter().map(|&f| state::vertex_format(f));
    let vertices: BTreeSet<_> = vertices.collect();
    for code in 0..256 {
        for high in 0..4 {
            for order in (0..32).chain([1 << 8, 1 << 11]) {
                let word = order | code << 12 | high << 20;
                for clump in 0..32 {
                    let is = written.contains(&(word, clump));
                    assert_eq!(pixel::texel(word, clump).is_some(), is, "{word:#x} {clump}");
                }
                let is = vertices.contains(&word);
                assert_eq!(pixel::attribute(word).is_some(), is, "{word:#x}");
            }
        }
    }
}

#[test]
fn both_have_the_same_constants() {
    assert_eq!(CONSTANTS, isa::CONSTANTS);
}

#[test]
fn forms_are_in_order_and_apart() {
    let opcode = |form: &Form| Bits(form.fixed().1).get(table::OPCODE);
    for pair in FORMS.windows(2) {
        assert!(opcode(&pair[0]) <= opcode(&pair[1]), "{}", pair[1].name);
    }
    for (i, a) in FORMS.iter().enumerate() {
        for b in &FORMS[i + 1..] {
            let common = a.fixed().0 & b.fixed().0;
            assert_ne!(a.fixed().1 & common, b.fixed().1 & common, "{} {}", a.name, b.name);
        }
    }
}

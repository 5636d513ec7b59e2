//! A table of ops: finds the row for bits and for names, and lists what is wrong with the table itself.

use crate::field::Kind;
use crate::op::{DecodeError, Inst, Op};
use std::sync::OnceLock;

/// All ops that can stand in one place of a program.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    pub ops: &'static [Op],
    /// Rows with one of these flags are absent: the member of a family lacks them, and they only keep the others' ids.
    absent: u32,
    index: OnceLock<Index>,
}

#[derive(Debug)]
struct Index {
    /// For every mask that occurs: the rows with it, sorted by their fixed bits.
    by_mask: Vec<(u128, Vec<(u128, u16)>)>,
    by_name: Vec<(&'static str, u16)>,
}

impl Table {
    pub const fn new(name: &'static str, ops: &'static [Op]) -> Table {
        Table { name, ops, absent: 0, index: OnceLock::new() }
    }

    /// The same table without the rows that have any of these flags: neither bits nor names find them.
    pub const fn without(mut self, flags: u32) -> Table {
        self.absent = flags;
        self
    }

    /// Whether the row is there: see [`Table::without`].
    pub fn holds(&self, op: &Op) -> bool {
        op.flags & self.absent == 0
    }

    /// The rows that are there, in order.
    pub fn rows(&self) -> impl Iterator<Item = &'static Op> {
        self.ops.iter().filter(|op| self.holds(op))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut by_mask: Vec<(u128, Vec<(u128, u16)>)> = Vec::new();
            let mut by_name = Vec::new();
            for (row, op) in self.ops.iter().enumerate() {
                if !self.holds(op) {
                    continue;
                }
                let row = row as u16;
                match by_mask.iter_mut().find(|(mask, _)| *mask == op.mask) {
                    Some((_, rows)) => rows.push((op.bits, row)),
                    None => by_mask.push((op.mask, vec![(op.bits, row)])),
                }
                by_name.push((op.name, row));
                by_name.extend(op.aliases.iter().map(|alias| (*alias, row)));
            }
            for (_, rows) in &mut by_mask {
                rows.sort_unstable();
            }
            by_name.sort_unstable();
            Index { by_mask, by_name }
        })
    }

    /// The row that these bits belong to. No two rows match the same bits (see [`Table::problems`]).
    pub fn find(&self, bits: u128) -> Option<&'static Op> {
        for (mask, rows) in &self.index().by_mask {
            if let Ok(at) = rows.binary_search_by_key(&(bits & mask), |(fixed, _)| *fixed) {
                return Some(&self.ops[usize::from(rows[at].1)]);
            }
        }
        None
    }

    /// Decodes one instruction: refuses unknown opcodes, reserved bits and reserved values.
    pub fn decode(&self, bits: u128) -> Result<Inst, DecodeError> {
        match self.find(bits) {
            Some(op) => Inst::decode(op, bits),
            None => Err(DecodeError::UnknownOpcode { table: self.name, words: hex_words(bits) }),
        }
    }

    /// The row of this name or alias.
    pub fn named(&self, name: &str) -> Option<&'static Op> {
        let names = &self.index().by_name;
        let at = names.binary_search_by_key(&name, |(known, _)| *known).ok()?;
        Some(&self.ops[usize::from(names[at].1)])
    }

    /// What is wrong with the table: rows that match the same bits, names used twice, rows out of place, citations that
    /// are missing, enum members of one name. A sound table has none; a test in each machine says so.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (row, a) in self.ops.iter().enumerate() {
            if usize::from(a.id.0) != row {
                problems.push(format!("{}: {} has id {} in row {row}", self.name, a.name, a.id.0));
            }
            if a.cite.is_empty() {
                problems.push(format!("{}: {} cites nothing", self.name, a.name));
            }
            for b in self.ops[..row].iter().filter(|b| self.holds(b) && self.holds(a)) {
                if (a.bits ^ b.bits) & a.mask & b.mask == 0 {
                    problems.push(format!(
                        "{}: {} and {} match the same bits",
                        self.name, a.name, b.name
                    ));
                }
            }
            for field in a.format.fields() {
                if let Kind::Enum(set) = field.kind {
                    for (i, member) in set.members.iter().enumerate() {
                        if set.members[..i]
                            .iter()
                            .any(|other| other.name.eq_ignore_ascii_case(member.name))
                        {
                            problems.push(format!("{}: {} is named twice", set.name, member.name));
                        }
                    }
                }
            }
        }
        let names = &self.index().by_name;
        for pair in names.windows(2) {
            if pair[0].0 == pair[1].0 {
                problems.push(format!("{}: the name {} stands for two rows", self.name, pair[0].0));
            }
        }
        problems
    }
}

/// `0x80000c90 0x…`: the words of a number, lowest first, without the leading zero words.
pub fn hex_words(mut bits: u128) -> String {
    let mut text = String::new();
    loop {
        text.push_str(&format!("0x{:08x}", bits as u32));
        bits >>= 32;
        if bits == 0 {
            return text;
        }
        text.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{Field, FieldId, Format, Piece};
    use crate::op::{FieldError, OpId};

    const OPCODE: FieldId = FieldId(0);
    const VALUE: FieldId = FieldId(1);
    const FIELDS: &[Field] = &[
        Field::new(OPCODE, "OPCODE", &[Piece { hi: 7, lo: 4 }], Kind::Unsigned),
        Field::new(VALUE, "VALUE", &[Piece { hi: 2, lo: 0 }], Kind::Unsigned),
    ];
    static FORMAT: Format = Format::new("BYTE", 8, 8, &[FIELDS], "made up");
    static SOUND: [Op; 2] = [
        Op { cite: "1", ..Op::new(OpId(0), "A", &FORMAT, &[(OPCODE, 1)]) },
        Op { cite: "2", aliases: &["BEE"], ..Op::new(OpId(1), "B", &FORMAT, &[(OPCODE, 2)]) },
    ];
    static UNSOUND: [Op; 2] = [
        Op { cite: "1", ..Op::new(OpId(0), "A", &FORMAT, &[(OPCODE, 1)]) },
        Op { cite: "2", ..Op::new(OpId(1), "B", &FORMAT, &[(VALUE, 2)]) },
    ];

    #[test]
    fn rows_are_found_by_bits_and_by_name() {
        let table = Table::new("toy", &SOUND);
        assert_eq!(table.problems(), Vec::<String>::new());
        assert_eq!(table.decode(0x15).expect("A").get(VALUE), 5);
        assert_eq!(table.named("BEE").expect("alias").name, "B");
        assert!(table.named("C").is_none());
    }

    #[test]
    fn reserved_bits_and_unknown_opcodes_are_refused_by_name() {
        let table = Table::new("toy", &SOUND);
        let error = table.decode(0x18).expect_err("bit 3 is reserved");
        assert_eq!(error.to_string(), "A: reserved bits word 0 [3] of BYTE must be 0");
        assert!(matches!(table.decode(0x30), Err(DecodeError::UnknownOpcode { .. })));
    }

    #[test]
    fn a_fixed_field_cannot_be_overwritten() {
        let mut inst = Inst::new(&SOUND[0]);
        assert!(matches!(inst.set(OPCODE, 2), Err(FieldError::Reserved { .. })));
        assert!(matches!(inst.set(VALUE, 8), Err(FieldError::TooWide { .. })));
        assert_eq!(inst.set(VALUE, 7), Ok(()));
        assert_eq!(inst.bits(), 0x17);
    }

    #[test]
    fn rows_that_match_the_same_bits_are_a_problem() {
        assert_eq!(Table::new("toy", &UNSOUND).problems(), ["toy: B and A match the same bits"]);
    }
}

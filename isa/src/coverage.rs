//! What of a table foreign words have proved: rows, fields and enum members that occurred, and those that did not.
//!
//! A table that is both encoder and decoder cannot test itself; a word from another encoder tests the row it belongs to.

use crate::field::Kind;
use crate::op::Inst;
use crate::table::Table;
use std::collections::BTreeSet;

/// What occurred so far.
#[derive(Clone, Default, Debug)]
pub struct Coverage {
    /// Table and row.
    rows: BTreeSet<(&'static str, &'static str)>,
    /// Format and field, where the value was not the usual one.
    fields: BTreeSet<(&'static str, &'static str)>,
    /// Enum and value.
    values: BTreeSet<(&'static str, u32)>,
}

impl Coverage {
    pub fn note(&mut self, table: &Table, inst: &Inst) {
        let op = inst.op();
        self.rows.insert((table.name, op.name));
        for field in op.format.fields() {
            let value = field.get(inst.bits());
            if value != field.default {
                self.fields.insert((op.format.name, field.name));
            }
            if let Kind::Enum(set) = field.kind {
                self.values.insert((set.name, value));
            }
        }
    }

    /// What did not occur, a line each: `row TABLE NAME`, `field FORMAT NAME`, `value ENUM NAME`, in the tables' order.
    pub fn missing(&self, tables: &[&Table]) -> String {
        let mut rows = String::new();
        let mut fields = String::new();
        let mut values = String::new();
        let mut formats = BTreeSet::new();
        let mut enums = BTreeSet::new();
        for table in tables {
            for op in table.rows() {
                if !self.rows.contains(&(table.name, op.name)) {
                    rows.push_str(&format!("row {} {}\n", table.name, op.name));
                }
                if !formats.insert(op.format.name) {
                    continue;
                }
                for field in op.format.fields() {
                    if !op.is_fixed(field) && !self.fields.contains(&(op.format.name, field.name)) {
                        fields.push_str(&format!("field {} {}\n", op.format.name, field.name));
                    }
                    if let Kind::Enum(set) = field.kind
                        && enums.insert(set.name)
                    {
                        for member in set.members {
                            if !self.values.contains(&(set.name, member.value)) {
                                values.push_str(&format!("value {} {}\n", set.name, member.name));
                            }
                        }
                    }
                }
            }
        }
        rows + &fields + &values
    }
}

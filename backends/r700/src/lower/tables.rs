//! Constant variables: tables that the vertex-fetch unit reads from memory that comes with the
//! program. The resource has elements of 16 bytes, and an element of a table begins one of them: so
//! the index of an array's element is the index of the fetch where elements take at most a vec4.

use super::linear::linear;
use super::{Lower, Place};
use crate::api::{TABLE_STRIDE, TABLES};
use crate::inst::{Inst, Source, Src, Vertex};
use crate::isa::AluOp;
use gpucc_ir::ssa::{Mem, Value};

/// Where a table stands.
#[derive(Copy, Clone, Debug)]
pub(super) struct Table {
    /// Its first row among all tables.
    row: u32,
    /// Dwords that every run-time address is a multiple of.
    step: u32,
}

impl Table {
    /// Rows of `step` dwords.
    const fn rows(self) -> u32 {
        self.step.div_ceil(4)
    }
}

impl Lower<'_> {
    /// Lays a table out whose run-time addresses are multiples of `step` bytes; 0 when there are none.
    pub(super) fn table(&mut self, words: &[u32], step: u32) -> Table {
        let table = Table {
            row: self.tables.len() as u32 / 4,
            step: match step {
                0 => words.len().max(1) as u32,
                step if step % 4 == 0 => step / 4,
                _ => 1,
            },
        };
        for part in words.chunks(table.step as usize) {
            self.tables.extend_from_slice(part);
            let whole = self.tables.len().next_multiple_of(4);
            self.tables.resize(whole, 0);
        }
        table
    }

    /// Reads words at an address.
    pub(super) fn table_load(&mut self, table: Table, mem: Mem, address: Value, results: &[Value]) {
        if let Some(bits) = self.const_bits(address) {
            let words = &self.ssa.mems[mem].words;
            for (k, &value) in results.iter().enumerate() {
                let word = words.get(bits as usize / 4 + k).copied().unwrap_or(0);
                self.values[value] = Some(Place::Source(Src::Bits(word)));
            }
            return;
        }
        let linear = linear(self.ssa, address);
        let regular = linear.constant / 4 < self.ssa.mems[mem].size / 4
            && linear.terms.iter().all(|&(_, factor)| factor % (4 * table.step) == 0);
        let (index, at) = if regular {
            let key = linear
                .terms
                .iter()
                .map(|&(value, factor)| (value, factor / (4 * table.step) * table.rows()))
                .collect();
            (self.row(key), linear.constant / 4)
        } else {
            // Whole dwords are the rows then.
            (self.dwords(address), 0)
        };
        let mut from = 0;
        while from < results.len() {
            // What stands in one element is read at once.
            let first = at + from as u32;
            let (element, offset) = (first / table.step, first % table.step);
            let count = (results.len() - from).min((table.step - offset) as usize).min(4);
            let bytes = (table.row + element * table.rows()) * TABLE_STRIDE + 4 * offset;
            self.table_fetch(index, bytes, &results[from..from + count]);
            from += count;
        }
    }

    fn table_fetch(&mut self, index: Source, bytes: u32, results: &[Value]) {
        let dst = self.results(results);
        if dst.iter().all(Option::is_none) {
            return;
        }
        // The offset has 16 bits.
        let far = bytes >> 16 << 16;
        let index = if far == 0 {
            index
        } else {
            let rows = Source::bits(far / TABLE_STRIDE);
            Source::reg(self.alu(AluOp::ADD_INT, &[index, rows]))
        };
        let index = self.source_reg(index);
        let fetch = Vertex::words(TABLES, index.into(), bytes - far, dst, results.len());
        self.push(Inst::Vertex(fetch));
    }
}

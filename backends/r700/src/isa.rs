//! The instruction set: one table, and everything that reads and writes it.
//!
//! - [`fields`], [`ops`]: the table itself. Every format, field, enum and instruction of the R700 ISA document and of the
//!   register guide's chapter 5, with citations; the documents' errors are in ERRATA.md.
//! - [`alu`]: ALU slots and groups, read and written by operand instead of by bit field.
//! - [`program`]: whole programs: control flow, clauses, padding, unreachable words; decoding and encoding.
//! - [`disasm`], [`asm`], [`mod@unit`]: the same as text and back, whole programs and single units.
//!
//! Everything is an [`Inst`]: a row and its bits. `inst.get(f::POP_COUNT)` reads a field, `inst.with(f::ADDR, 4)` writes
//! one; a field that the format lacks reads as 0.

#[cfg(test)]
mod agree;
pub mod alu;
pub mod asm;
pub mod disasm;
pub mod doc;
pub mod fields;
pub mod ops;
pub mod program;
mod r600;
pub mod unit;

pub use alu::{AluGroup, AluSlot, Chan, Dst, Operand, Src, Unit};
pub use asm::assemble;
pub use disasm::disassemble;
pub use fields::f;
pub use gpucc_isa::{DecodeError as InstError, Inst};
pub use ops::{AluOp, CfOp, FetchOp, flag};
pub use program::{
    Body, Cf, Clause, ClauseId, DecodeError, EncodeError, Fetch, Program, decode_program,
    encode_program,
};
pub use unit::{UnitKind, assemble_unit, disassemble_unit};

use gpucc_isa::{Op, Table};

/// The tables of one member of the family.
#[derive(Debug)]
pub struct Isa {
    pub name: &'static str,
    pub formats: &'static ops::Formats,
    pub cf: Table,
    pub alu: Table,
    pub fetch: Table,
}

/// R6xx: RV670, RV610, RV630, RV620, RV635, R600.
pub static R600: Isa = Isa {
    name: "r600",
    formats: &r600::FORMATS,
    cf: Table::new("CF", &r600::CF_OPS).without(flag::ABSENT),
    alu: Table::new("ALU", &r600::ALU_OPS).without(flag::ABSENT),
    fetch: Table::new("fetch", &r600::FETCH_OPS).without(flag::ABSENT),
};

/// R700: RV770, RV790, RV740, RV730, RV710.
pub static R700: Isa = Isa {
    name: "r700",
    formats: &ops::R700_FORMATS,
    cf: Table::new("CF", &ops::CF_OPS),
    alu: Table::new("ALU", &ops::ALU_OPS),
    fetch: Table::new("fetch", &ops::FETCH_OPS),
};

impl Isa {
    pub fn cf_op(&'static self, op: CfOp) -> &'static Op {
        &self.cf.ops[op as usize]
    }

    pub fn alu_op(&'static self, op: AluOp) -> &'static Op {
        &self.alu.ops[op as usize]
    }

    pub fn fetch_op(&'static self, op: FetchOp) -> &'static Op {
        &self.fetch.ops[op as usize]
    }
}

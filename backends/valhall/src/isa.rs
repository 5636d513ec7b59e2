//! The instruction set: one table, and everything that reads and writes it.
//!
//! - [`fields`], [`shapes`], [`ops`]: the table. Every instruction of Arm's v9 description, in the public assembler's names.
//! - [`source`]: source bytes: registers, uniforms, constants, special values.
//! - [`limits`]: where Arm's v9 is narrower than the table. [`rules`]: what one instruction's operands must obey.
//! - [`disasm`], [`asm`], [`alias`], [`program`]: text, words, whole programs.
//!
//! An instruction is a [`Inst`]: a row and its bits. `Opcode::FaddF32.op()` is a row, `Inst::usual(row)` the instruction with
//! everything at its usual value, `inst.get(f::CLAMP)` reads a field and `inst.with(f::CLAMP, 3)` writes one.

pub mod alias;
pub mod asm;
pub mod disasm;
pub mod doc;
pub mod fields;
pub mod limits;
pub mod ops;
pub mod program;
pub mod rules;
pub mod shapes;
pub mod source;

pub use asm::assemble_line;
pub use disasm::{WordError, decode_word, disassemble_word, text_of};
pub use fields::f;
pub use gpucc_isa::{DecodeError as InstError, Inst};
pub use ops::{Extension, Opcode, Unit};
pub use program::{ProgramError, assemble, disassemble};
pub use shapes::{Operand, Shape, Source, Staging};
pub use source::{CONSTANTS, SourceByte, Special};

use gpucc_isa::Table;

/// Every row.
pub static TABLE: Table = Table::new("Valhall", &ops::OPS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        assert_eq!(TABLE.problems(), Vec::<String>::new());
    }
}

//! The instruction set: one table, and everything that reads and writes it.
//!
//! - [`fields`], [`shapes`], [`ops`]: the table. Every instruction of Arm's v9 description, in the public assembler's names.
//!
//! An instruction is a [`Inst`]: a row and its bits. `Opcode::FaddF32.op()` is a row, `Inst::usual(row)` the instruction with
//! everything at its usual value, `inst.get(f::CLAMP)` reads a field and `inst.with(f::CLAMP, 3)` writes one.

pub mod fields;
pub mod ops;
pub mod shapes;

pub use fields::f;
pub use gpucc_isa::{DecodeError as InstError, Inst};
pub use ops::{Opcode, Unit};
pub use shapes::{Operand, Shape, Source, Staging};

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

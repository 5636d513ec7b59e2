//! Expansions: high-level ops become ops that a machine has, each with a stated error bound.
//!
//! A back end calls [`expand`] once, after the shared passes, with its own [`Native`]. Afterwards
//! the function holds native ops only (and those that no expansion exists for, which the back end
//! refuses by name). Expansions may use other ops of the table, which are expanded in turn.

use gpucc_ir::ssa::{Op, Type};

/// What the machine has as instructions.
pub trait Native {
    /// `op` at the width of its first operand (its first result when it has no operands) needs no
    /// expansion.
    fn native(&self, op: Op, ty: Type) -> bool;
}

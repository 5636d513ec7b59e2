//! The symbolic checker: proves that every use reads the value its program wrote.

use gpucc_ir::mach::{Block, Reg, VReg};

/// What the checker found wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{block}, instruction {index}: {what}")]
pub struct Refusal {
    /// Block of the instruction.
    pub block: Block,
    /// Index of the instruction within the block, after allocation.
    pub index: u32,
    /// What is wrong there.
    pub what: Wrong,
}

/// The kinds of wrong allocations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A use reads a cell that does not hold its value.
    #[error("operand {operand} reads {wanted} from {found:?}, which does not hold it")]
    Stale {
        /// Operand, in the order of `Inst::operands`.
        operand: u32,
        /// The value the program wrote.
        wanted: VReg,
        /// The cell that the allocated instruction reads.
        found: Reg,
    },
    /// An operand breaks its constraint or its file's limit.
    #[error("operand {operand} at {found:?}: {rule}")]
    Misplaced {
        /// Operand, in the order of `Inst::operands`.
        operand: u32,
        /// Where it lies.
        found: Reg,
        /// The constraint it breaks.
        rule: &'static str,
    },
    /// A value that lives into a successor is not where the successor expects it.
    #[error("{wanted} is not in {found} at the edge to {to}")]
    Edge {
        /// The successor.
        to: Block,
        /// The value.
        wanted: VReg,
        /// The place where the successor expects it.
        found: String,
    },
    /// The instructions are not those of the program.
    #[error("the instructions are not those of the program: {0}")]
    Altered(&'static str),
}

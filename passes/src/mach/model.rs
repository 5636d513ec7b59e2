//! How a back end describes its machine to the scheduler.

use gpucc_ir::mach::{Inst, Operand};

/// Why one instruction must come after another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Dependence {
    /// It reads what the other writes.
    True,
    /// It writes what the other reads.
    Anti,
    /// It writes what the other writes.
    Output,
    /// Their effects beyond registers do not commute.
    Order,
}

/// Effects beyond registers, as sets of up to 32 classes that the target chooses (one buffer, all
/// exports, the predicate, ...). Two reads of a class commute; a write and anything else do not.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// Classes read.
    pub reads: u32,
    /// Classes written.
    pub writes: u32,
}

/// The cells behind a physical operand: `count` cells, `stride` apart.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Cells.
    pub count: u16,
    /// Distance between consecutive cells.
    pub stride: u8,
}

/// The rules of issue: the state of the group that is being filled.
pub trait Rules<I>: Clone {
    /// The sentence of the manual that says no.
    type Violation;

    /// The state with one more instruction in the group, or why it must not join.
    ///
    /// # Errors
    /// The violated rule.
    fn admit(&self, inst: &I) -> Result<Self, Self::Violation>;

    /// An empty group that follows this one directly.
    fn next(&self) -> Self;

    /// True when no instruction at all could join: saves asking.
    fn is_full(&self) -> bool {
        false
    }

    /// How well an instruction fits what is open now (the same clause kind, the same constant
    /// lines); larger goes first, before the critical path is looked at.
    fn affinity(&self, _inst: &I) -> u32 {
        0
    }
}

/// A machine as the scheduler sees it.
pub trait Model<I: Inst> {
    /// Its rules of issue.
    type Rules: Rules<I>;

    /// The state where a region begins: nothing is known of what ran before.
    fn start(&self) -> Self::Rules;

    /// Cycles (groups) from the issue of `from` to the earliest issue of `to`. Zero lets both issue
    /// in one group, `from` placed first; one means the next group.
    fn latency(&self, from: &I, to: &I, why: Dependence) -> u32;

    /// Effects beyond registers.
    fn effects(&self, _inst: &I) -> Effects {
        Effects::default()
    }

    /// True when nothing may move across this instruction, in either direction.
    fn ends_region(&self, inst: &I) -> bool {
        inst.ends_block()
    }

    /// The cells behind a physical operand. (Virtual registers are one resource whatever their size.)
    fn extent(&self, _inst: &I, _operand: &Operand) -> Extent {
        Extent {
            count: 1,
            stride: 1,
        }
    }
}

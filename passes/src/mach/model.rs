//! How a back end describes its machine to the dependence graph and the scheduler.

use gpucc_ir::mach::{Inst, Reg, VReg};

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

/// A machine as the dependence graph and the scheduler see it.
pub trait Model<I: Inst> {
    /// Cycles from the issue of an instruction to the earliest issue of one that reads its result.
    fn result(&self, _inst: &I) -> u32 {
        1
    }

    /// Cycles (groups) from the issue of `from` to the earliest issue of `to`. Zero lets both issue
    /// in one group, `from` placed first; one means the next group.
    fn latency(&self, from: &I, _to: &I, why: Dependence) -> u32 {
        match why {
            Dependence::True => self.result(from),
            Dependence::Anti | Dependence::Output | Dependence::Order => 1,
        }
    }

    /// Effects beyond registers.
    fn effects(&self, _inst: &I) -> Effects {
        Effects::default()
    }

    /// True when nothing may move across this instruction, in either direction.
    fn ends_region(&self, inst: &I) -> bool {
        inst.ends_block()
    }

    /// Whether a register that the instruction writes is a result: what it may merely overwrite takes no room.
    fn is_result(&self, _inst: &I, _reg: Reg) -> bool {
        true
    }

    /// Registers that the instruction should come behind the readers of, though it does not write them.
    fn follows(&self, _inst: &I, _visit: &mut dyn FnMut(VReg)) {}
}

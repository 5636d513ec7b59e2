//! Subgroups: the 16 instances that one half of a task runs in parallel (isa/rogue-pipeline.md 3.3).
//!
//! No operation moves a word from one instance to another, so that they meet in registers that all of them have: coefficients in
//! compute programs, each task its own, and shared registers elsewhere, under a mutex. Each instance has a cell, and each half of a
//! task a word for the bits of its instances, which an atomic group gathers (1.1, 2.8). Instances of a task are in step (4.3).
//! In a cell of an instance that does not take part there is 0.

use super::Lower;
use super::alu::{AND, LEFT, OR, RIGHT, XOR};
use crate::inst::{Src, Step};
use crate::isa::fields::f;
use crate::isa::group::Condition;
use crate::isa::ops::{Bitwise0, Bitwise1, Control, Main};
use crate::isa::register::{File, Register};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Block, VReg};
use gpucc_ir::ssa::interp::SUBGROUP;
use gpucc_ir::ssa::{Builtin, Imm, InstData, Shuffle, Stage, Value};
use gpucc_isa::Inst as Word;

/// The mutex of those who meet in shared registers; 0 and 1 are those of atomic operations and barriers. 2.7 [A].
const MUTEX: u32 = 2;
/// The number of an instance in its task. 3.1.
const INSTANCE: Register = Register::Special(51);

/// The value that stands in the cells of a block's instances.
pub(super) type Put = Option<(Block, Value)>;

fn pass(from: Src) -> Step {
    Step::p0(Word::usual(Main::Mbyp.op())).from(0, from)
}

impl Lower<'_> {
    /// What an instance is told of its subgroup.
    pub(super) fn subgroup_input(&mut self, which: Builtin) -> Option<Src> {
        let compute = self.ssa.stage == Stage::Compute;
        let invocations = self.ssa.workgroup_size.iter().product::<u32>();
        Some(match which {
            Builtin::SubgroupSize => self.number(SUBGROUP),
            Builtin::SubgroupInvocationId => Src::Reg(self.lane().into()),
            Builtin::NumSubgroups if compute => self.number(invocations.div_ceil(SUBGROUP)),
            Builtin::SubgroupId if compute => Src::Reg(self.half().into()),
            _ => return None,
        })
    }

    /// The number of the instance in its workgroup, or in its task.
    fn instance(&mut self) -> Src {
        match self.ssa.stage {
            Stage::Compute => Src::Fixed(Register::Vtxin(0)),
            _ => Src::Reg(self.special(INSTANCE).into()),
        }
    }

    /// The number in the subgroup.
    fn lane(&mut self) -> VReg {
        let (own, below) = (self.instance(), self.number(SUBGROUP - 1));
        self.logical(AND, own, below)
    }

    /// The number of the subgroup.
    fn half(&mut self) -> VReg {
        let (own, by) = (self.instance(), self.number(SUBGROUP.ilog2()));
        self.shift(RIGHT, own, by)
    }

    /// The registers from a number on, as far on as the index register says.
    fn met(&self, more: u16) -> Result<Register, Failure> {
        let Some(lanes) = self.abi.lanes else {
            return Err(self.not_yet("this subgroup"));
        };
        let file = match self.ssa.stage {
            Stage::Compute => File::Coeff,
            _ => File::Shared,
        };
        Ok(Register::Relative { index: 0, file, offset: (lanes.first + more) as u8 })
    }

    /// Tasks that share the registers come one after the other.
    fn turn(&mut self, row: Control) {
        if self.ssa.stage != Stage::Compute {
            self.push(Step::control(Word::usual(row.op()).with(f::ID, MUTEX)));
        }
    }

    fn lead_to(&mut self, number: Src) {
        self.push(pass(number).fixed(0, Register::Index(0)));
    }

    /// Bits of the instances that come here and whose value is 1.
    fn gathered(&mut self, truth: Src) -> Result<VReg, Failure> {
        let word = self.met(0)?;
        let lane = Src::Reg(self.lane().into());
        let bit = self.shift(LEFT, truth, lane);
        let half = self.half();
        self.turn(Control::MutexLock);
        self.lead_to(Src::Reg(half.into()));
        self.push(pass(Src::ZERO).fixed(0, word));
        let through = Word::usual(Bitwise0::Bbyp.op());
        let logical = Word::usual(Bitwise1::Logical.op()).with(f::LOGIC, OR);
        let mut step = Step::bits([Some(through), Some(logical), None]);
        step = step.from(2, Src::Fixed(word)).from(3, Src::Reg(bit.into())).fixed(0, word);
        step.group.atom = true;
        self.push(step);
        let dst = self.fresh();
        self.push(pass(Src::Fixed(word)).to(0, dst).effect());
        self.turn(Control::MutexRelease);
        Ok(dst)
    }

    /// A bit for each instance, all of them in the first word.
    pub(super) fn ballot(&mut self, data: &InstData) -> Result<(), Failure> {
        let truth = self.source(data.args[0]);
        let mask = Src::Reg(self.gathered(truth)?.into());
        for (at, &word) in data.results.iter().enumerate() {
            self.values[word] = Some(if at == 0 { mask } else { Src::ZERO });
        }
        Ok(())
    }

    /// The number of the instance that a shuffle reads, within its subgroup.
    fn other(&mut self, which: Shuffle, number: Option<Value>) -> Result<VReg, Failure> {
        let number = number.map_or(Src::ZERO, |value| self.source(value));
        let below = self.number(SUBGROUP - 1);
        let sum = |lower: &mut Self, flags: &[gpucc_isa::FieldId]| {
            let word = Word::usual(Main::Imadd32.op());
            let word = flags.iter().fold(word, |word, &flag| word.with(flag, 1));
            let lane = Src::Reg(lower.lane().into());
            lower.p0(word, &[number, Src::ONE, lane])
        };
        let lane = match which {
            Shuffle::First => {
                let all = Src::Reg(self.gathered(Src::ONE)?.into());
                let negative = Word::usual(Main::Imadd32.op()).with(f::NEG0, 1);
                let opposite = self.p0(negative, &[all, Src::ONE, Src::ZERO]);
                let lowest = self.logical(AND, all, Src::Reg(opposite.into()));
                return Ok(self.counted(Word::usual(Bitwise0::Ftb.op()), Src::Reg(lowest.into())));
            }
            Shuffle::Lane | Shuffle::OrZero => return Ok(self.logical(AND, number, below)),
            Shuffle::Up => sum(self, &[f::NEG0]),
            Shuffle::Down => sum(self, &[]),
            Shuffle::Xor => {
                let lane = Src::Reg(self.lane().into());
                self.logical(XOR, lane, number)
            }
            Shuffle::Quad => {
                let (lane, four) = (Src::Reg(self.lane().into()), self.number(SUBGROUP - 4));
                let first = self.logical(AND, lane, four);
                let three = self.number(3);
                let within = self.logical(AND, number, three);
                return Ok(self.logical(OR, Src::Reg(first.into()), Src::Reg(within.into())));
            }
        };
        Ok(self.logical(AND, Src::Reg(lane.into()), below))
    }

    /// The value that another instance has.
    pub(super) fn shuffle(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Shuffle(which) = data.imm else {
            return Err(self.not_yet("this exchange of instances"));
        };
        let cell = self.met(self.abi.lanes.map_or(0, |lanes| lanes.halves))?;
        let value = self.source(data.args[0]);
        let lane = Src::Reg(self.other(which, data.args.get(1).copied())?.into());
        let (own, others) = (self.instance(), self.number(!(SUBGROUP - 1)));
        let first = self.logical(AND, own, others);
        let other = self.logical(OR, Src::Reg(first.into()), lane);
        let compute = self.ssa.stage == Stage::Compute;
        self.turn(Control::MutexLock);
        if !compute || self.put != Some((self.block, data.args[0])) {
            if compute {
                // Those who wait leave nothing in their cells.
                for mut step in
                    [pass(own).fixed(0, Register::Index(0)), pass(Src::ZERO).fixed(0, cell)]
                {
                    step.group.condition = Condition::IgnorePe;
                    self.push(step);
                }
            }
            self.lead_to(own);
            self.push(pass(value).fixed(0, cell));
            self.put = Some((self.block, data.args[0]));
        }
        self.lead_to(Src::Reg(other.into()));
        let dst = self.define(data.results[0]);
        self.push(pass(Src::Fixed(cell)).to(0, dst).effect());
        if !compute {
            // Who is not there cannot empty its cell for the next task.
            self.lead_to(own);
            self.push(pass(Src::ZERO).fixed(0, cell));
        }
        self.turn(Control::MutexRelease);
        Ok(())
    }
}

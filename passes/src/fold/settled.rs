//! Which instructions folding need not look at again.
//!
//! A rule looks at an instruction and at a few operations behind its operands. Where all of that is as it was when no rule
//! applied, none applies now. Only what other passes have changed since, and what stands near it, is looked at anew.

use cranelift_entity::EntityRef;
use gpucc_ir::ssa::{Func, Imm, Inst, ValueDef};

/// Operations behind an operand that rules look at, at most.
const REACH: u8 = 8;
/// Of what has not changed, nor anything before it.
const OLD: u8 = u8::MAX;

/// What folding found of instructions, from run to run of one function.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// By instruction: what it was when no rule applied, as a number; 0 where that is not known.
    seen: Vec<u64>,
    /// By instruction: how many operations behind its operands the nearest change since then stands. Of one run.
    distance: Vec<u8>,
}

impl Settled {
    /// A run begins.
    pub(super) fn begin(&mut self, func: &Func) {
        self.seen.resize(func.insts.len(), 0);
        self.distance.clear();
        self.distance.resize(func.insts.len(), OLD);
    }

    /// Whether some rule may apply to an instruction; all before it have been asked about. `how` tells apart the ways to
    /// look at it.
    pub(super) fn may_apply(&mut self, func: &Func, inst: Inst, how: u64) -> bool {
        let data = &func.insts[inst];
        let mut print = mix(data.op as u64 | how << 32);
        if let Imm::Bits(bits) = data.imm {
            print = mix(print ^ bits);
        }
        let mut distance = OLD;
        for &arg in &data.args {
            let value = &func.values[arg];
            print = mix(print ^ (u64::from(arg.as_u32()) << 8 | value.ty as u64));
            if let ValueDef::Result(def, _) = value.def {
                // What this run has made is new.
                distance = distance.min(self.distance.get(def.index()).copied().unwrap_or(0));
            }
        }
        let (Some(seen), Some(own)) =
            (self.seen.get_mut(inst.index()), self.distance.get_mut(inst.index()))
        else {
            return true;
        };
        let same = std::mem::replace(seen, print | 1) == print | 1;
        *own = if same { distance.saturating_add(1) } else { 0 };
        *own <= REACH
    }

    /// The instruction has become another.
    pub(super) fn changed(&mut self, inst: Inst) {
        if let (Some(seen), Some(own)) =
            (self.seen.get_mut(inst.index()), self.distance.get_mut(inst.index()))
        {
            (*seen, *own) = (0, 0);
        }
    }

    /// The instruction is none that folding looks at.
    pub(super) fn pass_by(&mut self, inst: Inst) {
        if self.seen.get(inst.index()).is_some_and(|&seen| seen != 0) {
            self.changed(inst);
        }
    }
}

fn mix(word: u64) -> u64 {
    let word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Builder, Op, Stage};

    #[test]
    fn what_stands_near_a_change_is_looked_at_and_what_stands_far_is_not() {
        let mut func = Func::new("chain", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let first = b.f32(1.0);
        let mut last = first;
        for _ in 0..20 {
            last = b.op1(Op::FNeg, last);
        }
        let list = func.regions[func.body].insts.clone();
        let mut settled = Settled::default();
        let mut asked = |func: &Func, how| -> usize {
            settled.begin(func);
            list.iter().filter(|&&inst| settled.may_apply(func, inst, how)).count()
        };
        assert_eq!(asked(&func, 0), 21);
        assert_eq!(asked(&func, 0), 0);
        assert_eq!(asked(&func, 1), 21, "another way to look");
        func.insts[list[0]].imm = Imm::Bits(5);
        assert_eq!(asked(&func, 1), 1 + usize::from(REACH));
        assert_eq!(asked(&func, 1), 0);
        settled.changed(list[20]);
        settled.begin(&func);
        assert!(settled.may_apply(&func, list[20], 1));
    }
}

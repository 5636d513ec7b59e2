//! Replacement of all uses of a value.
//!
//! Replacing values: a dense map that later uses are looked up in.

use cranelift_entity::{EntityRef, packed_option::PackedOption};
use gpucc_ir::ssa::{Flags, Func, Inst, Region, Value};

/// Which value now stands for which. Chains are followed and shortened on the way.
#[derive(Default)]
pub(crate) struct Renames {
    to: Vec<PackedOption<Value>>,
    any: bool,
}

impl Renames {
    pub(crate) fn new() -> Self {
        Renames::default()
    }

    /// Uses of `from` become uses of `to` from now on.
    pub(crate) fn set(&mut self, from: Value, to: Value) {
        let to = self.get(to);
        if from == to {
            return;
        }
        if self.to.len() <= from.index() {
            self.to.resize((2 * self.to.len()).max(from.index() + 1), None.into());
        }
        self.to[from.index()] = to.into();
        self.any = true;
    }

    /// What stands for `value` now.
    #[inline]
    pub(crate) fn get(&mut self, value: Value) -> Value {
        // Most values stand for themselves.
        match self.to.get(value.index()).and_then(|next| next.expand()) {
            None => value,
            Some(next) => self.follow(value, next),
        }
    }

    /// What stands for `value`, for which `next` was put.
    fn follow(&mut self, value: Value, next: Value) -> Value {
        let mut end = next;
        while let Some(next) = self.to.get(end.index()).and_then(|next| next.expand()) {
            end = next;
        }
        let mut at = value;
        while at != end {
            let next = self.to[at.index()].expand().expect("on the chain to `end`");
            self.to[at.index()] = end.into();
            at = next;
        }
        end
    }

    /// True when nothing was replaced.
    pub(crate) fn is_empty(&self) -> bool {
        !self.any
    }

    /// Looks up every operand of an instruction.
    pub(crate) fn args(&mut self, func: &mut Func, inst: Inst) {
        if self.any {
            for arg in &mut func.insts[inst].args {
                *arg = self.get(*arg);
            }
        }
    }

    /// Looks up every operand in the function. True when that changed any.
    pub(crate) fn apply(&mut self, func: &mut Func) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut changed = false;
        // The order does not matter, so that one walk does.
        let mut todo: Vec<Region> = Vec::new();
        let mut next = Some(func.body);
        while let Some(region) = next {
            for &inst in &func.regions[region].insts {
                let data = &mut func.insts[inst];
                for arg in &mut data.args {
                    let value = self.get(*arg);
                    changed |= value != *arg;
                    *arg = value;
                }
                if data.op.flags().has(Flags::REGIONS) {
                    todo.extend_from_slice(&data.regions);
                }
            }
            next = todo.pop();
        }
        changed
    }
}

//! Unreachable-code elimination.
//!
//! An arm that ends nowhere is never taken: what leads to `unreachable` goes, and with it the branch.
//!
//! `simplify` writes `unreachable` where a loop would run for ever; WGSL lets us assume that loops end.
//! This pass stands after `fold`, which has learned from the branch what it can.

use crate::{ctx::Ctx, rename::Renames};
use gpucc_ir::ssa::{Flags, Func, Inst, Op, Region};

/// Prunes regions, innermost first.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let order = func.regions_in_order();
    let any = order.iter().any(|&(region, ..)| {
        let end = func.terminator(region);
        end.is_some_and(|end| func.insts[end].op == Op::Unreachable)
    });
    if !any {
        return false;
    }
    let mut prune = Prune { ctx, renames: Renames::new(), changed: false };
    for &(region, ..) in order.iter().rev() {
        prune.region(func, region);
    }
    let Prune { mut renames, changed, .. } = prune;
    renames.apply(func);
    changed
}

struct Prune<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    renames: Renames,
    changed: bool,
}

impl Prune<'_, '_> {
    /// Takes out branches of which one arm is never taken, then what only leads to `unreachable`.
    fn region(&mut self, func: &mut Func, region: Region) {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.ctx.steps += 1;
            match self.only_arm(func, inst) {
                Some(arm) => {
                    self.inline(func, inst, arm, &mut out);
                    if ends(func, &out) {
                        break;
                    }
                }
                None => out.push(inst),
            }
        }
        self.tail(func, &mut out);
        func.regions[region].insts = out;
    }

    /// The arm of an `if` that is taken, when the other never is.
    fn only_arm(&mut self, func: &Func, inst: Inst) -> Option<Region> {
        let data = &func.insts[inst];
        if data.op != Op::If {
            return None;
        }
        let (yes, no) = (data.regions[0], data.regions[1]);
        let arm = match (never(func, yes), never(func, no)) {
            (false, true) => yes,
            (true, false) => no,
            _ => return None,
        };
        self.ctx.draw().then_some(arm)
    }

    fn inline(&mut self, func: &mut Func, branch: Inst, arm: Region, out: &mut Vec<Inst>) {
        self.changed = true;
        let mut inner = std::mem::take(&mut func.regions[arm].insts);
        let end = inner.pop().expect("a region ends in a terminator");
        out.append(&mut inner);
        if func.insts[end].op != Op::Yield {
            out.push(end);
            return;
        }
        let given = func.insts[branch].results.iter().zip(&func.insts[end].args);
        for (&result, &value) in given {
            self.renames.set(result, value);
        }
    }

    /// What only computes before `unreachable` goes, and an arm that would come there is never taken either.
    fn tail(&mut self, func: &mut Func, out: &mut Vec<Inst>) {
        while let [.., last, end] = out[..]
            && func.insts[end].op == Op::Unreachable
        {
            let data = &func.insts[last];
            if data.op == Op::If {
                if !self.ctx.draw() {
                    return;
                }
                let arms = data.regions.clone();
                for &arm in &arms {
                    self.never_yields(func, arm);
                }
                let left: Vec<Region> = arms.into_iter().filter(|&arm| !never(func, arm)).collect();
                match left[..] {
                    [] => {
                        out.remove(out.len() - 2);
                    }
                    [arm] => {
                        out.truncate(out.len() - 2);
                        self.inline(func, last, arm, out);
                    }
                    _ => return,
                }
            } else if data.regions.is_empty() && !data.flags().has(Flags::EFFECT) {
                if !self.ctx.draw() {
                    return;
                }
                out.remove(out.len() - 2);
            } else {
                return;
            }
            self.changed = true;
        }
    }

    /// After the `if` comes nothing, so its arm does not come there.
    fn never_yields(&mut self, func: &mut Func, arm: Region) {
        let Some(end) = func.terminator(arm) else {
            return;
        };
        if func.insts[end].op == Op::Yield {
            func.insts[end].op = Op::Unreachable;
            func.insts[end].args.clear();
            self.changed = true;
        }
        let mut insts = std::mem::take(&mut func.regions[arm].insts);
        self.tail(func, &mut insts);
        func.regions[arm].insts = insts;
    }
}

/// The region is nothing but `unreachable`.
fn never(func: &Func, region: Region) -> bool {
    matches!(func.regions[region].insts[..], [end] if func.insts[end].op == Op::Unreachable)
}

fn ends(func: &Func, out: &[Inst]) -> bool {
    out.last().is_some_and(|&end| func.insts[end].op.is_terminator())
}

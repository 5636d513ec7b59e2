//! Signed operations on what is never negative.
//!
//! A quotient or a remainder of such values is an unsigned one, which needs no correction. The greater or the smaller of
//! two values whose order is known is one of them. What is known comes from conditions around, loop counters
//! with a bound, and masks.

use crate::{
    ctx::Ctx,
    range::{RangeWalk, Ranges},
    rename::Renames,
    shape::Shape,
};
use gpucc_ir::ssa::{Func, Inst, Op, Region};

/// Rewrites what pays.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let signed = |op: Op| matches!(op, Op::SDiv | Op::SRem | Op::SMin | Op::SMax);
    if !func.any_inst(|data| signed(data.op)) {
        return false;
    }
    let shape = Shape::find(func);
    ctx.steps += shape.count;
    let ranges = Ranges::new(func);
    let mut signs = Signs { ctx, ranges, shape, renames: Renames::new(), changed: false };
    signs.region(func, func.body);
    let Signs { mut renames, changed, .. } = signs;
    renames.apply(func);
    changed
}

struct Signs<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    ranges: Ranges,
    shape: Shape,
    renames: Renames,
    changed: bool,
}

impl RangeWalk for Signs<'_, '_> {
    fn known(&mut self) -> (&mut Ranges, &Shape) {
        (&mut self.ranges, &self.shape)
    }

    fn region(&mut self, func: &mut Func, region: Region) {
        let mark = self.ranges.mark();
        for at in 0..func.regions[region].insts.len() {
            let inst = func.regions[region].insts[at];
            self.ctx.steps += 1;
            self.renames.args(func, inst);
            match func.insts[inst].op {
                Op::If | Op::Loop | Op::Block => self.construct(func, region, inst),
                Op::Continue => self.continues(inst),
                _ => {
                    self.rewrite(func, inst);
                    self.ranges.define(func, inst);
                }
            }
        }
        self.ranges.undo(&mark);
    }
}

impl Signs<'_, '_> {
    fn rewrite(&mut self, func: &mut Func, inst: Inst) {
        let data = &func.insts[inst];
        let [a, b] = data.args[..] else { return };
        let positive = func.ty(a).mask() >> 1;
        let (most_a, most_b) = (self.ranges.max(func, a), self.ranges.max(func, b));
        if most_a > positive || most_b > positive {
            return;
        }
        let less = |a, b| self.ranges.max(func, a) <= self.ranges.least(func, b);
        let unsigned = match data.op {
            Op::SDiv => Some(Op::UDiv),
            Op::SRem => Some(Op::URem),
            _ => None,
        };
        let kept = match data.op {
            Op::SMin if less(a, b) => Some(a),
            Op::SMin if less(b, a) => Some(b),
            Op::SMax if less(a, b) => Some(b),
            Op::SMax if less(b, a) => Some(a),
            _ => None,
        };
        if unsigned.is_none() && kept.is_none() || !self.ctx.draw() {
            return;
        }
        self.changed = true;
        if let Some(op) = unsigned {
            func.insts[inst].op = op;
        }
        if let Some(kept) = kept {
            self.renames.set(func.insts[inst].results[0], kept);
        }
    }
}

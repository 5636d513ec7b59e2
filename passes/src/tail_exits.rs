//! Structurisation of early exits: nesting of what follows.
//!
//! What follows an `if` of which one arm leaves the labelled block around it moves into the other arm,
//! and leaving becomes yielding: `if` and `else` say the same without a jump, and small arms become
//! selects.
//!
//! Only exits that stand at the end of an arm in tail position can go: the `if` stands in the block's own
//! region, or in an arm of an `if` whose results the block yields as they are. No flag is needed and
//! nothing is computed twice. For machines with branches; others get rid of every exit elsewhere
//! ([`crate::exits_to_guards`]).

use crate::{ctx::Ctx, rename::Renames};
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Region, Type, Value};
use smallvec::SmallVec;

/// Arms within arms that exits of one block may make: nesting is bounded.
const DEPTH: u32 = 16;
/// Blocks nested deeper than this stay as they are, so that nests of them do not grow without bound.
const OUTERMOST: u32 = 8;

/// Moves what can be moved in every block.
pub(crate) fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let mut renames = Renames::new();
    let mut changed = false;
    for (region, _, nesting) in func.regions_in_order() {
        if nesting > OUTERMOST {
            continue;
        }
        let blocks: SmallVec<[Inst; 4]> = func.regions[region]
            .insts
            .iter()
            .copied()
            .filter(|&inst| func.insts[inst].op == Op::Block)
            .collect();
        for block in blocks {
            let mut tail = Tail {
                ctx: &mut *ctx,
                renames: &mut renames,
                block,
                types: func.insts[block].results.iter().map(|&result| func.ty(result)).collect(),
                changed: false,
            };
            let body = func.insts[block].regions[0];
            tail.region(func, body, DEPTH);
            changed |= tail.changed;
        }
    }
    renames.apply(func);
    changed
}

struct Tail<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    renames: &'a mut Renames,
    block: Inst,
    types: SmallVec<[Type; 4]>,
    changed: bool,
}

impl Tail<'_, '_> {
    /// The terminator of an arm, when it leaves the block.
    fn exit(&self, func: &Func, arm: Region) -> Option<Inst> {
        let end = func.terminator(arm)?;
        let data = &func.insts[end];
        (data.op == Op::Exit && data.imm == Imm::Label(self.block)).then_some(end)
    }

    /// Leaving becomes yielding: what is yielded here is what the block yields.
    fn yields(&mut self, func: &mut Func, exit: Inst) {
        func.insts[exit].op = Op::Yield;
        func.insts[exit].imm = Imm::None;
    }

    /// A region that yields what the block yields.
    fn region(&mut self, func: &mut Func, region: Region, depth: u32) {
        self.ctx.steps += 1;
        if depth == 0 {
            return;
        }
        if let Some(exit) = self.exit(func, region)
            && self.ctx.draw()
        {
            self.yields(func, exit);
            self.changed = true;
        }
        let leaving = func.regions[region].insts.iter().position(|&inst| {
            let data = &func.insts[inst];
            data.op == Op::If && data.regions.iter().any(|&arm| self.exit(func, arm).is_some())
        });
        let Some(at) = leaving else {
            return self.passed_on(func, region, depth);
        };
        if !self.ctx.draw() {
            return;
        }
        self.changed = true;
        let rest = func.regions[region].insts.split_off(at + 1);
        let branch = func.regions[region].insts[at];
        let arms = func.insts[branch].regions.clone();
        let mut rest = Some(rest);
        for &arm in &arms {
            if let Some(exit) = self.exit(func, arm) {
                self.yields(func, exit);
                continue;
            }
            let end = func.terminator(arm).expect("a region ends in a terminator");
            // An arm that leaves for elsewhere stays; where it yields, the rest follows.
            if func.insts[end].op == Op::Yield
                && let Some(mut rest) = rest.take()
            {
                func.regions[arm].insts.pop();
                for index in 0..func.insts[branch].results.len() {
                    let from = func.insts[branch].results[index];
                    self.renames.set(from, func.insts[end].args[index]);
                }
                func.regions[arm].insts.append(&mut rest);
            }
        }
        func.insts[branch].results.clear();
        let results: SmallVec<[Value; 4]> =
            self.types.iter().map(|&ty| func.add_result(branch, ty)).collect();
        let span = func.insts[branch].span;
        let end = func.new_inst(InstData::new(Op::Yield, Imm::None, &results, span), &[]);
        func.regions[region].insts.push(end);
        for &arm in &arms {
            self.region(func, arm, depth - 1);
        }
    }

    /// Arms of a last `if` whose results are yielded as they are end where the region ends.
    fn passed_on(&mut self, func: &mut Func, region: Region, depth: u32) {
        let [.., last, end] = func.regions[region].insts[..] else {
            return;
        };
        let (data, yielded) = (&func.insts[last], &func.insts[end]);
        let same = data.op == Op::If
            && yielded.op == Op::Yield
            && yielded.args.len() == data.results.len()
            && yielded.args.iter().eq(data.results.iter());
        if same {
            for arm in data.regions.clone() {
                self.region(func, arm, depth - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctx::{Neutral, Options};
    use gpucc_ir::ssa::{Builder, Numerics, Stage, verify};

    #[test]
    fn an_exit_at_the_end_of_an_arm_becomes_the_value_of_the_if() {
        let mut func = Func::new("early", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let cond = b.bool(true);
        let (one, two) = (b.u32(1), b.u32(2));
        b.block(&[Type::B32], |b, label| {
            b.if_else(
                cond,
                &[],
                |b| {
                    b.exit(label, &[one]);
                    vec![]
                },
                |_| vec![],
            );
            vec![b.op2(Op::IAdd, one, two)]
        });
        b.end(Op::Yield, &[]);
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        assert!(run(&mut func, &mut ctx));
        verify(&func).expect("still sound");
        let exits = func
            .regions_in_order()
            .iter()
            .flat_map(|&(region, ..)| func.regions[region].insts.clone())
            .filter(|&inst| func.insts[inst].op == Op::Exit)
            .count();
        assert_eq!(exits, 0);
    }
}

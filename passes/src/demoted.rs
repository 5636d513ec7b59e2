//! Dead-code elimination for helper invocations.
//!
//! What a demoted invocation would still compute goes, where nobody sees it.
//!
//! A demoted invocation goes on only so that its neighbours can take differences; its outputs and
//! stores are dropped. In a program without derivatives, samples that need them and exchanges between
//! lanes, nothing after a `demote` can be seen: the rest of its region goes, and it gives whatever
//! others give, so that results become one value. A trip that demotes is the last. As what it gives may not be
//! what the program meant, no loop may follow: it might not end.

use crate::{
    ctx::Ctx,
    shape::{Carries, Shape, carried},
    walk::{Event, walk},
};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Flags, Func, Inst, Op, Region, Span, Stage, Type, Value, ValueDef};
use smallvec::SmallVec;

/// Takes out what comes after demotions.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    if func.stage != Stage::Fragment || ctx.guarded {
        return false;
    }
    let order = func.regions_in_order();
    let mut demoting: Vec<Region> = Vec::new();
    for &(region, ..) in &order {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let seen = data.flags().has(Flags::QUAD)
                || matches!(
                    data.op,
                    Op::IsHelper | Op::Ballot | Op::Shuffle | Op::Reduce | Op::SubgroupBarrier
                );
            if seen {
                return false;
            }
            if data.op == Op::Demote && demoting.last() != Some(&region) {
                demoting.push(region);
            }
        }
    }
    if demoting.is_empty() {
        return false;
    }
    let shape = Shape::find(func);
    ctx.steps += shape.count;
    let mut defined: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(func.values.len());
    let mut starts: SecondaryMap<Inst, u32> = SecondaryMap::with_capacity(func.insts.len());
    let (mut position, mut uncertain) = (0, 0);
    walk(func, |event| {
        position += 1;
        let values = match event {
            Event::Enter(region) => &func.regions[region].params[..],
            Event::Inst(inst) => {
                starts[inst] = position;
                if matches!(func.insts[inst].op, Op::Loop | Op::Unreachable) {
                    uncertain = position;
                }
                match func.insts[inst].regions.is_empty() {
                    true => &func.insts[inst].results[..],
                    false => &[],
                }
            }
            Event::After(inst) => &func.insts[inst].results[..],
            Event::Leave(_) => &[],
        };
        for &value in values {
            defined[value] = position;
        }
    });
    let mut demoted =
        Demoted { shape, defined, starts, uncertain, zeros: [None; 4], prologue: Vec::new() };
    let mut changed = false;
    for region in demoting {
        changed |= demoted.region(func, ctx, region);
    }
    let prologue = demoted.prologue;
    func.regions[func.body].insts.splice(0..0, prologue);
    changed
}

struct Demoted {
    shape: Shape,
    /// Places of definitions and constructs in program order.
    defined: SecondaryMap<Value, u32>,
    starts: SecondaryMap<Inst, u32>,
    /// The last place where what a value is decides whether the program ends.
    uncertain: u32,
    zeros: [Option<Value>; 4],
    prologue: Vec<Inst>,
}

impl Demoted {
    /// Ends a region at its first demotion.
    fn region(&mut self, func: &mut Func, ctx: &mut Ctx, region: Region) -> bool {
        let list = &func.regions[region].insts;
        let at = list.iter().position(|&inst| func.insts[inst].op == Op::Demote);
        let (Some(at), Some(end)) = (at, func.terminator(region)) else {
            return false;
        };
        let target = self.shape.target[end].expand();
        // Where the end is never reached, something before it leaves.
        let leaves = match func.insts[end].op {
            Op::Yield => target.is_some(),
            Op::Exit | Op::Break | Op::Continue => true,
            _ => return false,
        };
        let again = target.is_some_and(|target| self.in_loop(func, target));
        if again || self.starts[end] < self.uncertain {
            return false;
        }
        let continues = func.insts[end].op == Op::Continue;
        let args: SmallVec<[Value; 4]> = match target.filter(|_| leaves) {
            Some(target) => (0..func.insts[target].results.len())
                .map(|index| self.any(func, target, end, index))
                .collect(),
            None => SmallVec::new(),
        };
        let done = at + 2 == func.regions[region].insts.len();
        if done && !continues && func.insts[end].args == args || !ctx.draw() {
            return false;
        }
        func.regions[region].insts.truncate(at + 1);
        func.regions[region].insts.push(end);
        if continues {
            func.insts[end].op = Op::Break;
        }
        func.insts[end].args = args.into_iter().collect();
        true
    }

    fn in_loop(&self, func: &Func, inst: Inst) -> bool {
        let mut around = self.shape.owner[inst].expand();
        while let Some(owner) = around {
            if func.insts[owner].op == Op::Loop {
                return true;
            }
            around = self.shape.owner[owner].expand();
        }
        false
    }

    /// A value to leave with: what others leave with, if it is there before the construct.
    fn any(&mut self, func: &mut Func, target: Inst, not: Inst, index: usize) -> Value {
        let body = func.insts[target].regions[0];
        let is_loop = func.insts[target].op == Op::Loop;
        let there = |value: Value| {
            let param =
                matches!(func.values[value].def, ValueDef::Param(region, _) if region == body);
            self.defined[value] < self.starts[target] || is_loop && param
        };
        let found = self.shape.terminators(target).find_map(|term| {
            let range = carried(func, term, target, Carries::Results);
            let value = *func.insts[term].args.get(range.start + index)?;
            (term != not && index < range.len() && there(value)).then_some(value)
        });
        let ty = func.ty(func.insts[target].results[index]);
        found.unwrap_or_else(|| self.zero(func, ty))
    }

    fn zero(&mut self, func: &mut Func, ty: Type) -> Value {
        if let Some(value) = self.zeros[ty as usize] {
            return value;
        }
        let inst = func.new_constant(ty, 0, Span::NONE);
        self.prologue.push(inst);
        let value = func.insts[inst].results[0];
        self.zeros[ty as usize] = Some(value);
        value
    }
}

//! Simpler control flow: what follows an early exit becomes an `else`, constant branches are taken,
//! blocks that nobody leaves dissolve, loops that never come round become blocks, what no control
//! reaches goes, and an `if` with only an `else` asks the opposite.

use crate::{ctx::Ctx, rename::Renames, shape::Shape};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Region, ResourceKind, Span, Type, Value};
use smallvec::SmallVec;

/// Instructions of a loop that are looked at to see whether its trips are all the same.
const LOOKED_AT: u32 = 200;

/// Simplifies regions, innermost first.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let moved = ctx.target.has_branches() && crate::tail_exits::run(func, ctx);
    let mut shape = None;
    let mut exits: SecondaryMap<Inst, u32> = SecondaryMap::new();
    let mut simplify = Simplify { ctx, renames: Renames::new(), changed: moved };
    let mut order = func.regions_in_order();
    let mut loops: Vec<(Region, Inst)> = Vec::new();
    for &(region, ..) in &order {
        let insts = &func.regions[region].insts;
        simplify.ctx.steps += insts.len() as u64;
        let is_loop = |inst: &&Inst| func.insts[**inst].op == Op::Loop;
        loops.extend(insts.iter().filter(is_loop).map(|&inst| (region, inst)));
    }
    // Outer loops come first. What they make of inner terminators is counted afterwards.
    for (region, inst) in loops {
        if func.regions[region].insts.is_empty() {
            // What it held was moved.
            continue;
        }
        let shape = shape.get_or_insert_with(|| Shape::find(func));
        simplify.straighten(func, shape, inst);
    }
    for &(region, ..) in &order {
        if let Some(&last) = func.regions[region].insts.last()
            && func.insts[last].op == Op::Exit
            && let Imm::Label(block) = func.insts[last].imm
        {
            exits[block] += 1;
        }
    }
    if shape.is_some() && simplify.changed {
        order = func.regions_in_order();
    }
    for &(region, ..) in order.iter().rev() {
        simplify.region(func, region, &mut exits);
    }
    let Simplify { mut renames, changed, .. } = simplify;
    renames.apply(func);
    changed
}

struct Simplify<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    renames: Renames,
    changed: bool,
}

impl Simplify<'_, '_> {
    /// A loop whose body never continues, or that ends after its first trip, becomes a block, its breaks
    /// become exits.
    /// Outer loops come first, so what is counted of inner terminators is counted afterwards.
    fn straighten(&mut self, func: &mut Func, shape: &Shape, inst: Inst) {
        let mut terms: SmallVec<[Inst; 8]> = shape.terminators(inst).collect();
        let body = func.insts[inst].regions[0];
        if !self.ctx.guarded
            && !self.ctx.bounded
            && trips_alike(func, self.ctx, inst)
            && self.once_or_never(func, inst, &mut terms)
        {
            self.changed = true;
        }
        // A machine without exits keeps its loops of one trip, but for one that ends in its only break.
        let dissolves = terms.len() == 1 && func.terminator(body) == Some(terms[0]);
        if self.ctx.guarded && !dissolves {
            return;
        }
        if terms.iter().any(|&term| func.insts[term].op == Op::Continue) {
            return self.once(func, inst, &terms);
        }
        if !self.ctx.draw() {
            return;
        }
        self.changed = true;
        for term in terms {
            if func.insts[term].op == Op::Break {
                func.insts[term].op = Op::Exit;
                func.insts[term].imm = Imm::Label(inst);
            }
        }
        self.dissolve(func, inst, body);
    }

    /// Who does not leave a loop in its first trip, all trips of which are the same, never leaves it. Loops
    /// end, so nobody goes on to a second.
    fn once_or_never(
        &mut self,
        func: &mut Func,
        inst: Inst,
        terms: &mut SmallVec<[Inst; 8]>,
    ) -> bool {
        let continuing = func.insts[inst].regions[1];
        let ends =
            func.terminator(continuing).is_some_and(|last| func.insts[last].op == Op::BreakIf);
        let goes_on = terms.iter().any(|&term| func.insts[term].op == Op::Continue);
        if ends || !goes_on || !self.ctx.draw() {
            return false;
        }
        terms.retain(|term| {
            let goes_on = func.insts[*term].op == Op::Continue;
            if goes_on {
                func.insts[*term].op = Op::Unreachable;
                func.insts[*term].args.clear();
            }
            !goes_on
        });
        true
    }

    /// A loop whose body runs once becomes that body as a block; its parameters are what they start as.
    fn dissolve(&mut self, func: &mut Func, inst: Inst, body: Region) {
        func.insts[inst].op = Op::Block;
        func.insts[inst].regions.truncate(1);
        let inits = std::mem::take(&mut func.insts[inst].args);
        let params = std::mem::take(&mut func.regions[body].params);
        for (param, init) in params.into_iter().zip(inits) {
            self.renames.set(param, init);
        }
    }

    /// A loop that its `continuing` always ends becomes two blocks: going on leaves the inner one, and
    /// what `continuing` holds comes after it.
    fn once(&mut self, func: &mut Func, inst: Inst, terms: &[Inst]) {
        let data = &func.insts[inst];
        let (body, continuing) = (data.regions[0], data.regions[1]);
        let results = data.results.len();
        let Some(last) = func.terminator(continuing) else {
            return;
        };
        let ends = func.insts[last].op == Op::BreakIf
            && func.as_const(func.insts[last].args[0]) == Some(1);
        if self.ctx.guarded || !ends || !self.ctx.draw() {
            return;
        }
        self.changed = true;
        if func.regions[continuing].insts.len() == 1 {
            return self.once_and_out(func, inst, last, terms);
        }
        let params = std::mem::take(&mut func.regions[continuing].params);
        let types: SmallVec<[Type; 4]> = params.iter().map(|&param| func.ty(param)).collect();
        let span = func.insts[inst].span;
        let around = func.new_region();
        let plain = |op: Op, regions: &[Region]| InstData {
            regions: regions.iter().copied().collect(),
            ..InstData::new(op, Imm::None, &[], span)
        };
        let inner = func.new_inst(plain(Op::Block, &[body]), &types);
        for &term in terms {
            let label = match func.insts[term].op {
                Op::Break => inst,
                Op::Continue => inner,
                _ => continue,
            };
            func.insts[term].op = Op::Exit;
            func.insts[term].imm = Imm::Label(label);
        }
        for (index, param) in params.into_iter().enumerate() {
            let value = func.insts[inner].results[index];
            self.renames.set(param, value);
        }
        let inits = std::mem::take(&mut func.insts[inst].args);
        for (param, init) in std::mem::take(&mut func.regions[body].params).into_iter().zip(inits) {
            self.renames.set(param, init);
        }
        let end = &mut func.insts[last];
        end.op = Op::Yield;
        end.args = SmallVec::from_slice(&end.args[1..1 + results]);
        let after = std::mem::take(&mut func.regions[continuing].insts);
        func.regions[around].insts.push(inner);
        func.regions[around].insts.extend(after);
        func.insts[inst].op = Op::Block;
        func.insts[inst].regions = [around].into_iter().collect();
    }

    /// The same where `continuing` does nothing: going on leaves the one block with its results.
    fn once_and_out(&mut self, func: &mut Func, inst: Inst, last: Inst, terms: &[Inst]) {
        let (body, continuing) = (func.insts[inst].regions[0], func.insts[inst].regions[1]);
        let results = func.insts[inst].results.len();
        let given: SmallVec<[Value; 4]> =
            SmallVec::from_slice(&func.insts[last].args[1..1 + results]);
        let params = std::mem::take(&mut func.regions[continuing].params);
        for &term in terms {
            if func.insts[term].op == Op::Continue {
                let args = given.iter().map(|&value| {
                    let index = params.iter().position(|&param| param == value);
                    index.map_or(value, |index| func.insts[term].args[index])
                });
                func.insts[term].args = args.collect();
            } else if func.insts[term].op != Op::Break {
                continue;
            }
            func.insts[term].op = Op::Exit;
            func.insts[term].imm = Imm::Label(inst);
        }
        self.dissolve(func, inst, body);
    }

    fn region(&mut self, func: &mut Func, region: Region, exits: &mut SecondaryMap<Inst, u32>) {
        let plain = func.regions[region]
            .insts
            .iter()
            .all(|&inst| !matches!(func.insts[inst].op, Op::If | Op::Block));
        if plain {
            return;
        }
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        let mut rest = insts.into_iter();
        while let Some(inst) = rest.next() {
            let dissolved = match func.insts[inst].op {
                Op::If => self.taken_arm(func, inst),
                Op::Block => self.unlabelled(func, inst, exits),
                _ => None,
            };
            if let Some(inner) = dissolved
                && self.ctx.draw()
            {
                self.changed = true;
                let mut inner = std::mem::take(&mut func.regions[inner].insts);
                let end = inner.pop().expect("a region ends in a terminator");
                out.append(&mut inner);
                if func.insts[end].op != Op::Yield {
                    out.push(end);
                    break;
                }
                for index in 0..func.insts[inst].results.len() {
                    let (from, to) = (func.insts[inst].results[index], func.insts[end].args[index]);
                    self.renames.set(from, to);
                }
                continue;
            }
            if func.insts[inst].op == Op::If {
                self.orient(func, inst, &mut out);
            }
            out.push(inst);
            if func.insts[inst].op == Op::If
                && func.insts[inst].regions.iter().all(|&arm| leaves(func, arm))
            {
                // Both arms leave, so nothing comes after.
                let left = rest.as_slice();
                let already = matches!(left, [end] if func.insts[*end].op == Op::Unreachable);
                if !already && self.ctx.draw() {
                    self.changed = true;
                    func.insts[inst].results.clear();
                    let end = func
                        .new_inst(InstData::new(Op::Unreachable, Imm::None, &[], Span::NONE), &[]);
                    out.push(end);
                    break;
                }
            }
        }
        func.regions[region].insts = out;
    }

    /// An `if` that only does something when its condition fails asks the opposite: a mask-stack
    /// machine then needs no `else`.
    fn orient(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) {
        let idle = |arm: Region| matches!(func.regions[arm].insts[..], [end] if func.insts[end].op == Op::Yield);
        let arms = &func.insts[inst].regions;
        if !idle(arms[0]) || idle(arms[1]) || !self.ctx.draw() {
            return;
        }
        self.changed = true;
        let data = &func.insts[inst];
        let not = InstData::new(Op::Not, Imm::None, &data.args, data.span);
        let not = func.new_inst(not, &[Type::B1]);
        out.push(not);
        func.insts[inst].args[0] = func.insts[not].results[0];
        func.insts[inst].regions.swap(0, 1);
    }

    /// The arm that a constant condition takes.
    fn taken_arm(&mut self, func: &Func, inst: Inst) -> Option<Region> {
        let cond: Value = self.renames.get(func.insts[inst].args[0]);
        let bits = func.as_const(cond)?;
        Some(func.insts[inst].regions[usize::from(bits == 0)])
    }

    /// The region of a block that nobody leaves early; its own last exit becomes a yield first.
    fn unlabelled(
        &mut self,
        func: &mut Func,
        inst: Inst,
        exits: &mut SecondaryMap<Inst, u32>,
    ) -> Option<Region> {
        let region = func.insts[inst].regions[0];
        let end = func.terminator(region)?;
        let own = func.insts[end].op == Op::Exit && func.insts[end].imm == Imm::Label(inst);
        if own && self.ctx.draw() {
            self.changed = true;
            func.insts[end].op = Op::Yield;
            func.insts[end].imm = Imm::None;
            exits[inst] -= 1;
        }
        (exits[inst] == 0).then_some(region)
    }
}

/// A loop carries nothing from trip to trip, changes nothing and reads only what nobody changes.
fn trips_alike(func: &Func, ctx: &mut Ctx, inst: Inst) -> bool {
    if !func.insts[inst].args.is_empty() {
        return false;
    }
    let mut left = LOOKED_AT;
    let mut work: SmallVec<[Region; 8]> = func.insts[inst].regions.iter().copied().collect();
    while let Some(region) = work.pop() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let plain = match data.op {
                Op::BufferLoad => is_uniform(func, data),
                op => op.is_pure() || op.is_terminator() || !data.regions.is_empty(),
            };
            ctx.steps += 1;
            if !plain || left == 0 {
                return false;
            }
            left -= 1;
            work.extend(data.regions.iter().copied());
        }
    }
    true
}

/// A read of what no shader writes.
fn is_uniform(func: &Func, data: &InstData) -> bool {
    matches!(data.imm, Imm::Resource(resource) if matches!(
        func.resources[resource].kind,
        ResourceKind::Uniform { .. } | ResourceKind::Immediate { .. }
    ))
}

/// True when control never comes out of the end of an `if`'s arm.
fn leaves(func: &Func, arm: Region) -> bool {
    func.terminator(arm).is_some_and(|end| func.insts[end].op != Op::Yield)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctx::{Neutral, Options};
    use gpucc_ir::ssa::{Builder, Numerics, Stage, verify};

    /// Loops and exits left of a loop of one trip; its end computes where asked.
    fn left(computes: bool) -> (usize, usize) {
        let mut func = Func::new("once", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let (cond, one, two) = (b.bool(true), b.u32(1), b.u32(2));
        let pick = b.op2(Op::IEq, one, two);
        b.loop_(
            &[one],
            &[Type::B32],
            &[Type::B32],
            |b, params| {
                let x = params[0];
                b.if_else(
                    pick,
                    &[],
                    |b| {
                        b.end(Op::Break, &[x]);
                        vec![]
                    },
                    |_| vec![],
                );
                b.if_else(
                    pick,
                    &[],
                    |b| {
                        b.end(Op::Continue, &[two]);
                        vec![]
                    },
                    |_| vec![],
                );
                b.end(Op::Continue, &[one]);
            },
            |b, params| {
                let y = match computes {
                    true => b.op2(Op::IAdd, params[0], one),
                    false => params[0],
                };
                b.end(Op::BreakIf, &[cond, y, y]);
            },
        );
        b.end(Op::Yield, &[]);
        verify(&func).expect("sound before");
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        assert!(run(&mut func, &mut ctx));
        verify(&func).expect("still sound");
        run(&mut func, &mut ctx);
        verify(&func).expect("sound when tails have moved");
        let count = |op: Op| {
            func.regions_in_order()
                .iter()
                .flat_map(|&(region, ..)| func.regions[region].insts.clone())
                .filter(|&inst| func.insts[inst].op == op)
                .count()
        };
        (count(Op::Loop), count(Op::Exit))
    }

    #[test]
    fn a_loop_that_its_end_always_leaves_is_no_loop_though_it_continues_early() {
        assert_eq!(left(true).0, 0);
    }

    #[test]
    fn where_the_end_does_nothing_not_even_a_jump_is_left() {
        assert_eq!(left(false), (0, 0));
    }
}

//! Jump threading and sinking of loads.
//!
//! Branches that ask the same one after the other become one, and what only one arm loads is loaded there.
//!
//! A private word that is loaded before an `if` and needed in one arm alone moves to the start of that arm,
//! when nothing between stores to its variable. Two `if`s in a row by one condition (or its opposite) become
//! one; what is computed between them moves before the first. Outer regions come first: what has come
//! together in an arm is looked at there.

use crate::{
    ctx::Ctx,
    rename::Renames,
    walk::{Event, walk},
};
use cranelift_entity::{EntitySet, SecondaryMap};
use gpucc_ir::ssa::{Flags, Func, Imm, Inst, Mem, MemSpace, Op, Region, Value, ValueDef};
use smallvec::SmallVec;

/// Joins branches.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let order = func.regions_in_order();
    if order.len() < 3 {
        return false;
    }
    let mut changed = sink(func, ctx);
    let mut join = Join { ctx, renames: Renames::new() };
    for (region, ..) in order {
        changed |= join.region(func, region);
    }
    join.renames.apply(func);
    changed
}

/// Where instructions and regions stand.
#[derive(Default)]
struct Places {
    position: SecondaryMap<Inst, u32>,
    starts: SecondaryMap<Region, u32>,
    /// The region and construct around each region.
    around: SecondaryMap<Region, Option<(Region, Inst)>>,
    /// Stores of each private variable, in order.
    stores: SecondaryMap<Mem, Vec<u32>>,
    /// The regions where each value of a private load is used.
    uses: SecondaryMap<Value, SmallVec<[Region; 2]>>,
}

fn private(func: &Func, inst: Inst) -> Option<Mem> {
    match func.insts[inst].imm {
        Imm::Mem(access) | Imm::MemAtomic(access, _) => {
            (func.mems[access.mem].space == MemSpace::Private).then_some(access.mem)
        }
        _ => None,
    }
}

impl Places {
    fn find(func: &Func) -> Places {
        let mut places = Places {
            position: func.by_inst(),
            uses: SecondaryMap::with_capacity(func.values.len()),
            ..Places::default()
        };
        let mut regions: Vec<Region> = Vec::new();
        let mut constructs: Vec<Inst> = Vec::new();
        let mut loaded: EntitySet<Value> = EntitySet::new();
        let mut position = 0;
        walk(func, |event| {
            position += 1;
            match event {
                Event::Enter(region) => {
                    places.starts[region] = position;
                    let outer = regions.last().copied();
                    places.around[region] = outer.zip(constructs.last().copied());
                    regions.push(region);
                }
                Event::Leave(_) => {
                    regions.pop();
                }
                Event::After(_) => {
                    constructs.pop();
                }
                Event::Inst(inst) => {
                    places.position[inst] = position;
                    let data = &func.insts[inst];
                    let here = *regions.last().expect("an instruction stands in a region");
                    for &arg in &data.args {
                        if loaded.contains(arg) && places.uses[arg].last() != Some(&here) {
                            places.uses[arg].push(here);
                        }
                    }
                    if let Some(mem) = private(func, inst) {
                        if data.flags().has(Flags::EFFECT) {
                            places.stores[mem].push(position);
                        } else {
                            loaded.extend(data.results.iter().copied());
                        }
                    }
                    if !data.regions.is_empty() {
                        constructs.push(inst);
                    }
                }
            }
        });
        places
    }

    /// The `if` of a region, and its arm, that alone uses these values.
    fn only_arm(&self, func: &Func, region: Region, values: &[Value]) -> Option<(Inst, Region)> {
        let mut only = None;
        for &user in values.iter().flat_map(|&value| &self.uses[value]) {
            let mut at = user;
            let (owner, arm) = loop {
                let (outer, owner) = self.around[at]?;
                if outer == region {
                    break (owner, at);
                }
                at = outer;
            };
            if func.insts[owner].op != Op::If || only.is_some_and(|only| only != (owner, arm)) {
                return None;
            }
            only = Some((owner, arm));
        }
        only
    }
}

/// Moves loads of private words into the arms that alone need them.
fn sink(func: &mut Func, ctx: &mut Ctx) -> bool {
    if !func.mems.values().any(|mem| mem.space == MemSpace::Private) {
        return false;
    }
    let mut places = Places::find(func);
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let mut moved: Vec<(Region, Inst)> = Vec::new();
        for &inst in &func.regions[region].insts {
            ctx.steps += 1;
            let data = &func.insts[inst];
            let Some(mem) = private(func, inst).filter(|_| data.op == Op::MemLoad) else {
                continue;
            };
            let Some((branch, arm)) = places.only_arm(func, region, &data.results) else {
                continue;
            };
            let (from, to) = (places.position[inst], places.position[branch]);
            let stores = &places.stores[mem];
            let next = stores.partition_point(|&store| store < from);
            if stores.get(next).is_none_or(|&store| store > to) && ctx.draw() {
                places.position[inst] = places.starts[arm];
                moved.push((arm, inst));
            }
        }
        if moved.is_empty() {
            continue;
        }
        changed = true;
        let mut gone: EntitySet<Inst> = EntitySet::new();
        gone.extend(moved.iter().map(|&(_, inst)| inst));
        func.regions[region].insts.retain(|&inst| !gone.contains(inst));
        // Each arm's loads in their order, before what stands there.
        moved.sort_by_key(|&(arm, _)| arm);
        for group in moved.chunk_by(|a, b| a.0 == b.0) {
            let loads = group.iter().map(|&(_, inst)| inst);
            func.regions[group[0].0].insts.splice(0..0, loads);
        }
    }
    changed
}

struct Join<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    renames: Renames,
}

impl Join<'_, '_> {
    fn region(&mut self, func: &mut Func, region: Region) -> bool {
        let branches = |&&inst: &&Inst| func.insts[inst].op == Op::If;
        if func.regions[region].insts.iter().filter(branches).count() < 2 {
            return false;
        }
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        // Where the last `if` stands, as long as only computations follow that do not need it.
        let mut first: Option<usize> = None;
        let mut changed = false;
        for inst in insts {
            self.ctx.steps += 1;
            self.renames.args(func, inst);
            let data = &func.insts[inst];
            if data.op != Op::If {
                let needs = first.is_some_and(|at| {
                    let of_first = |&arg: &Value| matches!(func.values[arg].def, ValueDef::Result(inst, _) if inst == out[at]);
                    data.args.iter().any(of_first)
                });
                if needs || !data.op.is_pure() {
                    first = None;
                }
                out.push(inst);
                continue;
            }
            if let Some(at) = first
                && let Some(opposite) = same(func, out[at], inst)
                && self.ctx.draw()
            {
                let branch = out.remove(at);
                self.append(func, branch, inst, opposite);
                first = Some(out.len());
                out.push(branch);
                changed = true;
            } else {
                first = Some(out.len());
                out.push(inst);
            }
        }
        func.regions[region].insts = out;
        changed
    }

    /// Appends the arms of the second `if` to those of the first.
    fn append(&mut self, func: &mut Func, first: Inst, second: Inst, opposite: bool) {
        for arm in 0..2 {
            let to = func.insts[first].regions[arm];
            let from = func.insts[second].regions[arm ^ usize::from(opposite)];
            let end = func.terminator(to).expect("a finished region");
            if func.insts[end].op != Op::Yield {
                // Who leaves here does not come to the second.
                continue;
            }
            func.regions[to].insts.pop();
            let given: SmallVec<[Value; 4]> = func.insts[end].args.iter().copied().collect();
            self.within(func, from, first, &given);
            let mut more = std::mem::take(&mut func.regions[from].insts);
            if let Some(&last) = more.last()
                && func.insts[last].op == Op::Yield
            {
                let mut args = given;
                args.extend(func.insts[last].args.iter().copied());
                func.insts[last].args = args.into_iter().collect();
            }
            func.regions[to].insts.append(&mut more);
        }
        for old in std::mem::take(&mut func.insts[second].results) {
            let ty = func.ty(old);
            let new = func.add_result(first, ty);
            self.renames.set(old, new);
        }
    }

    /// Inside the arm, what it gives stands for the results of the `if`.
    fn within(&mut self, func: &mut Func, arm: Region, branch: Inst, given: &[Value]) {
        if given.is_empty() {
            return;
        }
        let mut work: SmallVec<[Region; 8]> = SmallVec::from_slice(&[arm]);
        while let Some(region) = work.pop() {
            for index in 0..func.regions[region].insts.len() {
                let inst = func.regions[region].insts[index];
                self.ctx.steps += 1;
                for at in 0..func.insts[inst].args.len() {
                    let arg = self.renames.get(func.insts[inst].args[at]);
                    if let ValueDef::Result(of, index) = func.values[arg].def
                        && of == branch
                    {
                        func.insts[inst].args[at] = given[usize::from(index)];
                    }
                }
                work.extend(func.insts[inst].regions.iter().copied());
            }
        }
    }
}

/// Whether the second `if` asks the same as the first (false) or the opposite (true).
fn same(func: &Func, first: Inst, second: Inst) -> Option<bool> {
    let (a, b) = (func.insts[first].args[0], func.insts[second].args[0]);
    let not = |a: Value, b: Value| {
        let data = func.def(a).filter(|data| data.op == Op::Not);
        data.is_some_and(|data| data.args[0] == b)
    };
    match (a == b, not(a, b) || not(b, a)) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    }
}

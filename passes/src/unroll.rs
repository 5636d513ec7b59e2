//! Small loops of a constant number of trips become straight code: their indices are constants then.
//!
//! A loop is taken if running its counters at compile time decides every branch that may leave a trip, and
//! reaches the end within the target's limit of instructions. A loop that reaches its end later stays, but
//! what its counters then hold is a constant behind it. Inner loops come first.

use crate::{
    ctx::{Ctx, Level},
    rename::Renames,
};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use gpucc_ir::budget::MADE;
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Region, Value, ValueDef, eval_inst};
use smallvec::SmallVec;

/// Instructions of all trips that are run at compile time to learn what a loop leaves with.
const RUN: u32 = 1024;

/// Unrolls.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let limit = match ctx.options.level {
        Level::Omax => ctx.target.unroll_limit().saturating_mul(4),
        _ => ctx.target.unroll_limit(),
    };
    // A loop that the first run left was too large, or its counters have become known since: then it is taken if it is small.
    let limit = if std::mem::replace(&mut ctx.unrolled, true) { limit / 4 } else { limit };
    let order = func.regions_in_order();
    let any = order.iter().any(|&(region, ..)| {
        func.regions[region].insts.iter().any(|&inst| func.insts[inst].op == Op::Loop)
    });
    if !any || limit == 0 {
        return false;
    }
    let mut unroll = Unroll {
        limit,
        values: SecondaryMap::new(),
        labels: SecondaryMap::new(),
        known: SecondaryMap::new(),
        renames: Renames::new(),
    };
    // A loop that stays costs nothing: unrolling alone must not be what a budget refuses, here or up to the code.
    let room = ctx.budget.room(MADE);
    let mut changed = false;
    for &(region, ..) in order.iter().rev() {
        let has_loop = func.regions[region].insts.iter().any(|&i| func.insts[i].op == Op::Loop);
        if !has_loop {
            continue;
        }
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let fate = if func.insts[inst].op == Op::Loop && (func.insts.len() as u64) < room {
                unroll.fate(func, ctx, inst).filter(|_| ctx.draw())
            } else {
                None
            };
            match fate {
                Some(Fate::Unrolls(plan)) => {
                    let results = unroll.emit(func, inst, plan, &mut out);
                    for (index, value) in results.into_iter().enumerate() {
                        let result = func.insts[inst].results[index];
                        unroll.renames.set(result, value);
                    }
                    changed = true;
                }
                Some(Fate::Ends(known)) => {
                    for (index, bits) in known.into_iter().enumerate() {
                        let Some(bits) = bits else { continue };
                        let result = func.insts[inst].results[index];
                        let (ty, span) = (func.ty(result), func.insts[inst].span);
                        let constant = func.new_constant(ty, bits, span);
                        out.push(constant);
                        unroll.renames.set(result, func.insts[constant].results[0]);
                    }
                    out.push(inst);
                    changed = true;
                }
                None => out.push(inst),
            }
        }
        func.regions[region].insts = out;
    }
    unroll.renames.apply(func);
    changed
}

/// What decides the branches of all trips, in the order in which they are met: the condition, where it is a
/// constant.
type Plan = Vec<Option<bool>>;

/// What becomes of a loop.
enum Fate {
    /// It becomes its trips.
    Unrolls(Plan),
    /// It stays; its results, where they are constants. At least one is.
    Ends(SmallVec<[Option<u64>; 8]>),
}

/// Where a region leads when its counters are known.
#[derive(Copy, Clone)]
enum Way {
    /// To its end, by this `yield`.
    Yields(Inst),
    /// Out of the loop, round it, or out of a block in it, by this terminator.
    Leaves(Inst),
}

struct Unroll {
    limit: u32,
    /// What stands for a value of the loop in the copy being made.
    values: SecondaryMap<Value, PackedOption<Value>>,
    labels: SecondaryMap<Inst, PackedOption<Inst>>,
    /// Constants while trips are counted.
    known: SecondaryMap<Value, Option<u64>>,
    /// What stands for the results of inner loops that are gone.
    renames: Renames,
}

impl Unroll {
    /// Runs the loop's constants until a trip leaves it.
    fn fate(&mut self, func: &Func, ctx: &mut Ctx, inst: Inst) -> Option<Fate> {
        let data = &func.insts[inst];
        let (body, continuing) = (data.regions[0], data.regions[1]);
        let mut params: SmallVec<[Option<u64>; 8]> =
            data.args.iter().map(|&init| func.as_const(self.renames.get(init))).collect();
        // A loop that carries no constant has no counter.
        if params.iter().all(Option::is_none) {
            return None;
        }
        let mut plan = Plan::new();
        let most = self.limit.max(RUN);
        let mut left = most;
        // Every trip has at least a branch.
        for _ in 0..=most {
            for (&param, &bits) in func.regions[body].params.iter().zip(&params) {
                self.known[param] = bits;
            }
            let Way::Leaves(end) = self.simulate_all(func, ctx, body, &mut plan, &mut left)? else {
                return None;
            };
            match func.insts[end].op {
                Op::Break => return self.ends(func, &func.insts[end].args, plan, most - left),
                Op::Continue => self.pass(func, end, &func.regions[continuing].params.clone()),
                _ => return None,
            }
            self.simulate_all(func, ctx, continuing, &mut plan, &mut left)?;
            let end = func.terminator(continuing)?;
            let mut next = &func.insts[end].args[..];
            if func.insts[end].op == Op::BreakIf {
                let ends = self.bits(func, next[0])? != 0;
                plan.push(Some(ends));
                if ends {
                    let results = &next[1..=data.results.len()];
                    return self.ends(func, results, plan, most - left);
                }
                next = &next[1 + data.results.len()..];
            }
            params = next.iter().map(|&value| self.bits(func, value)).collect();
        }
        None
    }

    /// What becomes of a loop that ends after so many instructions, with these results.
    fn ends(&mut self, func: &Func, results: &[Value], plan: Plan, size: u32) -> Option<Fate> {
        if size <= self.limit {
            return Some(Fate::Unrolls(plan));
        }
        let known: SmallVec<_> = results.iter().map(|&value| self.bits(func, value)).collect();
        known.iter().any(Option::is_some).then_some(Fate::Ends(known))
    }

    fn bits(&mut self, func: &Func, value: Value) -> Option<u64> {
        let value = self.renames.get(value);
        self.known[value].or_else(|| func.as_const(value))
    }

    fn pass(&mut self, func: &Func, terminator: Inst, to: &[Value]) {
        for (index, &value) in to.iter().enumerate() {
            self.known[value] = self.bits(func, func.insts[terminator].args[index]);
        }
    }

    /// Follows a region as far as it is decided; none where it is not, or where the limit is reached.
    fn simulate_all(
        &mut self,
        func: &Func,
        ctx: &mut Ctx,
        region: Region,
        plan: &mut Plan,
        left: &mut u32,
    ) -> Option<Way> {
        for &inst in &func.regions[region].insts {
            ctx.steps += 1;
            let data = &func.insts[inst];
            *left = left.checked_sub(u32::from(data.op != Op::Const))?;
            let inner = match data.op {
                Op::If => {
                    let cond = self.bits(func, data.args[0]).map(|bits| bits != 0);
                    plan.push(cond);
                    cond.map(|cond| data.regions[usize::from(!cond)])
                }
                _ if data.op.is_terminator() => {
                    return Some(match data.op {
                        Op::Yield | Op::Next | Op::BreakIf => Way::Yields(inst),
                        _ => Way::Leaves(inst),
                    });
                }
                _ => None,
            };
            let Some(inner) = inner else {
                if !data.regions.is_empty() {
                    *left = left.checked_sub(stays_within(func, inst, *left)?)?;
                }
                self.simulate(func, ctx, inst);
                continue;
            };
            match self.simulate_all(func, ctx, inner, plan, left)? {
                Way::Yields(end) => self.pass(func, end, &data.results),
                leaves => return Some(leaves),
            }
        }
        None
    }

    /// Computes what is constant; what is not is unknown (results of an earlier trip are forgotten).
    fn simulate(&mut self, func: &Func, ctx: &Ctx, inst: Inst) {
        let data = &func.insts[inst];
        let args: Option<SmallVec<[u64; 8]>> =
            data.args.iter().map(|&arg| self.bits(func, arg)).collect();
        let value = match args {
            Some(args) if data.op.is_pure() && data.results.len() == 1 => {
                eval_inst(func, data, &args, &ctx.numerics)
            }
            None if data.op.is_pure() && data.results.len() == 1 => {
                self.either_way(func, ctx, data)
            }
            _ => None,
        };
        for &result in &data.results {
            self.known[result] = value;
        }
    }

    /// What is computed of a choice between constants, when it is the same for both.
    fn either_way(&mut self, func: &Func, ctx: &Ctx, data: &InstData) -> Option<u64> {
        let of = |unroll: &mut Self, arm: usize| {
            let args: Option<SmallVec<[u64; 8]>> = data
                .args
                .iter()
                .map(|&arg| {
                    let known = unroll.bits(func, arg);
                    known.or_else(|| {
                        let choice = func.def(arg).filter(|data| data.op == Op::Select)?;
                        func.as_const(choice.args[arm])
                    })
                })
                .collect();
            eval_inst(func, data, &args?, &ctx.numerics)
        };
        let open = data.args.iter().filter(|&&arg| self.bits(func, arg).is_none()).count();
        let first = of(self, 1).filter(|_| open == 1)?;
        (of(self, 2)? == first).then_some(first)
    }

    /// Writes the trips one after the other; gives the values of the loop's results.
    fn emit(&mut self, func: &mut Func, inst: Inst, plan: Plan, out: &mut Vec<Inst>) -> Vec<Value> {
        let (body, continuing) = (func.insts[inst].regions[0], func.insts[inst].regions[1]);
        let results = func.insts[inst].results.len();
        let mut params: Vec<Value> = func.insts[inst].args.to_vec();
        let mut plan = plan.into_iter();
        loop {
            self.bind(&func.regions[body].params.clone(), &params);
            let Way::Leaves(end) = self.emit_region(func, body, &mut plan, out) else {
                unreachable!("the plan leads round the loop or out of it");
            };
            let args = self.mapped(&func.insts[end].args.clone());
            if func.insts[end].op == Op::Break {
                return args;
            }
            self.bind(&func.regions[continuing].params.clone(), &args);
            let Way::Yields(end) = self.emit_region(func, continuing, &mut plan, out) else {
                unreachable!("continuing ends in its own terminator");
            };
            params = self.mapped(&func.insts[end].args.clone());
            if func.insts[end].op == Op::BreakIf {
                if plan.next().flatten() == Some(true) {
                    return params[1..1 + results].to_vec();
                }
                params.drain(..1 + results);
            }
        }
    }

    /// Writes what the plan runs of a region.
    fn emit_region(
        &mut self,
        func: &mut Func,
        region: Region,
        plan: &mut std::vec::IntoIter<Option<bool>>,
        out: &mut Vec<Inst>,
    ) -> Way {
        for inst in func.regions[region].insts.clone() {
            let op = func.insts[inst].op;
            if op.is_terminator() {
                return match op {
                    Op::Yield | Op::Next | Op::BreakIf => Way::Yields(inst),
                    _ => Way::Leaves(inst),
                };
            }
            let cond = (op == Op::If).then(|| plan.next().flatten()).flatten();
            let Some(cond) = cond else {
                self.copy(func, inst, out);
                continue;
            };
            let arm = func.insts[inst].regions[usize::from(!cond)];
            match self.emit_region(func, arm, plan, out) {
                Way::Yields(end) => {
                    let yields = self.mapped(&func.insts[end].args.clone());
                    self.bind(&func.insts[inst].results.clone(), &yields);
                }
                leaves => return leaves,
            }
        }
        unreachable!("a region ends in a terminator")
    }

    fn bind(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            self.values[from] = to.into();
        }
    }

    fn mapped(&mut self, values: &[Value]) -> Vec<Value> {
        let renames = &mut self.renames;
        let here = values.iter().map(|&value| renames.get(value));
        let here: SmallVec<[Value; 8]> = here.collect();
        here.into_iter().map(|value| self.values[value].expand().unwrap_or(value)).collect()
    }

    fn copy_all(&mut self, func: &mut Func, insts: &[Inst], out: &mut Vec<Inst>) {
        for &inst in insts {
            self.copy(func, inst, out);
        }
    }

    fn copy(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) {
        let mut data = func.insts[inst].clone();
        data.args = self.mapped(&data.args).into_iter().collect();
        if let Imm::Label(block) = &mut data.imm
            && let Some(copied) = self.labels[*block].expand()
        {
            *block = copied;
        }
        let old_results = std::mem::take(&mut data.results);
        let old_regions = std::mem::take(&mut data.regions);
        let types: SmallVec<[_; 4]> = old_results.iter().map(|&value| func.ty(value)).collect();
        let new = func.new_inst(data, &types);
        self.labels[inst] = new.into();
        for region in old_regions {
            let copied = func.new_region();
            let params = func.regions[region].params.clone();
            for &param in &params {
                let ty = func.ty(param);
                let new_param = func.add_param(copied, ty);
                self.values[param] = new_param.into();
            }
            let insts = func.regions[region].insts.clone();
            let mut inner = Vec::with_capacity(insts.len());
            self.copy_all(func, &insts, &mut inner);
            func.regions[copied].insts = inner;
            func.insts[new].regions.push(copied);
        }
        let new_results = func.insts[new].results.clone();
        self.bind(&old_results, &new_results);
        debug_assert!(
            new_results
                .iter()
                .all(|&v| matches!(func.values[v].def, ValueDef::Result(i, _) if i == new))
        );
        out.push(new);
    }
}

/// Instructions inside a construct of a loop, unless there are more than `limit` or one of them breaks or
/// continues the loop. Leaving for further out is the same in every trip.
fn stays_within(func: &Func, construct: Inst, limit: u32) -> Option<u32> {
    let mut size = 0u32;
    let mut work: SmallVec<[(Inst, bool); 8]> = SmallVec::from_slice(&[(construct, false)]);
    while let Some((inst, in_loop)) = work.pop() {
        let in_loop = in_loop || func.insts[inst].op == Op::Loop;
        for &region in &func.insts[inst].regions {
            for &inner in &func.regions[region].insts {
                let data = &func.insts[inner];
                size += u32::from(data.op != Op::Const);
                if size > limit || !in_loop && matches!(data.op, Op::Break | Op::Continue) {
                    return None;
                }
                if !data.regions.is_empty() {
                    work.push((inner, in_loop));
                }
            }
        }
    }
    Some(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctx::{Neutral, Options};
    use gpucc_ir::budget::{Budget, FIXED};
    use gpucc_ir::ssa::{Numerics, parse};

    /// Whether a loop of two trips is unrolled when the budget has room for so many instructions.
    fn unrolls(instructions: u64) -> bool {
        let text = include_str!("../tests/files/loops_in_loops_unroll_inside_out.ir");
        let mut module = parse(text).expect("it parses");
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        ctx.budget = Budget { memory: FIXED + instructions * MADE, ..Budget::default() };
        run(&mut module.funcs[0], &mut ctx)
    }

    #[test]
    fn loops_stay_where_the_budget_has_no_room_for_their_copies() {
        assert!(unrolls(1000));
        assert!(!unrolls(10));
    }
}

//! Small loops of a constant number of trips become straight code: their indices are constants then.
//!
//! A loop is taken if one test decides each trip, either an `if` directly in the body with nothing but
//! `break` in one arm, or the `break_if` of `continuing`, if its only `continue` ends the body, and if
//! running its counters at compile time reaches the end within the target's limit of instructions.
//! Inner loops come first.

use crate::{
    ctx::{Ctx, Level},
    rename::Renames,
    shape::Shape,
};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use gpucc_ir::ssa::{Func, Imm, Inst, Op, Region, Value, ValueDef, eval_inst};
use smallvec::SmallVec;

/// Unrolls.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let limit = match ctx.options.level {
        Level::Omax => ctx.target.unroll_limit().saturating_mul(4),
        _ => ctx.target.unroll_limit(),
    };
    let order = func.regions_in_order();
    let any = order.iter().any(|&(region, ..)| {
        func.regions[region]
            .insts
            .iter()
            .any(|&inst| func.insts[inst].op == Op::Loop)
    });
    if !any || limit == 0 {
        return false;
    }
    let shape = Shape::find(func);
    ctx.steps += shape.count;
    let mut unroll = Unroll {
        shape,
        limit,
        values: SecondaryMap::new(),
        labels: SecondaryMap::new(),
        known: SecondaryMap::new(),
        renames: Renames::new(),
    };
    let mut changed = false;
    for &(region, ..) in order.iter().rev() {
        let has_loop = func.regions[region]
            .insts
            .iter()
            .any(|&i| func.insts[i].op == Op::Loop);
        if !has_loop {
            continue;
        }
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            if func.insts[inst].op == Op::Loop
                && let Some(plan) = unroll.plan(func, ctx, inst)
                && ctx.draw()
            {
                let results = unroll.emit(func, inst, &plan, &mut out);
                for (index, value) in results.into_iter().enumerate() {
                    let result = func.insts[inst].results[index];
                    unroll.renames.set(result, value);
                }
                changed = true;
            } else {
                out.push(inst);
            }
        }
        func.regions[region].insts = out;
    }
    unroll.renames.apply(func);
    changed
}

/// What decides a trip.
#[derive(Copy, Clone)]
enum Test {
    /// An `if` at this place of the body, one arm of which breaks; the other is this one.
    Guard(usize, Region),
    /// The end of `continuing`.
    Last,
}

struct Plan {
    test: Test,
    /// Trips begun.
    trips: u32,
}

struct Unroll {
    shape: Shape,
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
    fn plan(&mut self, func: &Func, ctx: &mut Ctx, inst: Inst) -> Option<Plan> {
        let (body, continuing) = (func.insts[inst].regions[0], func.insts[inst].regions[1]);
        let insts = &func.regions[body].insts;
        let end = *insts.last()?;
        // Inner loops that were unrolled have left copies that the shape does not know; none of them
        // leaves this loop, because a loop that is taken has no other ways out.
        let mut breaks = SmallVec::<[Inst; 2]>::new();
        let mut last = None;
        for term in self.shape.terminators(inst) {
            match func.insts[term].op {
                Op::Break => breaks.push(term),
                Op::Continue if term != end => return None,
                Op::BreakIf => last = Some(term),
                _ => {}
            }
        }
        if func.insts[end].op != Op::Continue {
            return None;
        }
        let test = match (&breaks[..], last) {
            ([], Some(_)) => Test::Last,
            (&[only], None) => guard(func, insts, only)?,
            _ => return None,
        };
        let size =
            size_within(func, body, self.limit)? + size_within(func, continuing, self.limit)?;
        let most = self.limit / size.max(1);
        if most == 0 {
            return None;
        }
        let trips = self.count(func, ctx, inst, test, most)?;
        Some(Plan { test, trips })
    }

    /// Runs the loop's constants until its test ends it.
    fn count(
        &mut self,
        func: &Func,
        ctx: &mut Ctx,
        inst: Inst,
        test: Test,
        most: u32,
    ) -> Option<u32> {
        let data = &func.insts[inst];
        let (body, continuing) = (data.regions[0], data.regions[1]);
        let mut params: SmallVec<[Option<u64>; 8]> =
            data.args.iter().map(|&init| func.as_const(init)).collect();
        // A loop that carries no constant has no counter.
        if params.iter().all(Option::is_none) {
            return None;
        }
        for trip in 1..=most + 1 {
            for (&param, &bits) in func.regions[body].params.iter().zip(&params) {
                self.known[param] = bits;
            }
            for (index, &inner) in func.regions[body].insts.iter().enumerate() {
                ctx.steps += 1;
                if let Test::Guard(at, goes_on) = test
                    && at == index
                {
                    let cond = self.bits(func, func.insts[inner].args[0])?;
                    let taken = func.insts[inner].regions[usize::from(cond == 0)];
                    if taken != goes_on {
                        return Some(trip);
                    }
                    self.simulate_all(func, ctx, goes_on);
                    let yields = func.terminator(goes_on)?;
                    self.pass(func, yields, &func.insts[inner].results.clone());
                    continue;
                }
                self.simulate(func, ctx, inner);
            }
            let end = func.terminator(body)?;
            self.pass(func, end, &func.regions[continuing].params.clone());
            self.simulate_all(func, ctx, continuing);
            let end = func.terminator(continuing)?;
            let mut next = &func.insts[end].args[..];
            if let Test::Last = test {
                let cond = self.bits(func, next[0])?;
                if cond != 0 {
                    return (trip <= most).then_some(trip);
                }
                next = &next[1 + data.results.len()..];
            }
            params = next.iter().map(|&value| self.bits(func, value)).collect();
        }
        None
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

    fn simulate_all(&mut self, func: &Func, ctx: &mut Ctx, region: Region) {
        for &inst in &func.regions[region].insts {
            self.simulate(func, ctx, inst);
        }
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
            _ => None,
        };
        for &result in &data.results {
            self.known[result] = value;
        }
    }

    /// Writes the trips one after the other; gives the values of the loop's results.
    fn emit(
        &mut self,
        func: &mut Func,
        inst: Inst,
        plan: &Plan,
        out: &mut Vec<Inst>,
    ) -> Vec<Value> {
        let (body, continuing) = (func.insts[inst].regions[0], func.insts[inst].regions[1]);
        let body_insts = func.regions[body].insts.clone();
        let tail = func.regions[continuing].insts.clone();
        let results = func.insts[inst].results.len();
        let mut params: Vec<Value> = func.insts[inst].args.to_vec();
        for trip in 1..=plan.trips {
            self.bind(&func.regions[body].params.clone(), &params);
            for (index, &inner) in body_insts.iter().enumerate() {
                match plan.test {
                    Test::Guard(at, goes_on) if at == index => {
                        let arms = func.insts[inner].regions.clone();
                        let leaves = arms[usize::from(arms[0] == goes_on)];
                        if trip == plan.trips {
                            let end = func.terminator(leaves).expect("a finished region");
                            return self.mapped(&func.insts[end].args.clone());
                        }
                        let arm = func.regions[goes_on].insts.clone();
                        let (&end, arm) = arm.split_last().expect("a finished region");
                        self.copy_all(func, arm, out);
                        let yields = self.mapped(&func.insts[end].args.clone());
                        self.bind(&func.insts[inner].results.clone(), &yields);
                    }
                    _ if index + 1 == body_insts.len() => {
                        let args = self.mapped(&func.insts[inner].args.clone());
                        self.bind(&func.regions[continuing].params.clone(), &args);
                    }
                    _ => self.copy(func, inner, out),
                }
            }
            let (&end, insts) = tail.split_last().expect("a finished region");
            self.copy_all(func, insts, out);
            let args = self.mapped(&func.insts[end].args.clone());
            params = match plan.test {
                Test::Last if trip == plan.trips => return args[1..1 + results].to_vec(),
                Test::Last => args[1 + results..].to_vec(),
                Test::Guard(..) => args,
            };
        }
        unreachable!("the last trip returns")
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
        here.into_iter()
            .map(|value| self.values[value].expand().unwrap_or(value))
            .collect()
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

/// The `if` of the body that holds this `break` alone in one arm.
fn guard(func: &Func, insts: &[Inst], only: Inst) -> Option<Test> {
    insts.iter().enumerate().find_map(|(index, &inst)| {
        let data = &func.insts[inst];
        if data.op != Op::If {
            return None;
        }
        let alone = |arm: Region| func.regions[arm].insts[..] == [only];
        let goes_on = match (alone(data.regions[0]), alone(data.regions[1])) {
            (true, false) => data.regions[1],
            (false, true) => data.regions[0],
            _ => return None,
        };
        let end = func.terminator(goes_on)?;
        (func.insts[end].op == Op::Yield).then_some(Test::Guard(index, goes_on))
    })
}

/// Instructions of a region with everything inside, unless there are more than `limit`.
fn size_within(func: &Func, region: Region, limit: u32) -> Option<u32> {
    let mut size = 0u32;
    let mut work = vec![region];
    while let Some(region) = work.pop() {
        for &inst in &func.regions[region].insts {
            size += u32::from(func.insts[inst].op != Op::Const);
            if size > limit {
                return None;
            }
            work.extend(func.insts[inst].regions.iter().copied());
        }
    }
    Some(size)
}

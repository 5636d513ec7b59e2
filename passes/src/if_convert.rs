//! Small pure arms become selects: no branch, no mask change, no clause break.
//!
//! Both arms must end in `yield` and hold nothing but speculatable instructions; their cost and that
//! of the selects must stay within the target's limit ([`crate::TargetInfo::flatten_limit`]). Loads
//! are speculated only where the target says that they may be. Inner `if`s are converted first, so
//! that a small nest becomes selects as a whole.

use crate::{
    ctx::Ctx,
    walk::{Event, walk},
};
use gpucc_ir::ssa::{Flags, Func, Imm, Inst, InstData, MemSpace, Op, Region, ResourceKind, Type};
use smallvec::SmallVec;

/// Converts what is cheap enough.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let limit = ctx.target.flatten_limit();
    if limit == 0 {
        return false;
    }
    let mut parents: Vec<Region> = Vec::new();
    walk(func, |event| {
        if let Event::Enter(region) = event {
            parents.push(region);
        }
    });
    let mut changed = false;
    // Inner regions stand later, so backwards they come first.
    for &region in parents.iter().rev() {
        let has_if = func.regions[region].insts.iter().any(|&inst| func.insts[inst].op == Op::If);
        if !has_if {
            continue;
        }
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            ctx.steps += 1;
            if func.insts[inst].op == Op::If && demotes_aside(func, ctx, inst) && ctx.draw() {
                pull_demote(func, inst, &mut out);
                changed = true;
            }
            if func.insts[inst].op == Op::If
                && let Some(inner) = nested(func, ctx, inst, limit)
                && ctx.draw()
            {
                join(func, inst, inner, &mut out);
                changed = true;
            }
            if func.insts[inst].op == Op::If && worth(func, ctx, inst, limit) && ctx.draw() {
                flatten(func, inst, &mut out);
                changed = true;
            } else {
                out.push(inst);
            }
        }
        func.regions[region].insts = out;
    }
    changed
}

/// What it costs to run these always, if that may be and is within the limit.
fn speculated(func: &Func, ctx: &Ctx, body: &[Inst], limit: u32) -> Option<u32> {
    let mut cost = 0u32;
    for &inner in body {
        if !speculatable(func, ctx, inner) {
            return None;
        }
        let data = &func.insts[inner];
        let width = data.args.first().or(data.results.first());
        let width = width.map_or(Type::B32, |&value| func.ty(value));
        cost = cost.saturating_add(if is_uniform(func, data) {
            ctx.target.uniform_cost()
        } else if is_register(func, ctx, data) {
            0
        } else {
            ctx.target.cost(data.op, width)
        });
        if cost > limit {
            return None;
        }
    }
    Some(cost)
}

/// The `if` that is all that a branch conditionally does, beside computing its condition.
fn nested(func: &Func, ctx: &Ctx, inst: Inst, limit: u32) -> Option<Inst> {
    let lone = |inst: Inst| {
        let data = &func.insts[inst];
        let idle = matches!(func.regions[data.regions[1]].insts[..], [end] if func.insts[end].op == Op::Yield);
        (data.results.is_empty() && idle).then_some(data.regions[0])
    };
    let [body @ .., inner, end] = &func.regions[lone(inst)?].insts[..] else {
        return None;
    };
    if func.insts[*end].op != Op::Yield || func.insts[*inner].op != Op::If {
        return None;
    }
    lone(*inner)?;
    speculated(func, ctx, body, limit)?;
    Some(*inner)
}

/// Two branches, one in the other, become one.
fn join(func: &mut Func, inst: Inst, inner: Inst, out: &mut Vec<Inst>) {
    let arm = func.insts[inst].regions[0];
    let mut body = std::mem::take(&mut func.regions[arm].insts);
    body.truncate(body.len() - 2);
    out.append(&mut body);
    let args = [func.insts[inst].args[0], func.insts[inner].args[0]];
    let both = InstData::new(Op::And, Imm::None, &args, func.insts[inst].span);
    let both = func.new_inst(both, &[Type::B1]);
    out.push(both);
    func.insts[inst].args[0] = func.insts[both].results[0];
    func.insts[inst].regions[0] = func.insts[inner].regions[0];
}

fn worth(func: &Func, ctx: &Ctx, inst: Inst, limit: u32) -> bool {
    let data = &func.insts[inst];
    let mut cost = 0u32;
    for &arm in &data.regions {
        let Some((&end, body)) = func.regions[arm].insts.split_last() else {
            return false;
        };
        if func.insts[end].op != Op::Yield {
            return false;
        }
        let Some(more) = speculated(func, ctx, body, limit) else {
            return false;
        };
        cost += more;
        if cost > limit {
            return false;
        }
    }
    for &result in &data.results {
        cost = cost.saturating_add(ctx.target.cost(Op::Select, func.ty(result)));
    }
    cost <= limit
}

/// A uniform read at a constant address.
fn is_uniform(func: &Func, data: &InstData) -> bool {
    match data.imm {
        Imm::Resource(resource) => {
            data.op == Op::BufferLoad
                && matches!(
                    func.resources[resource].kind,
                    ResourceKind::Uniform { .. } | ResourceKind::Immediate { .. }
                )
                && func.as_const(data.args[0]).is_some()
        }
        _ => false,
    }
}

/// A read of private memory at a constant address, which is an operand.
fn is_register(func: &Func, ctx: &Ctx, data: &InstData) -> bool {
    let Imm::Mem(access) = data.imm else { return false };
    let mem = &func.mems[access.mem];
    data.op == Op::MemLoad
        && mem.space == MemSpace::Private
        && mem.size <= ctx.target.private_in_registers()
        && data.results.iter().all(|&value| func.ty(value) == Type::B32)
        && func.as_const(data.args[0]).is_some_and(|at| {
            at.is_multiple_of(4) && at + 4 * data.results.len() as u64 <= u64::from(mem.size)
        })
}

fn speculatable(func: &Func, ctx: &Ctx, inst: Inst) -> bool {
    let data = &func.insts[inst];
    if data.flags().has(Flags::QUAD) {
        return false;
    }
    match data.op {
        Op::BufferLoad => ctx.target.speculates_loads(),
        Op::MemLoad => {
            matches!(data.imm, Imm::Mem(access) if func.mems[access.mem].space == MemSpace::Constant)
                || is_register(func, ctx, data)
        }
        Op::IsHelper => true,
        op => op.is_pure(),
    }
}

/// One arm demotes, and otherwise both only compute: the demotion can stand alone before them.
/// Worth it where more than the demotion is conditional.
fn demotes_aside(func: &Func, ctx: &Ctx, inst: Inst) -> bool {
    let data = &func.insts[inst];
    if data.results.is_empty() {
        return false;
    }
    let mut demotes = 0;
    for &arm in &data.regions {
        let Some((&end, body)) = func.regions[arm].insts.split_last() else {
            return false;
        };
        if func.insts[end].op != Op::Yield {
            return false;
        }
        for &inner in body {
            if func.insts[inner].op == Op::Demote {
                demotes += 1;
            } else if !speculatable(func, ctx, inner) || func.insts[inner].op == Op::IsHelper {
                return false;
            }
        }
    }
    demotes == 1
}

/// Makes the demotion of one arm an `if` of its own.
fn pull_demote(func: &mut Func, inst: Inst, out: &mut Vec<Inst>) {
    let arms = func.insts[inst].regions.clone();
    for (index, arm) in arms.into_iter().enumerate() {
        let list = &mut func.regions[arm].insts;
        let Some(at) = list.iter().position(|&inner| func.insts[inner].op == Op::Demote) else {
            continue;
        };
        let demote = list.remove(at);
        let mut cond = func.insts[inst].args[0];
        let span = func.insts[demote].span;
        let plain = |op: Op, args: &[gpucc_ir::ssa::Value], regions: &[Region]| InstData {
            regions: regions.iter().copied().collect(),
            ..InstData::new(op, Imm::None, args, span)
        };
        if index == 1 {
            let not = func.new_inst(plain(Op::Not, &[cond], &[]), &[Type::B1]);
            out.push(not);
            cond = func.insts[not].results[0];
        }
        let (yes, no) = (func.new_region(), func.new_region());
        let ends = [0, 1].map(|_| func.new_inst(plain(Op::Yield, &[], &[]), &[]));
        func.regions[yes].insts.extend([demote, ends[0]]);
        func.regions[no].insts.push(ends[1]);
        out.push(func.new_inst(plain(Op::If, &[cond], &[yes, no]), &[]));
    }
}

/// Moves both arms before where the `if` stood; its results become selects of what they yield.
fn flatten(func: &mut Func, inst: Inst, out: &mut Vec<Inst>) {
    let [mut yes, mut no] = [0, 1].map(|index| {
        let arm = func.insts[inst].regions[index];
        std::mem::take(&mut func.regions[arm].insts)
    });
    let yes_end = yes.pop().expect("a region ends in a terminator");
    let no_end = no.pop().expect("a region ends in a terminator");
    out.append(&mut yes);
    out.append(&mut no);
    let cond = func.insts[inst].args[0];
    let (span, bundle) = (func.insts[inst].span, func.insts[inst].bundle);
    let results = std::mem::take(&mut func.insts[inst].results);
    for (index, result) in results.into_iter().enumerate() {
        let args = [cond, func.insts[yes_end].args[index], func.insts[no_end].args[index]];
        // The result keeps its name: the select is its new definition.
        let select = func.insts.push(InstData {
            results: SmallVec::from_slice(&[result]),
            bundle,
            ..InstData::new(Op::Select, Imm::None, &args, span)
        });
        func.values[result].def = gpucc_ir::ssa::ValueDef::Result(select, 0);
        out.push(select);
    }
}

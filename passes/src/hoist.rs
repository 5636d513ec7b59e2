//! Hoisting of common code out of branches.
//!
//! What both arms of an `if` compute is computed before it, once: the arms become smaller, and small arms
//! become selects.
//!
//! Only what gives the same anywhere moves, and only out of arms of a few instructions: what would have to
//! wait in a register through a long arm is better computed where it is needed.

use crate::{
    ctx::Ctx,
    rename::Renames,
    walk::{Event, walk},
};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Inst, Op, Region, Type, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Instructions that an arm may have.
const ARM: usize = 48;

/// Moves what both arms of an `if` begin with in common, or could.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let mut regions: Vec<Region> = Vec::new();
    walk(func, |event| {
        if let Event::Enter(region) = event {
            regions.push(region);
        }
    });
    let mut renames = Renames::new();
    // Inner regions stand later: backwards, what leaves an inner `if` may leave the outer one too.
    for &region in regions.iter().rev() {
        let has_if = |&inst: &Inst| func.insts[inst].op == Op::If;
        if !func.regions[region].insts.iter().any(has_if) {
            continue;
        }
        let list = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(list.len());
        for inst in list {
            ctx.steps += 1;
            if func.insts[inst].op == Op::If {
                common(func, ctx, &mut renames, inst, &mut out);
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
    }
    renames.apply(func);
    !renames.is_empty()
}

/// What tells an instruction from others.
type Key = (Op, SmallVec<[Value; 4]>, SmallVec<[Type; 1]>);

fn key(func: &Func, renames: &mut Renames, inst: Inst) -> Key {
    let data = &func.insts[inst];
    (
        data.op,
        data.args.iter().map(|&arg| renames.get(arg)).collect(),
        data.results.iter().map(|&value| func.ty(value)).collect(),
    )
}

/// Moves what both arms of one `if` compute to `out`.
fn common(func: &mut Func, ctx: &mut Ctx, renames: &mut Renames, inst: Inst, out: &mut Vec<Inst>) {
    let [yes, no] = [0, 1].map(|arm| func.insts[inst].regions[arm]);
    let small = |region: Region| func.regions[region].insts.len() <= ARM;
    if !small(yes) || !small(no) {
        return;
    }
    let moves = |func: &Func, inst: Inst| {
        func.insts[inst].op != Op::Const && crate::gvn::unchanging(func, inst)
    };
    // What the first arm still computes.
    let mut known: BTreeMap<Key, SmallVec<[Inst; 1]>> = BTreeMap::new();
    for index in 0..func.regions[yes].insts.len() {
        let inst = func.regions[yes].insts[index];
        if moves(func, inst) {
            let key = key(func, renames, inst);
            known.entry(key).or_default().push(inst);
        }
    }
    if known.is_empty() {
        return;
    }
    let mut moved: SecondaryMap<Inst, bool> = SecondaryMap::new();
    let mut any = false;
    for index in 0..func.regions[no].insts.len() {
        let second = func.regions[no].insts[index];
        ctx.steps += 1;
        if !moves(func, second) {
            continue;
        }
        // Operands that the second arm alone knows are none of the first arm's.
        let key = key(func, renames, second);
        let Some(first) = known.get(&key).and_then(|all| {
            let imm = func.insts[second].imm;
            all.iter().copied().find(|&first| func.insts[first].imm == imm)
        }) else {
            continue;
        };
        if moved[first] || !ctx.draw() {
            continue;
        }
        for index in 0..func.insts[second].results.len() {
            let from = func.insts[second].results[index];
            renames.set(from, func.insts[first].results[index]);
        }
        for inst in [first, second] {
            moved[inst] = true;
        }
        out.push(first);
        any = true;
    }
    if any {
        for arm in [yes, no] {
            func.regions[arm].insts.retain(|&inst| !moved[inst]);
        }
    }
}

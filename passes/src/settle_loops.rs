//! Loops that compute nothing: what they leave with is known before they begin.

use crate::ctx::Ctx;
use gpucc_ir::ssa::{Flags, Func, Imm, Inst, InstData, Op, Region, Value, ValueDef};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Instructions of a loop that may compute nothing, at most.
const EMPTY: usize = 64;
/// Operations back that a value of a loop is followed to what stands before it.
const DEPTH: u32 = 8;

/// A loop without effects that leaves by an unchanging test, or elsewhere with values that do not change either, gets one choice for
/// each result. WGSL lets an implementation assume that a loop ends, so that nobody needs it any more.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let mut changed = false;
    if !func.any_inst(|data| data.op == Op::Loop) {
        return false;
    }
    for (region, ..) in func.regions_in_order() {
        let mut at = 0;
        while let Some(&inst) = func.regions[region].insts.get(at) {
            at += 1;
            ctx.steps += 1;
            if func.insts[inst].op != Op::Loop {
                continue;
            }
            let Some(Settled { condition, leaves, exits, fixed }) = settled(func, inst) else {
                continue;
            };
            let others = exits.iter().find(|&&exit| exit != leaves).copied();
            let Some(others) = others.filter(|_| ctx.draw()) else { continue };
            let span = func.insts[inst].span;
            hoist(func, inst, &fixed);
            func.regions[region].insts.splice(at - 1..at - 1, fixed.iter().copied());
            at += fixed.len();
            let (early, late) = (func.insts[leaves].args.clone(), func.insts[others].args.clone());
            let (condition, holds) = condition;
            for (number, (early, late)) in early.into_iter().zip(late).enumerate() {
                let (yes, no) = if holds { (early, late) } else { (late, early) };
                let args = [condition, yes, no];
                let data = InstData::new(Op::Select, Imm::None, &args, span);
                let ty = func.ty(yes);
                let choice = func.new_inst(data, &[ty]);
                func.regions[region].insts.insert(at - 1, choice);
                at += 1;
                for &exit in &exits {
                    func.insts[exit].args[number] = func.insts[choice].results[0];
                }
            }
            changed = true;
        }
    }
    changed
}

/// A loop that computes nothing.
struct Settled {
    /// The test that it begins with, and whether it leaves where that holds.
    condition: (Value, bool),
    /// The `break` there, and all of them.
    leaves: Inst,
    exits: SmallVec<[Inst; 4]>,
    /// Pure instructions within it on values from before it, operands first.
    fixed: SmallVec<[Inst; 4]>,
}

/// Takes instructions out of a loop.
fn hoist(func: &mut Func, looped: Inst, fixed: &[Inst]) {
    if fixed.is_empty() {
        return;
    }
    let mut todo = func.insts[looped].regions.to_vec();
    while let Some(region) = todo.pop() {
        let mut insts = std::mem::take(&mut func.regions[region].insts);
        insts.retain(|inst| !fixed.contains(inst));
        todo.extend(insts.iter().flat_map(|&inst| func.insts[inst].regions.iter().copied()));
        func.regions[region].insts = insts;
    }
}

/// Whether a value does not change in a loop: what it is made of within stands in `fixed` then.
fn is_fixed(
    func: &Func,
    within: &BTreeSet<Value>,
    value: Value,
    fixed: &mut SmallVec<[Inst; 4]>,
    depth: u32,
) -> bool {
    if !within.contains(&value) {
        return true;
    }
    let ValueDef::Result(inst, _) = func.values[value].def else { return false };
    let data = &func.insts[inst];
    if fixed.contains(&inst) {
        return true;
    }
    if depth == 0 || !data.op.is_pure() || !data.regions.is_empty() {
        return false;
    }
    let all = data.args.iter().all(|&arg| is_fixed(func, within, arg, fixed, depth - 1));
    if all {
        fixed.push(inst);
    }
    all
}

fn settled(func: &Func, looped: Inst) -> Option<Settled> {
    let data = &func.insts[looped];
    // What is made within, and the ways out.
    let mut within: BTreeSet<Value> = BTreeSet::new();
    let mut exits: SmallVec<[Inst; 4]> = SmallVec::new();
    let mut todo: SmallVec<[(Region, bool); 8]> =
        data.regions.iter().map(|&region| (region, true)).collect();
    let mut count = 0;
    while let Some((region, own)) = todo.pop() {
        within.extend(func.regions[region].params.iter().copied());
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            count += 1;
            let control = matches!(
                data.op,
                Op::If | Op::Loop | Op::Yield | Op::Break | Op::Continue | Op::Next
            );
            let effect = data.flags().has(Flags::EFFECT) && !control;
            if effect || count > EMPTY || matches!(data.op, Op::BreakIf | Op::Exit) {
                return None;
            }
            within.extend(data.results.iter().copied());
            if data.op == Op::Break && own {
                exits.push(inst);
            }
            let own = own && data.op != Op::Loop;
            todo.extend(data.regions.iter().map(|&region| (region, own)));
        }
    }
    let first = *func.regions[data.regions[0]].insts.iter().find(|&&inst| {
        let data = &func.insts[inst];
        !data.op.is_pure() || !data.regions.is_empty()
    })?;
    let branch = &func.insts[first];
    let [yes, no] = branch.regions[..] else { return None };
    let (leaves, _, holds) = leaving(func, [yes, no])?;
    let condition = *branch.args.first()?;
    let mut args = exits.iter().filter(|&&exit| exit != leaves).map(|&exit| &func.insts[exit].args);
    let others = args.next()?;
    let same = args.all(|args| args == others);
    // What is left alike is settled already.
    if branch.op != Op::If || !same || others.is_empty() || func.insts[leaves].args == *others {
        return None;
    }
    let mut fixed = SmallVec::new();
    let mut asked = func.insts[leaves].args.iter().chain(others).chain([&condition]);
    let known = asked.all(|&value| is_fixed(func, &within, value, &mut fixed, DEPTH));
    known.then_some(Settled { condition: (condition, holds), leaves, exits, fixed })
}

/// An arm's only instruction.
pub fn only(func: &Func, region: Region) -> Option<Inst> {
    match func.regions[region].insts[..] {
        [inst] => Some(inst),
        _ => None,
    }
}

/// The `break` of the arm that only leaves, the `yield` of the arm that only stays, and whether the first arm leaves.
pub fn leaving(func: &Func, arms: [Region; 2]) -> Option<(Inst, Inst, bool)> {
    let (yes, no) = (only(func, arms[0])?, only(func, arms[1])?);
    match [yes, no].map(|inst| func.insts[inst].op) {
        [Op::Break, Op::Yield] => Some((yes, no, true)),
        [Op::Yield, Op::Break] => Some((no, yes, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::ctx::{Ctx, Neutral, Options};
    use gpucc_ir::ssa::{Numerics, Op, parse, verify};

    /// What a loop gives that counts, and leaves at once or by its count.
    #[test]
    fn a_loop_that_computes_nothing_gives_one_choice() {
        let settles = |test: &str, late: &str| {
            let text = format!(
                "func \"one\" fragment {{
                  in0 = \"v\" u32 x 4 location 0 flat center
                  out0 = \"\" u32 x 4 location 0 flat
                }} body {{
                  %0: b32 = input in0.0
                  %1: b32 = const 1
                  %2: b1 = ult %0, %1
                  %4: b32 = loop %0 body (%5: b32) {{
                    %6: b1 = ult %5, %1
                    %12: b32 = iadd %0, %1
                    %11: b1 = ult %12, %0
                    if {test} {{
                      break %1
                    }} else {{
                      yield
                    }}
                    %7: b32 = iadd %5, %1
                    %8: b1 = ieq %7, %1
                    if %8 {{
                      break {late}
                    }} else {{
                      yield
                    }}
                    continue %7
                  }} continuing (%10: b32) {{
                    next %10
                  }}
                  output out0.0, %4
                  yield
                }}"
            );
            let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let mut func = module.funcs.into_iter().next().expect("one function");
            let changed =
                run(&mut func, &mut Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral));
            verify(&func).expect("still sound");
            assert_eq!(changed, func.insts.values().any(|data| data.op == Op::Select));
            changed
        };
        assert!(settles("%2", "%0"));
        assert!(settles("%11", "%12"), "what is made of values from before the loop");
        assert!(!settles("%6", "%0"), "the test changes");
        assert!(!settles("%2", "%7"), "the result is counted");
    }
}

//! Exits near the end of a loop: two that leave with the same values are one.

use crate::ctx::Ctx;
use crate::settle_loops::{leaving, only};
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Type, Value, ValueDef};
use smallvec::SmallVec;

/// Instructions behind an exit that the trip that leaves may compute too.
const BEHIND: usize = 4;

/// Joins exits that leave with the same values.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    each(func, ctx, false)
}

/// As [`run`], and an exit that joins no other moves to the end as well, where a machine asks once whether another trip follows.
pub fn sink(func: &mut Func, ctx: &mut Ctx) -> bool {
    each(func, ctx, true)
}

fn each(func: &mut Func, ctx: &mut Ctx, alone: bool) -> bool {
    let mut changed = false;
    if !func.any_inst(|data| data.op == Op::Loop) {
        return false;
    }
    for (region, ..) in func.regions_in_order() {
        for at in 0..func.regions[region].insts.len() {
            let inst = func.regions[region].insts[at];
            if func.insts[inst].op == Op::Loop {
                let body = func.insts[inst].regions[0];
                ctx.steps += func.regions[body].insts.len() as u64;
                while !ctx.out_of_fuel() && moved(func, inst, alone) {
                    ctx.draw();
                    changed = true;
                }
            }
        }
    }
    changed
}

/// An `if` without results that leaves its loop: its `break`, and whether it leaves where the condition holds.
fn exit_of(func: &Func, inst: Inst) -> Option<(Inst, bool)> {
    let data = &func.insts[inst];
    let [yes, no] = data.regions[..] else { return None };
    let (exit, stays, holds) = leaving(func, [yes, no]).filter(|_| data.op == Op::If)?;
    func.insts[stays].args.is_empty().then_some((exit, holds))
}

/// What a parameter of a loop's body is in the next trip, behind a `continue`, where `continuing` computes nothing.
pub fn follows(func: &Func, looped: Inst, last: Inst, number: usize) -> Option<Value> {
    let continuing = func.insts[looped].regions[1];
    let next = &func.insts[only(func, continuing)?];
    let &value = next.args.get(number).filter(|_| next.op == Op::Next)?;
    match func.values[value].def {
        ValueDef::Param(region, at) if region == continuing => {
            func.insts[last].args.get(usize::from(at)).copied()
        }
        _ => Some(value),
    }
}

/// Joins one exit with the one at the end of a body, or moves it there.
fn moved(func: &mut Func, looped: Inst, alone: bool) -> bool {
    let body = func.insts[looped].regions[0];
    let insts = &func.regions[body].insts;
    let [.., before, last] = insts[..] else { return false };
    if func.insts[last].op != Op::Continue {
        return false;
    }
    let end = exit_of(func, before);
    let stop = insts.len() - 1 - usize::from(end.is_some());
    let moves = |&&inst: &&Inst| {
        let data = &func.insts[inst];
        data.op.is_pure() && data.regions.is_empty() && matches!(data.imm, Imm::None | Imm::Bits(_))
    };
    let behind = insts[..stop].iter().rev().take_while(moves);
    let work = behind.clone().filter(|&&inst| func.insts[inst].op != Op::Const).count();
    let Some(place) = stop.checked_sub(behind.count() + 1) else { return false };
    let early = insts[place];
    let Some((exit, holds)) = exit_of(func, early).filter(|_| work <= BEHIND) else { return false };
    // A value that its next trip's follows would be held beside that.
    let held = |&value: &Value| match func.values[value].def {
        ValueDef::Param(region, number) if region == body => {
            let made = &insts[place + 1..stop];
            let next = follows(func, looped, last, number.into());
            next.is_none_or(|next| match func.values[next].def {
                ValueDef::Result(inst, _) => made.contains(&inst),
                ValueDef::Param(..) => false,
            })
        }
        _ => false,
    };
    let Some((late, late_holds)) = end else {
        // It stands there already.
        if !alone || place + 1 == stop || func.insts[exit].args.iter().any(held) {
            return false;
        }
        let insts = &mut func.regions[body].insts;
        insts.remove(place);
        insts.insert(stop - 1, early);
        return true;
    };
    if func.insts[exit].args != func.insts[late].args {
        return false;
    }
    let span = func.insts[before].span;
    let (first, second) = (func.insts[early].args[0], func.insts[before].args[0]);
    let mut made: SmallVec<[Inst; 2]> = SmallVec::new();
    let mut truth = |func: &mut Func, op: Op, args: &[Value]| {
        let inst = func.new_inst(InstData::new(op, Imm::None, args, span), &[Type::B1]);
        made.push(inst);
        func.insts[inst].results[0]
    };
    let first = if holds == late_holds { first } else { truth(func, Op::Not, &[first]) };
    let op = if late_holds { Op::Or } else { Op::And };
    let both = truth(func, op, &[first, second]);
    func.insts[before].args[0] = both;
    let insts = &mut func.regions[body].insts;
    insts.remove(place);
    insts.splice(stop - 1..stop - 1, made);
    true
}

#[cfg(test)]
mod tests {
    use super::{run, sink};
    use crate::ctx::{Ctx, Neutral, Options};
    use gpucc_ir::ssa::{Numerics, Op, parse, verify};

    /// The operations of a loop's body behind the pass, where an exit with `early` stands before another with `late`.
    fn sunk(early: &str, late: &str, behind: &str, alone: bool) -> Option<String> {
        let text = format!(
            "func \"one\" compute workgroup 1 1 1 {{
              res0 = \"b\" group 0 binding 0 storage 4 load store as u32
            }} body {{
              %0: b32 = const 0
              %1: b32 = const 1
              %2: b32 = buffer_load res0, %0
              %4: b32 = loop %2 body (%5: b32) {{
                %6: b32 = iadd %5, %2
                %7: b1 = ult %6, %2
                if %7 {{
                  yield
                }} else {{
                  break {early}
                }}
                {behind}
                %8: b32 = iadd %6, %1
                %9: b1 = ieq %8, %2
                {late}
                continue %8
              }} continuing (%10: b32) {{
                next %10
              }}
              buffer_store res0, %0, %4
              yield
            }}"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut func = module.funcs.into_iter().next().expect("one function");
        let numerics = Numerics::REFERENCE;
        let mut ctx = Ctx::new(Options::default(), numerics, &Neutral);
        let changed = if alone { sink } else { run }(&mut func, &mut ctx);
        verify(&func).expect("still sound");
        changed.then(|| {
            let body = func.regions.values().find(|region| {
                region.insts.last().is_some_and(|&last| func.insts[last].op == Op::Continue)
            });
            let ops = body.expect("a loop").insts.iter().map(|&inst| func.insts[inst].op.name());
            ops.collect::<Vec<_>>().join(" ")
        })
    }

    #[test]
    fn exits_near_the_end_of_a_loop_leave_together() {
        let late = "if %9 { break %6 } else { yield }";
        let both = sunk("%6", late, "", false).expect("they join");
        assert_eq!(both, "iadd ult iadd ieq not or if continue");
        let alone = sunk("%6", "", "", true).expect("it moves");
        assert_eq!(alone, "iadd ult iadd ieq if continue");
        assert_eq!(sunk("%2", late, "", true), None, "they leave with other values");
        assert_eq!(sunk("%6", "", "", false), None, "there is no other");
        assert_eq!(sunk("%5", "", "", true), None, "its next value is made behind it");
        assert_eq!(sunk("%6", late, "buffer_store res0, %0, %6", true), None, "a store is seen");
    }
}

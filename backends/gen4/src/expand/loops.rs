//! Loop inversion: a loop whose first trip is certain asks at its end whether another follows, where one word leaves or goes
//! back. Exits near the end move there, and two of them that leave with the same values become one. And loops that compute
//! nothing: what they leave with is known before they begin.

use gpucc_ir::ssa::{
    Flags, Func, Imm, Inst, InstData, Numerics, Op, Region, Type, Value, ValueDef, eval_inst,
};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Instructions that may stand in front of the test.
const AHEAD: usize = 32;

/// A loop that begins with a test.
struct Tested {
    body: Region,
    /// The `if` that leaves, and its place.
    leaves: Inst,
    place: usize,
    /// The arm that leaves, and its `break`.
    exit: Inst,
    /// The comparison.
    test: Inst,
    /// What each parameter of the body is in the next trip.
    next: SmallVec<[Value; 4]>,
}

/// Instructions behind an exit that the trip that leaves may compute too.
const BEHIND: usize = 4;

/// Instructions of a loop that may compute nothing, at most.
const EMPTY: usize = 64;

/// A loop without effects that leaves by an unchanging test, or elsewhere with values from before it, gets one choice for each
/// result. WGSL lets an implementation assume that a loop ends, so that nobody needs it any more.
pub fn settle(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let mut at = 0;
        while let Some(&inst) = func.regions[region].insts.get(at) {
            at += 1;
            if func.insts[inst].op != Op::Loop {
                continue;
            }
            let Some((condition, leaves, exits)) = settled(func, inst) else { continue };
            let others = exits.iter().find(|&&exit| exit != leaves).copied();
            let Some(others) = others else { continue };
            let span = func.insts[inst].span;
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

/// The test that a loop begins with and whether it leaves where that holds, the `break` there, and all of them.
type Settled = ((Value, bool), Inst, SmallVec<[Inst; 4]>);

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
    let before = |value: &Value| !within.contains(value);
    let mut args = exits.iter().filter(|&&exit| exit != leaves).map(|&exit| &func.insts[exit].args);
    let others = args.next()?;
    let known = func.insts[leaves].args.iter().chain(others).all(before);
    let same = args.all(|args| args == others);
    (branch.op == Op::If && before(&condition) && known && same && !others.is_empty()).then_some((
        (condition, holds),
        leaves,
        exits,
    ))
}

/// Moves tests to the ends of loops.
pub fn invert(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        for inst in func.regions[region].insts.clone() {
            if func.insts[inst].op == Op::Loop
                && let Some(tested) = tested(func, inst)
            {
                rewrite(func, &tested);
                changed = true;
            }
        }
    }
    changed
}

/// The parameter of a region that a value is.
fn parameter(func: &Func, value: Value, region: Region) -> Option<usize> {
    match func.values[value].def {
        ValueDef::Param(of, number) if of == region => Some(number.into()),
        _ => None,
    }
}

/// An arm's only instruction.
fn only(func: &Func, region: Region) -> Option<Inst> {
    match func.regions[region].insts[..] {
        [inst] => Some(inst),
        _ => None,
    }
}

/// The `break` of the arm that only leaves, the `yield` of the arm that only stays, and whether the first arm leaves.
fn leaving(func: &Func, arms: [Region; 2]) -> Option<(Inst, Inst, bool)> {
    let (yes, no) = (only(func, arms[0])?, only(func, arms[1])?);
    match [yes, no].map(|inst| func.insts[inst].op) {
        [Op::Break, Op::Yield] => Some((yes, no, true)),
        [Op::Yield, Op::Break] => Some((no, yes, false)),
        _ => None,
    }
}

fn tested(func: &Func, looped: Inst) -> Option<Tested> {
    let data = &func.insts[looped];
    let [body, continuing] = data.regions[..] else { return None };
    // The values of the next trip.
    let last = *func.regions[body].insts.last()?;
    let next = &func.insts[only(func, continuing)?];
    if func.insts[last].op != Op::Continue || next.op != Op::Next {
        return None;
    }
    let of = |&value: &Value| match parameter(func, value, continuing) {
        Some(number) => func.insts[last].args.get(number).copied(),
        None => Some(value),
    };
    let next: Option<SmallVec<[Value; 4]>> = next.args.iter().map(of).collect();
    // The test, and what is made in front of it.
    let mut ahead: BTreeSet<Value> = BTreeSet::new();
    let insts = &func.regions[body].insts;
    let place = insts.iter().take(AHEAD).position(|&inst| func.insts[inst].op == Op::If)?;
    for &inst in &insts[..place] {
        let data = &func.insts[inst];
        if !data.op.is_pure() || !data.regions.is_empty() {
            return None;
        }
        if data.op != Op::Const {
            ahead.extend(data.results.iter().copied());
        }
    }
    let leaves = insts[place];
    let branch = &func.insts[leaves];
    let [yes, no] = branch.regions[..] else { return None };
    let (exit, stays, holds) = leaving(func, [yes, no])?;
    let condition = branch.args[0];
    let ValueDef::Result(test, _) = func.values[condition].def else { return None };
    let own = ahead.contains(&condition);
    let compares =
        matches!(func.insts[test].op, Op::IEq | Op::INe | Op::SLt | Op::SLe | Op::ULt | Op::ULe);
    let args = &func.insts[test].args;
    let made = |value: &Value| ahead.contains(value);
    if !own
        || !compares
        || !branch.results.is_empty()
        || !func.insts[stays].args.is_empty()
        || args.iter().any(made)
        || func.insts[exit].args.iter().any(made)
        || args.iter().any(|&arg| func.ty(arg) != Type::B32)
    {
        return None;
    }
    // The first trip.
    let first = |value: Value| {
        let value = match parameter(func, value, body) {
            Some(number) => *data.args.get(number)?,
            None => value,
        };
        func.as_const(value)
    };
    let compared: Option<SmallVec<[u64; 2]>> = args.iter().map(|&value| first(value)).collect();
    let found = eval_inst(func, &func.insts[test], &compared?, &Numerics::REFERENCE)? != 0;
    let next = next.filter(|next| next.len() == func.regions[body].params.len())?;
    (found != holds && !goes_on(func, body, last)).then_some(Tested {
        body,
        leaves,
        place,
        exit,
        test,
        next,
    })
}

/// Moves the last exit of each loop's body behind the few pure instructions that follow it, where WHILE decides (G45 vol. 4,
/// 14.2.47). Where another exit with the same values stands there, one condition leaves for both.
pub fn sink_exits(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        for at in 0..func.regions[region].insts.len() {
            let inst = func.regions[region].insts[at];
            if func.insts[inst].op == Op::Loop {
                let body = func.insts[inst].regions[0];
                while sink(func, body) {
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

/// Moves one exit to the end of a body, or joins it with the one that is there.
fn sink(func: &mut Func, body: Region) -> bool {
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
    let Some((late, late_holds)) = end else {
        // It stands there already.
        if place + 1 == stop {
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

/// Whether some other `continue` of the loop goes on to the next trip, or invocations meet in it.
fn goes_on(func: &Func, body: Region, last: Inst) -> bool {
    let mut todo: SmallVec<[(Region, bool); 8]> = [(body, true)].into_iter().collect();
    while let Some((region, own)) = todo.pop() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let meets = matches!(data.op, Op::Barrier | Op::SubgroupBarrier);
            if meets || own && data.op == Op::Continue && inst != last {
                return true;
            }
            // A `continue` of a loop within is that loop's.
            let own = own && data.op != Op::Loop;
            todo.extend(data.regions.iter().map(|&region| (region, own)));
        }
    }
    false
}

/// The test and the `if` stand at the body's end, where they ask for the values of the next trip.
fn rewrite(func: &mut Func, tested: &Tested) {
    let Tested { body, leaves, place, exit, test, next } = tested;
    let renamed = |func: &Func, args: &[Value]| -> SmallVec<[Value; 4]> {
        args.iter()
            .map(|&value| match parameter(func, value, *body) {
                Some(number) => next.get(number).copied().unwrap_or(value),
                None => value,
            })
            .collect()
    };
    let (op, span) = (func.insts[*test].op, func.insts[*test].span);
    let args = renamed(func, &func.insts[*test].args);
    let again = func.new_inst(InstData::new(op, Imm::None, &args, span), &[Type::B1]);
    let left = renamed(func, &func.insts[*exit].args);
    func.insts[*exit].args = left;
    func.insts[*leaves].args[0] = func.insts[again].results[0];
    let insts = &mut func.regions[*body].insts;
    insts.remove(*place);
    let end = insts.len() - 1;
    insts.splice(end..end, [again, *leaves]);
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::{invert, settle, sink_exits};
    use gpucc_ir::ssa::{Op, verify};

    /// Whether the test of a loop from a number on moves to its end; the text behind the pass.
    fn inverted(from: u32, test: &str) -> Option<String> {
        let text = format!(
            "func \"one\" fragment {{
              in0 = \"v\" u32 x 4 location 0 flat center
              out0 = \"\" u32 x 4 location 0 flat
            }} body {{
              %0: b32 = input in0.0
              %1: b32 = const {from}
              %2: b32 = const 10
              %3: b32 = const 1
              %4: b32 = loop %1, %0 body (%5: b32, %6: b32) {{
                %7: b1 = {test}
                if %7 {{
                  break %6
                }} else {{
                  yield
                }}
                %8: b32 = iadd %6, %0
                %9: b32 = iadd %5, %3
                continue %9, %8
              }} continuing (%10: b32, %11: b32) {{
                next %10, %11
              }}
              output out0.0, %4
              yield
            }}"
        );
        let mut func = parsed(&text);
        let changed = invert(&mut func);
        verify(&func).expect("still sound");
        changed.then(|| {
            let body = func.regions.values().find(|region| {
                region.insts.last().is_some_and(|&last| func.insts[last].op == Op::Continue)
            });
            let ops = body.expect("a loop").insts.iter().map(|&inst| func.insts[inst].op.name());
            ops.collect::<Vec<_>>().join(" ")
        })
    }

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
            let mut func = parsed(&text);
            let changed = settle(&mut func);
            verify(&func).expect("still sound");
            assert_eq!(changed, func.insts.values().any(|data| data.op == Op::Select));
            changed
        };
        assert!(settles("%2", "%0"));
        assert!(!settles("%6", "%0"), "the test changes");
        assert!(!settles("%2", "%7"), "the result is counted");
    }

    /// The operations of a loop's body behind [`sink_exits`], where an exit with `early` stands before another with `late`.
    fn sunk(early: &str, late: &str, behind: &str) -> Option<String> {
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
        let mut func = parsed(&text);
        let changed = sink_exits(&mut func);
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
        let both = sunk("%6", late, "").expect("they join");
        assert_eq!(both, "iadd ult iadd ieq not or if continue");
        let alone = sunk("%6", "", "").expect("it moves");
        assert_eq!(alone, "iadd ult iadd ieq if continue");
        assert_eq!(sunk("%2", late, ""), None, "they leave with other values");
        assert_eq!(sunk("%6", late, "buffer_store res0, %0, %6"), None, "a store is seen");
    }

    #[test]
    fn a_loop_whose_first_trip_is_certain_asks_at_its_end() {
        let ops = inverted(0, "sle %2, %5").expect("it is inverted");
        assert!(ops.ends_with("iadd iadd sle if continue"), "{ops}");
    }

    #[test]
    fn a_loop_that_may_have_no_trip_asks_first() {
        assert_eq!(inverted(10, "sle %2, %5"), None);
        assert_eq!(inverted(0, "sle %0, %5"), None);
    }
}

//! Loop inversion: a loop whose first trip is certain asks at its end whether another follows, where one word leaves or goes
//! back.

use gpucc_ir::ssa::{
    Func, Imm, Inst, InstData, Numerics, Op, Region, Type, Value, ValueDef, eval_inst,
};
use gpucc_passes::join_exits::follows;
use gpucc_passes::settle_loops::{leaving, only};
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

fn tested(func: &Func, looped: Inst) -> Option<Tested> {
    let data = &func.insts[looped];
    let [body, continuing] = data.regions[..] else { return None };
    // The values of the next trip.
    let last = *func.regions[body].insts.last()?;
    let next = &func.insts[only(func, continuing)?];
    if func.insts[last].op != Op::Continue || next.op != Op::Next {
        return None;
    }
    let params = 0..func.regions[body].params.len();
    let next = params.map(|number| follows(func, looped, last, number)).collect::<Option<_>>()?;
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
    (found != holds && !goes_on(func, body, last)).then_some(Tested {
        body,
        leaves,
        place,
        exit,
        test,
        next,
    })
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
    use super::invert;
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

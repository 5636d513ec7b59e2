//! Results and parameters that can only be one value become that value: both arms yield the same,
//! a loop carries something round unchanged. Those that are always equal to another of the same construct
//! become that one: every terminator gives both the same.
//!
//! Inner constructs are decided before the loops around them, so that what passes unchanged through
//! a nest disappears from all of it in one run.

mod same;

use crate::{
    ctx::Ctx,
    rename::Renames,
    shape::{Carries, Nests, Shape, carried_at},
};
use gpucc_ir::ssa::{Func, Inst, Op, Type, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Replaces copies. The copies themselves are left for dead code elimination.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    if func.is_straight() {
        // Only constructs have results that may be copies.
        return false;
    }
    let shape = Shape::find(func);
    // What is not made within a construct, and yet leaves it, is visible outside of it.
    let nests = Nests::of(func, &shape);
    ctx.steps += shape.count;
    let mut renames = Renames::new();
    for &construct in &shape.constructs {
        if func.insts[construct].op == Op::Loop {
            invariant_params(func, ctx, &shape, &nests, &mut renames, construct);
        }
        for index in 0..func.insts[construct].results.len() {
            let result = func.insts[construct].results[index];
            let source =
                only_source(func, &shape, &mut renames, construct, Carries::Results, index);
            if let Source::One(value) = source
                && value != result
                && !nests.within(func, &shape, value, construct)
                && ctx.draw()
            {
                renames.set(result, value);
            }
        }
        if func.insts[construct].op == Op::Loop {
            same::params(func, ctx, &shape, &mut renames, construct);
            let continuing = func.insts[construct].regions[1];
            let params = &func.regions[continuing].params;
            let which = Carries::Continuing;
            congruent(func, ctx, &shape, &mut renames, construct, which, params);
        }
        let (which, results) = (Carries::Results, &func.insts[construct].results);
        congruent(func, ctx, &shape, &mut renames, construct, which, results);
    }
    renames.apply(func)
}

/// What all terminators give for one of several, which tells equal ones.
type Given = (Type, SmallVec<[Value; 4]>);

/// Results, or parameters of `continuing`, to which every terminator gives the same as to an earlier one.
fn congruent(
    func: &Func,
    ctx: &mut Ctx,
    shape: &Shape,
    renames: &mut Renames,
    construct: Inst,
    which: Carries,
    list: &[Value],
) {
    if list.len() < 2 || all_differ(func, shape, renames, construct, which, list.len()) {
        return;
    }
    let mut first: BTreeMap<Given, Value> = BTreeMap::new();
    for (index, &value) in list.iter().enumerate() {
        if renames.get(value) != value {
            continue;
        }
        let given = shape
            .terminators(construct)
            .filter_map(|term| carried_at(func, term, construct, which, index))
            .map(|given| renames.get(given))
            .collect();
        let equal = *first.entry((func.ty(value), given)).or_insert(value);
        if equal != value && ctx.draw() {
            renames.set(value, equal);
        }
    }
}

/// True when one terminator tells all of so many apart: most constructs are done with that.
fn all_differ(
    func: &Func,
    shape: &Shape,
    renames: &mut Renames,
    construct: Inst,
    which: Carries,
    count: usize,
) -> bool {
    let mut terminators = shape.terminators(construct);
    let gives = |&term: &Inst| carried_at(func, term, construct, which, 0).is_some();
    let Some(terminator) = terminators.find(gives) else {
        return false;
    };
    let mut given: SmallVec<[Value; 16]> = (0..count)
        .filter_map(|index| carried_at(func, terminator, construct, which, index))
        .map(|value| renames.get(value))
        .collect();
    given.sort_unstable();
    given.windows(2).all(|pair| pair[0] != pair[1])
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Source {
    Nothing,
    One(Value),
    Several,
}

impl Source {
    fn and(self, value: Value) -> Source {
        match self {
            Source::Nothing => Source::One(value),
            Source::One(other) if other == value => self,
            Source::One(_) | Source::Several => Source::Several,
        }
    }
}

/// The one value that all terminators give for a result or parameter.
fn only_source(
    func: &Func,
    shape: &Shape,
    renames: &mut Renames,
    construct: Inst,
    which: Carries,
    index: usize,
) -> Source {
    let mut source = Source::Nothing;
    for terminator in shape.terminators(construct) {
        if let Some(value) = carried_at(func, terminator, construct, which, index) {
            source = source.and(renames.get(value));
        }
    }
    source
}

fn invariant_params(
    func: &Func,
    ctx: &mut Ctx,
    shape: &Shape,
    nests: &Nests,
    renames: &mut Renames,
    construct: Inst,
) {
    let data = &func.insts[construct];
    let (body, continuing) = (data.regions[0], data.regions[1]);
    // What each parameter of `continuing` always is: a body parameter or something from outside.
    let mut always: Vec<(Value, Value)> = Vec::new();
    for (index, &param) in func.regions[continuing].params.iter().enumerate() {
        if let Source::One(value) =
            only_source(func, shape, renames, construct, Carries::Continuing, index)
        {
            always.push((param, value));
        }
    }
    always.sort_unstable();
    for (index, &param) in func.regions[body].params.iter().enumerate() {
        let init = renames.get(func.insts[construct].args[index]);
        let mut invariant = true;
        for terminator in shape.terminators(construct) {
            if let Some(value) = carried_at(func, terminator, construct, Carries::Params, index) {
                let value = renames.get(value);
                let value = always
                    .binary_search_by_key(&value, |&(param, _)| param)
                    .map_or(value, |at| always[at].1);
                invariant &= value == param || value == init;
            }
        }
        if invariant && ctx.draw() {
            renames.set(param, init);
        }
    }
    for (param, value) in always {
        let value = renames.get(value);
        if !nests.within(func, shape, value, construct) && ctx.draw() {
            renames.set(param, value);
        }
    }
}

//! Results and parameters that can only be one value become that value: both arms yield the same,
//! a loop carries something round unchanged. Those that are always equal to another of the same construct
//! become that one: every terminator gives both the same.
//!
//! Inner constructs are decided before the loops around them, so that what passes unchanged through
//! a nest disappears from all of it in one run.

use crate::{
    ctx::Ctx,
    rename::Renames,
    shape::{Carries, Shape, carried_at},
    walk::{Event, walk},
};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Inst, Op, Type, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Replaces copies. The copies themselves are left for dead code elimination.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    if func.regions_in_order().len() == 1 {
        // Only constructs have results that may be copies.
        return false;
    }
    let shape = Shape::find(func);
    // Positions of definitions, to tell what is visible outside a construct.
    let mut defined: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(func.values.len());
    let mut starts: SecondaryMap<Inst, u32> = SecondaryMap::with_capacity(func.insts.len());
    let mut constructs: Vec<Inst> = Vec::new();
    let mut position = 0u32;
    walk(func, |event| {
        position += 1;
        match event {
            Event::Enter(region) => {
                for &param in &func.regions[region].params {
                    defined[param] = position;
                }
            }
            Event::Inst(inst) => {
                starts[inst] = position;
                // Results of a construct are visible only after it, which is later than all of its
                // inside; its own position would be too early, so they are set when it ends.
                if func.insts[inst].regions.is_empty() {
                    for &result in &func.insts[inst].results {
                        defined[result] = position;
                    }
                }
            }
            Event::After(inst) => {
                constructs.push(inst);
                for &result in &func.insts[inst].results {
                    defined[result] = position;
                }
            }
            Event::Leave(_) => {}
        }
    });
    ctx.steps += shape.count;
    let mut renames = Renames::new();
    for construct in constructs {
        if func.insts[construct].op == Op::Loop {
            invariant_params(
                func,
                ctx,
                &shape,
                &defined,
                &starts,
                &mut renames,
                construct,
            );
        }
        for index in 0..func.insts[construct].results.len() {
            let result = func.insts[construct].results[index];
            let source = only_source(
                func,
                &shape,
                &mut renames,
                construct,
                Carries::Results,
                index,
            );
            if let Source::One(value) = source
                && value != result
                && defined[value] < starts[construct]
                && ctx.draw()
            {
                renames.set(result, value);
            }
        }
        if func.insts[construct].op == Op::Loop {
            congruent_params(func, ctx, &shape, &mut renames, construct);
        }
        congruent_results(func, ctx, &shape, &mut renames, construct);
    }
    renames.apply(func)
}

/// What all terminators give for one of several, which tells equal ones.
type Given = (Type, SmallVec<[Value; 4]>);

/// Results that every terminator gives the same as an earlier one.
fn congruent_results(
    func: &Func,
    ctx: &mut Ctx,
    shape: &Shape,
    renames: &mut Renames,
    construct: Inst,
) {
    let results = &func.insts[construct].results;
    if results.len() < 2 {
        return;
    }
    let mut first: BTreeMap<Given, Value> = BTreeMap::new();
    for (index, &result) in results.iter().enumerate() {
        if renames.get(result) != result {
            continue;
        }
        let given = given(
            func,
            shape,
            renames,
            construct,
            (Carries::Results, index),
            |value| value,
        );
        let equal = *first.entry((func.ty(result), given)).or_insert(result);
        if equal != result && ctx.draw() {
            renames.set(result, equal);
        }
    }
}

/// What each terminator gives, as `class` sees it.
fn given(
    func: &Func,
    shape: &Shape,
    renames: &mut Renames,
    construct: Inst,
    (which, index): (Carries, usize),
    class: impl Fn(Value) -> Value,
) -> SmallVec<[Value; 4]> {
    let mut given = SmallVec::new();
    for terminator in shape.terminators(construct) {
        if let Some(value) = carried_at(func, terminator, construct, which, index) {
            given.push(class(renames.get(value)));
        }
    }
    given
}

/// Rounds after which parameters that are still being told apart count as different.
const ROUNDS: u32 = 8;

/// Parameters of a loop that begin equal and are given equal values each trip. All are taken as equal at
/// first, and told apart until nothing more is.
fn congruent_params(
    func: &Func,
    ctx: &mut Ctx,
    shape: &Shape,
    renames: &mut Renames,
    construct: Inst,
) {
    let data = &func.insts[construct];
    let lists = [data.regions[0], data.regions[1]].map(|region| &func.regions[region].params);
    if lists[0].len() < 2 && lists[1].len() < 2 {
        return;
    }
    // The first of each class.
    let mut class: BTreeMap<Value, Value> = BTreeMap::new();
    for params in lists {
        for &param in params {
            class.insert(param, params[0]);
        }
    }
    for round in 0.. {
        if round == ROUNDS {
            return;
        }
        let mut next = BTreeMap::new();
        for (params, which) in lists
            .into_iter()
            .zip([Carries::Params, Carries::Continuing])
        {
            let mut first: BTreeMap<(Option<Value>, Given), Value> = BTreeMap::new();
            for (index, &param) in params.iter().enumerate() {
                let init = (which == Carries::Params).then(|| renames.get(data.args[index]));
                let given = given(func, shape, renames, construct, (which, index), |value| {
                    class.get(&value).copied().unwrap_or(value)
                });
                let key = (init, (func.ty(param), given));
                next.insert(param, *first.entry(key).or_insert(param));
            }
        }
        if next == class {
            break;
        }
        class = next;
    }
    for params in lists {
        for &param in params {
            let equal = class[&param];
            if equal != param && renames.get(param) == param && ctx.draw() {
                renames.set(param, equal);
            }
        }
    }
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
    defined: &SecondaryMap<Value, u32>,
    starts: &SecondaryMap<Inst, u32>,
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
        if defined[value] < starts[construct] && ctx.draw() {
            renames.set(param, value);
        }
    }
}

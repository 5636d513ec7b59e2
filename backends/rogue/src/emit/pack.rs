//! Two operations in one group: one in phase 0, one in phase 1, each with a write port of its own. isa/rogue-pipeline.md 1.5, 6.

use crate::isa::Group;
use crate::isa::group::{Condition, Feed, MainOps, Ops, Selectors};
use crate::isa::ops::Main;
use crate::isa::register::Register;
use crate::legal::{Context, admit_encoded};
use gpucc_isa::Inst as Word;

/// How many sources an operation reads, where it is one that may share its group.
fn sources(word: &Word) -> Option<usize> {
    match Main::of(word.op()) {
        Main::Fadd | Main::Fmul => Some(2),
        Main::Fmad | Main::Imadd32 => Some(3),
        Main::Mbyp | Main::Unpck => Some(1),
        _ => None,
    }
}

/// Phase 1 has it, too. 2.2.
fn is_float(word: &Word) -> bool {
    !matches!(Main::of(word.op()), Main::Imadd32 | Main::Unpck)
}

/// A group with one operation of phase 0 whose result goes to W0 and nowhere else, with its sources and its destination.
fn single(group: &Group) -> Option<(Word, &[Register], Register)> {
    let Ops::Main(ops) = &group.ops else { return None };
    let [Some(word), None, None, None, None, None] = ops.places() else { return None };
    let count = sources(word)?;
    let plain = group.condition != Condition::IgnorePe
        && group.selectors == Selectors::default()
        && !group.end
        && !group.atom
        && group.repeat == 1;
    let [Some(to), None] = group.writes else { return None };
    let sources = &group.sources[..count];
    let led = |register: &Register| matches!(register, Register::Relative { .. });
    let indexes = led(&to) || matches!(to, Register::Index(_)) || sources.iter().any(led);
    (plain && !indexes).then_some((*word, sources, to))
}

/// What two groups that follow each other do, in one: where the second reads nothing that the first writes. All is read before something
/// is written.
pub(super) fn pair(first: &Group, second: &Group, context: &Context) -> Option<Group> {
    let (a, a_sources, a_to) = single(first)?;
    let (b, b_sources, b_to) = single(second)?;
    if b_sources.contains(&a_to) || a_to == b_to || first.condition != second.condition {
        return None;
    }
    let orders = [
        ((a, a_sources, a_to), (b, b_sources, b_to)),
        ((b, b_sources, b_to), (a, a_sources, a_to)),
    ];
    orders.into_iter().filter(|(_, upper)| is_float(&upper.0)).find_map(|(lower, upper)| {
        let ops = MainOps { p0: Some(lower.0), p1: Some(upper.0), ..MainOps::default() };
        let mut group = Group::new(Ops::Main(ops));
        group.olchk = first.olchk || second.olchk;
        group.condition = first.condition;
        group.sources[..lower.1.len()].copy_from_slice(lower.1);
        group.sources[3..3 + upper.1.len()].copy_from_slice(upper.1);
        group.writes = [Some(lower.2), Some(upper.2)];
        group.selectors.is[4] = Feed::Ft1;
        admit_encoded(&group, context).ok().map(|()| group)
    })
}

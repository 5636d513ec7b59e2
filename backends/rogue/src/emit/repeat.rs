//! Groups that do the same with the next registers are one that repeats: its turns are they, one after the other.
//! isa/rogue-pipeline.md 1.1 (rpt).

use crate::constants::Constants;
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, Group, MainOps, Ops};
use crate::isa::ops::{Backend, Main};
use crate::isa::register::{Register, Special, special};
use crate::legal::{Context, admit, is_complex};
use gpucc_isa::Inst as Word;

/// Turns of a group. 1.1.
const MOST: u8 = 4;

/// The register so many behind another.
fn behind(register: Register, by: u16) -> Option<Register> {
    Some(match register {
        Register::Temp(number) => Register::Temp(number + by),
        Register::Vtxin(number) => Register::Vtxin(number + by),
        Register::Coeff(number) => Register::Coeff(number + by),
        Register::Shared(number) => Register::Shared(number + by),
        Register::Special(number) => match (special(number), special(number + by)) {
            (Special::Constant(_), _) => register,
            (Special::Pixout(a), Special::Pixout(b)) if u16::from(b) == u16::from(a) + by => {
                Register::Special(number + by)
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// Whether a group may repeat: its operations read their sources and write their results, and know nothing of turns.
fn repeats(group: &Group) -> bool {
    let plain = group.condition != Condition::IgnorePe && !group.atom && !group.end;
    let bare =
        |word: &Word| [f::PWEN, f::CARRY].iter().all(|&id| !word.has_field(id) || !word.flag(id));
    plain
        && match &group.ops {
            Ops::Main(ops) => {
                let alu = |word: &Word| {
                    let row = Main::of(word.op());
                    !is_complex(row) && row != Main::Unpck
                };
                let writes = |word: Word| Backend::of(word.op()) == Backend::UvswWrite;
                ops.pack.is_none()
                    && [ops.p0, ops.p1].iter().flatten().all(alu)
                    && ops.backend.is_none_or(writes)
                    && ops.places().into_iter().flatten().all(bare)
            }
            Ops::Bitwise(phases) => phases.iter().flatten().all(bare),
            Ops::Control(_) => false,
        }
}

/// The operations of a group as they are some turns later: addresses of the vertex buffer step, too.
fn later(ops: &Ops, turns: u8) -> Option<Ops> {
    let mut ops = ops.clone();
    if let Ops::Main(MainOps { backend: Some(word), .. }) = &mut ops {
        let address = word.get(f::ADDRESS) + u32::from(turns);
        *word = word.with(f::ADDRESS, u8::try_from(address).ok()?.into());
    }
    Some(ops)
}

/// A group and the one behind it as one that repeats.
pub(super) fn join(
    first: &Group,
    second: &Group,
    context: &Context,
    constants: &mut Constants,
) -> Option<Group> {
    if !repeats(first) || !repeats(second) {
        return None;
    }
    stepped(first, second, context, constants).or_else(|| {
        let (low, high) = crossed(first, second)?;
        stepped(&low, &high, context, constants)
    })
}

/// Where the second does what the first would do in its next turn.
fn stepped(
    first: &Group,
    second: &Group,
    context: &Context,
    constants: &mut Constants,
) -> Option<Group> {
    let turns = first.repeat + second.repeat;
    let by = u16::from(first.repeat);
    let alike = first.condition == second.condition
        && first.selectors == second.selectors
        && first.layout == second.layout
        && turns <= MOST
        && later(&first.ops, first.repeat).as_ref() == Some(&second.ops);
    let writes = first.writes.iter().zip(&second.writes).all(|(a, b)| match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => behind(*a, by) == Some(*b),
        _ => false,
    });
    if !alike || !writes {
        return None;
    }
    let mut group = first.clone();
    group.repeat = turns;
    group.olchk |= second.olchk;
    let mut rows = Vec::new();
    for (place, (&a, &b)) in first.sources.iter().zip(&second.sources).enumerate() {
        if behind(a, by) != Some(b) {
            let of = |register, turn| constants.value(behind(register, turn)?);
            let bits: Option<Vec<u32>> = (0..by)
                .map(|turn| of(a, turn))
                .chain((0..second.repeat).map(|turn| of(b, turn.into())))
                .collect();
            rows.push((place, bits?));
            // Any shared register shows whether one may stand there.
            group.sources[place] = Register::Shared(constants.first);
        }
    }
    admit(&group, context).ok()?;
    for (place, bits) in rows {
        group.sources[place] = Register::Shared(constants.row(&bits)?);
    }
    admit(&group, context).ok().map(|()| group)
}

/// One phase of a group of two operations: its sources and its result.
#[derive(Copy, Clone)]
struct Half {
    word: Word,
    sources: [Register; 3],
    to: Register,
}

/// Two operations that a group does beside each other, each for a port of its own.
fn halves(group: &Group) -> Option<[Half; 2]> {
    let Ops::Main(ops) = &group.ops else { return None };
    let [Some(a), Some(b), None, None, None, None] = ops.places() else { return None };
    let [Some(x), Some(y)] = group.writes else { return None };
    let plain = group.selectors.is[3] == Feed::Ft0 && group.selectors.is[4] == Feed::Ft1;
    let [s0, s1, s2, s3, s4, s5] = group.sources;
    let first = Half { word: *a, sources: [s0, s1, s2], to: x };
    let second = Half { word: *b, sources: [s3, s4, s5], to: y };
    (plain && group.repeat == 1).then_some([first, second])
}

/// Two groups of two operations as others of the same four: those that follow each other are in the same phase then.
fn crossed(first: &Group, second: &Group) -> Option<(Group, Group)> {
    let ([a, b], [c, d]) = (halves(first)?, halves(second)?);
    let all = [a, b, c, d];
    // In any order: nobody reads what another one makes.
    let waits = all.iter().enumerate().any(|(at, half)| {
        all.iter().enumerate().any(|(other, of)| at != other && half.sources.contains(&of.to))
    });
    if waits || first.condition != second.condition {
        return None;
    }
    let follows = |a: &Half, b: &Half| a.word == b.word && behind(a.to, 1) == Some(b.to);
    let [(a, b), (c, d)] =
        [(a, b), (c, d)].map(|(a, b)| if follows(&b, &a) { (b, a) } else { (a, b) });
    if !follows(&a, &b) || !follows(&c, &d) {
        return None;
    }
    let group = |low: Half, high: Half| {
        let ops = MainOps { p0: Some(low.word), p1: Some(high.word), ..MainOps::default() };
        let mut group = Group { ops: Ops::Main(ops), ..first.clone() };
        group.olchk |= second.olchk;
        let [s0, s1, s2] = low.sources;
        let [s3, s4, s5] = high.sources;
        group.sources = [s0, s1, s2, s3, s4, s5];
        group.writes = [Some(low.to), Some(high.to)];
        group
    };
    Some((group(a, c), group(b, d)))
}

//! The example of the Main Instruction Group page, in the page's own words.
//!
//! The page has a multiplication in phase 2 and says in the same place that phase 2 takes PACK, TEST and MOV alone. Such a
//! group is read, printed and put into bytes in the one way that the chain of phase 2 leaves open, so that the example
//! comes back as it was; [`crate::legal`] refuses it, and no lowering makes it. Sources have no registers in the example:
//! they are constant 0. IS0 and IS1 are the page's two external sources; here IS1 passes the external feedthrough on.

use super::disasm::{Around, result_name, source_name};
use super::fields::f;
use super::group::{Condition, Feed, Group, MainOps, Ops, Place};
use super::ops::{Backend, Main, Move, Test};
use gpucc_isa::Inst;
use std::fmt::Write;

/// The page's names of arithmetic, ours, and their sources.
const ARITHMETIC: [(&str, Main, u8); 2] = [("mul", Main::Fmul, 2), ("mad", Main::Fmad, 3)];

/// What the page says beside a line of the example.
fn note(place: Place) -> &'static str {
    match place {
        Place::P0 => "phase 0 instruction ",
        Place::P1 => "ft1 drives w1 by default, second to last phase present",
        Place::Pack => "ft2 drives w0 by default, last phase present",
        Place::Test => "test instruction always drives feedthrough ftt",
        Place::Move => "ft1 or ft0 output to w0 (overrides default)",
        _ => "backend instruction",
    }
}

/// Behind the test the page says that it need not write p0.
const BEHIND_TEST: &str = " \n # p0 write optional\n";

fn arithmetic(place: Place, name: &str, sources: u8) -> String {
    let mut text = format!("{name} {}", result_name(place));
    for n in 0..sources {
        write!(text, ", {}", source_name(place, n)).expect("writing to a string");
    }
    text
}

/// Every line that the page's words have for a place, with the operation that it stands for.
fn lines(place: Place) -> Vec<(String, Inst)> {
    let one = |text: &str, inst: Inst| vec![(text.to_owned(), inst)];
    match place {
        Place::P0 | Place::P1 | Place::Pack => {
            let rows = ARITHMETIC.into_iter();
            rows.map(|(name, row, n)| (arithmetic(place, name, n), Inst::usual(row.op()))).collect()
        }
        Place::Test => one("tstz.f32 ftt, p0, is1", Inst::usual(Test::Tst.op()).with(f::PWEN, 1)),
        Place::Move => {
            // W0 is ft0 or ft1; W1 stays ft1.
            let mov = Inst::usual(Move::Movc.op()).with(f::MOV_W0, Feed::Ft0 as u32);
            one("movc w0,w1, ftt, ft0, ft1", mov.with(f::MOV_W1, Feed::Ft1 as u32))
        }
        Place::Backend => one("uvsw w0", Inst::usual(Backend::UvswWrite.op())),
        _ => Vec::new(),
    }
}

/// The group of operations in the page's words.
fn group(condition: Condition, ops: MainOps) -> Group {
    let mut group = Group { condition, ..Group::new(Ops::Main(ops)) };
    group.selectors.is[0] = Feed::Fte;
    group.selectors.is[3] = Feed::Ft1;
    group.selectors.is[4] = Feed::Ft1;
    group
}

/// The group that lines in the page's words say, where they have arithmetic in phase 2.
pub(super) fn parse(condition: Condition, given: &[&str]) -> Option<Group> {
    let mut ops = MainOps::default();
    let mut places = Place::MAIN.into_iter();
    for line in given {
        let found = places.by_ref().find_map(|place| {
            let known = lines(place).into_iter().find(|(text, _)| text == line)?;
            Some((place, known.1))
        });
        let (place, inst) = found?;
        *match place {
            Place::P0 => &mut ops.p0,
            Place::P1 => &mut ops.p1,
            Place::Pack => &mut ops.pack,
            Place::Test => &mut ops.test,
            Place::Move => &mut ops.mov,
            _ => &mut ops.backend,
        } = Some(inst);
    }
    ops.documented().is_some().then(|| group(condition, ops))
}

/// The text of a group in the page's words, where it is one that only they say.
pub(super) fn example(found: &Group, around: &Around<'_>) -> Option<String> {
    let Ops::Main(ops) = &found.ops else { return None };
    ops.documented()?;
    // A foreign layout is told in the usual words.
    if around.pad.is_some() || *found != group(found.condition, ops.clone()) {
        return None;
    }
    let mut text = format!("{} :", around.number);
    text.push_str(match found.condition {
        Condition::Runs => "",
        Condition::IfP0 => " if (p0)",
        Condition::IgnorePe => " (ignorepe)",
        Condition::IfNotP0 => " if (!p0)",
    });
    text.push('\n');
    for (place, inst) in found.operations() {
        let (line, _) = lines(place).into_iter().find(|(_, known)| *known == inst)?;
        writeln!(text, " {line} # {}", note(place)).expect("writing to a string");
        if place == Place::Test {
            text.push_str(BEHIND_TEST);
        }
    }
    Some(text)
}

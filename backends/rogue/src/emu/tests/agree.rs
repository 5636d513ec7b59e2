//! Two readings of a group, by two hands: they accept the same bytes, find the same in them, and forbid the same.

use super::Dice;
use super::golden::rows;
use super::neutral::{Said, of_emulator, of_table};
use crate::emu::check::Uses;
use crate::emu::inst as emu_inst;
use crate::emu::{self, Core, Rule, Stage};
use crate::isa::disasm::asks_external;
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, Layout, MUX, MainOps, Ops};
use crate::isa::ops::{
    BACKEND, BITWISE0, BITWISE1, BITWISE2, CONTROL, Control, MAIN, MOVE, PACK, TEST,
    control_has_sources,
};
use crate::isa::register::{File, Register};
use crate::isa::{self, Group};
use crate::legal::{self, Context};
use gpucc_isa::{Inst, Table};
use std::collections::{BTreeMap, BTreeSet};

/// A number that is often small.
fn small(dice: &mut Dice, most: u64) -> u16 {
    let limit = if dice.below(3) == 0 { most } else { most.min(32) };
    dice.below(limit) as u16
}

fn register(dice: &mut Dice) -> Register {
    match dice.below(24) {
        0..=5 => Register::Temp(small(dice, 300)),
        6..=8 => Register::Special(dice.below(32) as u16),
        9..=11 => Register::Special(small(dice, 180)),
        12..=13 => Register::Vtxin(small(dice, 300)),
        14..=16 => Register::Coeff(4 * small(dice, 60)),
        17..=18 => Register::Shared(small(dice, 2048)),
        19 => Register::Index(dice.below(2) as u8),
        20 => Register::pixout(dice.below(8) as u8),
        21 => Register::CoeffAlt(small(dice, 2048)),
        _ => {
            let files = [File::Temp, File::Vtxin, File::Coeff, File::Shared, File::Pixout];
            let file = files[dice.below(5) as usize];
            Register::Relative { index: dice.below(2) as u8, file, offset: small(dice, 256) as u8 }
        }
    }
}

/// An operation of a table: fields are mostly as usual, or any that the format holds.
fn operation(dice: &mut Dice, table: &'static Table) -> Inst {
    let row = table.rows().nth(dice.below(table.rows().count() as u64) as usize).expect("a row");
    let calm = dice.below(3) != 0;
    let mut inst = Inst::new(row);
    for field in row.format.fields().filter(|field| !row.is_fixed(field)) {
        if calm && dice.below(3) != 0 {
            continue;
        }
        let most = if field.width() >= 32 { u64::from(u32::MAX) } else { (1 << field.width()) - 1 };
        let value = dice.below(most + 1) as u32;
        if field.accepts(value) && ![f::KEPT, f::BIT7].contains(&field.id) {
            inst = inst.with(field.id, value);
        }
    }
    inst
}

fn main_ops(dice: &mut Dice) -> MainOps {
    let has = isa::encode::ORIGINS[dice.below(8) as usize];
    let mut ops = MainOps {
        p0: has[0].then(|| operation(dice, &MAIN)),
        p1: has[1].then(|| operation(dice, &MAIN)),
        backend: has[3].then(|| operation(dice, &BACKEND)),
        ..MainOps::default()
    };
    let chain = if has[2] { 1 + dice.below(7) } else { 0 };
    ops.pack = (chain & 1 != 0).then(|| operation(dice, &PACK));
    ops.test = (chain & 2 != 0).then(|| operation(dice, &TEST));
    ops.mov = (chain & 4 != 0).then(|| operation(dice, &MOVE));
    ops
}

/// A random group of the tables, legal or not, that has bytes.
fn random(dice: &mut Dice) -> Option<(Group, Vec<u8>)> {
    let ops = match dice.below(8) {
        0..=4 => Ops::Main(main_ops(dice)),
        5..=6 => {
            let count = 1 + dice.below(7);
            Ops::Bitwise([
                (count & 1 != 0).then(|| operation(dice, &BITWISE0)),
                (count & 2 != 0).then(|| operation(dice, &BITWISE1)),
                (count & 4 != 0).then(|| operation(dice, &BITWISE2)),
            ])
        }
        _ => Ops::Control(operation(dice, &CONTROL)),
    };
    let mut group = Group::new(ops);
    group.olchk = dice.below(2) == 0;
    group.condition = Condition::ALL[dice.below(4) as usize];
    let (mut sourced, mut mask) = (true, false);
    match &group.ops {
        Ops::Control(inst) => {
            sourced = control_has_sources(inst.op());
            mask = sourced;
            group.end = Control::of(inst.op()) == Control::Nop && dice.below(2) == 0;
        }
        _ => {
            group.end = dice.below(8) == 0;
            group.atom = dice.below(8) == 0;
            group.repeat = if dice.below(4) == 0 { 1 + dice.below(4) as u8 } else { 1 };
        }
    }
    if mask && dice.below(4) != 0 {
        group.condition = Condition::IgnorePe;
        group.writes[0] = Some(register(dice));
    }
    if sourced {
        let plain = dice.below(3);
        let used = dice.below(64) | dice.below(64);
        for (at, source) in group.sources.iter_mut().enumerate() {
            if used >> at & 1 == 1 {
                *source = match plain {
                    0 => Register::Temp(small(dice, 250)),
                    _ => register(dice),
                };
            }
        }
    }
    if matches!(group.ops, Ops::Main(_)) {
        group.selectors.is0 = MUX[dice.below(6) as usize];
        let mut feed = |list: &[Feed]| list[dice.below(list.len() as u64) as usize];
        group.selectors.is = [
            feed(&[Feed::Ft0, Feed::Fte]),
            feed(&[Feed::Ft1, Feed::Fte]),
            feed(&[Feed::Ft0, Feed::Ft1, Feed::Fte]),
            feed(&Feed::ALL),
            feed(&Feed::ALL),
        ];
    }
    if !matches!(group.ops, Ops::Control(_)) || dice.below(16) == 0 {
        for write in &mut group.writes {
            *write = match dice.below(8) {
                0..=1 => Some(register(dice)),
                2..=3 => Some(Register::Temp(small(dice, 250))),
                _ => None,
            };
        }
    }
    let bytes = isa::encode(&group).ok()?;
    Some((group, bytes))
}

const CONTEXTS: [Context; 2] = [Context::DRAWING, Context::COMPUTE];

/// The rules by which a group of tables is refused that the emulator does not even read.
fn unread(rule: Rule) -> &'static [legal::Rule] {
    use legal::Rule as L;
    match rule {
        Rule::Register => &[L::UnknownSpecial, L::CoeffAlt],
        Rule::ControlPorts => &[L::ControlWrites, L::MaskWrites],
        Rule::BitwisePhases => &[L::BitwisePhases],
        Rule::PhaseEnd => &[L::PhaseTwoArithmetic],
        Rule::Reserved => &[L::Kept],
        _ => &[],
    }
}

/// Whether it is the operation that is public by the picture of its bytes alone: the emulator reads no fields of it.
fn is_picture(group: &emu_inst::Group) -> bool {
    matches!(group.kind, emu_inst::Kind::Control(emu_inst::Control::IterateSample { .. }))
}

/// What both say of the group at the start of bytes.
enum Both {
    Neither,
    Groups(Box<(Group, emu_inst::Group)>),
    Differ(String),
}

fn read(bytes: &[u8]) -> Both {
    match (isa::decode(bytes), emu::decode(bytes)) {
        (Err(_), Err(_)) => Both::Neither,
        (Ok((table, length)), Ok(own)) => {
            let (one, other) = (of_table(&table, length), of_emulator(&own));
            if one == other {
                return Both::Groups(Box::new((table, own)));
            }
            Both::Differ(differences(&one, &other))
        }
        (Ok((table, _)), Err((rule, detail))) => {
            let refused = |context| {
                let broken = legal::breaches(&table, context);
                unread(rule).iter().any(|rule| broken.contains(rule))
            };
            if CONTEXTS.iter().all(refused) {
                return Both::Neither;
            }
            Both::Differ(format!("the emulator alone refuses: {rule:?}, {detail}"))
        }
        (Err(_), Ok(own)) if is_picture(&own) => Both::Neither,
        (Err(error), Ok(own)) => Both::Differ(format!("the table alone refuses: {error}; {own:?}")),
    }
}

fn differences(one: &Said, other: &Said) -> String {
    let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let differ = keys.into_iter().filter(|key| one.get(*key) != other.get(*key));
    let said = differ.map(|key| format!("{key:?}: {:?} and {:?}", one.get(key), other.get(key)));
    said.collect::<Vec<_>>().join("; ")
}

/// One example a kind of difference, with how often it was met.
#[derive(Default)]
struct Found(BTreeMap<String, (usize, String)>);

impl Found {
    fn note(&mut self, what: &str, bytes: &[u8]) {
        let kind: String = what.chars().filter(|c| !c.is_ascii_digit()).take(90).collect();
        let entry = self.0.entry(kind).or_default();
        entry.0 += 1;
        if entry.1.is_empty() {
            entry.1 = format!("{what} {bytes:02x?}");
        }
    }

    fn none(self) {
        assert!(self.0.is_empty(), "{:#?}", self.0);
    }
}

#[test]
fn both_read_the_same_in_groups_of_the_tables() {
    let (mut dice, mut found, mut seen) = (Dice::new(1), Found::default(), 0);
    for _ in 0..30_000 {
        let Some((_, bytes)) = random(&mut dice) else { continue };
        match read(&bytes) {
            Both::Neither => {}
            Both::Groups(_) => seen += 1,
            Both::Differ(what) => found.note(&what, &bytes),
        }
    }
    found.none();
    assert!(seen > 10_000, "only {seen} groups");
}

#[test]
fn both_read_the_same_in_groups_with_other_bits() {
    let (mut dice, mut found, mut seen) = (Dice::new(2), Found::default(), 0);
    for _ in 0..30_000 {
        let Some((_, mut bytes)) = random(&mut dice) else { continue };
        for _ in 0..1 + dice.below(2) {
            let at = dice.below(8 * bytes.len() as u64) as usize;
            bytes[at / 8] ^= 1 << (at % 8);
        }
        bytes.extend([0xff; 32]);
        match read(&bytes) {
            Both::Neither => {}
            Both::Groups(_) => seen += 1,
            Both::Differ(what) => found.note(&what, &bytes),
        }
    }
    found.none();
    assert!(seen > 3_000, "only {seen} groups");
}

/// Bytes whose header is likely: the length fits nothing by chance alone.
#[test]
fn both_read_the_same_in_random_bytes() {
    let (mut dice, mut found, mut seen) = (Dice::new(3), Found::default(), 0);
    for _ in 0..40_000 {
        let mut bytes: Vec<u8> = (0..32).map(|_| dice.next() as u8).collect();
        if dice.below(2) == 0 {
            bytes[1] |= 0x80;
            bytes[2] = bytes[2] & 0x6f | [0, 0x40, 0x60][dice.below(3) as usize];
        }
        // Every header is tried that could be right.
        for first in 0..=255 {
            bytes[0] = first;
            let length = if first & 15 == 0 { 32 } else { 2 * usize::from(first & 15) };
            if !(2..=5).contains(&(first >> 4)) && first >> 4 != 0 || length > 12 {
                continue;
            }
            match read(&bytes) {
                Both::Neither => {}
                Both::Groups(_) => seen += 1,
                Both::Differ(what) => found.note(&what, &bytes),
            }
        }
    }
    found.none();
    assert!(seen > 100, "only {seen} groups");
}

#[test]
fn both_read_the_same_in_collected_groups() {
    let mut found = Found::default();
    for row in rows() {
        let mut rest = &row.bytes[..];
        while !rest.is_empty() {
            match read(rest) {
                Both::Groups(both) => rest = &rest[usize::from(both.1.length)..],
                Both::Neither => break,
                Both::Differ(what) => {
                    found.note(&format!("{what} {}", row.id), rest);
                    break;
                }
            }
        }
    }
    found.none();
}

/// The rules by which the emulator refuses a group whoever runs it; none where somebody may.
fn forbidden(group: &emu_inst::Group, compute: bool) -> BTreeSet<Rule> {
    let stages: &[Stage] =
        if compute { &[Stage::Compute] } else { &[Stage::Fragment, Stage::Vertex] };
    let mut rules = BTreeSet::new();
    for core in [Core::BXS_4_64, Core::GX6250] {
        for stage in stages {
            match emu::admit(group, &core, *stage) {
                Ok(()) => return BTreeSet::new(),
                Err((rule, _)) => rules.insert(rule),
            };
        }
    }
    rules
}

/// The same group with constant 0 at the sources that nobody reads, as compilers have it: what stands there is nobody's
/// business (1.2: an operand that is not used needs no bits).
fn without_unread(both: &(Group, emu_inst::Group)) -> Group {
    let mut group = Group { layout: Layout::default(), ..both.0.clone() };
    if let Ok(uses) = Uses::of(&both.1) {
        let read: Vec<usize> = uses.named().collect();
        for (at, source) in group.sources.iter_mut().enumerate() {
            if !read.contains(&at) {
                *source = Register::ZERO;
            }
        }
    }
    group
}

/// What the tables forbid when a group is built, and the emulator when it runs: the state words or the values of registers
/// are asked with it.
const AT_RUN: [legal::Rule; 4] = [
    legal::Rule::Undocumented,
    legal::Rule::IteratedCoefficient,
    legal::Rule::AddressNeedsLod,
    legal::Rule::RegisterLimit,
];

#[test]
fn both_forbid_the_same() {
    let (mut dice, mut found, mut seen) = (Dice::new(4), Found::default(), [0; 2]);
    for _ in 0..40_000 {
        let Some((_, bytes)) = random(&mut dice) else { continue };
        let Both::Groups(both) = read(&bytes) else { continue };
        let Ok(bytes) = isa::encode(&without_unread(&both)) else { continue };
        let Both::Groups(both) = read(&bytes) else { panic!("{bytes:02x?} are no group") };
        for context in CONTEXTS {
            let broken = legal::breaches(&both.0, &context);
            let rules = forbidden(&both.1, context.compute);
            // Fields that nobody reads are kept of foreign words and never written (8).
            let excused =
                broken.iter().all(|rule| AT_RUN.contains(rule) || *rule == legal::Rule::Kept);
            if broken.is_empty() != rules.is_empty() && !(rules.is_empty() && excused) {
                found.note(&format!("{broken:?} and {rules:?}"), &bytes);
            } else {
                seen[usize::from(broken.is_empty())] += 1;
            }
        }
    }
    found.none();
    assert!(seen[0] > 1_000 && seen[1] > 1_000, "{seen:?} groups");
}

/// What the emulator reads is named by the other reading too, which waits and lifetimes follow.
#[test]
fn every_source_that_is_read_is_named() {
    let (mut dice, mut found, mut seen) = (Dice::new(5), Found::default(), 0);
    for _ in 0..20_000 {
        let Some((group, bytes)) = random(&mut dice) else { continue };
        let Both::Groups(both) = read(&bytes) else { continue };
        let Ok(uses) = Uses::of(&both.1) else { continue };
        // Integers in phase 1 are no group that anybody builds.
        if legal::breaches(&group, &Context::DRAWING).contains(&legal::Rule::PhaseZeroOnly) {
            continue;
        }
        let mut named: BTreeSet<u8> =
            legal::named(&group).into_iter().map(|(_, port)| port).collect();
        if asks_external(&group) {
            named.insert(group.selectors.is0);
        }
        let missing: Vec<usize> = uses.named().filter(|at| !named.contains(&(*at as u8))).collect();
        seen += 1;
        if !missing.is_empty() {
            found.note(&format!("S{missing:?} of {:?}", both.1.kind), &bytes);
        }
    }
    found.none();
    assert!(seen > 5_000, "only {seen} groups");
}

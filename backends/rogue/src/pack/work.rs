//! What a group of the main ALU computes, apart from where it does it: operations, what is packed and tested, what is written. Two
//! groups become one as such works, and a work becomes a group by a choice of places. isa/rogue-pipeline.md 1.2 to 1.5, 2.4.

use crate::inst::{Port, Step, W0};
use crate::isa::disasm::{is_constant, is_unary};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, Group, MainOps, Ops};
use crate::isa::ops::{Main, Move};
use crate::isa::register::{Register, Special, special};
use crate::legal::{Context, admit_encoded, is_complex};
use gpucc_ir::mach::Role;
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;

/// What stands at a source or at a write port.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Slot {
    /// A register of the allocator; the place within is of no account.
    Port(Port),
    Fixed(Register),
}

impl Slot {
    /// The same register, wherever it is named.
    pub fn is(self, other: Slot) -> bool {
        match (self, other) {
            (Slot::Port(a), Slot::Port(b)) => a.reg == b.reg && a.part == b.part,
            (Slot::Fixed(a), Slot::Fixed(b)) => a == b,
            _ => false,
        }
    }

    /// Whether a source of this number may be it. 1.2.
    pub fn fits(self, port: usize) -> bool {
        let Slot::Fixed(register) = self else { return true };
        match register {
            Register::Temp(_) | Register::Vtxin(_) => true,
            Register::Special(number) => match special(number) {
                Special::Constant(_) | Special::Internal(_) => true,
                Special::Pixout(_) => matches!(port, 0 | 2 | 3),
                Special::Named(_) => matches!(port, 1 | 2 | 4),
                Special::Unknown => false,
            },
            _ => matches!(port, 0 | 2 | 3),
        }
    }
}

/// A value within a group.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Val {
    /// The result of the operation of this number.
    Op(u8),
    /// The high word of the operation of 64 bits.
    High,
    /// What the pack makes.
    Packed,
}

/// An operation of phase 0 or 1; one that only passes on may be the external feedthrough.
#[derive(Clone, Debug)]
pub struct Alu {
    pub word: Word,
    pub sources: SmallVec<[Slot; 3]>,
    /// The high word that an operation of 64 bits adds, at the external feedthrough.
    pub addend: Option<Slot>,
}

impl Alu {
    /// It passes on its source as it is.
    pub fn passes(&self) -> bool {
        Main::of(self.word.op()) == Main::Mbyp
            && !self.word.flag(f::NEG0)
            && !self.word.flag(f::ABS0)
    }

    /// Phase 1 has it, too. 2.2.
    fn is_float(&self) -> bool {
        let row = Main::of(self.word.op());
        row < Main::Iadd && row != Main::Unpck
    }

    fn is_wide(&self) -> bool {
        matches!(Main::of(self.word.op()), Main::Imadd64 | Main::Add6432)
    }
}

/// What a write port writes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    One(Val),
    /// The first where the test holds.
    Either(Val, Val),
}

/// How many operations do more than pass on, and how many of these phase 0 alone has.
#[derive(Copy, Clone, Default, Debug)]
pub struct Load {
    pub real: usize,
    pub integers: usize,
}

/// A work.
#[derive(Clone, Debug, Default)]
pub struct Work {
    pub alus: SmallVec<[Alu; 4]>,
    pub pack: Option<(Word, Option<Val>)>,
    pub test: Option<(Word, Val, Option<Val>)>,
    pub writes: SmallVec<[(Slot, Choice); 4]>,
    pub olchk: bool,
    pub pure: bool,
}

/// How many sources an operation reads, where its work is understood.
fn count(word: &Word) -> Option<usize> {
    match Main::of(word.op()) {
        Main::Fadd | Main::Fmul => Some(2),
        Main::Fmad | Main::Imadd32 | Main::Imadd64 | Main::Add6432 => Some(3),
        Main::Mbyp | Main::Unpck | Main::Fdsx | Main::Fdsy | Main::Fdsxf | Main::Fdsyf => Some(1),
        _ => None,
    }
}

/// Whether a step is one that may become part of another: of the main ALU, once, for all that run.
fn plain(step: &Step) -> bool {
    let group = &step.group;
    let led =
        |register: &Register| matches!(register, Register::Relative { .. } | Register::Index(_));
    let registers = group.sources.iter().chain(group.writes.iter().flatten());
    group.condition == Condition::Runs
        && !group.end
        && !group.atom
        && group.repeat == 1
        && step.message.is_none()
        && !registers.into_iter().any(led)
        && step
            .ports
            .iter()
            .all(|port| !port.indexed && !port.ranged && port.role != Role::EarlyDef)
}

/// Reads the work of a step.
struct Reader<'a> {
    step: &'a Step,
    work: Work,
    /// The operation that is the external feedthrough.
    external: Option<Val>,
}

impl Reader<'_> {
    fn slot(&self, place: u8) -> Slot {
        let port = self.step.ports.iter().find(|port| port.place == place);
        match port {
            Some(&port) => Slot::Port(port),
            None => Slot::Fixed(self.step.group.sources[usize::from(place)]),
        }
    }

    fn alu(&mut self, word: Word, first: u8) -> Option<()> {
        let sources = (first..).take(count(&word)?).map(|place| self.slot(place)).collect();
        let mut alu = Alu { word, sources, addend: None };
        if alu.is_wide() {
            if Main::of(word.op()) == Main::Imadd64 {
                alu.addend = Some(self.slot(self.step.group.selectors.is0));
            }
            self.external = Some(Val::High);
        }
        self.work.alus.push(alu);
        Some(())
    }

    fn val(&mut self, feed: Feed, pass: Word) -> Val {
        match feed {
            Feed::Ft0 => Val::Op(0),
            Feed::Ft1 => Val::Op(1),
            Feed::Ft2 => Val::Packed,
            Feed::Fte => match self.external {
                Some(val) => val,
                None => {
                    let number = self.work.alus.len() as u8;
                    let slot = self.slot(self.step.group.selectors.is0);
                    let sources = SmallVec::from_slice(&[slot]);
                    self.work.alus.push(Alu { word: pass, sources, addend: None });
                    *self.external.insert(Val::Op(number))
                }
            },
        }
    }
}

impl Work {
    /// The work of a step, where it is understood.
    pub fn of(step: &Step) -> Option<Work> {
        let Ops::Main(ops) = &step.group.ops else { return None };
        if !plain(step) || ops.backend.is_some() {
            return None;
        }
        let pass = Word::usual(Main::Mbyp.op());
        let is = step.group.selectors.is;
        let work = Work { olchk: step.group.olchk, pure: step.pure, ..Work::default() };
        let mut reader = Reader { step, work, external: None };
        if let Some(word) = ops.p0 {
            reader.alu(word, 0)?;
        }
        if let Some(word) = ops.p1 {
            reader.alu(word, 3)?;
        }
        if let Some(pack) = ops.pack {
            if pack.flag(f::PROG) {
                return None;
            }
            let of = (!is_constant(&pack)).then(|| reader.val(is[2], pass));
            reader.work.pack = Some((pack, of));
        }
        if let Some(test) = ops.test {
            let a = reader.val(is[0], pass);
            let b = (!is_unary(&test)).then(|| reader.val(is[1], pass));
            reader.work.test = Some((test, a, b));
        }
        for port in 0..2u8 {
            let to = match step.ports.iter().find(|p| p.place == W0 + port) {
                Some(&to) => Slot::Port(to),
                None => match step.group.writes[usize::from(port)] {
                    Some(register) => Slot::Fixed(register),
                    None => continue,
                },
            };
            let other = is[3 + usize::from(port)];
            let choice = match ops.mov {
                None => Choice::One(reader.val(other, pass)),
                Some(mov) => {
                    if mov.get(f::MASK) != 15 {
                        return None;
                    }
                    let id = if port == 0 { f::MOV_W0 } else { f::MOV_W1 };
                    let yes = reader.val(Feed::ALL[mov.get(id) as usize], pass);
                    match Move::of(mov.op()) {
                        Move::Movwm if port == 0 => Choice::One(yes),
                        Move::Movwm => return None,
                        Move::Movc => Choice::Either(yes, reader.val(other, pass)),
                    }
                }
            };
            reader.work.writes.push((to, choice));
        }
        Some(reader.work)
    }

    /// What it loads the phases with.
    pub fn load(&self) -> Load {
        let real = self.alus.iter().filter(|alu| !alu.passes());
        let integers = real.clone().filter(|alu| !alu.is_float()).count();
        Load { real: real.count(), integers }
    }

    /// What both do, in one: the second reads of the first only what it passes on as it is. Of the first's results those stay that
    /// `kept` says.
    pub fn with(&self, other: &Work, kept: impl Fn(Slot) -> bool) -> Option<Work> {
        // Most that fails does so here, before anything is made.
        let writes = self.writes.iter().filter(|(to, _)| kept(*to)).copied();
        let mut writes: SmallVec<[(Slot, Choice); 4]> = writes.collect();
        let twice = |&(to, _): &(Slot, Choice)| writes.iter().any(|(old, _)| old.is(to));
        if writes.len() + other.writes.len() > 2 || other.writes.iter().any(twice) {
            return None;
        }
        // What passes on a choice alone makes it itself.
        let lone = other.alus.len() == 1 && other.pack.is_none() && other.test.is_none();
        let mut read: SmallVec<[Option<Choice>; 4]> = SmallVec::new();
        for alu in &other.alus {
            let from = |slot: &Slot| self.writes.iter().find(|(to, _)| to.is(*slot));
            let choice = alu.sources.iter().chain(&alu.addend).find_map(from).map(|&(_, of)| of);
            match choice {
                Some(Choice::Either(..)) if !lone => return None,
                Some(_) if !alu.passes() => return None,
                _ => read.push(choice),
            }
        }
        let mut work = Work { writes: SmallVec::new(), ..self.clone() };
        work.olchk |= other.olchk;
        work.pure &= other.pure;
        // What the values of the other's operations are here.
        let mut vals: SmallVec<[Val; 4]> = SmallVec::new();
        let mut chosen = None;
        for (alu, read) in other.alus.iter().zip(read) {
            let same =
                |old: &Alu| alu.passes() && old.passes() && old.sources[0].is(alu.sources[0]);
            match read {
                Some(Choice::One(val)) => vals.push(val),
                Some(choice) => {
                    chosen = Some(choice);
                    vals.push(Val::Op(0));
                }
                None => match work.alus.iter().position(same) {
                    Some(at) => vals.push(Val::Op(at as u8)),
                    None => {
                        vals.push(Val::Op(work.alus.len() as u8));
                        work.alus.push(alu.clone());
                    }
                },
            }
        }
        if work.alus.len() > 3 || work.alus.iter().filter(|alu| alu.is_wide()).count() > 1 {
            return None;
        }
        let val = |old: Val| match old {
            Val::Op(at) => vals[usize::from(at)],
            other => other,
        };
        if let Some((word, of)) = other.pack {
            let pack = (word, of.map(val));
            if work.pack.is_some_and(|old| old != pack) {
                return None;
            }
            work.pack = Some(pack);
        }
        if let Some((word, a, b)) = other.test {
            let test = (word, val(a), b.map(val));
            if work.test.is_some_and(|old| old != test) {
                return None;
            }
            work.test = Some(test);
        }
        for &(to, choice) in &other.writes {
            let choice = match choice {
                Choice::One(_) if chosen.is_some() => chosen.unwrap_or(choice),
                Choice::One(one) => Choice::One(val(one)),
                Choice::Either(yes, no) => Choice::Either(val(yes), val(no)),
            };
            writes.push((to, choice));
        }
        work.writes = writes;
        Some(work)
    }

    /// A group that does it, by the first places that are legal.
    pub fn lay(&self, context: &Context) -> Option<Step> {
        const ONE: &[&[u8]] = &[&[0], &[2]];
        const TWO: &[&[u8]] = &[&[0, 1], &[1, 0], &[0, 2], &[2, 0]];
        const THREE: &[&[u8]] =
            &[&[0, 1, 2], &[0, 2, 1], &[1, 0, 2], &[2, 0, 1], &[1, 2, 0], &[2, 1, 0]];
        let orders = match self.alus.len() {
            0 => return None,
            1 => ONE,
            2 => TWO,
            _ => THREE,
        };
        orders.iter().find_map(|order| self.placed(order, context))
    }

    fn feed(&self, val: Val, order: &[u8]) -> Feed {
        match val {
            Val::High => Feed::Fte,
            Val::Packed => Feed::Ft2,
            Val::Op(at) => [Feed::Ft0, Feed::Ft1, Feed::Fte][usize::from(order[usize::from(at)])],
        }
    }

    /// The group with operations at these places: phase 0, phase 1, external feedthrough.
    fn placed(&self, order: &[u8], context: &Context) -> Option<Step> {
        let mut frame = Frame::default();
        for (alu, &place) in self.alus.iter().zip(order) {
            match place {
                0 => frame.phase(alu, 0)?,
                1 if alu.is_float() => frame.phase(alu, 3)?,
                2 if alu.passes() => {}
                _ => return None,
            }
        }
        let external = self.alus.iter().zip(order).find(|(_, place)| **place == 2);
        let external = external.map(|(alu, _)| alu.sources[0]);
        let addend = self.alus.iter().find_map(|alu| alu.addend);
        if self.alus.iter().any(Alu::is_wide) && external.is_some() {
            return None;
        }
        let mut step = Step::main(MainOps::default());
        if let Some(slot) = external.or(addend) {
            step = step.external(frame.external(slot)?);
        }
        let mut ops = MainOps { p0: frame.ops[0], p1: frame.ops[1], ..MainOps::default() };
        if let Some((word, of)) = self.pack {
            ops.pack = Some(word);
            if let Some(of) = of {
                let feed = self.feed(of, order);
                if feed == Feed::Ft2 {
                    return None;
                }
                step = step.select(3, feed);
            }
        }
        if let Some((word, a, b)) = self.test {
            let (word, first, second) =
                tested(word, self.feed(a, order), b.map(|b| self.feed(b, order)))?;
            ops.test = Some(word);
            step = step.select(1, first);
            if let Some(second) = second {
                step = step.select(2, second);
            }
        }
        let chooses = self.writes.iter().any(|(_, choice)| matches!(choice, Choice::Either(..)));
        let mut mov = chooses.then(|| Word::usual(Move::Movc.op()));
        for (&(to, choice), port) in self.writes.iter().zip(0u8..) {
            let (yes, no) = match choice {
                Choice::One(val) => (val, val),
                Choice::Either(yes, no) => (yes, no),
            };
            step = step.select(4 + port, self.feed(no, order));
            let id = if port == 0 { f::MOV_W0 } else { f::MOV_W1 };
            mov = mov.map(|mov| mov.with(id, self.feed(yes, order) as u32));
            match to {
                Slot::Port(to) => step.ports.push(Port { place: W0 + port, ..to }),
                Slot::Fixed(register) => step.group.writes[usize::from(port)] = Some(register),
            }
        }
        if ops.p0.is_none() && mov.is_none() && ops.pack.is_none() && ops.test.is_none() {
            // Some phase must be there.
            mov = Some(Word::usual(Move::Movwm.op()).with(f::MOV_W0, Feed::Fte as u32));
        }
        ops.mov = mov;
        step.group.ops = Ops::Main(ops);
        for (slot, place) in frame.sources.iter().zip(0u8..) {
            match slot {
                Some(Slot::Port(port)) => step.ports.insert(0, Port { place, ..*port }),
                Some(Slot::Fixed(register)) => step.group.sources[usize::from(place)] = *register,
                None => {}
            }
        }
        step.group.olchk = self.olchk;
        step.pure = self.pure;
        admit_encoded(&shown(&step), context).ok().map(|()| step)
    }
}

/// A test with its inputs where the selectors take them: IS1 is ft0 or fte, IS2 ft1 or fte. 1.3.
fn tested(word: Word, a: Feed, b: Option<Feed>) -> Option<(Word, Feed, Option<Feed>)> {
    let first = |feed| matches!(feed, Feed::Ft0 | Feed::Fte);
    let second = |feed| matches!(feed, Feed::Ft1 | Feed::Fte);
    match b {
        None => first(a).then_some((word, a, None)),
        Some(b) if first(a) && second(b) => Some((word, a, Some(b))),
        Some(b) if first(b) && second(a) => {
            // The mirror of greater, greater or equal, less, less or equal.
            let code = match word.get(f::TEST) {
                5 => 8,
                8 => 5,
                6 => 9,
                9 => 6,
                same => same,
            };
            Some((word.with(f::TEST, code), b, Some(a)))
        }
        Some(_) => None,
    }
}

/// A group with a register for each one that is not chosen yet: the one with the longest form.
pub fn shown(step: &Step) -> Group {
    let mut group = step.group.clone();
    for (port, at) in step.ports.iter().filter(|port| port.offset == 0).zip(0u16..) {
        let register = Register::Temp(230 + at);
        match port.place {
            place @ 0..=5 => group.sources[usize::from(place)] = register,
            place @ (6 | 7) => group.writes[usize::from(place - W0)] = Some(register),
            _ => {}
        }
    }
    group
}

/// Sources and phases that are taken.
#[derive(Default)]
struct Frame {
    ops: [Option<Word>; 2],
    sources: [Option<Slot>; 6],
}

impl Frame {
    fn phase(&mut self, alu: &Alu, first: usize) -> Option<()> {
        if is_complex(Main::of(alu.word.op())) {
            return None;
        }
        let (word, sources) = fitted(alu, first)?;
        self.ops[first / 3] = Some(word);
        for (slot, place) in sources.into_iter().zip(first..) {
            self.sources[place] = Some(slot);
        }
        Some(())
    }

    /// The source that is the external feedthrough: one that holds it, or a free one.
    fn external(&mut self, slot: Slot) -> Option<u8> {
        let held = (0..6).find(|&at| self.sources[at].is_some_and(|old| old.is(slot)));
        let free = || {
            [3, 1, 4, 2, 5, 0].into_iter().find(|&at| self.sources[at].is_none() && slot.fits(at))
        };
        let at = held.or_else(free)?;
        self.sources[at] = Some(slot);
        Some(at as u8)
    }
}

/// The operation with its factors or summands in the order that the sources take.
fn fitted(alu: &Alu, first: usize) -> Option<(Word, SmallVec<[Slot; 3]>)> {
    let fits = |sources: &[Slot]| sources.iter().zip(first..).all(|(slot, at)| slot.fits(at));
    if fits(&alu.sources) {
        return Some((alu.word, alu.sources.clone()));
    }
    let mut sources = alu.sources.clone();
    let word = alu.word;
    let row = Main::of(word.op());
    let exchanged = match row {
        Main::Fmul | Main::Fadd if !word.flag(f::FLR0) && !word.flag(f::NEG0) => {
            word.with(f::ABS0, word.get(f::ABS1)).with(f::ABS1, word.get(f::ABS0))
        }
        Main::Fmad | Main::Imadd32 | Main::Imadd64 => {
            let word = word.with(f::ABS0, word.get(f::ABS1)).with(f::ABS1, alu.word.get(f::ABS0));
            word.with(f::NEG0, alu.word.get(f::NEG1)).with(f::NEG1, alu.word.get(f::NEG0))
        }
        _ => return None,
    };
    sources.swap(0, 1);
    fits(&sources).then_some((exchanged, sources))
}

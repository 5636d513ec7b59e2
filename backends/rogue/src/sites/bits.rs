//! Bits: which are known where a group stands, and which of a register's somebody asks for behind it.
//!
//! What is known holds for the instances that run a group, in straight code. What is asked for follows from constants alone:
//! a bit that is left out because another is 0 would count on what a change may take away.

use super::live::{Set, crosses, predicate};
use crate::isa::Group;
use crate::isa::disasm::{asks_external, is_constant, is_unary};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, MainOps, Ops};
use crate::isa::ops::{Control, Main};
use crate::isa::register::{File, Register, Special, special};
use crate::legal::{reads_of, writes_of};
use gpucc_isa::Inst;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Bits that are 0, and bits that are 1.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Sure {
    zeros: u32,
    ones: u32,
}

impl Sure {
    const fn number(word: u32) -> Sure {
        Sure { zeros: !word, ones: word }
    }

    /// Of numbers that are at most so large.
    const fn at_most(number: u64) -> Sure {
        let bits = 64 - number.leading_zeros();
        let zeros = if bits >= 32 { 0 } else { u32::MAX << bits };
        Sure { zeros, ones: 0 }
    }

    /// Of a word that is one of two.
    const fn either(self, other: Sure) -> Sure {
        Sure { zeros: self.zeros & other.zeros, ones: self.ones & other.ones }
    }

    /// The largest number that it may be.
    pub const fn most(self) -> u32 {
        !self.zeros
    }

    /// Whether it is another number than 0.
    pub const fn is_not_zero(self) -> bool {
        self.ones != 0
    }

    /// The number that it is.
    pub fn word(self) -> Option<u32> {
        (self.zeros | self.ones == u32::MAX).then_some(self.ones)
    }
}

/// What is known of registers before a group.
#[derive(Clone, Debug, Default)]
pub struct Bits {
    /// Shared registers that hold numbers.
    shareds: Rc<BTreeMap<u16, u32>>,
    /// Of vi0, while nobody has written it.
    invocation: Sure,
    temps: BTreeMap<u16, Sure>,
}

impl Bits {
    /// At the beginning of a program, with the numbers that its shared registers hold, and how many instances a workgroup has where
    /// vi0 numbers them.
    pub fn new(numbers: impl Iterator<Item = (u32, u32)>, instances: Option<u32>) -> Bits {
        let shareds = numbers.map(|(register, bits)| (register as u16, bits)).collect();
        // A task is whole, whatever the workgroup leaves of it.
        let most = |instances: u32| u64::from(instances.next_multiple_of(32).max(32)) - 1;
        let invocation = instances.map_or(Sure::default(), |count| Sure::at_most(most(count)));
        Bits { shareds: Rc::new(shareds), invocation, temps: BTreeMap::new() }
    }

    /// Instances come together from elsewhere.
    pub fn forget(&mut self) {
        self.temps.clear();
    }

    /// What is known of a register.
    pub fn sure(&self, register: Register) -> Sure {
        match register {
            Register::Special(number) => match special(number) {
                Special::Constant(bits) => Sure::number(bits),
                _ => Sure::default(),
            },
            Register::Shared(number) => {
                self.shareds.get(&number).map_or(Sure::default(), |bits| Sure::number(*bits))
            }
            Register::Temp(number) => self.temps.get(&number).copied().unwrap_or_default(),
            Register::Vtxin(0) => self.invocation,
            _ => Sure::default(),
        }
    }

    /// Behind a group.
    pub fn pass(&mut self, group: &Group, written: &[Register]) {
        let alone = group.repeat == 1
            && !matches!(&group.ops, Ops::Main(MainOps { backend: Some(_), .. }) | Ops::Control(_));
        let results = [0, 1].map(|port| match group.writes[port] {
            Some(register @ Register::Temp(_)) if alone => {
                let result = self.result(group, port);
                match group.condition {
                    Condition::Runs => result,
                    Condition::IfP0 | Condition::IfNotP0 => result.either(self.sure(register)),
                    Condition::IgnorePe => Sure::default(),
                }
            }
            _ => Sure::default(),
        });
        for register in written {
            match *register {
                Register::Temp(number) => {
                    self.temps.remove(&number);
                }
                Register::Vtxin(0) => self.invocation = Sure::default(),
                Register::Relative { file: File::Temp, .. } => self.temps.clear(),
                Register::Relative { file: File::Vtxin, .. } => self.invocation = Sure::default(),
                _ => {}
            }
        }
        for (write, sure) in group.writes.iter().zip(results) {
            if let (Some(Register::Temp(number)), true) = (*write, sure != Sure::default()) {
                self.temps.insert(number, sure);
            }
        }
    }

    /// What is known of what a port of a group gives that runs once.
    fn result(&self, group: &Group, port: usize) -> Sure {
        match &group.ops {
            Ops::Bitwise(_) if port == 0 => {
                Made::of(group, self).map_or(Sure::default(), Made::sure)
            }
            Ops::Main(ops) => {
                let other = self.fed(group, ops, group.selectors.is[3 + port]);
                let Some(mov) = &ops.mov else { return other };
                let code = mov.get([f::MOV_W0, f::MOV_W1][port]);
                let taken = Feed::ALL.get(code as usize).copied();
                let taken = taken.map_or(Sure::default(), |feed| self.fed(group, ops, feed));
                if let Some(least) = self.least(group, ops, port) {
                    return least;
                }
                match (mov.flag(f::ALWAYS), port == 1 || mov.get(f::MASK) == 15) {
                    (true, true) => taken,
                    (false, true) => taken.either(other),
                    (_, false) => Sure::default(),
                }
            }
            _ => Sure::default(),
        }
    }

    /// Of the lesser of two numbers without signs: a test of both chooses it.
    fn least(&self, group: &Group, ops: &MainOps, port: usize) -> Option<Sure> {
        const U32: u32 = 5;
        const LESS: [u32; 2] = [8, 9];
        let (test, mov) = (ops.test.as_ref()?, ops.mov.as_ref()?);
        let whole = !mov.flag(f::ALWAYS) && (port == 1 || mov.get(f::MASK) == 15);
        let plain = test.get(f::TYPE) == U32 && LESS.contains(&test.get(f::TEST)) && whole;
        let [first, second, ..] = group.selectors.is;
        let taken = *Feed::ALL.get(mov.get([f::MOV_W0, f::MOV_W1][port]) as usize)?;
        let chooses = [taken, group.selectors.is[3 + port]] == [first, second];
        (plain && chooses).then(|| {
            let [a, b] = [first, second].map(|feed| self.fed(group, ops, feed).most());
            Sure::at_most(a.min(b).into())
        })
    }

    fn fed(&self, group: &Group, ops: &MainOps, feed: Feed) -> Sure {
        match feed {
            Feed::Ft0 => self.computed(ops.p0.as_ref(), &group.sources[..3]),
            Feed::Ft1 => self.computed(ops.p1.as_ref(), &group.sources[3..]),
            Feed::Ft2 => match ops.pack.filter(is_constant) {
                Some(pack) if pack.get(f::FORMAT) == 30 => Sure::number(0),
                Some(_) => Sure::number(1f32.to_bits()),
                None => Sure::default(),
            },
            Feed::Fte if is_wide(ops) => Sure::default(),
            Feed::Fte => self.sure(group.sources[usize::from(group.selectors.is0)]),
        }
    }

    fn computed(&self, word: Option<&Inst>, sources: &[Register]) -> Sure {
        let Some(word) = word else { return Sure::default() };
        if changes(word) {
            return Sure::default();
        }
        let most = |at: usize| u128::from(self.sure(sources[at]).most());
        match Main::of(word.op()) {
            Main::Mbyp => self.sure(sources[0]),
            Main::Imadd32 => match u64::try_from(most(0) * most(1) + most(2)) {
                Ok(most) => Sure::at_most(most),
                Err(_) => Sure::default(),
            },
            _ => Sure::default(),
        }
    }
}

/// Whether an operation changes signs, or adds p0.
fn changes(word: &Inst) -> bool {
    let flags = [f::NEG0, f::NEG1, f::NEG2, f::ABS0, f::ABS1, f::ABS2, f::CARRY];
    flags.into_iter().any(|id| word.has_field(id) && word.flag(id))
}

/// Whether phase 0 drives the external feedthrough. 1.5.
fn is_wide(ops: &MainOps) -> bool {
    let wide =
        |word: &Inst| matches!(Main::of(word.op()), Main::Add64 | Main::Add6432 | Main::Imadd64);
    ops.p0.as_ref().is_some_and(wide)
}

/// A bit: a known one, or one of a register.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Bit {
    Is(bool),
    Of(Register, u8),
}

/// A bit behind the logical operation.
#[derive(Copy, Clone, Debug)]
struct Cell {
    a: Bit,
    b: Bit,
    mask: Bit,
    /// Whether the mask is laid on either, and the operation.
    masked: [bool; 2],
    logic: u32,
}

/// The logical operation that gives its first operand. 2.6.
const BYPASS: u32 = 7;

impl Cell {
    const fn just(a: Bit) -> Cell {
        Cell { a, b: Bit::Is(false), mask: Bit::Is(false), masked: [false; 2], logic: BYPASS }
    }

    fn value(&self, bit: impl Fn(Bit) -> bool) -> bool {
        let mask = bit(self.mask);
        let a = bit(self.a) && (!self.masked[0] || mask);
        let b = bit(self.b) && (!self.masked[1] || !mask);
        match self.logic {
            0 => a | b,
            1 => a & b,
            2 => a ^ b,
            4 => !(a | b),
            5 => !(a & b),
            6 => !(a ^ b),
            _ => a,
        }
    }
}

/// The bits of registers in some cells, and each way to set them: 64 for two cells.
struct Ways {
    bits: Vec<Bit>,
}

impl Ways {
    fn of(cells: &[&Cell]) -> Ways {
        let mut bits = Vec::new();
        for bit in cells.iter().flat_map(|cell| [cell.a, cell.b, cell.mask]) {
            if matches!(bit, Bit::Of(..)) && !bits.contains(&bit) {
                bits.push(bit);
            }
        }
        Ways { bits }
    }

    /// Whether something holds however the bits are set.
    fn all(&self, holds: impl Fn(u32) -> bool) -> bool {
        (0..1 << self.bits.len()).all(holds)
    }

    /// A bit as a way sets it.
    fn get(&self, way: u32, bit: Bit) -> bool {
        match bit {
            Bit::Is(value) => value,
            Bit::Of(..) => self
                .bits
                .iter()
                .position(|known| *known == bit)
                .is_some_and(|at| way >> at & 1 == 1),
        }
    }
}

/// What a bitwise group gives its first port.
struct Made {
    cells: [Cell; 32],
    /// The last shift, its amount and what else it reads, where the amount is no known number.
    shift: Option<(u32, Register, Register)>,
}

impl Made {
    /// `None` of what is not described here.
    fn of(group: &Group, bits: &Bits) -> Option<Made> {
        let Ops::Bitwise([Some(first), logical, shift]) = &group.ops else { return None };
        let s = group.sources;
        let by = |register: Register| Some(bits.sure(register).word()? & 31);
        let of = |register: Register, at: usize| {
            let sure = bits.sure(register);
            match (sure.zeros >> at & 1, sure.ones >> at & 1) {
                (1, _) => Bit::Is(false),
                (_, 1) => Bit::Is(true),
                _ => Bit::Of(register, at as u8),
            }
        };
        let number = |word: u32| std::array::from_fn(|at| Bit::Is(word >> at & 1 == 1));
        let mask: [Bit; 32] = match (first.get(f::BIT_IMM), first.get(f::BITMASK)) {
            (1, _) => number(first.get(f::VALUE)),
            (_, 0) => std::array::from_fn(|at| of(s[1], at)),
            // A width and an offset, which no operation asks that has no mask.
            _ => match (by(s[0]), by(s[1])) {
                (Some(width), Some(offset)) => number(((1u32 << width) - 1) << offset),
                _ => return None,
            },
        };
        let cells: [Cell; 32] = match logical {
            None => mask.map(Cell::just),
            Some(logical) => {
                let shifted: [Bit; 32] = match first.get(f::SHIFT1) {
                    0 => std::array::from_fn(|at| of(s[2], at)),
                    2 => std::array::from_fn(|at| of(s[2], 31 - at)),
                    3 => {
                        let by = by(s[1])? as usize;
                        let bit = |at: usize| of(s[2], at - by);
                        std::array::from_fn(|at| if at < by { Bit::Is(false) } else { bit(at) })
                    }
                    _ => return None,
                };
                let masked = [logical.flag(f::MASK_A), logical.flag(f::MASK_B)];
                let logic = logical.get(f::LOGIC);
                std::array::from_fn(|at| Cell {
                    a: shifted[at],
                    b: if logic == BYPASS { Bit::Is(false) } else { of(s[3], at) },
                    mask: if masked == [false; 2] { Bit::Is(false) } else { mask[at] },
                    masked,
                    logic,
                })
            }
        };
        let Some(shift) = shift else { return Some(Made { cells, shift: None }) };
        let code = shift.get(f::SHIFT2);
        let extends = code == 6;
        let width = if extends { s[0] } else { Register::ZERO };
        let (Some(by), Some(width)) = (by(s[4]), by(width)) else {
            return Some(Made { cells, shift: Some((code, s[4], width)) });
        };
        let (by, width) = (by as usize, width as usize);
        let zero = Cell::just(Bit::Is(false));
        let down = |at: usize| cells.get(at + by).copied().unwrap_or(zero);
        let cells: [Cell; 32] = match code {
            0 => std::array::from_fn(|at| if at < by { zero } else { cells[at - by] }),
            1 => std::array::from_fn(down),
            2 => std::array::from_fn(|at| cells[(at + 32 - by) % 32]),
            4 => std::array::from_fn(|at| cells[(at + by).min(31)]),
            6 if width == 0 => std::array::from_fn(down),
            6 => std::array::from_fn(|at| down(at.min(width - 1))),
            _ => return None,
        };
        Some(Made { cells, shift: None })
    }

    fn sure(self) -> Sure {
        let mut sure = Sure::default();
        if self.shift.is_some() {
            return sure;
        }
        for (at, cell) in self.cells.iter().enumerate() {
            let ways = Ways::of(&[cell]);
            let is = |value: bool| ways.all(|way| cell.value(|bit| ways.get(way, bit)) == value);
            sure.zeros |= u32::from(is(false)) << at;
            sure.ones |= u32::from(is(true)) << at;
        }
        sure
    }

    /// Whether two give the same bits where they are asked for.
    fn same(&self, other: &Made, asked: u32) -> bool {
        let asked = if self.shift.is_some() { u32::MAX } else { asked };
        self.shift == other.shift
            && (0..32).filter(|at| asked >> at & 1 == 1).all(|at| {
                let (one, two) = (&self.cells[at], &other.cells[at]);
                let ways = Ways::of(&[one, two]);
                ways.all(|way| {
                    let bit = |bit: Bit| ways.get(way, bit);
                    one.value(bit) == two.value(bit)
                })
            })
    }

    /// The bits of registers that the asked ones depend on.
    fn asks(&self, asked: u32, mut ask: impl FnMut(Register, u32)) {
        let asked = match self.shift {
            Some((_, amount, width)) => {
                ask(amount, u32::MAX);
                ask(width, u32::MAX);
                u32::MAX
            }
            None => asked,
        };
        for cell in (0..32).filter(|at| asked >> at & 1 == 1).map(|at| &self.cells[at]) {
            let ways = Ways::of(&[cell]);
            for (number, bit) in ways.bits.iter().enumerate() {
                let value = |way: u32| cell.value(|bit| ways.get(way, bit));
                let Bit::Of(register, at) = *bit else { continue };
                if !ways.all(|way| value(way) == value(way ^ 1 << number)) {
                    ask(register, 1 << at);
                }
            }
        }
    }
}

/// Whether two bitwise groups leave the same where one of them stands, as far as it is asked for. Who runs them is the same.
pub fn same_bits(old: &Group, new: &Group, bits: &Bits, asked: &Asked) -> bool {
    let plain = |group: &Group| {
        let Ops::Bitwise([_, _, shift]) = &group.ops else { return false };
        let tests = shift.as_ref().is_some_and(|shift| shift.flag(f::PWEN));
        group.repeat == 1 && group.writes[1].is_none() && !tests
    };
    let same = old.condition == new.condition
        && (old.end, old.atom, old.olchk) == (new.end, new.atom, new.olchk);
    let Some(register) = old.writes[0].filter(|_| same && old.writes == new.writes) else {
        return false;
    };
    if !plain(old) || !plain(new) {
        return false;
    }
    let (Some(old), Some(new)) = (Made::of(old, bits), Made::of(new, bits)) else { return false };
    old.same(&new, asked.of(register).mask())
}

/// What somebody asks of a register: some bits, and whether it is 0.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Ask {
    bits: u32,
    zero: bool,
}

impl Ask {
    const ALL: Ask = Ask { bits: u32::MAX, zero: true };
    const NONE: Ask = Ask { bits: 0, zero: false };
    const ZERO: Ask = Ask { bits: 0, zero: true };

    /// Nothing but whether it is 0.
    pub fn is_zero_alone(self) -> bool {
        self == Ask::ZERO
    }

    /// The bits, which are all where it is asked whether it is 0.
    fn mask(self) -> u32 {
        if self.zero { u32::MAX } else { self.bits }
    }

    fn and(self, other: Ask) -> Ask {
        Ask { bits: self.bits | other.bits, zero: self.zero || other.zero }
    }
}

/// What is asked of temporaries behind a group: of those that are not here, everything.
#[derive(Clone, Debug, Default)]
pub struct Asked(BTreeMap<u16, Ask>);

impl Asked {
    /// Of a register.
    pub fn of(&self, register: Register) -> Ask {
        match register {
            Register::Temp(number) => self.0.get(&number).copied().unwrap_or(Ask::ALL),
            _ => Ask::ALL,
        }
    }

    fn ask(&mut self, register: Register, ask: Ask) {
        match register {
            Register::Temp(number) => {
                if let Some(known) = self.0.get_mut(&number) {
                    *known = known.and(ask);
                    if known.bits == u32::MAX {
                        self.0.remove(&number);
                    }
                }
            }
            Register::Relative { .. } => self.0.clear(),
            _ => {}
        }
    }

    /// Before a group, of what is asked behind it. `fixed` is what is known of constants.
    fn before(&mut self, group: &Group, fixed: &Bits) {
        let waits = |inst: &Inst| matches!(Control::of(inst.op()), Control::Wdf | Control::Nop);
        match &group.ops {
            Ops::Control(inst) if waits(inst) => return,
            Ops::Main(MainOps { backend: None, .. }) | Ops::Bitwise(_) if !group.end => {}
            // Other instances, other places, and messages.
            _ => {
                self.0.clear();
                return;
            }
        }
        let asks = asks_of(group, fixed, self);
        if group.condition == Condition::Runs {
            for register in writes_of(group) {
                if let Register::Temp(number) = register {
                    self.0.insert(number, Ask::NONE);
                }
            }
        }
        match asks {
            Some(asks) => asks.into_iter().for_each(|(register, ask)| self.ask(register, ask)),
            None => {
                let named = group.sources.iter().chain(group.writes.iter().flatten());
                let relative = |register: &&Register| matches!(register, Register::Relative { .. });
                named.filter(relative).for_each(|register| self.ask(*register, Ask::ALL));
                reads_of(group).into_iter().for_each(|register| self.ask(register, Ask::ALL));
            }
        }
    }
}

/// What is asked behind each group of a program, given what is read there.
pub fn asked(groups: &[(usize, Group)], behind: &[[Set; 2]], fixed: &Bits) -> Vec<Asked> {
    let temp = |register: Register| match register {
        Register::Temp(number) => Some(number),
        _ => None,
    };
    let read = groups.iter().flat_map(|(_, group)| reads_of(group));
    let temps: BTreeSet<u16> = read.filter_map(temp).collect();
    let mut asked = Asked::default();
    let mut all = Vec::with_capacity(groups.len());
    for ((_, group), [zero, one]) in groups.iter().zip(behind).rev() {
        let unread = |number: &&u16| {
            let register = Register::Temp(**number);
            !zero.reads(register) && !one.reads(register)
        };
        for number in temps.iter().filter(unread) {
            asked.0.insert(*number, Ask::NONE);
        }
        all.push(asked.clone());
        asked.before(group, fixed);
    }
    all.reverse();
    all
}

/// What a group asks of its sources, given what is asked behind it; `None`: all of all that it reads.
fn asks_of(group: &Group, fixed: &Bits, asked: &Asked) -> Option<Vec<(Register, Ask)>> {
    let relative = |register: &Register| matches!(register, Register::Relative { .. });
    let registers = || group.sources.iter().chain(group.writes.iter().flatten());
    if group.repeat != 1 || registers().any(relative) {
        return None;
    }
    match &group.ops {
        Ops::Bitwise(_) if group.writes[1].is_some() || predicate(group).1 => None,
        Ops::Bitwise(_) => {
            let made = Made::of(group, fixed)?;
            let behind = group.writes[0].map_or(Ask::NONE, |register| asked.of(register));
            let mut asks = Vec::new();
            made.asks(behind.mask(), |register, bits| {
                asks.push((register, Ask { bits, zero: false }))
            });
            Some(asks)
        }
        Ops::Main(ops) => main(group, ops, asked),
        Ops::Control(_) => None,
    }
}

fn main(group: &Group, ops: &MainOps, asked: &Asked) -> Option<Vec<(Register, Ask)>> {
    let other = [ops.p0, ops.p1].iter().flatten().any(crosses);
    let packs = ops.pack.is_some_and(|pack| !is_constant(&pack));
    if other || packs || is_wide(ops) || ops.backend.is_some() {
        return None;
    }
    let mut feeds = [Ask::NONE; 4];
    let mut ask = |feed: Feed, ask: Ask| {
        feeds[feed as usize] = feeds[feed as usize].and(ask);
    };
    if let Some(test) = &ops.test {
        const Z: u32 = 0;
        const GZ: u32 = 1;
        const U32: u32 = 5;
        const S32: u32 = 6;
        let asks = match (test.get(f::TEST), test.get(f::TYPE)) {
            (Z, U32 | S32) | (GZ, U32) => Ask::ZERO,
            _ => Ask::ALL,
        };
        ask(group.selectors.is[0], asks);
        if !is_unary(test) {
            ask(group.selectors.is[1], Ask::ALL);
        }
    }
    for port in 0..2 {
        let Some(register) = group.writes[port] else { continue };
        let behind = asked.of(register);
        match &ops.mov {
            Some(mov) if port == 0 && mov.get(f::MASK) != 15 => return None,
            Some(mov) => {
                let code = mov.get([f::MOV_W0, f::MOV_W1][port]);
                ask(*Feed::ALL.get(code as usize)?, behind);
                ask(group.selectors.is[3 + port], behind);
            }
            None => ask(group.selectors.is[3 + port], behind),
        }
    }
    let mut asks = Vec::new();
    for (word, sources, ask) in [
        (&ops.p0, &group.sources[..3], feeds[Feed::Ft0 as usize]),
        (&ops.p1, &group.sources[3..], feeds[Feed::Ft1 as usize]),
    ] {
        let Some(word) = word else { continue };
        let flag = |id| word.has_field(id) && word.flag(id);
        let sized = [f::ABS0, f::ABS1, f::ABS2].into_iter().any(flag);
        let below = |ask: Ask| match ask.mask() {
            0 => Ask::NONE,
            bits => Ask { bits: u32::MAX >> bits.leading_zeros(), zero: false },
        };
        match Main::of(word.op()) {
            Main::Mbyp if !changes(word) => asks.push((sources[0], ask)),
            // What is above a bit of a sum or product does not reach it.
            Main::Imadd32 if !sized => {
                asks.extend(sources.iter().map(|register| (*register, below(ask))));
            }
            _ => asks.extend(sources.iter().map(|register| (*register, Ask::ALL))),
        }
    }
    if asks_external(group) {
        let source = group.sources[usize::from(group.selectors.is0)];
        asks.push((source, feeds[Feed::Fte as usize]));
    }
    Some(asks)
}

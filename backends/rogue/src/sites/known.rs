//! Registers whose numbers have no sign where a group stands.

use super::arithmetic::given;
use crate::isa::Group;
use crate::isa::disasm::is_constant;
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, MainOps, Ops};
use crate::isa::ops::Main;
use crate::isa::register::Register;
use gpucc_isa::Inst;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The format of words that are numbers without a sign. 2.3.
const UNSIGNED: u32 = 6;

/// What is known before a group: the sign bit of these is 0, except of NaN, which has one sign.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Shared registers that hold numbers.
    shareds: Rc<BTreeSet<u16>>,
    temps: [u64; 4],
    /// Temporaries that arithmetic has written: what it gives is flushed, so that none of them is a denormal.
    flushed: [u64; 4],
    /// Temporaries that hold whole numbers as floats.
    whole: [u64; 4],
    /// vi0 is the number of an invocation.
    numbered: bool,
}

impl Known {
    /// At the beginning of a program, with the numbers that its shared registers hold.
    pub fn new(numbers: impl Iterator<Item = (u32, u32)>, compute: bool) -> Known {
        let positive = numbers.filter(|(_, bits)| bits >> 31 == 0);
        let shareds = positive.map(|(register, _)| register as u16).collect();
        Known { shareds: Rc::new(shareds), numbered: compute, ..Known::default() }
    }

    /// Whether a register's number has no sign.
    pub fn is_positive(&self, register: Register) -> bool {
        match register {
            // Two words with a sign are among the constants. 3.2.
            Register::Special(number @ (0..=31 | 64..=95 | 128..=159)) => {
                !matches!(number, 141 | 143)
            }
            Register::Shared(number) => self.shareds.contains(&number),
            Register::Temp(number @ 0..=255) => {
                self.temps[usize::from(number / 64)] >> (number % 64) & 1 == 1
            }
            Register::Vtxin(0) => self.numbered,
            _ => false,
        }
    }

    /// Instances come together from elsewhere.
    pub fn forget(&mut self) {
        self.temps = [0; 4];
        self.flushed = [0; 4];
        self.whole = [0; 4];
    }

    /// Whether a register holds a whole number as a float.
    pub fn is_whole(&self, register: Register) -> bool {
        match register {
            Register::Temp(number @ 0..=255) => {
                self.whole[usize::from(number / 64)] >> (number % 64) & 1 == 1
            }
            _ => false,
        }
    }

    /// Whether a register is no denormal and has no sign: as a float it is 0 where its bits are.
    pub fn is_plain(&self, register: Register) -> bool {
        let flushed =
            |number: u16| self.flushed[usize::from(number / 64)] >> (number % 64) & 1 == 1;
        matches!(register, Register::Temp(number @ 0..=255) if flushed(number))
            && self.is_positive(register)
    }

    /// Behind a group.
    pub fn pass(&mut self, group: &Group, written: &[Register]) {
        let results = [0, 1].map(|port| self.result(group, port));
        let flushed = [0, 1].map(|port| self.is_flushed(group, port));
        let whole = [0, 1].map(|port| self.gives_whole(group, port));
        for register in written {
            match *register {
                Register::Temp(number @ 0..=255) => {
                    self.temps[usize::from(number / 64)] &= !(1 << (number % 64));
                    self.flushed[usize::from(number / 64)] &= !(1 << (number % 64));
                    self.whole[usize::from(number / 64)] &= !(1 << (number % 64));
                }
                Register::Vtxin(0) => self.numbered = false,
                Register::Relative { .. } => self.forget(),
                _ => {}
            }
        }
        for (write, positive) in group.writes.iter().zip(results) {
            if let (Some(Register::Temp(number @ 0..=255)), true) = (write, positive) {
                self.temps[usize::from(number / 64)] |= 1 << (number % 64);
            }
        }
        for (write, flushed) in group.writes.iter().zip(flushed) {
            if let (Some(Register::Temp(number @ 0..=255)), true) = (write, flushed) {
                self.flushed[usize::from(number / 64)] |= 1 << (number % 64);
            }
        }
        for (write, whole) in group.writes.iter().zip(whole) {
            if let (Some(Register::Temp(number @ 0..=255)), true) = (write, whole) {
                self.whole[usize::from(number / 64)] |= 1 << (number % 64);
            }
        }
    }

    /// Whether a write port gives a whole number as a float: an integer that became one, or a copy of it.
    fn gives_whole(&self, group: &Group, port: usize) -> bool {
        const SIGNED: u32 = 7;
        let Ops::Main(ops @ MainOps { mov: None, backend: None, .. }) = &group.ops else {
            return false;
        };
        let (word, source) = match group.selectors.is[3 + port] {
            Feed::Ft0 => (&ops.p0, group.sources[0]),
            Feed::Ft1 => (&ops.p1, group.sources[3]),
            _ => return false,
        };
        let gives = |word: &Inst| match Main::of(word.op()) {
            Main::Unpck => matches!(word.get(f::FORMAT), UNSIGNED | SIGNED) && !word.flag(f::SCALE),
            Main::Mbyp => self.is_whole(source),
            _ => false,
        };
        group.repeat == 1 && group.condition == Condition::Runs && word.as_ref().is_some_and(gives)
    }

    /// Whether arithmetic gives what a write port gives.
    fn is_flushed(&self, group: &Group, port: usize) -> bool {
        let Ops::Main(MainOps { mov: None, backend: None, p0, p1, .. }) = &group.ops else {
            return false;
        };
        let word = match group.selectors.is[3 + port] {
            Feed::Ft0 => p0,
            Feed::Ft1 => p1,
            _ => return false,
        };
        // An integer is 0 or no less than 1.
        let computes = |word: &Inst| match Main::of(word.op()) {
            Main::Fadd | Main::Fmul | Main::Fmad => true,
            Main::Unpck => word.get(f::FORMAT) == UNSIGNED && !word.flag(f::SCALE),
            _ => false,
        };
        group.repeat == 1
            && group.condition == Condition::Runs
            && word.as_ref().is_some_and(computes)
    }

    /// Whether what a write port gives has no sign.
    fn result(&self, group: &Group, port: usize) -> bool {
        let Ops::Main(ops @ MainOps { backend: None, .. }) = &group.ops else {
            return false;
        };
        if group.repeat != 1 || group.condition != Condition::Runs {
            return false;
        }
        let other = group.selectors.is[3 + port];
        let Some(mov) = &ops.mov else { return self.fed(group, ops, other) };
        if mov.flag(f::ALWAYS) {
            return false;
        }
        let code = mov.get([f::MOV_W0, f::MOV_W1][port]);
        let taken = Feed::ALL.get(code as usize).copied();
        taken.is_some_and(|taken| {
            self.fed(group, ops, other)
                && (self.fed(group, ops, taken) || tests_positive(group, ops, taken))
        })
    }

    fn fed(&self, group: &Group, ops: &MainOps, feed: Feed) -> bool {
        match feed {
            Feed::Ft0 => self.positive(&ops.p0, &group.sources[..3]),
            Feed::Ft1 => self.positive(&ops.p1, &group.sources[3..]),
            Feed::Ft2 => ops.pack.as_ref().is_some_and(is_constant),
            Feed::Fte => given(group, feed).is_some_and(|register| self.is_positive(register)),
        }
    }

    /// Whether an operation's number has no sign: squares, and what is made of numbers without one.
    fn positive(&self, word: &Option<Inst>, sources: &[Register]) -> bool {
        let Some(word) = word else { return false };
        let flag = |id| word.has_field(id) && word.flag(id);
        let known = |at: usize| self.is_positive(sources[at]);
        let square = || {
            let changed = [f::FLR0, f::ABS0, f::ABS1].into_iter().any(flag);
            sources[0] == sources[1] && !changed
        };
        let signs = [f::NEG0, f::NEG1, f::NEG2].into_iter().any(flag);
        match Main::of(word.op()) {
            Main::Fadd | Main::Fmul | Main::Fmad if flag(f::SAT) => true,
            _ if signs => false,
            Main::Fadd => known(0) && known(1),
            Main::Fmul => square() || known(0) && known(1),
            Main::Fmad => (square() || known(0) && known(1)) && known(2),
            Main::Mbyp => flag(f::ABS0) || known(0),
            // A power has no sign, nor what is made of a number without one.
            Main::Fexp => true,
            Main::Frsq | Main::Frcp => known(0) && !flag(f::ABS0),
            Main::Unpck => word.get(f::FORMAT) == UNSIGNED,
            _ => false,
        }
    }
}

/// Whether a feed is what a test holds for that asks whether it is more than 0 as a signed number.
fn tests_positive(group: &Group, ops: &MainOps, feed: Feed) -> bool {
    const GZ: u32 = 1;
    const G: u32 = 5;
    const S32: u32 = 6;
    let Some(test) = ops.test.filter(|test| test.get(f::TYPE) == S32) else { return false };
    let [first, second, ..] = group.selectors.is;
    let zero = given(group, second) == Some(Register::ZERO);
    let same = given(group, first).is_some_and(|register| given(group, feed) == Some(register));
    same && (test.get(f::TEST) == GZ || test.get(f::TEST) == G && zero)
}

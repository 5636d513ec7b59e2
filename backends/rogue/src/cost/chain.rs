//! The longest chain of operations of straight code that wait for each other's results: what it says of groups holds for any packing and
//! order. Moves, packs, tests and choices may stand behind what makes their operands in the same group and count nothing; arithmetic does
//! not, for phase 1 reads no result of phase 0; the bitwise ALU has three phases. isa/rogue-pipeline.md 1.5.

use super::moves;
use crate::isa::Group;
use crate::isa::disasm::{is_constant, is_unary};
use crate::isa::fields::f;
use crate::isa::group::{Feed, MainOps, Ops};
use crate::isa::ops::{Main, Move};
use crate::isa::register::Register;
use crate::legal::{reads, writes_of};
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;

/// Parts of a group: a phase of the bitwise ALU is one.
const WHOLE: u32 = 3;

/// How far chains have come, by temporary.
pub struct Chain {
    depths: Vec<u32>,
    longest: u32,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { depths: vec![0; 256], longest: 0 }
    }
}

impl Chain {
    fn of(&self, register: Register, turn: u16) -> u32 {
        match register {
            Register::Temp(number) => {
                self.depths.get(usize::from(number + turn)).copied().unwrap_or(0)
            }
            _ => 0,
        }
    }

    fn set(&mut self, register: Register, turn: u16, depth: u32) {
        self.longest = self.longest.max(depth);
        if let Register::Temp(number) = register
            && let Some(place) = self.depths.get_mut(usize::from(number + turn))
        {
            *place = depth;
        }
    }

    /// Groups that the longest chain takes.
    pub fn groups(&self) -> u64 {
        self.longest.div_ceil(WHOLE).into()
    }

    /// Follows a group.
    pub fn add(&mut self, group: &Group) {
        match &group.ops {
            Ops::Main(ops) if ops.backend.is_some() => self.all(group, WHOLE),
            // It gathers into one register.
            Ops::Main(ops) if ops.pack.is_some() && group.repeat > 1 => self.all(group, 0),
            Ops::Main(ops) => self.main(group, ops),
            Ops::Bitwise(phases) => {
                let pass = phases[0].is_none_or(|word| !word.has_field(f::SHIFT1));
                let count = phases[1..].iter().flatten().count() as u32 + u32::from(!pass);
                self.all(group, count.min(1));
            }
            Ops::Control(_) => {}
        }
    }

    /// Every result waits for everything that is read.
    fn all(&mut self, group: &Group, more: u32) {
        let deepest = reads(group).into_iter().map(|register| self.of(register, 0)).max();
        let depth = deepest.unwrap_or(0) + more;
        writes_of(group).into_iter().for_each(|register| self.set(register, 0, depth));
    }

    fn main(&mut self, group: &Group, ops: &MainOps) {
        for turn in 0..group.repeat.into() {
            let depths = group.writes.iter().zip(0..).map(|(write, port)| {
                write.map(|register| (register, self.written(group, ops, port, turn)))
            });
            let depths: SmallVec<[Option<(Register, u32)>; 2]> = depths.collect();
            for (register, depth) in depths.into_iter().flatten() {
                self.set(register, turn, depth);
            }
        }
    }

    /// How far what a write port writes has come.
    fn written(&self, group: &Group, ops: &MainOps, port: usize, turn: u16) -> u32 {
        let is = group.selectors.is;
        let feed = |feed| self.feed(group, ops, feed, turn);
        let other = feed(is[3 + port]);
        let Some(mov) = ops.mov else { return other };
        let taken =
            feed(Feed::ALL[mov.get(if port == 0 { f::MOV_W0 } else { f::MOV_W1 }) as usize]);
        if Move::of(mov.op()) == Move::Movwm {
            return if port == 0 { taken } else { other };
        }
        let tested = ops.test.map_or(0, |test| match is_unary(&test) {
            true => feed(is[0]),
            false => feed(is[0]).max(feed(is[1])),
        });
        taken.max(other).max(tested)
    }

    /// How far what an internal selector chooses has come.
    fn feed(&self, group: &Group, ops: &MainOps, feed: Feed, turn: u16) -> u32 {
        let source = |at: usize| self.of(group.sources[at], turn);
        let external = || source(group.selectors.is0.into());
        let phase = |word: Option<Word>, first: usize| {
            let Some(word) = word else { return 0 };
            let row = Main::of(word.op());
            let count = match row {
                Main::Fadd | Main::Fmul => 2,
                row if row == Main::Fmad || row >= Main::Iadd => 3,
                _ => 1,
            };
            let deepest = (first..first + count).map(source).max().unwrap_or(0);
            match row {
                _ if moves(&word) => source(first),
                Main::Fred => deepest.max(source(3)) + WHOLE,
                _ => deepest + WHOLE,
            }
        };
        let wide = ops.p0.is_some_and(|word| {
            matches!(Main::of(word.op()), Main::Imadd64 | Main::Add64 | Main::Add6432)
        });
        match feed {
            Feed::Ft0 => phase(ops.p0, 0),
            Feed::Ft1 => phase(ops.p1, 3),
            Feed::Ft2 if ops.pack.is_some_and(|pack| is_constant(&pack)) => 0,
            Feed::Ft2 => self.feed(group, ops, group.selectors.is[2], turn),
            Feed::Fte if wide => phase(ops.p0, 0).max(external() + WHOLE),
            Feed::Fte => external(),
        }
    }
}

//! What a program costs by the public facts: a group takes a turn. isa/rogue-pipeline.md 6 has no clocks beyond that.

mod chain;

use crate::isa::Group;
use crate::isa::fields::f;
use crate::isa::group::Ops;
use crate::isa::ops::{Control, Main};
use crate::legal::is_complex;
use chain::Chain;
use gpucc_isa::Inst as Word;
use std::collections::BTreeMap;

/// What the groups of a program do, each thing counted by itself. 1.5.
#[derive(Default)]
struct Work {
    /// Operations of phases 0 and 1 that are more than moves, those that own the main ALU left out.
    arithmetic: u64,
    /// Those of them that phase 0 alone has.
    integers: u64,
    /// Operations that own the main ALU.
    complex: u64,
    tests: u64,
    packs: u64,
    backend: u64,
    writes: u64,
    /// Phases of the bitwise ALU that do something.
    bits: u64,
    control: u64,
    waits: u64,
}

/// Whether an operation of phases 0 and 1 only moves.
fn moves(word: &Word) -> bool {
    Main::of(word.op()) == Main::Mbyp
}

impl Work {
    /// Counts a group, each of its turns.
    fn add(&mut self, group: &Group) {
        let turns = u64::from(group.repeat);
        match &group.ops {
            Ops::Main(ops) => {
                for word in [&ops.p0, &ops.p1].into_iter().flatten() {
                    match Main::of(word.op()) {
                        row if is_complex(row) => self.complex += turns,
                        _ if moves(word) => {}
                        row => {
                            self.arithmetic += turns;
                            self.integers += turns * u64::from(row >= Main::Unpck);
                        }
                    }
                }
                let complex = ops.p0.is_some_and(|word| is_complex(Main::of(word.op())));
                self.tests += turns * u64::from(ops.test.is_some());
                self.packs += turns * u64::from(ops.pack.is_some());
                self.backend += turns * u64::from(ops.backend.is_some());
                if !complex {
                    self.writes += turns * group.writes.iter().flatten().count() as u64;
                }
            }
            Ops::Bitwise(phases) => {
                let shifts = |word: &Word| word.has_field(f::SHIFT1) && word.get(f::SHIFT1) != 0;
                let first = phases[0].is_some_and(|word| {
                    shifts(&word) || phases[1].is_none() && phases[2].is_none()
                });
                let behind = phases[1..].iter().flatten().count() as u64;
                self.bits += turns * (behind + u64::from(first));
            }
            Ops::Control(word) => match Control::of(word.op()) {
                Control::Wdf => self.waits += 1,
                Control::Nop => {}
                _ => self.control += 1,
            },
        }
    }

    /// Fewer groups than these do not hold it, and what takes most of them. A main group has two phases of arithmetic, two write ports, one
    /// pack, one test and one backend operation; a bitwise group has three phases; what is of control, or owns the ALU, stands alone.
    fn bound(&self) -> (u64, &'static str) {
        let shared = [
            (self.arithmetic.div_ceil(2), "phases"),
            (self.integers, "integers"),
            (self.writes.div_ceil(2), "write ports"),
            (self.tests, "tests"),
            (self.packs, "packs"),
            (self.backend, "messages"),
        ];
        let (most, unit) = shared
            .into_iter()
            .fold((0, "phases"), |best, next| if next.0 > best.0 { next } else { best });
        let alone = self.control + self.waits.min(1) + self.complex + self.bits.div_ceil(3);
        let unit = if alone > most { "groups that stand alone" } else { unit };
        (most + alone, unit)
    }
}

/// The least turns of a program, block by block: nothing leaves its block.
#[derive(Default)]
pub struct Bound {
    work: Work,
    chain: Chain,
    /// Turns by what takes most of a block's.
    units: BTreeMap<&'static str, u64>,
}

impl Bound {
    /// Counts a group.
    pub fn add(&mut self, group: &Group) {
        self.work.add(group);
        self.chain.add(group);
    }

    /// Ends a block.
    pub fn end_block(&mut self) {
        let (most, unit) = std::mem::take(&mut self.work).bound();
        let chain = std::mem::take(&mut self.chain).groups();
        let (most, unit) = if chain > most { (chain, "longest chain") } else { (most, unit) };
        *self.units.entry(unit).or_default() += most;
    }

    /// The least turns, and what most of them come from.
    pub fn least(&self) -> (u64, &'static str) {
        let most = self.units.iter().max_by_key(|(_, turns)| **turns);
        (self.units.values().sum::<u64>().max(1), most.map_or("phases", |(unit, _)| *unit))
    }
}

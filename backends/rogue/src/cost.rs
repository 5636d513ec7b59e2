//! What a program costs by the public facts: a group takes a turn. isa/rogue-pipeline.md 6 has no clocks beyond that.

use crate::isa::Group;
use crate::isa::fields::f;
use crate::isa::group::Ops;
use crate::isa::ops::{Control, Main};
use crate::legal::is_complex;
use gpucc_isa::Inst as Word;

/// What the groups of a program do, each thing counted by itself. 1.5.
#[derive(Default)]
pub struct Work {
    /// Operations of phases 0 and 1 that are more than moves, those that own the main ALU left out.
    arithmetic: u64,
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
    /// Counts a group.
    pub fn add(&mut self, group: &Group) {
        match &group.ops {
            Ops::Main(ops) => {
                for word in [&ops.p0, &ops.p1].into_iter().flatten() {
                    match Main::of(word.op()) {
                        row if is_complex(row) => self.complex += 1,
                        _ if moves(word) => {}
                        _ => self.arithmetic += 1,
                    }
                }
                let complex = ops.p0.is_some_and(|word| is_complex(Main::of(word.op())));
                self.tests += u64::from(ops.test.is_some());
                self.packs += u64::from(ops.pack.is_some());
                self.backend += u64::from(ops.backend.is_some());
                if !complex {
                    self.writes += group.writes.iter().flatten().count() as u64;
                }
            }
            Ops::Bitwise(phases) => {
                let shifts = |word: &Word| word.has_field(f::SHIFT1) && word.get(f::SHIFT1) != 0;
                let first = phases[0].is_some_and(|word| {
                    shifts(&word) || phases[1].is_none() && phases[2].is_none()
                });
                let behind = phases[1..].iter().flatten().count() as u64;
                self.bits += behind + u64::from(first);
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
    pub fn bound(&self) -> (u64, &'static str) {
        let shared = [
            (self.arithmetic.div_ceil(2), "phases"),
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
        ((most + alone).max(1), unit)
    }
}

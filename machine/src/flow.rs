//! What a program's bytes do with registers and where they go, and what follows of that: which registers are alive at
//! each instruction, and what the shortest and the longest way through the program cost.
//!
//! A machine reads its own code ([`crate::Assembler::steps`]); all that follows is the same for every machine. It
//! rests on the bytes alone, so it holds for code of any origin.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::ops::Range;

/// Units whose clocks are counted apart, at most.
pub const UNITS: usize = 6;

/// Clocks of each unit.
pub type Clocks = [f64; UNITS];

/// One instruction, or one group of instructions that issue together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Byte offset in the code.
    pub offset: u32,
    /// Cells that it may read.
    pub reads: SmallVec<[u16; 8]>,
    /// Cells that it gives a new value in every lane that runs it.
    pub writes: SmallVec<[u16; 4]>,
    /// What it keeps each unit.
    pub clocks: Clocks,
    /// Steps that a lane may go to from here, by number. None: the program ends.
    pub next: SmallVec<[u32; 2]>,
}

/// A program as steps in the order of the code. The first runs first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// All of them.
    pub list: Vec<Step>,
    /// Cells of a register: registers are numbered by cells divided by this.
    pub cells: u16,
    /// How text begins a register's name.
    pub prefix: &'static str,
}

/// A piece of code whose step has a number of its own.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Byte offset in the code.
    pub offset: u32,
    /// Registers that hold something when it begins that some way from there reads.
    pub live: u32,
    /// Clocks of the unit that it keeps longest.
    pub cycles: f64,
}

/// Where most registers are alive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// How many.
    pub live: u32,
    /// Byte offset of the first instruction at which so many are.
    pub offset: u32,
    /// Which.
    pub registers: Vec<String>,
}

/// What ways through a program cost: clocks of the unit that is kept longest, where for each unit the way is taken that
/// keeps it least (most).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paths {
    /// No way costs less.
    pub shortest: f64,
    /// No way costs more that goes through no loop twice.
    pub longest: f64,
    /// Loops, in the order of their first instructions. Of programs with very many, the first ones.
    pub loops: Vec<Trip>,
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trip {
    /// Byte offset of its first instruction.
    pub offset: u32,
    /// Byte offset of the last that leads back.
    pub end: u32,
    /// What a trip costs at most, trips of loops within counted once.
    pub cycles: f64,
}

/// All that follows of a program's steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Each step.
    pub instructions: Vec<Instruction>,
    /// Where most registers are alive.
    pub pressure: Pressure,
    /// Ways through the program.
    pub paths: Paths,
}

/// Visits of steps that the loops of a program may cost, for each step: nested loops are walked once for each loop around.
const VISITS: usize = 64;

impl Flow {
    /// Works out everything.
    pub fn of(steps: &Steps) -> Flow {
        let live = Liveness::of(steps);
        let mut instructions = Vec::with_capacity(steps.list.len());
        let mut pressure = Pressure::default();
        let mut most = None;
        for (at, step) in steps.list.iter().enumerate() {
            let count = live.registers(at, steps.cells).count() as u32;
            if count > pressure.live {
                (pressure.live, pressure.offset) = (count, step.offset);
                most = Some(at);
            }
            let cycles = busiest(&step.clocks);
            instructions.push(Instruction { offset: step.offset, live: count, cycles });
        }
        let name = |register: u16| format!("{}{register}", steps.prefix);
        let registers = most.into_iter().flat_map(|at| live.registers(at, steps.cells));
        pressure.registers = registers.map(name).collect();
        Flow { instructions, pressure, paths: paths(&steps.list) }
    }
}

/// The clocks of the unit that is kept longest.
pub fn busiest(clocks: &Clocks) -> f64 {
    clocks.iter().copied().fold(0.0, f64::max)
}

/// The cells that matter before each step.
struct Liveness {
    words: usize,
    bits: Vec<u64>,
}

impl Liveness {
    fn of(steps: &Steps) -> Liveness {
        let cells = steps.list.iter().flat_map(|step| step.reads.iter().chain(&step.writes));
        let words = cells.max().map_or(0, |&most| usize::from(most) / 64 + 1);
        let mut live = Liveness { words, bits: vec![0; words * steps.list.len()] };
        let mut now = vec![0u64; words];
        let goes_back =
            |(at, step): (usize, &Step)| step.next.iter().any(|&next| next as usize <= at);
        let loops = steps.list.iter().enumerate().any(goes_back);
        // Backward; only loops ask for another round.
        loop {
            let mut changed = false;
            for (at, step) in steps.list.iter().enumerate().rev() {
                now.fill(0);
                for &next in &step.next {
                    for (all, bits) in now.iter_mut().zip(live.at(next as usize)) {
                        *all |= bits;
                    }
                }
                for &cell in &step.writes {
                    now[usize::from(cell / 64)] &= !(1 << (cell % 64));
                }
                for &cell in &step.reads {
                    now[usize::from(cell / 64)] |= 1 << (cell % 64);
                }
                let old = &mut live.bits[at * words..(at + 1) * words];
                changed |= old != now.as_slice();
                old.copy_from_slice(&now);
            }
            if !changed || !loops {
                return live;
            }
        }
    }

    fn at(&self, step: usize) -> &[u64] {
        &self.bits[step * self.words..(step + 1) * self.words]
    }

    /// Registers with a cell that matters before a step.
    fn registers(&self, step: usize, cells: u16) -> impl Iterator<Item = u16> {
        let mut last = None;
        let bits = self.at(step).iter().enumerate();
        let cell = bits.flat_map(|(word, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 != 0).map(move |bit| 64 * word as u16 + bit)
        });
        cell.map(move |cell| cell / cells.max(1))
            .filter(move |&register| last.replace(register) != Some(register))
    }
}

/// The least or the most that ways within a range of steps cost, from its first step to `ends`, none of which goes back.
struct Way {
    at: Vec<Option<Clocks>>,
    worse: fn(f64, f64) -> f64,
}

impl Way {
    fn new(steps: usize, worse: fn(f64, f64) -> f64) -> Way {
        Way { at: vec![None; steps], worse }
    }

    /// What it costs to come to the end of a step that `ends`.
    fn cost(
        &mut self,
        list: &[Step],
        range: Range<usize>,
        ends: impl Fn(usize, &Step) -> bool,
    ) -> Option<f64> {
        self.at[range.clone()].fill(None);
        self.at[range.start] = Some([0.0; UNITS]);
        let mut total = None;
        for at in range.clone() {
            let (step, Some(before)) = (&list[at], self.at[at]) else { continue };
            let mut behind = before;
            for (all, clocks) in behind.iter_mut().zip(step.clocks) {
                *all += clocks;
            }
            if ends(at, step) {
                self.join(&mut total, behind);
            }
            for &next in &step.next {
                let next = next as usize;
                if next > at && range.contains(&next) {
                    let mut there = self.at[next];
                    self.join(&mut there, behind);
                    self.at[next] = there;
                }
            }
        }
        total.map(|clocks| busiest(&clocks))
    }

    fn join(&self, into: &mut Option<Clocks>, clocks: Clocks) {
        match into {
            None => *into = Some(clocks),
            Some(all) => {
                for (all, clocks) in all.iter_mut().zip(clocks) {
                    *all = (self.worse)(*all, clocks);
                }
            }
        }
    }
}

fn paths(list: &[Step]) -> Paths {
    if list.is_empty() {
        return Paths::default();
    }
    // A program that only goes round ends where it goes back.
    let goes_back = |at: usize, step: &Step| step.next.iter().all(|&next| next as usize <= at);
    let ends = |_: usize, step: &Step| step.next.is_empty();
    let (mut least, mut most) = (Way::new(list.len(), f64::min), Way::new(list.len(), f64::max));
    let whole = |way: &mut Way| {
        let all = 0..list.len();
        way.cost(list, all.clone(), ends).or_else(|| way.cost(list, all, goes_back)).unwrap_or(0.0)
    };
    let (shortest, longest) = (whole(&mut least), whole(&mut most));
    // The last step that leads back to each first step.
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, step) in list.iter().enumerate() {
        found.extend(
            step.next
                .iter()
                .filter_map(|&next| (next as usize <= at).then_some((next as usize, at))),
        );
    }
    found.sort_unstable_by_key(|&(first, last)| (first, std::cmp::Reverse(last)));
    found.dedup_by_key(|&mut (first, _)| first);
    let mut visits = VISITS * list.len();
    let mut loops = Vec::new();
    for (first, last) in found {
        let Some(left) = visits.checked_sub(last - first) else { break };
        visits = left;
        let back = |_: usize, step: &Step| step.next.contains(&(first as u32));
        let cycles = most.cost(list, first..last + 1, back).unwrap_or(0.0);
        loops.push(Trip { offset: list[first].offset, end: list[last].offset, cycles });
    }
    Paths { shortest, longest, loops }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(offset: u32, reads: &[u16], writes: &[u16], cycles: f64, next: &[u32]) -> Step {
        let mut clocks = [0.0; UNITS];
        clocks[offset as usize % 2] = cycles;
        Step { offset, reads: reads.into(), writes: writes.into(), clocks, next: next.into() }
    }

    fn flow(list: Vec<Step>) -> Flow {
        Flow::of(&Steps { list, cells: 2, prefix: "q" })
    }

    #[test]
    fn a_register_is_alive_from_its_value_to_the_last_reader_on_any_way() {
        // 0 writes q0 and q1; 2 is left out by some lanes; 3 reads q0.
        let found = flow(vec![
            step(0, &[], &[0, 2], 1.0, &[1]),
            step(2, &[5], &[4], 1.0, &[2, 3]),
            step(4, &[2], &[3], 1.0, &[3]),
            step(6, &[0, 3], &[], 1.0, &[]),
        ]);
        let live: Vec<u32> = found.instructions.iter().map(|one| one.live).collect();
        // q2 and the second cell of q1 come from elsewhere.
        assert_eq!(live, [2, 3, 2, 2]);
        let expected = ["q0", "q1", "q2"].map(String::from).to_vec();
        assert_eq!(found.pressure, Pressure { live: 3, offset: 2, registers: expected });
    }

    #[test]
    fn what_a_loop_reads_is_alive_throughout_the_loop() {
        let found = flow(vec![
            step(0, &[], &[0], 1.0, &[1]),
            step(2, &[0], &[], 1.0, &[2]),
            step(4, &[], &[2], 1.0, &[1, 3]),
            step(6, &[2], &[], 1.0, &[]),
        ]);
        let live: Vec<u32> = found.instructions.iter().map(|one| one.live).collect();
        assert_eq!(live, [0, 1, 1, 1]);
    }

    #[test]
    fn ways_cost_what_their_busiest_unit_takes() {
        // An if with two arms, 5 and 2, in a loop; the second unit has 3 at the end.
        let found = flow(vec![
            step(0, &[], &[], 1.0, &[1]),
            step(2, &[], &[], 1.0, &[2, 3]),
            step(4, &[], &[], 5.0, &[4]),
            step(6, &[], &[], 2.0, &[4]),
            step(8, &[], &[], 1.0, &[1, 5]),
            step(9, &[], &[], 3.0, &[]),
        ]);
        let trip = Trip { offset: 2, end: 8, cycles: 7.0 };
        assert_eq!(found.paths, Paths { shortest: 5.0, longest: 8.0, loops: vec![trip] });
    }

    #[test]
    fn endless_and_empty_programs_have_ways_too() {
        assert_eq!(flow(vec![step(0, &[], &[], 2.0, &[0])]).paths.longest, 2.0);
        assert_eq!(flow(Vec::new()), Flow::default());
    }
}

//! The process that runs a stretch of inputs and says a line about each, so that whoever started it knows which input
//! ended it.

use super::one::{self, Outcome};
use super::seeds::{self, Seeds};
use super::{Input, Language, mutate, usage};
use gpucc::{Stage, Target};
use gpucc_ir::ssa::random::Rng;
use std::io::{self, Write};
use std::time::Instant;

/// Inputs that draw from one pool of seeds.
pub const STRETCH: u64 = 512;

/// The input of a number. The same seed, number and seeds give the same input.
pub fn input(language: Language, seed: u64, number: u64, seeds: &mut Seeds) -> Input {
    let mut rng = Rng::new(seed ^ 0x5EED_0000_0000_0000 ^ (number / STRETCH).rotate_left(20));
    let mut rng = Rng::new(rng.bits());
    let pool = seeds::pool(&mut rng, seeds);
    let mut rng = Rng::new(rng.bits() ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
    let mut rng = Rng::new(rng.bits());
    let mut draw = |rng: &mut Rng| (0..8).find_map(|_| seeds.get(pool[rng.below(pool.len())]));
    let (Some(first), Some(other)) = (draw(&mut rng), draw(&mut rng)) else {
        return Input {
            language,
            bytes: Vec::new(),
            stage: Stage::Fragment,
            target: Target::USUAL,
            variant: 0,
        };
    };
    let bytes = mutate::source(&mut rng, language, &first.bytes, &other.bytes);
    let stages = [Stage::Vertex, Stage::Fragment, Stage::Compute];
    Input {
        language,
        bytes,
        stage: if rng.one_in(30) { rng.pick(&stages) } else { first.stage },
        target: first.target,
        // The default options half of the time; who reads it, and what is told, still differ.
        variant: match rng.one_in(2) {
            true => rng.bits() as u32 & !0xFFF,
            false => rng.bits() as u32,
        },
    }
}

/// What an input took.
#[derive(Copy, Clone, Debug, Default)]
pub struct Cost {
    /// Milliseconds of processor time, for the machine that takes longest.
    pub cpu: u64,
    /// Microseconds on the clock.
    pub wall: u64,
    /// KiB of memory at the peak, the process as a whole.
    pub memory: u64,
}

/// What a test has one input do, to see that it is noticed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Fault {
    /// A panic.
    Panic,
    /// An abort.
    Abort,
    /// More than 2 s.
    Time,
    /// More than 256 MiB.
    Memory,
}

/// The input that a fault is put into.
pub const FAULTY: u64 = 7;

fn commit(fault: Fault) {
    match fault {
        Fault::Panic => panic!("put in by a test"),
        Fault::Abort => std::process::abort(),
        Fault::Time => {
            let start = usage::cpu().unwrap_or(0);
            let clock = Instant::now();
            while usage::cpu().map_or_else(|| clock.elapsed().as_millis() as u64, |now| now - start)
                < 2500
            {}
        }
        Fault::Memory => drop(std::hint::black_box(vec![1_u8; 300 << 20])),
    }
}

/// Runs one input, or what stands in for it, and measures it.
pub fn measured(input: &Input, fault: Option<Fault>) -> (Outcome, Cost) {
    usage::restart();
    let (start, cpu) = (Instant::now(), usage::cpu());
    let outcome = match fault {
        Some(fault) => one::watch(|_| commit(fault)),
        None => one::run(input),
    };
    let wall = start.elapsed().as_micros() as u64;
    let cpu = match usage::cpu().zip(cpu) {
        // One command makes code for one machine.
        Some((after, before)) => (after - before).saturating_sub(outcome.others),
        None => wall / 1000,
    };
    let memory = usage::peak().unwrap_or(0);
    (outcome, Cost { cpu, wall, memory })
}

/// Runs the inputs of a range, each between a line `@ number` and a line
/// `= number cpu wall memory place:code,...` with the bug behind a tab.
///
/// # Errors
/// What cannot be written.
pub fn range(
    language: Language,
    seed: u64,
    numbers: std::ops::Range<u64>,
    seeds: &mut Seeds,
    fault: Option<Fault>,
    out: &mut impl Write,
) -> io::Result<()> {
    one::quiet();
    for number in numbers {
        if number.is_multiple_of(STRETCH) {
            seeds.forget();
        }
        let input = input(language, seed, number, seeds);
        writeln!(out, "@ {number}")?;
        out.flush()?;
        let fault = fault.filter(|_| number == FAULTY);
        let (outcome, cost) = measured(&input, fault);
        writeln!(out, "{}", line(number, &outcome, cost))?;
        out.flush()?;
    }
    Ok(())
}

fn line(number: u64, outcome: &Outcome, cost: Cost) -> String {
    let codes: Vec<String> =
        outcome.codes.iter().map(|(place, code)| format!("{place}:{code}")).collect();
    let Cost { cpu, wall, memory } = cost;
    let codes = codes.join(",");
    let bug = outcome.bug.as_deref().unwrap_or_default();
    format!("= {number} {cpu} {wall} {memory} {codes}\t{bug}")
}

/// Runs one input as [`range`] does, with the number 0.
///
/// # Errors
/// What cannot be written.
pub fn single(input: &Input, out: &mut impl Write) -> io::Result<()> {
    one::quiet();
    writeln!(out, "@ 0")?;
    out.flush()?;
    let (outcome, cost) = measured(input, None);
    writeln!(out, "{}", line(0, &outcome, cost))
}

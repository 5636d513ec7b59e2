//! Collected groups and programs, executed: each ends, or stops by a rule that is listed with its reason.

use super::bench::{Bench, DATA, numerics};
use super::golden::rows;
use super::{Dice, bytes};
use crate::emu::Stage;
use crate::emu::machine::{Machine, Run};
use crate::emu::memory::Memory;
use crate::emu::register::Common;
use crate::emu::rule::{Rule, Trap};
use crate::emu::task::{Sizes, Task};
use std::collections::BTreeMap;

/// Runs a program with every register written: floats near 1 in registers, addresses of data in shared ones.
fn run(row: &super::golden::Row, code: &[u8], seed: u64) -> Result<(), Trap> {
    let mut memory = Memory::default();
    memory.map(DATA, 0x10000).expect("maps");
    memory.map(super::bench::CODE, code.len() + 64).expect("maps");
    memory.write(super::bench::CODE, code).expect("is mapped");
    let mut dice = Dice::new(seed);
    let mut task = Task::new(row.stage, 0, Sizes { temps: 248, inputs: 248 }, u32::MAX, 256);
    let mut float = || (1.0 + (dice.next() % 1000) as f32 / 1000.0).to_bits();
    for lane in 0..32 {
        for index in 0..248 {
            task.temps.set(index, lane, float());
            task.inputs.set(index, lane, float());
        }
        for index in 0..8 {
            task.internals.set(index, lane, float());
            task.outputs.set(index, lane, float());
        }
        task.indices.set(0, lane, 0);
        task.indices.set(1, lane, 0);
    }
    task.p0_defined = u32::MAX;
    task.p0 = dice.next() as u32;
    let mut shared = Common::new("sh", 1024);
    let mut coefficients = Common::new("cf", 512);
    for index in 0..1024 {
        shared.set(index, if index % 2 == 0 { DATA as u32 } else { 0 });
        coefficients.set(index, 1f32.to_bits());
    }
    let mut machine =
        Machine::new(&row.core, numerics(&row.core), &mut memory, super::bench::CODE, seed);
    machine.shared = shared;
    machine.coefficients = vec![coefficients];
    let mut steps = 20_000;
    machine.run(&mut [task], &mut Run { steps: &mut steps, trace: None })
}

#[test]
fn collected_groups_execute_or_stop_by_a_rule() {
    let mut ends = 0;
    let mut stops: BTreeMap<Rule, (usize, String)> = BTreeMap::new();
    for row in rows() {
        let mut code = row.bytes.clone();
        if !row.program {
            // The group, a wait for each fence, and an end; a branch leads wherever it leads.
            code.extend(bytes("02 80 6a ff 02 80 ea ff"));
            while code.len() % 8 != 4 {
                code.extend(bytes("03 80 6e 00 f1 ff"));
            }
            code.extend(bytes("02 80 6e 00"));
            code.extend(bytes(super::bench::END));
        }
        match run(row, &code, 5) {
            Ok(()) => ends += 1,
            Err(trap) => {
                let entry = stops.entry(trap.rule).or_default();
                entry.0 += 1;
                if entry.1.is_empty() {
                    let text: String = row.text.chars().take(200).collect();
                    entry.1 = format!("{} {trap}\n{text}", row.id);
                }
            }
        }
    }
    if ends + stops.len() == 0 {
        return;
    }
    stops.retain(|rule, _| !EXPECTED.contains(rule));
    assert!(stops.is_empty(), "{stops:#?}");
    assert!(ends > 5000, "{ends} end");
}

/// Why a collected group or program stops, where it does: registers and memory hold numbers of chance, and a group runs
/// without those around it.
const EXPECTED: [Rule; 19] = [
    // A depth of chance.
    Rule::DepthRange,
    // Filter coefficients; operations of lower precision, which are a fork's choice.
    Rule::NotBuilt,
    Rule::Undocumented,
    // Two rows are cut. A branch leads behind its row.
    Rule::Length,
    Rule::DecodeAssist,
    Rule::Code,
    Rule::Mapped,
    Rule::Link,
    // Coefficients on S1 (1.2).
    Rule::Port,
    // Global registers, which nobody has written.
    Rule::Undefined,
    // Part b of a reduction without part a.
    Rule::ReduceParts,
    // p0 is a number of chance.
    Rule::BranchDiffers,
    // A lock without its release, and a release without its lock.
    Rule::Mutex,
    Rule::MutexHeld,
    Rule::Deadlock,
    // An address of chance.
    Rule::Aligned,
    Rule::Bounds,
    // A vertex group without the end of its task.
    Rule::VertexEnd,
    // Texture words of chance.
    Rule::TextureWords,
];

#[test]
fn programs_of_chance_end_or_name_a_rule() {
    let mut dice = Dice::new(17);
    let known = super::words::KNOWN;
    let mut rules: BTreeMap<Rule, u32> = BTreeMap::new();
    for round in 0..3000 {
        let mut code = Vec::new();
        for _ in 0..1 + dice.below(10) {
            let mut group = bytes(known[dice.below(known.len() as u64) as usize]);
            if dice.below(3) == 0 {
                let bit = dice.below(8 * group.len() as u64);
                group[(bit / 8) as usize] ^= 1 << (bit % 8);
            }
            code.extend(group);
        }
        let stage = [Stage::Compute, Stage::Fragment, Stage::Vertex][round % 3];
        let mut bench = Bench::new(stage);
        bench.steps = 300;
        for index in 0..24 {
            let value = dice.next() as u32;
            bench = bench.temp(index, move |_| value & 0x3fff_ffff);
        }
        bench.seed = dice.next();
        match bench.bytes(&code) {
            Ok(()) => *rules.entry(Rule::Steps).or_default() += 1,
            Err(trap) => *rules.entry(trap.rule).or_default() += 1,
        }
    }
    assert!(rules.len() > 15, "{rules:?}");
}

/// The public compiler's barrier of two tasks, in a program that reverses 64 words through shared memory.
#[test]
fn a_collected_barrier_holds_for_two_tasks() {
    let rows = rows();
    if rows.is_empty() {
        return;
    }
    let row = rows.iter().find(|row| row.note.contains("k_bar.comp") && row.program);
    let row = row.expect("the collection has it");
    for seed in 0..30 {
        let sizes = Sizes { temps: 16, inputs: 4 };
        let mut bench = Bench::new(Stage::Compute);
        bench.tasks = (0..2)
            .map(|number| {
                let mut task = Task::new(Stage::Compute, 0, sizes, u32::MAX, 0);
                task.number = number;
                for lane in 0..32 {
                    task.inputs.set(0, lane, 32 * number + lane as u32);
                }
                task
            })
            .collect();
        for at in 0..64u32 {
            let place = DATA + 4 * u64::from(at);
            bench.memory.write(place, &(100 + at).to_le_bytes()).expect("is mapped");
        }
        bench.coefficients = vec![Common::new("cf", 80)];
        // The workgroup's number, and the counter of the barrier.
        [0, 1, 2, 3].into_iter().for_each(|index| bench.coefficients[0].set(index, 0));
        let mut bench = bench.share(8, DATA as u32).share(9, 0).share(11, 0);
        bench.seed = seed;
        bench.bytes(&row.bytes).expect("runs");
        for at in 0..64 {
            assert_eq!(bench.word(4 * at), 100 + 63 - at as u32);
        }
    }
}

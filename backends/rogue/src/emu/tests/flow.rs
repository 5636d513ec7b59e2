//! Execution masks, branches, mutexes and ends.

use super::bench::{Bench, END};
use crate::emu::Stage::{Compute, Vertex};
use crate::emu::rule::Rule;
use crate::emu::task::Task;

/// p0 where r1 is 0.
const TEST: &str = "98 c0 00 d3 3c f1 a0 9c 1e 87 c1 cf 80 11 00 20";
/// The counter r9 becomes 0.
const FIRST: &str = "44 82 67 20 00 00 49 ff";
/// Instances with p0 wait in r9.
const IF: &str = "44 82 67 38 49 00 49 ff";
/// The other arm, and the end.
const ELSE: &str = "44 82 67 21 49 00 49 ff";
const END_IF: &str = "44 82 67 24 49 00 49 ff";
/// r2 = r2 * 1 + 1, r2 = r2 * 1 + 16, in 12 bytes.
const ONE: &str = "36 82 00 e2 c2 41 00 01 00 00 42 ff";
const SIXTEEN: &str = "36 82 00 e2 c2 41 00 10 00 00 42 ff";

#[test]
fn both_arms_of_a_branch_run_where_they_must() {
    for seed in 0..8 {
        let mut bench = Bench::new(Compute).temp(1, |lane| (lane % 3) as u32).temp(2, |_| 0);
        bench.seed = seed;
        bench
            .run(&[
                FIRST,
                TEST,
                IF,
                // Over the arm and the else, when nobody is in the arm.
                "04 80 60 04 14 00 00 00",
                ONE,
                ELSE,
                "04 80 60 04 14 00 00 00",
                SIXTEEN,
                END_IF,
                ONE,
            ])
            .expect("runs");
        for lane in 0..32 {
            let expected = if lane % 3 == 0 { 17 } else { 2 };
            assert_eq!(bench.result(2)[lane], expected, "instance {lane}");
        }
    }
}

#[test]
fn an_arm_that_nobody_enters_is_skipped() {
    let mut bench = Bench::new(Compute).temp(1, |_| 0).temp(2, |_| 0);
    bench.run(&[FIRST, TEST, IF, "04 80 60 04 14 00 00 00", ONE, END_IF]).expect("runs");
    assert_eq!(bench.result(2), [0; 32]);
    assert!(!bench.trace.iter().any(|line| line.contains("    50 ")), "{:?}", bench.trace);
}

#[test]
fn a_loop_ends_for_each_instance_by_itself() {
    // r1 counts down by imadd32 with -1 (the constant 143); r2 counts turns; a break at r1 == 0.
    for seed in 0..8 {
        let mut bench = Bench::new(Compute).temp(1, |lane| (lane % 7) as u32).temp(2, |_| 0);
        bench.seed = seed;
        bench
            .run(&[
                FIRST,
                "44 82 67 40 49 00 49 ff",
                // The body: p0 = r1 == 0; break: two levels; r2 += 1; r1 -= 1.
                TEST,
                "45 82 67 0a c9 40 00 02 00 49",
                ONE,
                "36 82 00 e2 c1 41 80 0f 40 00 00 41",
                // Continue point, end of the loop, and back to the body: 72 bytes.
                END_IF,
                "44 82 67 20 49 00 49 ff",
                "44 82 67 43 49 00 49 ff",
                "04 81 60 00 b6 ff ff ff",
                SIXTEEN,
            ])
            .unwrap_or_else(|trap| panic!("{trap}\n{:#?}", bench.trace));
        for lane in 0..32 {
            assert_eq!(bench.result(2)[lane], (lane % 7) as u32 + 16, "instance {lane}");
        }
    }
}

#[test]
fn predicated_groups_run_where_p0_says() {
    let mut bench = Bench::new(Compute).temp(1, |lane| (lane & 1) as u32).temp(2, |_| 0);
    bench
        .run(&[TEST, "36 83 00 e2 c2 41 00 01 00 00 42 ff", "36 83 01 e2 c2 41 00 10 00 00 42 ff"])
        .expect("runs");
    for lane in 0..32 {
        assert_eq!(bench.result(2)[lane], if lane & 1 == 0 { 1 } else { 16 });
    }
}

#[test]
fn branches_that_break_a_rule() {
    let bench = || Bench::new(Compute).temp(1, |lane| (lane & 1) as u32).temp(2, |_| 0);
    // Instances disagree; into the middle of a group; to an odd place is no word at all.
    let differs = ["04 81 60 00 14 00 00 00", ONE];
    let mut program = vec![TEST];
    program.extend(differs);
    assert_eq!(bench().rule(&program), Some(Rule::BranchDiffers));
    // A branch to the next group may differ.
    assert_eq!(bench().rule(&[TEST, "04 81 60 00 08 00 00 00"]), None);
    // Bytes 4 to 11 of this group are a group of their own: a number with words that look like one.
    let number = "86 92 40 13 02 80 6e 00 00 00 42 ff";
    let middle = [number, "04 80 60 00 f8 ff ff ff"];
    assert_eq!(bench().rule(&middle), Some(Rule::BranchTarget));
    // For ever.
    assert_eq!(bench().rule(&[ONE, "04 80 60 00 f4 ff ff ff"]), Some(Rule::Steps));
    // .anyinst, and .allinst beside a condition.
    assert_eq!(bench().rule(&["04 80 60 08 08 00 00 00"]), Some(Rule::Undocumented));
    assert_eq!(bench().rule(&[TEST, "04 81 60 04 08 00 00 00"]), Some(Rule::Undocumented));
    // A return without a link; a call and a return.
    assert_eq!(bench().rule(&["02 80 62 ff"]), Some(Rule::Link));
    let mut called = bench();
    called
        .run(&[
            "04 80 60 10 10 00 00 00",
            "04 80 60 00 1c 00 00 00",
            ONE,
            "04 80 62 ff f2 ff ff ff",
        ])
        .expect("runs");
    assert_eq!(called.result(2), [1; 32]);
}

#[test]
fn the_last_group_is_aligned() {
    let mut bench = Bench::new(Compute);
    let mut code = super::bytes("02 80 6e 00");
    code.extend(super::bytes(END));
    assert_eq!(bench.bytes(&code).err().map(|trap| trap.rule), Some(Rule::EndAligned));
    // Without an end the program runs into what nobody wrote.
    let mut bench = Bench::new(Compute);
    assert!(bench.bytes(&super::bytes("02 80 6e 00")).is_err());
}

#[test]
fn mutexes_are_held_by_one_task() {
    let (lock, release) = ("02 80 6c c1", "02 80 6c 01");
    let run = |groups: &[&str]| Bench::new(Compute).rule(groups);
    assert_eq!(run(&[lock, release]), None);
    assert_eq!(run(&[release]), Some(Rule::Mutex));
    assert_eq!(run(&[lock, lock]), Some(Rule::Mutex));
    assert_eq!(run(&[lock]), Some(Rule::MutexHeld));
    // A task that sleeps and is never woken.
    assert_eq!(run(&[lock, "02 80 6c 41"]), Some(Rule::Deadlock));
    // Two tasks count in cf0 under the mutex.
    for seed in 0..20 {
        let mut bench = Bench::new(Compute);
        bench.seed = seed;
        bench.coefficients[0].set(0, 0);
        let mut other = Task::new(Compute, 0, bench.sizes, 1, 0);
        other.number = 1;
        bench.tasks[0].valid = 1;
        bench.tasks[0].executing = 1;
        bench.tasks.push(other);
        bench
            .run(&[
                lock,
                "35 82 00 87 c0 04 00 00 00 42",
                ONE,
                "35 82 00 87 42 00 00 c0 04 ff",
                release,
            ])
            .expect("runs");
        assert_eq!(bench.coefficients[0].read(0), Ok(2));
    }
}

#[test]
fn vertices_end_their_task_and_write_within_their_size() {
    let write = "56 a0 00 08 04 c0 00 00 00 30 f1 ff";
    let end = "44 a0 80 05 00 00 00 ff";
    let bench = || Bench::new(Vertex).temp(0, |lane| lane as u32);
    let mut right = bench();
    let mut code = super::bytes(write);
    code.extend(super::bytes("02 80 6e 00"));
    code.extend(super::bytes(end));
    right.bytes(&code).expect("runs");
    assert_eq!(right.tasks[0].vertices.outputs.read(4, 9), Ok(9));
    assert_eq!(right.tasks[0].vertices.emitted, u32::MAX);
    assert_eq!(bench().rule(&[write]), Some(Rule::VertexEnd));
    assert_eq!(bench().rule(&["56 a0 00 08 20 c0 00 00 00 30 f1 ff"]), Some(Rule::VertexAddress));
    let twice = ["44 a0 00 05 00 00 00 ff", write];
    assert_eq!(bench().rule(&twice), Some(Rule::VertexEnd));
}

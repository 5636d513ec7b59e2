//! Memory, iterators, feedback and texture operations.

use super::bench::{Bench, DATA, WAIT};
use crate::emu::Stage::{Compute, Fragment};
use crate::emu::rule::Rule;
use crate::emu::task::Iterated;

/// r4 = [r0:r1], r8 to [r0:r1], with drc0; the same load with drc1.
const LOAD: &str = "65 a0 00 f1 04 00 40 44 00 ff";
const LOAD_ONE: &str = "65 a0 00 f9 04 00 40 44 00 ff";
const WAIT_ONE: &str = "02 80 ea ff";
const STORE: &str = "65 a0 00 f2 64 08 48 40 00 ff";
/// r4 = r4 * 1 + 1; r8 = r8 * 1 + 1; r20 = r20 * 1 + 1.
const USE: &str = "36 82 00 e2 c4 41 00 01 00 00 44 ff";
const CHANGE: &str = "36 82 00 e2 c8 41 00 01 00 00 48 ff";

fn bench() -> Bench {
    let mut bench = Bench::new(Compute).pointer(0, |lane| 4 * lane as u32);
    for lane in 0..32 {
        let word = (1000 + lane as u32).to_le_bytes();
        bench.memory.write(DATA + 4 * lane, &word).expect("is mapped");
    }
    bench
}

#[test]
fn loads_arrive_at_their_wait() {
    for seed in 0..8 {
        let mut bench = bench();
        bench.seed = seed;
        bench.run(&[LOAD, WAIT, USE]).expect("runs");
        for lane in 0..32 {
            assert_eq!(bench.result(4)[lane], 1001 + lane as u32);
        }
    }
    // Nothing to wait for is no error.
    assert_eq!(bench().rule(&[WAIT, WAIT_ONE]), None);
}

#[test]
fn registers_of_a_message_are_left_alone() {
    assert_eq!(bench().rule(&[LOAD, USE, WAIT]), Some(Rule::Pending));
    assert_eq!(bench().rule(&[LOAD, WAIT_ONE, USE]), Some(Rule::Pending));
    assert_eq!(bench().rule(&[LOAD_ONE, WAIT_ONE, USE]), None);
    // Written before the wait: by a move, and by a second load.
    let write = "34 82 00 87 40 00 00 44";
    assert_eq!(bench().rule(&[LOAD, write, WAIT]), Some(Rule::Pending));
    assert_eq!(bench().rule(&[LOAD, LOAD, WAIT]), Some(Rule::Pending));
    // The end before the wait.
    assert_eq!(bench().rule(&[LOAD]), Some(Rule::PendingEnd));
    // What a store still reads is written.
    let bench = || bench().temp(8, |lane| lane as u32);
    assert_eq!(bench().rule(&[STORE, CHANGE, WAIT]), Some(Rule::Held));
    assert_eq!(bench().rule(&[STORE, WAIT, CHANGE]), None);
}

#[test]
fn stores_arrive_and_are_within_what_is_mapped() {
    let mut bench = bench().temp(8, |lane| 7 * lane as u32);
    bench.run(&[STORE, WAIT]).expect("runs");
    for lane in 0..32u64 {
        assert_eq!(bench.word(4 * lane), 7 * lane as u32);
    }
    let away = || Bench::new(Compute).pointer(0, |_| 0x1000).temp(8, |_| 0);
    assert_eq!(away().rule(&[STORE, WAIT]), Some(Rule::Mapped));
    assert_eq!(away().rule(&[LOAD, WAIT]), Some(Rule::Mapped));
    let odd = || Bench::new(Compute).pointer(0, |_| 2).temp(8, |_| 0);
    assert_eq!(odd().rule(&[STORE, WAIT]), Some(Rule::Aligned));
}

#[test]
fn stores_to_one_place_are_in_any_order() {
    let ends: std::collections::BTreeSet<u32> = (0..16)
        .map(|seed| {
            let mut bench = Bench::new(Compute).pointer(0, |_| 0).temp(8, |lane| lane as u32);
            bench.seed = seed;
            bench.run(&[STORE, WAIT]).expect("runs");
            bench.word(0)
        })
        .collect();
    assert!(ends.len() > 4, "{ends:?}");
}

#[test]
fn atomic_operations_are_one_after_the_other() {
    // r4 = what was there, of [r0:r1] and r2.
    for (op, result) in [
        ("00", 528u32),
        ("10", 32u32.wrapping_sub(528)),
        ("40", 1),
        ("50", 1),
        ("60", 32),
        ("70", 32),
        ("80", 0),
        ("90", 63),
        ("a0", 0),
    ] {
        let mut bench = Bench::new(Compute).pointer(0, |_| 0).temp(2, |lane| lane as u32 + 1);
        let first = if op == "00" { 0u32 } else { 32 };
        bench.memory.write(DATA, &first.to_le_bytes()).expect("is mapped");
        let group = format!("65 a0 00 e5 {op} 03 40 44 00 ff");
        bench.run(&[&group, WAIT]).expect("runs");
        assert_eq!(bench.word(0), result, "{op}");
    }
    let mut bench = Bench::new(Compute).pointer(0, |_| 0).temp(2, |lane| lane as u32 + 1);
    bench.memory.write(DATA, &[0; 4]).expect("is mapped");
    bench.run(&["65 a0 00 e5 20 03 40 44 00 ff", WAIT]).expect("runs");
    // Exchanges hand one value on to the next.
    let mut seen = bench.result(4).to_vec();
    seen.push(bench.word(0));
    seen.sort_unstable();
    assert_eq!(seen, (0..=32).collect::<Vec<u32>>());
}

fn fragments() -> Bench {
    let mut bench = Bench::new(Fragment);
    for lane in 0..32usize {
        let fragments = &mut bench.tasks[0].fragments;
        fragments.x[lane] = 10 + (lane % 8) as u32;
        fragments.y[lane] = 20 + (lane / 8) as u32;
        fragments.places[lane] = [[0.25, 0.75], [0.5, 0.5]];
    }
    // cf0..3 is 1 / w = 0.5 everywhere, cf4..7 is x + 2 y + 1, cf8..11 is 7.
    for (index, value) in
        [0.0, 0.0, 0.5, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0, 7.0, 0.0f32].into_iter().enumerate()
    {
        bench.coefficients[0].set(index, value.to_bits());
    }
    bench
}

#[test]
fn coefficients_are_iterated() {
    let plane = |lane: usize, at: [f32; 2]| {
        let (x, y) = (10.0 + (lane % 8) as f32 + at[0], 20.0 + (lane / 8) as f32 + at[1]);
        x + 2.0 * y + 1.0
    };
    // ditrp.pixel r4..5, drc0, cf4, cf0, 2; ditr.sample r6, cf4.
    let mut bench = fragments();
    bench.run(&["04 80 78 04 05 00 20 00", "04 80 78 06 04 01 10 00", WAIT]).expect("runs");
    for lane in 0..32 {
        assert_eq!(f32::from_bits(bench.result(4)[lane]), 2.0 * plane(lane, [0.5, 0.5]));
        assert_eq!(f32::from_bits(bench.result(5)[lane]), 14.0);
        assert_eq!(f32::from_bits(bench.result(6)[lane]), plane(lane, [0.25, 0.75]));
    }
    // Before the wait, and with the schedule that waits.
    let moved = "34 82 00 87 44 00 00 48";
    let iterator = "04 80 78 04 05 00 10 00";
    assert_eq!(fragments().rule(&[iterator, moved, WAIT]), Some(Rule::Pending));
    assert_eq!(fragments().rule(&["04 80 78 04 05 00 10 08", moved]), None);
    // What is given goes before planes.
    let iterated = |w: f32, perspective: bool, words: [u32; 2]| {
        let mut given = Iterated::new(3);
        given.sets = vec![[w.to_bits(); 32], [words[0]; 32], [words[1]; 32]];
        given.perspective = vec![false, perspective, perspective];
        let mut bench = fragments();
        bench.tasks[0].fragments.given = Some(given);
        bench.run(&["04 80 78 04 05 00 20 00", WAIT]).expect("runs");
        [bench.result(4)[7], bench.result(5)[31]]
    };
    assert_eq!(iterated(1.0, true, [5, 6]), [5, 6]);
    // The plane of a value without perspective is no value over w, and that of one with it is divided by the reciprocal of its own w.
    let three = [3f32.to_bits(); 2];
    assert_eq!(iterated(0.5, false, three), [6f32.to_bits(); 2]);
    assert_eq!(iterated(0.5, true, three), [6f32.to_bits(); 2]);
    // Coefficients that nobody wrote.
    assert_eq!(fragments().rule(&["04 80 78 04 11 00 10 00", WAIT]), Some(Rule::Undefined));
}

#[test]
fn feedback_is_given_once_and_before_the_outputs() {
    let always = "45 a8 00 82 80 40 00 07 00 00";
    let output = "34 8a 00 87 40 00 00 20";
    let bench = || fragments().temp(0, |_| 9);
    assert_eq!(bench().rule(&[always, WAIT, output]), None);
    assert_eq!(bench().rule(&[always, WAIT, always, WAIT]), Some(Rule::Feedback));
    assert_eq!(bench().rule(&[output, always, WAIT]), Some(Rule::Feedback));
    let mut right = bench();
    right.run(&[always, WAIT, output]).expect("runs");
    assert_eq!(right.tasks[0].fragments.survive, u32::MAX);
    // Where p0 says alone: the others are gone.
    let test = "98 c0 00 d3 3c f1 a0 9c 1e 87 c1 cf 80 11 00 20";
    let mut some = bench().temp(1, |lane| (lane & 1) as u32);
    some.run(&[test, "45 a9 00 82 80 40 00 07 00 00", WAIT, output]).expect("runs");
    assert_eq!(some.tasks[0].fragments.survive, 0x5555_5555);
}

#[test]
fn a_depth_that_is_given_is_within_its_range() {
    // depthf of r0.
    let depth = "44 a0 00 80 40 00 30 ff";
    let rule = |value: f32| fragments().temp(0, move |_| value.to_bits()).rule(&[depth, WAIT]);
    for value in [0.0, 0.25, 1.0] {
        assert_eq!(rule(value), None);
    }
    for value in [-0.25, 1.5, f32::INFINITY, f32::NAN] {
        assert_eq!(rule(value), Some(Rule::DepthRange));
        let mut bench = fragments().temp(0, move |_| value.to_bits());
        bench.unrestricted = true;
        bench.run(&[depth, WAIT]).expect("it may lie beyond");
        assert_eq!(bench.tasks[0].fragments.depth, [Some(value.to_bits()); 32]);
    }
}

#[test]
fn a_test_of_alpha_gives_p0_at_its_wait() {
    // alphatst p0 of r7 and r9 by the comparison in r10; then r2 = p0 ? 1 : 16 by predicated sums.
    let test = "46 a0 00 87 c7 69 00 4a 00 00 f1 ff";
    let ones = "36 83 00 e2 c2 41 00 01 00 00 42 ff";
    for op in 0..8u32 {
        let bench = || {
            fragments()
                .temp(7, |lane| (lane as f32).to_bits())
                .temp(9, |_| 5f32.to_bits())
                .temp(10, |_| op)
                .temp(2, |_| 0)
        };
        let mut right = bench();
        right.run(&[test, WAIT, ones]).expect("runs");
        for lane in 0..32usize {
            let (left, other) = (5.0, lane as f32);
            let holds = [false, left < other, left == other, left <= other, left > other]
                .into_iter()
                .chain([left != other, left >= other, true])
                .nth(op as usize);
            assert_eq!(Some(right.result(2)[lane] == 1), holds, "{op} {lane}");
        }
        assert_eq!(bench().rule(&[test, ones, WAIT]), Some(Rule::Pending));
    }
}

#[test]
fn bursts_and_iterators_that_break_a_rule() {
    // ld of as many words as r2 says: 2, then 1025.
    let load = |count: u32| {
        let mut bench = bench().temp(2, move |_| count);
        // S0 = r0, S1 = r2, S3 = r4.
        bench.rule(&["55 a0 00 e1 04 c0 a2 44 00 ff", WAIT])
    };
    assert_eq!(load(2), None);
    assert_eq!(load(1025), Some(Rule::BurstLength));
    assert_eq!(load(0), Some(Rule::Bounds));
    // fitr of coefficient 5, which begins no set.
    let mut old = fragments();
    old.core = crate::emu::core::Core::GX6250;
    assert_eq!(old.rule(&["55 a0 00 a0 01 c5 04 00 4b 00", WAIT]), Some(Rule::Iterator));
}

#[test]
fn tiled_stores_go_where_the_pixel_is_in_its_tile() {
    // {r10:r9} = {r3:sh3} + special register 58; st.tiled of r8 there, where r4 says.
    let address = "37 8e 00 e8 83 63 80 3a 08 00 c0 89 4a ff";
    let store = "76 a8 00 f2 64 88 04 48 c9 a4 00 ff";
    let mut bench = fragments()
        .share(3, DATA as u32)
        .temp(3, |_| 0)
        .temp(4, |lane| (lane & 1) as u32)
        .temp(8, |lane| 100 + lane as u32);
    for lane in 0..32 {
        bench.tasks[0].fragments.x[lane] = (lane % 4) as u32;
        bench.tasks[0].fragments.y[lane] = 32;
    }
    bench.run(&[address, store, WAIT]).expect("runs");
    let tiled = &bench.tasks[0].fragments.tiled;
    assert_eq!(tiled.len(), 16);
    for (lane, at, word) in tiled {
        assert_eq!((*at, *word), (DATA + 32 * (*lane as u64 % 4), 100 + *lane as u32));
    }
    // Without the overlap check it is refused.
    let unchecked = address.replace("37 8e", "37 86");
    assert_eq!(fragments().rule(&[&unchecked]), Some(Rule::Overlap));
}

//! Groups of the ALUs, executed: each operation against values by hand or plain arithmetic.

use super::bench::Bench;
use crate::emu::Stage::{Compute, Fragment};
use crate::emu::rule::Rule;

/// Floats that differ by instance.
fn float(lane: usize) -> u32 {
    ((lane as f32 - 15.5) * 0.75).to_bits()
}

/// What a group writes to a register, of r1 by `float` and r5 = 3.0.
fn results(group: &str, index: usize) -> [f32; 32] {
    let mut bench = Bench::new(Compute).temp(1, float).temp(5, |_| 3f32.to_bits());
    bench.run(&[group]).expect("runs");
    bench.result(index).map(f32::from_bits)
}

#[test]
fn floats_are_added_multiplied_and_fused() {
    let x = |lane: usize| f32::from_bits(float(lane));
    for lane in 0..32 {
        // fmul r4, r1, r5; fadd; fadd of the floor; fmad r4 = r1 * r5 + r1 and its forms.
        assert_eq!(results("24 02 40 c1 a5 00 00 44", 4)[lane], x(lane) * 3.0);
        assert_eq!(results("35 82 00 00 c1 a5 00 00 44 ff", 4)[lane], x(lane) + 3.0);
        assert_eq!(results("35 82 00 08 c1 a5 00 00 44 ff", 4)[lane], 3.0 - x(lane));
        assert_eq!(results("35 82 00 01 c1 80 00 00 44 ff", 4)[lane], x(lane).floor());
        assert_eq!(results("25 02 c0 c1 65 00 41 00 00 44", 4)[lane], x(lane) * 3.0 + x(lane));
        let negated = results("36 82 00 ca c1 65 00 41 00 00 44 ff", 4)[lane];
        assert_eq!(negated, -x(lane) * 3.0 - x(lane));
        // Saturated: bit 4 of a sum.
        let saturated = results("35 82 00 10 c1 a5 00 00 44 ff", 4)[lane];
        assert_eq!(saturated, (x(lane) + 3.0).clamp(0.0, 1.0));
        // Moves with modifiers.
        assert_eq!(results("35 82 00 97 01 41 00 00 44 ff", 4)[lane], x(lane).abs());
        assert_eq!(results("35 82 00 97 02 41 00 00 44 ff", 4)[lane], -x(lane));
        assert_eq!(results("34 82 00 80 41 00 00 44", 4)[lane], 1.0 / x(lane));
        assert_eq!(results("34 82 00 83 41 00 00 44", 4)[lane], x(lane).exp2());
    }
}

#[test]
fn selects_minima_and_comparisons_are_those_of_the_public_compiler() {
    let x = |lane: usize| f32::from_bits(float(lane));
    // r0 = r1 < r5 ? ~0 : 0, r0 = r1 = r5 ? 1.0 : 0, r0 = min(r1, r5), r0 = sign of r1.
    let less = "99 d2 00 d3 3c f0 01 9c 1e 87 87 c1 cf 80 11 45 20 40";
    let one = "89 d2 00 d2 3c e8 9c 1f 87 87 c1 c0 80 10 45 30 40 ff";
    let min = "77 d2 00 d0 3c f0 11 87 87 41 45 10 40 ff";
    let sign = "7a d2 00 d0 3c f4 d0 97 02 50 c1 ce 80 01 80 01 00 11 40 ff";
    let ceil = "78 d2 00 d1 3c f8 10 01 01 c1 c0 02 c1 80 01 40";
    for lane in 0..32 {
        let all = if x(lane) < 3.0 { u32::MAX } else { 0 };
        assert_eq!(results(less, 0)[lane].to_bits(), all);
        assert_eq!(results(one, 0)[lane], if x(lane) == 3.0 { 1.0 } else { 0.0 });
        assert_eq!(results(min, 0)[lane], x(lane).min(3.0));
        assert_eq!(results(sign, 0)[lane], x(lane).signum());
        assert_eq!(results(ceil, 0)[lane], x(lane).ceil());
    }
}

#[test]
fn integers_are_multiplied_and_carried() {
    let ids = |lane: usize| 0x4000_0000u32.wrapping_mul(lane as u32) ^ lane as u32;
    let bench = || Bench::new(Compute).temp(0, ids).temp(1, |_| 7).temp(2, |_| 9);
    // r0 = r0 * 1 + 1; {r5:r4} = {r1:r0} + r2; r3 = high word of r0 * r1.
    for (group, index, value) in [
        (
            "36 82 00 e2 c0 41 00 01 00 00 43 ff",
            3,
            (|id: u32| id.wrapping_add(1)) as fn(u32) -> u32,
        ),
        ("36 86 00 e8 c0 61 00 42 00 c0 84 45", 4, |id| id.wrapping_add(9)),
        ("36 86 00 e8 c0 61 00 42 00 c0 84 45", 5, |id| {
            (((7u64 << 32 | u64::from(id)) + 9) >> 32) as u32
        }),
        ("36 84 00 e3 c0 61 20 00 00 c0 43 ff", 3, |id| ((u64::from(id) * 7) >> 32) as u32),
    ] {
        let mut bench = bench();
        bench.run(&[group]).unwrap_or_else(|trap| panic!("{group}: {trap}"));
        for lane in 0..32 {
            assert_eq!(bench.result(index)[lane], value(ids(lane)), "{group}");
        }
    }
}

#[test]
fn bits_are_masked_shifted_and_counted() {
    let ids = |lane: usize| 0x9e37_79b9u32.wrapping_mul(lane as u32 + 1);
    let mut bench = Bench::new(Compute).temp(0, ids).temp(1, |_| 0xff);
    bench
        .run(&[
            // r2 = r0 & r1; r3 = r0 << 6; r4 = number of bits of r0; r5 = 0.1 as a number.
            "56 b2 40 41 02 80 40 00 40 41 42 ff",
            "55 d2 40 00 02 80 a0 80 86 43",
            "45 94 40 00 80 40 00 40 00 44",
            "86 92 40 13 cd cc cc 3d 00 00 45 ff",
        ])
        .expect("runs");
    for lane in 0..32 {
        assert_eq!(bench.result(2)[lane], ids(lane) & 0xff);
        assert_eq!(bench.result(3)[lane], ids(lane) << 6);
        assert_eq!(bench.result(4)[lane], ids(lane).count_ones());
        assert_eq!(bench.result(5)[lane], 0.1f32.to_bits());
    }
}

#[test]
fn repeated_groups_step_and_gather() {
    let mut bench = Bench::new(Compute);
    for index in 0..4 {
        bench = bench.temp(index, move |lane| ((lane + index) as f32 / 40.0).to_bits());
    }
    // r5 = pack of r0..3; r8..9 = r2..3; r12..15 = unpack of r5.
    bench
        .run(&[
            "57 92 06 9c 20 80 40 a0 40 10 00 2c 45 ff",
            "34 82 02 87 42 00 00 48",
            "35 82 06 9c 20 45 00 00 4c ff",
        ])
        .expect("runs");
    for lane in 0..32 {
        let byte = |index: usize| {
            (f64::from((lane + index) as f32 / 40.0) * 255.0).round_ties_even() as u32
        };
        let word = (0..4).fold(0, |word, index| word | byte(index) << (8 * index));
        assert_eq!(bench.result(5)[lane], word);
        assert_eq!(bench.result(8), bench.result(2));
        assert_eq!(bench.result(9), bench.result(3));
        for index in 0..4 {
            let value = f32::from_bits(bench.result(12 + index)[lane]);
            assert_eq!(value, byte(index) as f32 / 255.0);
        }
    }
}

#[test]
fn elements_that_are_not_packed_hold_anything() {
    let words: Vec<[u32; 32]> = (0..2)
        .map(|seed| {
            let mut bench = Bench::new(Compute).temp(6, |_| 0).temp(7, |_| 0);
            bench.seed = seed;
            bench.run(&["57 92 02 9c 20 80 40 a0 46 10 00 2c 43 ff"]).expect("runs");
            bench.result(3)
        })
        .collect();
    assert!(words.iter().flatten().all(|word| word & 0xffff == 0));
    assert_ne!(words[0], words[1]);
}

#[test]
fn sines_are_composed_of_a_reduction_in_two_parts() {
    let mut bench = Bench::new(Compute).temp(3, float);
    bench
        .run(&[
            // fred.sin.a r4, r3; fred.sin.b r4, r3, r4; r8 = fsinc of r4; r7 = p0 ? r8 * r4 : r8.
            "35 84 00 9d 00 43 00 00 44 ff",
            "35 82 00 9d 80 43 44 00 44 ff",
            "34 82 00 8e 44 00 00 48",
            "79 d2 00 d3 3c f0 b0 40 f3 40 80 40 20 00 c8 a4 10 47",
        ])
        .expect("runs");
    for lane in 0..32 {
        let sine = f64::from(f32::from_bits(float(lane))).sin() as f32;
        let result = f32::from_bits(bench.result(7)[lane]);
        assert!((result - sine).abs() <= 1e-7, "{result} {sine}");
    }
    let mut bench = Bench::new(Compute).temp(3, float).temp(4, |_| 0);
    assert_eq!(bench.rule(&["35 82 00 9d 80 43 44 00 44 ff"]), Some(Rule::ReduceParts));
}

#[test]
fn derivatives_are_those_of_the_quad() {
    let value = |lane: usize| ((lane * lane) as f32).to_bits();
    for (group, from, to) in [
        // dsx, dsy, and their fine forms by the right codes.
        ("34 82 00 88 45 00 00 40", [0, 0, 0, 0], [1, 1, 1, 1]),
        ("34 82 00 89 45 00 00 40", [0, 0, 0, 0], [2, 2, 2, 2]),
        ("34 82 00 8a 45 00 00 40", [0, 0, 2, 2], [1, 1, 3, 3]),
        ("34 82 00 8b 45 00 00 40", [0, 1, 0, 1], [2, 3, 2, 3]),
    ] {
        let mut bench = Bench::new(Fragment).temp(5, value);
        bench.run(&[group]).expect("runs");
        for lane in 0..32 {
            let quad = lane & !3;
            let at = |place: usize| ((quad + place) * (quad + place)) as f32;
            let expected = at(to[lane & 3]) - at(from[lane & 3]);
            assert_eq!(f32::from_bits(bench.result(0)[lane]), expected, "{group}");
        }
    }
    // A neighbour that stands elsewhere without a value is far away; one that executes must have a value.
    let parted = || {
        let mut bench = Bench::new(Fragment);
        bench.tasks[0].temps.set(5, 0, 0);
        bench
    };
    let mut bench = parted();
    bench.tasks[0].executing = 1;
    bench.run(&["34 82 00 88 45 00 00 40"]).expect("runs");
    assert_eq!(bench.tasks[0].temps.read(0, 0).expect("was written"), 0.25f32.to_bits());
    let together = parted().rule(&["34 82 00 88 45 00 00 40"]);
    assert_eq!(together, Some(Rule::Undefined));
    // Others have no quads.
    let mut bench = Bench::new(Compute).temp(5, value);
    assert_eq!(bench.rule(&["34 82 00 88 45 00 00 40"]), Some(Rule::Quad));
}

#[test]
fn what_is_read_was_written_and_is_there() {
    let bench = || Bench::new(Compute).temp(6, |_| 1);
    assert_eq!(bench().rule(&["24 02 87 46 00 00 42 ff"]), None);
    assert_eq!(bench().rule(&["24 02 87 47 00 00 42 ff"]), Some(Rule::Undefined));
    assert_eq!(bench().rule(&["24 02 87 66 00 00 42 ff"]), Some(Rule::Bounds));
    assert_eq!(bench().rule(&["24 02 87 46 00 00 62 ff"]), Some(Rule::Bounds));
    // p0 before anybody has written it.
    assert_eq!(bench().rule(&["34 83 01 87 46 00 00 42"]), Some(Rule::Predicate));
    // A shared register that nobody has written, and one that is not there.
    assert_eq!(bench().rule(&["35 82 00 87 85 08 00 00 00 44"]), Some(Rule::Undefined));
    assert_eq!(bench().rule(&["35 82 00 87 a5 08 00 00 00 44"]), Some(Rule::Bounds));
    // An operation of lower precision, and a test of the carry.
    let low = "36 82 00 d0 10 c6 66 00 46 00 00 40";
    assert_eq!(bench().rule(&[low]), Some(Rule::Undocumented));
    assert_eq!(bench().rule(&["34 82 00 84 46 00 00 40"]), Some(Rule::Undocumented));
}

#[test]
fn index_registers_reach_registers() {
    let mut bench = Bench::new(Compute).temp(0, |lane| lane as u32);
    for lane in 0..40 {
        bench = bench.share(lane.min(31), 100 + lane as u32);
    }
    bench
        .run(&[
            // idx0 = r0; r1 = sh[idx0]; cf3[idx0] = r0; r2 = cf3[idx0].
            "35 82 00 87 40 00 00 85 0c ff",
            "35 82 00 87 83 0c 00 00 00 41",
            "35 82 00 87 40 00 00 9a 0c ff",
            "35 82 00 87 9a 0c 00 00 00 42",
        ])
        .expect("runs");
    for lane in 0..31 {
        assert_eq!(bench.result(1)[lane], 100 + lane as u32);
        assert_eq!(bench.result(2)[lane], lane as u32);
        assert_eq!(bench.coefficients[0].read(3 + lane), Ok(lane as u32));
    }
}

#[test]
fn an_atomic_group_goes_instance_by_instance() {
    // W1 = cf9 * 1 + r3, W0 = cf9: all instances add to one register, and each sees what it found.
    let atomic = "38 b6 08 87 ea c9 41 10 43 c9 04 00 10 82 c9 20";
    let mut bench = Bench::new(Compute).temp(3, |_| 1);
    bench.coefficients[0].set(9, 1000);
    bench.run(&[atomic]).expect("runs");
    assert_eq!(bench.coefficients[0].read(9), Ok(1032));
    let mut seen = bench.result(2);
    seen.sort_unstable();
    assert_eq!(seen.to_vec(), (1000..1032).collect::<Vec<u32>>());
}

#[test]
fn a_group_that_is_not_atomic_reads_before_it_writes() {
    let plain = "38 b6 00 87 ea c9 41 10 43 c9 04 00 10 82 c9 20";
    let mut bench = Bench::new(Compute).temp(3, |_| 1);
    bench.coefficients[0].set(9, 1000);
    bench.run(&[plain]).expect("runs");
    assert_eq!(bench.coefficients[0].read(9), Ok(1001));
    assert_eq!(bench.result(2), [1000; 32]);
}

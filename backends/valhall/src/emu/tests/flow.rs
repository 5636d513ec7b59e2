use super::super::rule::Rule;
use super::{Bench, refused};

#[test]
fn lanes_part_at_a_branch_and_meet_at_the_next_reconverge() {
    let warp = Bench::new().lane_numbers(0).reg(3, 1).run(
        "IADD_IMM.i32 r2, 0x0, #0x7
             LSHIFT_AND.i32 r1, r0, 0x0.b00, r3
             BRANCHZ.eq.reconverge r1, offset:1
             IADD_IMM.i32.reconverge r2, 0x0, #0x9
             IADD_IMM.i32.end r2, r2, #0x100",
    );
    let warp = warp.unwrap_or_else(|trap| panic!("{trap}"));
    for lane in 0..16 {
        let expected = if warp.regs[1].word.v[lane] == 0 { 0x107 } else { 0x109 };
        assert_eq!(warp.regs[2].word.v[lane], expected, "lane {lane}");
    }
}

#[test]
fn a_branch_that_splits_the_warp_without_reconverge_is_refused() {
    let bench = || Bench::new().lane_numbers(0);
    let rule = refused(
        bench,
        "BRANCHZ.eq r0, offset:1
         NOP.reconverge
         NOP.end",
    );
    assert_eq!(rule, Rule::Divergence);
}

#[test]
fn lanes_that_run_into_waiting_lanes_without_reconverge_are_refused() {
    let rule = refused(
        || Bench::new().lane_numbers(0),
        "BRANCHZ.eq.reconverge r0, offset:1
         NOP
         NOP.end",
    );
    assert_eq!(rule, Rule::Reconverge);
}

#[test]
fn a_loop_runs_until_its_last_lane_leaves() {
    // r1 counts to the lane's number, r2 how often the lane went round.
    let warp = Bench::new()
        .lane_numbers(0)
        .reg(1, 0)
        .run(
            "ICMP_OR.u32.eq.m1 r3, r0, r1, 0x0
             BRANCHZ.reconverge r3, offset:2
             IADD_IMM.i32 r1, r1, #0x1
             BRANCHZ.eq.reconverge 0x0, offset:-4
             NOP.end",
        )
        .unwrap_or_else(|trap| panic!("{trap}"));
    for lane in 0..16 {
        assert_eq!(warp.regs[1].word.v[lane], lane as u32);
    }
}

#[test]
fn branches_that_leave_the_program_are_refused() {
    let mut bench = Bench::new();
    assert_eq!(bench.refused("BRANCHZ.eq 0x0, offset:7\nNOP.end"), Rule::Address);
    assert_eq!(bench.refused("NOP"), Rule::Address);
}

#[test]
fn a_program_without_an_end_to_its_loop_runs_out_of_steps() {
    let mut bench = Bench::new();
    bench.state.steps = 1000;
    assert_eq!(bench.refused("BRANCHZ.eq.reconverge 0x0, offset:-1"), Rule::Steps);
}

#[test]
fn a_branch_looks_at_the_half_that_it_names() {
    let text = |half: &str| {
        format!(
            "IADD_IMM.i32 r1, 0x0, #0x1
             BRANCHZ.eq r0{half}, offset:1
             IADD_IMM.i32 r1, 0x0, #0x2
             NOP.end"
        )
    };
    for (half, value) in [("", 2), (".h0", 1), (".h1", 2)] {
        assert_eq!(Bench::new().reg(0, 0x0005_0000).result(&text(half), 1), value, "{half}");
    }
}

#[test]
fn branches_on_a_combination_of_halves_are_not_emulated() {
    for combination in ["and", "lowbits"] {
        assert_eq!(
            Bench::new().refused(&format!("BRANCHZ.eq r0.{combination}, offset:0\nNOP.end")),
            Rule::Unsupported,
            "{combination}"
        );
    }
}

#[test]
fn a_barrier_is_waited_for_before_anything_else() {
    let mut bench = Bench::new();
    assert!(bench.run("BARRIER.slot7.wait\nNOP.end").is_ok());
    assert!(bench.run("BARRIER.slot7\nNOP.wait\nNOP.end").is_ok());
    assert_eq!(
        bench.refused("BARRIER.slot7\nMOV.i32 r0, 0x0\nNOP.wait\nNOP.end"),
        Rule::BarrierWait
    );
    assert_eq!(bench.refused("BARRIER.slot7.end"), Rule::BarrierWait);
}

#[test]
fn a_barrier_within_a_branch_that_splits_the_warp_is_refused() {
    let rule = refused(
        || Bench::new().lane_numbers(0),
        "BRANCHZ.eq.reconverge r0, offset:1
         BARRIER.slot7.wait
         NOP.end",
    );
    assert_eq!(rule, Rule::BarrierDivergent);
}

#[test]
fn discards_and_varyings_do_not_belong_into_compute_programs() {
    let mut bench = Bench::new().float(0, 1.0);
    assert_eq!(bench.refused("DISCARD.f32.lt r0, 0x0\nNOP.end"), Rule::Stage);
    assert_eq!(bench.refused("NOP.discard\nNOP.end"), Rule::Stage);
}

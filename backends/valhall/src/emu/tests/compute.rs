use super::super::launch::{Dispatch, run_compute};
use super::super::rule::Rule;
use super::super::state::{Stage, State};
use super::assemble;

/// Where the code stands.
const CODE: u64 = 0x8000;

/// 40 invocations in each of two workgroups: three warps, the last one half empty.
fn run(text: &str, seed: u64) -> Result<Vec<u32>, Rule> {
    run_merged(text, seed, false)
}

fn run_merged(text: &str, seed: u64, merge: bool) -> Result<Vec<u32>, Rule> {
    let mut state = State::new(Stage::Compute);
    state.seed = seed;
    state.workgroup_bytes = 256;
    state.steps = 100_000;
    state.memory.map(0x1000, vec![0; 4 * 80], true);
    state.fau = vec![0x1000, 0];
    let dispatch = Dispatch { size: [40, 1, 1], groups: [2, 1, 1], preload: 0xFFFF, merge };
    let code = assemble(text);
    state.load(CODE, &code, 128);
    run_compute(&code, &mut state, &dispatch, None).map_err(|trap| trap.rule)?;
    Ok((0..80).map(|k| state.memory.word(0x1000 + 4 * k).expect("mapped")).collect())
}

#[test]
fn every_invocation_knows_its_numbers() {
    let text = "SHADDX.u64 r2, u0, r60.w0, shift:0x2
                IADD.u32 r4, r60, r57
                STORE.i32.slot0 @r4, r2, offset:0
                NOP.end";
    for seed in 0..4 {
        let words = run(text, seed).unwrap_or_else(|rule| panic!("{rule}"));
        for (k, &word) in words.iter().enumerate() {
            assert_eq!(word as usize, k + k / 40);
        }
    }
}

/// Errata 139: 40 invocations end within a warp, and the next workgroup's follow them there.
#[test]
fn the_number_of_a_workgroup_differs_in_a_warp_where_workgroups_are_merged() {
    let text = |flow: &str| {
        format!(
            "MOV.i32 r4, 0x0
             BRANCHZ.eq{flow} r57, offset:1
             IADD_IMM.i32{flow} r4, r4, #0x7
             SHADDX.u64 r2, u0, r60.w0, shift:0x2
             STORE.i32.slot0 @r4, r2, offset:0
             NOP.end"
        )
    };
    for seed in 0..4 {
        assert!(run_merged(&text(""), seed, false).is_ok());
        assert_eq!(run_merged(&text(""), seed, true), Err(Rule::Divergence));
        let words = run_merged(&text(".reconverge"), seed, true).expect("it parts and meets");
        assert!(words.iter().enumerate().all(|(k, &word)| word == 7 * (k as u32 / 40)));
    }
}

#[test]
fn a_barrier_lets_the_workgroup_see_what_its_warps_stored() {
    // Each stores its local number at its place and reads that of invocation 39 - n.
    let text = "MOV.i32 r1, workgroup_local_pointer.w1
                LSHIFT_AND.i32 r5, r55, 0x0.b00, r63
                LSHIFT_OR.i32 r6, r5, 0x3020100.b22, 0x0
                IADD.u32 r0, r6, workgroup_local_pointer.w0
                STORE.i32.slot0 @r5, r0, offset:0
                NOP.wait0
                BARRIER.slot7.wait
                IADD_IMM.i32 r7, 0x0, #0x9C
                ISUB.u32 r6, r7, r6
                IADD.u32 r0, r6, workgroup_local_pointer.w0
                LOAD.i32.unsigned.slot0.wait0 @r4, r0, offset:0
                SHADDX.u64 r2, u0, r60.w0, shift:0x2
                STORE.i32.slot0 @r4, r2, offset:0
                NOP.end";
    let text = format!("IADD_IMM.i32 r63, 0x0, #0xFFFF\n{text}");
    for seed in 0..8 {
        let words = run(&text, seed).unwrap_or_else(|rule| panic!("{rule}"));
        for (k, &word) in words.iter().enumerate() {
            assert_eq!(word as usize, 39 - k % 40, "seed {seed}");
        }
    }
}

#[test]
fn a_warp_that_ends_before_the_others_reach_a_barrier_is_refused() {
    // Invocations from 32 on end at once.
    let text = "ICMP_OR.u32.lt.m1 r1, r60, 0x1F1E1D1C.b0, 0x0
                BRANCHZ.reconverge r1, offset:1
                NOP.end
                BARRIER.slot7.wait
                NOP.end";
    assert_eq!(run(text, 0), Err(Rule::BarrierDivergent));
}

#[test]
fn the_machine_fetches_128_bytes_ahead() {
    let code = assemble("NOP.end");
    let launch = |map: &dyn Fn(&mut State)| {
        let mut state = State::new(Stage::Compute);
        map(&mut state);
        let dispatch = Dispatch { size: [1; 3], groups: [1; 3], preload: 0, merge: false };
        run_compute(&code, &mut state, &dispatch, None).map(drop).map_err(|trap| trap.rule)
    };
    assert_eq!(launch(&|state| state.load(CODE, &code, 128)), Ok(()));
    // Nothing is mapped there, or too little.
    for zeros in [0, 16, 120, 127] {
        let found = launch(&|state| state.load(CODE, &code, zeros));
        assert_eq!(found, Err(Rule::Prefetch), "{zeros}");
    }
    // What stands behind is no zeros: at the last byte that is fetched, and behind it.
    let behind = |at: usize| {
        let mut bytes = code.clone();
        bytes.resize(code.len() + 160, 0);
        bytes[code.len() + at] = 1;
        launch(&|state| state.load(CODE, &bytes, 0))
    };
    assert_eq!(behind(127), Err(Rule::Prefetch));
    assert_eq!(behind(128), Ok(()));
}

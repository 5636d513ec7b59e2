//! Every control form as text, with the words that four invocations leave behind.

use crate::common::Words;
use gpucc_ir::ssa::interp::{Lanes, Options, Stop, run};
use gpucc_ir::ssa::{Numerics, parse, verify};

const HEAD: &str = r#"func "main" compute workgroup 4 1 1 {
  res0 = "out" group 0 binding 0 storage 16 load store as u32
  in0 = "i" u32 x 1 builtin local_invocation_index
  mem0 = "array" private 16
  mem1 = "shared" workgroup 16
} body {
  %0: b32 = input in0.0
  %1: b32 = const 4
  %2: b32 = imul %0, %1
  %3: b32 = const 0
  %4: b32 = const 1
  %5: b32 = const 2
  %6: b1 = ult %0, %5
"#;

/// Runs `body` after [`HEAD`] and gives the first four words of the buffer.
fn result(body: &str) -> Result<Vec<u32>, Stop> {
    let text = format!("{HEAD}{body}\n}}\n");
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let func = &module.funcs[0];
    verify(func).unwrap_or_else(|broken| panic!("{broken}\n{text}"));
    let mut world = Words(vec![vec![0; 4]]);
    let lanes = Lanes::compute(func, [1, 1, 1], 0, 1);
    run(func, &lanes, &mut world, Options::new(&Numerics::REFERENCE))?;
    Ok(world.0.remove(0))
}

#[track_caller]
fn gives(body: &str, words: [u32; 4]) {
    assert_eq!(result(body), Ok(words.to_vec()));
}

#[test]
fn an_if_yields_each_lanes_arm() {
    gives(
        "%10: b32 = if %6 { %11: b32 = iadd %0, %1 yield %11 } else { yield %0 }
        buffer_store res0, %2, %10 yield",
        [4, 5, 2, 3],
    );
}

#[test]
fn an_if_in_an_if_keeps_its_lanes() {
    gives(
        "%7: b1 = ieq %0, %4
        %10: b32 = if %6 {
          %11: b32 = if %7 { yield %1 } else { yield %5 }
          %12: b32 = iadd %11, %11
          yield %12
        } else { yield %3 }
        buffer_store res0, %2, %10 yield",
        [4, 8, 0, 0],
    );
}

#[test]
fn a_loop_runs_as_often_as_each_lane_says() {
    // Counts to the lane's index by `break` in the body.
    gives(
        "%10: b32 = loop %3 body (%11: b32) {
          %12: b1 = ule %0, %11
          if %12 { break %11 } else { yield }
          continue %11
        } continuing (%13: b32) {
          %14: b32 = iadd %13, %4
          next %14
        }
        buffer_store res0, %2, %10 yield",
        [0, 1, 2, 3],
    );
}

#[test]
fn break_if_carries_results_and_the_next_trips_values() {
    // Doubles once more than the index: 2, 4, 8, 16.
    gives(
        "%10: b32 = loop %4, %3 body (%11: b32, %12: b32) {
          %13: b32 = iadd %11, %11
          continue %13, %12
        } continuing (%14: b32, %15: b32) {
          %16: b32 = iadd %15, %4
          %17: b1 = ult %0, %16
          break_if %17, %14, %14, %16
        }
        buffer_store res0, %2, %10 yield",
        [2, 4, 8, 16],
    );
}

#[test]
fn continue_from_an_arm_skips_the_rest_of_the_body() {
    // Sums the odd numbers below twice the index: 0, 1, 4, 9.
    gives(
        "%7: b32 = iadd %0, %0
        %10: b32 = loop %3, %3 body (%11: b32, %12: b32) {
          %13: b1 = ule %7, %11
          if %13 { break %12 } else { yield }
          %14: b32 = and %11, %4
          %15: b1 = ieq %14, %3
          if %15 { continue %11, %12 } else { yield }
          %16: b32 = iadd %12, %11
          continue %11, %16
        } continuing (%17: b32, %18: b32) {
          %19: b32 = iadd %17, %4
          next %19, %18
        }
        buffer_store res0, %2, %10 yield",
        [0, 1, 4, 9],
    );
}

#[test]
fn a_loop_in_continuing_is_a_loop_of_its_own() {
    // Each trip adds what an inner loop in `continuing` counts to: 2 a trip.
    gives(
        "%10: b32 = loop %3, %3 body (%11: b32, %12: b32) {
          %13: b1 = ule %0, %11
          if %13 { break %12 } else { yield }
          continue %11, %12
        } continuing (%14: b32, %15: b32) {
          %20: b32 = loop %3 body (%21: b32) {
            %22: b1 = ule %5, %21
            if %22 { break %21 } else { yield }
            continue %21
          } continuing (%23: b32) { %24: b32 = iadd %23, %4 next %24 }
          %16: b32 = iadd %15, %20
          %17: b32 = iadd %14, %4
          next %17, %16
        }
        buffer_store res0, %2, %10 yield",
        [0, 2, 4, 6],
    );
}

#[test]
fn exit_leaves_a_block_through_ifs_and_loops() {
    gives(
        "%10: b32 = block ^0 {
          if %6 { exit ^0, %1 } else { yield }
          loop %3 body (%11: b32) {
            %12: b1 = ieq %11, %0
            if %12 { exit ^0, %11 } else { yield }
            continue %11
          } continuing (%13: b32) { %14: b32 = iadd %13, %4 next %14 }
          unreachable
        }
        buffer_store res0, %2, %10 yield",
        [4, 4, 2, 3],
    );
}

#[test]
fn blocks_nest_and_exit_names_which() {
    gives(
        "%7: b1 = ieq %0, %3
        %10: b32 = block ^0 {
          %11: b32 = block ^1 {
            if %7 { exit ^0, %1 } else { yield }
            if %6 { exit ^1, %5 } else { yield }
            yield %3
          }
          %12: b32 = iadd %11, %4
          yield %12
        }
        buffer_store res0, %2, %10 yield",
        [4, 3, 1, 1],
    );
}

#[test]
fn a_private_array_is_each_lanes_own_and_starts_as_zeros() {
    gives(
        "mem_store mem0[0..16], %2, %5
        %10: b32 = const 8
        %11: b32 = mem_load mem0[8..12], %10
        buffer_store res0, %2, %11 yield",
        [0, 0, 2, 0],
    );
}

#[test]
fn a_barrier_lets_a_lane_read_its_neighbour() {
    gives(
        "mem_store mem1[0..16], %2, %0
        barrier workgroup
        %10: b32 = const 12
        %11: b32 = isub %10, %2
        %12: b32 = mem_load mem1[0..16], %11
        buffer_store res0, %2, %12 yield",
        [3, 2, 1, 0],
    );
}

#[test]
fn halves_are_stored_side_by_side() {
    gives(
        "%10: b16 = const 0x1111
        %11: b16 = const 0x2222
        buffer_store res0, %2, %10, %11
        %12: b32 = iadd %2, %5
        %13: b16 = buffer_load res0, %12
        %14: b32 = uconvert %13
        buffer_store res0, %2, %14 yield",
        [0x2222; 4],
    );
}

#[test]
fn a_barrier_in_divergent_control_flow_stops_the_run() {
    let stop = result("if %6 { barrier workgroup yield } else { yield } yield");
    assert!(matches!(stop, Err(Stop::DivergentBarrier(_))), "{stop:?}");
}

#[test]
fn unreachable_that_is_reached_stops_the_run() {
    let stop = result("if %6 { unreachable } else { yield } yield");
    assert!(matches!(stop, Err(Stop::Unreachable(_))), "{stop:?}");
}

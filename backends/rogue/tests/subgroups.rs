//! Subgroups: halves of a task whose instances meet in registers.

use crate::code::{CHIPS, PLAIN, dispatch, func, random, shade_as};
use gpucc_emu::draw::QuadBatch;
use gpucc_ir::ssa::random::Config;

#[test]
fn subgroups_of_chance_give_what_the_reference_gives() {
    let (holds, others) = random(&Config { allow: |_| true, size: 40, ..PLAIN }, 150);
    assert!(holds >= 145, "{holds} hold; {others:?}");
}

/// What each instance has depends on who takes part, in a branch and out of it, in a workgroup of 16 tasks.
#[test]
fn instances_of_every_task_meet() {
    let text = "func \"main\" compute workgroup 500 1 1 trusted {
  in0 = \"lane\" u32 x 1 builtin local_invocation_index
  in1 = \"own\" u32 x 1 builtin subgroup_invocation_id
  in2 = \"which\" u32 x 1 builtin subgroup_id
  in3 = \"size\" u32 x 1 builtin subgroup_size
  in4 = \"count\" u32 x 1 builtin num_subgroups
  res0 = \"to\" group 0 binding 0 storage 16000 load store as u32
} body {
  %0: b32 = input in0.0
  %1: b32 = input in1.0
  %2: b32 = input in2.0
  %3: b32 = input in3.0
  %4: b32 = input in4.0
  %5: b32 = const 5
  %6: b32 = const 3
  %7: b32 = and %0, %6
  %8: b32 = const 0
  %9: b1 = ieq %7, %8
  %20: b32 = imul %1, %5
  %10: b32, %11: b32, %12: b32 = if %9 {
    %13: b32, %14: b32, %15: b32, %16: b32 = ballot %9
    %17: b32 = shuffle down, %0, %6
    %18: b32 = reduce exclusive iadd, %20
    yield %13, %17, %18
  } else {
    %21: b32 = shuffle xor, %0, %5
    %22: b32 = shuffle first, %20
    %23: b32 = shuffle or_zero, %0, %6
    yield %21, %22, %23
  }
  %24: b32 = shl %0, %5
  %25: b32 = imul %2, %3
  %26: b32 = iadd %25, %4
  buffer_store res0, %24, %10, %11, %12, %26
  yield
}";
    for chip in CHIPS {
        for seed in 0..3 {
            dispatch(&func(text), chip, [2, 1, 1], seed)
                .unwrap_or_else(|found| panic!("{chip}: {found:?}"));
        }
    }
}

/// All instances of a task empty their cells, those behind the end of the workgroup too, whatever the guard of its body says.
#[test]
fn cells_of_instances_behind_the_workgroup_are_empty() {
    let text = "func \"main\" compute workgroup 1 1 1 trusted {
  res0 = \"to\" group 0 binding 0 storage 4 load store as u32
} body {
  %0: b32 = const 0
  %1: b32 = const 10
  %2: b32 = const 8
  %3: b32 = shuffle or_zero, %1, %2
  buffer_store res0, %0, %3
  yield
}";
    for chip in CHIPS {
        dispatch(&func(text), chip, [1, 1, 1], 0)
            .unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

/// Pixels have no registers of their workgroup: they take turns in shared ones.
#[test]
fn pixels_meet_in_shared_registers() {
    let text = "func \"main\" fragment trusted {
  in0 = \"value\" u32 x 1 location 0 flat center
  in1 = \"own\" u32 x 1 builtin subgroup_invocation_id
  in2 = \"size\" u32 x 1 builtin subgroup_size
  in3 = \"varying\" f32 x 1 location 1 linear center
  out0 = \"color\" u32 x 4 location 0 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = input in1.0
  %2: b32 = input in2.0
  %3: b32 = input in3.0
  %4: b32 = const 0
  %5: b1 = flt %4, %3
  %6: b32 = const 2
  %7: b32, %8: b32 = if %5 {
    %9: b32, %10: b32, %11: b32, %12: b32 = ballot %5
    %13: b32 = shuffle quad, %3, %6
    %14: b32 = reduce inclusive umax, %1
    %15: b32 = xor %9, %14
    yield %15, %13
  } else {
    %16: b32 = shuffle first, %3
    %17: b32 = reduce all iadd, %0
    yield %16, %17
  }
  output out0.0, %1
  output out0.1, %2
  output out0.2, %7
  output out0.3, %8
  yield
}";
    for chip in CHIPS {
        for seed in 0..6 {
            // Pixels of one primitive are one task.
            let whole = |batch: &mut QuadBatch| {
                batch.quads.iter_mut().for_each(|quad| quad.front = true);
                let (count, first) = (batch.varyings, batch.values[0]);
                batch.values.iter_mut().step_by(count).for_each(|values| *values = first);
            };
            shade_as(&func(text), chip, seed, whole)
                .unwrap_or_else(|found| panic!("{chip}: {found:?}"));
        }
    }
}

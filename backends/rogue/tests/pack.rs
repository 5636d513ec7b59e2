//! What shares a group: how many groups small programs take with and without packing, and that both compute the same bits.

use super::code::{CHIPS, compile, dispatch, func, shade};
use gpucc_ir::driver::Effort;
use gpucc_ir::ssa::{Func, Stage};
use gpucc_machine::described::{Driven, DriverWord};
use gpucc_machine::{Machine as _, Request};
use gpucc_rogue::ROGUE;
use gpucc_rogue::isa::program::disassemble;

/// Groups of a program as it stands, one operation each and packed; it is proved packed.
fn groups(text: &str) -> [u64; 2] {
    let func = func(text);
    for chip in CHIPS {
        let proof = match func.stage {
            Stage::Compute => dispatch(&func, chip, [2, 1, 1], 5),
            _ => shade(&func, chip, 5),
        };
        proof.unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
    [vec!["pack".to_owned()], Vec::new()].map(|skip| count(&func, skip))
}

fn count(func: &Func, skip: Vec<String>) -> u64 {
    let mut request = Request { chip: CHIPS[0], ..Request::default() };
    request.passes.gate.skip = skip;
    let compiled = ROGUE.finish(func.clone(), &request).expect("it compiles");
    compiled.described.stats.instructions
}

/// The text of a packed program as it stands.
fn listing(func: &Func) -> String {
    let request = Request { chip: CHIPS[0], ..Request::default() };
    let compiled = ROGUE.finish(func.clone(), &request).expect("it compiles");
    disassemble(&compiled.code).expect("groups")
}

/// A fragment program of two inputs and one output.
fn colour(body: &str, result: &str) -> String {
    format!(
        "func \"main\" fragment trusted {{
  in0 = \"a\" f32 x 4 location 0 linear center
  out0 = \"color\" f32 x 1 location 0 flat
}} body {{
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in0.2
  %3: b32 = input in0.3
  {body}
  output out0.0, {result}
  yield
}}"
    )
}

/// A kernel of one task that computes of a word and its number, and stores over the word.
fn kernel(body: &str, result: &str) -> String {
    format!(
        "func \"main\" compute workgroup 32 1 1 trusted {{
  res0 = \"data\" group 0 binding 0 storage 256 stride 0 load store as u32
  in0 = \"id\" u32 x 1 builtin local_invocation_index
}} body {{
  %0: b32 = input in0.0
  %1: b32 = const 2
  %2: b32 = shl %0, %1
  %3: b32 = buffer_load res0, %2
  {body}
  buffer_store res0, %2, {result}
  yield
}}"
    )
}

/// An iterator, a wait, and what is left: an operation and the output.
const ITERATION: u64 = 2;

#[test]
fn an_operation_writes_an_output_itself() {
    let [alone, packed] = groups(&colour("%4: b32 = fmul %0, %1", "%4"));
    assert_eq!([alone, packed], [ITERATION + 2, ITERATION + 1]);
}

#[test]
fn a_greatest_takes_in_who_makes_its_operand_and_who_reads_it() {
    let body = "%4: b32 = fmul %0, %1
  %5: b32 = fmul %2, %3
  %6: b32 = fmax %4, %5";
    assert_eq!(groups(&colour(body, "%6")), [ITERATION + 4, ITERATION + 1]);
}

#[test]
fn signs_magnitudes_floors_and_clamps_are_modifiers() {
    let body = "%4: b32 = fneg %0
  %5: b32 = fabs %1
  %6: b32 = fma %4, %5, %2
  %7: b32 = fsat %6
  %8: b32 = ffloor %3
  %9: b32 = fadd %8, %7";
    assert_eq!(groups(&colour(body, "%9")), [ITERATION + 7, ITERATION + 2]);
}

/// The second factor has a magnitude, takes its sign to the product, and has no floor.
#[test]
fn a_second_factor_has_the_modifiers_that_it_has() {
    for op in ["ffloor", "fabs", "fneg"] {
        let body = format!("%4: b32 = {op} %0\n  %5: b32 = fmul %1, %4");
        let [alone, packed] = groups(&colour(&body, "%5"));
        assert!(packed < alone, "{op}: {packed} of {alone}");
    }
}

#[test]
fn a_choice_takes_in_what_it_chooses_among() {
    let body = "%4: b32 = const 0
  %5: b1 = feq %0, %4
  %6: b32 = fadd %1, %2
  %7: b32 = fmul %2, %3
  %8: b32 = select %5, %6, %7";
    let [alone, packed] = groups(&colour(body, "%8"));
    // Both phases have two sources each, and the test asks a fifth.
    assert_eq!([alone, packed], [ITERATION + 4, ITERATION + 1]);
}

#[test]
fn numbers_shifts_and_logic_make_chains_of_the_bitwise_alu() {
    let body = "%4: b32 = const 3
  %5: b32 = shl %3, %4
  %6: b32 = xor %5, %0
  %7: b32 = lshr %6, %4
  %8: b32 = const 0x12345678
  %9: b32 = or %7, %8
  %10: b32 = const 0xffff1234
  %11: b32 = and %9, %10";
    let [alone, packed] = groups(&kernel(body, "%11"));
    // Two numbers, and three operations that become one.
    assert_eq!(alone - packed, 4);
}

#[test]
fn loads_of_words_in_a_row_are_one_message() {
    let text = "func \"main\" compute workgroup 32 1 1 trusted {
  res0 = \"table\" group 0 binding 0 uniform 64 as u32
  res1 = \"data\" group 0 binding 1 storage 256 stride 0 load store as u32
  in0 = \"id\" u32 x 1 builtin local_invocation_index
} body {
  %0: b32 = input in0.0
  %1: b32 = const 2
  %2: b32 = shl %0, %1
  %3: b32 = const 36
  %4: b32, %5: b32 = buffer_load res0, %3
  %6: b32 = const 32
  %7: b32 = buffer_load res0, %6
  %8: b32 = const 44
  %9: b32 = buffer_load res0, %8
  %10: b32 = iadd %4, %5
  %11: b32 = iadd %7, %9
  %12: b32 = iadd %10, %11
  buffer_store res1, %2, %12
  yield
}";
    let func = func(text);
    for chip in CHIPS {
        dispatch(&func, chip, [2, 1, 1], 5).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
        let messages = |skip: Vec<String>| {
            let mut request = Request { chip, ..Request::default() };
            request.passes.gate.skip = skip;
            let compiled = ROGUE.finish(func.clone(), &request).expect("it compiles");
            compiled.described.machine.get("messages").map(|figure| figure.0)
        };
        assert_eq!(messages(vec!["pack".into()]), Some(4.0));
        assert_eq!(messages(Vec::new()), Some(2.0));
    }
}

/// What comes before the comparison in p0, and what the address of the first byte is, is nobody's group; what behind the guard asks p0
/// itself has no mask, and a number is stored where it stands.
#[test]
fn a_guard_is_a_test_and_what_is_behind_it_asks_p0() {
    let text = "func \"main\" compute workgroup 20 1 1 trusted {
  res0 = \"data\" group 0 binding 0 storage 256 stride 0 load store as u32
  in0 = \"id\" u32 x 1 builtin local_invocation_index
} body {
  %0: b32 = input in0.0
  %1: b32 = const 0
  %2: b32 = const 7
  buffer_store res0, %1, %2
  yield
}";
    // The test, the store, the wait, the end.
    assert_eq!(groups(text)[1], 4);
}

/// The test, an arm each, and neither masks nor branches.
#[test]
fn short_arms_ask_p0_themselves() {
    let body = "%4: b1 = ult %3, %0
  %5: b32 = if %4 {
    %6: b32 = imul %3, %3
    buffer_store res0, %2, %6
    yield %6
  } else {
    %7: b32 = iadd %3, %0
    yield %7
  }";
    let text = kernel(body, "%5");
    let [alone, packed] = groups(&text);
    // One mask opens, one turns round, one closes, and an arm is jumped over.
    assert!(alone - packed >= 4, "{packed} of {alone}");
    let text = listing(&func(&text));
    assert!(
        !text.contains("cndst") && text.contains("if (p0)") && text.contains("if (!p0)"),
        "{text}"
    );
}

/// Within a condition, who leaves a loop does so by one mask operation that asks p0.
#[test]
fn a_break_in_a_condition_asks_p0() {
    let body = "%4: b32 = const 0
  %5: b32 = loop %3 body (%6: b32) {
    %7: b1 = ult %6, %0
    if %7 {
      break %6
    } else {
      yield
    }
    %8: b32 = imul %6, %6
    continue %8
  } continuing (%9: b32) {
    %10: b32 = iadd %9, %0
    next %10
  }";
    let text = listing(&func(&kernel(body, "%5")));
    assert!(text.contains("cndsm.if(p0)"), "{text}");
}

/// A number that is no constant of the machine stands in a shared register, which the driver fills; where it cannot be read there a move
/// brings it.
#[test]
fn numbers_stand_in_shared_registers() {
    let body = "%4: b32 = const 0x3f8ccccd
  %5: b32 = const 0x40133333
  %6: b32 = fma %0, %4, %5
  %7: b32 = const 0x12345678
  %8: b32 = xor %7, %6
  %9: b32 = lshr %8, %1";
    let text = colour(body, "%9");
    let func = func(&text);
    let compiled = compile(&func, "gx6250").expect("it compiles");
    let bits: Vec<u32> = compiled
        .described
        .driver_constants
        .iter()
        .filter_map(|told| match told.word {
            DriverWord::Other(Driven::Constant { bits }) => Some(bits),
            _ => None,
        })
        .collect();
    assert_eq!(bits, [0x3f8c_cccd, 0x4013_3333]);
    let [alone, packed] = groups(&text);
    assert!(packed + 3 <= alone, "{packed} of {alone}");
    let apart = count(&func, vec!["constants".to_owned()]);
    assert!(packed < apart, "{packed} of {apart}");
}

/// What does the same with the next registers is one group: here the words of a load, and rows of numbers.
#[test]
fn groups_that_do_the_same_with_the_next_registers_repeat() {
    let text = "func \"main\" compute workgroup 32 1 1 trusted {
  res0 = \"data\" group 0 binding 0 storage 256 stride 0 load store as u32
  res1 = \"rows\" group 0 binding 1 storage 256 stride 0 load store as u32
} body {
  %0: b32 = const 0
  %1: b32, %2: b32, %3: b32, %4: b32 = buffer_load res0, %0
  %5: b32 = const 3
  %6: b32 = iadd %1, %5
  %7: b32 = iadd %2, %5
  %8: b32 = iadd %3, %5
  %9: b32 = iadd %4, %5
  buffer_store res0, %0, %6, %7, %8, %9
  %10: b32 = const 77
  %11: b32 = const 99
  buffer_store res1, %0, %5, %10, %11, %0
  yield
}";
    groups(text);
    let text = listing(&func(text));
    assert_eq!(text.matches("repeat(4)").count(), 1, "{text}");
    assert_eq!(text.matches("imadd32").count(), 1, "{text}");
    // Numbers in a row are stored as they stand.
    assert_eq!(text.matches("mbyp").count(), 0, "{text}");
}

#[test]
fn a_choice_by_equal_words_is_one_group() {
    let body = "%4: b1 = ieq %3, %0
  %5: b32 = const 1000
  %6: b32 = select %4, %2, %5";
    let [_, packed] = groups(&kernel(body, "%6"));
    let [_, without] = groups(&kernel("", "%3"));
    assert_eq!(packed - without, 1);
}

/// The roots of zero and infinity are they themselves: the product and both questions are two groups.
#[test]
fn joined_comparisons_are_asked_one_after_the_other() {
    let body = "%4: b32 = const 0
  %5: b32 = const 0x7f800000
  %6: b1 = feq %0, %4
  %7: b1 = feq %0, %5
  %8: b1 = or %6, %7
  %9: b32 = fmul %0, %1
  %10: b32 = select %8, %0, %9";
    assert_eq!(groups(&colour(body, "%10"))[1], ITERATION + 2);
    let body = "%4: b32 = const 5
  %5: b1 = ult %3, %0
  %6: b1 = ieq %3, %4
  %7: b1 = and %5, %6
  %8: b32 = if %7 {
    yield %4
  } else {
    yield %3
  }";
    let text = kernel(body, "%8");
    groups(&text);
    assert!(listing(&func(&text)).contains("if (p0)"));
}

/// The least turns hold of what is made, whatever is left out, and a search is no worse.
#[test]
fn the_least_turns_hold_and_a_search_finds_no_more() {
    let body = "%4: b32 = fmul %0, %1
  %5: b32 = fadd %2, %3
  %6: b32 = fma %4, %5, %0
  %7: b32 = fmax %6, %1
  %8: b32 = fmul %7, %5";
    let func = func(&colour(body, "%8"));
    let turns = |effort: Effort| {
        let request = Request { chip: CHIPS[0], effort, ..Request::default() };
        let compiled = ROGUE.finish(func.clone(), &request).expect("it compiles");
        let stats = &compiled.described.stats;
        assert!(stats.cycles_lower_bound <= stats.cycles);
        assert!(stats.cycles_lower_bound >= 4.0, "a chain of three, and the wait");
        stats.cycles
    };
    assert!(turns(Effort::Max) <= turns(Effort::default()));
}

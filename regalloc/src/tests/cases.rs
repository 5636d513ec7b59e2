//! Small functions with known answers.

use super::{FILES, Plainly, options};
use crate::{Allocation, Error, Policy, allocate};
use gpucc_ir::mach::plain::Plain;
use gpucc_ir::mach::{Func, parse, print};

const COMPACT: Policy = Policy::Compact { free_rows: 1 };

/// Reads a body; registers are declared by the extra lines or are scalars of R.
fn read(declared: &[&str], body: &str) -> Func<Plain> {
    let mut text = String::from("mach \"case\"\n");
    let highest = body
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| word.strip_prefix('v').and_then(|number| number.parse::<usize>().ok()))
        .max();
    for v in 0..highest.map_or(0, |n| n + 1) {
        let prefix = format!("v{v}:");
        match declared.iter().find(|line| line.starts_with(&prefix)) {
            Some(line) => text += line,
            None => text += &format!("v{v}: R"),
        }
        text.push('\n');
    }
    parse(&(text + body), FILES).unwrap()
}

fn run(func: &mut Func<Plain>, rows: [u16; 3]) -> Result<Allocation, Error> {
    allocate(func, &mut Plainly { can_swap: true }, &options(rows, COMPACT))
}

fn body(func: &Func<Plain>) -> String {
    print(func).split_once("b0:").unwrap().1.to_owned()
}

/// The thread runs the else arm after the then arm: a uniform value of before the if that the else
/// arm reads must survive the then arm, although no lane goes from one to the other.
const ARMS: &str = "b0: -> b1 b2
    v0 = uniform
    v9 = input
    branch v9
b1: logical b3, physical b2
    v1 = uniform2
    sink v1
b2: -> b3
    sink v0
b3:
    end
";

#[test]
fn a_uniform_value_survives_the_other_arm() {
    let mut func = read(&["v0: A", "v1: A"], ARMS);
    run(&mut func, [128, 64, 32]).unwrap();
    let text = print(&func);
    assert!(text.contains("A0 = uniform\n") && text.contains("A1 = uniform2\n"), "{text}");
}

#[test]
fn a_value_per_lane_does_not_pay_for_the_other_arm() {
    let mut func = read(&[], ARMS);
    let result = run(&mut func, [128, 64, 32]).unwrap();
    let cells: Vec<_> = [0, 1, 9].iter().map(|&v: &usize| result.cells[v].unwrap().index).collect();
    // v1 may take v0's cell: its lanes are others. With one cell of room it must.
    let _ = cells;
    let mut func = read(&["v0: T phases 0b1", "v1: T phases 0b1"], ARMS);
    let result = run(&mut func, [128, 64, 1]).unwrap();
    assert_eq!(result.cells[0], result.cells[1]);
    assert_eq!(result.spilled, 0);
}

#[test]
fn copies_of_an_if_vanish() {
    let mut func = read(
        &[],
        "b0: -> b1 b2
    v0 = a
    v1 = b
    branch v0
b1: logical b3, physical b2
    v2 = copy v0
b2: -> b3
    v3 = c v1
    v2 = copy v3
b3:
    end v2
",
    );
    let result = run(&mut func, [128, 64, 32]).unwrap();
    assert_eq!((result.copies_removed, result.copies_inserted), (2, 0), "{}", print(&func));
}

#[test]
fn a_rotation_in_a_loop_is_broken_by_a_spare_cell_or_swaps() {
    let text = "b0: -> b1
    v0, v1, v2 = a
b1: -> b1 b2
    sink v0 v1 v2
    v0, v1, v2 = copy v1 v2 v0
b2:
    end v0 v1 v2
";
    let mut roomy = read(&[], text);
    run(&mut roomy, [128, 64, 32]).unwrap();
    assert_eq!(body(&roomy).matches(" = copy").count(), 4, "{}", print(&roomy));
    let declared = ["v0: R phases 0b111", "v1: R phases 0b111", "v2: R phases 0b111"];
    let mut tight = read(&declared, text);
    let result =
        allocate(&mut tight, &mut Plainly { can_swap: true }, &options([1, 1, 1], COMPACT))
            .unwrap();
    // The fourth cell of the row is the spare one.
    assert_eq!(result.rows_used[0], 1);
}

#[test]
fn what_lies_in_a_run_across_two_rows_is_copied_into_one_row() {
    let text = "b0:
    v0 = a
    v1 = a
    pair v0#0+0 v1#0+1
    fetch v0~0 v1~0
    end
";
    let mut func = read(&["v0: R phases 0b1000"], text);
    let result = run(&mut func, [128, 64, 32]).unwrap();
    assert!(result.copies_inserted > 0, "{}", print(&func));
}

/// What is written as pairs and read as a row of four: a temporary of the row takes in one of the pairs' registers before
/// the row is given up.
#[test]
fn a_temporary_that_is_given_up_leaves_the_registers_it_took_in() {
    let mut func = read(
        &[],
        "b0:
    v0 = a
    v1~0, v2~0 = fetch v0
    v4~0, v5~0 = fetch v0
    v7~0, v8~0 = fetch v0
    v10 = fetch v0
    v11 = a
    scatter v11:0b1 v2:0b1
    scatter v11:0b1 v8:0b1
    v13 = a
    scatter v13:0b1 v1~1:0b1 v4~1:0b10 v7~1:0b100 v10~1:0b1000
    v14 = a
    scatter v14:0b1 v5:0b1
    end
",
    );
    run(&mut func, [128, 64, 32]).unwrap();
}

/// Two halves, each written and read on its own.
const HALVES: &str = "b0:
    v0 = a
    v1[0..1] = low v0
    v2 = b v1[0..1]
    v1[1..2] = high v0 v2
    end v1
";

#[test]
fn halves_of_a_register_lie_side_by_side_and_cost_no_copy() {
    let mut func = read(&["v1: R count 2 phases 0b101"], HALVES);
    let result = run(&mut func, [128, 64, 32]).unwrap();
    let text = body(&func);
    let first = result.cells[1].unwrap().index;
    assert_eq!(first % 2, 0);
    assert_eq!(result.copies_inserted, 0, "{text}");
    let halves = ["x", "y", "z", "w"].map(|letter| format!("R0.{letter}[0..1] = "));
    assert!(text.contains(&format!("{}low", halves[first as usize])), "{text}");
    assert!(text.contains(&format!("{}high", halves[first as usize + 1])), "{text}");
}

#[test]
fn copies_into_parts_vanish_where_lives_do_not_meet() {
    let text = "b0:
    v0 = a
    v1 = b
    v2[0..1], v2[1..2] = copy v0 v1
    use v2
    v3 = copy v2[1..2]
    end v3
";
    let mut func = read(&["v2: R count 2"], text);
    let result = run(&mut func, [128, 64, 32]).unwrap();
    let text = body(&func);
    assert_eq!((result.copies_removed, text.contains("copy")), (3, false), "{text}");
}

#[test]
fn parts_of_a_payload_lie_where_the_message_wants_them() {
    let text = "b0:
    v0 = a
    v1 = b
    send v1#0+0 v0[0..2]#0+1 v0[2..4]#0+3
    send v0[2..4]#0+0 v1#0+2
    end
";
    let mut func = read(&["v0: R count 4"], text);
    let result = run(&mut func, [128, 64, 32]).unwrap();
    // The second order needs one copy: of one side.
    assert_eq!(result.copies_inserted, 1, "{}", print(&func));
}

#[test]
fn a_part_that_nobody_wrote_is_refused() {
    let text = "b0:
    v0[0..1] = a
    end v0
";
    let mut func = read(&["v0: R count 2"], text);
    let error = run(&mut func, [128, 64, 32]).unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error}");
    let mut func = read(&["v0: R count 2"], &text.replace("[0..1]", "[1..3]"));
    let error = run(&mut func, [128, 64, 32]).unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error}");
}

#[test]
fn a_cycle_without_room_needs_the_targets_swap() {
    let text = "b0: -> b1
    v0, v1, v2, v3 = a
b1: -> b1 b2
    sink v0 v1 v2 v3
    v0, v1, v2, v3 = copy v1 v0 v3 v2
b2:
    end v0 v1 v2 v3
";
    let mut func = read(&[], text);
    let result =
        allocate(&mut func, &mut Plainly { can_swap: true }, &options([1, 1, 1], COMPACT)).unwrap();
    assert_eq!(result.rows_used[0], 1);
    let mut func = read(&[], text);
    let result =
        allocate(&mut func, &mut Plainly { can_swap: false }, &options([1, 1, 1], COMPACT));
    assert!(matches!(result, Err(Error::OutOfRegisters { .. })), "{result:?}");
}

#[test]
fn fetch_results_and_export_sources_share_rows_without_copies() {
    let mut func = read(
        &[],
        "b0:
    v0!R0.x, v1!R0.y = inputs
    v2~1, v3~1, v4~1, v5~1 = fetch v0~0 v1~0
    v6 = mul v2 v3
    v7 = mul v4 v5
    export v6~0 v7~0 v0~0 v6~0
    v8 = mul v6 v7
    export v2~0 v8~0
    end
",
    );
    let result = run(&mut func, [128, 64, 32]).unwrap();
    assert_eq!(result.copies_inserted, 0, "{}", print(&func));
}

#[test]
fn more_values_than_a_row_holds_cost_copies() {
    let mut func = read(
        &[],
        "b0:
    v0, v1, v2, v3, v4, v5 = a
    export v0~0 v1~0 v2~0 v3~0
    export v2~0 v3~0 v4~0 v5~0
    sink v0 v1 v2 v3 v4 v5
    end
",
    );
    let result = run(&mut func, [128, 64, 32]).unwrap();
    assert!((1..=4).contains(&result.copies_inserted), "{}", print(&func));
}

#[test]
fn two_values_that_want_one_fixed_cell_at_different_times_get_it() {
    let mut func = read(
        &[],
        "b0:
    v0!R0.x = inputs
    v1 = a
    call v1!R0.x
    call v0!R0.x
    sink v0 v1
    end
",
    );
    run(&mut func, [128, 64, 32]).unwrap();
}

#[test]
fn physical_operands_are_kept_out_of_the_way() {
    let mut func = read(
        &[],
        "b0:
    R0.x, R0.y = payload
    v0 = a R0.x
    v1 = b
    sink R0.y v0 v1
    end
",
    );
    let result = run(&mut func, [1, 1, 1]).unwrap();
    let (zero, one) = (result.cells[0].unwrap().index, result.cells[1].unwrap().index);
    assert!(zero != 1 && one != 1 && zero != one);
}

#[test]
fn a_register_that_is_never_written_on_some_path_is_refused() {
    let mut func = read(&[], "b0: -> b1 b2\nb1: -> b2\n    v0 = a\nb2:\n    end v0\n");
    let error = run(&mut func, [128, 64, 32]).unwrap_err();
    assert!(error.to_string().contains("v0 is read on a path"), "{error}");
}

#[test]
fn an_instruction_that_cannot_fit_names_the_file_and_its_rows() {
    let mut func = read(&[], "b0:\n    v0, v1, v2, v3, v4 = a\n    end v0 v1 v2 v3 v4\n");
    let error = run(&mut func, [1, 1, 1]).unwrap_err();
    assert!(matches!(error, Error::OutOfRegisters { file: "R", rows: 1, .. }), "{error}");
}

#[test]
fn a_value_of_before_a_loop_is_loaded_once_for_the_loop() {
    let mut func = read(
        &[],
        "b0: -> b1
    v0 = a
    v1, v2, v3, v4 = b
    sink v1 v2 v3 v4
b1: -> b1 b2
    v5 = c v0
    sink v5 v0
b2:
    end
",
    );
    let result = run(&mut func, [1, 1, 1]).unwrap();
    assert_eq!(result.spilled, 1);
    let text = print(&func);
    let inside = text.split("b1:").nth(1).unwrap().split("b2:").next().unwrap();
    assert!(!inside.contains("load"), "{text}");
}

#[test]
fn constants_are_recomputed_instead_of_spilled() {
    let mut func = read(
        &[],
        "b0:
    v0 = const 7
    v1, v2, v3, v4 = b
    sink v1 v2 v3 v4
    end v0
",
    );
    let result = run(&mut func, [1, 1, 1]).unwrap();
    assert_eq!((result.spilled, result.recomputed), (0, 1), "{}", print(&func));
}

#[test]
fn rows_that_do_not_exist_are_left_out_and_what_does_not_fit_around_them_is_spilled() {
    let text = "b0:
    v0, v1, v2, v3, v4, v5 = a
    sink v0 v1 v2 v3 v4
    end v5
";
    let allocated = |rows: u16| {
        let mut func = read(&[], text);
        let mut limits = options([rows, 1, 1], COMPACT);
        limits.holes.push((super::R, 1..3));
        let result = allocate(&mut func, &mut Plainly { can_swap: true }, &limits);
        result.map(|result| (result.cells, result.rows_used[0], result.spilled))
    };
    let (cells, rows_used, spilled) = allocated(4).unwrap();
    assert_eq!((rows_used, spilled), (4, 0));
    assert!(cells.iter().flatten().all(|cell| !(1..3).contains(&cell.row(4))));
    assert!(allocated(3).is_err(), "one row of four is left for six results");
}

#[test]
fn a_copy_does_not_prolong_a_member_of_a_group_over_one_that_shares_its_cell_later() {
    let mut func = read(
        &[],
        "b0:
    v0 = a
    v1 = b
    sink v0#0+0 v1#0+1
    v3 = copy v1
    v2 = c
    sink v0#0+0 v2#0+1
    end v3
",
    );
    let result = run(&mut func, [128, 64, 32]).unwrap();
    let text = print(&func);
    assert_eq!(result.cells[1], result.cells[2], "{text}");
    assert_ne!(result.cells[2], result.cells[3], "{text}");
}

#[test]
fn rows_that_do_not_exist_come_into_being_before_anything_is_stored_but_not_for_what_can_be_recomputed()
 {
    let allocated = |name: &str, fill: bool| {
        let defs: String = (0..6).map(|k| format!("    v{k} = {name} {k}\n")).collect();
        let text = format!("b0:\n{defs}    sink v0 v1 v2\n    sink v3 v4 v5\n    end\n");
        let mut func = read(&[], &text);
        let mut limits = options([2, 1, 1], Policy::Tight);
        limits.holes.push((super::R, 1..2));
        limits.fill_holes = fill;
        let result = allocate(&mut func, &mut Plainly { can_swap: true }, &limits).unwrap();
        (result.filled_holes, result.slots > 0, result.recomputed > 0)
    };
    assert_eq!(allocated("input", false), (false, true, false));
    assert_eq!(allocated("input", true), (true, false, false));
    assert_eq!(allocated("const", true), (false, false, true));
}

#[test]
fn a_cell_that_held_something_is_taken_before_a_new_one_and_a_long_gap_is_left_to_who_needs_it() {
    // v0 and v3 are fixed in R0.x and R2.y; between them the one is free for long, the other not at all.
    let mut func = read(
        &[],
        "b0:
    v0!R0.x = a
    v3!R2.y = b
    sink v0
    v1 = c
    sink v1
    v2 = d
    sink v2
    sink v3
    end
",
    );
    let result = allocate(
        &mut func,
        &mut Plainly { can_swap: true },
        &options([128, 64, 32], Policy::Tight),
    )
    .unwrap();
    assert_eq!(result.cells[1], result.cells[0]);
    assert_eq!(result.cells[2], result.cells[0]);
    // The target names R5.w anyway.
    let mut func = read(&[], "b0:\n    v0 = a\n    v1 = b\n    sink v0 v1\n    end\n");
    let mut limits = options([128, 64, 32], Policy::Tight);
    let named = gpucc_ir::mach::Cell { file: super::R, index: 23 };
    limits.named.push(named);
    let result = allocate(&mut func, &mut Plainly { can_swap: true }, &limits).unwrap();
    assert_eq!(result.cells[0], Some(named));
}

#[test]
fn what_nobody_reads_is_not_copied_away_from_the_fixed_cell_where_it_is_written() {
    // v1 stays in R0.x over an instruction that overwrites R0.x: it moves, and what overwrites it goes nowhere.
    let mut func = read(
        &[],
        "b0:
    v1!R0.x = a
    v2!R0.x = call
    sink v1!R0.x
    end
",
    );
    let result = run(&mut func, [128, 64, 32]).unwrap();
    let text = body(&func);
    assert_eq!(result.spilled, 0, "{text}");
    let copies = text.lines().filter(|line| line.contains("copy")).count();
    assert_eq!(copies, 2, "{text}");
}

#[test]
fn runs_that_share_members_at_the_same_distance_lie_over_each_other_without_copies() {
    // Only the first member changes from store to store.
    let mut func = read(
        &["v0: T", "v1: T", "v2: T", "v3: T"],
        "b0:
    v1 = a
    v2 = b
    v0 = c
    sink v0#0+0 v1#0+1 v2#0+2
    v3 = d
    sink v3#0+0 v1#0+1 v2#0+2
    end
",
    );
    let result = run(&mut func, [128, 64, 32]).unwrap();
    let text = body(&func);
    assert_eq!(result.copies_inserted, 0, "{text}");
    assert_eq!(result.cells[3], result.cells[0], "{text}");
}
